"""The report: one file that needs nothing else, says the plan's numbers, and cannot be made to say anything else."""

import base64
import json
import math
import re
from dataclasses import replace
from html.parser import HTMLParser

import numpy as np
import pytest
from changing import changed_offer, changed_plan

import optin
from optin.report import Source, read_source, render, write_report
from optin.report.privacy import privacy_sheet
from optin.wording.numbers import largest, plus_minus, steady

rng = np.random.default_rng(9)
LIMITS = np.concatenate([rng.uniform(0.01, 0.2, 162), rng.uniform(0.2, 1.0, 111), np.ones(27)])
VOID = {"img", "meta", "source"}


class Reader(HTMLParser):
    """Collect what a page loads, shows and says, and insist that every element is closed."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.open, self.images, self.texts, self.loads = [], [], [], [], []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        found = dict(attrs)
        self.tags.append(tag)
        self.loads += [found[name] for name in ("src", "srcset", "href", "action", "data", "poster") if name in found]
        self.loads += [name for name in found if name.startswith("on")]
        if tag == "img":
            self.images.append(found)
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.texts.append(data)

    @property
    def words(self):
        return " ".join(" ".join(self.texts).split())


@pytest.fixture(scope="module")
def people():
    return optin.PrivacyConstrained(LIMITS)


@pytest.fixture(scope="module")
def plan(people):
    return optin.plan(people, bounds=(0, 10))


@pytest.fixture(scope="module")
def release(people, plan):
    return optin.release(plan.announce(people, campaign="clinic"), people, rng.uniform(0, 10, len(people)))


@pytest.fixture(scope="module")
def plan_file(plan, people, tmp_path_factory):
    path = tmp_path_factory.mktemp("plan") / "plan.json"
    path.write_text(json.dumps(json.loads(plan.to_json()) | {"describe": optin.describe(people).as_dict()}))
    return path


@pytest.fixture(scope="module")
def release_file(release, tmp_path_factory):
    path = tmp_path_factory.mktemp("release") / "release.json"
    path.write_text(release.to_json())
    return path


@pytest.fixture(scope="module")
def plan_page(plan_file, tmp_path_factory):
    return write_report(plan_file, tmp_path_factory.mktemp("page") / "report.html").read_text()


@pytest.fixture(scope="module")
def both_page(plan_file, release_file, tmp_path_factory):
    return write_report(release_file, tmp_path_factory.mktemp("page") / "report.html", plan=plan_file).read_text()


@pytest.fixture(params=["plan_page", "both_page"])
def page(request):
    return request.getfixturevalue(request.param)


def test_a_page_loads_nothing_from_anywhere(page):
    reader = Reader(page)
    assert all(load.startswith("data:image/png;base64,") for load in reader.loads)
    assert "://" not in page
    assert not {"script", "link", "iframe", "object", "base", "form"} & set(reader.tags)
    assert not re.search(r"url\(|@import", page)


def test_every_picture_has_words_and_is_a_whole_image_for_light_and_for_dark(page):
    reader = Reader(page)
    sources = [load for load in reader.loads if load.startswith("data:")]
    assert len(reader.images) >= 7
    assert len(sources) == 2 * len(reader.images) == len(set(sources))
    assert all(len(image["alt"]) > 60 for image in reader.images)
    for source in sources:
        raw = base64.b64decode(source.partition(",")[2], validate=True)
        assert raw.startswith(b"\x89PNG")
        assert raw.endswith(b"IEND\xaeB`\x82")


def test_every_element_is_closed_and_headings_are_in_order(page):
    reader = Reader(page)
    assert reader.open == []
    assert reader.tags.count("h1") == 1
    assert reader.tags.index("h1") < reader.tags.index("h2")


def test_the_same_source_gives_the_same_page(plan_file, plan_page):
    assert render(read_source(plan_file)) == plan_page


def test_the_numbers_on_the_page_are_the_plans(plan, plan_page):
    words = Reader(plan_page).words
    assert f"within about {plus_minus(plan.half_width())} of the true mean" in words
    assert f"{plan.pooled_people:,} of {plan.people:,}" in words
    assert f"{steady(plan.standard_error)}" in words
    assert largest(plan.cap) in words
    assert f"{plan.variance:.10g}" in words


def test_the_planned_reach_is_the_reach_of_the_release(plan, release):
    declared = release.sealed.only.declared_half_width(0.95)
    assert plan.half_width() == pytest.approx(declared, rel=0.01)  # at the announced cap
    assert declared <= release.only.declared_half_width(0.95) <= 1.15 * declared
    total = release.total_interval(0.95)
    assert (total.high - total.low) / 2 <= release.half_width(0.95) * (1 + 1e-9)


def test_a_release_alone_gives_a_shorter_page_with_both_intervals(release, release_file, tmp_path):
    text = write_report(release_file, tmp_path / "r.html").read_text()
    words = Reader(text).words
    assert len(Reader(text).images) == 2
    for part in ("these people", "the population", "Privacy sheet", "Not charged", release.seal.commitment):
        assert part in words
    assert "Who gives how much" not in words


def test_a_release_with_its_plan_shows_both(both_page, release):
    words = Reader(both_page).words
    assert "The result" in words
    assert "Who gives how much" in words
    assert release.fingerprint in words


def test_a_plan_without_a_description_still_has_its_numbers(plan, tmp_path):
    path = tmp_path / "plan.json"
    path.write_text(plan.to_json())
    words = Reader(write_report(path, tmp_path / "r.html").read_text()).words
    assert largest(plan.cap) in words
    assert "Who gives how much" not in words


def test_the_privacy_sheet_says_what_is_and_what_is_not_promised(page):
    words = Reader(page).words
    for part in ("Unit of privacy", "Neighbours", "Composition", "Trust", "Not protected", "who joined or declined"):
        assert part in words


def test_hostile_names_stay_text(plan, people, release):
    hostile = "<script>alert(1)</script>\"'&amp;<img src=x onerror=alert(2)>"
    named = replace(release, announcement=changed_offer(release.announcement, campaign=hostile))
    benefit = changed_plan(plan, benefit_name=hostile)
    reader = Reader(render(Source(plan=benefit, description=optin.describe(people), release=named)))
    assert "script" not in reader.tags
    assert all(load.startswith("data:image/png;base64,") for load in reader.loads)
    assert reader.words.count(hostile) >= 3


def test_few_people_get_numbers_and_no_pictures_of_limits(tmp_path):
    people = optin.PrivacyConstrained([1, 4, 9, 9])
    plan = optin.plan(people, bounds=(0, 1))
    reader = Reader(render(Source(plan=plan, description=optin.describe(people))))
    assert len(reader.images) == 1
    assert "too few to draw" in reader.words
    assert "4 people" in reader.words


MANY = pytest.mark.slow  # a page is drawn for two seconds


@pytest.mark.parametrize(
    ("limits", "question"),
    [
        pytest.param([np.inf] * 20, {}, id="no limits"),
        pytest.param([0.3] * 200, {}, id="all alike", marks=MANY),
        pytest.param(LIMITS, {"max_gap": 1.0}, id="gap", marks=MANY),
        pytest.param(LIMITS, {"eta": 2.0}, id="given noise", marks=MANY),
        pytest.param(LIMITS, {"data_variance": 0.0}, id="no variance", marks=MANY),
        pytest.param(1.0 / np.arange(1, 400), {}, id="nobody capped", marks=MANY),
        pytest.param(np.concatenate([np.zeros(20), LIMITS, [np.inf] * 3]), {}, id="zeros and no limits"),
    ],
)
def test_every_kind_of_plan_has_a_page_without_empty_numbers(limits, question):
    people = optin.PrivacyConstrained(limits)
    plan = optin.plan(people, bounds=(0, 10), **question)
    reader = Reader(render(Source(plan=plan, description=optin.describe(people))))
    assert not re.search(r"\bnan\b", reader.words)
    assert "Privacy sheet" in reader.words


def test_quasi_linear_plans_have_a_page_with_their_promise():
    people = optin.QuasiLinear(np.linspace(0.5, 3, 200), benefit=optin.LinearBenefit(base=2.0, slope=1.0))
    plan = optin.plan(people, bounds=(0, 1), slack=0.1)
    described = optin.describe(people, variance=plan.promised_variance, data_variance=plan.data_variance)
    words = Reader(render(Source(plan=plan, description=described))).words
    assert f"{plan.promised_variance:.10g}" in words
    assert "at which joining just pays" in words


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("{", "not JSON"),
        ("[]", "neither a plan nor a release"),
        ('{"format": "optin.receipt/1"}', "neither a plan nor a release"),
        (None, "cannot be read"),
    ],
)
def test_anything_else_is_refused_and_nothing_is_written(tmp_path, text, why):
    source, out = tmp_path / "source.json", tmp_path / "report.html"
    if text is not None:
        source.write_text(text)
    with pytest.raises(optin.BadInput, match=why):
        write_report(source, out)
    assert not out.exists()
    assert [path.name for path in tmp_path.iterdir()] == ([] if text is None else ["source.json"])


@pytest.mark.parametrize(
    "described", [[], {"people": 3}, {"people": 1, "zeros": 0, "infinite": 0, "buckets": [[1]]}, 7]
)
def test_a_damaged_description_is_refused(plan, tmp_path, described):
    path = tmp_path / "plan.json"
    path.write_text(json.dumps(json.loads(plan.to_json()) | {"describe": described}))
    with pytest.raises(optin.BadInput, match="describe"):
        read_source(path)


def test_a_release_of_another_plan_is_refused(release_file, people, tmp_path):
    other = tmp_path / "plan.json"
    other.write_text(optin.plan(people, bounds=(0, 11)).to_json())
    with pytest.raises(optin.BadInput, match="another plan"):
        write_report(release_file, tmp_path / "r.html", plan=other)
    with pytest.raises(optin.BadInput, match="one release and one plan"):
        write_report(release_file, tmp_path / "r.html", plan=release_file)


def test_a_place_that_cannot_be_written_is_named(plan_file, tmp_path):
    with pytest.raises(optin.BadInput, match="cannot be written"):
        write_report(plan_file, tmp_path / "missing" / "report.html")
    (tmp_path / "folder").mkdir()
    with pytest.raises(optin.BadInput, match="cannot be written"):
        write_report(plan_file, tmp_path / "folder")
    assert [path.name for path in tmp_path.iterdir()] == ["folder"]


def test_importing_figures_and_report_loads_no_matplotlib():
    import subprocess
    import sys

    code = "import sys, optin.figures, optin.report; sys.exit('matplotlib' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


@pytest.mark.parametrize("factor", [1.2841, 7521.3, 7529.9])
def test_the_privacy_sheet_never_promises_less_than_it_keeps(factor):
    plan = optin.plan(optin.PrivacyConstrained([1.0, 2.0]), bounds=(0, 1))
    sheet = str(privacy_sheet(replace(plan, designs=(replace(plan.designs[0], cap=math.log(factor)),))))
    cap, most = re.search(r"the cap, ([\d.,]+): a factor of ([\d.,]+)\.", sheet).groups()
    assert math.log(factor) <= float(cap) <= math.log(factor) * 1.01
    assert factor <= float(most.replace(",", "")) <= factor * 1.01
