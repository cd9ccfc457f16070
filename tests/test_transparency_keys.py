"""Checkpoints are signed notes: against openssl, against a note that others signed, and against whoever forges one."""

import base64
import os
import subprocess
from dataclasses import replace

import pytest

from optin.errors import BadInput, PromiseBroken
from optin.transparency.checkpoint import Checkpoint
from optin.transparency.keys import SigningKey, good_signature, read_key, time_of, write_key
from optin.transparency.note import COSIGNATURE, ED25519, Signature, SignedNote, VerifierKey

CHECKPOINT = Checkpoint("example.org/survey", 7, "ab" * 32)
SPKI = bytes.fromhex("302a300506032b6570032100")
PKCS8 = bytes.fromhex("302e020100300506032b657004220420")


def openssl(*arguments):
    return subprocess.run(["openssl", *arguments], capture_output=True, check=False)


def verified_by_openssl(folder, key, message, signature):
    (folder / "public.der").write_bytes(SPKI + key.public)
    (folder / "message").write_bytes(message)
    (folder / "signature").write_bytes(signature)
    keyed = (
        "-pubin",
        "-inkey",
        str(folder / "public.der"),
        "-keyform",
        "DER",
        "-rawin",
        "-in",
        str(folder / "message"),
    )
    return openssl("pkeyutl", "-verify", *keyed, "-sigfile", str(folder / "signature")).returncode == 0


def test_a_signature_of_ours_is_verified_by_openssl(tmp_path):
    key, text = SigningKey.new("example.org/survey"), CHECKPOINT.to_text()
    data = key.signed(text).data
    assert verified_by_openssl(tmp_path, key.verifier, text.encode(), data)
    assert not verified_by_openssl(tmp_path, key.verifier, text.encode() + b"x", data)


def test_a_witness_s_signature_is_verified_by_openssl_over_the_text_with_its_time(tmp_path):
    key, text = SigningKey.new("witness.org/w1", witness=True), CHECKPOINT.to_text()
    signature = key.signed(text, time=1679315147)
    message = f"cosignature/v1\ntime 1679315147\n{text}".encode()
    assert time_of(signature) == 1679315147
    assert verified_by_openssl(tmp_path, key.verifier, message, signature.data[8:])
    assert not verified_by_openssl(tmp_path, key.verifier, text.encode(), signature.data[8:])


def test_a_signature_of_openssl_is_verified_by_us(tmp_path):
    key, text = SigningKey.new("example.org/survey"), CHECKPOINT.to_text()
    (tmp_path / "private.der").write_bytes(PKCS8 + key.seed)
    (tmp_path / "message").write_text(text)
    keyed = ("-inkey", str(tmp_path / "private.der"), "-keyform", "DER", "-rawin", "-in", str(tmp_path / "message"))
    done = openssl("pkeyutl", "-sign", *keyed)
    assert done.returncode == 0, done.stderr
    note = SignedNote(text, (Signature(key.name, key.verifier.id, done.stdout),))
    assert good_signature(SignedNote.from_text(note.to_text()), key.verifier)
    assert done.stdout == key.signed(text).data, "Ed25519 has one signature of one text"


PETER = "PeterNeumann+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW"
SAID = """If you think cryptography is the answer to your problem,
then you don't know what your problem is.

— PeterNeumann x08go/ZJkuBS9UG/SffcvIAQxVBtiFupLLr8pAcElZInNIuGUgYN1FFYC2pZSNXgKvqfqdngotpRZb6KE6RyyBwJnAM=
"""


def test_the_example_of_the_go_note_package_is_read_and_verified():
    key, note = VerifierKey.from_text(PETER), SignedNote.from_text(SAID)
    assert (key.name, key.kind, key.id.hex(), key.to_text()) == ("PeterNeumann", ED25519, "c74f20a3", PETER)
    assert note.to_text() == SAID
    assert good_signature(note, key)
    with pytest.raises(PromiseBroken, match="is not good"):
        good_signature(replace(note, text=note.text.replace("answer", "problem")), key)


def test_a_checkpoint_as_the_specification_shows_it_is_read_and_written_unchanged():
    text = "example.com/behind-the-sofa\n20852163\nCsUYapGGPo4dkMgIAUqom/Xajj7h2fB2MPA3j2jxq2I=\n"
    assert Checkpoint.from_text(text).to_text() == text
    assert Checkpoint.from_text(text).size == 20852163
    assert Checkpoint.from_text(text + "an extension\n").size == 20852163


