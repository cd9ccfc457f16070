"""Writers stand in line before a SQLite file, and nobody who leaves it, gives up or is forked stops the others."""

import os
import threading

import pytest
from sqlalchemy import create_engine

from optin.database import turnstile
from optin.database.turnstile import Turnstile, turnstile_of


@pytest.fixture
def line():
    return Turnstile()


def passer(line, said, name):
    def run():
        with line.passing():
            said.append(name)

    return threading.Thread(target=run)


def in_line(line, number):
    while line.waiting < number:
        pass


def test_writers_pass_in_the_order_in_which_they_came(line):
    said = []
    with line.passing():
        threads = []
        for name in range(5):
            threads.append(passer(line, said, name))
            threads[-1].start()
            in_line(line, name + 1)
    for thread in threads:
        thread.join()
    assert said == list(range(5))
    assert (line.busy, line.waiting) == (False, 0)


def test_whoever_is_interrupted_in_line_stops_nobody(line, monkeypatch):
    class Interrupted(threading.Event):
        def wait(self, timeout=None):
            raise KeyboardInterrupt

    said = []
    with line.passing():
        with monkeypatch.context() as patch:
            patch.setattr(turnstile.threading, "Event", Interrupted)
            with pytest.raises(KeyboardInterrupt), line.passing():
                raise AssertionError("it is not this one's turn")
        assert line.waiting == 0
        behind = passer(line, said, "next")
        behind.start()
        in_line(line, 1)
    behind.join()
    assert said == ["next"]


def test_whoever_has_waited_too_long_goes_on_to_the_file_and_takes_nobodys_turn(line, monkeypatch):
    monkeypatch.setattr(turnstile, "PATIENCE", 0)
    with line.passing():
        with line.passing():
            assert (line.busy, line.waiting) == (True, 1)
        assert (line.busy, line.waiting) == (True, 0), "the first is still inside"
    assert (line.busy, line.waiting) == (False, 0)


def test_a_child_does_not_inherit_who_was_inside(tmp_path):
    engine = create_engine(f"sqlite:///{tmp_path / 'ledger.sqlite'}")
    with turnstile_of(engine).passing():
        child = os.fork()
        if child == 0:
            os._exit(turnstile_of(engine).busy)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
        assert turnstile_of(engine).busy
