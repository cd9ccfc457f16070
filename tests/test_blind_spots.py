"""What `verify` cannot see alone, done by an operator who holds the key but not the witnesses: found, and by whom, or not.

Each deed leaves a ledger that is consistent in itself, every hash made again and its log signed again with the operator's own
key, so that `verify` finds nothing. The table of docs/how-to/witness.md lists the same deeds.
"""

import shutil
from dataclasses import dataclass
from pathlib import Path

import pytest
from ledger_steps import announce, damage, forge, release, terms

from optin.council.checking import Held, checked_together
from optin.errors import PromiseBroken
from optin.ledger import Ledger, Log
from optin.receipts import Receipt
from optin.transparency.keys import SigningKey
from optin.transparency.trust import Trust
from optin.transparency.witness import Witness

DOCS = Path(__file__).parent.parent / "docs" / "how-to" / "witness.md"
NAME = "example.org/survey"


@dataclass
class Scene:
    """A ledger of two campaigns whose log was signed and seen all along; what a witness and two people hold of it."""

    folder: Path
    key: SigningKey
    path: Path
    ann: Receipt
    bob: Receipt

    def open(self, path=None):
        return Ledger.open(str(path or self.path))

    def sees(self, ledger, *, time=9):
        """The witness looks at what it is shown."""
        return Witness(self.folder / "w").see(Log(ledger).published(), time=time)


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    folder = tmp_path_factory.mktemp("scene")
    key = SigningKey.new(NAME)
    with Ledger.open(str(folder / "ledger.sqlite")) as ledger:
        scene = Scene(folder, key, folder / "ledger.sqlite", None, None)
        announce(ledger)
        show(ledger, key, scene)
        release(ledger)
        show(ledger, key, scene)
        scene.ann, scene.bob = ledger.receipts(["ann", "bob"], campaign="c", round=1)
        announce(ledger, "d", grains=2)
        ledger.let_go(terms("d"), ["cy"])
        show(ledger, key, scene)
    return scene


def show(ledger, key, scene):
    Log(ledger).sign(key)
    scene.sees(ledger)


@pytest.fixture
def scene(made, tmp_path):
    """The same scene, in a folder of its own."""
    shutil.copytree(made.folder, tmp_path / "scene")
    return Scene(tmp_path / "scene", made.key, tmp_path / "scene" / "ledger.sqlite", made.ann, made.bob)


def signed_anew(ledger, key):
    """The operator throws the old log away and signs the new one with the same key."""
    damage(ledger, "DELETE FROM checkpoints", "DELETE FROM cosignatures")
    Log(ledger).sign(key)
    assert ledger.verify().ok, ledger.verify()


REWRITES = {
    "a tail cut off": [
        "DELETE FROM acts WHERE number > 3",
        "DELETE FROM promises WHERE offer > 3",
        "DELETE FROM returns WHERE offer > 3",
    ],
    "a decline forgotten": ["DELETE FROM acts WHERE number = 5", "DELETE FROM returns WHERE act = 5"],
    "an allowance changed": ["UPDATE allowances SET grains = 9"],
    "an id changed": ["UPDATE people SET id = 'eve' WHERE id = 'cy'"],
    "a time changed": ["UPDATE acts SET at = '2020-01-01T00:00:00+00:00' WHERE number = 2"],
}


@pytest.mark.parametrize("deed", REWRITES)
def test_a_ledger_rewritten_and_signed_again_is_found_by_the_witness(scene, deed):
    with scene.open() as ledger:
        forge(ledger, *REWRITES[deed])
        signed_anew(ledger, scene.key)
        with pytest.raises(PromiseBroken, match=r"rolled back|rewritten|two different logs"):
            scene.sees(ledger)
    assert list((scene.folder / "w").glob("evidence-*.json"))


def other_ledger(scene, key, *, campaign="c", joined=None):
    """A second ledger with other acts, as many as the first had when the release was published."""
    path = scene.folder / "other.sqlite"
    ledger = scene.open(path)
    announce(ledger, campaign)
    Log(ledger).sign(key)
    release(ledger, campaign, joined=joined)
    Log(ledger).sign(key)
    return ledger


def test_a_ledger_replaced_by_another_of_the_same_key_is_found_by_the_witness(scene):
    with other_ledger(scene, scene.key) as ledger:
        assert ledger.verify().ok
        with pytest.raises(PromiseBroken, match="rolled back or replaced"):
            scene.sees(ledger)
        announce(ledger, "d", grains=2)
        announce(ledger, "e", grains=1)
        Log(ledger).sign(scene.key)
        with pytest.raises(PromiseBroken, match=r"rewritten|two different logs"):
            scene.sees(ledger)


def test_a_ledger_replaced_by_another_with_a_new_key_is_found_by_the_witness(scene):
    with (
        other_ledger(scene, SigningKey.new(NAME)) as ledger,
        pytest.raises(PromiseBroken, match="not signed with a key known"),
    ):
        scene.sees(ledger)


