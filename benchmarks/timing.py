"""Time calls fairly: the best of several, all in one process."""

import time


def best(call, *, repeats=3):
    """Return the shortest of several runs, in seconds."""
    return min(_timed(call, time.perf_counter) for _ in range(repeats))


def best_in_turn(calls, *, repeats=7):
    """Return the least processor time of each of several calls, run in turn: whatever else a machine does disturbs all alike."""
    runs = [[_timed(call, time.process_time) for call in calls] for _ in range(repeats)]
    return [min(times) for times in zip(*runs, strict=True)]


def _timed(call, clock):
    started = clock()
    call()
    return clock() - started
