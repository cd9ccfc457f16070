"""One suite for all engines: from one announcement the same integer sum, to the last digit, wherever the rows are kept."""

import math
import stat

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from changing import changed_plan, numbers_of

import optin
from optin import LinearBenefit, PrivacyConstrained, QuasiLinear, campaign
from optin.errors import BadInput, PromiseBroken
from optin.grains.arrays import HIGHEST_EPSILON
from optin.releasing.drawing import measure

N = 2_000
RNG = np.random.default_rng(3)
ODD = [0.0, math.inf, 1e299, 2.0**-33, 2.0**-32, 5e-324, 1.0, 1024.0, 0.1, 0.3, math.nextafter(0.3, 0), 4096.0]
LIMITS = np.concatenate([RNG.lognormal(-1.0, 1.0, N - len(ODD)), ODD])
TIES = (np.arange(500) + 0.5) / 2**20  # values half way between two levels
VALUES = np.concatenate([[math.inf, -math.inf, -0.0, 5e-324, 1.0, 7.0, -7.0], TIES, RNG.normal(0.5, 0.5, N - 507)])
JOINED = RNG.random(N) < 0.8
COSTS = np.concatenate([[0.0, 1e-140, 1e140], RNG.lognormal(0.0, 2.0, N - 3)])
IDS = [f"p{number:05}" for number in range(N)]
CAPS = [0.3, 0.1, 1.2345678901234567, math.nextafter(0.3, 1), 2.0**-32, 7e-10, 1023.9999999, HIGHEST_EPSILON, math.inf]
BOUNDS = [(0.0, 1.0), (-0.3, 1.7), (0.1, 0.7), (-1e300, 1e300)]


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """People in parts, one of them empty."""
    folder = tmp_path_factory.mktemp("people")
    columns = {"id": IDS, "limit": LIMITS, "cost": COSTS, "value": VALUES, "joined": JOINED}
    table = pa.table(columns | {"some": np.where(JOINED, VALUES, np.nan)})
    for part in range(3):
        pq.write_table(table.slice(part * 700, 700), folder / f"{part}.parquet")
    pq.write_table(table.slice(0, 0), folder / "empty.parquet")
    return folder


ENGINES = ["duckdb", pytest.param("spark-local", marks=pytest.mark.xdist_group("spark"))]


@pytest.fixture(scope="module", params=ENGINES)
def engine(request):
    return request.param


@pytest.fixture(scope="module")
def kept(files, engine):
    return optin.read(str(files), limits="limit", engine=engine)


@pytest.fixture(scope="module")
def offer(kept):
    return optin.plan(kept, bounds=(0, 1)).announce(kept)


def offered(plan, agents, cap, bounds):
    """An announcement with any cap at all."""
    eta = cap if math.isinf(cap) else plan.eta
    drawn = changed_plan(plan, cap=cap, eta=eta, bounds=bounds, data_variance=0.0)
    return drawn.announce(agents, campaign="c", min_people=1)


def totals(announcement, agents, values, joined=None):
    """Everything a release adds up, the private sum included."""
    measured = measure(announcement, agents, values, joined=joined, allow_no_noise=True)
    return measured.decision.came, measured.those, measured.those.questions[0].cells[0]


def cases(engine):
    """Every cap and every bounds at least once, for those who joined and for all; fewer on Spark, where queries are slow."""
    found = [(cap, BOUNDS[at % len(BOUNDS)], (True, False)) for at, cap in enumerate(CAPS)]
    return found if engine == "duckdb" else [(*found[2][:2], [True]), (*found[6][:2], [False])]


def test_announcement_and_integer_sums_are_those_of_numpy_to_the_last_digit(kept, engine):
    held = PrivacyConstrained(LIMITS, ids=IDS)
    plan = optin.plan(held, bounds=(0, 1))
    for cap, bounds, asked in cases(engine):
        offer = offered(plan, held, cap, bounds)
        assert numbers_of(offered(plan, kept, cap, bounds)) == numbers_of(offer)
        for some in asked:
            found = totals(offer, kept, "some", "joined") if some else totals(offer, kept, "value")
            assert found == totals(offer, held, VALUES, JOINED if some else None)


def test_people_who_weigh_costs_are_promised_the_same_grains(files, engine):
    benefit = LinearBenefit(base=1.0, slope=1.0)
    held = QuasiLinear(COSTS, benefit=benefit, ids=IDS)
    kept = optin.read(str(files), costs="cost", benefit=benefit, engine=engine)
    offer = optin.plan(held, bounds=(0, 1)).announce(held, campaign="c")
    assert optin.plan(held, bounds=(0, 1)).announce(kept, campaign="c") == offer
    assert totals(offer, kept, "value") == totals(offer, held, VALUES)


def test_grains_written_by_the_engine_are_those_of_numpy_and_private(kept, tmp_path):
    held = PrivacyConstrained(LIMITS, ids=IDS)
    offer = optin.plan(held, bounds=(0, 1)).announce(held)
    path = tmp_path / "grains.parquet"
    campaign.write_grains(offer, kept, path, joined="joined")
    found = pq.read_table(path).sort_by("id")
    assert found["id"].to_pylist() == IDS
    assert found["grains"].to_pylist() == (offer.grains(held) * JOINED).tolist()
    for place in [path, *path.rglob("*")]:
        assert stat.S_IMODE(place.stat().st_mode) == (0o700 if place.is_dir() else 0o600)
    assert [place.name for place in tmp_path.iterdir()] == ["grains.parquet"]
    campaign.write_grains(offer, held, tmp_path / "held.parquet", joined=JOINED)
    assert pq.read_table(tmp_path / "held.parquet")["grains"].to_pylist() == found["grains"].to_pylist()


def test_a_release_takes_two_queries_and_shows_no_sum(kept, offer):
    sent = kept.rows.session.sent
    measured = measure(offer, kept, "value")
    assert kept.rows.session.sent == sent + 2, "one decides, and one adds up"
    assert str(measured.those.questions[0].cells[0]) not in repr(measured) + repr(measured.those) + str(kept)
    release = optin.release(offer, kept, "value")
    assert release.grains is None
    assert release.estimate in release.noise_interval(0.95)


def test_a_missing_value_is_refused_by_id_and_says_nothing_else(kept, offer, files):
    first = IDS[int(np.argmin(JOINED))]
    with pytest.raises(BadInput) as caught:
        optin.release(offer, kept, "some")
    assert str(caught.value) == (
        f"{files} id {first} joined but their value is missing or not a number: give it, with digits and a point (1234.5), or"
        " mark them as not joined"
    )


def test_another_table_and_arrays_are_refused(kept, offer, files, engine):
    with pytest.raises(BadInput, match="give values as the name of a column"):
        optin.release(offer, kept, VALUES)
    with pytest.raises(BadInput, match="give joined as the name of a column"):
        optin.release(offer, kept, "value", joined=JOINED)
    with pytest.raises(BadInput, match="no column valeu"):
        optin.release(offer, kept, "valeu")
    with pytest.raises(PromiseBroken, match="people were announced"):
        optin.release(offer, optin.read(str(files / "0.parquet"), limits="limit", engine=engine), "value")
