"""Logs, keys, bundles and addresses as an enemy would write them: each is refused in words, and nothing falls over."""

import contextlib
import io
import json
import tracemalloc
import zipfile
from dataclasses import replace

import pytest
from cli_steps import optin
from ledger_steps import announce, release

from optin.council.bundle import read_bundle
from optin.council.checking import Held, _expect_one_result, checked_bundle, checked_together
from optin.council.gathering import bundle_of
from optin.council.keeping import FILES
from optin.council.sealed_acts import SealedAct
from optin.errors import BadInput, PromiseBroken
from optin.ledger import Ledger, Log
from optin.transparency.checkpoint import Checkpoint
from optin.transparency.keys import LAST_SECOND, SigningKey, good_signature
from optin.transparency.note import _WEAK, MOST_LETTERS, Signature, SignedNote, VerifierKey
from optin.transparency.public_log import PublicLog, checked_log
from optin.transparency.trust import Trust, opened
from optin.transparency.witness import Witness

TEXT = Checkpoint("example.org/survey", 7, "ab" * 32).to_text()


@pytest.fixture(scope="module")
def packed(tmp_path_factory):
    """A bundle of a round of three people, its log signed twice, and the key."""
    key = SigningKey.new("example.org/survey")
    with Ledger.open(str(tmp_path_factory.mktemp("hostile") / "l.sqlite")) as ledger:
        announce(ledger)
        Log(ledger).sign(key)
        release(ledger)
        Log(ledger).sign(key)
        bundle = bundle_of(ledger, "c", 1, FILES)
        return key, replace(bundle, made=bundle.derived())


def signed(key, text, *, time=0):
    return SignedNote(text, (key.signed(text, time=time),))


# --- signatures -------------------------------------------------------------------------------------------------------


def test_a_cosignature_of_an_earlier_checkpoint_is_not_one_of_a_later(packed):
    key, bundle = packed
    witness = SigningKey.new("w", witness=True)
    old, new = bundle.log.notes
    replayed = new.with_signature(witness.signed(old.text, time=7))
    with pytest.raises(PromiseBroken, match="a signature of w is not good"):
        opened(replayed, (key.verifier, witness.verifier))


def test_a_log_s_signature_of_one_text_is_none_of_another_log_or_size(packed):
    key, bundle = packed
    note = bundle.log.newest
    for text in (note.text.replace("survey", "surwey"), note.text.replace("\n3\n", "\n4\n"), note.text + "more\n"):
        with pytest.raises(PromiseBroken):
            opened(SignedNote(text, note.signatures), (key.verifier,))


@pytest.mark.parametrize("time", [LAST_SECOND + 1, 2**63, 2**64 - 1])
def test_a_witness_that_signs_at_a_time_nobody_can_write_down_has_not_signed(time):
    """Its good signature over such a time used to bring down whoever listed witnesses, the council's page included."""
    witness = SigningKey.new("w", witness=True)
    with pytest.raises(PromiseBroken, match="is not good"):
        good_signature(signed(witness, TEXT, time=time), witness.verifier)
    assert good_signature(signed(witness, TEXT, time=LAST_SECOND), witness.verifier)


def test_one_witness_counts_once_however_often_its_key_and_its_line_are_listed():
    key, witness = SigningKey.new("example.org/survey"), SigningKey.new("w", witness=True)
    lines = [witness.signed(TEXT, time=time) for time in (7, 8)]
    note = SignedNote(TEXT, (key.signed(TEXT), *lines, *lines))
    assert len(opened(note, (key.verifier, witness.verifier, witness.verifier)).witnesses) == 1


def test_keys_swapped_between_a_log_and_a_witness_sign_nothing():
    key, witness = SigningKey.new("example.org/survey"), SigningKey.new("example.org/survey", witness=True)
    for signer in (key, witness):
        swapped = VerifierKey(signer.name, 5 - signer.kind, signer.verifier.public)
        assert good_signature(signed(signer, TEXT), swapped) is None
    with pytest.raises(PromiseBroken, match="not signed with a key known"):
        opened(signed(witness, TEXT), (witness.verifier,))


P = 2**255 - 19
D = -121665 * pow(121666, -1, P) % P


def is_of_small_order(y):
    """Whether eight times a point with this y is the neutral one: y is 1, -1 or 0, or doubling gives y = 0 (RFC 8032, 5.1)."""
    return y % P in (0, 1, P - 1) or (2 * y * y - 1 + D * pow(y, 4, P)) % P == 0


