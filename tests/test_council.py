"""The council's page: without an account, with everything to check, in a real browser too; and a log that witnesses sign."""

import io
import json
import zipfile

import pytest
from browser import Album, Watch, chromium
from cli_steps import optin, optin_ok
from ledger_steps import announce, release
from sqlalchemy import update
from web_steps import House, OpenHouse, answering, released

from optin.council.browser import check_page
from optin.errors import BadInput
from optin.ledger import Ledger, Log
from optin.transparency.keys import SigningKey
from optin.transparency.note import VerifierKey
from optin.transparency.public_log import PublicLog
from optin.transparency.witness import written_cosignature
from optin.web.schema import campaigns
from optin.web.service.log import council_address
from optin.wording.spoken import spoken


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    """A service with a public campaign and one by invitation, both released, and a witness that the operator listed."""
    folder = tmp_path_factory.mktemp("council")
    witness = SigningKey.new("w1", witness=True)
    (folder / "witnesses.txt").write_text(f"# the council's\n{witness.verifier.to_text()}\n")
    with OpenHouse(str(folder / "l.sqlite"), folder, settings={"witnesses": folder / "witnesses.txt"}) as house:
        house.witness = witness
        house.ada, house.crowd = house.analyst(), house.people(12)
        house.open = released(house.ada, house.crowd, title="Open to all", public=True)
        house.closed = released(house.ada, house.people(12), title="By invitation", public=True)
        shut = update(campaigns).where(campaigns.c.id == house.closed).values(public=False)
        house.service.change(lambda link: link.execute(shut))
        yield house


def page_of(home, campaign):
    """The address of the council's page as its analyst sees it."""
    return council_address(home.service, campaign, public=campaign == home.open)


@pytest.mark.parametrize("which", ["open", "closed"])
def test_whoever_has_the_address_sees_offer_result_and_checkpoints_without_an_account(home, which):
    campaign = getattr(home, which)
    answer = home.ask("GET", page_of(home, campaign))
    assert answer.status_code == 200
    found = home.ask("GET", f"{page_of(home, campaign)}/announcement.json").json()
    assert spoken(found["fingerprint"]) in answer.text
    assert "seen by" in answer.text


def test_a_campaign_by_invitation_does_not_exist_without_its_address(home):
    secret = page_of(home, home.closed).rsplit("/", 1)[1]
    assert len(secret) == 32
    for wrong in ("public", "0" * 32, "x", secret[:-1], "%C3%A9"):
        assert home.ask("GET", f"/council/{home.closed}/{wrong}").status_code == 404
        assert home.ask("GET", f"/council/{home.closed}/{wrong}/bundle.zip").status_code == 404
    assert home.ask("GET", f"/council/{home.open}/{secret}").status_code == 404
    assert home.ask("GET", f"/council/{'0' * 32}/public").status_code == 404
    assert home.ask("GET", f"{page_of(home, home.open)}/receipt.json").status_code == 404


def test_a_bundle_of_the_service_is_checked_by_one_command_and_names_no_other_campaign(home, tmp_path):
    packed = home.ask("GET", f"{page_of(home, home.open)}/bundle.zip").content
    (tmp_path / "bundle.zip").write_bytes(packed)
    told = optin_ok("check", tmp_path / "bundle.zip").out
    assert "the result is the one in the ledger" in told
    with zipfile.ZipFile(io.BytesIO(packed)) as archive:
        texts = [archive.read(name).decode() for name in archive.namelist()]
    assert not any(home.closed in text or "By invitation" in text for text in texts)


def test_a_receipt_of_the_service_is_checked_with_the_bundle(home, tmp_path):
    receipt = home.crowd[0].receipt(home.open)
    (tmp_path / "receipt.json").write_text(receipt.to_json())
    (tmp_path / "bundle.zip").write_bytes(home.ask("GET", f"{page_of(home, home.open)}/bundle.zip").content)
    told = optin_ok("check", tmp_path / "receipt.json", tmp_path / "bundle.zip").out
    assert "all of them show one ledger" in told


def test_witnesses_that_the_operator_listed_are_kept_and_others_are_not(home, tmp_path):
    note = Log(home.service.ledger).checkpoints()[-1]
    for key, status in ((SigningKey.new("w9", witness=True), 422), (home.witness, 204)):
        body = written_cosignature(key.verifier, key.signed(note.text, time=1_800_000_000))
        assert home.ask("POST", "/log/cosignatures", content=body).status_code == status
    assert home.ask("POST", "/log/cosignatures", content="x").status_code == 422
    assert home.ask("POST", "/log/cosignatures", content="x", headers={"Origin": "http://other"}).status_code == 403
    assert "w1 at 2027-01-15" in home.ask("GET", page_of(home, home.open)).text


