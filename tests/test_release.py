"""E13, E14, E17: one number out, recomputable by anyone, with intervals that name their method."""

import dataclasses
import decimal
import io
import json
import math
from contextlib import redirect_stderr, redirect_stdout
from fractions import Fraction
from pathlib import Path

import numpy as np
import pandas
import pytest
import scipy.integrate
import scipy.special
import scipy.stats
from changing import changed_offer, part_with
from hypothesis import given, settings
from hypothesis import strategies as st
from trying import examples

import optin
from optin.announcement.sealed import Seal
from optin.errors import BadInput, OptinError, PromiseBroken
from optin.kernel.tails import log_normal_below, normal_laplace_quantile, sum_above
from optin.releasing import Release, noise

WORKED = [1.0, 4.0, 9.0, 9.0]


def announced(limits, *, bounds=(0.0, 1.0), **settings):
    agents = optin.PrivacyConstrained(limits)
    return optin.plan(agents, bounds=bounds, **settings).announce(agents, min_people=1), agents


def drawn(limits=WORKED, values=(0.0, 0.5, 1.0, 1.0), **settings):
    offer, agents = announced(limits, **settings)
    return optin.release(offer, agents, values)


@pytest.fixture
def still(monkeypatch):
    """Hold the noise at zero, to look at the exact sum that production keeps to itself."""
    monkeypatch.setattr(noise, "draw", lambda count=1: [0] * count)


@pytest.mark.usefixtures("still")
def test_without_its_noise_a_release_is_the_weighted_mean_of_clamped_values():
    offer, agents = announced(WORKED, bounds=(-1.0, 3.0), data_variance=4.0)
    release = optin.release(offer, agents, [-7.0, 0.0, 3.0, 1e300])
    grains = offer.grains(agents).tolist()
    exact = sum(Fraction(a, sum(grains)) * d for a, d in zip(grains, [-1, 0, 3, 3], strict=True))
    assert release.sealed.estimate == float(exact)
    assert abs(release.estimate - float(exact)) <= release.standard_error / 100


@settings(max_examples=examples(50))
@given(
    st.lists(
        st.tuples(st.floats(min_value=0.01, max_value=20.0), st.floats(min_value=-2.0, max_value=2.0), st.booleans()),
        min_size=2,
        max_size=30,
    ).filter(lambda people: any(p[2] for p in people))
)
def test_rounding_of_values_moves_the_mean_by_at_most_half_a_level(people):
    limits, values, joined = (np.array(column) for column in zip(*people, strict=True))
    offer, agents = announced(limits, bounds=(-1.0, 1.0))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(noise, "draw", lambda count=1: [0] * count)
        release = optin.release(offer, agents, values, joined=joined)
    grains = release.grains.tolist()
    exact = sum(Fraction(a, sum(grains)) * Fraction(d) for a, d in zip(grains, np.clip(values, -1, 1), strict=True))
    assert abs(Fraction(release.sealed.estimate) - exact) <= Fraction(2, 2**21) + Fraction(1, 2**50)
    assert release.sealed.rounding == 2 * 2.0**-21
    assert release.rounding == pytest.approx(2 * 2.0**-21 + release.standard_error / 100, rel=1e-12)
    assert abs(Fraction(release.estimate) - exact) <= Fraction(release.rounding) + Fraction(1, 2**50)


def test_an_estimate_beyond_the_bounds_is_published_as_it_is(monkeypatch):
    """Noise of ten scales takes the mean of these four two thirds of the range above it: clamping would hide that."""
    monkeypatch.setattr(noise, "draw", lambda count=1: [10 * 2**52] * count)
    found, cap = drawn(), drawn().announcement.cap
    assert found.sealed.estimate == pytest.approx((2 + 2 * cap + 10) / (5 + 2 * cap), rel=1e-5)
    assert found.estimate == pytest.approx(found.sealed.estimate, abs=found.standard_error / 100)
    assert found.estimate > 1.0


