"""The public files of ten campaigns, read as a stranger would: nothing exact about limits, in any format of numbers."""

import json
import re
from decimal import Decimal

import numpy as np
import pytest
from published import ALIKE, NUMBER, UNEVEN, Campaign, in_a_ledger, in_memory, opened_in, read_of, unpacked
from web_steps import House, registered

import optin
from optin.kernel.coarse import is_eighth_power, two_figures_up
from optin.releasing import Release, noise
from optin.web.service.log import council_address

WARDS = {"ICU": 431, "ER": 277, "lab": 6}
SIX = 6
"""So many digits of a number nobody writes down by chance: two figures are told, and four are printed of a result."""
HIDDEN = re.compile(
    r"data:image[^\"')]*|[0-9a-f]{32,}|[A-Za-z0-9+/]{40,}=*|\d{4}-\d\d-\d\d[T ]?[\d:]*|—.*", re.IGNORECASE
)
"""What holds digits and is no number: pictures, hashes, signatures, dates."""
NUMBERS = re.compile(r"(?<![\w.])\d[\d,_\u202f]*(?:\.\d+)?(?:e[+-]?\d+)?(?!\w)", re.IGNORECASE)


def made_by_hand(folder):
    yield "one number", in_memory(1, 90, NUMBER, drawn=True)
    yield "decliners", in_memory(2, 140, NUMBER, declining=0.3)
    yield "a ladder", in_memory(3, 60, NUMBER, ladder=True)
    yield "a sheet", in_memory(4, 120, ALIKE, skipping=0.2)
    yield "importance", in_memory(5, 110, UNEVEN, skipping=0.1, declining=0.1, drawn=True)
    yield "groups", in_memory(6, sum(WARDS.values()), NUMBER, groups=WARDS, declining=0.2)
    yield "groups and a sheet", in_memory(7, sum(WARDS.values()), UNEVEN, groups=WARDS, declining=0.2, skipping=0.1)
    yield "a second round", in_a_ledger(folder, 8, 100, NUMBER, declining=0.1)
    yield (
        "a second round of a sheet in groups",
        in_a_ledger(folder, 9, 300, ALIKE, groups={"ICU": 171, "ER": 129}, declining=0.2, skipping=0.1, drawn=True),
    )


def made_by_the_service(folder):
    """A campaign in the web service, and every page and answer that a stranger is given."""
    with House(str(folder / "web.sqlite"), folder, port=8123) as house:
        analyst, people = house.analyst(), house.people(23)
        name = registered(analyst, people, steps=[3 + at % 5 for at in range(23)])
        for step in ("close-registration", "announce", "open-answers"):
            analyst.take(name, step)
        before = house.ask("GET", f"/api/published/{name}").text
        for at, person in enumerate(people[:-2]):
            person.join(name, 5.0 + at % 4)
        for step in ("close", "release"):
            analyst.take(name, step)
        council = council_address(house.service, name, public=True)
        pages = ["/", "/about", f"/r/{name}", council, "/log.json", "/api/open", "/api/published"]
        pages += [f"/api/published/{name}", *(f"/r/{name}/{each}.json" for each in ("announcement", "release"))]
        found = {page: house.ask("GET", page) for page in pages}
        assert {page for page, answer in found.items() if answer.status_code != 200} == set()
        texts = {page: answer.text for page, answer in found.items()} | {"before the result": before}
        packed = house.ask("GET", f"{council}/bundle.zip").content
        return Campaign(*opened_in(house.service, name), texts=texts | unpacked(packed))


@pytest.fixture(scope="module")
def campaigns(tmp_path_factory):
    """Ten campaigns, whose noise is the same in every run, so that nothing here is true or false by chance."""
    folder, rng = tmp_path_factory.mktemp("published"), np.random.default_rng(17)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(noise, "draw", lambda count=1: [int(z) for z in rng.laplace(0, noise.SCALE, count)])
        return dict(made_by_hand(folder)) | {"the service": made_by_the_service(folder)}


def digits_of(number):
    """The digits of a number from its first that is not 0, without zeros at the end."""
    return "".join(map(str, Decimal(number).as_tuple().digits)).lstrip("0").rstrip("0")


def told_in(text):
    """All numbers of a text, as whole words, by their digits: a percentage is the share that it is of."""
    found = [re.sub("[,_\u202f]", "", each) for each in NUMBERS.findall(HIDDEN.sub(" ", text))]
    return {digits for each in found if len(digits := digits_of(each)) >= SIX}


def tells(digits, secret):
    """Whether so many digits are the first ones of a secret, cut off or rounded."""
    exact = digits_of(repr(secret) if isinstance(secret, float) else str(secret)).ljust(len(digits), "0")
    cut, rest = int(exact[: len(digits)]), exact[len(digits) :]
    return int(digits) in (cut, cut + (rest[:1] >= "5"))


def of_sums(sums):
    yield from (each for pair in sums for each in (pair.total_grains, pair.total_squared_grains))
    yield from (pair.total_grains * 2.0**-32 for pair in sums)
    yield from (2.0**32 / pair.total_grains for pair in sums)


def of_offer(sealed):
    yield from of_sums(sealed.question_sums)
    yield from (*sealed.public.noises, *sealed.public.squares, *sealed.public.variances, sealed.tilt)
    for each in sealed.questions:
        yield from (each.half_width(0.95), each.effective_people, each.variance**0.5)
    if len(sealed.sheet) == 1:
        yield from (sealed.eta, sealed.noise_scale, sealed.standard_error, sealed.bias_bound)


