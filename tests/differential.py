"""Random small campaigns, each with whatever can be odd in it, run the same way on every engine.

`campaign(seed)` draws a table and the options of every step; `outcome(case, folder, engine)` runs plan, announce, explain,
decline, release and verify on one engine and returns what must be the same everywhere: numbers of the plan, exact
integers of the announcement, of the release and of the ledger, or the step that failed, the class of the failure and its
message. Draws are never compared, with one exception: where nobody set a limit nothing is drawn and the sum itself is out.

Messages are compared word for word except for the place: an array names an index, a file a line (Parquet: a row) and an
engine the id, so `placeless` takes the place away, and nothing else.
"""

import csv
import json
import math
import random
import re
from dataclasses import dataclass, field
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
from changing import numbers_of
from cli_steps import optin as optin_command
from ledger_steps import spent

import optin
from optin import LinearBenefit
from optin.campaign import Quorum, answer
from optin.campaign import announce as announce_accountably
from optin.campaign import plan as plan_accountably
from optin.campaign import release as release_accountably
from optin.cli.people_files import located
from optin.errors import OptinError
from optin.ledger import Ledger, Terms
from optin.releasing.drawing import measure
from optin.tables import read_table

__all__ = ["Case", "campaign", "outcome", "written"]

BAD_NUMBERS = ["", " ", "nan", "NaN", "-1", "-0.5", "-inf", "abc", "1,5", "1_000", "0x10", "1d", "1f", "true", "--1",
               "1e301", "-1e301", "1e400", "½", "\uff11", "1 000", "NULL", "None", "#N/A", ".",
               "e5", "+", "infinite"]  # fmt: skip
GOOD_DRESS = [str, lambda text: f" {text}", lambda text: f"{text}  ", lambda text: f"\t{text}", lambda text: f"+{text}"]
INFINITE = ["inf", "Inf", "INF", "infinity", "+inf", "Infinity"]
ANSWERS = {True: ["true", "yes", "1", "Y", " t ", "TRUE"], False: ["false", "no", "0", "N", "f", " False"]}
ODD_NAMES = ["notes", "Value", "LIMITS", "a b", "select", "", "person", "tau", "count", "grains", "joined_people"]
BAD_ANSWERS = ["", "maybe", "2", "ja", "1.0", "nan", "yes!"]
ODD_IDS = ["007", "7", "7.0", "1e3", "ann", "Ann", "ann ", "é", "e\u0301", "a,b", 'say "hi"', "nan", "inf", "NULL", "true",
           "x" * 80, "0", "-0", "😀", "a'b", "%s", "2^5"]  # fmt: skip
NUMBER = re.compile(r"[+-]?[\d.]+(e[+-]?\d+)?|[+-]?(inf|infinity|nan)|", re.IGNORECASE)


@dataclass(frozen=True)
class Case:
    """One campaign: the table as text, how it is stored, and the options of every step."""

    seed: int
    model: str
    columns: dict
    parquet: bool
    typed: bool
    parts: int
    read: dict
    plan: dict
    announce: dict
    release: dict
    values: str
    joined: str | None
    ledger: bool
    rounds: int
    declined: tuple = ()
    quorum: dict = field(default_factory=dict)
    budget: dict = field(default_factory=dict)


