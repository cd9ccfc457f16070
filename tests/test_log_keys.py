"""Keys that follow one another: who is believed for how long, what a thief of an old key can do, and changes cut short."""

import json
import os
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from threading import Thread

import pytest
from cli_steps import optin, optin_ok
from ledger_steps import OFFERS, announce, copy_of, damage, release

from optin import extras
from optin.council.checking import Held, checked_bundle, checked_together
from optin.council.gathering import bundle_of
from optin.council.keeping import FILES
from optin.errors import BadInput, MissingExtra, PromiseBroken
from optin.ledger import Ledger, Log
from optin.receipts import Receipt, check
from optin.transparency.checkpoint import Checkpoint
from optin.transparency.keys import SigningKey, read_key, write_key
from optin.transparency.note import SignedNote
from optin.transparency.public_log import PublicLog, checked_log
from optin.transparency.succession import Succession
from optin.transparency.tree import MerkleTree
from optin.transparency.trust import Trust, opened
from optin.transparency.witness import Witness

NAME = "example.org/survey"
PEOPLE = "id,limit,answer\n" + "".join(f"p{k},{1 + k % 9},{k / 20}\n" for k in range(20))


@pytest.fixture
def kept(tmp_path, migrated):
    """An empty ledger: what keys say of each other does not hang on the database."""
    (tmp_path / "kept.sqlite").write_bytes(migrated)
    (tmp_path / "kept.sqlite").chmod(0o600)
    with Ledger.open(str(tmp_path / "kept.sqlite")) as opened:
        yield opened


class Changed:
    """A ledger whose log was signed twice with one key, and then by another that follows it."""

    def __init__(self, ledger, *, lost=False):
        self.ledger, self.log = ledger, Log(ledger)
        self.old, self.new = SigningKey.new(NAME), SigningKey.new(NAME)
        announce(ledger)
        self.log.sign(self.old)
        announce(ledger, "d", grains=2)
        self.log.sign(self.old)
        self.log.rotate(self.new, None if lost else self.old)
        self.entry = release(ledger)
        self.log.sign(self.new)

    def trust(self, *names):
        return Trust(tuple(getattr(self, name).verifier for name in names))

    def bundle(self):
        made = bundle_of(self.ledger, "c", 1, FILES)
        return replace(made, made=made.derived())

    def checks(self, receipt, *names):
        return "\n".join(check(receipt, OFFERS["c"], copy_of(self.entry), trust=self.trust(*names)))

    def continued_by(self, key):
        """The log as it is, with one act more that a key signs: it begins with everything that was signed."""
        public = self.log.published()
        announce(self.ledger, "e", grains=1)
        leaves = leaves_of(self.ledger)
        text = Checkpoint(NAME, len(leaves), MerkleTree(leaves).root).to_text()
        size = Checkpoint.from_text(public.newest.text).size
        path = MerkleTree(leaves).growth(size, len(leaves))
        note = SignedNote(text, (key.signed(text),))
        return replace(public, notes=(*public.notes, note), paths=(*public.paths, path))


def leaves_of(ledger):
    from optin.transparency.evidence import act_leaf

    return [act_leaf(act.hash) for act in ledger.acts()]


@pytest.mark.parametrize("known", [("old",), ("new",), ("old", "new"), ("new", "old")])
def test_whoever_knows_one_key_of_a_log_believes_the_other_for_its_own_time(kept, known):
    made = Changed(kept)
    trust = made.trust(*known)
    told = "\n".join(checked_bundle(made.bundle(), trust))
    assert "with the key you know" in told
    assert [each.signer for each in checked_log(made.log.published(), trust)] == [
        made.old.verifier,
        made.old.verifier,
        made.new.verifier,
    ]


def test_a_receipt_is_checked_alone_with_the_key_of_before_and_says_which_key_followed(ledger):
    """The receipt used to hold no word of the change: with the key that people had been given it was called forged."""
    made = Changed(ledger)
    receipt = Receipt.from_json(ledger.receipt("ann", campaign="c").to_json())
    for known in (("old",), ("new",)):
        assert "with the key you know" in made.checks(receipt, *known)
    with pytest.raises(PromiseBroken, match="not signed with a key known"):
        made.checks(replace(receipt, log=replace(receipt.log, successions=())), "old")
    assert "successions" in json.loads(receipt.to_json())["log"]


def test_a_receipt_of_a_log_whose_key_never_changed_is_written_as_it_always_was(kept):
    announce(kept)
    release(kept)
    Log(kept).sign(SigningKey.new(NAME))
    assert set(json.loads(kept.receipt("ann").to_json())["log"]) == {"checkpoint", "keys", "path", "earlier"}


