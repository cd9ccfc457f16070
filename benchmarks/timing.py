"""Time a call fairly: the best of several, all in one process."""

import time


def best(call, *, repeats=3):
    """Return the shortest of several runs, in seconds."""
    times = []
    for _ in range(repeats):
        started = time.perf_counter()
        call()
        times.append(time.perf_counter() - started)
    return min(times)