def campaign(seed):
    """Draw one campaign; about half of them go through to the end."""
    rng = random.Random(seed)
    people = rng.choice([1, 3, 12, 12, 14, 20, 30])
    model = rng.choice(["limits", "limits", "limits", "budgets", "costs"])
    names = {"limits": ["limits"], "budgets": ["budgets", "costs"], "costs": ["costs"]}[model]
    ledger, bad = rng.random() < 0.6, rng.random() < 0.3
    columns = {"id": _ids(rng, people)}
    columns |= {name: _numbers(rng, people, finite=name == "costs") for name in names}
    declined = tuple(sorted({rng.choice(columns["id"]) for _ in range(rng.choice([0, 0, 1, 3])) if ledger}))
    columns |= _answers(rng, columns["id"], declined if rng.random() < 0.8 else ())
    totals = rng.choice([None, None, None, 3.0, "total"]) if ledger else None
    if totals == "total":
        columns["total"] = [_dressed(rng, rng.choice(["5", "1", "inf", "0.25", "0"])) for _ in range(people)]
    if bad:
        _spoil_some(rng, columns, names)
        columns = _other_names(rng, columns)
    if rng.random() < 0.1:
        columns[rng.choice(ODD_NAMES)] = list(columns[next(iter(columns))])
    return Case(
        seed=seed,
        model=model,
        columns=columns,
        parquet=rng.random() < 0.5,
        typed=rng.random() < 0.7,
        parts=rng.choice([1, 1, 1, 2, 3]),
        read={name: name for name in ("id", *names)},
        plan=_asked(rng, model),
        announce={"min_people": rng.choice([10, 1, 1, 0, 5])},
        release={"allow_no_noise": rng.random() < 0.5},
        values="value" if rng.random() < 0.97 else rng.choice(["valeu", names[0]]),
        joined=rng.choice([None, None, "joined", "joined", "joined", "joind" if bad else "joined"]),
        ledger=ledger,
        rounds=2 if ledger and rng.random() < 0.6 else 1,
        declined=declined,
        quorum={"people": rng.choice([1, 1, 1, 1, 8, 25]), "standard_error": rng.choice([math.inf, math.inf, 1.0])},
        budget={} if totals is None else {"allowances": totals, "raise_limits": rng.random() < 0.3},
    )


def _answers(rng, ids, declined):
    """Who joins, and what they give; the cells of the others hold anything at all."""
    said = [rng.random() < 0.85 and person not in declined for person in ids]
    values = _values(rng, len(ids))
    if rng.random() < 0.5:
        values = [
            cell if joins else rng.choice(["", "nan", cell, "n/a"]) for cell, joins in zip(values, said, strict=True)
        ]
    return {"joined": [rng.choice(ANSWERS[joins]) for joins in said], "value": values}


def _spoil_some(rng, columns, names):
    """Put cells that cannot be used into some columns."""
    kinds = dict.fromkeys((*names, "total"), (0.5, BAD_NUMBERS))
    kinds |= {"value": (0.25, ["", "nan", "abc", "-", "1,5"]), "joined": (0.2, BAD_ANSWERS)}
    for name, (chance, cells) in kinds.items():
        if name in columns and rng.random() < chance:
            _spoil(rng, columns[name], cells)


def _ids(rng, people):
    kind = rng.choice(["plain", "plain", "odd", "numbers", "random"])
    if kind == "odd":
        pool = [*ODD_IDS, *(f"p{at}" for at in range(people))]
        found = rng.sample(pool, people)
    elif kind == "numbers":
        found = [str(at) for at in rng.sample(range(1000), people)]
    else:
        found = [f"p{at:03}" for at in range(people)]
        if kind == "random":
            rng.shuffle(found)
    if rng.random() < 0.08:
        found[rng.randrange(people)] = rng.choice([found[0], found[-1], "", " "])
    return found


def _numbers(rng, people, *, finite):
    kind = rng.choice(
        ["spread", "spread", "spread", "few", "zeros", "infinite", "all zero", "all infinite", "alike", "wide"]
    )

    def draw():
        if kind == "all zero":
            return "0"
        if kind == "all infinite" or (kind in ("infinite", "zeros") and rng.random() < 0.3):
            return ("0" if kind == "zeros" else "inf") if not finite else rng.choice(["0", "1"])
        if kind == "alike":
            return "0.5"
        if kind == "few":
            return rng.choice(["0.1", "0.5", "1", "3", "0.30000000000000004"])
        if kind == "wide":
            return rng.choice(
                [
                    "1e-9",
                    "2.3283064365386963e-10",
                    "1e-12",
                    "5e-324",
                    "1024",
                    "4096",
                    "1e5",
                    "1e140",
                    "1e300",
                    "0",
                    "1",
                    "2",
                ]
            )
        return repr(rng.lognormvariate(-0.5, 1.0))

    return [_dressed(rng, draw()) for _ in range(people)]


def _dressed(rng, text):
    if text == "inf":
        text = rng.choice(INFINITE)
        return text if rng.random() < 0.8 else f" {text} "
    return rng.choice(GOOD_DRESS)(text) if rng.random() < 0.1 else text


