"""The editor of sheets: rows of a form and TOML are one thing, buttons work without scripts, and a trial sends nothing."""

import re
from dataclasses import replace
from pathlib import Path

import pytest
from sqlalchemy import func, select
from web_steps import KEY, House

import optin
from optin.errors import BadInput
from optin.web.pages.ready_sheets import READY
from optin.web.pages.sheet_rows import SHEET_WORDS, as_toml, blank_row, bounds_from, moved_rows, rows_of, toml_of
from optin.web.schema import answers, campaigns, invitations

EXAMPLES = Path(__file__).parent.parent / "examples" / "questionnaires"


def fields(sheet, **more):
    words = {name: getattr(sheet, name) for name in SHEET_WORDS}
    rows = {f"q{at}-{name}": text for at, row in enumerate(rows_of(sheet)) for name, text in row.items()}
    usual = {
        "sealed": "yes",
        "quorum_people": "10",
        "window_hours": "0",
        "expected": "400",
        "mix": "mixed",
        "groups": "1",
    }
    return {**words, **rows, **usual, **more}


@pytest.mark.parametrize("sheet", [*(each.sheet for each in READY.values()), *sorted(EXAMPLES.glob("*.toml"))], ids=str)
def test_a_sheet_a_form_and_its_toml_are_one_thing(sheet):
    sheet = optin.Sheet.from_toml(sheet) if isinstance(sheet, Path) else sheet
    assert optin.Sheet.from_toml_text(as_toml(sheet)) == sheet
    words = {name: getattr(sheet, name) for name in SHEET_WORDS}
    by_name = [replace(question, column=question.name) for question in sheet]  # a page has no columns
    assert optin.Sheet.from_toml_text(toml_of(words, rows_of(sheet))) == optin.Sheet(by_name, **words)


def test_the_pulse_to_begin_from_is_the_questionnaire_of_the_examples():
    assert READY["pulse"].sheet == optin.Sheet.from_toml(EXAMPLES / "pulse.toml")


def test_only_the_health_screening_brings_a_text_for_everyone():
    assert [name for name, each in READY.items() if each.support] == ["health"]


def test_buttons_move_add_and_take_out_and_nothing_else():
    rows = [blank_row(kind) for kind in ("number", "yes-no", "scale")]

    def kinds(do):
        return [row["kind"] for row in moved_rows(rows, do)]

    assert kinds("up-2") == ["number", "scale", "yes-no"]
    assert kinds("down-0") == ["yes-no", "number", "scale"]
    assert kinds("out-1") == ["number", "scale"]
    assert kinds("add-choice") == ["number", "yes-no", "scale", "choice"]
    for idle in ("up-0", "down-2", "out-9", "up-x", "add-poem", "look", ""):
        assert kinds(idle) == ["number", "yes-no", "scale"]
    with pytest.raises(BadInput, match="at most 60"):
        moved_rows([blank_row("yes-no")] * 60, "add-choice")


def test_bounds_come_from_what_is_very_low_very_high_and_typical():
    assert bounds_from(30, 50, 40) == (25, 55, 5)
    assert bounds_from(-4, 4, 0) == (-6, 6, 2)
    row = blank_row("number") | {"very_low": "30", "very_high": "50", "typical": "40"}
    (done,) = moved_rows([row], "help-0")
    assert (done["low"], done["high"], done["sd"]) == ("25", "55", "5")
    assert optin.Number("hours", bounds=(25, 55), sd=5).data_variance == 25
    for wrong in ({"typical": "60"}, {"very_low": "51"}, {"typical": ""}):
        with pytest.raises(BadInput, match="question 1"):
            moved_rows([row | wrong], "help-0")


@pytest.fixture(scope="module")
def house(tmp_path_factory):
    folder = tmp_path_factory.mktemp("editor")
    with House(f"sqlite:///{folder / 'web.sqlite'}", folder, key=KEY) as made:
        made.ada = made.analyst("ada")
        yield made


def post(house, path, **form):
    return house.ask("POST", path, cookie=house.ada._cookie, data={"csrf": house.ada._csrf, **form})


def get(house, path):
    return house.ask("GET", path, cookie=house.ada._cookie)


def many(house, table):
    return house.service.read(lambda link: link.scalar(select(func.count()).select_from(table)))


