"""Check everything that can be checked without seeing an answer: one bundle, receipts with it, and what several people hold."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import combinations

from optin._version import __version__
from optin.announcement import Announcement
from optin.council.bundle import Bundle
from optin.errors import BadInput
from optin.receipts import Receipt, check
from optin.receipts.checking import logged
from optin.releasing import Release
from optin.transparency.checkpoint import Checkpoint
from optin.transparency.evidence import Grown, count_of, expect_act, fork_between
from optin.transparency.note import expect
from optin.transparency.public_log import checked_log
from optin.transparency.trust import Trust
from optin.wording.numbers import count
from optin.wording.records import Brief
from optin.wording.spoken import spoken


def checked_bundle(bundle: Bundle, trust: Trust | None = None) -> tuple[str, ...]:
    """Check one bundle; say what was shown, or raise PromiseBroken."""
    trust = bundle.log.trusting(trust or Trust())
    newest = checked_log(bundle.log, trust)[-1]
    offer, release = bundle.announcement, bundle.release
    for act in bundle.acts:
        expect_act(newest.checkpoint, act.path, number=act.seal.number, head=act.seal.hash)
    _expect_announced(bundle, offer)
    lines = [f"the offer is in the ledger, word for word: {spoken(offer.fingerprint)}"]
    if release is not None:
        _expect_released(bundle, release)
        lines.append(f"the result is the one in the ledger, under that offer: {spoken(release.fingerprint)}")
    elif any(act.seal.kind == "release" for act in bundle.acts):
        expect(False, "a result was drawn, and is missing here")
    elif any(act.seal.kind == "cancel" for act in bundle.acts):
        lines.append("the round was cancelled: there is no result")
    lines += [
        _papers(bundle),
        f"{count(len(bundle.log.notes), 'checkpoint', 'checkpoints')}, each beginning with the one before",
        *newest.told(trust),
    ]
    return tuple(lines)


def _papers(bundle: Bundle) -> str:
    """Compare annex and records with those that this version makes of the offer; those of another may be worded otherwise."""
    if bundle.papers_agree and bundle.introduced:
        return "annex, consent record and promise say what the offer says"
    other = bundle.made_by != __version__
    expect(other or bundle.papers_agree, "the annex or a record says something else than the offer")
    expect(other, "README.txt is not as optin writes it: do not type what it says")
    return (
        "README.txt, annex, consent record and promise were NOT compared: another version of optin worded them, says the file."
        " Do not rely on them: make them again from announcement.json with optin annex"
    )


def _expect_announced(bundle: Bundle, offer: Announcement) -> None:
    place = (offer.campaign, offer.round, offer.fingerprint)
    expect(bool(bundle.acts) and bundle.acts[0].seal.kind == "announce", "no act shows that this offer was announced")
    for act in bundle.acts:
        announced = (act.seal.campaign, act.seal.round, act.seal.fingerprint)
        expect(announced == place, "the ledger holds another offer than this one")


def _expect_released(bundle: Bundle, release: Release) -> None:
    expect(release.announcement.fingerprint == bundle.announcement.fingerprint, "the result is of another offer")
    sealed = [act.seal for act in bundle.acts if act.seal.kind == "release"]
    expect(len(sealed) == 1, "no act shows that this result was drawn")
    (seal,) = sealed
    same = (seal.number, seal.hash, seal.result) == (
        release.ledger_number,
        release.ledger_head,
        release.drawn_fingerprint,
    )
    expect(same, "the ledger holds another result than this one")
    expect(seal.people == release.joined_people, "the result counts other people than were charged")


@dataclass(frozen=True, repr=False)
class Held(Brief):
    """What people bring together: receipts by the name of their file, and bundles."""

    receipts: dict[str, Receipt] = field(default_factory=dict, repr=False)
    bundles: dict[str, Bundle] = field(default_factory=dict, repr=False)


def checked_together(held: Held, trust: Trust | None = None) -> tuple[str, ...]:
    """Check each thing alone, receipts against the bundle of their round, and whether all of them show one ledger."""
    trust = trust or Trust()
    for bundle in held.bundles.values():
        trust = bundle.log.trusting(trust)
    lines = [f"{name}: {line}" for name, bundle in held.bundles.items() for line in checked_bundle(bundle, trust)]
    for name, receipt in held.receipts.items():
        lines += [f"{name}: {line}" for line in _checked_receipt(receipt, held, trust)]
    return (*lines, *_compared(held))


def _checked_receipt(receipt: Receipt, held: Held, trust: Trust) -> tuple[str, ...]:
    for bundle in held.bundles.values():
        if bundle.release is not None and bundle.announcement.fingerprint == receipt.fingerprint:
            return check(receipt, bundle.announcement, bundle.release, trust=trust)
    shown = logged(receipt, trust)
    if not shown:
        raise BadInput(
            "a receipt without a log cannot be checked alone: give announcement.json and release.json with it"
        )
    return (
        *shown,
        "what it says of this person was not checked: give announcement.json and release.json, or the bundle",
    )


def _checkpoints(held: Held) -> Iterator[tuple[str, Checkpoint]]:
    for name, receipt in held.receipts.items():
        if receipt.log is not None:
            yield name, receipt.log.checkpoint
            yield from ((name, grown.old) for grown in receipt.log.growths)
    for name, bundle in held.bundles.items():
        yield from ((name, Checkpoint.from_text(note.text)) for note in bundle.log.notes)


def _growths(held: Held) -> list[Grown]:
    growths = [grown for receipt in held.receipts.values() if receipt.log for grown in receipt.log.growths]
    return growths + [grown for bundle in held.bundles.values() for grown in bundle.log.growths]


def _compared(held: Held) -> tuple[str, ...]:
    """Find two things that contradict each other, or say that all of them show one ledger."""
    if len(held.receipts) + len(held.bundles) < 2:
        return ()
    _expect_one_chain(held.receipts)
    _expect_one_result(held)
    growths, apart = _growths(held), False
    for (one, first), (other, second) in combinations(_checkpoints(held), 2):
        if one == other:
            continue
        expect(
            first.origin == second.origin, f"{one} and {other} are of different logs: {first.origin}, {second.origin}"
        )
        fork = fork_between(first, second, growths)
        expect(not fork, f"{one} and {other} contradict each other: {fork}. Someone was shown another ledger")
        apart = apart or fork is None
    if apart:
        sizes = sorted({at.size: at for _, at in _checkpoints(held)}.values(), key=lambda at: at.size)
        raise BadInput(
            "these are of different times ({sizes}), and nothing here shows that the later ledger begins with the earlier: "
            "give the newest bundle with them, from the council's page",
            sizes=", ".join(map(count_of, sizes)),
        )
    return (f"{count(len(held.receipts) + len(held.bundles), 'file', 'files')} compared: all of them show one ledger",)


def _results(held: Held) -> Iterator[tuple[str, str, tuple[int | None, str | None]]]:
    """List who shows that an offer had a result: the offer's fingerprint, and the act with its hash."""
    for name, receipt in held.receipts.items():
        yield name, receipt.fingerprint, (receipt.ledger_number, receipt.ledger_head)
    for name, bundle in held.bundles.items():
        if bundle.release is not None:
            release = bundle.release
            yield name, bundle.announcement.fingerprint, (release.ledger_number, release.ledger_head)


def _expect_one_result(held: Held) -> None:
    """Refuse two results of one offer, though one log may hold both, and a bundle that keeps silent about one it must know."""
    results = list(_results(held))
    for (one, first, act), (other, second, drawn) in combinations(results, 2):
        expect(first != second or act == drawn, f"{one} and {other} show two results of one offer: it was drawn twice")
    for name, bundle in held.bundles.items():
        size = max((Checkpoint.from_text(note.text).size for note in bundle.log.notes), default=0)
        known = [by for by, offer, (at, _) in results if offer == bundle.announcement.fingerprint and (at or 0) <= size]
        silent = bundle.release is None and bool(known)
        expect(
            not silent, f"{name} has no result, and {(*known, '')[0]} shows that it was drawn by then: it is kept back"
        )


def _expect_one_chain(receipts: dict[str, Receipt]) -> None:
    """Compare the hashes that receipts name: without a log they say as much, of one act."""
    for (one, first), (other, second) in combinations(receipts.items(), 2):
        same = first.ledger_number != second.ledger_number or first.ledger_head == second.ledger_head
        expect(same, f"{one} and {other} name different hashes for act {first.ledger_number}: there are two ledgers")
