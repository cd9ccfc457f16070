"""Levels hide what one person has left, in an engine as in memory."""

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import optin
from optin import campaign
from optin.errors import BadInput, BudgetSpent, Infeasible
from optin.ledger import Ledger

LEVELS = [0.5, 0.1, 1.0, 0.25]
N = 60
RNG = np.random.default_rng(8)
LIMITS, TOTALS = RNG.choice(LEVELS, N), RNG.choice([0.05, 0.1, 0.3, 0.7, 1.5, np.inf], N)
IDS = [f"p{number:02}" for number in range(N)]
HELD = optin.PrivacyConstrained(LIMITS, ids=IDS)


def kept(folder, engine="duckdb"):
    pq.write_table(pa.table({"id": IDS, "limit": LIMITS, "total": TOTALS, "value": RNG.random(N)}), folder / "p.pq")
    return optin.read(str(folder / "p.pq"), limits="limit", engine=engine)


def limits_of(people):
    query = people.rows.table.select(id=people.rows.ids(), limit=people.expression).order_by("id")
    return people.rows.session.fetch(query, about="the people")["limit"].to_pylist()


ENGINES = ["duckdb", pytest.param("spark-local", marks=[pytest.mark.xdist_group("spark"), pytest.mark.slow])]


@pytest.mark.parametrize("engine", ENGINES)
def test_levels_hide_what_is_left_in_an_engine_as_in_memory(tmp_path, engine):
    people = kept(tmp_path, engine)
    with Ledger.open(str(tmp_path / "ledger.sqlite")) as ledger:
        new = campaign.within_allowance(people, ledger, allowances="total", levels=LEVELS)
        held = campaign.within_allowance(HELD, ledger, allowances=TOTALS, levels=LEVELS)
        assert limits_of(new) == held.limits.tolist()
        plan = campaign.plan(HELD, bounds=(0, 1), data_sd=0.01, ledger=ledger, allowances=TOTALS, levels=LEVELS)
        campaign.announce(plan, HELD, ledger=ledger, allowances=TOTALS, levels=LEVELS)
        left, held = (campaign.within_allowance(who, ledger, levels=LEVELS) for who in (people, HELD))
        assert limits_of(left) == held.limits.tolist()
        assert {*limits_of(left)} <= {0.0, *LEVELS}
        exact = campaign.within_allowance(HELD, ledger).limits
        assert np.any(exact != held.limits), "nothing was hidden, so nothing was tested"
        offers = [
            campaign.plan(who, bounds=(0, 1), ledger=ledger, levels=LEVELS).announce(lowered, campaign="c")
            for who, lowered in ((people, left), (HELD, held))
        ]
    assert offers[0].sealed.total_grains == offers[1].sealed.total_grains


def test_an_engine_announces_the_level_below_and_releases_it(tmp_path):
    people = kept(tmp_path)
    with Ledger.open(str(tmp_path / "ledger.sqlite")) as ledger:
        for name in ("first", "second"):
            plan = campaign.plan(people, bounds=(0, 1), data_sd=0.01, ledger=ledger, allowances="total", levels=LEVELS)
            offer = campaign.announce(
                plan, people, ledger=ledger, campaign=name, allowances="total", levels=LEVELS, min_people=1
            )
            promises = {*ledger.promises(optin.ledger.Terms(name, 1, offer.fingerprint)).values()}
            assert promises <= {0, *(int(min(level, offer.cap) * 2**32) for level in LEVELS)}
            campaign.release(offer, people, "value", ledger=ledger)
        assert ledger.verify().ok


@pytest.mark.parametrize("kind", ["memory", "duckdb"])
def test_less_left_than_the_lowest_level_is_not_nothing_left(tmp_path, kind):
    people = HELD if kind == "memory" else kept(tmp_path)
    asked, rest = (optin.PrivacyConstrained(np.full(N, most), ids=IDS) for most in (0.04, 0.05))
    with Ledger.open(str(tmp_path / "ledger.sqlite")) as ledger:
        campaign.announce(optin.plan(asked, bounds=(0, 1)), asked, ledger=ledger, allowances=0.05)
        with pytest.raises(Infeasible):
            campaign.plan(people, bounds=(0, 1), ledger=ledger, levels=LEVELS)
        campaign.announce(campaign.plan(rest, bounds=(0, 1), ledger=ledger), rest, ledger=ledger)
        with pytest.raises(BudgetSpent, match="nothing is left to plan"):
            campaign.plan(people, bounds=(0, 1), ledger=ledger, levels=LEVELS)


@pytest.mark.parametrize("kind", ["memory", "duckdb"])
def test_a_level_that_is_no_number_is_refused(tmp_path, kind):
    people = HELD if kind == "memory" else kept(tmp_path)
    with Ledger.open(str(tmp_path / "ledger.sqlite")) as ledger, pytest.raises(BadInput, match=r"levels\[1\]"):
        campaign.within_allowance(people, ledger, levels=[0.5, np.nan], allowances=0.2)