def test_every_sheet_to_begin_from_can_be_kept_exported_and_brought_back(house):
    assert all(f"begin={name}" in get(house, "/a/start").text for name in READY)
    assert get(house, "/a/new-sheet?begin=poem").status_code == 404
    for name, ready in READY.items():
        page = get(house, f"/a/new-sheet?begin={name}")
        assert page.status_code == 200
        assert "within ±" in page.text
        kept = post(house, "/a/new-sheet", **fields(ready.sheet, support=ready.support))
        assert kept.status_code == 303, kept.text
        campaign = kept.headers["location"].rsplit("/", 1)[1]
        assert house.ada.campaign(campaign).draft["support"] == ready.support
        written = get(house, f"/a/c/{campaign}/sheet.toml")
        assert optin.Sheet.from_toml_text(written.text) == ready.sheet
        brought = post(house, "/a/new-sheet", do="import", toml=written.text)
        assert all(f'name="q{at}-kind"' in brought.text for at in range(len(ready.sheet)))
        again = get(house, f"/a/c/{campaign}/sheet")
        assert 'value="Keep' not in again.text
        assert again.status_code == 200


def test_buttons_of_the_editor_store_nothing(house):
    before = many(house, campaigns)
    sheet = READY["pulse"].sheet
    for do in ("add-number", "up-1", "down-0", "out-0", "look", "import"):
        answer = post(house, "/a/new-sheet", **fields(sheet, do=do, toml=as_toml(sheet)))
        assert answer.status_code == 200, (do, answer.text)
    assert many(house, campaigns) == before


def since(page):
    return re.search(r'name="since" value="([0-9a-f]+)"', page.text)[1]


def test_of_two_colleagues_who_change_a_draft_at_once_neither_overwrites_the_other_unaware(house):
    sheet = READY["pulse"].sheet
    campaign = post(house, "/a/new-sheet", **fields(sheet)).headers["location"].rsplit("/", 1)[1]
    path = f"/a/c/{campaign}/sheet"
    both = since(get(house, path))
    theirs, mine = replace(sheet, title="Theirs"), replace(sheet, title="Mine")
    for _ in range(2):
        assert post(house, path, **fields(theirs, since=both)).status_code == 303, "pressed twice it is kept once"
    told = post(house, path, **fields(mine, since=both))
    assert (told.status_code, "changed since you opened it" in told.text) == (409, True)
    assert 'value="Mine"' in told.text, "what was typed stays"
    assert house.ada.campaign(campaign).draft["title"] == "Theirs"
    looked = post(house, path, **fields(mine, since=since(told), do="look"))
    assert post(house, path, **fields(mine, since=since(looked))).status_code == 303
    assert house.ada.campaign(campaign).draft["title"] == "Mine"


def test_of_two_who_change_one_number_at_once_neither_overwrites_the_other_unaware(house):
    given = {"title": "T", "question": "Q?", "lower": "0", "upper": "9", "quorum_people": "20"}
    campaign = post(house, "/a/new", **given).headers["location"].rsplit("/", 1)[1]
    path = f"/a/c/{campaign}/edit"
    both = since(get(house, path))
    assert post(house, path, **{**given, "upper": "8", "since": both}).status_code == 303
    told = post(house, path, **{**given, "upper": "7", "since": both})
    assert (told.status_code, house.ada.campaign(campaign).draft["upper"]) == (409, 8.0)
    assert post(house, path, **{**given, "upper": "x", "since": both}).status_code == 422
    assert post(house, path, **{**given, "upper": "7", "since": since(told)}).status_code == 303


def test_a_sheet_is_as_long_as_its_letters_whatever_they_are(house):
    """Every letter outside ASCII was counted as six."""
    words = "пожалуйста " * 180
    sheet = optin.Sheet([optin.YesNo(f"q{at}", text=words) for at in range(4)], title="Hours")
    assert house.ada.draft(sheet, quorum_people=10).id
    with pytest.raises(BadInput, match=r"too long: at most 40,000 characters"):
        house.ada.draft(optin.Sheet([optin.YesNo(f"q{at}", text="x" * 1990) for at in range(21)], title="x"))