def test_a_witness_looks_at_a_running_service_and_says_so_if_it_is_not_listed(home, tmp_path):
    done = optin_ok("witness", home.origin, "--folder", tmp_path / "w")
    assert "seen for the first time" in done.out
    assert "did not take it" in done.err
    again = optin("witness", home.origin, "--folder", tmp_path / "w")
    assert (again.code, "begins with what was seen before" in again.out) == (0, True)
    assert optin("witness", "http://127.0.0.1:1", "--folder", tmp_path / "w").code == 2


def test_the_newest_checkpoint_and_the_log_are_for_everyone_and_name_no_campaign(home):
    newest = home.ask("GET", "/log/checkpoint").text
    log = home.ask("GET", "/log.json")
    assert log.json()["checkpoints"][-1].split("\n")[:3] == newest.split("\n")[:3]
    assert home.open not in log.text
    sizes = [int(note.split("\n")[1]) for note in log.json()["checkpoints"]]
    since = home.ask("GET", f"/log.json?since={sizes[-1]}").json()
    assert len(since["checkpoints"]) == 1


def test_nothing_is_signed_by_what_people_do_in_between(tmp_path):
    with House(str(tmp_path / "l.sqlite"), tmp_path) as house:
        ada, crowd = house.analyst(), house.people(12)
        campaign = answering(ada, crowd)
        before = house.ask("GET", "/log/checkpoint").text
        crowd[0].decline(campaign)
        crowd[1].decline(campaign)
        crowd[2].join(campaign, 5.0)
        house.service.bell.set()
        assert house.ask("GET", "/log/checkpoint").text == before


def test_a_service_whose_log_key_is_gone_goes_on_without_signing(tmp_path):
    with House(str(tmp_path / "l.sqlite"), tmp_path) as house:
        ada, crowd = house.analyst(), house.people(12)
        campaign = answering(ada, crowd)
        before = house.ask("GET", "/log/checkpoint").text
        house.service.keys.log_key.unlink()
        for person in crowd:
            person.join(campaign, 5.0)
        ada.take(campaign, "close")
        ada.take(campaign, "release")
        assert house.ask("GET", "/log/checkpoint").text == before
        assert house.service.ledger.verify().ok


# --- in a real browser ------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def browser():
    with chromium() as started:
        yield started


def test_the_browser_checks_signatures_and_proofs_by_itself_and_the_page_is_fit_for_everyone(home, browser, tmp_path):
    watch, album = Watch(browser, home.origin), Album(tmp_path)
    page = watch.visitor()
    page.goto(home.origin + page_of(home, home.open))
    page.get_by_role("button", name="Check signatures and proofs").click()
    page.locator("#log-outcome[data-outcome]").wait_for()
    assert page.locator("#log-outcome").get_attribute("data-outcome") == "good", page.locator(
        "#log-outcome"
    ).inner_text()
    told = page.locator("#log-outcome").inner_text()
    assert "(release) is in the log" in told
    receipt = home.crowd[0].receipt(home.open)
    (tmp_path / "receipt.json").write_text(receipt.to_json())
    page.set_input_files("#check-file", tmp_path / "receipt.json")
    page.locator("#file-outcome [data-outcome]").wait_for()
    assert page.locator("#file-outcome [data-outcome]").get_attribute("data-outcome") == "good"
    album.look(page, "council")
    assert album.faults == []
    assert watch.faults == []


FORGERIES = {
    "a signature": lambda log: log["checkpoints"].__setitem__(-1, log["checkpoints"][-1][:-4] + "AA=\n"),
    "a size": lambda log: log["checkpoints"].__setitem__(0, log["checkpoints"][0].replace("\n2\n", "\n1\n")),
    "a path": lambda log: log["paths"][0].__setitem__(0, "0" * 64),
    "no key": lambda log: log["keys"].clear(),
    "a path missing": lambda log: log["paths"].pop(),
    "a longer hash": lambda log: log["paths"][0].__setitem__(0, log["paths"][0][0] + "00"),
    "a key for every text": lambda log: log["keys"].append(VerifierKey("w", 4, bytes([1, *bytes(31)])).to_text()),
}