def test_the_noise_scale_is_the_range_over_the_sum_of_epsilons():
    found = drawn(bounds=(10.0, 30.0))
    exact = 20 / (5 + 2 * found.announcement.cap)
    assert found.sealed.noise_scale == pytest.approx(exact, rel=1e-9)
    assert exact <= found.noise_scale <= 1.1 * exact


def test_whoever_a_release_is_opened_to_recomputes_the_estimate_from_its_integers():
    release = drawn(bounds=(10.0, 30.0))
    record = json.loads(release.to_sealed_json())
    low, high = part_with(record["announcement"], "bounds")["bounds"]
    (sealed,) = record["sealed"]["questions"]
    share = Fraction(int(sealed["noisy_totals"][0]), 2**20 * int(sealed["total_grains"]))
    assert release.sealed.estimate == float(Fraction(low) + Fraction(high - low) * share)
    assert record["results"][0]["estimate"] == release.estimate


def test_two_releases_differ_since_nothing_takes_a_seed():
    offer, agents = announced(WORKED)
    assert len({optin.release(offer, agents, [0.5] * 4).sealed.noisy_total for _ in range(20)}) == 20


def told(record):
    """Everything a release says, by name, whatever part it stands in."""
    return {
        **record["public"],
        **record["public"]["questions"][0],
        **record["sealed"]["questions"][0],
        **record["public"]["questions"][0]["told"],
        "told": 0,
        **record["results"][0],
        **record,
        "public": 0,
        "sealed": 0,
        "results": 0,
        "questions": 0,
    }


def test_nothing_but_the_noisy_total_depends_on_the_values():
    offer, agents = announced(WORKED)
    first, second = (optin.release(offer, agents, values) for values in ([0.0] * 4, [1.0] * 4))
    exact = [dataclasses.replace(each.sealed.answered[0], noisy_totals=(0, 0)) for each in (first, second)]
    assert exact[0] == exact[1]
    same = {
        "noisy_totals",
        "commitment",
        "cells",
        "estimate",
        "noise_interval_95",
        "total_interval_95",
        "sd",
        "sd_interval_95",
        "fingerprint",
    }
    records = [told(json.loads(release.to_sealed_json())) for release in (first, second)]
    assert {
        name for name in records[0] if records[0][name] != records[1][name]
    } <= same  # intervals may end at the bounds


def test_values_out_of_bounds_are_clamped_without_a_word():
    offer, agents = announced(WORKED)
    out, err = io.StringIO(), io.StringIO()
    with redirect_stdout(out), redirect_stderr(err):
        release = optin.release(offer, agents, [-math.inf, 1e9, math.inf, 0.5])
    assert out.getvalue() == err.getvalue() == ""
    assert "clamp" not in release.to_json()


def test_an_unaccounted_release_says_so():
    release = drawn()
    assert release.charged is False
    assert json.loads(release.to_json())["charged"] is False


def test_the_release_names_what_drew_it():
    versions = drawn().versions
    assert versions.mechanism == "discrete Laplace, scale 2^52, 64-bit"
    assert versions.opendp == noise.opendp_version()


def test_grains_are_what_each_person_lost_and_only_for_the_analyst():
    offer, agents = announced(WORKED)
    release = optin.release(offer, agents, [0.5, math.nan, 0.5, 0.5], joined=[True, False, True, True])
    capped = int(offer.cap * 2**32)
    assert release.grains.tolist() == [2**32, 0, capped, capped]
    assert "grain_source" not in repr(release)
    assert str(2**32) not in repr(release).replace(str(release.sealed.total_grains), "")
    assert Release.from_json(release.to_json()).grains is None
    assert Release.from_json(release.to_json()) == release


@pytest.mark.parametrize("limits", [WORKED, [0.3] * 500])
def test_releases_read_back_unchanged_and_stay_small(limits):
    release = drawn(limits, [0.5] * len(limits))
    charged = release.charged_at(3, "ab" * 32)
    for found in (release, charged):
        assert Release.from_json(found.to_json()) == found
        assert len(found.to_json()) < 4000
    assert charged.fingerprint != release.fingerprint
    assert charged.fingerprint != release.charged_at(3, "cd" * 32).fingerprint
    assert charged.drawn_fingerprint == release.charged_at(3, "cd" * 32).drawn_fingerprint
    assert release.grains is not None