def test_mistakes_are_told_with_their_question_and_what_was_typed_stays(house):
    sheet = READY["pulse"].sheet
    for wrong, words in (
        ({"q3-low": "20", "q3-high": "0"}, "bounds"),
        ({"q3-sd": "400"}, "sd"),
        ({"q0-options": "good"}, "options"),
        ({"q1-edges": "0 7 x"}, "question 2"),
        ({"title": ""}, "title"),
        ({"q3-low": "1.000"}, "question 4"),
    ):
        answer = post(house, "/a/new-sheet", **{**fields(sheet), **wrong})
        assert answer.status_code == 422, wrong
        alert = re.search(r'role="alert".*?</div>', answer.text, re.S)[0]
        assert words in alert.lower(), (wrong, alert)
        text = next(iter(wrong.values()))
        assert text in answer.text
    assert post(house, "/a/new-sheet", do="import", toml="title = ").status_code == 422
    marked = '\ufefftitle = "Marked"\n[[question]]\nkind = "yes-no"\nname = "break"'
    assert "Marked" in post(house, "/a/new-sheet", do="import", toml=marked).text, "as some editors begin a file"
    assert post(house, "/a/new-sheet", title="t").status_code == 422


def test_a_verdict_says_what_asking_questions_as_one_score_would_gain(house):
    scales = [optin.Scale(name, options=("bad", "fair", "good"), text=f"{name}?") for name in ("Mood", "Sleep")]
    told = post(house, "/a/new-sheet", **fields(optin.Sheet(scales, title="Two"), do="look", expected="400")).text
    assert "Asked as one score, “Mood?” and “Sleep?” would leave the sheet as accurate as" in told


def test_a_verdict_says_what_a_sheet_is_good_for_before_anyone_is_asked(house):
    wide = optin.Sheet([optin.Number("hours", bounds=(0, 80), unit="hours", text="Hours?")], title="Hours")
    told = post(house, "/a/new-sheet", **fields(wide, do="look", expected="20", mix="careful")).text
    assert "useless" in told
    assert "not enough to tell anything apart, not even 0 from 80" in told
    assert "Good from" in told
    assert "of the widest spread that there can be" in told, "nobody said how far people lie apart"
    far = optin.Sheet([optin.Number("hours", bounds=(0, 80_000), unit="hours", text="Hours?")], title="Hours")
    told = post(house, "/a/new-sheet", **fields(far, do="look", expected="400")).text
    assert "No spread was given, so that it may still be more than people lie apart" in told
    assert "how far people themselves lie apart" not in told
    two = optin.Sheet([wide["hours"], optin.Choice("shift", options=("a", "b", "c", "d"))], title="Two")
    told = post(
        house, "/a/new-sheet", **fields(two, do="look", expected="4000", groups="4", wished="1", wished_of="0")
    ).text
    assert "enough to tell 40 from" in told
    assert "is the dearest question" in told
    assert "one score" not in told
    assert "In 4 groups of one size" in told
    needed = int(re.search(r"takes ([\d,]+) people like these", told)[1].replace(",", ""))
    found = optin.size(two, people=needed, limits=limits(), groups=4)
    assert (
        found["hours"].half_width
        <= 1.0
        < optin.size(two, people=needed - 8, limits=limits(), groups=4)["hours"].half_width
    )


def limits():
    from optin.web.pages.verdicts import imagined_limits

    return imagined_limits({"mix": "mixed"})


def test_a_trial_reads_answers_as_a_visit_does_and_stores_nothing(house):
    sheet, support = READY["health"].sheet, "Call 555-0100."
    kept = post(house, "/a/new-sheet", **fields(sheet, support=support))
    campaign = kept.headers["location"].rsplit("/", 1)[1]
    before = [many(house, table) for table in (answers, invitations)]
    shown = get(house, f"/a/c/{campaign}/try").text
    assert support in shown
    assert "nothing is sent or stored" in shown
    good = post(house, f"/a/c/{campaign}/try", a1="very difficult", step="4", do="send")
    assert (good.status_code, "This would be sent now" in good.text) == (200, True)
    wrong = post(house, f"/a/c/{campaign}/try", a0="9", do="send")
    assert wrong.status_code == 422
    assert [many(house, table) for table in (answers, invitations)] == before


@pytest.mark.parametrize("sheet", [READY["health"].sheet, None])
def test_a_trial_of_two_visits_shows_the_limit_first_and_then_the_questions(house, sheet):
    asked = (
        {"title": "Sleep", "question": "How many hours did you sleep?", "bounds": (0.0, 12.0)}
        if sheet is None
        else {"sheet": sheet}
    )
    campaign = house.ada.draft(**asked, sealed=False, quorum_people=10, support="Call 555-0100.").id
    address = f"/a/c/{campaign}/try"
    assert (address in get(house, f"/a/c/{campaign}").text) is (sheet is not None)
    shown = get(house, address).text
    assert [words in shown for words in ("Choose your limit", "The second visit", "Call 555-0100.")] == [True] * 3
    assert [words in shown for words in (">Send<", "One visit", f'action="/c/{campaign}')] == [False] * 3
    assert shown.count(f'action="{address}"') == 2, "the limit, and the answers: neither is sent"
    assert shown.index("Choose this") < shown.index("Join with these answers")
    assert "/me" not in shown.split("<main", 1)[1]
    good, wrong = post(house, address, step="4"), post(house, address, a0="900 hours")
    assert (good.status_code, "This would be sent now" in good.text) == (200, True)
    assert wrong.status_code == 422


