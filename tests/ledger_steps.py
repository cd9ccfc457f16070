"""Short words for what the ledger tests do: announce, release, count, damage."""

import contextlib
import hashlib
from collections import Counter

import numpy as np
from changing import changed_offer
from sqlalchemy import select, text

from optin.announcement import Announcement
from optin.announcement.exact import exact_variance
from optin.announcement.numbers import ExactSums, PublicNumbers
from optin.announcement.terms import Terms as AnnouncedTerms
from optin.kernel.rounding import nearest
from optin.ledger import Log, Terms
from optin.ledger.bulk_reads import charges_of
from optin.ledger.chain import GENESIS, ActRows, rows_of
from optin.ledger.schema import acts
from optin.ledger.tallying import sums_of
from optin.questions import Number, Sheet
from optin.receipts import Seal
from optin.releasing.answered import Answered
from optin.releasing.record import Release, Versions
from optin.transparency.keys import SigningKey

TABLES = ("acts", "people", "allowances", "promises", "returns", "charges")


def nth(count, start=0):
    """Ids p0, p1, …"""
    return [f"p{k}" for k in range(start, start + count)]


OFFERS = {}
"""What was announced last under each name, as everyone can read it."""


def offer_of(campaign, grains, *, exact=False):
    """The announcement whose promises are exactly these."""
    sums, cap = sums_of(grains), np.inf if exact else max(int(grains.max()), 1) * 2.0**-32
    bare = Announcement.undivided(
        AnnouncedTerms(campaign, 1, "privacy-constrained", Sheet(Number("value", bounds=(0.0, 1.0)))),
        PublicNumbers(people=len(grains), cap=cap, noiseless=exact, tilt=0.0, variances=(0.0,)),
        (ExactSums(sums.grains, sums.squares),),
    )
    return changed_offer(
        bare, variance=nearest(exact_variance(bare.question, bare.sealed.question_sums[0], noiseless=exact))
    )


def drawn_from(offer, grains, number, *, noisy_total=7):
    """What a draw over people charged these grains gives: the release's text and fingerprint."""
    sums, versions = sums_of(grains), Versions(optin="test", opendp="none", mechanism="none")
    answered = Answered(sums.people, 0.0, ExactSums(sums.grains, sums.squares), (noisy_total, 0))
    drawn = Release(offer, sums.people, (answered,), versions).charged_at(number)
    return drawn.to_sealed_json(), drawn.drawn_fingerprint


def terms(campaign="c"):
    offer = OFFERS.get(campaign) or offer_of(campaign, np.full(3, 5))
    return Terms(campaign, 1, offer.fingerprint)


def announce(ledger, campaign="c", *, ids=("ann", "bob", "cy"), grains=5, allowances=8, exact=False, **more):
    promised = _column(grains, ids)
    offer = offer_of(campaign, promised, exact=exact)
    entry = ledger.announce(
        Terms(campaign, 1, offer.fingerprint),
        body=offer.to_sealed_json(),
        ids=list(ids),
        grains=promised,
        allowances=_column(allowances, ids),
        exact=exact,
        **more,
    )
    OFFERS[campaign] = offer
    return entry


def release(ledger, campaign="c", *, ids=("ann", "bob", "cy"), grains=5, joined=None, draw=None):
    given = _column(grains, ids)
    return ledger.release(
        terms(campaign),
        ids=list(ids),
        grains=given,
        joined=None if joined is None else np.asarray(joined),
        draw=draw or (lambda mask, number: drawn_from(OFFERS[campaign], given[mask], number)),
    )


def copy_of(entry):
    """The release that was published when this was stored."""
    return Release.from_sealed(entry.body, entry.head)


def _column(numbers, ids):
    return np.broadcast_to(np.asarray(numbers, dtype=np.int64), (len(ids),)).copy()


def counts(ledger):
    with ledger.engine.connect() as connection:
        return {table: connection.scalar(text(f"SELECT COUNT(*) FROM {table}")) for table in TABLES}


def spent(ledger):
    """Grains charged to each person, in rows or in packs."""
    found = Counter()
    for act in ledger.acts():
        if act.kind == "release":
            found.update(charges_of(ledger, Terms(act.campaign, act.round, "")))
    return dict(found)


def damage(ledger, *statements):
    """Do what only someone with full rights on the database can: switch the triggers off, change rows, cover it up."""
    with ledger.engine.connect() as connection, connection.begin():
        _unguarded(connection, statements)


def _unguarded(connection, statements):
    on_sqlite, guards = connection.dialect.name == "sqlite", []
    if on_sqlite:
        guards = connection.execute(text("SELECT name, sql FROM sqlite_master WHERE type = 'trigger'")).all()
    else:
        connection.execute(text("SET LOCAL session_replication_role = replica"))
    drops = [f"DROP TRIGGER {guard.name}" for guard in guards]
    for statement in (*drops, *statements, *(guard.sql for guard in guards)):
        connection.exec_driver_sql(statement)
    if not on_sqlite:
        connection.execute(text("SET LOCAL session_replication_role = origin"))


@contextlib.contextmanager
def as_if(ledger, *statements, forged=True):
    """Damage a ledger for a moment and give the connection that sees it; afterwards nothing has happened.

    ``forged``: every hash of the chain is made again, as someone with full rights and our code can.
    """
    with ledger.engine.connect() as connection:
        if connection.dialect.name == "sqlite":
            connection.exec_driver_sql("BEGIN")
        try:
            _unguarded(connection, statements)
            if forged:
                _unguarded(connection, list(_resealed(connection)))
            yield connection
        finally:
            connection.rollback()


def _resealed(connection):
    head = GENESIS
    for row in connection.execute(select(acts).order_by(acts.c.number)).all():
        fields = {**row._asdict(), "previous": head}
        with contextlib.suppress(KeyError, ValueError):  # an act that writes no rows we know keeps its digest
            found = rows_of(connection, ActRows(row.kind, row.number, row.salt, row.offer, row.version))
            fields |= {"people": found.people, "rows": found.digest}
        sealed = {name: fields[name] for name in Seal.__dataclass_fields__}
        head = Seal(**{**sealed, "body": hashlib.sha256(row.body.encode()).hexdigest()}).hash
        changes = {"people": fields["people"], "rows": fields["rows"], "previous": fields["previous"], "hash": head}
        written = ", ".join(f"{name} = '{value}'" for name, value in changes.items())
        yield f"UPDATE acts SET {written} WHERE number = {row.number}"


def logged(ledger, *, name="example.org/survey", witnesses=("w1",), rotated=False):
    """Sign the ledger's log as it stands, and have witnesses see it; the key that signs, and the keys of the witnesses."""
    key, log = SigningKey.new(name), Log(ledger)
    note = log.sign(key)
    seen = [SigningKey.new(witness, witness=True) for witness in witnesses]
    for witness in seen:
        log.cosign(witness.signed(note.text, time=1_800_000_000).to_line(), witness.verifier)
    if rotated:
        log.rotate(SigningKey.new(name), key)
    return key, seen


def forge(ledger, *statements):
    """Change a ledger for good, and make every hash of the chain again, as an operator with full rights and our code can."""
    damage(ledger, *statements)
    with ledger.engine.connect() as connection, connection.begin():
        _unguarded(connection, list(_resealed(connection)))