FIELDS = [
    *("noisy_totals", "total_grains", "total_squared_grains", "tilt", "estimate", "variance", "bias_bound", "id"),
    *("joined_people", "fingerprint", "noise_interval_95", "total_interval_95", "total_interval_method"),
    *("charged", "ledger_number", "sd", "sd_interval_95", "dropped", "noise", "squares", "cells", "commitment", "salt"),
]


@pytest.mark.parametrize("bound", ["", "ab", "AB" * 32, f"{'ab' * 32}\n"])
def test_a_release_that_is_bound_to_no_hash_is_refused(bound):
    """Its fingerprint is made again by whoever changes it; sealed numbers that nothing binds can be any."""
    forged = dataclasses.replace(drawn(), seal=Seal(bound)).to_json()
    with pytest.raises(BadInput, match='"commitment" is no SHA-256'):
        Release.from_json(forged)


@pytest.mark.parametrize("name", FIELDS)
def test_changing_any_published_number_is_noticed(name):
    record = json.loads(drawn().to_sealed_json())
    part = part_with({**record, "announcement": {}}, name)
    part = record if part.keys() == record.keys() else part
    found = part[name]
    if name == "noisy_totals":
        part[name] = [str(int(found[0]) - 1), found[1]]
    elif isinstance(found, list):
        part[name] = [found[0], found[1] + 0.01]
    elif name in ("charged", "ledger_number"):
        part[name] = "yes"
    elif isinstance(found, str):
        part[name] = str(int(found) - 1) if found.isdecimal() else found[::-1] or "people"
    else:
        part[name] = found + 1
    with pytest.raises(BadInput, match="release"):
        Release.from_json(json.dumps(record))


@pytest.mark.parametrize(
    "change",
    [
        lambda record: record.pop("versions"),
        lambda record: record.update(versions={"optin": 1}),
        lambda record: record.update(extra=1),
        lambda record: record.update(format="optin.release/3"),
        lambda record: record.update(announcement=[]),
        lambda record: part_with(record, "cap").update(cap=4.0),
        lambda record: record["results"][0].pop("noise_interval_95"),
        lambda record: record["results"][0].update(noise_interval_95=[10**400, 1]),
        lambda record: record["results"][0].update(total_interval_95=["0", True]),
        lambda record: record.update(charged=None),
        lambda record: record["public"]["questions"][0].update(tilt=10**400),
        lambda record: record.update(ledger_number=10**400),
        lambda record: part_with(record, "cap").update(cap=10**400),
    ],
)
def test_malformed_releases_are_refused(change):
    record = json.loads(drawn().to_json())
    change(record)
    with pytest.raises(BadInput, match=r"release|announcement"):
        Release.from_json(json.dumps(record))


def test_a_missing_value_is_refused_by_index_unless_the_person_stayed_away():
    offer, agents = announced(WORKED)
    with pytest.raises(BadInput, match="person at index 2 joined"):
        optin.release(offer, agents, [0.0, 0.0, math.nan, 1.0])
    masked = np.ma.masked_array([0.0, 0.0, 0.5, 1.0], mask=[False, True, False, False])
    with pytest.raises(BadInput, match="person at index 1 joined"):
        optin.release(offer, agents, masked)
    assert optin.release(offer, agents, masked, joined=[True, False, True, True]).joined_people == 3


def test_a_missing_value_far_down_a_long_table_is_named_by_its_own_index():
    n = 2**21 + 100
    offer, agents = announced(np.full(n, 0.01))
    values = np.zeros(n)
    values[n - 7] = math.nan
    with pytest.raises(BadInput, match=f"person at index {n - 7} joined"):
        optin.release(offer, agents, values)


