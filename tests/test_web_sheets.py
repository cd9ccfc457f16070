"""Sheets and groups in the service: seven kinds of question, sealed at one length, released as the command line would."""

import math

import pytest
from sqlalchemy import select
from web_steps import KEY, House

import optin
from optin.council.bundle import read_bundle
from optin.council.checking import checked_bundle
from optin.errors import BadInput, PromiseBroken
from optin.web.schema import answers, registrations
from optin.web.service.asking import answers_of, codes_of
from optin.web.service.log import bundle, council_address

SHEET = optin.Sheet(
    [
        optin.Number("hours", bounds=(0, 80), sd=9, unit="hours", text="How many hours did you work last week?"),
        optin.YesNo("break", text="Did you skip a break?"),
        optin.Choice("shift", options=("early", "late", "night")),
        optin.Scale("mood", options=("bad", "fair", "good")),
        optin.Score("burden", items=3, each=(0, 4)),
        optin.Histogram("age", edges=(16, 30, 50, 80)),
        optin.MultipleChoice("reasons", options=("staff", "noise", "phone"), at_most=2),
    ],
    title="Breaks on the ward",
    purpose="To plan the rota.",
    asked_by="The staff council",
)
ANSWERS = {
    "hours": 38.5,
    "break": True,
    "shift": "night",
    "mood": "fair",
    "burden": [1, 2, 4],
    "age": 44,
    "reasons": ["staff", "phone"],
}


def test_what_is_kept_of_an_answer_leads_back_to_an_answer_of_the_same_code():
    codes = codes_of(SHEET, ANSWERS)
    assert codes == (38.5, 0.0, 2.0, 1.0, 7.0, 1.0, 5.0)
    again = answers_of(SHEET, [codes, None])
    for question, code in zip(SHEET, codes, strict=True):
        assert question.coded(again[question.column][:1])[0] == code
        assert again[question.column][1] is None


def test_a_question_that_is_left_out_stays_out_and_a_sheet_of_nothing_is_refused():
    codes = codes_of(SHEET, {"break": False, "age": None})
    assert [math.isnan(code) for code in codes] == [True, False, True, True, True, True, True]
    with pytest.raises(BadInput, match="nothing is answered yet"):
        codes_of(SHEET, {"age": None})


@pytest.mark.parametrize(
    ("name", "answer"),
    [
        ("hours", 81),
        ("hours", True),
        ("hours", math.nan),
        ("hours", "forty"),
        ("break", "perhaps"),
        ("shift", "noon"),
        ("mood", 1.5),
        ("burden", [1, 2]),
        ("burden", [1, 2, 5]),
        ("age", 12),
        ("reasons", ["staff", "noise", "phone"]),
        ("pay", 1),
    ],
)
def test_what_is_no_answer_is_refused_and_not_repeated(name, answer):
    with pytest.raises(BadInput) as refusal:
        codes_of(SHEET, {name: answer})
    assert not any(word in str(refusal.value) for word in ("81", "forty", "perhaps", "noon", "1.5", "pay"))


@pytest.fixture(scope="module")
def house(tmp_path_factory):
    folder = tmp_path_factory.mktemp("sheets")
    with House(f"sqlite:///{folder / 'web.sqlite'}", folder, key=KEY) as made:
        yield made


def invited(house, analyst, campaign, count, group=None):
    crowd = [house.client() for _ in range(count)]
    for person, secret in zip(crowd, analyst.invite(campaign, count, group=group), strict=True):
        person.enter(secret)
    return crowd


def answer_of(at):
    return {
        **ANSWERS,
        "hours": 30.0 + at % 20,
        "break": at % 3 == 0,
        "shift": ("early", "late", "night")[at % 3],
        "age": 20 + at,
    }


def test_a_sheet_in_two_groups_runs_from_the_draft_to_a_checked_receipt(house):
    analyst = house.analyst("ada")
    campaign = analyst.draft(SHEET, quorum_people=10, sealed=True).id
    found = analyst.campaign(campaign)
    assert found.draft["title"] == "Breaks on the ward"
    assert [question["kind"] for question in found.draft["sheet"]["questions"]] == [each.kind for each in SHEET]
    analyst.take(campaign, "open")
    crowd = invited(house, analyst, campaign, 13, "ICU") + invited(house, analyst, campaign, 12, "ER")
    for at, person in enumerate(crowd):
        mine = person.register(campaign, 4 + at % 3, answers=answer_of(at))
        assert (mine.group, mine.answer) == ("ICU" if at < 13 else "ER", "joined")
    query = select(answers.c.value).where(answers.c.campaign == campaign)
    sealed = house.service.read(lambda link: link.execute(query).scalars().all())
    assert len(sealed) == 25
    assert {len(each) for each in sealed} == {12 + 16 + 8 * len(SHEET)}
    for step in ("close-registration", "announce"):
        analyst.take(campaign, step)
    deal = crowd[0].my_campaign(campaign).deal
    offer = analyst.campaign(campaign).announcement
    assert deal.grains == optin.explain(offer, limit=0.2, group="ICU").grains
    crowd[-1].decline(campaign)
    for step in ("close", "release"):
        analyst.take(campaign, step)
    release = analyst.campaign(campaign).release
    assert sorted(release.groups) == ["ER", "ICU"]
    assert set(release.groups["ICU"].results) == {question.name for question in SHEET}
    public = crowd[0].published(campaign)
    assert optin.check(crowd[0].receipt(campaign), public.announcement, public.release)
    assert crowd[-1].me().spent == 0.0 < crowd[0].me().spent
    assert house.service.ledger.verify().ok
    place = council_address(house.service, campaign, public=False)
    assert "ICU" in house.ask("GET", place).text, "the council sees the figures of every group"
    (house.folder / "bundle.zip").write_bytes(bundle(house.service, campaign, place.rsplit("/", 1)[1]).to_bytes())
    assert checked_bundle(read_bundle(house.folder / "bundle.zip"))