@pytest.mark.parametrize("sign", [0, 0x80])
@pytest.mark.parametrize("weak", sorted(_WEAK))
def test_a_key_under_which_one_signature_is_good_for_every_text_is_no_key(weak, sign):
    """The neutral point is one: under it R = itself, S = 0 signs anything, so that a fork would convict nobody."""
    public = bytes.fromhex(weak)
    assert is_of_small_order(int.from_bytes(public, "little"))
    key = VerifierKey("example.org/survey", 1, public[:-1] + bytes([public[-1] | sign]))
    with pytest.raises(BadInput, match="not the public key"):
        VerifierKey.from_text(key.to_text())


def test_no_other_key_is_taken_for_a_weak_one():
    assert not any(is_of_small_order(int.from_bytes(SigningKey.new("a").verifier.public, "little")) for _ in range(3))
    for _ in range(3):
        key = SigningKey.new("a").verifier
        assert VerifierKey.from_text(key.to_text()) == key


# --- names and texts --------------------------------------------------------------------------------------------------

UNSEEN = ["w\u200b1", "w\u202e1", "w1\u2060", "w\ufeff", "w\ud8001", "w\x851", "w\u20281", "w\xa01", "w\x00"]
UNSEEN += ["w1\u3164", "w\u115f1", "w1\ufe0f", "w1\u2800", "w\u034f1", "w\uffa01", "w\u17b51", "w1\U000e0100", "w\xad1"]
"""Also letters that are drawn by nothing, though Unicode calls them letters, marks or signs."""


@pytest.mark.parametrize("name", UNSEEN)
def test_names_with_letters_that_nobody_sees_name_no_key_no_log_and_no_signature(name):
    """Two witnesses whose names look alike would be one to whoever counts them."""
    written = VerifierKey("w1", 4, bytes(32)).to_text().replace("w1+", f"{name}+")
    with pytest.raises(BadInput):
        VerifierKey.from_text(written)
    with pytest.raises(BadInput):
        Checkpoint.from_text(TEXT.replace("example.org/survey", name))
    with pytest.raises(BadInput):
        Signature.from_line(f"— {name} {'A' * 96}\n")
    with pytest.raises(BadInput):
        SigningKey.new(name)


@pytest.mark.parametrize("size", ["\u0661", "١٢", "1_0", "+1", "0x1", "1e3", "9" * 19, " 1", "1.0"])
def test_a_size_is_written_in_plain_digits(size):
    with pytest.raises(BadInput):
        Checkpoint.from_text(TEXT.replace("\n7\n", f"\n{size}\n"))


