"""Faults of sheets that were found by attacking them; each stays mended."""

import contextlib
import math
import sqlite3
from dataclasses import replace

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import optin
from optin import campaign
from optin.errors import BadInput, PromiseBroken
from optin.ledger import Ledger
from optin.releasing import Release
from optin.releasing.useless import expected_half

PEOPLE = 40
IDS = [f"p{at}" for at in range(PEOPLE)]
YES = [True, False] * (PEOPLE // 2)
SHIFTS = ["a", "b"] * (PEOPLE // 2)


def sheet():
    return optin.Sheet([optin.YesNo("break"), optin.Choice("shift", options=("a", "b", "c"))])


def offered(ids=IDS, asked=None):
    agents = optin.PrivacyConstrained([1.0] * len(ids), ids=ids)
    return optin.plan(agents, asked or sheet()).announce(agents, campaign="c"), agents


def test_a_column_called_column_names_is_no_list_of_columns():
    offer, agents = offered()
    secrets = [f"secret{at}" for at in range(PEOPLE)]
    table = pd.DataFrame({"break": YES, "shift": SHIFTS, "column_names": secrets})
    assert optin.release(offer, agents, table).joined_people == PEOPLE
    with pytest.raises(BadInput) as refused:
        optin.release(offer, agents, table.drop(columns="break"))
    assert "secret" not in str(refused.value)


@pytest.mark.parametrize("person", ["columns", "column_names", "to_arrow", "dictionary_encode", "cat", "codes"])
def test_whatever_people_are_called_their_answers_are_read(person):
    ids = [person, *IDS[1:]]
    offer, agents = offered(ids)
    answers = {"break": pd.Series(YES, index=ids), "shift": pd.Series(SHIFTS, index=ids)}
    assert optin.release(offer, agents, answers).joined_people == PEOPLE
    alone, agents = offered(ids, [optin.Number("hours", bounds=(0, 1))])
    assert optin.release(alone, agents, pd.Series(np.linspace(0, 1, PEOPLE), index=ids)).joined_people == PEOPLE


def test_text_that_is_no_text_is_refused_by_place_and_not_carried_by_the_error():
    texts = [b"a"] * (PEOPLE - 1) + [b"secret\xff"]
    ends = np.cumsum([0, *map(len, texts)]).astype(np.int32)
    column = pa.StringArray.from_buffers(PEOPLE, pa.py_buffer(ends.tobytes()), pa.py_buffer(b"".join(texts)))
    offer, agents = offered()
    with pytest.raises(BadInput, match=r"shift\[39\] is none of the options") as refused:
        optin.release(offer, agents, {"break": YES, "shift": column})
    assert refused.value.__context__ is None


@pytest.mark.parametrize("option", ["a;b", ";", "a ", " a", "\ta"])
def test_options_that_a_text_of_several_cannot_tell_are_refused(option):
    with pytest.raises(BadInput):
        optin.MultipleChoice("reasons", options=("a", option, "c"), at_most=2)


@pytest.mark.parametrize("option", ["a\x00b", "a\nb", "\x1b[31mred", "a\ud800", "\x85a"])
def test_options_with_control_characters_are_refused(option):
    with pytest.raises(BadInput):
        optin.Choice("shift", options=("a", option, "c"))


@pytest.mark.parametrize("option", ["10\u00a0%", "\U0001f469\u200d\U0001f52c", "a;b", "a ", "e\u0301"])
def test_options_may_be_any_other_text(option):
    assert optin.Choice("shift", options=("a", option, "c")).coded(["a", option]).tolist() == [0.0, 1.0]


@pytest.mark.parametrize("answer", [{"a": True, "b": False}, [np.array(["a", "b"])], [["a"]], b"a", 1])
def test_what_is_no_selection_of_options_is_refused(answer):
    with pytest.raises(BadInput):
        optin.MultipleChoice("reasons", options=("a", "b", "c"), at_most=2).coded([answer])


def test_an_option_named_twice_is_counted_once():
    offer, agents = offered()
    shifts = optin.release(offer, agents, {"break": YES, "shift": SHIFTS})["shift"]
    assert shifts.share(("a", "a")) == shifts.share(("a",))
    assert shifts.share_interval(("a", "a")) == shifts.share_interval(("a",))


def test_a_release_asked_for_again_with_other_answers_says_what_was_charged_the_first_time(tmp_path):
    agents = optin.PrivacyConstrained([1.0, 3.0] * (PEOPLE // 2), ids=IDS)
    plan = optin.plan(agents, sheet())
    first = {"break": YES[:30] + [None] * 10, "shift": SHIFTS}
    other = {"break": YES, "shift": [None] * 20 + SHIFTS[20:]}
    with Ledger.open(f"sqlite:///{tmp_path}/ledger.sqlite") as book:
        offer = campaign.announce(plan, agents, ledger=book, campaign="c")
        drawn = campaign.release(offer, agents, first, ledger=book)
        again = campaign.release(offer, agents, other, ledger=book)
        assert again == drawn
        assert again.grains.tolist() == drawn.grains.tolist()
        campaign.write_grains(offer, agents, tmp_path / "grains", ledger=book, answers=first, release=drawn)
        with pytest.raises(PromiseBroken, match="not the answers"):
            campaign.write_grains(offer, agents, tmp_path / "others", ledger=book, answers=other, release=again)


def test_a_release_that_breaks_what_was_stated_of_its_questions_is_refused():
    offer, agents = offered()
    drawn = optin.release(offer, agents, {"break": [None] * 35 + YES[:5], "shift": SHIFTS})
    assert Release.from_json(drawn.to_json()) == drawn
    dropped, kept = drawn.answered
    few = replace(kept, people=3, sums=type(kept.sums)(3, 3))
    for forged in (
        (replace(dropped, people=PEOPLE + 1), kept),
        (replace(dropped, dropped="error"), kept),
        (dropped, few),
    ):
        with pytest.raises(BadInput, match="contradicts its announcement"):
            Release.from_json(replace(drawn, answered=forged).to_json())


@pytest.mark.parametrize(
    ("questions", "edited"),
    [(1, "grains = grains / 2"), (1, "grains = grains * 2"), (2, "capped = 0"), (2, "capped = 2 * capped")],
)
def test_nothing_is_released_over_holds_that_were_edited(tmp_path, questions, edited):
    asked = optin.Sheet([optin.YesNo("break"), optin.YesNo("late")][:questions])
    agents = optin.PrivacyConstrained([1.0] * PEOPLE, ids=IDS)
    path = tmp_path / "ledger.sqlite"
    with Ledger.open(f"sqlite:///{path}") as book:
        offer = campaign.announce(optin.plan(agents, asked), agents, ledger=book, campaign="c")
    edit(path, f"UPDATE promises SET {edited} WHERE position = 3")
    with Ledger.open(f"sqlite:///{path}") as book:
        with pytest.raises(PromiseBroken, match="ledger verify"):
            campaign.release(offer, agents, {"break": YES, "late": YES}, ledger=book)
        assert len(book.acts()) == 2


def test_a_receipt_of_rows_that_were_changed_is_refused_in_words(tmp_path):
    offer, agents = offered()
    path = tmp_path / "ledger.sqlite"
    with Ledger.open(f"sqlite:///{path}") as book:
        offer = campaign.announce(optin.plan(agents, sheet()), agents, ledger=book, campaign="c")
        campaign.release(offer, agents, {"break": YES, "shift": SHIFTS}, ledger=book)
    edit(path, "UPDATE promises SET capped = NULL WHERE position = 3")
    with Ledger.open(f"sqlite:///{path}") as book, pytest.raises(PromiseBroken, match="ledger verify"):
        book.receipt("p3")


def test_bins_that_would_have_one_name_are_refused():
    with pytest.raises(BadInput, match="15 digits"):
        optin.Histogram("age", edges=(1.0, 1.0000000000000002, 1.0000000000000004, 2.0))


@pytest.mark.parametrize("most", [1, 5, True])
def test_a_largest_error_that_no_proportion_can_pass_is_refused(most):
    with pytest.raises(BadInput, match="is ± 5 points"):
        optin.YesNo("break", max_error=most)
    assert optin.Score("score", items=9, each=(0, 3), max_error=5).max_error == 5


def test_words_that_act_on_a_screen_are_refused():
    for wrong in ({"unit": "\x1b[2J"}, {"text": "\x1b]0;x\x07"}):
        with pytest.raises(BadInput, match="control characters"):
            optin.Number("hours", bounds=(0, 1), **wrong)
        with pytest.raises(BadInput, match="control characters"):
            optin.YesNo("break", **wrong)
    with pytest.raises(BadInput, match="control characters"):
        optin.Sheet([optin.YesNo("break")], title="\x9b31m")
    assert optin.Sheet([optin.YesNo("break", text="Two\n\tlines")], purpose="a\r\nb").purpose == "a\r\nb"


def edit(path, statement):
    """Change rows as whoever owns the file can: its triggers are taken away for a moment."""
    with contextlib.closing(sqlite3.connect(path)) as link:
        triggers = link.execute("SELECT name, sql FROM sqlite_master WHERE type = 'trigger'").fetchall()
        for name, _ in triggers:
            link.execute(f'DROP TRIGGER "{name}"')
        link.execute(statement)
        for _, sql in triggers:
            link.execute(sql)
        link.commit()


def test_the_breakdown_gap_of_proportions_is_that_of_intervals_before_they_are_cut():
    people = optin.PrivacyConstrained([0.2, 2.0] * 100)
    offer = optin.plan(people, [optin.YesNo("a"), optin.MultipleChoice("b", options=("x", "y"), at_most=2)]).announce(
        people
    )
    drawn = optin.release(offer, people, {"a": [True] * 200, "b": ["x;y"] * 200})
    for name in ("a", "b"):
        result = drawn[name]
        assert result.counted.tilt > 0
        assert result.breakdown_gap * result.counted.tilt > 0.5 * result.standard_error(result.options[0])


def test_a_question_for_which_nobody_has_a_grain_is_named():
    people = optin.PrivacyConstrained([1e-9] * 20)
    with pytest.raises(optin.Infeasible, match='for question "a"'):
        optin.plan(people, [optin.YesNo("a"), optin.Number("n", bounds=(0, 1), sd=0.001)]).announce(people)


def test_plan_size_deal_release_and_simulation_name_the_questions_there_are():
    offer, agents = offered()
    plan, drawn = optin.plan(agents, sheet()), optin.release(offer, agents, {"break": YES, "shift": SHIFTS})
    sized = optin.size(sheet(), people=PEOPLE, limits=1.0)
    for asked in (plan, offer, drawn, sized, optin.explain(offer, limit=1.0), sheet()):
        with pytest.raises(KeyError, match='there is no question "brake"; the questions are: break, shift'):
            asked["brake"]


def test_counts_may_be_whole_numbers_of_numpy_and_nothing_but_whole_numbers():
    assert optin.Score("s", items=np.int64(9), each=(0, 3)) == optin.Score("s", items=9, each=(0, 3))
    options = ("a", "b", "c")
    several = optin.MultipleChoice("m", options=options, at_most=np.int8(2))
    assert several == optin.MultipleChoice("m", options=options, at_most=2)
    assert type(several.at_most) is int
    for odd in (2.0, True, "2", None):
        with pytest.raises(BadInput):
            optin.Score("s", items=odd, each=(0, 3))
        with pytest.raises(BadInput):
            optin.MultipleChoice("m", options=options, at_most=odd)


def test_the_top_of_a_scale_is_a_whole_number_of_options():
    people = optin.PrivacyConstrained([5.0] * 20)
    mood = optin.Scale("mood", options=("bad", "fair", "good"))
    drawn = optin.release(optin.plan(people, mood).announce(people), people, {"mood": ["good"] * 20})
    assert drawn["mood"].top(np.int64(2)) == drawn["mood"].top(2)
    for odd in (1.5, "2", 0, 3):
        with pytest.raises(BadInput, match="whole number of 1 to 2"):
            drawn["mood"].top(odd)


def test_a_question_that_max_error_keeps_from_being_published_even_if_all_answer_is_warned_of():
    people = optin.PrivacyConstrained([0.5] * 100)
    asked = [optin.YesNo("a", max_error=0.05), optin.Number("n", bounds=(0, 10), unit="kg", max_error=9)]
    plan = optin.plan(people, asked)
    offer = plan.announce(people)
    for said in (plan.warnings(), offer.warnings()):
        (vain,) = (words for words in said if "in vain" in words)
        assert vain.startswith('Question "a": Its 95 % interval is ± ')
        assert "published up to ± 5 points only" in vain
    drawn = optin.release(offer, people, {"a": [True] * 100, "n": [5.0] * 100})
    assert drawn.answered[0].dropped
    assert not drawn.answered[1].dropped
    assert not any("in vain" in words for words in drawn.warnings())


@pytest.mark.parametrize("twin", ["e\u0301", "\u00e9\u200b", "\u2066\u00e9"])
def test_options_and_names_that_look_alike_are_given_twice(twin):
    with pytest.raises(BadInput, match="is given twice"):
        optin.Choice("a", options=("\u00e9", "b", twin))
    if twin.isprintable():
        with pytest.raises(BadInput, match="are called"):
            optin.Sheet([optin.YesNo("\u00e9"), optin.YesNo(twin)])


def test_an_option_that_nobody_sees_is_empty():
    with pytest.raises(BadInput, match="not empty"):
        optin.Choice("a", options=("b", "\u200b"))


def test_options_of_numpy_are_kept_as_plain_text():
    assert [type(option) for option in optin.Choice("a", options=np.array(["b", "c"])).options] == [str, str]


@pytest.mark.parametrize(
    "column", [True, None, "y" * PEOPLE, b"\x01" * PEOPLE, dict.fromkeys(IDS, "yes"), {"yes", "no"}]
)
def test_what_is_no_column_is_refused_as_one(column):
    for question in (optin.YesNo("a"), optin.Choice("a", options=("yes", "no"))):
        for others in ([], [optin.YesNo("b")]):
            announcement, agents = offered(asked=optin.Sheet([question, *others]))
            with pytest.raises(BadInput, match="must hold answers, one for each announced person"):
                optin.release(announcement, agents, {"a": column, "b": YES})


def test_text_is_no_largest_error():
    with pytest.raises(BadInput, match="max_error must be a positive number"):
        optin.Number("h", bounds=(0, 80), max_error="2")


def test_where_everybody_skips_everything_nothing_is_released_and_the_words_say_why():
    announcement, agents = offered()
    with pytest.raises(PromiseBroken, match="nobody joined who answered anything"):
        optin.release(announcement, agents, {"break": [None] * PEOPLE, "shift": [None] * PEOPLE})


@pytest.mark.parametrize("people", [12, 40, 83, 180, 900])
@pytest.mark.parametrize("grouped", [False, True])
def test_what_is_published_keeps_its_largest_error_as_the_public_is_told_of_it(people, grouped):
    """Numbers under seal are told rounded up, so ± too: what counts is the ± that everyone reads, offered and released."""
    limits = np.random.default_rng(people).choice([0.7, 1.1, 2.0], people)
    agents = optin.PrivacyConstrained(limits, **({"groups": ["all"] * people} if grouped else {}))
    asked = [
        optin.YesNo("a", max_gap=0.1),
        optin.Number("n", bounds=(0, 10), sd=2),
        optin.Choice("c", options=tuple("xyz")),
    ]
    plan = optin.plan(agents, asked)
    planned = (plan.groups["all"] if grouped else plan).questions
    given = {"a": [True, False] * (people // 2) + [True] * (people % 2), "n": [5.0] * people, "c": ["x"] * people}
    for times in (0.999, 1.02, 1.1, 1.3, 1.6):
        most = [min(times * each.half_width(), 9.0 if each.name == "n" else 0.999) for each in planned]
        free = optin.YesNo("free")
        strict = [*(replace(question, max_error=each) for question, each in zip(asked, most, strict=True)), free]
        offer = optin.plan(agents, strict).announce(agents)
        release = optin.release(offer, agents, given | {"free": [True] * people})
        offered, found = (offer.groups["all"], release.groups["all"]) if grouped else (offer, release)
        for question in strict[:3]:
            kept = offered[question.name].half_width() <= question.max_error
            assert (question.name not in found.dropped) == kept
            if kept:
                assert expected_half(found, question) <= question.max_error


def test_what_is_read_off_a_result_is_refused_in_words_and_a_text_is_one_option():
    agents = optin.PrivacyConstrained([2.0] * PEOPLE)
    asked = [optin.Scale("mood", options=("bad", "ab", "a", "b")), optin.Histogram("age", edges=(0, 1, 2))]
    offer = optin.plan(agents, asked).announce(agents)
    release = optin.release(offer, agents, {"mood": ["ab"] * PEOPLE, "age": [0.5] * PEOPLE})
    mood, age = release["mood"], release["age"]
    assert mood.share("ab") == mood.proportions["ab"]
    assert mood.share_interval("ab") == mood.interval("ab")
    for wrong in (
        (1, 2),
        (1, 2, 3, math.nan),
        (1, 2, 3, math.inf),
        ("a", 1, 2, 3),
        {"bad": 1},
        3,
        "1234",
        (1, 2, 3, "4"),
    ):
        for read in (mood.average, mood.average_interval):
            with pytest.raises(BadInput, match="give a score, a number, for each of the 4 options"):
                read(wrong)
    assert mood.average_interval((2, 2, 2, 2)) == (2, 2)
    assert [type(end) for end in mood.mean_interval()] == [float, float]
    for part in ("0.5", None, [0.5], 0):
        with pytest.raises(BadInput, match="must lie between 0 and 1"):
            age.quantile(part)
    with pytest.raises(BadInput, match="have shape"):
        optin.release(offer, agents, {"mood": ["ab"] * PEOPLE, "age": np.ones((PEOPLE, 2))})
    with pytest.raises(BadInput, match="each must be two different numbers"):
        optin.Score("score", items=2, each=(3, 0))
