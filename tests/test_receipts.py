"""A receipt convinces its owner and tells them nothing about anybody else."""

import dataclasses
import json
from types import SimpleNamespace

import numpy as np
import pytest
from changing import changed_offer, changed_release
from hypothesis import given
from hypothesis import strategies as st
from ledger_steps import nth

from optin import campaign
from optin.agents import PrivacyConstrained
from optin.announcement import Announcement
from optin.errors import BadInput, PromiseBroken
from optin.ledger import Ledger, Terms, charging, holds
from optin.receipts import MerkleTree, Receipt, Seal, charge_salts, check, climb, leaves_of, sealed
from optin.releasing import Release
from optin.releasing import release as draw_release

PUBLISHED = ("announcement", "drawn_fingerprint", "joined_people", "ledger_number", "ledger_head")
PEOPLE = 37
IDS = nth(PEOPLE)


@pytest.fixture(scope="module")
def closed(tmp_path_factory):
    """A ledger with one released campaign that p5 declined: the ledger, the announcement, the release."""
    agents = PrivacyConstrained(np.linspace(0.1, 2.0, PEOPLE), ids=IDS)
    with Ledger.open(str(tmp_path_factory.mktemp("ledger") / "ledger.sqlite")) as ledger:
        offer = campaign.announce(campaign.plan(agents, bounds=(0, 1)), agents, ledger=ledger)
        campaign.answer(offer, {"p5": False}, ledger=ledger)
        release = campaign.release(offer, agents, np.linspace(0, 1, PEOPLE), ledger=ledger)
        yield ledger, Announcement.from_json(offer.to_json()), Release.from_json(release.to_json())


def test_every_receipt_passes_with_the_published_files_alone(closed):
    ledger, announcement, release = closed
    for receipt in ledger.receipts(IDS, campaign=release.announcement.campaign, round=1):
        again = Receipt.from_json(receipt.to_json())
        assert again == receipt
        assert check(again, announcement, release)


def test_one_receipt_is_the_same_as_one_of_many(closed):
    ledger, _, release = closed
    many = ledger.receipts(IDS, campaign=release.announcement.campaign, round=1)
    assert ledger.receipt("p7") == many[7]
    assert ledger.receipt("p7", campaign=release.announcement.campaign) == many[7]


def test_a_receipt_says_what_was_promised_spent_and_remains(closed):
    ledger, announcement, _ = closed
    agents = PrivacyConstrained(np.linspace(0.1, 2.0, PEOPLE), ids=IDS)
    allowances = np.floor(agents.limits * 2**32).astype(int)
    for at, promised in enumerate(announcement.grains(agents).tolist()):
        receipt = ledger.receipt(IDS[at])
        spent = 0 if at == 5 else promised
        assert (receipt.promised, receipt.spent, receipt.remaining) == (promised, spent, allowances[at] - spent)


def test_whoever_declined_gets_a_receipt_of_nothing(closed):
    ledger, announcement, release = closed
    receipt = ledger.receipt("p5")
    assert (receipt.spent, receipt.index, receipt.path) == (0, None, ())
    assert any("cannot be proved" in line for line in check(receipt, announcement, release))


FORGERIES = {
    "spent": (0, 1, 0.5, "x", None),
    "promised": (1, 10**15, "x", None),
    "remaining": (-5, 0.5, "x", 2**63),
    "id": ("p8", "", 5, "\ud800"),
    "salt": ("00" * 16, "zz", "", None, 5),
    "index": (3, None, 1.0, -1, 99),
    "path": ((), ("zz",), ("0" * 64,) * 6, (5,)),
    "charged_people": (99, 0, None),
    "rows": ("0" * 64, "zz", None),
    "body": ("0" * 64, None),
    "joined": ("0" * 64, None),
    "previous": ("0" * 64, None),
    "ledger_head": ("0" * 64, None),
    "ledger_number": (77, 10**400, None),
    "fingerprint": ("0" * 64, None),
    "campaign": ("another", 5),
    "round": (2, None),
    "offer": (1, None),
    "at": ("2020-01-01T00:00:00+00:00", 5),
    "version": (2, None),
    "capped": (5, 0.5),
    "answered": (1, "x"),
    "design": (0, 7, "x"),
    "log": ("x", 5),
}


@pytest.mark.parametrize(("field", "forgery"), [(field, one) for field, some in FORGERIES.items() for one in some])
def test_a_receipt_changed_in_any_field_fails(closed, field, forgery):
    """What remains is the exception: a believable number there is the operator's word, and the check says so."""
    ledger, announcement, release = closed
    forged = dataclasses.replace(ledger.receipt("p7"), **{field: forgery})
    with pytest.raises(PromiseBroken):
        check(forged, announcement, release)