def test_a_note_longer_than_any_checkpoint_is_refused_before_it_is_read():
    line = f"— w {'A' * 96}\n"
    with pytest.raises(BadInput, match="not a signed checkpoint"):
        SignedNote.from_text(TEXT + "\n" + line * (MOST_LETTERS // len(line) + 1))


# --- logs -------------------------------------------------------------------------------------------------------------


def changed_log(log, change):
    record = json.loads(log.to_json())
    change(record)
    return json.dumps(record)


@pytest.mark.parametrize(
    "change",
    [
        lambda log: log.update(paths=[["0" * 64] * 67]),
        lambda log: log.update(paths=[["0" * 63]]),
        lambda log: log.update(paths=[["0" * 64 + "\n"]]),
        lambda log: log.update(checkpoints=[]),
        lambda log: log.update(checkpoints=log["checkpoints"][:1]),
        lambda log: log.update(keys={}),
        lambda log: log.update(keys=["\ud800+00000000+AAAA"]),
        lambda log: log.update(checkpoints=["\ud800" + each for each in log["checkpoints"]]),
        lambda log: log.update(more=1),
        lambda log: log.pop("successions"),
    ],
)
def test_what_is_no_log_is_refused(packed, change):
    text = changed_log(packed[1].log, change)
    with pytest.raises((BadInput, PromiseBroken)):
        checked_log(PublicLog.from_json(text))


def test_a_key_given_twice_in_json_is_refused_wherever_a_log_or_a_bundle_is_read(packed, tmp_path):
    _, bundle = packed
    text = bundle.log.to_json()
    with pytest.raises(BadInput):
        PublicLog.from_json(text.replace('"optin": "log"', '"optin": "log", "optin": "log"'))
    for name, old in (
        ("acts.json", '"number": 2,'),
        ("bundle.json", '"version": 2,'),
        ("release.json", '"charged": true,'),
    ):
        files = bundle.files()
        assert old in files[name], name
        with pytest.raises(BadInput):
            read_bundle(zipped(tmp_path, files | {name: files[name].replace(old, f"{old} {old}")}))


def test_checkpoints_out_of_order_left_out_or_repeated_show_no_growth(packed):
    log = packed[1].log
    assert len(checked_log(log)) == 2
    old, new = log.notes
    for notes in ((new, old), (old, old), (new, new)):
        with pytest.raises(PromiseBroken, match="does not begin with"):
            checked_log(replace(log, notes=notes))


def test_a_witness_does_not_follow_a_log_to_another_key_that_the_old_one_did_not_sign(packed, tmp_path):
    key, bundle = packed
    witness, thief = Witness(tmp_path / "w"), SigningKey.new(key.name)
    witness.see(bundle.log, time=1)
    stolen = tuple(signed(thief, note.text) for note in bundle.log.notes)
    log = replace(bundle.log, notes=stolen, keys=(thief.verifier,))
    with pytest.raises(PromiseBroken, match="not signed with a key known"):
        witness.see(log, time=2)
    assert checked_log(log), "to whoever never saw it, and knows no key, it is as good as any"
    with pytest.raises(PromiseBroken):
        checked_log(log, Trust((key.verifier,)))


def test_a_witness_that_is_given_keys_of_witnesses_alone_still_knows_the_log_by_the_key_it_remembers(packed, tmp_path):
    """It used to take any key then, and to sign for whoever had replaced the ledger's."""
    key, bundle = packed
    witness, thief = Witness(tmp_path / "w"), SigningKey.new(key.name)
    witness.see(bundle.log, time=1)
    stolen = replace(
        bundle.log, notes=tuple(signed(thief, note.text) for note in bundle.log.notes), keys=(thief.verifier,)
    )
    others = Trust((SigningKey.new("w", witness=True).verifier,))
    with pytest.raises(PromiseBroken, match="not signed with a key known"):
        witness.see(stolen, time=2, trust=others)
    assert witness.see(bundle.log, time=3, trust=others)
    assert witness.see(stolen, time=4, trust=Trust((thief.verifier,))), "whoever was given the new key is followed"


# --- bundles ----------------------------------------------------------------------------------------------------------


def zipped(folder, files, kind=zipfile.ZIP_DEFLATED):
    with zipfile.ZipFile(folder / "b.zip", "w", kind) as archive:
        for name, text in files.items():
            archive.writestr(name, text)
    return folder / "b.zip"


def test_a_bundle_without_the_result_that_its_acts_show_is_refused(packed):
    _, bundle = packed
    assert checked_bundle(bundle)
    hidden = replace(bundle, release=None)
    with pytest.raises(PromiseBroken, match="a result was drawn, and is missing"):
        checked_bundle(replace(hidden, made=hidden.derived()))


def test_a_result_kept_back_with_its_act_passes_alone_and_is_found_beside_whatever_shows_it(packed):
    """A log holds hashes and names no campaign, so that nothing in such a bundle tells."""
    _, bundle = packed
    silent = replace(bundle, release=None, acts=bundle.acts[:1])
    silent = replace(silent, made=silent.derived())
    assert checked_bundle(silent)
    with pytest.raises(PromiseBroken, match="theirs has no result, and mine shows that it was drawn by then"):
        checked_together(Held(bundles={"mine": bundle, "theirs": silent}))


def test_two_results_of_one_offer_in_one_log_are_found_by_whoever_compares(packed):
    _, bundle = packed
    again = bundle.release.charged_at(bundle.release.ledger_number + 1, "0" * 64)
    with pytest.raises(PromiseBroken, match="mine and theirs show two results of one offer"):
        _expect_one_result(Held(bundles={"mine": bundle, "theirs": replace(bundle, release=again)}))


def test_a_bundle_damaged_anywhere_is_refused_and_never_falls_over(packed, tmp_path):
    """Every 29th byte is turned over, one at a time: headers, packed data and the list at the end."""
    good = packed[1].to_bytes()
    for at in range(0, len(good), 29):
        (tmp_path / "b.zip").write_bytes(good[:at] + bytes([good[at] ^ 0xFF]) + good[at + 1 :])
        with contextlib.suppress(BadInput):
            found = read_bundle(tmp_path / "b.zip")
            # A list cut short may leave the result out, which `checked_bundle` refuses; nothing is read otherwise than packed.
            whole = packed[1]
            assert found.announcement.to_json() == whole.announcement.to_json()
            assert (found.acts, found.log.to_json()) == (whole.acts, whole.log.to_json())
            assert found.release is None or found.release.to_json() == whole.release.to_json()


def test_a_bundle_packed_in_another_way_or_behind_a_password_or_too_large_is_refused(packed, tmp_path, monkeypatch):
    from optin.council import bundle as reading

    files = packed[1].files()
    plain = zipped(tmp_path, files, zipfile.ZIP_STORED)
    assert read_bundle(plain).files() == files
    data = bytearray(plain.read_bytes())
    for mark, offset in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        data[data.find(mark) + offset] |= 1  # says that the first file is behind a password
    plain.write_bytes(data)
    with pytest.raises(BadInput):
        read_bundle(plain)
    odd = bytearray(packed[1].to_bytes())
    for mark, offset in ((b"PK\x03\x04", 8), (b"PK\x01\x02", 10)):
        odd[odd.find(mark) + offset] = 97
    plain.write_bytes(odd)
    with pytest.raises(BadInput):
        read_bundle(plain)
    monkeypatch.setattr(reading, "MOST_BYTES", 100)
    with pytest.raises(BadInput, match="other files than a bundle does"):
        read_bundle(zipped(tmp_path, files))


def grown(folder, files, name, letters, kind):
    """A bundle in which one file is a thousand times as long as it says."""
    with zipfile.ZipFile(folder / "b.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        for each, text in files.items():
            info = zipfile.ZipInfo(each)
            info.compress_type = kind if each == name else zipfile.ZIP_DEFLATED
            archive.writestr(info, " " * letters if each == name else text)
        at = archive.getinfo(name).header_offset
    data = bytearray((folder / "b.zip").read_bytes())
    listed = data.rfind(b"PK\x01\x02", 0, data.rfind(name.encode()))
    for place in (at + 22, listed + 24):
        data[place : place + 4] = (100).to_bytes(4, "little")
    (folder / "b.zip").write_bytes(data)
    return folder / "b.zip"


@pytest.mark.parametrize("kind", [zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_no_more_of_a_bundle_is_unpacked_than_it_says_it_holds(packed, tmp_path, kind):
    """Eight kilobytes that said they were a hundred bytes used to take three gigabytes of the council's machine."""
    bomb = grown(tmp_path, packed[1].files(), "annex.html", 2**26, kind)
    tracemalloc.start()
    with pytest.raises(BadInput):
        read_bundle(bomb)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 2**23


def test_what_a_bundle_tells_people_to_type_is_what_optin_writes(packed, tmp_path):
    """README.txt was compared with nothing: it could say to install something else, in a file that the check called good."""
    files = packed[1].files("c-1.zip")
    assert "optin check c-1.zip" in files["README.txt"]
    assert checked_bundle(read_bundle(zipped(tmp_path, files)))
    for change in (("optin[trust]", "optin-check"), ("c-1.zip", "c-1.zip; echo"), ("annex", "Annex")):
        readme = files["README.txt"].replace(*change)
        with pytest.raises(PromiseBroken, match="do not type what it says"):
            checked_bundle(read_bundle(zipped(tmp_path, files | {"README.txt": readme})))
    assert "optin check bundle.zip" in packed[1].files("a b; c.zip")["README.txt"]


def test_names_that_lead_out_of_a_bundle_or_stand_there_twice_are_refused(packed, tmp_path):
    files = packed[1].files()
    with pytest.raises(BadInput):
        read_bundle(zipped(tmp_path, files | {"../release.json": "x"}))
    with zipfile.ZipFile(packed_in := io.BytesIO(), "w") as archive:
        for name, text in files.items():
            archive.writestr(name, text)
        with pytest.warns(UserWarning, match="Duplicate"):
            archive.writestr("log.json", files["log.json"])
    (tmp_path / "b.zip").write_bytes(packed_in.getvalue())
    with pytest.raises(BadInput):
        read_bundle(tmp_path / "b.zip")


@pytest.mark.parametrize(
    "change",
    [{"campaign": "\ud800"}, {"number": True}, {"number": None}, {"people": 1.5}, {"path": ["x"]}, {"kind": "return"}],
)
def test_an_act_that_no_ledger_writes_is_refused(packed, change):
    record = packed[1].acts[0].to_record()
    assert SealedAct.from_record(record)
    with pytest.raises(BadInput):
        SealedAct.from_record(record | change)


@pytest.mark.parametrize("number", [0, -1, 4, 10**30])
def test_an_act_of_a_number_that_the_log_does_not_have_is_not_in_it(packed, number):
    _, bundle = packed
    act = replace(bundle.acts[0], seal=replace(bundle.acts[0].seal, number=number))
    with pytest.raises(PromiseBroken, match="is not in a log of 3 acts"):
        checked_bundle(replace(bundle, acts=(act, *bundle.acts[1:])))


# --- addresses --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "address",
    [
        "http://[",
        "http://",
        "http://127.0.0.1:x",
        "http://127.0.0.1:99999",
        "http://127.0.0.1:1/a b",
        "http://127.0.0.1:1/\u00e9",
        "https://\u202e.invalid",
        "http://127.0.0.1:1\r\nX: y",
        "HTTP://127.0.0.1:1",
        "ftp://127.0.0.1/log.json",
        "file:///etc/hostname",
        "javascript:1",
    ],
)
def test_an_odd_address_of_a_log_is_refused_in_words(address, tmp_path):
    found = optin("witness", address, "--folder", tmp_path / "w")
    assert found.code == 2
    assert "Traceback" not in found.err
    assert found.err
