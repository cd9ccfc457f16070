"""Bundles of one moment, of any version, and of campaigns whose words are as odd as people write them."""

import json
import zipfile
from contextlib import contextmanager
from dataclasses import replace
from html.parser import HTMLParser
from itertools import permutations
from pathlib import Path
from threading import Event, Thread

import numpy as np
import pytest
from cli_steps import optin, optin_ok
from ledger_steps import announce, release

import optin as package
from optin import campaign as steps
from optin.council.checking import Held, checked_bundle, checked_together
from optin.council.gathering import bundle_of
from optin.council.keeping import FILES, SERVICE
from optin.errors import BadInput, PromiseBroken
from optin.ledger import Ledger, Log
from optin.transparency.keys import SigningKey

OLD = Path(__file__).parent / "fixtures" / "bundles" / "worded-otherwise.zip"


def opened_anew(folder, migrated):
    """An empty ledger where the database is not the point."""
    (folder / "kept.sqlite").write_bytes(migrated)
    (folder / "kept.sqlite").chmod(0o600)
    return Ledger.open(str(folder / "kept.sqlite"))


@pytest.fixture
def kept(tmp_path, migrated):
    with opened_anew(tmp_path, migrated) as ledger:
        yield ledger


def gathered(ledger, campaign="c"):
    found = bundle_of(ledger, campaign, 1, FILES)
    return replace(found, made=found.derived())


@contextmanager
def others_at_work(ledger, key):
    """Somebody else announces, releases and signs all the while."""
    done, failed = Event(), []

    def work():
        log, at = Log(ledger), 0
        try:
            while not done.is_set():
                announce(ledger, f"other{at}", ids=(f"p{at}", f"q{at}"), grains=1)
                release(ledger, f"other{at}", ids=(f"p{at}", f"q{at}"), grains=1)
                log.sign(key)
                at += 1
        except Exception as error:
            failed.append(error)

    thread = Thread(target=work)
    thread.start()
    yield
    done.set()
    thread.join()
    assert failed == []


def test_a_bundle_is_of_one_moment_while_others_write_and_sign(ledger):
    """Acts, paths and log used to be read one after the other: a checkpoint in between made an honest bundle look forged."""
    key = SigningKey.new("example.org/survey")
    announce(ledger)
    release(ledger)
    Log(ledger).sign(key)
    with others_at_work(ledger, key):
        held = {str(at): gathered(ledger) for at in range(8)}
        receipt = ledger.receipt("ann", campaign="c")
    for bundle in held.values():
        assert checked_bundle(bundle)
    assert checked_together(Held({"ann": receipt}, {"first": held["0"], "last": gathered(ledger)}))
    assert ledger.verify().ok


def test_a_result_that_no_checkpoint_covers_yet_is_not_in_the_bundle_nor_called_missing(ledger):
    """It used to be put in without its act, and so an honest bundle was refused as evidence of a fraud."""
    announce(ledger)
    key = SigningKey.new("example.org/survey")
    with pytest.raises(BadInput, match="no checkpoint was signed yet"):
        gathered(ledger)
    Log(ledger).sign(key)
    before = gathered(ledger)
    release(ledger)
    announce(ledger, "d", grains=1)
    unsigned = gathered(ledger)
    assert (unsigned.release, len(unsigned.acts)) == (None, 1)
    assert checked_bundle(unsigned)
    with pytest.raises(BadInput, match="no signed checkpoint covers this offer yet"):
        gathered(ledger, "d")
    Log(ledger).sign(key)
    after = gathered(ledger)
    assert after.release is not None
    assert checked_together(Held(bundles={"before": before, "unsigned": unsigned, "after": after}))


# --- versions ---------------------------------------------------------------------------------------------------------


def changed(files, folder):
    with zipfile.ZipFile(folder / "b.zip", "w") as archive:
        for name, text in files.items():
            archive.writestr(name, text)
    return folder / "b.zip"


def test_a_bundle_that_an_earlier_optin_worded_otherwise_is_no_evidence_of_anything():
    """Each new word of the annex used to turn every bundle that people keep into evidence against their operator."""
    told = optin_ok("check", OLD).out
    assert "annex, consent record and promise were NOT compared" in told
    assert "the result is the one in the ledger" in told


def test_papers_that_this_version_made_are_compared_letter_by_letter(kept, tmp_path):
    announce(kept)
    Log(kept).sign(SigningKey.new("example.org/survey"))
    files = gathered(kept).files()
    about = json.loads(files["bundle.json"])
    assert (about["version"], about["made_by"]) == (2, package.__version__)
    assert "say what the offer says" in optin_ok("check", changed(files, tmp_path)).out
    other = files | {
        "annex.html": files["annex.html"].replace("declining costs me nothing", "declining costs me my job")
    }
    assert other != files
    found = optin("check", changed(other, tmp_path))
    assert (found.code, "says something else than the offer" in found.err) == (4, True)
    claimed = other | {"bundle.json": json.dumps(about | {"made_by": "0.1.0"})}
    told = optin_ok("check", changed(claimed, tmp_path)).out
    assert "NOT compared" in told
    assert "What could be compared in this file is good" in told
    assert "Everything" not in told


# --- words ------------------------------------------------------------------------------------------------------------