def test_a_lost_key_is_believed_for_its_time_by_whoever_was_given_the_new_one_and_names_none_itself(kept):
    made = Changed(kept, lost=True)
    assert checked_bundle(made.bundle(), made.trust("new"))
    assert "with the key you know" in made.checks(kept.receipt("ann", campaign="c"), "new")
    with pytest.raises(PromiseBroken, match="not signed with a key known"):
        checked_bundle(made.bundle(), made.trust("old"))
    assert kept.verify().ok


# --- a thief of the old key -------------------------------------------------------------------------------------------


def test_what_the_old_key_signs_after_it_was_followed_is_refused_by_a_witness_that_saw_the_new_one(kept, tmp_path):
    """It begins with all that the witness saw: only the key tells that somebody else made it."""
    made, witness = Changed(kept), Witness(tmp_path / "w")
    witness.see(made.log.published(), time=1)
    stolen = made.continued_by(made.old)
    silent = replace(stolen, successions=())
    for shown, words in ((stolen, "had followed by then"), (silent, "not signed with a key known")):
        with pytest.raises(PromiseBroken, match=words):
            witness.see(shown, time=2)
    assert witness.see(made.continued_by(made.new), time=3)


def test_a_second_successor_that_the_old_key_names_later_is_followed_by_nobody_who_knows_the_first(kept, tmp_path):
    made, witness, thief = Changed(kept), Witness(tmp_path / "w"), SigningKey.new(NAME)
    witness.see(made.log.published(), time=1)
    named = Succession(5, made.old.verifier, thief.verifier).signed(made.old, thief)
    stolen = made.continued_by(thief)
    for notes in ((named,), (named, *stolen.successions), (*stolen.successions, named)):
        shown = replace(stolen, successions=notes, keys=(*stolen.keys, thief.verifier))
        with pytest.raises(PromiseBroken, match="not signed with a key known"):
            witness.see(shown, time=2)
        for known in (("new",), ("old", "new")):
            if len(notes) == 2:
                with pytest.raises(PromiseBroken, match="not signed with a key known"):
                    checked_log(shown, made.trust(*known))


def test_a_checkpoint_of_the_old_key_beyond_its_time_is_refused_where_the_change_is_known(kept):
    made = Changed(kept)
    shown = made.continued_by(made.old)
    for known in (("old",), ("new",)):
        with pytest.raises(PromiseBroken, match="with a key that another one had followed by then"):
            checked_log(shown, made.trust(*known))
    silent = PublicLog((shown.newest,), (), shown.keys, ())
    assert checked_log(silent, made.trust("old")), "who was not told cannot know"


def test_verify_finds_a_checkpoint_that_the_old_key_signed_after_it_was_followed(ledger):
    made = Changed(ledger)
    assert ledger.verify().ok
    note = made.continued_by(made.old).newest
    row = f"({Checkpoint.from_text(note.text).size}, '{made.old.verifier.to_text()}', '{note.to_text()}')"
    damage(ledger, f"INSERT INTO checkpoints VALUES {row}")
    assert "is signed with a key that another had followed" in str(ledger.verify())


def test_a_witness_of_before_that_remembers_both_keys_forgets_the_old_one_when_it_looks(kept, tmp_path):
    made, witness = Changed(kept), Witness(tmp_path / "w")
    witness.see(made.log.published(), time=1)
    (place,) = (tmp_path / "w").glob("log-*.json")
    record = json.loads(place.read_text())
    assert record["keys"] == [made.new.verifier.to_text()]
    place.write_text(json.dumps(record | {"keys": [made.old.verifier.to_text(), *record["keys"]]}))
    witness.see(made.log.published(), time=2)
    assert json.loads(place.read_text())["keys"] == [made.new.verifier.to_text()]


@pytest.mark.parametrize("many", [2, 5])
def test_many_changes_are_followed_in_either_direction_and_two_files_of_different_keys_are_compared(ledger, many):
    log, keys = Log(ledger), [SigningKey.new(NAME) for _ in range(many)]
    announce(ledger)
    log.sign(keys[0])
    first = bundle_of(ledger, "c", 1, FILES)
    for old, new in pairwise(keys):
        log.rotate(new, old)
        log.sign(new)
    release(ledger)
    log.sign(keys[-1])
    last = bundle_of(ledger, "c", 1, FILES)
    held = Held(bundles={name: replace(each, made=each.derived()) for name, each in (("1", first), ("2", last))})
    for key in (keys[0], keys[-1]):
        assert checked_together(held, Trust((key.verifier,)))
    assert log.keys() == tuple(key.verifier for key in keys)
    assert opened(log.checkpoints()[0], log.keys()).signer == keys[-1].verifier, "of several the newest is told"