@pytest.mark.parametrize("values", [[0.0] * 3, [[0.0] * 4], ["secret-value"] * 4, 0.5, [object()] * 4])
def test_values_must_be_one_number_for_each_announced_person(values):
    offer, agents = announced(WORKED)
    with pytest.raises(BadInput, match="values") as failure:
        optin.release(offer, agents, values)
    assert "secret" not in str(failure.value)


UNUSABLE = [
    np.array([1, 2, 3, 4], dtype="datetime64[s]"),
    np.array([0.5 + 0.123456789j] * 4),
    ["0.123456789"] * 4,
    [b"0.123456789"] * 4,
    [0.5, "0.123456789", 0.5, 0.5],
    np.array([0.5, "0.123456789", 0.5, 0.5], dtype=object),
    np.array([0.5, 0.123456789j, 0.5, 0.5], dtype=object),
    [[0.123456789], [0.5, 0.5], 0.5, 0.5],
]


@pytest.mark.parametrize("values", UNUSABLE, ids=lambda values: str(np.array(values, dtype=object).dtype))
def test_values_that_only_look_like_numbers_are_refused_without_a_trace_of_them(values):
    offer, agents = announced(WORKED)
    with pytest.raises(BadInput, match="values") as failure:
        optin.release(offer, agents, values)
    assert failure.value.__context__ is failure.value.__cause__ is None
    assert "123456789" not in str(failure.value)


@pytest.mark.parametrize("name", ["values", "joined"])
def test_rows_of_different_lengths_are_refused_like_anything_else_that_is_no_column(name):
    offer, agents = announced(WORKED)
    given = {"values": [0.5] * 4, "joined": [True] * 4} | {name: [[0.123456789], [0.5, 0.5], 0.5, 0.5]}
    with pytest.raises(BadInput, match=name) as failure:
        optin.release(offer, agents, given["values"], joined=given["joined"])
    assert failure.value.__context__ is failure.value.__cause__ is None


@pytest.mark.usefixtures("still")
@pytest.mark.parametrize(
    "huge",
    [10**400, Fraction(10**400), decimal.Decimal("1e400"), np.longdouble("1e400"), 2**70, math.inf, 1.0],
    ids=lambda huge: type(huge).__name__,
)
def test_numbers_too_large_for_a_float_are_clamped_like_any_other(huge):
    offer, agents = announced(WORKED)
    assert optin.release(offer, agents, np.array([huge] * 4)).estimate == 1.0
    assert (
        optin.release(offer, agents, [huge] * 3 + [-huge]).estimate
        == optin.release(offer, agents, [1, 1, 1, 0]).estimate
    )


@pytest.mark.usefixtures("still")
def test_values_of_many_kinds_are_the_same_numbers():
    offer, agents = announced(WORKED)
    kinds = [
        *(np.array([0, 1, 1, 0], dtype=kind) for kind in ("u1", "i8", "f4", "?", "O", "g")),
        *([decimal.Decimal(0), Fraction(1), np.float32(1), False], pandas.Series([0, 1, 1, 0], dtype="Int64")),
    ]
    assert len({optin.release(offer, agents, values).sealed.noisy_total for values in kinds}) == 1


def test_no_value_makes_the_arithmetic_complain():
    offer, agents = announced(WORKED, bounds=(0.0, 1e120))
    with np.errstate(all="raise"):
        for value in (5e-324, 1e-300, -5e-324, math.inf, 1e308):
            assert optin.release(offer, agents, [value, 0.0, 1e120, 1e100]).joined_people == 4


@pytest.mark.parametrize(
    "missing", [None, math.nan, pandas.NA, decimal.Decimal("NaN"), decimal.Decimal("sNaN")], ids=repr
)
def test_a_missing_value_among_objects_is_named_by_its_index_too(missing):
    offer, agents = announced(WORKED)
    values = np.array([0.5, 0.5, missing, 0.5], dtype=object)
    with pytest.raises(BadInput, match="person at index 2 joined"):
        optin.release(offer, agents, values)
    assert optin.release(offer, agents, values, joined=[True, True, False, True]).joined_people == 3