def test_no_field_of_a_receipt_is_left_untried():
    assert {field.name for field in dataclasses.fields(Receipt)} == set(FORGERIES)


def test_what_a_receipt_cannot_prove_is_called_the_operators_word(closed):
    ledger, announcement, release = closed
    charged, away = ledger.receipt("p7"), ledger.receipt("p5")
    assert (
        "what remains is the operator's word"
        in check(dataclasses.replace(charged, remaining=1), announcement, release)[-1]
    )
    assert (
        "promised and what remains is the operator's word"
        in check(dataclasses.replace(away, promised=1), announcement, release)[-1]
    )
    nothing = dataclasses.replace(charged, index=None, spent=0, salt=None, path=())
    assert "says the operator" in check(nothing, announcement, release)[1]


MALFORMED = [(field, one) for field, some in FORGERIES.items() for one in some if one in (None, "x", "zz", 0.5, 5, -5)]


@pytest.mark.parametrize(
    ("field", "forgery"),
    [
        *((field, one) for field, one in MALFORMED if (field, one) not in (("salt", None), ("index", None))),
        *(
            ("path", ["zz"]),
            ("path", "ab"),
            ("path", {}),
            ("remaining", False),
            ("index", 1.0),
            ("id", "\ud800"),
            ("round", 10**400),
        ),
    ],
)
def test_a_field_that_is_none_of_its_kind_is_bad_input(closed, field, forgery):
    text = closed[0].receipt("p7").to_json()
    assert Receipt.from_json(text) == closed[0].receipt("p7")
    with pytest.raises(BadInput, match="not an optin receipt"):
        Receipt.from_json(json.dumps({**json.loads(text), field: forgery}))


def test_a_path_changed_in_any_place_fails(closed):
    ledger, announcement, release = closed
    receipt = ledger.receipt("p7")
    for path in ((), receipt.path[:-1], (*receipt.path, receipt.path[0]), tuple(reversed(receipt.path))):
        with pytest.raises(PromiseBroken):
            check(dataclasses.replace(receipt, path=path), announcement, release)


def test_a_release_changed_in_its_number_fails(closed):
    ledger, announcement, release = closed
    others = [changed_release(release, noisy_total=release.noisy_total + 1)]
    others += [release.charged_at(release.ledger_number), release.charged_at(3, release.ledger_head)]
    for other in others:
        with pytest.raises(PromiseBroken):
            check(ledger.receipt("p7"), announcement, other)


def test_another_announcement_fails(closed):
    ledger, announcement, release = closed
    with pytest.raises(PromiseBroken, match="another announcement"):
        check(ledger.receipt("p7"), changed_offer(announcement, campaign="another"), release)


@pytest.fixture
def cheat(tmp_path, monkeypatch):
    """An operator who publishes an announcement, and with other code books something else under its fingerprint."""
    monkeypatch.setattr(holds, "expect_announced", lambda *_, **__: None)
    monkeypatch.setattr(charging, "expect_released", lambda *_, **__: None)
    agents = PrivacyConstrained([0.5] * 6 + [2.0] * 6, ids=nth(12))
    offer = campaign.plan(agents, bounds=(0, 1)).announce(agents, campaign="survey")
    drawn, promised = draw_release(offer, agents, np.full(12, 0.5)), offer.grains(agents)

    def book(grains, terms):
        with Ledger.open(str(tmp_path / "ledger.sqlite")) as ledger:
            people = {"ids": nth(12), "grains": grains}
            ledger.announce(terms, body=offer.to_json(), allowances=grains, **people)
            entry = ledger.release(terms, draw=lambda mask, number: _marked(drawn, number), **people)
            release = drawn.charged_at(entry.number, entry.head)
            honest = grains is promised and terms == Terms("survey", 1, offer.fingerprint)
            assert ledger.verify([release]).ok == honest
            return ledger.receipt("p1"), offer, release

    return book, offer, promised


def _marked(drawn, number):
    marked = drawn.charged_at(number)
    return marked.to_json(), marked.drawn_fingerprint


def test_what_was_announced_and_booked_passes(cheat):
    book, offer, grains = cheat
    assert check(*book(grains, Terms("survey", 1, offer.fingerprint)))