ODD = {
    "quotes": "\"Overtime\", 'really'? <script>alert(1)</script> & <b>more</b> {name} %s %(x)s {{ 7*7 }} \\",
    "lines": "first line\nsecond line\n\n— example.org/survey AAAA\nthird",
    "right to left": "\u05e9\u05e2\u05d5\u05ea \u0633\u0627\u0639\u0627\u062a abc 123",
    "signs": "🌻 ﷽ ẞ e\u0301 \u0130 ﬁ \u2028 \u00a0 ⅷ",
    "long": "0123456789" * 1024,
    "formula": '=HYPERLINK("http://evil")',
}


class Plain(HTMLParser):
    """What a reader sees, and which elements there are."""

    def __init__(self, text):
        super().__init__()
        self.seen, self.tags = [], []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)

    def handle_data(self, data):
        self.seen.append(data)


def asked(words):
    """A sheet in which every text is these words."""
    question = package.YesNo("late", text=words)
    return package.Sheet([question], title=words, purpose=words, asked_by=words)


@pytest.mark.parametrize("kind", ODD)
@pytest.mark.parametrize("keeping", [FILES, SERVICE])
def test_odd_words_come_through_bundle_annex_and_records_as_they_are(tmp_path, migrated, kind, keeping):
    words = ODD[kind]
    people = package.PrivacyConstrained(np.linspace(0.5, 3, 20), ids=[f"p{k}" for k in range(20)])
    with opened_anew(tmp_path, migrated) as ledger:
        plan = package.plan(people, asked(words))
        offer = steps.announce(plan, people, ledger=ledger, campaign="odd")
        steps.release(offer, people, {"late": np.arange(20) % 2 == 0}, ledger=ledger)
        Log(ledger).sign(SigningKey.new("example.org/survey"))
        found = bundle_of(ledger, "odd", 1, keeping)
    (tmp_path / "b.zip").write_bytes(found.to_bytes())
    assert "say what the offer says" in optin_ok("check", tmp_path / "b.zip").out
    files = found.files()
    page = Plain(files["annex.html"])
    assert {"script", "b", "a", "img"} & set(page.tags) == set()
    assert words.split()[0] in "".join(page.seen)
    record = json.loads(files["consent.json"])
    assert record["pii_processing"]["purposes"][0]["pii_information"][0]["text"] == words
    assert record["party_identification"][0]["party_name"] == words
    assert json.loads(files["announcement.json"]) is not None
    assert files["log.json"].count("example.org/survey\\n") == 1


ABOUT = {"optin": "bundle", "version": 2, "answers": "files", "made_by": "0.2.0"}


@pytest.mark.parametrize(
    "change", [{"made_by": 5}, {"made_by": None}, {"answers": "x"}, {"more": 1}, {"version": 3}, {"version": 1}]
)
def test_a_bundle_that_says_odd_things_of_itself_is_refused(tmp_path, change):
    with zipfile.ZipFile(OLD) as archive:
        files = {name: archive.read(name).decode() for name in archive.namelist()}
    assert optin("check", changed(files | {"bundle.json": json.dumps(ABOUT | {"made_by": "0"})}, tmp_path)).code == 0
    assert optin("check", changed(files | {"bundle.json": json.dumps(ABOUT | change)}, tmp_path)).code == 2


def test_campaigns_of_the_same_people_have_bundles_of_their_own_that_fit_together(kept):
    key = SigningKey.new("example.org/survey")
    for name in ("c", "d"):
        announce(kept, name, grains=2)
        release(kept, name, grains=2)
        Log(kept).sign(key)
    one, two = gathered(kept, "c"), gathered(kept, "d")
    assert checked_together(Held({"ann": kept.receipt("ann", campaign="d")}, {"one": one, "two": two}))
    swapped = replace(one, release=two.release)
    with pytest.raises(PromiseBroken, match="the result is of another offer"):
        checked_bundle(replace(swapped, made=swapped.derived()))
    crossed = replace(one, acts=two.acts)
    with pytest.raises(PromiseBroken, match="holds another offer"):
        checked_bundle(replace(crossed, made=crossed.derived()))


# --- whoever checks for the first time --------------------------------------------------------------------------------


def test_the_three_files_are_taken_in_any_order_and_parts_of_a_bundle_say_what_to_give(tmp_path, migrated):
    """Named in another order, honest files were called unreadable; of an unpacked bundle nothing was said but "no receipt"."""
    people = package.PrivacyConstrained(np.linspace(0.5, 3, 20), ids=[f"p{k}" for k in range(20)])
    with opened_anew(tmp_path, migrated) as ledger:
        offer = steps.announce(package.plan(people, bounds=(0, 1)), people, ledger=ledger, campaign="c")
        steps.release(offer, people, np.linspace(0, 1, 20), ledger=ledger)
        Log(ledger).sign(SigningKey.new("example.org/survey"))
        files = bundle_of(ledger, "c", 1, FILES).files() | {"receipt.json": ledger.receipt("p3").to_json()}
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    three = [tmp_path / f"{name}.json" for name in ("receipt", "announcement", "release")]
    for order in permutations(three):
        assert "This receipt is good" in optin_ok("check", *order).out
    for alone in (["log.json"], ["announcement.json", "release.json"], ["receipt.json", "release.json"]):
        found = optin("check", *(tmp_path / name for name in alone))
        assert (found.code, "give the bundle.zip that it is from" in found.err) == (2, True)
