"""Whatever a public name gives back prints what a person wants to know: a few lines, in a notebook too, and nobody's number."""

import dataclasses
import html
import importlib
import inspect
import json
import re

import numpy as np
import pytest

import optin
from optin import baselines, campaign, dynamics, figures, incentives, participation, relations, simulation
from optin.client import records as client
from optin.ledger import Entry, Ledger, Log, Terms
from optin.report import Source
from optin.wording.telling import MOST_ROWS

ROOMS = (*sorted(optin._ROOMS), "client", "ledger", "participation")
LIMITS = np.linspace(0.1037, 1.9519, 300)
HASH = r"\b(?=\d*[a-f])[0-9a-f]{32,64}\b"
"""Of three hashes, one in 500 runs has 20 digits in a row; one without any letter is no hash, but for 1 in a million."""
SHEET = optin.Sheet(
    [
        optin.Number("hours", bounds=(0, 80), sd=9, unit="hours", text="How many hours did you work last week?"),
        optin.YesNo("break"),
        optin.Choice("shift", options=("early", "late", "night")),
        optin.Scale("mood", options=("bad", "fair", "good")),
        optin.Score("phq9", items=9, each=(0, 3)),
        optin.Histogram("age", edges=(16, 25, 35, 80)),
        optin.MultipleChoice("reasons", options=("pay", "people", "place"), at_most=2),
    ],
    title="Working hours",
)
ANSWERS = {
    "hours": np.full(300, 38.0),
    "break": ["yes", "no"] * 150,
    "shift": ["early", "late", "night"] * 100,
    "mood": ["bad", "fair", "good"] * 100,
    "phq9": np.full(300, 7),
    "age": np.full(300, 30),
    "reasons": [("pay",)] * 300,
}


def public_records():
    """Every class that a public name stands for, but failures and protocols, which nobody makes."""
    named = {f"optin.{name}": getattr(optin, name) for name in optin.__all__}
    for room in ROOMS:
        module = importlib.import_module(f"optin.{room}")
        named |= {f"optin.{room}.{name}": getattr(module, name) for name in module.__all__}
    return {
        name: kind
        for name, kind in named.items()
        if inspect.isclass(kind) and not issubclass(kind, BaseException) and not getattr(kind, "_is_protocol", False)
    }


def client_records(offer, drawn):
    """What the service tells its client, read as the client reads it."""
    job = {"id": "j1", "kind": "plan", "round": 1, "state": "done", "step": "", "done": 1, "total": 1, "error": None}
    shared = {"id": "c1", "state": "released", "round": 1, "announcement": json.loads(offer.to_json())}
    shared |= {"release": json.loads(drawn.to_json())}
    draft = {"title": "Hours", "question": "How many?", "unit": "hours"}
    counts = {"invited": 300, "redeemed": 300, "registered": 300, "joined": 300, "declined": 0}
    last = {"steps": [], "warning": None, "publish_by": None, "next_step": None, "next_at": None}
    yield client.campaign_from(shared | {"draft": draft, "job": job} | counts | last)
    person = {
        "stated": 3,
        "deal": None,
        "counts_about": 1,
        "answer": "joined",
        "spent": 0.1,
        "given_back": False,
        "group": None,
    }
    mine = shared | person | {"draft": draft, "remaining": 0.9, "publish_by": None}
    yield client.my_campaign_from(mine)
    yield client.totals_from(
        {"account": "a1", "allowance": 1.0, "promised": 0.0, "spent": 0.1, "remaining": 0.9, "campaigns": [mine]}
    )
    words = {"title": "Hours", "question": "How many?", "purpose": "", "unit": "hours", "fingerprint": "f" * 64}
    yield client.published_from(shared | words)
    yield client.JobStatus(**job)
    yield client.LadderStep(index=1, amount=0.5, name="some", words="a little")
    yield client.LimitCell(low=0.1, high=0.5, people=12)
    yield client.LogLine(at=0.0, kind="planned", round=1, words="planned")
    yield client.Outlook(people=300, cap=1.0, standard_error=0.1, noise_scale=0.1, effective_people=100.0, tilt=0.1)


