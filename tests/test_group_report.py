"""The report of groups: every group beside the others, the whole and differences, and why something is missing."""

from dataclasses import replace

import numpy as np
import pytest
from matplotlib.figure import Figure
from test_sheet_report import HOSTILE, Reader

import optin
from optin import figures
from optin.errors import BadInput
from optin.figures.by_group import MOST_ROWS, _axes, _placed, by_group, differences, pairs_are_numbered, rows_height
from optin.questions.kinds import Reading
from optin.report import Source, render, write_report
from optin.wording.groups import shown_group

NAMES = ("ER", "ICU", "עזרה ראשונה", HOSTILE)
SHEET = optin.Sheet(
    [
        optin.Number("hours", bounds=(0, 80), sd=9, unit="hours", text="How many hours?"),
        optin.Choice("shift", options=("early", "late", "night")),
        optin.Scale("mood", options=("bad", "fair", "good", "very good")),
    ],
    title="Shifts",
)


def released(joined=None, names=NAMES, count=1600):
    rng = np.random.default_rng(1)
    groups = np.asarray(names, dtype=object)[np.arange(count) % len(names)]
    agents = optin.PrivacyConstrained(rng.choice([0.5, 2.0, 6.0], count), groups=groups)
    plan = optin.plan(agents, SHEET)
    answers = {
        "hours": rng.normal(40, 9, count),
        "shift": rng.choice(SHEET["shift"].options, count),
        "mood": rng.choice(SHEET["mood"].options, count),
    }
    present = None if joined is None else joined(groups)
    return plan, optin.release(plan.announce(agents), agents, answers, joined=present)


@pytest.fixture(scope="module")
def study():
    return released()


def test_a_page_shows_every_group_the_whole_and_differences(study):
    plan, release = study
    page = Reader(render(Source(release=release, plan=plan)))
    assert not page.open
    assert not [each for each in page.loads if not each.startswith("data:image/png")]
    words = " ".join(page.texts)
    for said in (
        "which group a person is in is not protected",
        "Bonferroni",
        "As one group",
        "How many hours?",
        "400 or more",
    ):
        assert said in words
    assert "ER" in words
    assert "עזרה ראשונה" in words
    whole = release.total("hours")
    assert whole.written(whole.readings(0.95)[0])[0] in words
    assert (
        len(page.images) == 1 + 1 + 3 + 6
    )  # hours and its differences, three options, four proportions with mean and top


def test_a_plan_of_groups_has_a_page_too(study):
    plan, _ = study
    words = " ".join(Reader(render(Source(plan=plan))).texts)
    assert "A plan for 1,600 people in 4 groups" in words
    assert "All groups together, planned" in words


def test_a_group_without_results_is_named_with_the_reason_and_there_is_no_whole():
    _, release = released(joined=lambda groups: groups != "ICU")
    words = " ".join(Reader(render(Source(release=release))).texts)
    assert 'Nothing was published of "ICU": nobody in this group' in words
    assert 'Withheld: "hours" has no whole: of group "ICU" it was not published' in words
    assert "Differences: hours" in words


def test_a_result_that_is_mostly_noise_is_said_to_say_nothing_wherever_it_is_shown():
    groups = np.array(["ward"] * 400 + ["lab"] * 20 + ["night"] * 20, dtype=object)
    agents = optin.PrivacyConstrained(np.where(groups == "ward", 2.0, 0.02), groups=groups)
    offer = optin.plan(agents, bounds=(0, 80), sd=9).announce(agents)
    release = optin.release(offer, agents, np.full(440, 40.0))
    said = 'In "lab", "night": “value” says nothing. ± 4.5 is the most that is of use'
    assert said in " ".join(repr(release).split())
    page = " ".join(Reader(render(Source(release=release))).texts)
    assert said in page
    assert 'In "ward"' not in page


def test_of_more_pairs_than_anyone_would_read_those_that_differ_are_listed():
    """Answers are 20 and 40 by turns, so that means are equal and noise is a twentieth of what intervals allow for."""
    groups, turns = np.repeat([f"g{at:02}" for at in range(12)], 200), np.tile([20.0, 40.0], 1200)
    agents = optin.PrivacyConstrained(np.full(2400, 3.0), groups=groups)
    offer = optin.plan(agents, bounds=(0, 80), sd=9).announce(agents)
    for more, apart in ((0.0, 0), (30.0, 11)):
        release = optin.release(offer, agents, turns + more * (groups == "g03"))
        words = " ".join(Reader(render(Source(release=release))).texts)
        assert f"Of 66 pairs {apart} have an interval that leaves out 0" in words
        assert words.count(" less ") == apart


