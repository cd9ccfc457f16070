"""How anyone checks a receipt with the published files alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

import numpy as np

from optin.errors import PromiseBroken
from optin.grains.splitting import promised
from optin.receipts.record import Receipt, is_well_formed, outcome
from optin.receipts.sealing import GROUPS, Seal, version_of
from optin.receipts.tree import SALT_BYTES, leaves_of
from optin.transparency.evidence import shown_in
from optin.transparency.tree import climb
from optin.transparency.trust import Trust
from optin.wording.groups import shown_group
from optin.wording.language import _


class _Announcement(Protocol):
    @property
    def grouped(self) -> bool: ...
    @property
    def parts(self) -> Sequence[_Announcement]: ...
    @property
    def fingerprint(self) -> str: ...
    @property
    def campaign(self) -> str: ...
    @property
    def round(self) -> int: ...
    @property
    def largest_promise(self) -> int: ...
    @property
    def largest_capped(self) -> int: ...
    @property
    def shares(self) -> tuple[int, ...]: ...


class _Release(Protocol):
    @property
    def groups(self) -> Mapping[str, _Release]: ...
    @property
    def announcement(self) -> _Announcement: ...
    @property
    def drawn_fingerprint(self) -> str: ...
    @property
    def joined_people(self) -> int: ...
    @property
    def released(self) -> int: ...
    def largest_total(self, place: int | None = None) -> int: ...
    @property
    def ledger_number(self) -> int | None: ...
    @property
    def ledger_head(self) -> str | None: ...


def check(
    receipt: Receipt, announcement: _Announcement, release: _Release, *, trust: Trust | None = None
) -> tuple[str, ...]:
    """Verify a receipt against the published announcement and release; list what was shown, or raise PromiseBroken.

    Where it carries a proof of the operator's log, that is verified too: with the keys of ``trust`` or, without any, with
    those that came along.

    Everything is recomputed from the three files: the leaf from the receipt, the root from the path, the chain hash
    from the published release and the root; of a sheet, what was promised and spent from what is split, the announced shares
    and the questions charged. If the operator changed the charge, the release or its place in the ledger, the hash differs
    from the published one. Nothing proves what remains, nor that somebody was not charged: the last line says so.
    """
    _expect(is_well_formed(receipt), "the receipt holds something that no receipt holds")
    _expect(receipt.fingerprint == announcement.fingerprint, "the receipt is for another announcement")
    place = (announcement.campaign, announcement.round)
    _expect((receipt.campaign, receipt.round) == place, "the receipt is for another campaign or round")
    _expect(receipt.promised <= announcement.largest_promise, "more was promised than the announcement allows anybody")
    _expect(release.announcement.fingerprint == announcement.fingerprint, "the release is of another announcement")
    _expect(release.ledger_number == receipt.ledger_number, "the receipt is for another place in the ledger")
    _expect(release.ledger_head == receipt.ledger_head, "the receipt and the release name different ledger heads")
    _expect(
        seal_of(receipt, release.drawn_fingerprint).hash == receipt.ledger_head,
        "the release is not the one sealed in the ledger",
    )
    _expect(release.joined_people == receipt.charged_people, "the release counts other people than were charged")
    shown = [
        _("the release is the one sealed in the ledger, under the published announcement"),
        *logged(receipt, trust),
    ]
    _expect(
        announcement.grouped == (receipt.version == GROUPS),
        "the receipt is for another number of questions or groups",
    )
    if announcement.grouped:
        at = receipt.design or 0
        _expect(at < len(announcement.parts), "the receipt is for a group that was not announced")
        group = shown_group(list(release.groups)[at])
        charged = receipt.index is not None
        shown.append(
            _("the person is in group {group}", group=group)
            if charged
            else _("the person is in group {group}, says the operator", group=group)
        )
        announcement, release = announcement.parts[at], list(release.groups.values())[at]
        _expect(receipt.promised <= announcement.largest_promise, "more was promised than the group is offered")
    _expect_split(receipt, announcement)
    if receipt.index is None:
        _expect(receipt.spent == 0, "the receipt says something was spent and shows no charge")
        return (
            *shown,
            _(
                "{outcome}, nothing spent, says the operator: that an id was not charged cannot be proved",
                outcome=outcome(receipt),
            ),
            _("what was promised and what remains is the operator's word"),
        )
    _expect_spent(receipt, announcement, release)
    _expect(receipt.spent <= release.largest_total(), "more was spent than the release cost everyone together")
    _expect(root_of(receipt) == receipt.rows, "the charge is not among those sealed with the release")
    return (*shown, *_charged(receipt))


def _charged(receipt: Receipt) -> tuple[str, str]:
    """Say what a charge that is among those sealed shows."""
    if receipt.spent < receipt.promised:
        return (
            _("the charge, and for which questions, is among those sealed with the release"),
            _(
                "less was spent than promised, on questions answered and released alone; what remains is the "
                "operator's word"
            ),
        )
    if receipt.spent == 0:
        return (
            _("{outcome}: a charge of nothing is among those sealed with the release", outcome=outcome(receipt)),
            _("nothing was promised and nothing spent; what remains is the operator's word"),
        )
    return (
        _("the charge is among those sealed with the release"),
        _("what was promised was spent, and no more; what remains is the operator's word"),
    )


def logged(receipt: Receipt, trust: Trust | None = None) -> tuple[str, ...]:
    """Verify that a receipt's act is in the operator's signed log, and say who signed; nothing without a log."""
    if receipt.log is None:
        return ()
    shown = shown_in(receipt.log, number=receipt.ledger_number, head=receipt.ledger_head, trust=trust)
    return (
        _("act {ledger_number} is in the operator's log", ledger_number=receipt.ledger_number),
        *shown.told(receipt.log.trusting(trust or Trust())),
    )


def _expect_split(receipt: Receipt, announcement: _Announcement) -> None:
    """Refuse a promise that is not the sum of what the announced shares give each question (E20)."""
    grouped = receipt.version == GROUPS
    several = grouped or len(announcement.shares) > 1
    version = version_of(announcement.shares, grouped=grouped)
    _expect(receipt.version == version, "the receipt is for another number of questions")
    if several:
        capped = np.array([receipt.capped], dtype=np.int64)
        _expect(int(capped[0]) <= announcement.largest_capped, "more was split than the announcement allows anybody")
        _expect(
            receipt.promised == int(promised(capped, announcement.shares)[0]),
            "what was promised is not what the announced shares give",
        )


def _expect_spent(receipt: Receipt, announcement: _Announcement, release: _Release) -> None:
    """Refuse anything else than the promise or, of a sheet, than the parts of questions that were released."""
    if receipt.capped is None:
        _expect(receipt.spent == receipt.promised, "something else was spent than promised")
        return
    marks, questions = receipt.answered or 0, len(announcement.shares)
    _expect(marks >> questions == 0, "a question was charged that was never asked")
    took = receipt.question_grains(announcement.shares)
    _expect(receipt.spent == sum(took), "something else was spent than the questions that were charged take")
    _expect(marks & ~release.released == 0, "a question was charged that was not released")
    for k, grains in enumerate(took):
        within = not release.released >> k & 1 or grains <= release.largest_total(k)
        _expect(within, "more was spent than a question cost everyone together")


def _expect(holds: bool, otherwise: str) -> None:
    if not holds:
        raise PromiseBroken("{otherwise}; keep all three files and ask the operator", otherwise=otherwise)


def root_of(receipt: Receipt) -> str:
    """Compute the root that a receipt's own charge and path lead to."""
    _expect(receipt.salt is not None and receipt.index is not None, "the receipt lacks its salt")
    salt, index = bytes.fromhex(receipt.salt or ""), receipt.index or 0
    _expect(len(salt) == SALT_BYTES and 0 <= index < receipt.charged_people, "the receipt's proof is malformed")
    split = (receipt.answered, receipt.capped, receipt.design)
    numbers = [receipt.spent, *(each for each in split if each is not None)]
    leaf = leaves_of(salt, [receipt.id], *(np.array([number], dtype=np.int64) for number in numbers))[0]
    return climb(leaf, index, receipt.charged_people, receipt.path)


def seal_of(receipt: Receipt, result: str | None) -> Seal:
    """Rebuild the act a receipt speaks of; ``result`` is the fingerprint of the release."""
    return Seal(
        version=receipt.version,
        number=receipt.ledger_number,
        kind="release",
        campaign=receipt.campaign,
        round=receipt.round,
        offer=receipt.offer,
        at=receipt.at,
        fingerprint=receipt.fingerprint,
        result=result,
        body=receipt.body,
        people=receipt.charged_people,
        rows=receipt.rows,
        joined=receipt.joined,
        previous=receipt.previous,
    )
