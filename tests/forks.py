"""Run a job in a forked child, and perhaps kill it there: the parent has everything loaded, so a child starts at once."""

import os
import pickle
import select
import signal
import time
from dataclasses import dataclass

from optin.store.points import LISTENERS


@dataclass
class Child:
    pid: int
    pipe: int

    def finish(self, *, kill_after=None):
        """Wait for the child (killing it after some seconds) and give what it sent before it ended, or None."""
        if kill_after is not None:
            time.sleep(kill_after)
            os.kill(self.pid, signal.SIGKILL)
        data = b""
        while chunk := self._read():
            data += chunk
        os.close(self.pipe)
        _, self.status = os.waitpid(self.pid, 0)
        assert data or self.was_killed, f"the child ended with status {self.status} and said nothing"
        return pickle.loads(data) if data else None

    def _read(self):
        ready, _, _ = select.select([self.pipe], [], [], 60)
        assert ready, "the child hangs"
        return os.read(self.pipe, 65536)

    @property
    def was_killed(self):
        return os.WIFSIGNALED(self.status) and os.WTERMSIG(self.status) == signal.SIGKILL


def fork(job, *, die_at=None):
    """Run ``job`` in a child; its result, or the exception it raised, is sent back. ``die_at`` names a point."""
    read_end, write_end = os.pipe()
    pid = os.fork()
    if pid:
        os.close(write_end)
        return Child(pid, read_end)
    try:  # from here on this is the child: it must never return into pytest
        os.close(read_end)
        LISTENERS.clear()
        if die_at is not None:
            LISTENERS.append(lambda point: os.kill(os.getpid(), signal.SIGKILL) if point == die_at else None)
        os.write(write_end, _sendable(_outcome(job)))
        os._exit(0)
    finally:  # the above raised
        os._exit(1)


def _outcome(job):
    try:
        return job()
    except Exception as error:
        return error


def _sendable(outcome):
    try:
        return pickle.dumps(outcome)
    except Exception as error:
        return pickle.dumps(AssertionError(f"{outcome!r} cannot be sent: {error!r}"))