def test_where_few_answers_alone_say_nothing_no_noise_is_blamed():
    groups = np.array(["ward"] * 400 + ["lab"] * 12, dtype=object)
    for limit, noiseless in ((np.inf, True), (50.0, False)):
        agents = optin.PrivacyConstrained(np.full(412, limit), groups=groups)
        offer = optin.plan(agents, bounds=(0, 80), sd=9).announce(agents)
        release = optin.release(offer, agents, np.full(412, 40.0), allow_no_noise=noiseless)
        (said,) = release.mostly_noise
        assert said.startswith('In "lab": “value” says nothing. ± 4.5 is the most that is of use')
        assert said.endswith("so few answers are further off than that, even without noise.")


def test_a_report_is_written_from_the_file_of_a_release(study, tmp_path):
    plan, release = study
    (tmp_path / "release.json").write_text(release.to_json())
    (tmp_path / "plan.json").write_text(plan.to_json())
    out = write_report(tmp_path / "release.json", tmp_path / "page.html", plan=tmp_path / "plan.json")
    assert "Differences: hours" in out.read_text()


def drawn(draw):
    import matplotlib.figure

    ax = matplotlib.figure.Figure(figsize=(4.8, 3)).subplots()
    return ax, draw(ax)


def test_a_picture_has_a_row_for_each_group_and_one_for_the_whole(study):
    _, release = study
    ax, words = drawn(lambda ax: by_group(ax, release.groups, "hours", total=release.total("hours")))
    labels = [label.get_text() for label in ax.get_yticklabels()]
    assert labels[1:] == ["ER", "ICU", "group 4", "all together"]
    assert "All together" in words
    assert '"ICU"' in words
    ax, words = drawn(lambda ax: figures.by_group(ax, release.groups, "shift", answer="night"))
    assert ax.get_xlabel() == "people (%)"
    with pytest.raises(BadInput, match='no answer "noon"'):
        drawn(lambda ax: by_group(ax, release.groups, "shift", answer="noon"))


def test_a_picture_of_differences_fills_those_that_leave_out_0():
    rng = np.random.default_rng(2)
    groups = np.repeat(["a", "b", "c"], 400)
    agents = optin.PrivacyConstrained(np.full(1200, 30.0), groups=groups)
    offer = optin.plan(agents, [optin.Number("x", bounds=(0, 1))]).announce(agents)
    values = np.where(groups == "c", 0.9, 0.2) + rng.uniform(-0.1, 0.1, 1200)
    found = optin.release(offer, agents, values).differences("x")
    ax, words = drawn(lambda ax: differences(ax, found))
    dots = [line for line in ax.get_lines() if line.get_marker() == "o"]
    filled = [line.get_markerfacecolor() == line.get_markeredgecolor() for line in dots]
    assert filled == [not low <= 0 <= high for *_, low, high in found]
    assert filled == [False, True, True]
    assert "Bonferroni" in words


def test_more_groups_than_a_picture_has_rows_are_listed_and_not_drawn():
    names = tuple(f"ward {k:02}" for k in range(MOST_ROWS + 1))
    _, release = released(names=names, count=41 * 60)
    with pytest.raises(BadInput, match="41 rows are too many"):
        drawn(lambda ax: by_group(ax, release.groups, "hours"))
    words = " ".join(Reader(render(Source(release=release))).texts)
    assert "41 rows are too many for a picture" in words
    assert "ward 40" in words
    assert "820 pairs are not listed here" in words
    assert rows_height(3) < rows_height(10)


def test_an_estimate_beyond_what_answers_can_be_does_not_squash_the_picture():
    beyond, usual = Reading("yes", -31.26, 0.0, 1.0, proportion=True), Reading("yes", 0.3, 0.25, 0.35, proportion=True)
    ax = Figure().subplots()
    _axes(ax, figures.LIGHT, [beyond, usual], "people (%)")
    assert ax.get_xlim() == pytest.approx((-4, 104))
    assert _placed(beyond, "o") == (0.0, "<")
    assert _placed(replace(beyond, estimate=3.35), "o") == (1.0, ">")
    assert _placed(usual, "o") == (0.3, "o")


def test_long_names_that_begin_alike_are_told_apart():
    names = [f"{'a department with a long name ' * 3}/ {shift}" for shift in ("early", "late", "night")]
    assert len({shown_group(name) for name in names}) == 3
    assert all(len(shown_group(name)) <= 42 for name in [*names, "\n" * 100])


def test_pairs_too_long_for_a_picture_have_the_numbers_of_the_table_beside_it():
    """With two columns of groups thirteen of 28 rows read alike but for a number that stood nowhere else."""
    names = [f"{school} / {sex}" for school in ("8th grade or less", "some high school") for sex in ("female", "male")]
    _, release = released(names=(*names, "college / female", "college / male"))
    found = release.differences("hours")
    ax, _ = drawn(lambda ax: differences(ax, found))
    labels = [label.get_text() for label in ax.get_yticklabels()]
    assert [label.split(".")[0] for label in labels] == [str(place) for place in range(1, 16)]
    words = Reader(render(Source(release=release))).texts
    assert any(each.startswith("15. ") and "some high school / female" in each for each in words)
    assert not pairs_are_numbered(released(names=("ER", "ICU", "lab"))[1].differences("hours"))
