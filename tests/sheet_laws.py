"""A sheet of all seven kinds with a known truth, and answers to it as people give them, through the production path."""

import math

import numpy as np

import optin
from optin.baselines.answer_laws import laws_of

MOODS = ("very bad", "bad", "fair", "good", "very good")
REASONS = ("pay", "hours", "boss", "way", "other")
SHEET = optin.Sheet(
    [
        optin.Number("hours", bounds=(0, 80), sd=20),
        optin.YesNo("break"),
        optin.Choice("shift", options=("early", "late", "night")),
        optin.Scale("mood", options=MOODS),
        optin.Score("score", items=9, each=(0, 3)),
        optin.Histogram("age", edges=(16, 30, 45, 60, 80)),
        optin.MultipleChoice("reasons", options=REASONS, at_most=2),
    ]
)
DECLARED = laws_of(SHEET)
"""Answers that vary as much as was declared: then every planned variance is the true one."""
SKEWED_TRUTH = {
    "hours": {"mean": 12.0, "sd": 8.0},
    "break": (0.03, 0.97),
    "shift": (0.02, 0.2, 0.78),
    "mood": (0.02, 0.08, 0.3, 0.4, 0.2),
    "score": {"mean": 5.0, "sd": 6.0},
    "age": (0.3, 0.35, 0.25, 0.1),
    "reasons": (0.02, 0.6, 0.5, 0.05, 0.3),
}
SKEWED = laws_of(SHEET, SKEWED_TRUTH)
"""Rare options and skewed numbers: what intervals must stand."""


def uneven_limits(people, seed=1, middle=1.0):
    return np.random.default_rng(seed).lognormal(math.log(middle), 0.9, people)


def offered(people, *, middle=1.0, sheet=SHEET):
    """Announce a sheet to people of uneven limits."""
    agents = optin.PrivacyConstrained(uneven_limits(people, middle=middle))
    return optin.plan(agents, sheet).announce(agents, campaign="c", min_people=0), agents


def skipping(people, part, seed=2):
    """Who skips which question, once and for all: a row a question, so that weights stay the same."""
    return np.random.default_rng(seed).random((len(SHEET), people)) < part


def columns(laws, people, rng, skips=None):
    """Draw everyone's answers as a table would hold them."""
    found = {}
    for place, (question, law) in enumerate(zip(SHEET, laws, strict=True)):
        skipped = np.zeros(people, dtype=bool) if skips is None else skips[place]
        found[question.name] = _answers(question, law.codes(people, rng), skipped)
    return found


def _answers(question, codes, skipped):
    match question.kind:
        case "number" | "score":
            return np.where(skipped, np.nan, codes)
        case "histogram":
            middles = (np.array(question.edges)[1:] + np.array(question.edges)[:-1]) / 2
            return np.where(skipped, np.nan, middles[codes.astype(int)])
        case "yes-no":
            return np.where(skipped, np.nan, 1.0 - codes)
    words = [_words(question, int(code)) for code in codes]
    return [None if gone else each for gone, each in zip(skipped, words, strict=True)]


def _words(question, code):
    if question.kind != "multiple-choice":
        return question.options[code]
    return ";".join(option for place, option in enumerate(question.options) if code >> place & 1)