@pytest.mark.parametrize(
    "text",
    [
        "",
        "a\n1\n",
        "a\n01\nCsUYapGGPo4dkMgIAUqom/Xajj7h2fB2MPA3j2jxq2I=\n",
        "a\n-1\nCsUYapGGPo4dkMgIAUqom/Xajj7h2fB2MPA3j2jxq2I=\n",
        "a b\n1\nCsUYapGGPo4dkMgIAUqom/Xajj7h2fB2MPA3j2jxq2I=\n",
        "a\n1\nCsUYapGGPo4dkMgIAUqom/Xajj7h2fB2MPA3j2jxq2J=\n",
        "a\n1\nAAAA\n",
        "a\n1\nCsUYapGGPo4dkMgIAUqom/Xajj7h2fB2MPA3j2jxq2I=\n\n\n",
    ],
)
def test_what_is_not_a_checkpoint_is_refused(text):
    with pytest.raises(BadInput):
        Checkpoint.from_text(text)


@pytest.mark.parametrize(
    "change", [lambda s: s[:-1], lambda s: s.replace("— ", "- "), lambda s: s + "x\n", lambda s: "\t" + s]
)
def test_what_is_not_a_signed_note_is_refused(change):
    with pytest.raises(BadInput):
        SignedNote.from_text(change(SAID))


def test_a_signature_of_another_key_is_no_signature_even_under_the_same_name():
    ours, theirs = SigningKey.new("example.org/survey"), SigningKey.new("example.org/survey")
    note = SignedNote(CHECKPOINT.to_text()).with_signature(theirs.signed(CHECKPOINT.to_text()))
    assert good_signature(note, ours.verifier) is None
    claimed = Signature(ours.name, ours.verifier.id, theirs.signed(CHECKPOINT.to_text()).data)
    with pytest.raises(PromiseBroken, match="is not good"):
        good_signature(note.with_signature(claimed), ours.verifier)


def test_a_witness_cannot_be_taken_for_a_log_nor_a_time_be_moved():
    key = SigningKey.new("w", witness=True)
    note = SignedNote(CHECKPOINT.to_text()).with_signature(key.signed(CHECKPOINT.to_text(), time=5))
    assert time_of(good_signature(note, key.verifier)) == 5
    as_log = VerifierKey("w", ED25519, key.verifier.public)
    assert good_signature(note, as_log) is None, "another kind has another id"
    moved = Signature("w", key.verifier.id, (6).to_bytes(8, "big") + note.signatures[0].data[8:])
    with pytest.raises(PromiseBroken):
        good_signature(SignedNote(note.text, (moved,)), key.verifier)


def test_keys_survive_their_files_which_only_their_owner_reads(tmp_path):
    key = SigningKey.new("example.org/survey")
    write_key(tmp_path / "log.key", key)
    assert os.stat(tmp_path / "log.key").st_mode & 0o777 == 0o600
    assert read_key(tmp_path / "log.key") == key
    assert VerifierKey.from_text(key.verifier.to_text()) == key.verifier
    with pytest.raises(BadInput, match="never replaced"):
        write_key(tmp_path / "log.key", SigningKey.new("x"))
    (tmp_path / "log.key").chmod(0o640)
    with pytest.raises(BadInput, match="chmod 600"):
        read_key(tmp_path / "log.key")


def test_a_private_key_says_nothing_of_itself_whatever_goes_wrong(tmp_path):
    key = SigningKey.new("x")
    secret = base64.b64encode(key.seed).decode()[:12]
    assert secret not in repr(key) + str(key)
    (tmp_path / "k").write_text(key.to_text()[:-8])
    (tmp_path / "k").chmod(0o600)
    with pytest.raises(BadInput) as refused:
        read_key(tmp_path / "k")
    assert key.to_text()[20:40] not in str(refused.value)


@pytest.mark.parametrize("name", ["", "a b", "a+b", "a\nb", "x" * 201])
def test_names_that_would_break_a_line_are_refused(name):
    with pytest.raises(BadInput, match="named without spaces"):
        SigningKey.new(name)


@pytest.mark.parametrize("text", ["", "x", "a+b+c", PETER.replace("c74f20a3", "c74f20a4"), PETER[:-4]])
def test_what_is_no_public_key_is_refused(text):
    with pytest.raises(BadInput, match="public key"):
        VerifierKey.from_text(text)


def test_a_kind_of_key_that_nobody_knows_is_refused():
    unknown = VerifierKey("a", 9, bytes(range(32))).to_text()
    with pytest.raises(BadInput):
        VerifierKey.from_text(unknown)
    assert VerifierKey.from_text(VerifierKey("a", COSIGNATURE, bytes(range(32))).to_text()).kind == COSIGNATURE