def group_records():
    """What is made of designs and of groups in a laboratory."""
    yield baselines.Accuracy(0.1, 0.2, 0.0, 0.0)
    yield baselines.WholeError("optimum", 0.0, 0.0, 0.1)
    yield baselines.Epsilons(np.sqrt)
    yield baselines.Levels(np.array([0.5]), np.array([12.0]), 0)
    yield baselines.Setting(0.25, 0.5, 0.0, 2.0, 0.5, mean_given=False)
    yield simulation.SimulatedGroup(people=50, limits="mixed", answers={"mean": 38.0})
    arrays = {"errors": np.zeros(3), "covered": np.ones(3, dtype=np.bool_), "lengths": np.ones(3)}
    outcome = simulation.GroupOutcome("combined", 0.0, 0.1, **arrays)
    yield outcome
    yield simulation.GroupSimulation(SHEET["break"], "yes", 0.5, 3, 0.95, 0.0, (outcome,))


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """One of each, made as users make them."""
    ids = [f"p{at}" for at in range(300)]
    people = optin.PrivacyConstrained(LIMITS, ids=ids)
    buyers = optin.QuasiLinear(LIMITS / 100, benefit=optin.LinearBenefit(base=3.0, slope=1.0))
    plan = optin.plan(people, SHEET, target_error={"hours": 0.1})
    number = optin.plan(people, bounds=(0, 1))
    ledger = Ledger.open(str(tmp_path_factory.mktemp("objects") / "ledger.sqlite"))
    offer = campaign.announce(plan, people, ledger=ledger)
    drawn = campaign.release(offer, people, ANSWERS, ledger=ledger)
    look = optin.release(number.announce(people), people, np.linspace(0, 1, 300))
    simulated = optin.simulate("two-level", generator=np.random.default_rng(1), campaigns=20, people=200)
    of_a_sheet = optin.simulate("two-level", SHEET, generator=np.random.default_rng(1), campaigns=5, people=200)
    comparison = baselines.compared(number, people)
    game = dynamics.game_of(optin.plan(buyers, bounds=(0, 1), slack=0.2), buyers)
    cells = figures.cells(number, optin.describe(people))
    means = relations.related_means(LIMITS, bounds=(0, 1), gap=0.2, shape="step")
    found = [
        *(people, buyers, buyers.benefit, plan, number, plan["hours"], plan["hours"].target, SHEET, *SHEET.questions),
        *(
            offer,
            offer["hours"],
            optin.explain(offer, limit=0.5),
            optin.explain(offer, limit=0.5)["hours"],
            drawn,
            look,
            drawn.table(),
            look.total_interval(0.95),
        ),
        *drawn.results.values(),
        *(plan.certificate(people), optin.describe(people), optin.size(SHEET, people=400), ledger, ledger.acts()[0]),
        *(
            ledger.receipt("p7"),
            ledger.verify(),
            Log(ledger),
            Terms("clinic", 1, "f" * 64),
            Entry(3, "f" * 64, "{}" * 2000),
        ),
        *(comparison, comparison.designs[0], comparison.groups[0], baselines.references(number, people)[0]),
        *(simulated, simulated.outcomes[0], of_a_sheet, of_a_sheet.outcomes[0], of_a_sheet.figures[0]),
        *(
            game,
            dynamics.equilibria(game)[0],
            dynamics.play(game),
            dynamics.slack_table(buyers, (0.1,), bounds=(0, 1))[0],
        ),
        *(incentives.limit_reports(people, bounds=(0, 1)), incentives.cost_reports(buyers, bounds=(0, 1))),
        *participation.without(number, people, share=0.2),
        *(
            relations.caution_table(people, (0.1,), bounds=(0, 1))[0],
            figures.LIGHT,
            cells[0],
            Source(plan, None, drawn),
        ),
        relations.dial_points(people, means, bounds=(0, 1), max_gap=0.2)[0],
        *(campaign.Quorum(people=10), baselines.ValueLaw(shape="coin", mean=0.5), *simulation.POPULATIONS.values()),
        participation.turnout(offer, people),
        *client_records(offer, drawn),
        *group_records(),
        client.Admission(account="a1", key="secret-key", campaign=None),
    ]
    yield {type(each): each for each in found}
    ledger.close()


