"""The log over a ledger's acts: what is signed is there, nothing signed is contradicted, and receipts show their act in it."""

import hashlib
import json
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from ledger_steps import announce, damage, logged, offer_of, release
from test_transparency_tree import mth

from optin import extras
from optin.announcement.terms import Conditions
from optin.errors import BadInput, MissingExtra, PromiseBroken
from optin.ledger import Ledger, Log
from optin.questions import Sheet
from optin.receipts import Receipt, check
from optin.releasing import Release
from optin.transparency.checkpoint import Checkpoint
from optin.transparency.evidence import LogProof, fork_between, shown_in
from optin.transparency.keys import SigningKey
from optin.transparency.note import SignedNote
from optin.transparency.trust import Trust, opened
from optin.wording.spoken import spoken

FIXTURES = Path(__file__).parent / "fixtures" / "version-1"


def at(note):
    return Checkpoint.from_text(note.text)


def test_the_leaves_are_the_acts_own_hashes_and_the_root_is_the_rfc_s(ledger):
    announce(ledger)
    release(ledger)
    key, _ = logged(ledger)
    (note,) = Log(ledger).checkpoints()
    entries = [bytes.fromhex(act.hash) for act in ledger.acts()]
    assert at(note) == Checkpoint(key.name, len(entries), mth(entries).hex())


def test_a_ledger_verifies_with_its_log_and_signing_again_changes_nothing(ledger):
    announce(ledger)
    key, _ = logged(ledger)
    note = Log(ledger).sign(key)
    assert Log(ledger).sign(key) == note
    release(ledger)
    later = Log(ledger).sign(key)
    assert at(later).size > at(note).size
    assert len(Log(ledger).checkpoints()) == 2
    assert ledger.verify().ok


def test_nothing_is_signed_before_there_is_an_act_nor_with_another_key(ledger):
    with pytest.raises(BadInput, match="nothing to sign"):
        Log(ledger).sign(SigningKey.new("a"))
    announce(ledger)
    Log(ledger).sign(SigningKey.new("a"))
    with pytest.raises(BadInput, match="another key signs"):
        Log(ledger).sign(SigningKey.new("a"))


def test_receipts_of_one_release_carry_the_same_checkpoint_and_show_their_act_in_it(ledger):
    announce(ledger)
    key, _ = logged(ledger, witnesses=("w1", "w2"))
    entry = release(ledger)
    Log(ledger).sign(key)
    ann, bob = ledger.receipts(["ann", "bob"], campaign="c", round=1)
    assert ann.log == bob.log
    assert Receipt.from_json(ann.to_json()) == ann
    found = shown_in(ann.log, number=entry.number, head=entry.head, trust=Trust((key.verifier,)))
    assert found.signer == key.verifier
    assert [size.old.size for size in ann.log.growths] == [2], "what was signed before the release is shown to be in it"


def test_a_checkpoint_that_witnesses_saw_is_preferred_and_the_first_one_is_shown_too(ledger):
    announce(ledger)
    release(ledger)
    key, log = SigningKey.new("a"), Log(ledger)
    log.sign(key)
    announce(ledger, "d", grains=2)
    note, witness = log.sign(key), SigningKey.new("w", witness=True)
    assert log.cosign(witness.signed(note.text, time=7).to_line(), witness.verifier)
    assert not log.cosign(witness.signed(note.text, time=8).to_line(), witness.verifier)
    receipt = ledger.receipt("ann", campaign="c")
    assert receipt.log.checkpoint == at(note)
    assert [grown.old.size for grown in receipt.log.growths] == [3]
    assert opened(receipt.log.note, receipt.log.keys).witnesses[0].time == 7