def _values(rng, people):
    odd = ["inf", "-inf", "1e308", "-1e308", "-0.0", "5e-324", "1e400", "0.5", "1", "0", "7", "-7", "+0.25", " 0.125 "]
    return [rng.choice(odd) if rng.random() < 0.15 else repr(rng.uniform(-0.2, 1.2)) for _ in range(people)]


def _spoil(rng, cells, bad):
    for _ in range(rng.choice([1, 1, 2, 4])):
        cells[rng.randrange(len(cells))] = rng.choice(bad)


def _other_names(rng, columns):
    """Now and then a column has another name, or no rows are left."""
    if rng.random() < 0.15:
        old = rng.choice(list(columns))
        new = rng.choice([old.upper(), f" {old}", f"{old}2", "x", "naïve", "a b"])
        columns = {new if name == old else name: cells for name, cells in columns.items()}
    return {name: [] for name in columns} if rng.random() < 0.05 else columns


def _asked(rng, model):
    asked = {"bounds": rng.choice([(0, 1), (0, 1), (-0.5, 1.5), (0.1, 0.7)])}
    if rng.random() < 0.5:
        asked["data_sd"] = rng.choice([0.25, 0.01, 0.0])
    if rng.random() < 0.15:
        asked["eta"] = rng.choice([0.5, 3.0, 50.0])
    if rng.random() < 0.15 and model != "costs":
        asked["max_gap"] = rng.choice([0.05, 0.5])
    if rng.random() < 0.4 and model == "costs":
        asked["slack"] = rng.choice([0.1, 1.0])
    return asked