def test_values_and_answers_with_different_indexes_are_refused():
    offer, agents = announced(WORKED)
    values = pandas.Series([0.5] * 4, index=list("abcd"))
    with pytest.raises(BadInput, match="index"):
        optin.release(offer, agents, values, joined=pandas.Series([True] * 4, index=list("abdc")))


def test_an_edited_limit_or_a_broken_promise_stops_the_release():
    offer, _ = announced(WORKED)
    with pytest.raises(PromiseBroken, match="limit was changed"):
        optin.release(offer, optin.PrivacyConstrained([1.0, 4.0, 9.0, 4.5]), [0.5] * 4)
    people = optin.QuasiLinear([2.0] * 50, benefit=optin.LinearBenefit(base=1.0, slope=1.0))
    promise = optin.plan(people, bounds=(0.0, 1.0)).announce(people)
    assert optin.release(promise, people, [0.5] * 50).variance <= promise.promised_variance
    with pytest.raises(PromiseBroken, match="new round"):
        optin.release(promise, people, [0.5] * 50, joined=np.arange(50) > 0)


def test_a_noiseless_release_must_be_asked_for():
    offer, agents = announced([0.0, math.inf, math.inf])
    with pytest.raises(BadInput, match="allow_no_noise"):
        optin.release(offer, agents, [1.0, 0.0, 1.0])
    release = optin.release(offer, agents, [1.0, 0.0, 1.0], allow_no_noise=True)
    assert release.estimate == 0.5
    assert release.versions.mechanism == "none: exact"
    assert release.noise_interval().high == pytest.approx(0.5 + 2.0**-21, rel=1e-15)
    assert Release.from_json(release.to_json()) == release


def test_no_failure_shows_a_value_or_a_limit():
    marker = 0.123456789
    offer, agents = announced([marker, 4.0, 9.0, 9.0])
    failures = []
    for act in (
        lambda: optin.release(offer, agents, [marker, math.nan, 0.0, 0.0]),
        lambda: optin.release(offer, agents, [marker]),
        lambda: optin.release(offer, optin.PrivacyConstrained([2 * marker, 4.0, 9.0, 9.0]), [marker] * 4),
        lambda: optin.release(offer, agents, [marker] * 4, joined=[marker] * 4),
        lambda: optin.explain(offer, limit=-marker),
        lambda: optin.release(offer, agents, [marker] * 4).noise_interval(1 + marker),
    ):
        with pytest.raises(OptinError) as failure:
            act()
        failures.append(repr(failure.value))
    assert not any("123456789" in text or "246913578" in text for text in failures)


def test_the_certificate_refuses_noise_that_does_not_cover_the_promise(monkeypatch):
    offer, agents = announced(WORKED)
    short = noise.laplace(0.9 * 2**52)
    monkeypatch.setattr(noise, "_production", lambda: short)
    with pytest.raises(PromiseBroken, match="does not cover"):
        optin.release(offer, agents, [0.5] * 4)


@given(st.integers(min_value=0, max_value=2**42))
def test_opendps_own_map_agrees_with_the_grains(grains):
    assert Fraction(noise._production().map(grains * 2**20)) == Fraction(grains, 2**32)


@pytest.mark.parametrize("rail", [-(2**63), 2**63 - 1])
def test_a_draw_on_the_rail_is_an_error(monkeypatch, rail):
    monkeypatch.setattr(noise, "_production", lambda: lambda zeros: [rail for _ in zeros])
    with pytest.raises(PromiseBroken, match="nothing was released"):
        noise.draw()


@pytest.mark.parametrize("version", ["0.14.1", "0.13.0", "0.9.9"])
def test_an_opendp_with_a_known_fault_is_refused(monkeypatch, version):
    monkeypatch.setattr(noise, "opendp_version", lambda: version)
    with pytest.raises(OptinError, match=r"install opendp>=0\.14\.2"):
        noise.laplace(3.0)