def test_questions_left_out_are_not_charged(house):
    analyst = house.analyst("bea")
    sheet = optin.Sheet([SHEET["hours"], SHEET["break"]], title="Two")
    campaign = analyst.draft(sheet, quorum_people=10, sealed=True, public=True).id
    analyst.take(campaign, "open")
    crowd = house.people(12)
    for at, person in enumerate(crowd):
        person.register(campaign, 5, answers={"hours": 38.0} | ({"break": True} if at else {}))
    for step in ("close-registration", "announce", "close", "release"):
        analyst.take(campaign, step)
    assert 0 < crowd[0].me().spent < crowd[1].me().spent


def test_everyone_is_in_a_group_or_nobody(house):
    analyst = house.analyst("cleo")
    campaign = analyst.draft(SHEET).id
    analyst.invite(campaign, 1, group="ICU")
    with pytest.raises(BadInput, match="in a group, or nobody is"):
        analyst.invite(campaign, 1)
    public = analyst.draft(SHEET, public=True).id
    with pytest.raises(BadInput, match="by invitation"):
        analyst.invite(public, 1, group="ICU")
    with pytest.raises(BadInput, match="on one line"):
        analyst.invite(campaign, 1, group="a\nb")


def test_a_group_stays_with_a_person_in_the_next_round(house):
    analyst = house.analyst("dora")
    campaign = analyst.draft(SHEET, quorum_people=10, sealed=False).id
    analyst.take(campaign, "open")
    crowd = invited(house, analyst, campaign, 12, "ICU")
    for person in crowd:
        person.register(campaign, 5)
    for step in ("close-registration", "announce", "new-round"):
        analyst.take(campaign, step)
    query = select(registrations.c.group_name).where(registrations.c.campaign == campaign, registrations.c.round == 2)
    assert house.service.read(lambda link: link.execute(query).scalars().all()) == ["ICU"] * 12


def test_two_visits_show_the_questions_before_the_limit_and_the_text_for_everyone_on_every_page(house):
    analyst, help_ = house.analyst("flora"), "Call 4711 at any hour."
    campaign = analyst.draft(SHEET, quorum_people=10, sealed=False, public=True, support=help_).id
    analyst.take(campaign, "open")

    def page(cookie=None):
        return house.ask("GET", f"/c/{campaign}", cookie=cookie).text.split("<main", 1)[1]

    crowd = house.people(12)
    for shown in (page(), page(crowd[0]._cookie)):
        assert help_ in shown
        assert "How many hours did you work last week?" in shown
        assert "early, late, night" in shown
        assert "Questions are optional." in shown
    for person in crowd:
        person.register(campaign, 6)
    assert help_ in page(crowd[0]._cookie)
    for step in ("close-registration", "announce"):
        analyst.take(campaign, step)
        assert help_ in page(crowd[0]._cookie)
        assert "How many hours did you work last week?" in page(crowd[0]._cookie)
    analyst.take(campaign, "open-answers")
    asked = page(crowd[0]._cookie)
    assert help_ in asked
    assert "Questions are optional." in asked
    assert asked.count("How many hours did you work last week?") == 1, "in the form alone"
    crowd[0].join(campaign, {"break": True})
    crowd[1].decline(campaign)
    for person in crowd[:2]:
        assert help_ in page(person._cookie), "whatever they did"


def test_a_draft_is_a_sheet_or_one_number(house):
    analyst = house.analyst("emma")
    for wrong in (
        {"sheet": SHEET, "bounds": (0, 1)},
        {"title": "t", "question": "q"},
        {"sheet": SHEET, "quorum_standard_error": 0.1},
        {"sheet": optin.Sheet([SHEET["hours"]])},
    ):
        with pytest.raises(BadInput):
            analyst.draft(**wrong)
    text = 'title = "Breaks"\nasked_by = "us"\n[[question]]\nkind = "yes-no"\nname = "b"\ncolumn = "x"\n'
    found = analyst._call("POST", "/api/campaigns", {"sheet": text})
    assert (found["draft"]["title"], found["draft"]["asked_by"]) == ("Breaks", "us")
    assert found["draft"]["sheet"]["questions"][0]["column"] == "b"
    again = {name: found["draft"][name] for name in ("sheet", "sealed", "public")}
    assert analyst._call("PUT", f"/api/campaigns/{found['id']}", again)["draft"] == found["draft"]
    with pytest.raises(PromiseBroken):
        analyst.take(found["id"], "close")
