"""What a sheet adds up, in whole numbers of Python and nothing else: an oracle for arrays and engines."""

import math
from bisect import bisect_right
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

import optin
from optin.kernel.sharing import SHARES

L = 2**20
ODD_LIMITS = [0.0, math.inf, 1e299, 2.0**-33, 2.0**-32, 5e-324, 1.0, 1024.0, 0.1, 0.3, math.nextafter(0.3, 0), 4096.0]
TEXTS = ("early", "late", "né; a", "it's", 'say "x"', "back\\slash", "50 %", "_", "two  words", "ä\u0301", "0", "NULL")


def kinds(rng):
    """One question of each kind, of sizes drawn at random."""
    options = [str(text) for text in rng.permutation(TEXTS)]
    plain = [text for text in options if ";" not in text]
    at_most = int(rng.integers(2, 5))
    return [
        optin.Number("hours", bounds=(-0.3, 1.7)),
        optin.YesNo("skipped"),
        optin.Choice("pet", options=options[:2]),
        optin.Choice("shift", options=options[: int(rng.integers(3, len(options)))]),
        optin.Scale("mood", options=("bad", "fair", "good")),
        optin.Score("total", items=3, each=(0, 3)),
        optin.Score("items", items=3, each=(0.1, 0.7)),
        optin.Histogram("age", edges=(16, 25.5, 35, 45)),
        optin.MultipleChoice("reasons", options=plain[: int(rng.integers(at_most, len(plain)))], at_most=at_most),
    ]


def random_sheet(rng, many):
    """A sheet of so many questions of different kinds, in any order."""
    found = kinds(rng)
    return optin.Sheet([found[at] for at in rng.permutation(len(found))[:many]])


def random_shares(rng, many):
    """Shares that add up to 2^20; some are as small as they may be."""
    edges = np.sort(rng.choice(np.arange(1, SHARES), many - 1, replace=False))
    if many > 2 and rng.random() < 0.5:
        edges[:2] = (1, 2)
        edges[2:] = np.maximum(edges[2:], np.arange(3, many))
    return tuple(int(each) for each in np.diff([0, *edges, SHARES]))


def random_limits(rng, people):
    """Limits with every edge there is."""
    found = np.concatenate([ODD_LIMITS, rng.lognormal(-1.0, 1.5, people)])[:people]
    return rng.permutation(found)


def random_answers(rng, question, people):
    """Answers as people give them, and None where one is missing: one column a question, or one for each item."""
    missing = rng.random(people) < 0.15
    columns = {}
    for name in columns_of(question):
        found = _drawn(rng, question, people)
        columns[name] = [None if gone else each for gone, each in zip(missing, found, strict=True)]
        missing = rng.random(people) < 0.05
    return columns


def columns_of(question):
    return [f"items_{k}" for k in (1, 2, 3)] if question.name == "items" else [question.name]


def _drawn(rng, question, people):
    match question.kind:
        case "yes-no":
            return rng.choice([True, False], people).tolist()
        case "choice" | "scale":
            return [question.options[at] for at in rng.integers(0, len(question.options), people)]
        case "multiple-choice":
            sizes = rng.integers(0, question.at_most + 1, people)
            return ["; ".join(rng.permutation(question.options)[:size]) for size in sizes]
    edges = [-math.inf, math.inf, -0.0, 5e-324, 16.0, 25.5, 35.0, 45.0, 1e300, 0.1, 0.3, 1.5]
    return np.concatenate([edges, rng.normal(0.7, 1.0, people)])[rng.integers(0, people, people)].tolist()


