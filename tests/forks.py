"""Run a job in a process of its own, and perhaps kill it there.

Children are forked by a server that has the ledger loaded and no thread of its own: a test process has many (engines, Java,
services), and what is forked from it may find a lock held for ever, or end without a word.
"""

import multiprocessing
import os
import signal
import time
from dataclasses import dataclass
from multiprocessing import forkserver
from pathlib import Path
from unittest import mock

import cloudpickle

import optin
from optin.database.crash_points import LISTENERS

_SERVER = multiprocessing.get_context("forkserver")
_SERVER.set_forkserver_preload(["test_faults", "test_engine_ledger", "optin.ledger.ledger", "psycopg"])


@dataclass
class Child:
    process: multiprocessing.Process
    pipe: multiprocessing.connection.Connection

    def finish(self, *, kill_after=None):
        """Wait for the child (killing it after some seconds) and give what it sent before it ended, or None."""
        if kill_after is not None:
            time.sleep(kill_after)
            self.process.kill()
        said = self._listen()
        self.process.join()
        assert said or self.was_killed, f"the child ended with {self.process.exitcode} and said nothing"
        return cloudpickle.loads(said) if said else None

    def _listen(self):
        assert self.pipe.poll(600), "the child hangs"
        try:
            return self.pipe.recv_bytes()
        except EOFError:
            return b""

    @property
    def was_killed(self):
        return self.process.exitcode == -signal.SIGKILL


def fork(job, *, die_at=None):
    """Run ``job`` in a child; its result, or the exception it raised, is sent back. ``die_at`` names a point."""
    found = os.pathsep.join([str(Path(__file__).parent), str(Path(optin.__file__).parents[1])])
    with mock.patch.dict(os.environ, {"PYTHONPATH": found}):
        forkserver.ensure_running()  # which would not find the tests by itself, nor the code that they test
    here, there = _SERVER.Pipe(duplex=False)
    process = _SERVER.Process(target=_run, args=(cloudpickle.dumps(job), there, die_at), daemon=True)
    process.start()
    there.close()
    return Child(process, here)


def _run(job, pipe, die_at):
    if die_at is not None:
        LISTENERS.append(lambda point: os.kill(os.getpid(), signal.SIGKILL) if point == die_at else None)
    pipe.send_bytes(_sendable(_outcome(cloudpickle.loads(job))))


def _outcome(job):
    try:
        return job()
    except Exception as error:
        return error


def _sendable(outcome):
    try:
        return cloudpickle.dumps(outcome)
    except Exception as error:
        return cloudpickle.dumps(AssertionError(f"{outcome!r} cannot be sent: {error!r}"))
