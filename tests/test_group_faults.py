"""What a hostile reader tried on public groups: labels of nobody, private columns as groups, people moved unseen."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from cli_steps import optin as command
from sqlalchemy import text

import optin
from optin import campaign
from optin.announcement.terms import Conditions
from optin.errors import BadInput, PromiseBroken

HOURS = optin.Number("hours", bounds=(0, 80), sd=9)
BREAK = optin.YesNo("break")
COUNT = 60


def people(limits=None, groups=None):
    limits = np.tile([0.0, 0.5, 2.0], COUNT // 3) if limits is None else limits
    return optin.PrivacyConstrained(limits, groups=np.repeat(["ER", "ICU"], COUNT // 2) if groups is None else groups)


def table():
    rng = np.random.default_rng(5)
    return pa.table(
        {
            "id": [f"p{at}" for at in range(COUNT)],
            "limit": [("0.5", "1", "2")[at % 3] for at in range(COUNT)],
            "ward": ["ER"] * 30 + ["ICU"] * 30,
            "hours": [str(each) for each in rng.normal(40, 9, COUNT)],
            "break": [("yes", "no")[at % 2] for at in range(COUNT)],
        }
    )


def test_a_missing_label_of_pandas_is_refused_in_words():
    labels = pd.Series(["ER", None] * 30, dtype="string")
    with pytest.raises(BadInput, match=r"groups\[1\] is missing"):
        people(groups=labels)


@pytest.mark.parametrize(
    "labels",
    [{f"p{at}": "ER" for at in range(COUNT)}, {f"ward {at}" for at in range(COUNT)}, b"x" * COUNT, np.array("ER")],
)
def test_labels_of_which_nobody_knows_whose_they_are_are_refused(labels):
    with pytest.raises(BadInput, match="in the order of the people"):
        people(groups=labels)


def test_the_groups_of_other_people_are_refused():
    with pytest.raises(BadInput, match="60 entries for 3 people"):
        optin.PrivacyConstrained([1.0, 2.0, 3.0], groups=people().groups)


def test_a_group_is_named_by_text():
    offer = optin.plan(people(), [HOURS]).announce(people())
    with pytest.raises(BadInput, match="must be a text"):
        optin.explain(offer, limit=1.0, group=1)  # type: ignore[arg-type]


@pytest.mark.parametrize("engine", ["memory", "duckdb"])
def test_whoever_allows_nothing_cannot_be_moved_to_another_group_either(tmp_path, engine):
    limits, wards = np.tile([0.0, 0.5, 2.0], COUNT // 3), np.repeat(["ER", "ICU"], COUNT // 2)

    def read(groups):
        path = tmp_path / f"{(groups == 'ER').sum()}.parquet"
        pq.write_table(pa.table({"id": np.arange(COUNT), "limit": limits, "ward": groups, "hours": limits}), path)
        return optin.read(path, limits="limit", groups="ward", engine=engine)

    moved = wards.copy()
    moved[0] = "ICU"
    offer = optin.plan(read(wards), [HOURS]).announce(read(wards))
    with pytest.raises(PromiseBroken, match="in another group"):
        optin.release(offer, read(moved), {"hours": limits} if engine == "memory" else None)
    assert optin.release(offer, read(wards), {"hours": limits} if engine == "memory" else None).withheld == {}


@pytest.mark.parametrize("engine", ["memory", "duckdb"])
@pytest.mark.parametrize("kind", ["limits", "answers"])
def test_what_is_private_cannot_be_a_group(tmp_path, engine, kind):
    path = tmp_path / "people.csv"
    table().to_pandas().to_csv(path, index=False)
    column = "limit" if kind == "limits" else "break"
    with pytest.raises(BadInput, match=f"{column} is a column of .*private, and groups are public"):
        optin.plan(optin.read(path, limits="limit", groups=["ward", column], engine=engine), [HOURS, BREAK])


def test_a_column_of_answers_is_known_by_its_name():
    frame = table().to_pandas()
    limits = frame["limit"].astype(float)
    with pytest.raises(BadInput, match="break is a column of answers"):
        optin.plan(optin.PrivacyConstrained(limits, groups=frame["break"]), [HOURS, BREAK])
    assert optin.plan(optin.PrivacyConstrained(limits, groups=frame["ward"]), [HOURS, BREAK]).grouped
    assert optin.plan(optin.PrivacyConstrained(limits, groups=frame["break"].to_numpy()), [HOURS]).grouped


@pytest.mark.parametrize("engine", ["memory", "duckdb"])
def test_the_commands_divide_nobody_by_what_is_private(tmp_path, monkeypatch, engine):
    monkeypatch.chdir(tmp_path)
    table().to_pandas().to_csv("people.csv", index=False)
    (tmp_path / "sheet.toml").write_text('[[question]]\nname = "break"\nkind = "yes-no"\n')

    def run(*words):
        return command(*words, "--engine", engine)

    plan = ("plan", "people.csv", "--limits", "limit", "-o", "plan.json")
    for column in ("break", "limit"):
        found = run(*plan, "--sheet", "sheet.toml", "--by", column)
        assert found.code == 2, found.err
        assert "groups are public" in found.err
    assert run(*plan, "--bounds", 0, 80, "--by", "break").code == 0
    ledger = ("--ledger", "ledger.sqlite")
    assert run("announce", "plan.json", "people.csv", *ledger, "-o", "offer.json").code == 0
    found = run(
        "release", "offer.json", "people.csv", "--by", "break", "--values", "break", *ledger, "-o", "release.json"
    )
    assert found.code == 2
    assert "groups are public" in found.err


@pytest.mark.parametrize(
    "population",
    [pd.Series([100, 300, 100], index=["ER", "ER", "ICU"]), {"ER": 10**400, "ICU": 1}, {"ER": 1e308, "ICU": 1e308}],
)
def test_a_population_that_cannot_be_one_is_refused(population):
    with pytest.raises(BadInput, match=r"twice|positive number"):
        optin.plan(people(), [HOURS]).total("hours", population)


EDITS = {
    "two groups": ("design = 1 - design", "design = 1 - design"),
    "two holds": ("grains = grains - 4096", "grains = grains + 4096"),
}


@pytest.mark.parametrize("edit", EDITS)
def test_edited_holds_that_add_up_to_the_same_charge_nobody_for_another(tmp_path, edit):
    """Two people of equal limits: of one group too few join, so only the other of them loses anything, and pays for it."""
    limits, joined = np.tile([0.5, 1.0, 2.0], COUNT // 3), np.arange(COUNT) >= 21
    groups = np.repeat(["ER", "ICU"], COUNT // 2) if edit == "two groups" else None
    agents = optin.PrivacyConstrained(limits, groups=groups, ids=[f"p{at}" for at in range(COUNT)])
    with optin.Ledger.open(str(tmp_path / "ledger.sqlite")) as ledger:
        plan = campaign.plan(agents, bounds=(0, 1), ledger=ledger)
        offer = campaign.announce(plan, agents, ledger=ledger)
        with ledger.engine.begin() as connection:
            connection.execute(text("DROP TRIGGER promises_refuses_update"))
            for name, change in zip(("p23", "p32"), EDITS[edit], strict=True):
                whose = f"(SELECT person FROM people WHERE id = '{name}')"
                connection.execute(text(f"UPDATE promises SET {change} WHERE person = {whose}"))
        with pytest.raises(PromiseBroken, match="holds do not match"):
            campaign.release(offer, agents, np.zeros(COUNT), ledger=ledger, joined=joined)
        assert [act.kind for act in ledger.acts()] == ["register", "announce"]


def test_nobody_is_said_to_be_charged_in_a_group_that_is_withheld(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    frame = table().to_pandas().assign(joined=["no"] * 25 + ["yes"] * 35)
    frame.to_csv("people.csv", index=False)
    plan = ("plan", "people.csv", "--limits", "limit", "--bounds", 0, 80, "--by", "ward", "-o", "plan.json")
    assert command(*plan).code == 0
    ledger = ("--ledger", "ledger.sqlite")
    assert command("announce", "plan.json", "people.csv", *ledger, "-o", "offer.json").code == 0
    answers = ("--by", "ward", "--values", "hours", "--joined", "joined")
    found = command("release", "offer.json", "people.csv", *answers, *ledger, "-o", "release.json")
    assert '"ER"' in found.out.split("charged to nobody")[1]
    assert "all who joined in groups that are published" in found.out
    assert "all 35" not in found.out


def test_one_group_is_no_pair_however_it_is_spelled():
    agents = people(groups=np.repeat(["a", "b"], 30))
    release = optin.release(optin.plan(agents, [HOURS]).announce(agents), agents, np.zeros(COUNT))
    with pytest.raises(BadInput, match='no group "ab"'):
        release.differences("hours", among="ab")


@pytest.mark.parametrize("engine", ["memory", "duckdb"])
@pytest.mark.parametrize(("label", "words"), [("I\0CU", "not every file keeps"), ("x" * 17_000, "more than 16,384")])
def test_a_name_that_no_group_can_have_is_refused_with_who_bears_it(tmp_path, engine, label, words):
    found = table().set_column(1, "limit", [[0.5, 1.0] * 30])
    wards = ["ER"] * 59 + [label]
    pq.write_table(found.set_column(2, "ward", [wards]), tmp_path / "people.parquet")
    where = "row 60" if engine == "memory" else "id p59"
    with pytest.raises(BadInput, match=f"people.parquet {where}: ward .*{words}"):
        optin.read(tmp_path / "people.parquet", limits="limit", groups="ward", engine=engine)


@pytest.mark.parametrize("wards", [None, np.repeat(["ER", "ICU"], COUNT // 2)])
def test_one_largest_standard_error_is_never_asked_of_several_questions(wards):
    """It was passed over in silence where people are in groups."""
    agents = optin.PrivacyConstrained(np.tile([0.5, 1.0, 2.0], COUNT // 3), groups=wards)
    plan = optin.plan(agents, [HOURS, BREAK])
    answers = {"hours": np.full(COUNT, 40.0), "break": np.ones(COUNT, dtype=bool)}
    with pytest.raises(BadInput, match="is for one question"):
        campaign.look(plan.announce(agents), agents, answers, quorum=campaign.Quorum(standard_error=0.01))
    with pytest.raises(BadInput, match="is for one question"):
        plan.announce(agents, conditions=Conditions(quorum_error=0.01))


def test_a_question_that_nobody_was_asked_is_named_across_groups_too():
    agents = people()
    plan = optin.plan(agents, [HOURS, BREAK])
    drawn = optin.release(plan.announce(agents), agents, {"hours": [40.0] * COUNT, "break": ["yes"] * COUNT})
    for across in (
        lambda: drawn.difference("hour", "ER", "ICU"),
        lambda: drawn.differences("hour"),
        lambda: drawn.total("hour"),
        lambda: plan.total("hour"),
    ):
        with pytest.raises(BadInput, match='there is no question "hour"; the questions are: hours, break'):
            across()