def test_the_text_for_everyone_is_shown_to_everyone_whatever_they_answer(house):
    sheet, support = READY["health"].sheet, "Call 555-0100."
    campaign = house.ada.draft(sheet, sealed=True, quorum_people=10, support=support).id
    house.ada.take(campaign, "open")
    pages = []
    for do, answer in (("send", "not difficult"), ("send", "extremely difficult"), ("decline", "")):
        (secret,) = house.ada.invite(campaign, 1)
        begun = house.ask("POST", "/i/answer", data={"secret": secret})
        assert support in begun.text
        key = re.search(r'name="key" value="([^"]+)"', begun.text)[1]
        form = {"secret": secret, "key": key, "round": "1", "step": "4", "before": "no", "do": do, "a1": answer}
        pages.append(house.ask("POST", "/i/send", data=form).text)
    assert all(support in page for page in pages)
    assert "<h1>Sent</h1>" in pages[0]
    blanked = [re.sub(r"[A-Za-z0-9_-]{32,}|<path[^>]*>|<svg.*?</svg>", "", page, flags=re.S) for page in pages[:2]]
    assert blanked[0] == blanked[1], "what is shown after sending does not depend on the answer"


def german(house, path, **form):
    own = {"cookie": house.ada._cookie, "headers": {"Accept-Language": "de"}}
    return house.ask("POST", path, data={"csrf": house.ada._csrf, **form}, **own).text


def test_the_last_day_of_all_is_no_last_day_to_answer(house):
    """It has no end: the page failed."""
    sheet = READY["pulse"].sheet
    for path in ("/a/new-sheet", "/a/new"):
        given = fields(sheet, title="t", question="q", lower="0", upper="1", answer_by="9999-12-31", do="keep")
        refused = post(house, path, **given)
        assert (refused.status_code, "must be a date such as 2026-03-14" in refused.text) == (422, True)
    far = house.ada.draft(sheet, answer_by="9999-12-30").id
    house.ada.take(far, "open")
    assert post(house, f"/a/c/{far}/extend", answer_by="9999-12-31", round="1").status_code == 422


def test_a_draft_whose_quorum_is_larger_than_any_crowd_that_is_imagined_opens_again(house):
    made = post(house, "/a/new-sheet", **fields(READY["pulse"].sheet, quorum_people="2000000", do="keep"))
    opened = house.ask("GET", made.headers["location"] + "/sheet", cookie=house.ada._cookie)
    assert (opened.status_code, "Please check this" in opened.text) == (200, False)


def test_a_last_day_that_is_over_is_refused_as_the_draft_is_kept(house):
    sheet = READY["pulse"].sheet
    before = many(house, campaigns)
    refused = post(house, "/a/new-sheet", **fields(sheet, answer_by="2020-01-31", do="keep"))
    assert refused.status_code == 422
    assert "The last day to answer, 31 January 2020, is over: choose a later one." in refused.text
    assert "der 31. Januar 2020, ist vorbei" in german(
        house, "/a/new-sheet", **fields(sheet, answer_by="2020-01-31", do="keep")
    )
    assert many(house, campaigns) == before


def test_after_a_refusal_the_panel_asks_to_work_it_out_and_not_for_questions_that_there_are(house):
    refused = post(house, "/a/new-sheet", **fields(READY["pulse"].sheet, title=" ", do="keep")).text
    assert "Work it out to see what these questions will say" in refused
    assert "Add questions" not in refused
    assert "Add questions" in get(house, "/a/new-sheet").text


@pytest.mark.parametrize(("toml", "said"), [("title = ", "es endet zu früh"), ("[[question\n", "Zeile 1, Spalte 11")])
def test_where_toml_breaks_off_is_said_in_the_page_s_language(house, toml, said):
    page = german(house, "/a/new-sheet", do="import", toml=toml)
    assert said in page
    assert "(at " not in page
    languages = german(house, "/a/new-sheet", **fields(READY["pulse"].sheet, languages=toml, do="keep"))
    assert said in languages
