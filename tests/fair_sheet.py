"""Fair's survey of 6,366 marriages (statsmodels) as a sheet of seven questions, with limits and some answers left out."""

import csv
from pathlib import Path

import numpy as np

from optin.cli.made_people import make_people

RATINGS = ("very poor", "poor", "fair", "good", "very good")
FAITHS = ("not", "mildly", "fairly", "strongly")
JOBS = ("student", "farming", "white-collar", "teacher", "managerial", "professional")
SKIPPED = 0.05
NAMES = ("rating", "age", "years", "children", "faith", "job", "affair")
KINDS = ("scale", "histogram", "number", "number", "scale", "choice", "yes-no")
SHEET = f"""\
title = "Marriage and affairs"
purpose = "To see what a published survey says under limits"
asked_by = "A magazine"

[[question]]
name = "rating"
kind = "scale"
text = "How do you rate your marriage?"
options = {list(RATINGS)}

[[question]]
name = "age"
kind = "histogram"
text = "How old are you?"
unit = "years"
edges = [17, 25, 30, 35, 45]

[[question]]
name = "years"
kind = "number"
text = "For how many years have you been married?"
unit = "years"
bounds = [0, 25]
sd = 7

[[question]]
name = "children"
kind = "number"
text = "How many children do you have?"
unit = "children"
bounds = [0, 6]

[[question]]
name = "faith"
column = "religious"
kind = "scale"
text = "How religious are you?"
options = {list(FAITHS)}

[[question]]
name = "job"
kind = "choice"
text = "What do you do for a living?"
options = {list(JOBS)}

[[question]]
name = "affair"
kind = "yes-no"
text = "Did you have an affair?"
"""


def fair_answers():
    """Return the answers to every question by the name of its column, complete."""
    from statsmodels.datasets import fair

    data = fair.load_pandas().data
    return {
        "rating": [RATINGS[int(each) - 1] for each in data["rate_marriage"]],
        "age": [f"{each:g}" for each in data["age"]],
        "years": [f"{each:g}" for each in data["yrs_married"]],
        "children": [f"{each:g}" for each in data["children"]],
        "religious": [FAITHS[int(each) - 1] for each in data["religious"]],
        "job": [JOBS[int(each) - 1] for each in data["occupation"]],
        "affair": ["yes" if each > 0 else "no" for each in data["affairs"]],
    }


def write_fair(folder, count=None, seed=11):
    """Write sheet.toml and people.csv; return what stands there, by column, with "" where an answer was left out."""
    Path(folder, "sheet.toml").write_text(SHEET)
    answers = {name: column[:count] for name, column in fair_answers().items()}
    rng, many = np.random.default_rng(seed), len(answers["age"])
    made = make_people(many, rng)
    columns = {"id": made.ids, "limit": [f"{limit:.4f}" for limit in made.limits]}
    for name, column in answers.items():
        gone = ~made.joined | (rng.random(many) < SKIPPED)
        columns[name] = ["" if skipped else answer for answer, skipped in zip(column, gone, strict=True)]
    columns["joined"] = ["yes" if joined else "no" for joined in made.joined]
    with open(Path(folder, "people.csv"), "w", newline="") as file:
        csv.writer(file).writerows([list(columns), *zip(*columns.values(), strict=True)])
    return columns