def written(case, folder):
    """Write the table as the case says and return its path."""
    rows = list(zip(*case.columns.values(), strict=True))
    names = list(case.columns)
    share = -(-len(rows) // case.parts)
    folder.mkdir(parents=True)
    for part in range(case.parts):
        some = rows[part * share : (part + 1) * share]
        place = folder / f"{part}.{'parquet' if case.parquet else 'csv'}"
        if case.parquet:
            pq.write_table(_arrow(case, names, some), place)
        else:
            with place.open("w", newline="", encoding="utf-8") as file:
                csv.writer(file, lineterminator="\n").writerows([names, *some])
    return str(folder if case.parts > 1 else place)


def _arrow(case, names, rows):
    columns = list(zip(*rows, strict=True)) if rows else [()] * len(names)
    return pa.table([_typed(case, name, cells) for name, cells in zip(names, columns, strict=True)], names=names)


def _typed(case, name, cells):
    """Store numbers as numbers and answers as booleans where every cell of the column is one (and where the case says so)."""
    plain = [cell.strip() for cell in cells]
    if not case.typed or not any(plain):
        return pa.array(list(cells), pa.string())
    if name == "id" and case.seed % 5:  # ids stored as anything else are refused, and now and then that is tried
        digits = all(cell == str(int(cell)) if cell.isdecimal() else False for cell in cells)
        return pa.array([int(cell) for cell in cells], pa.int64()) if digits else pa.array(list(cells), pa.string())
    if all(NUMBER.fullmatch(cell) for cell in plain):
        return pa.array([float(cell) if cell else None for cell in plain], pa.float64())
    if all(cell in ("true", "false", "") for cell in plain):
        return pa.array([cell == "true" if cell else None for cell in plain], pa.bool_())
    return pa.array(list(cells), pa.string())


def outcome(case, folder, engine, *, planned=None):
    """Run the campaign on one engine: a list of (step, what came out); the last may be a failure."""
    run = _Run(case, Path(folder) / "people", Path(folder) / f"{engine}.sqlite", engine, planned or [])
    try:
        run.through()
    except OptinError as failure:
        run.found.append((run.step, type(failure).__name__, placeless(str(failure), run.source, case)))
    finally:
        if run.ledger is not None:
            run.ledger.close()
    return run


class _Run:
    """One campaign on one engine; plans are made here and those of the first engine are announced by all."""

    def __init__(self, case, people, ledger, engine, planned):
        self.case, self.engine, self.found, self.step = case, engine, [], "read"
        self.source = str(people if case.parts > 1 else next(iter(sorted(people.iterdir()))))
        self.table = self.ledger = None
        self.place, self.planned, self.plans = ledger, planned, []

    def through(self):
        case = self.case
        agents = self._read()
        self.found.append(("read", len(agents)))
        if case.ledger:
            self.ledger = Ledger.open(str(self.place))
        for number in range(1, case.rounds + 1):
            self._round(agents, number)

    def _read(self):
        benefit = {"benefit": LinearBenefit(base=1.0, slope=1.0)} if self.case.model == "costs" else {}
        return optin.read(self.source, **self.case.read, **benefit, engine=self.engine)

    def _round(self, agents, number):
        case = self.case
        self.step = f"plan {number}"
        accountably = {} if self.ledger is None else {"ledger": self.ledger, **self._budget()}
        plan = (plan_accountably if accountably else optin.plan)(agents, **case.plan, **accountably)
        self.plans.append(plan)
        self.found.append((self.step, _numbers_of(plan)))
        if len(self.planned) >= len(self.plans):
            plan = self.planned[len(self.plans) - 1]  # to the last bit the same cap, for the same integers
        self.step = f"announce {number}"
        if self.ledger is None:
            offer = plan.announce(agents, campaign="c", round=number, **case.announce)
        else:
            offer = announce_accountably(plan, agents, campaign="c", round=number, **accountably, **case.announce)
        self.found.append((self.step, numbers_of(offer)))
        if self.ledger is not None:
            self.found.append((f"promises {number}", dict(sorted(self.ledger.promises(_terms(offer)).items()))))
            if case.declined:
                self.step = f"decline {number}"
                answer(offer, dict.fromkeys(case.declined, False), ledger=self.ledger)
        self._release(offer, agents, number)

    def _release(self, offer, agents, number):
        case = self.case
        self.step = f"release {number}"
        values, joined = self._columns()
        with located(self.table):
            if self.ledger is None:
                measured = measure(offer, agents, values, joined=joined, **case.release)
                self.found.append(
                    (self.step, measured.decision.came, measured.those, measured.those.questions[0].cells[0])
                )
                return
            quorum = Quorum(**case.quorum)
            drawn = release_accountably(
                offer, agents, values, ledger=self.ledger, joined=joined, quorum=quorum, **case.release
            )
        exact = drawn.sealed.noisy_total if offer.noiseless else None
        self.found.append(
            (
                self.step,
                drawn.joined_people,
                drawn.sealed.total_grains,
                drawn.sealed.total_squared_grains,
                drawn.tilt,
                exact,
            )
        )
        self.found.append((f"charges {number}", spent(self.ledger)))
        self.step = f"again {number}"
        again = release_accountably(
            offer, agents, values, ledger=self.ledger, joined=joined, quorum=quorum, **case.release
        )
        assert again == drawn
        self.step = f"verify {number}"
        self.found.append((self.step, self.ledger.verify().ok))

    def _budget(self):
        """What people allow over all releases: a number, or the name of a column, which memory reads."""
        budget = dict(self.case.budget)
        if budget.get("allowances") == "total" and self.engine == "memory":
            budget["allowances"] = read_table(self.source, ["total"]).numbers("total")
        return budget

    def _columns(self):
        """Values and answers: read into arrays for people in memory, named for people in an engine."""
        case = self.case
        if self.engine != "memory":
            return case.values, case.joined
        names = [case.values] if case.joined is None else [case.values, case.joined]
        self.table = read_table(self.source, names)
        numbers = self.table.values(case.values)
        return numbers, None if case.joined is None else self.table.truths(case.joined)


def _terms(offer):
    return Terms(offer.campaign, offer.round, offer.fingerprint)


def _numbers_of(plan):
    return {
        name: getattr(plan, name)
        for name in ("people", "cap", "eta", "variance", "promised_variance", "tilt", "pooled_people")
    }


def placeless(message, source, case):
    """Take the place away: an index of arrays, the line (or row) of a file, the id of an engine; nothing else.

    Of several rows that cannot be used, files name the first by line and engines by id, so the order of lines goes too.
    """
    known = "|".join(sorted((re.escape(cell) for cell in {*case.columns.get("id", ())} - {""}), key=len, reverse=True))
    person = rf"(line \d+|row \d+|id ({known or '-'}))(?![^\s:;,.])"
    message = re.sub(r"PEOPLE/\d\.(csv|parquet)", "PEOPLE", message.replace(source, "PEOPLE"))
    message = re.sub(rf"PEOPLE {person}(:| and PEOPLE {person}:)?", "SOMEONE", message)
    message = re.sub(rf"(the )?(person|index|row|number|the person at index) \d+\b|\b{person}", "SOMEONE", message)
    message = re.sub(
        r"SOMEONE:? (SOMEONE|(the|this) person)", "SOMEONE", message.replace("the person at SOMEONE", "SOMEONE")
    )
    message = re.sub(r"^SOMEONE (?=has )", "PEOPLE ", message)  # line 1 is the header
    message = re.sub(r"^( *)PEOPLE:", r"\1SOMEONE", message, flags=re.M)  # whom no engine can name has no id
    if "rows cannot be used" not in message:
        return message
    return "\n".join(sorted(re.sub(r" \(\d+ more\)$", "", line.strip()) for line in message.split("\n")))


def by_command(case, folder, engine):
    """Run the campaign by the command line on one engine: for each command its exit code and what it wrote or said."""
    folder = Path(folder)
    people, here = folder / "people", folder / engine
    source = str(people if case.parts > 1 else next(iter(sorted(people.iterdir()))))
    here.mkdir()
    found = []

    def run(name, *arguments):
        left = optin_command(name, *arguments)
        if left.code:
            said = left.err.removeprefix("optin: ").strip().replace(str(here), "HERE")
            found.append((name, left.code, placeless(said, source, case)))
        return left.code == 0

    for name, arguments in _commands(case, source, here, engine):
        if not run(name, *arguments):
            return found
        if name != "ledger":
            beside = Path(arguments[-1]).with_suffix(".sealed.json")  # exact numbers, where they are not public
            written_here = json.loads((beside if beside.exists() else Path(arguments[-1])).read_text())
            sealed = written_here.get("sealed", {})
            layers = (
                written_here.get("designs", [{}])[0],
                written_here.get("public", {}),
                sealed.get("designs", [sealed])[0],
            )
            questions = [each for layer in layers for each in layer.get("questions", ())]
            flat = {key: value for layer in (*layers, *questions) for key, value in layer.items()}
            found.append((name, {key: flat[key] for key in WRITTEN[name]}))
    return [*found, ("charges", _charges(here / "ledger.sqlite"))] if case.ledger else found


WRITTEN = {
    "plan": ("people", "cap", "variances", "pooled_people"),
    "announce": ("people", "cap", "total_grains", "total_squared_grains"),
    "release": ("joined_people", "tilt"),
}


def _commands(case, source, here, engine):
    columns = [word for name in case.read for word in (f"--{name}", name)]
    worth = ["--benefit-base", "1", "--benefit-slope", "1"] if case.model == "costs" else []
    where, asked = ["--engine", engine], dict(case.plan)
    lo, hi = asked.pop("bounds")
    options = [word for name, number in asked.items() for word in (f"--{OPTIONS.get(name, name)}", str(number))]
    ledger = ["--ledger", str(here / "ledger.sqlite")]
    plan, offer = str(here / "plan.json"), str(here / "offer.json")
    yield "plan", [source, *columns, *worth, f"--bounds={lo}", str(hi), *options, *where, "-o", plan]
    few = ["--campaign", "c", "--min-people", str(case.announce["min_people"])]
    yield "announce", [plan, source, *ledger, *few, *where, "-o", offer]
    more = ["--joined", case.joined] if case.joined else []
    more += ["--quorum", str(case.quorum["people"])]
    more += ["--allow-no-noise"] if case.release["allow_no_noise"] else []
    book = ledger if case.ledger else ["--no-ledger"]
    yield (
        "release",
        [offer, source, "--values", case.values, *columns, *more, *book, *where, "-o", str(here / "release.json")],
    )
    if case.ledger:
        yield "ledger", ["verify", *ledger]


OPTIONS = {"data_sd": "sd", "max_gap": "max-gap"}


def _charges(path):
    with Ledger.open(str(path)) as ledger:
        return spent(ledger)