def test_a_ledger_under_another_name_is_found_by_two_people_who_compare_and_by_whoever_knows_the_key(scene):
    with other_ledger(scene, SigningKey.new("example.org/other")) as ledger:
        assert scene.sees(ledger).first, "a witness has never seen it: it is no contradiction to anything"
        cy = ledger.receipt("cy", campaign="c")
    with pytest.raises(PromiseBroken, match="there are two ledgers"):
        checked_together(Held({"ann": scene.ann, "cy": cy}))
    with pytest.raises(PromiseBroken, match="not signed with a key known"):
        checked_together(Held({"cy": cy}), Trust((scene.key.verifier,)))


def test_a_fork_is_found_by_two_people_who_compare(scene):
    checked_together(Held({"ann": scene.ann, "bob": scene.bob}))
    with other_ledger(scene, scene.key) as ledger:
        cy = ledger.receipt("cy", campaign="c")
    checked_together(Held({"cy": cy}))
    with pytest.raises(PromiseBroken, match="there are two ledgers"):
        checked_together(Held({"ann": scene.ann, "cy": cy}))


def test_a_fork_is_found_by_two_people_of_different_campaigns_by_their_checkpoints(scene):
    """They name different acts, so that only the log tells."""
    with other_ledger(scene, scene.key, campaign="f") as ledger:
        announce(ledger, "g", grains=2)
        release(ledger, "g", grains=2)
        Log(ledger).sign(scene.key)
        later = ledger.receipt("cy", campaign="g")
    assert later.ledger_number != scene.ann.ledger_number
    with pytest.raises(PromiseBroken, match=r"contradict each other: two different logs"):
        checked_together(Held({"ann": scene.ann, "cy": later}))


def test_an_old_log_shown_as_new_is_found_by_the_witness(scene):
    with scene.open() as ledger:
        old = Log(ledger).published()
        with pytest.raises(PromiseBroken, match="rolled back"):
            Witness(scene.folder / "w").see(type(old)(old.notes[:1], (), old.keys, ()), time=9)


def test_a_log_that_leaves_out_the_checkpoint_a_witness_saw_is_not_signed(scene):
    with scene.open() as ledger:
        announce(ledger, "h", grains=1)
        Log(ledger).sign(scene.key)
        whole = Log(ledger).published()
        assert scene.sees(ledger)
        announce(ledger, "i", ids=("dan", "eve", "fay"))
        Log(ledger).sign(scene.key)
        bare = type(whole)(Log(ledger).published().notes[-1:], (), whole.keys, ())
        with pytest.raises(PromiseBroken, match="does not begin with"):
            Witness(scene.folder / "w").see(bare, time=9)


# --- what nobody finds, so that nobody is told otherwise --------------------------------------------------------------


def test_what_was_done_and_undone_between_two_checkpoints_is_not_found(scene):
    with scene.open() as ledger:
        ledger.let_go(terms("d"), ["bob"])
        forge(ledger, "DELETE FROM acts WHERE number = 6", "DELETE FROM returns WHERE act = 6")
        assert ledger.verify().ok
        announce(ledger, "e", grains=1)
        Log(ledger).sign(scene.key)
        assert scene.sees(ledger)


def test_a_false_time_that_was_written_at_once_is_not_found_but_bounded_by_the_witness(scene):
    with scene.open() as ledger:
        announce(ledger, "e", grains=1)
        forge(ledger, "UPDATE acts SET at = '2020-01-01T00:00:00+00:00' WHERE number = 6")
        Log(ledger).sign(scene.key)
        assert ledger.verify().ok
        assert scene.sees(ledger, time=1_800_000_000)


def test_a_witness_that_helps_the_operator_is_not_found_by_its_signature(scene):
    """A signature says what a witness saw; two witnesses that belong to the operator say what the operator likes."""
    with other_ledger(scene, scene.key) as ledger:
        own = SigningKey.new("w9", witness=True)
        note = Log(ledger).checkpoints()[-1]
        assert Log(ledger).cosign(own.signed(note.text, time=5).to_line(), own.verifier)
        cy = ledger.receipt("cy", campaign="c")
    assert any("seen by 1 witness: w9" in line for line in checked_together(Held({"cy": cy})))
    known = Trust((scene.key.verifier, SigningKey.new("w1", witness=True).verifier))
    assert any("seen by no witness" in line for line in checked_together(Held({"cy": cy}), known))


def test_the_table_of_the_docs_lists_every_deed():
    text = DOCS.read_text()
    others = (
        "replaced by another",
        "another name",
        "fork",
        "old log shown as new",
        "between two checkpoints",
        "false time",
    )
    for deed in (*REWRITES, *others):
        assert deed in text, deed