def test_a_charge_above_what_the_announcement_gives_anybody_fails(cheat):
    book, offer, grains = cheat
    assert max(grains) <= offer.largest_promise
    with pytest.raises(PromiseBroken, match="than the announcement allows"):
        check(*book(np.full(12, offer.largest_promise + 1), Terms("survey", 1, offer.fingerprint)))


def test_a_charge_above_what_the_release_cost_everyone_fails(cheat):
    book, offer, grains = cheat
    receipt, _, release = book(grains, Terms("survey", 1, offer.fingerprint))
    cheap = SimpleNamespace(**{name: getattr(release, name) for name in PUBLISHED}, total_grains=receipt.spent - 1)
    with pytest.raises(PromiseBroken, match="than the release cost"):
        check(receipt, offer, cheap)


@pytest.mark.parametrize("place", [("survey", 2), ("another", 1)])
def test_an_announcement_booked_under_another_campaign_or_round_fails(cheat, place):
    book, offer, grains = cheat
    with pytest.raises(PromiseBroken, match="another campaign or round"):
        check(*book(grains, Terms(*place, offer.fingerprint)))


def test_a_field_given_twice_is_not_read(closed):
    text = closed[0].receipt("p7").to_json()
    with pytest.raises(BadInput, match="not an optin receipt"):
        Receipt.from_json(text.replace("{", '{"spent": 1,', 1))


def test_a_claim_of_nothing_spent_needs_no_charge_shown(closed):
    ledger, announcement, release = closed
    forged = dataclasses.replace(ledger.receipt("p7"), index=None, salt=None, path=())
    with pytest.raises(PromiseBroken, match="shows no charge"):
        check(forged, announcement, release)


def test_a_receipt_names_nobody_else_and_shows_no_private_number_when_printed(closed):
    ledger, _, _ = closed
    receipt = ledger.receipt("p7")
    told = set(json.dumps(json.loads(receipt.to_json())).replace('"', " ").split())
    assert told & {name for name in IDS if name != "p7"} == set()
    assert receipt.salt not in repr(receipt)
    assert not any(
        f" {name}=" in f" {repr(receipt)[8:]}" for name in ("id", "promised", "spent", "remaining", "salt", "path")
    )


def test_leaves_of_the_same_charge_differ_between_releases():
    """Without fresh salts, whoever knows an id and can guess its grains could find the leaf in another's path."""
    grains = np.array([5], dtype=np.int64)
    one, two = (leaves_of(charge_salts(key, 1), ["ann"], grains) for key in (b"a" * 32, b"b" * 32))
    assert one != two


def test_strangers_get_no_receipt_and_no_hint(closed):
    ledger, _, release = closed
    with pytest.raises(BadInput, match="announced to this person") as error:
        ledger.receipt("stranger")
    assert "stranger" not in str(error.value)
    with pytest.raises(BadInput, match="index 0 was not among"):
        ledger.receipt("stranger", campaign=release.announcement.campaign, round=1)
    with pytest.raises(BadInput, match="no release"):
        ledger.receipt("p7", campaign="never heard of")


@pytest.mark.parametrize(
    "text", ["", "[" * 100_000, "{}", "[]", "null", '{"optin": "receipt"}', '{"optin": "plan", "version": 1}']
)
def test_what_is_no_receipt_is_refused(text):
    with pytest.raises(BadInput, match="not an optin receipt"):
        Receipt.from_json(text)


@given(st.integers(1, 70), st.data())
def test_every_leaf_climbs_to_the_root_and_no_other_does(count, data):
    leaves = [bytes([k]) * 32 for k in range(count)]
    tree = MerkleTree(leaves)
    index = data.draw(st.integers(0, count - 1))
    assert climb(leaves[index], index, count, tree.path(index)) == tree.root
    assert climb(b"\xff" * 32, index, count, tree.path(index)) != tree.root
    assert len(tree.path(index)) <= 7


@given(
    st.lists(st.one_of(st.text(), st.integers(), st.none())), st.lists(st.one_of(st.text(), st.integers(), st.none()))
)
def test_two_lists_of_fields_have_the_same_seal_only_if_they_are_the_same(one, other):
    assert (sealed(*one) == sealed(*other)) == (one == other)


def test_every_field_of_a_seal_counts():
    seal = Seal(number=1, kind="release", at="now", body="b", people=1, rows="r", previous="p")
    hashes = {seal.hash}
    for field in dataclasses.fields(seal):
        hashes.add(
            dataclasses.replace(seal, **{field.name: 99 if isinstance(getattr(seal, field.name), int) else "x"}).hash
        )
    assert len(hashes) == 1 + len(dataclasses.fields(seal))
