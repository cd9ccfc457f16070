"""Who does the long work: one thread that takes jobs from the store, oldest first, and goes on where it was killed."""

from __future__ import annotations

import functools
import logging
import threading
from collections.abc import Callable
from types import TracebackType

from sqlalchemy import Connection, select, update

from optin.errors import LedgerUnavailable, OptinError
from optin.ledger import Terms
from optin.web.schema import campaigns, jobs
from optin.web.service.accounts import erase_unused_welcomes
from optin.web.service.core import Service, log_event
from optin.web.service.delays import erase_delays
from optin.web.service.forgetting import empty_log
from optin.web.service.identities import erase_ids
from optin.web.service.log import sign_log
from optin.web.service.long_steps import LONG_STEPS, destroy_spent_keys
from optin.web.service.lookups import as_job
from optin.web.service.mails import send_mails
from optin.web.service.overdue import cancel_overdue, publish_drawn
from optin.web.service.punctual import take_due_steps
from optin.web.service.records import Job
from optin.web.service.recovering import erase_addresses, send_links
from optin.web.service.resets import erase_reset_links
from optin.web.service.sessions import erase_sessions
from optin.web.transactions import turn
from optin.wording.language import N_
from optin.wording.sentences import Sentence
from optin.wording.stored_sentences import stored

PAUSES = (0.5, 1.0, 2.0, 5.0, 10.0)
SECONDS_BETWEEN_LOOKS = 5.0
"""After how long work is looked for that another process was asked for, or that became due."""
LOG = logging.getLogger("optin.web")


class Worker:
    """A thread that works while the service is open; closing waits for the part under way.

    Several may work on one PostgreSQL, in as many processes: what one does, no other does meanwhile. Work is idempotent all the
    same, since whoever does it may be killed.
    """

    def __init__(self, service: Service) -> None:
        self._service = service
        self._leaving = threading.Event()
        self._thread = threading.Thread(target=self._work, name="optin-jobs", daemon=True)

    def __enter__(self) -> Worker:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._leaving.set()
        self._service.bell.set()
        self._thread.join(timeout=60)

    def _work(self) -> None:
        failures = 0
        while not self._leaving.is_set():
            self._service.bell.clear()  # before the work: what is rung for meanwhile is looked at next
            if work_once(self._service, until=self._leaving):
                failures = 0
                if not self._leaving.is_set():  # it is set before the bell rings for the last time
                    self._service.bell.wait(timeout=SECONDS_BETWEEN_LOOKS)
            else:
                self._leaving.wait(PAUSES[min(failures, len(PAUSES) - 1)])
                failures += 1


def work_once(service: Service, *, until: threading.Event | None = None) -> bool:
    """Do everything there is to do; say whether all of it could be done.

    Whatever fails keeps nothing else waiting: a job must not stand in the queue because a mail or a key is in trouble.
    """
    failed: list[Exception] = []
    for duty in DUTIES:
        try:
            duty(service, until)
        except Exception as error:  # whatever it was, the one who works stays: jobs would wait for ever
            failed.append(error)
    if failed:
        known = isinstance(failed[0], LedgerUnavailable)
        LOG.warning("work waits", extra={"reason": str(failed[0]) if known else type(failed[0]).__name__})
    return not failed


def _alone(duty: Callable[[Service], object]) -> Callable[[Service, threading.Event | None], object]:
    """Leave a duty to whoever is at it already, in whatever process: a mail would else go out twice."""

    def doing(service: Service, _: threading.Event | None) -> None:
        with turn(service.ledger.engine, f"duty:{duty.__name__}") as mine:
            if mine:
                duty(service)

    return doing


def _go_on(service: Service, until: threading.Event | None) -> None:
    """Do every job, and every step that is due by itself, until neither is left."""
    run_all(service, until=until)
    while not (until and until.is_set()) and take_due_steps(service):
        run_all(service, until=until)


def run_all(service: Service, *, until: threading.Event | None = None) -> None:
    """Do every job there is."""
    while not (until and until.is_set()) and run_next(service):
        pass


def run_next(service: Service) -> bool:
    """Do the oldest unfinished job that nobody else is at; say whether there was one.

    Jobs of one campaign wait for each other. One that was cut off is nobody's, and is taken up by whoever looks next.
    """
    for job in service.read(_unfinished):
        with turn(service.ledger.engine, f"campaign:{job.campaign}") as mine:
            if mine and service.read(functools.partial(_unfinished, name=job.id)):  # it may have been done meanwhile
                _run(service, job)
                return True
    return False


def _unfinished(connection: Connection, name: str | None = None) -> list[Job]:
    query = select(jobs).where(jobs.c.state.in_(("queued", "running"))).order_by(jobs.c.created_at, jobs.c.id)
    wanted = query if name is None else query.where(jobs.c.id == name)
    return [as_job(row) for row in connection.execute(wanted)]


def _run(service: Service, job: Job) -> None:
    """Do a job, and write down how it ended; one that the database cut off stays as it is."""
    _mark(service, job, state="running", step=N_("beginning"))
    try:
        LONG_STEPS[job.kind](
            service, job, lambda step, done, total: _mark(service, job, step=step, done=done, total=total)
        )
        sign_log(service)
    except LedgerUnavailable:
        raise
    except OptinError as error:
        _fail(service, job, error.sentence)
    except Exception as error:
        LOG.error("work failed", extra={"job": job.kind, "reason": type(error).__name__})
        _fail(
            service, job, Sentence("unexpected {kind}; the operator's log names the place", kind=type(error).__name__)
        )
    else:
        _mark(service, job, state="done", step=N_("done"))


def _mark(service: Service, job: Job, **new: object) -> None:
    query = update(jobs).where(jobs.c.id == job.id).values(changed_at=service.clock(), **new)
    service.change(lambda connection: connection.execute(query))


def _fail(service: Service, job: Job, words: str) -> None:
    """Write down why; a plan that was never announced is dropped, so that the next try plans anew."""
    announced = service.ledger.is_announced(Terms(job.campaign, job.round, ""))

    def work(connection: Connection) -> None:
        now = service.clock()
        new = {
            "state": "failed",
            "step": "failed",
            "done": 0,
            "total": 0,
            "error": str(words),
            "changed_at": now,
            "told": stored(words),
        }
        connection.execute(update(jobs).where(jobs.c.id == job.id).values(new))
        if not announced:
            connection.execute(update(campaigns).where(campaigns.c.id == job.campaign).values(plan=None))
        told = Sentence("the step {step} failed: {words}", step=job.kind, words=words)
        log_event(connection, now, "failed", told, campaign=job.campaign, round=job.round)

    service.change(work)


DUTIES: tuple[Callable[[Service, threading.Event | None], object], ...] = (
    *map(_alone, (destroy_spent_keys, publish_drawn, cancel_overdue, send_mails, send_links)),
    _go_on,
    *map(_alone, (erase_ids, erase_addresses, erase_sessions, erase_delays, erase_reset_links, erase_unused_welcomes)),
    *map(_alone, (empty_log, sign_log)),
)
"""What the one who works looks after, in this order: what was drawn is published before anything is cancelled as late, and
what is late is cancelled before anything else is done by itself; the database's log is emptied after all that is erased."""