@pytest.mark.parametrize(
    "change",
    [
        lambda log: log.update(successions="x"),
        lambda log: log.update(successions=[5]),
        lambda log: log.update(successions=[log["checkpoint"]]),
        lambda log: log.update(successions=log["successions"] * 201),
        lambda log: log.update(successions={}),
    ],
)
def test_a_receipt_with_a_succession_that_is_none_is_no_receipt(kept, change):
    Changed(kept)
    record = json.loads(kept.receipt("ann", campaign="c").to_json())
    change(record["log"])
    with pytest.raises(BadInput):
        Receipt.from_json(json.dumps(record))


def test_a_receipt_of_a_changed_key_is_read_without_the_extra_and_not_called_good(kept, monkeypatch):
    made = Changed(kept)
    text = kept.receipt("ann", campaign="c").to_json()
    monkeypatch.setitem(extras.PACKAGES, "trust", ("no_such_package",))
    receipt = Receipt.from_json(text)
    with pytest.raises(MissingExtra):
        made.checks(receipt, "old")


def test_a_key_cannot_follow_itself():
    key = SigningKey.new(NAME)
    with pytest.raises(BadInput, match="another one of the same log"):
        Succession.from_note(Succession(1, key.verifier, key.verifier).signed(key))


# --- on the command line, cut short anywhere --------------------------------------------------------------------------


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A ledger with a key and an offer, in a folder of its own."""
    for name in ("OPTIN_LEDGER", "OPTIN_LOG_KEY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(tmp_path)
    Path("people.csv").write_text(PEOPLE)
    optin_ok("plan", "people.csv", "--limits", "limit", "--bounds", 0, 1, "-o", "plan.json")
    optin_ok("ledger", "key", "--ledger", "l.sqlite", "--name", NAME)
    optin_ok("announce", "plan.json", "people.csv", "--ledger", "l.sqlite", "--campaign", "survey", "-o", "a.json")
    return tmp_path


def cut_short(at):
    """Put the files back to where they were when a change of the key was cut short after the ledger knew of it."""
    (aside,) = (path for path in Path().glob("l.sqlite.log-key.*"))
    place = Path("l.sqlite.log-key")
    place.rename(f"l.sqlite.log-key.{read_key(place).verifier.id.hex()}")
    if at == "before the old key was put aside":
        aside.rename(place)


@pytest.mark.parametrize("at", ["before the old key was put aside", "before the new key was put in its place"])
@pytest.mark.parametrize("how", ["--rotate", "--lost"])
def test_a_change_of_the_key_that_was_cut_short_is_finished_by_doing_it_again(folder, how, at):
    optin_ok("ledger", "key", how, "--ledger", "l.sqlite")
    new = read_key(Path("l.sqlite.log-key"))
    cut_short(at)
    optin_ok("ledger", "key", how, "--ledger", "l.sqlite")
    assert read_key(Path("l.sqlite.log-key")) == new
    optin_ok("ledger", "sign", "--ledger", "l.sqlite")
    optin_ok("release", "a.json", "people.csv", "--values", "answer", "--ledger", "l.sqlite", "-o", "r.json")
    optin_ok("ledger", "verify", "--ledger", "l.sqlite")
    again = optin_ok("ledger", "key", "--rotate", "--ledger", "l.sqlite", "--json").json["public"]
    assert again != new.verifier.to_text(), "the next one is a new key"


def test_a_key_is_whole_or_not_there_and_only_one_of_many_writers_puts_it_there(tmp_path):
    """An empty file used to be left where a process was killed between making the file and writing it."""
    place, failed = tmp_path / "k", []

    def put(key):
        try:
            write_key(place, key)
        except BadInput:
            failed.append(key)

    keys = [SigningKey.new(f"k{at}") for at in range(8)]
    threads = [Thread(target=put, args=(key,)) for key in keys]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(failed) == 7
    assert read_key(place) in keys
    assert os.listdir(tmp_path) == ["k"]


def test_a_witness_whose_memory_is_damaged_says_so_and_signs_nothing(folder):
    optin_ok("ledger", "bundle", "--ledger", "l.sqlite", "--campaign", "survey", "-o", "b.zip")
    optin_ok("witness", "b.zip", "--folder", "w", "-o", "seen.txt")
    (place,) = Path("w").glob("log-*.json")
    good = place.read_text()
    for text in ("", "{", "[]", "{}", '{"checkpoint": 5, "keys": 5}', good.replace("survey", ""), good[:-20], "\udcff"):
        place.write_text(text, errors="surrogateescape")
        found = optin("witness", "b.zip", "--folder", "w")
        assert (found.code, "cannot be read from" in found.err) == (2, True), text
    place.write_text(good)
    optin_ok("witness", "b.zip", "--folder", "w")


def test_a_log_without_its_successions_is_still_a_log(kept):
    made = Changed(kept)
    text = replace(made.log.published(), successions=()).to_json()
    assert len(checked_log(PublicLog.from_json(text))) == 3