@pytest.mark.parametrize("version", ["0.14.2", "0.16.0", "1.0", "0.15.0.dev2"])
def test_later_versions_of_opendp_are_accepted(monkeypatch, version):
    monkeypatch.setattr(noise, "opendp_version", lambda: version)
    assert len(noise.laplace(3.0)([0, 0])) == 2


def test_building_the_noise_leaves_opendps_settings_as_they_were():
    from opendp import mod

    before = set(mod.GLOBAL_FEATURES)
    noise.laplace(3.0)
    assert before == mod.GLOBAL_FEATURES
    mod.enable_features("contrib")
    try:
        noise.laplace(3.0)
        assert "contrib" in mod.GLOBAL_FEATURES
    finally:
        mod.GLOBAL_FEATURES.clear()
        mod.GLOBAL_FEATURES.update(before)


@given(st.floats(min_value=-1e6, max_value=1e3))
def test_log_of_the_normal_distribution_is_accurate_everywhere(x):
    assert log_normal_below(x) == pytest.approx(float(scipy.special.log_ndtr(x)), rel=2e-13, abs=1e-300)


@settings(max_examples=examples(60), deadline=None)
@given(
    st.floats(min_value=0.0, max_value=12.0),
    st.floats(min_value=0.05, max_value=20.0),
)
def test_the_tail_of_normal_plus_laplace_is_its_integral(t, sd):
    def integrand(z):
        return 0.5 * math.exp(-abs(z)) * scipy.stats.norm.sf((t - z) / sd)

    half = 40.0
    exact = sum(
        scipy.integrate.quad(integrand, a, b, epsabs=1e-14, epsrel=1e-11, limit=200)[0]
        for a, b in ((-half, 0.0), (0.0, t), (t, t + half))
    )
    assert sum_above(t, sd=sd, scale=1.0) == pytest.approx(exact, rel=1e-8, abs=1e-13)


@pytest.mark.parametrize("ratio", [1e-12, 1e-6, 1e-3, 0.1, 1.0, 10.0, 1e3, 1e6, 1e12])
@pytest.mark.parametrize("error", [0.5, 0.05, 1e-3, 1e-9])
def test_the_quantile_lies_between_each_part_alone_and_their_sum_at_any_ratio(ratio, error):
    half = normal_laplace_quantile(error, sd=ratio, scale=1.0)
    normal, laplace = ratio * scipy.stats.norm.isf(error / 2), math.log(1 / error)
    assert max(normal, laplace) * (1 - 1e-9) <= half <= (normal + laplace + ratio + 1) * (1 + 1e-9)
    assert 2 * sum_above(half, sd=ratio, scale=1.0) <= error
    assert 2 * sum_above(half * (1 - 1e-6), sd=ratio, scale=1.0) > error * (1 - 1e-9)


def test_without_noise_or_without_spread_the_quantile_is_the_other_parts():
    assert normal_laplace_quantile(0.05, sd=2.0, scale=0.0) == pytest.approx(2 * scipy.stats.norm.isf(0.025), rel=1e-12)
    assert normal_laplace_quantile(0.05, sd=0.0, scale=2.0) == pytest.approx(2 * math.log(20), rel=1e-12)


def test_a_plain_normal_with_the_same_variance_would_cover_too_little_when_noise_dominates():
    wrong = math.sqrt(2.0) * scipy.stats.norm.isf(0.025)
    assert 1 - 2 * sum_above(wrong, sd=1e-6, scale=1.0) == pytest.approx(0.9375, abs=5e-4)


@pytest.mark.usefixtures("still")  # at an end of the bounds an interval is cut
def test_the_noise_interval_is_the_laplace_quantile_and_the_rounding():
    release = drawn(bounds=(0.0, 2.0), data_variance=1.0)
    for each in (release, release.sealed):
        low, high = each.noise_interval(0.9)
        assert (high - low) / 2 == pytest.approx(each.noise_scale * math.log(10) + each.rounding, rel=2e-9)
        assert each.noise_interval(0.9)[0] == low
        assert each.estimate in each.noise_interval(0.9)
    assert release.sealed.rounding == 2 * 2.0**-21


