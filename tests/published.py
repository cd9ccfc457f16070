"""Ten small campaigns, each with all that the public reads of it and the exact numbers that none of it may tell."""

import io
import zipfile
from dataclasses import dataclass, field

import numpy as np

import optin
from optin import campaign
from optin.announcement import Announcement
from optin.campaign.history import announced_body, release_of
from optin.council.annex import annex
from optin.council.bundle import Bundle
from optin.council.consent import consent_text
from optin.council.gathering import bundle_of
from optin.council.keeping import FILES
from optin.council.promise import promise_text
from optin.database.connection import read
from optin.ledger import Ledger, Log
from optin.releasing import Release
from optin.report.writing import Source, render
from optin.transparency.keys import SigningKey

NUMBER = (optin.Number("hours", bounds=(0, 80), sd=9),)
ALIKE = (
    *NUMBER,
    optin.YesNo("break"),
    optin.Choice("shift", options=("early", "late", "night")),
    optin.Histogram("age", edges=(16, 25, 35, 45, 80)),
)
UNEVEN = (
    optin.Number("hours", bounds=(0, 80), sd=9, importance=3, max_gap=4.0),
    optin.YesNo("break", importance=2),
    optin.MultipleChoice("why", options=("pay", "pace", "people"), at_most=2),
)


@dataclass
class Campaign:
    """What one campaign leaves: texts that everyone reads, by their names, and what they were made of."""

    offer: Announcement
    release: Release
    plan: optin.Plan | None = None
    agents: optin.PrivacyConstrained | None = None
    texts: dict = field(default_factory=dict)


def limits_of(rng, people, *, ladder=False):
    """Limits from a ladder, or from nowhere in particular."""
    steps = np.array([0.05, 0.1, 0.2, 0.35, 0.5, 1.0, 2.0, 5.0])
    return rng.choice(steps, people) if ladder else rng.lognormal(0.3, 0.8, people)


def crowd(limits, groups=None):
    """People with these limits, in groups of some sizes or not; of more people than there are limits the last are left out."""
    named = None if groups is None else np.repeat(list(groups), list(groups.values()))[: len(limits)]
    return optin.PrivacyConstrained(limits, ids=[f"p{k}" for k in range(len(limits))], groups=named)


def answers_to(sheet, people, rng, *, skipping=0.0):
    """Answers to every kind that is asked here; who skips a question leaves its cell empty."""
    kinds = {
        "hours": lambda: float(rng.uniform(10, 60)),
        "break": lambda: bool(rng.random() < 0.3),
        "shift": lambda: str(rng.choice(["early", "late", "night"])),
        "age": lambda: float(rng.uniform(16, 80)),
        "why": lambda: ["pay"] if rng.random() < 0.5 else [],
    }
    found = {
        each.name: [None if rng.random() < skipping else kinds[each.name]() for _ in range(people)] for each in sheet
    }
    return np.array(found["hours"], dtype=float) if len(sheet) == 1 else found


def read_of(offer, release, *, drawn):
    """Write all that follows from an offer and its result; the report only where its pictures are to be drawn."""
    return ({"report.html": render(Source(release=release))} if drawn else {}) | {
        "announcement.json": offer.to_json(),
        "release.json": release.to_json(),
        "announcement, printed": str(offer),
        "release, printed": str(release),
        "results.csv": release.to_pandas().to_csv(),
        "annex.html": annex(offer, FILES),
        "consent.json": consent_text(offer, FILES),
        "promise.json": promise_text(offer, release),
    }


def in_memory(seed, people, sheet, *, declining=0.0, skipping=0.0, drawn=False, groups=None, ladder=False):
    """A campaign without a ledger."""
    rng = np.random.default_rng(seed)
    agents = crowd(limits_of(rng, people, ladder=ladder), groups)
    plan = optin.plan(agents, sheet, **({} if groups is None else {"merge_small": True}))
    offer = plan.announce(agents)
    answers, joined = answers_to(sheet, people, rng, skipping=skipping), rng.random(people) >= declining
    release = optin.release(offer, agents, answers, joined=joined)
    return Campaign(offer, release, plan, agents, read_of(offer, release, drawn=drawn))


def unpacked(packed):
    """List the files of a bundle with their texts."""
    with zipfile.ZipFile(io.BytesIO(packed)) as archive:
        return {f"bundle: {name}": archive.read(name).decode() for name in archive.namelist()}


def in_a_ledger(folder, seed, people, sheet, *, declining=0.0, skipping=0.0, drawn=False, groups=None, ladder=False):
    """Two rounds of a campaign with a ledger and a signed log, the second with some more people; the second is told."""
    rng = np.random.default_rng(seed)
    limits = limits_of(rng, people, ladder=ladder)
    with Ledger.open(str(folder / f"{seed}.sqlite")) as ledger:
        for number, asked in ((1, people - 20), (2, people)):
            agents = crowd(limits[:asked] / 2, groups)
            totals = 2 * agents.limits
            plan = campaign.plan(agents, sheet, ledger=ledger, allowances=totals)
            named = {"campaign": f"c{seed}", "round": number}
            offer = campaign.announce(plan, agents, ledger=ledger, allowances=totals, **named)
            answers = answers_to(sheet, asked, rng, skipping=skipping)
            joined = rng.random(asked) >= declining
            release = campaign.release(offer, agents, answers, ledger=ledger, joined=joined)
        Log(ledger).sign(SigningKey.new("example.org/survey"))
        bundle: Bundle = bundle_of(ledger, f"c{seed}", 2, FILES)
        return Campaign(
            offer, release, plan, agents, read_of(offer, release, drawn=drawn) | unpacked(bundle.to_bytes())
        )


def opened_in(service, name):
    """What the service's own ledger holds of a round, exact numbers included."""
    ledger = service.ledger
    body = read(ledger.engine, lambda link: announced_body(link, name, 1))
    return Announcement.from_json(body), release_of(ledger, name, 1)