def test_every_public_record_is_one_that_prints_itself_in_a_notebook():
    assert {name for name, kind in public_records().items() if not hasattr(kind, "_repr_html_")} == set()


def test_no_public_record_prints_what_python_made_up_from_its_fields():
    made_up = {
        name
        for name, kind in public_records().items()
        if dataclasses.is_dataclass(kind) and kind.__dataclass_params__.repr and "__repr__" not in vars(kind)
    }
    assert made_up == set()


def test_an_example_of_every_public_record_is_looked_at(made):
    unmade = {"optin.Client", "optin.client.Client", "optin.baselines.SimulatedValues"}
    missing = {name for name, kind in public_records().items() if not any(issubclass(one, kind) for one in made)}
    assert missing == unmade


def test_no_public_record_prints_long_integers_or_a_wall_of_fields(made):
    for kind, record in made.items():
        told = repr(record)
        bare = re.sub(HASH, "", told)
        assert not re.search(r"\d{20}", bare), kind
        assert max(map(len, told.splitlines())) <= 240, kind
        assert len(told.splitlines()) <= MOST_ROWS + 20, kind
        assert told.count("=") <= 8, kind


def test_what_a_notebook_shows_says_what_a_terminal_says(made):
    for kind, record in made.items():
        shown = html.unescape(re.sub(r"<[^>]+>", " ", record._repr_html_())).split()
        assert set(re.findall(r"\w{4,}", " ".join(shown))) >= set(re.findall(r"\w{4,}", repr(record))), kind


def test_no_public_record_prints_a_limit_a_key_or_an_id(made):
    for kind, record in made.items():
        for told in (repr(record), record._repr_html_()):
            assert not [limit for limit in map(repr, LIMITS.tolist()[1:-1]) if limit in told], kind
            assert "secret-key" not in told, kind


def test_a_release_prints_its_estimate_its_interval_its_people_and_whether_it_was_charged(made):
    told = repr(made[optin.Release])
    release = made[optin.Release]
    assert f"{release.joined_people:,} of 300 people" in told
    assert "charged" in told
    assert "95 % interval" in told


def test_a_question_prints_as_it_could_be_written(made):
    for question in SHEET:
        assert eval(repr(question), vars(optin)) == question


def test_half_of_an_interval_is_written_in_the_same_unit_by_every_record(made):
    plan, offer, size = (made[kind].telling() for kind in (optin.Plan, optin.Announcement, optin.Size))
    units = {"hours": " hours", "phq9": ""}
    for told in (plan, offer, size):
        column = told.head.index("95 % interval")
        for row in told.rows:
            end = units.get(row[0], " points")
            assert re.fullmatch(rf"± [0-9.,e-]+{end}", row[column]), row


def test_what_is_left_of_a_limit_by_rounding_alone_is_nothing(made):
    offer = made[optin.Announcement]
    for limit in (0.1037, 0.25, 0.3, 0.7):
        deal = optin.explain(offer, limit=limit)
        assert deal.kept == (0.0 if limit < offer.cap else deal.margin)
        assert dict(deal.rows())["margin"] == ("0" if limit < offer.cap else dict(deal.rows())["margin"])


@pytest.mark.parametrize("gap", [0.17999, 0.0371, 6.02])
def test_a_gap_that_matters_is_written_with_the_same_digits_everywhere_and_never_higher(gap):
    from optin.planning.cautions import assumption

    for question in (optin.YesNo("break"), optin.Number("hours", bounds=(0, 80))):
        told = question.gap_words(gap)
        assert f"if these lie {told} apart" in assumption(
            gap, width=80, max_gap=0, tilt=0.2, proportion=question.proportion
        )
        assert float(told.split(" ")[0].replace(",", "")) <= gap * (100 if question.proportion else 1)