def test_the_total_interval_adds_the_bias_bound_of_an_announced_gap():
    limits, values = np.r_[np.full(40, 0.1), np.full(40, 2.0)], np.full(80, 0.5)
    offer, agents = announced(limits, max_gap=0.2)
    release = optin.release(offer, agents, values)
    assert release.bias_bound == 0.2 * offer.tilt > 0
    assert release.sealed.bias_bound == 0.2 * offer.sealed.tilt
    plain = dataclasses.replace(release, announcement=changed_offer(offer, max_gap=0.0))
    wider = release.total_interval().high - plain.total_interval().high
    assert wider == pytest.approx(release.bias_bound, rel=1e-9)
    assert release.noise_interval() == plain.noise_interval()


@pytest.mark.parametrize("level", [0.0, 1.0, -0.5, 1.5, math.nan, "x", None, 1j, 10**400, [0.9]])
def test_levels_lie_strictly_between_zero_and_one(level):
    for interval in (drawn().noise_interval, drawn().total_interval):
        with pytest.raises(BadInput, match="level"):
            interval(level)


@pytest.mark.parametrize("low", [1e15, -1e15, 2.0**53 - 1, 1e8])
def test_intervals_cover_also_where_floats_lie_further_apart_than_the_noise(low):
    """Twenty intervals of level 1 - 1e-9 each: one run in 10^7 of all four fails without a fault."""
    limits, covered = [50.0] * 400, 0
    offer, agents = announced(limits, bounds=(low, low + 1.0))
    values = np.full(400, low)
    values[:123] = low + 1.0
    exact = Fraction(low) + Fraction(123, 400)
    for _ in range(20):
        release = optin.release(offer, agents, values)
        ends = release.noise_interval(1 - 1e-9)
        covered += Fraction(ends.low) <= exact <= Fraction(ends.high)
        assert release.estimate in ends
    assert covered == 20


def test_higher_levels_give_wider_intervals():
    release = drawn([0.5] * 100, [0.5] * 100)
    for kind in (release.noise_interval, release.total_interval):
        widths = [kind(level).high - kind(level).low for level in (0.1, 0.5, 0.9, 0.95, 0.999)]
        assert widths == sorted(widths)


@pytest.mark.usefixtures("still")  # at an end of the bounds an interval is cut
def test_variance_and_the_interval_of_few_people_use_the_declared_variance_only():
    offer, agents = announced([0.5] * 40)
    spread, flat = (optin.release(offer, agents, values) for values in ([0.0, 1.0] * 20, [0.5] * 40))
    assert spread.sealed.variance == flat.sealed.variance == offer.sealed.variance
    assert spread.variance == flat.variance >= offer.sealed.variance
    widths = [release.total_interval().high - release.estimate for release in (spread, flat)]
    assert widths[0] == pytest.approx(widths[1], rel=1e-12)


E17 = """Who is registered, who joined, all limits, bounds, declared variance and gap are inputs that are *not* protected. For
every person i, any two values a, b of theirs, everyone else's values fixed and known to the observer:
P(release in E | a) <= e^(A_i 2^-32) P(release in E | b) (up to delta), even if everyone else, analyst included, colludes or
is invented. It adds up over releases (basic composition; also when later plans depend on earlier results), over people who
move together, over ids of one person. It does not cover joining or declining, the limit itself, conclusions about people in
general, timing, or the operator. No decision (quorum, round, close, retry, refusal, order, progress) may read a value;
bounds, variance and gap must not be computed from these people's values."""


def test_the_promise_stands_word_for_word_on_the_privacy_page():
    page = (Path(__file__).parent.parent / "docs" / "privacy.md").read_text()
    assert " ".join(E17.split()) in " ".join(page.replace("\n> ", " ").split())
