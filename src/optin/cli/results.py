"""What a release says on a terminal and to scripts: one number in full, or a table of all that a sheet asked."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from optin.cli import screen
from optin.cli.group_tables import show_groups
from optin.wording.groups import in_tens
from optin.wording.numbers import ends, meaningful, plain

if TYPE_CHECKING:
    from optin.questions import Question
    from optin.questions.kinds import QuestionResult
    from optin.releasing import Interval, Release

HEADER = ("question", "answer", "estimate", "95 % interval", "people", "gap")
MEANINGS = (
    "people: how many answered; gap: how far apart answers of cautious and open people may lie on average before the error"
    " from that alone is as large as the ±"
)


def show_release(title: str, drawn: Release, counted: int | None) -> None:
    """Print what was published, who joined and who is charged."""
    if drawn.grouped:
        show_groups(title, drawn, [_joined(drawn, counted), _charged(drawn)])
        return
    if drawn.sheet.one_number is not None:
        screen.rows(title, _number_rows(drawn, counted))
        return
    screen.rows(title, [_joined(drawn, counted), _charged(drawn)])
    screen.say()
    screen.columns("Results", HEADER, _result_lines(drawn), texts=2)
    screen.say(MEANINGS)
    if drawn.dropped:
        screen.say()
        screen.rows("Not published, and charged to nobody", list(drawn.dropped.items()))


def summary(drawn: Release) -> dict[str, Any]:
    """Return what was published for scripts: one number by the names it always had, a sheet as a list of questions."""
    common = {
        "id": drawn.id,
        "joined_people": drawn.joined_people,
        "people": drawn.announcement.people,
        "charged": drawn.charged,
        "ledger_number": drawn.ledger_number,
        "ledger_head": drawn.ledger_head,
        "fingerprint": drawn.fingerprint,
    }
    if drawn.grouped:
        return common | {"groups": [{"group": name} | _group_summary(each) for name, each in drawn.groups.items()]}
    return (_number_summary(drawn) if drawn.sheet.one_number is not None else _sheet_summary(drawn)) | common


def _group_summary(drawn: Release) -> dict[str, Any]:
    """Return what was published of a group; who joined is counted in tens, and so are those who answered."""
    told = _sheet_summary(drawn)
    questions = [each | {"people": in_tens(each["people"])} for each in told["questions"]]
    return {"joined_people": in_tens(drawn.joined_people), "questions": questions}


def _number_summary(drawn: Release) -> dict[str, Any]:
    return {
        "estimate": drawn.estimate,
        "standard_error": drawn.standard_error,
        "noise_interval_95": list(drawn.noise_interval(0.95)),
        "total_interval_95": list(drawn.total_interval(0.95)),
        "breakdown_gap": drawn.breakdown_gap,
        "bias_bound": drawn.bias_bound,
    }


def _sheet_summary(drawn: Release) -> dict[str, Any]:
    results, dropped = drawn.results, drawn.dropped
    questions = zip(drawn.sheet, drawn.question_people, strict=True)
    return {
        "questions": [
            {"name": question.name, "kind": question.kind, "people": people}
            | (
                {"dropped": dropped[question.name]}
                if question.name in dropped
                else {"breakdown_gap": results[question.name].breakdown_gap, **results[question.name].statement()}
            )
            for question, people in questions
        ]
    }


def _result_lines(drawn: Release) -> list[tuple[str, ...]]:
    results = drawn.results
    return [
        line
        for question in drawn.sheet
        if question.name in results
        for line in _lines(question, results[question.name])
    ]


def _lines(question: Question, result: QuestionResult) -> list[tuple[str, ...]]:
    """Write the figures of one question; its name, people and gap stand beside the first."""
    lines: list[tuple[str, ...]] = []
    for at, each in enumerate(result.readings(0.95)):
        name, people, gap = (
            ("", "", "") if at else (question.name, f"{result.counted.people:,}", _gap(question, result))
        )
        estimate, interval = each.written(question.unit)[0], each.written()[1]
        lines.append((name, each.answer, estimate, interval, people, gap))
    return lines


def _gap(question: Question, result: QuestionResult) -> str:
    """Write the breakdown gap (E22), which no average can reach where it is wider than the range of answers."""
    if question.max_gap > 0:
        return "allowed for"
    if result.breakdown_gap > question.width:
        return "any"
    return question.gap_words(result.breakdown_gap)


def _joined(drawn: Release, counted: int | None) -> tuple[str, str]:
    return "joined", f"{drawn.joined_people:,} of {drawn.announcement.people:,} people{_idle(drawn, counted)}"


def _charged(drawn: Release) -> tuple[str, str]:
    if not drawn.charged:
        return "charged", "nobody: no ledger stands behind this draw; publish it only if you know what that means"
    what = "" if len(drawn.sheet) == 1 else ", for what they answered"
    who = f"all {drawn.joined_people:,} who joined" if drawn.joined_people > 1 else "the one who joined"
    if drawn.withheld:
        who = "all who joined in groups that are published"
    return "charged", f"{who}{what}, as act {drawn.ledger_number} of the ledger"


def _number_rows(drawn: Release, counted: int | None) -> list[tuple[str, str]]:
    from optin.wording.numbers import counted_between, plus_minus

    error, counted_values = drawn.standard_error, f"of values {counted_between(drawn.announcement.bounds)}"
    lines = [
        ("estimate", f"{meaningful(drawn.estimate, error)}: the mean {counted_values}"),
        ("standard error", plain(error) + _declared_words(drawn)),
        ("95 % for the noise", f"{_ends(drawn.noise_interval(0.95), error)}: the weighted mean of these people"),
        ("95 % in total", f"{_ends(drawn.total_interval(0.95), error)}: the mean of people like these"),
        ("half of it", f"{plus_minus(drawn.half_width(0.95))}, before it is cut at the bounds"),
        (_covering(drawn), drawn.assumption("optin plan --max-gap")),
        _joined(drawn, counted),
    ]
    return [*lines, _charged(drawn)]


def _declared_words(drawn: Release) -> str:
    """Say why a ± is no multiple of the standard error: one follows from the sd that was declared, the other from what came."""
    result = drawn.only
    if result.half_width(0.95) == result.declared_half_width(0.95):
        return ""
    declared = plain(math.sqrt(result.data_variance))
    return f", for the sd that was declared ({declared}); the interval in total uses what was released"


def _covering(drawn: Release) -> str:
    """Name the line that says what the interval leaves out, or that it does not, as that line says."""
    from optin.planning.cautions import DUST

    if drawn.announcement.max_gap > 0:
        return "which allows for"
    return "which leaves out" if drawn.tilt >= DUST else "which holds"


def _idle(drawn: Release, counted: int | None) -> str:
    """Tell those who count from those who joined and have nothing to give."""
    if counted is None or counted == drawn.joined_people:
        return ""
    return f"; {counted:,} of them count, {drawn.joined_people - counted:,} have nothing to give"


def _ends(interval: Interval, error: float) -> str:
    return " to ".join(ends(interval, error))