def test_what_a_witness_signed_of_another_ledger_or_badly_is_not_kept(ledger):
    announce(ledger)
    logged(ledger)
    witness = SigningKey.new("w", witness=True)
    other = Checkpoint("example.org/survey", 2, "0" * 64).to_text()
    for line in (witness.signed(other, time=7).to_line(), SigningKey.new("w", witness=True).signed(other).to_line()):
        with pytest.raises(BadInput, match="signed no checkpoint"):
            Log(ledger).cosign(line, witness.verifier)
    with pytest.raises(BadInput, match="a log's, not a witness's"):
        Log(ledger).cosign(witness.signed(other).to_line(), SigningKey.new("a").verifier)


DAMAGES = {
    "cut off": ("DELETE FROM acts WHERE number = 3", "some were cut off"),
    "rewritten": ("UPDATE acts SET hash = '" + "ab" * 32 + "' WHERE number = 1", "over other acts"),
    "a root": ("UPDATE checkpoints SET note = replace(note, '/survey', '/survez')", "is not signed as it says"),
    "a size": ("UPDATE checkpoints SET size = 2", "is not signed as it says"),
    "no note": ("UPDATE checkpoints SET note = 'x'", "cannot be read"),
    "a line": ("UPDATE cosignatures SET line = 'x'", "cannot be read"),
}


@pytest.mark.parametrize("what", DAMAGES)
def test_a_ledger_that_is_not_what_was_signed_does_not_verify_and_signs_nothing_more(ledger, what):
    announce(ledger)
    release(ledger)
    key, _ = logged(ledger)
    statement, words = DAMAGES[what]
    damage(ledger, statement)
    assert words in str(ledger.verify())
    if what in ("cut off", "rewritten"):
        with pytest.raises(PromiseBroken, match="nothing was signed"):
            Log(ledger).sign(key)


def test_a_key_follows_another_and_only_by_the_other_s_own_signature(ledger):
    announce(ledger)
    old, _ = logged(ledger)
    new, thief = SigningKey.new(old.name), SigningKey.new(old.name)
    log = Log(ledger)
    with pytest.raises(BadInput, match="not the key that signed last"):
        log.rotate(new, thief)
    log.rotate(new, old)
    with pytest.raises(BadInput, match="another key signs"):
        log.sign(old)
    release(ledger)
    log.sign(new)
    assert Trust((old.verifier,)).following(log.successions()).keys == (old.verifier, new.verifier)
    assert ledger.verify().ok
    lost = SigningKey.new(old.name)
    log.rotate(lost)
    known = Trust((old.verifier,)).following(log.successions())
    assert not known.knows(lost.verifier), "a lost key names no successor"
    assert at(log.sign(lost)).size == at(log.checkpoints()[-1]).size
    assert ledger.verify().ok


def test_a_key_that_signs_without_following_is_seen(ledger):
    announce(ledger)
    logged(ledger)
    release(ledger)
    thief = SigningKey.new("example.org/survey")
    text = Checkpoint(thief.name, 3, mth([bytes.fromhex(act.hash) for act in ledger.acts()]).hex()).to_text()
    note = SignedNote(text, (thief.signed(text),)).to_text()
    damage(ledger, f"INSERT INTO checkpoints VALUES (3, '{thief.verifier.to_text()}', '{note}')")
    assert "does not follow the one before it" in str(ledger.verify())


@pytest.fixture
def receipted(tmp_path):
    with Ledger.open(str(tmp_path / "ledger.sqlite")) as ledger:
        announce(ledger)
        key, log = SigningKey.new("example.org/survey"), Log(ledger)
        log.sign(key)
        entry = release(ledger)
        note = log.sign(key)
        seen = [SigningKey.new(name, witness=True) for name in ("w1", "w2")]
        for witness in seen:
            log.cosign(witness.signed(note.text, time=1_800_000_000).to_line(), witness.verifier)
        offer = offer_of("c", np.full(3, 5))
        drawn = Release.from_sealed(entry.body, entry.head)
        yield ledger.receipt("ann"), offer, drawn, key, seen


