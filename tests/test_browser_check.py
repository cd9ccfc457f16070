"""What the browser takes for good is what the command line takes for good: of files changed anywhere, and of odd checkpoints."""

import base64
import json

import pytest
from browser import chromium
from ledger_steps import announce, release
from mutated import mutated

from optin.council.browser import check_page
from optin.council.gathering import bundle_of
from optin.council.keeping import FILES
from optin.council.sealed_acts import SealedAct
from optin.errors import BadInput, PromiseBroken
from optin.formats.strict_json import once
from optin.ledger import Ledger, Log
from optin.receipts import Receipt
from optin.receipts.checking import logged
from optin.transparency.checkpoint import Checkpoint
from optin.transparency.evidence import expect_act
from optin.transparency.keys import SigningKey
from optin.transparency.note import Signature, SignedNote
from optin.transparency.public_log import PublicLog, checked_log

NAME = "example.org/survey"
ASK = """async texts => { const found = [];
  for (const text of texts) { try {
    const record = parsed(text);
    found.push([true, await (record.acts ? checkLog(record.log, record.acts) : checkFile(text))]);
  } catch (error) { found.push([false, [error.message]]); } }
  return found; }"""


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    place = tmp_path_factory.mktemp("page") / "check.html"
    place.write_text(check_page())
    with chromium() as browser:
        page = browser.new_page()
        page.goto(place.as_uri())
        yield page


@pytest.fixture(scope="module")
def held(tmp_path_factory):
    """A receipt, a log whose key changed, and the proofs of a round, as they are published."""
    key, new, witness = SigningKey.new(NAME), SigningKey.new(NAME), SigningKey.new("w1", witness=True)
    with Ledger.open(str(tmp_path_factory.mktemp("held") / "l.sqlite")) as ledger:
        log = Log(ledger)
        announce(ledger)
        log.sign(key)
        log.rotate(new, key)
        release(ledger)
        log.cosign(witness.signed(log.sign(new).text, time=1_800_000_000).to_line(), witness.verifier)
        proofs = bundle_of(ledger, "c", 1, FILES).proofs()
        return {"receipt": ledger.receipt("ann").to_json(), "log": log.published().to_json(), "proofs": proofs}


def is_good(kind, text):
    """What the command line finds of the same file."""
    try:
        if kind == "receipt":
            return bool(logged(Receipt.from_json(text)))
        if kind == "log":
            return bool(checked_log(PublicLog.from_json(text)))
        record = json.loads(text, object_pairs_hook=once)
        newest = checked_log(PublicLog.from_json(json.dumps(record["log"])))[-1]
        for act in [SealedAct.from_record(each) for each in record["acts"]]:
            expect_act(newest.checkpoint, act.path, number=act.seal.number, head=act.seal.hash)
    except (BadInput, PromiseBroken, ValueError, TypeError, KeyError):
        return False
    return True


@pytest.mark.parametrize("kind", ["receipt", "log", "proofs"])
def test_a_file_that_was_changed_anywhere_is_taken_or_refused_alike_in_the_browser_and_on_the_command_line(
    kind, held, page
):
    """The browser used to take acts and receipts with floats, lists and nonsense for hashes, and logs with any change of keys."""
    changes = [((), held[kind]), *mutated(json.loads(held[kind]))]
    if kind == "proofs":  # its log is the other file's
        changes = [(at, text) for at, text in changes if not at or (at[0] == "acts" and len(at) > 1)]
    told = page.evaluate(ASK, [text for _, text in changes])
    apart = [
        (at, text[-300:]) for (at, text), (good, _) in zip(changes, told, strict=True) if good != is_good(kind, text)
    ]
    assert apart == []
    assert is_good(kind, held[kind])
    assert len(changes) > 100


def test_the_browser_says_what_of_a_receipt_it_did_not_check(held, page):
    ((good, lines),) = page.evaluate(ASK, [held["receipt"]])
    assert good
    assert "such as what was spent, was NOT checked here" in lines[-1]


KEY, WITNESS = SigningKey.new(NAME), SigningKey.new("w1", witness=True)
TEXT = Checkpoint(NAME, 7, "ab" * 32).to_text()


def signed(text, *more):
    return SignedNote(text, (KEY.signed(text), *more)).to_text()


def spoiled(signature):
    return Signature(signature.name, signature.key_id, signature.data[:-1] + bytes([signature.data[-1] ^ 1]))


def rooted(data):
    return signed(f"{NAME}\n7\n{base64.b64encode(data).decode()}\n")


SEEN, LATER = (WITNESS.signed(TEXT, time=time) for time in (1_800_000_000, 1_800_000_600))
PLAIN = signed(TEXT)
ODD = {
    "plain": (PLAIN, True),
    "seen": (signed(TEXT, SEEN), True),
    "with a line more": (signed(f"{TEXT}more\n"), True),
    "of nothing": (signed(Checkpoint(NAME, 0, "ab" * 32).to_text()), True),
    "another's signature": (signed(TEXT, Signature("other", b"abcd", b"x")), True),
    "a bad signature after a good one": (signed(TEXT, SEEN, spoiled(LATER)), False),
    "the log's bad signature after its good one": (signed(TEXT, spoiled(KEY.signed(TEXT))), False),
    "an id without a signature": (signed(TEXT) + f"\N{EM DASH} other {base64.b64encode(b'abcd').decode()}\n", False),
    "a blank at its end": (PLAIN[:-1] + " \n", False),
    "a third word": (PLAIN[:-1] + " more\n", False),
    "without its last signs": (PLAIN.replace("=", ""), False),
    "without its last line's end": (PLAIN[:-1], False),
    "two ends": (PLAIN + "\n", False),
    "another machine's line ends": (PLAIN.replace("\n", "\r\n"), False),
    "a short root": (rooted(bytes(31)), False),
    "a long root": (rooted(bytes(33)), False),
    "a root with a blank": (signed(TEXT[:-1] + " \n"), False),
    "a root written otherwise": (signed(TEXT.replace("s=", "t=")), False),
    "an empty line in it": (signed(f"{TEXT}\nmore\n"), False),
    "a sign that acts on a screen": (signed(f"{TEXT}a\x1bb\n"), False),
    "a size with a zero before it": (signed(TEXT.replace("\n7\n", "\n07\n")), False),
}


@pytest.mark.parametrize("case", ODD)
def test_odd_checkpoints_are_read_alike(case, page):
    """Of these the browser used to take all but a few for good; openssl and the command line were stricter."""
    note, good = ODD[case]
    keys = [KEY.verifier.to_text(), WITNESS.verifier.to_text()]
    log = {"optin": "log", "keys": keys, "checkpoints": [note], "paths": [], "successions": []}
    ((told, lines),) = page.evaluate(ASK, [json.dumps(log)])
    assert (told, is_good("log", json.dumps(log))) == (good, good), lines


def test_of_two_signatures_of_one_witness_both_tell_the_time_of_the_last(page):
    log = {"optin": "log", "keys": [KEY.verifier.to_text(), WITNESS.verifier.to_text()], "paths": [], "successions": []}
    text = json.dumps(log | {"checkpoints": [signed(TEXT, SEEN, LATER)]})
    ((good, lines),) = page.evaluate(ASK, [text])
    assert good
    assert lines[-1] == "seen by 1 witness: w1 at 2027-01-15 08:10 UTC"
    assert str(checked_log(PublicLog.from_json(text))[-1].witnesses[0]) == "w1 at 2027-01-15 08:10 UTC"