@dataclass(frozen=True)
class Asked:
    """A sheet, its shares, and everyone's limit and answers."""

    sheet: optin.Sheet
    shares: tuple
    cap: float
    limits: np.ndarray
    columns: dict
    joined: np.ndarray | None

    @property
    def capped(self):
        most = min(self.cap, 1024.0)
        if math.isinf(self.cap):
            return [2**42 if math.isinf(limit) else 0 for limit in self.limits.tolist()]
        return [math.floor(Fraction(min(limit, most)) * 2**32) for limit in self.limits.tolist()]

    @property
    def those(self):
        return [True] * len(self.limits) if self.joined is None else self.joined.tolist()

    def answers(self, question):
        """The answers to one question; items added up."""
        columns = [self.columns[name] for name in columns_of(question)]
        if len(columns) == 1:
            return columns[0]
        low, high = question.each
        return [
            None if None in row else sum((min(max(each, low), high) for each in row[1:]), min(max(row[0], low), high))
            for row in zip(*columns, strict=True)
        ]

    def question_sums(self, k, *, everyone=False):
        """People, those promised anything, grains, squares, and cells."""
        question, levels = self.sheet.questions[k], []
        parts = []
        for capped, joined, answer in zip(self.capped, self.those, self.answers(question), strict=True):
            if everyone or (joined and answer is not None):
                parts.append(capped * self.shares[k] >> 20)
                levels.append(() if everyone else levels_of(question, answer))
        cells = tuple(sum(map(int.__mul__, parts, column)) for column in zip(*levels, strict=True))
        return len(parts), sum(part > 0 for part in parts), sum(parts), sum(part * part for part in parts), cells

    def promised(self, *, everyone=False):
        """How many people, and how many of them are promised a grain in all."""
        promises = [
            sum(capped * share >> 20 for share in self.shares)
            for capped, joined in zip(self.capped, self.those, strict=True)
            if joined or everyone
        ]
        return len(promises), sum(promise > 0 for promise in promises)

    def above(self, k, bar):
        question = self.sheet.questions[k]
        found = [
            capped * self.shares[k] >> 20
            for capped, joined, answer in zip(self.capped, self.those, self.answers(question), strict=True)
            if joined and answer is not None and capped * self.shares[k] >> 20 > bar
        ]
        return len(found), sum(found)

    def marks(self):
        """The bits of answered questions."""
        columns = [self.answers(question) for question in self.sheet]
        return [
            sum(1 << k for k, answer in enumerate(row) if answer is not None) if joined else 0
            for joined, *row in zip(self.those, *columns, strict=True)
        ]


def levels_of(question, answer):
    """The integer levels of one answer in all cells, from the words of E13, E21, E23, E24 and E25."""
    match question.kind:
        case "number" | "score":
            low, high = question.bounds
            level = math.floor((min(max(answer, low), high) - low) / (high - low) * 2.0**20 + 0.5)
            return level, level * (L - level) >> 20
        case "yes-no":
            return (L if answer else 0,)
        case "histogram":
            place, many = bisect_right(question.edges[1:-1], answer), len(question.edges) - 1
        case "multiple-choice":
            chosen = [part.strip() for part in answer.split(";")]
            return tuple(
                L // min(2 * question.at_most, len(question.options)) * (o in chosen) for o in question.options
            )
        case _:
            place, many = question.options.index(answer), len(question.options)
    return (L * (place == 0),) if many == 2 else tuple(L // 2 * (place == at) for at in range(many))


def random_case(seed, *, people=120, many=None):
    """Everything drawn from one seed."""
    rng = np.random.default_rng(seed)
    sheet = random_sheet(rng, many or int(rng.integers(2, 10)))
    columns = {}
    for question in sheet:
        columns |= random_answers(rng, question, people)
    return Asked(
        sheet=sheet,
        shares=random_shares(rng, len(sheet)),
        cap=float(rng.choice([0.3, 1.2345678901234567, 7e-10, 1023.9999999, 1024.0, math.inf])),
        limits=random_limits(rng, people),
        columns=columns,
        joined=None if rng.random() < 0.3 else rng.random(people) < 0.8,
    )


def assert_same(case, everyone, those, weighed, above):
    """Compare what was added up with whole numbers of Python."""
    assert (everyone.people, everyone.promised) == case.promised(everyone=True)
    assert (those.people, those.promised) == (weighed.people, weighed.promised) == case.promised()
    for k in range(len(case.shares)):
        assert _told(everyone, k) == case.question_sums(k, everyone=True)[:4]
        expected = case.question_sums(k)
        assert _told(those, k) == _told(weighed, k) == expected[:4]
        assert weighed.questions[k].cells == (expected[4] or (0,) * len(case.sheet.questions[k].cells))
        assert above[k] == weighed.questions[k].above == case.above(k, bar_of(case, k))
    assert those.grains == sum(question.grains for question in those.questions)


def _told(found, k):
    question = found.questions[k]
    return question.people, question.promised, question.grains, question.squares


def bar_of(case, k):
    """The mean part of those who answered."""
    people, _, grains, _, _ = case.question_sums(k)
    return grains // max(people, 1)