def test_the_page_of_its_own_works_without_a_network_and_refuses_what_was_changed(home, browser, tmp_path):
    (tmp_path / "check.html").write_text(check_page())
    log = home.ask("GET", f"{page_of(home, home.open)}/log.json").json()
    context = browser.new_context(offline=True)
    page = context.new_page()
    page.goto((tmp_path / "check.html").as_uri())
    for name, forge in {"good": lambda log: None, **FORGERIES}.items():
        changed = json.loads(json.dumps(log))
        forge(changed)
        assert name == "good" or changed != log, name
        (tmp_path / "log.json").write_text(json.dumps(changed))
        page.set_input_files("#check-file", [])
        page.set_input_files("#check-file", tmp_path / "log.json")
        page.locator("#file-outcome [data-outcome]").wait_for()
        found = page.locator("#file-outcome [data-outcome]")
        assert found.get_attribute("data-outcome") == ("good" if name == "good" else "bad"), found.inner_text()
    context.close()


TWICE = {
    "at the end": lambda text: text.rstrip()[:-1] + ', "keys": []}',
    "at the beginning": lambda text: '{"keys": [], ' + text.lstrip()[1:],
    "in other letters": lambda text: text.rstrip()[:-1] + ', "\\u006beys": []}',
}


@pytest.mark.parametrize("where", TWICE)
def test_a_file_with_an_entry_twice_is_refused_in_the_browser_and_on_the_command_line(where, browser, tmp_path):
    with Ledger.open(str(tmp_path / "l.sqlite")) as ledger:
        announce(ledger)
        Log(ledger).sign(SigningKey.new("example.org/survey"))
        text = Log(ledger).published().to_json()
    (tmp_path / "check.html").write_text(check_page())
    page = browser.new_page()
    page.goto((tmp_path / "check.html").as_uri())
    for written, outcome in ((text, "good"), (TWICE[where](text), "bad")):
        (tmp_path / "log.json").write_text(written)
        page.set_input_files("#check-file", [])
        page.set_input_files("#check-file", tmp_path / "log.json")
        page.locator("#file-outcome [data-outcome]").wait_for()
        found = page.locator("#file-outcome [data-outcome]")
        assert found.get_attribute("data-outcome") == outcome, found.inner_text()
    assert 'it has "keys" twice' in found.inner_text()
    page.close()
    with pytest.raises(BadInput):
        PublicLog.from_json(TWICE[where](text))


def test_two_receipts_are_compared_in_the_browser_and_a_fork_shows(browser, tmp_path):
    key, held = SigningKey.new("example.org/survey"), {}
    for name in ("one", "two"):
        with Ledger.open(str(tmp_path / f"{name}.sqlite")) as ledger:
            announce(ledger)
            release(ledger)
            Log(ledger).sign(key)
            for person in ("ann", "bob"):
                (tmp_path / f"{name}-{person}.json").write_text(ledger.receipt(person).to_json())
    (tmp_path / "check.html").write_text(check_page())
    page = browser.new_page()
    page.goto((tmp_path / "check.html").as_uri())
    for pair, outcome in ((("one-ann", "one-bob"), "good"), (("one-ann", "two-bob"), "bad")):
        page.set_input_files("#check-file", [])
        page.set_input_files("#check-file", [tmp_path / f"{each}.json" for each in pair])
        page.locator("#file-outcome > div:nth-child(3)[data-outcome]").wait_for()
        found = [part.get_attribute("data-outcome") for part in page.locator("#file-outcome > div").all()]
        held[pair] = page.locator("#file-outcome").inner_text()
        assert found == ["good", "good", outcome], held[pair]
    page.close()
    assert "there are two ledgers" in held["one-ann", "two-bob"]


def test_a_witness_that_is_listed_twice_is_counted_once_in_the_browser(browser, tmp_path):
    witness = SigningKey.new("w1", witness=True)
    with Ledger.open(str(tmp_path / "l.sqlite")) as ledger:
        announce(ledger)
        release(ledger)
        note = Log(ledger).sign(SigningKey.new("example.org/survey"))
        Log(ledger).cosign(witness.signed(note.text, time=1_800_000_000).to_line(), witness.verifier)
        record = json.loads(Log(ledger).published().to_json())
    record["keys"] += [witness.verifier.to_text(), witness.verifier.to_text() + " "]
    (tmp_path / "log.json").write_text(json.dumps(record))
    (tmp_path / "check.html").write_text(check_page())
    page = browser.new_page()
    page.goto((tmp_path / "check.html").as_uri())
    page.set_input_files("#check-file", tmp_path / "log.json")
    page.locator("#file-outcome [data-outcome]").wait_for()
    assert "seen by 1 witness: w1" in page.locator("#file-outcome").inner_text()
    page.close()
