"""A receipt says that nothing was spent only of someone whose promise the ledger let go."""

import numpy as np
import pytest
from ledger_steps import announce, as_if, nth, release, terms

from optin.errors import PromiseBroken
from optin.ledger import Ledger, packs
from optin.ledger.receipting import read_receipts

IDS = nth(11)
GRAINS = np.arange(11) + 1
JOINED = np.arange(11) != 4


@pytest.fixture(params=["rows", "packs"])
def released(request, url, monkeypatch):
    """A release to which one of eleven did not come, one declined, and one joined with a promise of 1."""
    if request.param == "packs":
        for name, size in (("PACKED_FROM", 1), ("SIZE", 4), ("FEW", 2)):
            monkeypatch.setattr(packs, name, size)
    with Ledger.open(url) as ledger:
        announce(ledger, "c", ids=IDS, grains=GRAINS, allowances=50)
        ledger.let_go(terms(), ["p9"])
        release(ledger, ids=IDS, grains=GRAINS, joined=JOINED & (np.arange(11) != 9))
        yield ledger, request.param


def spent(connection, ids):
    return [each.spent for each in read_receipts(connection, ids, "c", 1)]


def test_nobody_is_told_that_nothing_was_spent_whose_charge_is_gone(released):
    ledger, storage = released
    newest = "act = (SELECT MAX(number) FROM acts)"
    lost = {"rows": "charges WHERE position = 10", "packs": f"packs WHERE part = 'rows' AND block = 2 AND {newest}"}
    with as_if(ledger, f"DELETE FROM {lost[storage]}", forged=False) as connection:
        assert spent(connection, ["p4", "p9"]) == [0, 0]
        with pytest.raises(PromiseBroken, match="ledger verify"):
            spent(connection, ["p10"])


def test_blocks_of_charges_that_change_places_are_not_taken_for_nothing_spent(released):
    ledger, storage = released
    if storage == "rows":
        return
    body = "(SELECT body FROM packs WHERE act = (SELECT MAX(number) FROM acts) AND part = 'rows' AND block = 1)"
    put = f"UPDATE packs SET body = {body} WHERE act = (SELECT MAX(number) FROM acts) AND part = 'rows' AND block = 0"
    with as_if(ledger, put, forged=False) as connection, pytest.raises(PromiseBroken, match="ledger verify"):
        spent(connection, ["p0"])


def test_whoever_declined_or_stayed_away_still_has_a_receipt_of_nothing(released):
    ledger, _ = released
    assert [each.spent for each in ledger.receipts(["p4", "p9", "p0", "p10"], campaign="c", round=1)] == [0, 0, 1, 11]
    assert ledger.verify().ok