def of_release(sealed):
    yield from of_sums([each for each in sealed.question_sums if each is not None])
    for each in sealed.answered:
        yield from (*map(abs, each.noisy_totals), each.tilt)
    for result in sealed.results.values():
        for reading in result.readings(0.95):
            yield from (abs(reading.estimate), abs(reading.low), abs(reading.high))


def of_plan(plan):
    yield from (plan.cap, plan.tilt)
    yield from (each.variance for each in plan.questions)
    yield from (each.effective_people for each in plan.questions)
    if len(plan.questions) == 1:
        yield from (plan.eta, plan.standard_error)


def secrets_of(found):
    """Exact numbers that follow from limits: of the plan, of what was announced, of what was drawn, and the limits."""
    groups = list(found.offer.groups) if found.offer.grouped else [None]
    for group in groups:
        yield from of_offer(found.offer.sealed if group is None else found.offer.sealed.groups[group])
        yield from of_release(found.release.sealed if group is None else found.release.sealed.groups[group])
        if found.plan is not None:
            yield from of_plan(found.plan if group is None else found.plan.groups[group])
    if found.agents is not None:
        yield from (float(each) for each in (found.agents.limits.sum(), found.agents.limits.mean()))
        yield from (float(each) for each in found.agents.limits)


def is_exact(secret):
    """Whether a number has more digits than are told of it anyway; 0, 1 and 80 tell nothing."""
    return np.isfinite(float(secret)) and len(digits_of(repr(secret))) >= SIX


def test_there_are_ten_and_each_has_secrets_and_files(campaigns):
    assert len(campaigns) == 10
    for found in campaigns.values():
        assert len([each for each in secrets_of(found) if is_exact(each)]) >= 10
        assert len(found.texts) >= 8


def test_no_text_holds_an_exact_number_that_follows_from_limits(campaigns):
    for name, found in campaigns.items():
        secrets = [each for each in secrets_of(found) if is_exact(each)]
        public = {digits_of(repr(float(part.cap))) for part in found.offer.parts}
        for where, text in found.texts.items():
            told = told_in(text) - public
            leaks = {digits for digits in told for secret in secrets if tells(digits, secret)}
            assert leaks == set(), (name, where)
            hexed = {format(each, "x") for each in secrets if isinstance(each, int)}
            assert not hexed & set(re.findall(r"\w+", text)), (name, where)


def test_the_search_finds_what_is_there_in_every_format(campaigns):
    """The search is shown what it must find: the sealed files, and one number in the ways that people write it."""
    for found in campaigns.values():
        secrets = [each for each in secrets_of(found) if is_exact(each)]
        sealed = told_in(found.offer.to_sealed_json()) | told_in(found.release.to_sealed_json())
        assert any(tells(digits, secret) for digits in sealed for secret in secrets)
    for written in ("1234567.891", "1,234,567.9", "1.234568e6", "123,456,789.1 %", "[1234567.891]", "0.001234567"):
        assert [tells(digits, 1234567.891) for digits in told_in(written)] == [True], written


def numbers_in(record, place=""):
    """All numbers of a record, with where they stand."""
    if isinstance(record, dict):
        for name, each in record.items():
            yield from numbers_in(each, f"{place}.{name}")
    elif isinstance(record, list):
        for each in record:
            yield from numbers_in(each, place)
    elif isinstance(record, int | float) and not isinstance(record, bool):
        yield place, record


ROUNDED = ("noises", "squares", "tilt", "variances", "noise")


def test_every_number_of_a_public_file_is_a_count_a_coarse_cap_or_has_two_figures(campaigns):
    """Besides shares, which follow from these, and what was drawn: whatever else is added to a file has to be named here."""
    for found in campaigns.values():
        offer, release = json.loads(found.offer.to_json()), json.loads(found.release.to_json())
        assert "sealed" not in offer
        assert "sealed" not in release
        for place, number in (*numbers_in(offer["public"]), *numbers_in(release["public"])):
            what = place.rsplit(".", 1)[1]
            if what == "cap":
                assert is_eighth_power(number)
            elif what in ROUNDED:
                assert two_figures_up(number) == number
            else:
                assert what in ("people", "joined_people", "shares", "cells")
        assert all(part.public.variances == part.public.variances_told(part.sheet) for part in found.offer.parts)


def test_how_many_of_a_group_joined_or_answered_is_told_in_tens(campaigns):
    divided = {name: found for name, found in campaigns.items() if found.offer.grouped}
    assert len(divided) == 3
    for found in divided.values():
        parts = json.loads(found.release.to_json())["public"]["groups"]
        exact = [part.joined_people for part in found.release.sealed.parts]
        assert [part["joined_people"] for part in parts] == [10 * (each // 10) for each in exact]
        assert any(each % 10 for each in exact)
        assert all(each["people"] % 10 == 0 for part in parts for each in part["questions"])
        for where, text in found.texts.items():
            if not where.endswith(".json"):
                joined = {str(each) for each in exact if each % 10 and each > 99}
                assert not joined & set(NUMBERS.findall(HIDDEN.sub(" ", text))), where


def test_all_that_is_made_of_public_files_is_the_same_without_the_exact_numbers(campaigns):
    """Pages, tables and records are functions of the two public files: whoever makes them holds nothing more."""
    for name, found in campaigns.items():
        offer = optin.Announcement.from_json(found.offer.to_json())
        release = Release.from_json(found.release.to_json())
        assert (offer.sealed, release.sealed) == (None, None)
        mine, drawn = found.texts, "report.html" in found.texts
        if name == "the service":
            mine = read_of(found.offer, found.release, drawn=False)
        for where, text in read_of(offer, release, drawn=drawn).items():
            assert text == mine[where], (name, where)