def test_a_receipt_says_how_many_witnesses_saw_it_and_whose_word_the_keys_are(receipted):
    receipt, offer, drawn, key, seen = receipted
    told = "\n".join(check(receipt, offer, drawn))
    assert "seen by 2 witnesses: w1 at 2027-01-15 08:00 UTC, w2" in told
    assert "key that came with it" in told
    assert "compare their words" in told
    known = "\n".join(check(receipt, offer, drawn, trust=Trust((key.verifier, *(one.verifier for one in seen)))))
    assert "the key you know" in known
    assert "compare their words" not in known


def test_only_witnesses_one_knows_are_counted_and_only_the_log_s_own_key_counts(receipted):
    receipt, offer, drawn, key, seen = receipted
    trust = Trust((key.verifier, seen[0].verifier))
    assert "seen by 1 witness: w1" in "\n".join(check(receipt, offer, drawn, trust=trust))
    stranger = SigningKey.new("w9", witness=True)
    told = "\n".join(check(receipt, offer, drawn, trust=Trust((key.verifier, stranger.verifier))))
    assert "seen by no witness whose key you gave" in told
    told = "\n".join(check(receipt, offer, drawn, trust=Trust((key.verifier,))))
    assert "seen by no witness whose key you gave" in told, "witnesses of the operator's used to count here"
    told = "\n".join(check(receipt, offer, drawn, trust=Trust((seen[1].verifier,))))
    assert ("seen by 1 witness: w2" in told, "the key that came with it" in told) == (True, True)
    with pytest.raises(PromiseBroken, match="not signed with a key known"):
        check(receipt, offer, drawn, trust=Trust((SigningKey.new(key.name).verifier,)))


def test_a_proof_changed_anywhere_is_refused(receipted):
    receipt, offer, drawn, *_ = receipted
    proof = receipt.log
    changes = {
        "path": replace(proof, path=("0" * 64, *proof.path[1:])),
        "shorter": replace(proof, path=proof.path[1:]),
        "growth": replace(proof, earlier=(replace(proof.earlier[0], path=("0" * 64,)),)),
        "no keys": replace(proof, keys=()),
        "unsigned": replace(proof, note=SignedNote(proof.note.text, proof.note.signatures[1:])),
        "another text": replace(proof, note=replace(proof.note, text=proof.note.text.replace("survey", "surwey"))),
        "older": replace(proof, note=proof.earlier[0].note, earlier=()),
    }
    for changed in changes.values():
        with pytest.raises(PromiseBroken):
            check(replace(receipt, log=changed), offer, drawn)


@pytest.mark.parametrize(
    "change",
    [
        lambda log: log.pop("keys"),
        lambda log: log.update(path="x"),
        lambda log: log.update(path=["x"]),
        lambda log: log.update(keys=[5]),
        lambda log: log.update(checkpoint=5),
        lambda log: log.update(earlier=[{}]),
        lambda log: log.update(more=1),
        lambda log: log["earlier"][0].update(checkpoint=log["earlier"][0]["checkpoint"].replace("\n2\n", "\n02\n")),
    ],
)
def test_a_receipt_whose_proof_cannot_be_read_is_no_receipt(receipted, change):
    record = json.loads(receipted[0].to_json())
    change(record["log"])
    with pytest.raises(BadInput):
        Receipt.from_json(json.dumps(record))


def test_checkpoints_of_one_size_agree_or_are_a_fork_and_others_need_a_proof(receipted):
    proof = receipted[0].log
    old, new = proof.growths[0].old, proof.checkpoint
    assert fork_between(new, new, []) == ""
    assert "two different logs of 3 acts" in fork_between(new, replace(new, root="0" * 64), [])
    assert fork_between(new, old, proof.growths) == ""
    assert fork_between(old, new, []) is None
    assert fork_between(replace(old, root="0" * 64), new, proof.growths) is None


@pytest.mark.parametrize("name", ["ledger", "web"])
@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
def test_an_old_ledger_begins_a_log_at_its_head_and_stays_verifiable(request, kind, name, tmp_path):
    if kind == "postgresql":
        url = request.getfixturevalue("postgres").restored(FIXTURES / f"{name}.sql")
    else:
        url = str(tmp_path / "old.sqlite")
        Path(url).write_bytes((FIXTURES / f"{name}.sqlite").read_bytes())
        Path(url).chmod(0o600)
    with Ledger.open(url) as ledger:
        before, key = ledger.acts(), SigningKey.new("old")
        assert at(Log(ledger).sign(key)).size == len(before) > 0
        assert ledger.verify().ok
        assert ledger.acts() == before


def test_a_proof_reads_back_as_it_was_written(receipted):
    proof = receipted[0].log
    assert LogProof.from_record(json.loads(json.dumps(proof.to_record()))) == proof


def test_growth_is_asked_for_two_sizes_in_order(ledger):
    announce(ledger)
    release(ledger)
    assert Log(ledger).growth(1, 3)
    for sizes in ((3, 1), (0, 4), (-1, 2)):
        with pytest.raises(BadInput, match="a log grows"):
            Log(ledger).growth(*sizes)


def test_without_the_extra_a_logged_receipt_is_not_called_good_but_named_what_is_missing(receipted, monkeypatch):
    receipt, offer, drawn, *_ = receipted
    monkeypatch.setitem(extras.PACKAGES, "trust", ("no_such_package",))
    with pytest.raises(MissingExtra, match=r"pip install 'optin\[trust\]'"):
        check(receipt, offer, drawn)
    assert check(replace(receipt, log=None), offer, drawn), "what needs no signature is checked as before"


def test_changing_any_word_of_the_terms_gives_other_words_to_compare():
    offer = offer_of("c", np.full(3, 5))
    sheets = [Sheet(offer.sheet.questions, **{name: "x"}) for name in ("title", "purpose", "asked_by")]
    others = [replace(offer, terms=replace(offer.terms, sheet=sheet)) for sheet in sheets]
    stated = [
        {"quorum_people": 9},
        {"quorum_error": 0.5},
        {"answers_until": "x"},
        {"published_until": "x"},
        {"mode": "x"},
    ]
    others += [replace(offer, terms=replace(offer.terms, conditions=Conditions(**each))) for each in stated]
    words = {spoken(each.fingerprint) for each in (offer, *others)}
    assert len(words) == 1 + len(others)


@pytest.fixture
def hashes(monkeypatch):
    """Every hash that is made of two, as it is made."""
    from optin.transparency import tree

    made, own = [], hashlib.sha256

    def counted(entry=b""):
        made.append(len(entry))
        return own(entry)

    monkeypatch.setattr(tree, "hashlib", SimpleNamespace(sha256=counted))
    return made


@pytest.mark.parametrize("asked", ["published", "proofs", "verified"])
def test_a_stranger_who_asks_for_the_log_has_each_act_hashed_a_few_times_however_many_checkpoints_there_are(
    tmp_path, migrated, hashes, asked
):
    (tmp_path / "ledger.sqlite").write_bytes(migrated)
    (tmp_path / "ledger.sqlite").chmod(0o600)
    key, acts = SigningKey.new("example.org/survey"), 48
    with Ledger.open(str(tmp_path / "ledger.sqlite")) as ledger:
        log = Log(ledger)
        for at in range(acts):
            announce(ledger, f"c{at}", ids=("ann",), grains=1, allowances=acts)
            log.sign(key)
        hashes.clear()
        look = {
            "published": log.published,
            "proofs": lambda: log.proofs(range(1, acts + 1)),
            "verified": lambda: log_faults_of(ledger),
        }[asked]
        assert look()
        size = len(ledger.acts())
    few = 2 * size.bit_length()
    assert len(hashes) <= size * (2 + few), "one for each act and a path for each checkpoint, not a tree for each"


def log_faults_of(ledger):
    """Look whether what was signed is there; True where it is."""
    from optin.database.connection import read
    from optin.ledger.logged import log_faults

    return read(ledger.engine, log_faults) == []
