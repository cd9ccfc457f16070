"""What the pages say in numbers is never less than what can happen, and never comes from anywhere but our own files."""

import math
import re
from pathlib import Path
from types import SimpleNamespace

import pytest
from cli_steps import optin_ok
from hypothesis import given
from hypothesis import strategies as st

import optin
import optin.web
from optin.web.pages.plans import _lead
from optin.web.pages.rendering import show
from optin.web.pages.stages import STATE_NAMES, analyst_stages, person_stages, stands
from optin.web.pages.wording import deal_words, epsilon_words, moves, result_words, rungs, share_words
from optin.web.service.drafts import Draft
from optin.web.service.ladder import LIMITS
from optin.web.service.lookups import OUT_OF_REACH
from optin.wording.numbers import odds_factor

WEB = Path(optin.web.__file__).parent
TEMPLATES = sorted((WEB / "templates").rglob("*.html"))
EPSILONS = st.floats(0, 30)


def number(words):
    return float(words.replace(",", "").split()[0])


@given(EPSILONS)
def test_a_belief_is_never_said_to_move_less_than_it_can(epsilon):
    for before, move in zip((0.1, 0.5, 0.9), moves(epsilon), strict=True):
        odds = before / (1 - before)
        most, least = odds * math.exp(epsilon), odds * math.exp(-epsilon)
        assert number(move.high) >= 100 * most / (1 + most) - 1e-9
        assert number(move.low) <= 100 * least / (1 + least) + 1e-9


@given(EPSILONS)
def test_an_epsilon_and_its_factor_are_rounded_up(epsilon):
    assert number(epsilon_words(epsilon)) >= epsilon
    assert number(odds_factor(epsilon)) >= math.exp(epsilon)


def test_a_deal_reads_as_promised():
    agents = optin.PrivacyConstrained([0.25] * 214)
    offer = optin.plan(agents, bounds=(0, 1)).announce(agents)
    words = deal_words(optin.explain(offer, limit=0.25), offer, stated=0.25)
    assert words.factor == "1.29"
    assert offer.public.noises == (0.02,)  # 1 / (214 * 0.25) = 0.01869..., announced up to two figures
    assert words.share == "1/200"  # 0.25 * 0.02; exactly it would be 1/214, and is under seal
    assert words.sentence == "That is as much as if all people counted alike."
    assert words.keeps == "It is exactly what you allowed, and no more."


@pytest.mark.parametrize("people", [10, 12, 19, 25])
def test_a_deal_within_a_group_is_told_of_that_group_on_pages_and_in_the_terminal_alike(people, tmp_path):
    limits = [1.0, *[0.25] * (people - 1)]
    agents = optin.PrivacyConstrained([*limits, *[1.0] * 12], groups=["A"] * people + ["B"] * 12)
    sheet = optin.Sheet([optin.YesNo("break"), optin.YesNo("quit")])
    offer = optin.Announcement.from_json(optin.plan(agents, sheet).announce(agents).to_json())
    own = offer.of_group("A")
    deal = optin.explain(offer, limit=0.25, group="A")
    words = deal_words(deal, own, stated=0.25, group="A")
    assert words.counts.startswith("Your answers count about 1/")
    assert words.counts.endswith('of your group, "A".')
    capped = [min(limit, own.cap) for limit in limits]
    low, high = own.equal_shares(deal.weight)
    assert low <= 0.25 * people / sum(capped) <= high
    times = re.search("That is (.*) what you would count if all people of the group counted alike", words.sentence)[1]
    (tmp_path / "offer.json").write_text(offer.to_json())
    told = optin_ok("explain", tmp_path / "offer.json", "--limit", "0.25", "--group", "A").out
    assert f'({times} an equal share of your group, "A")' in " ".join(told.split())


def test_whoever_allows_more_than_the_cap_is_told_that_the_rest_stays_theirs():
    agents = optin.PrivacyConstrained([1.0] * 200 + [8.0] * 200)
    offer = optin.plan(agents, bounds=(0, 1)).announce(agents)
    words = deal_words(optin.explain(offer, limit=8.0), offer, stated=8.0)
    assert offer.cap < 8
    assert "the rest stays yours" in words.keeps
    cut = deal_words(optin.explain(offer, limit=0.5), offer, stated=8.0)
    assert "your total over all campaigns leaves this much" in cut.keeps


def test_someone_promised_nothing_is_told_so():
    agents = optin.PrivacyConstrained([1.0] * 20)
    offer = optin.plan(agents, bounds=(0, 1)).announce(agents)
    assert deal_words(optin.explain(offer, limit=0.0), offer, stated=1.0).nothing
    assert share_words(0.0) == "nothing"


def test_someone_who_weighs_costs_is_told_whether_the_cost_or_the_total_leaves_them_out():
    agents = optin.QuasiLinear([0.1, 0.2] * 10, benefit=optin.LinearBenefit(base=5, slope=1), outside=0)
    offer = optin.plan(agents, bounds=(0, 1)).announce(agents)
    left_out = deal_words(optin.explain(offer, cost=OUT_OF_REACH), offer, stated=0.1)
    assert left_out.nothing
    assert "total over all campaigns does not cover" in left_out.why_nothing
    assert "not worth it" in deal_words(optin.explain(offer, cost=1e30), offer, stated=1e30).why_nothing


def test_a_result_is_written_with_the_digits_that_its_error_leaves():
    agents = optin.PrivacyConstrained([1.0] * 400)
    offer = optin.plan(agents, bounds=(0, 12)).announce(agents)
    words = result_words(optin.release(offer, agents, [7.0] * 400))
    assert number(words.low) < number(words.noise_low) < number(words.estimate)
    assert number(words.estimate) < number(words.noise_high) < number(words.high)
    assert len(words.estimate) <= 4


def test_every_step_of_both_ladders_has_words_and_every_limit_a_picture():
    limits, costs = rungs("privacy-constrained"), rungs("quasi-linear", benefit_base=50.0)
    assert len(limits) == len(LIMITS)
    assert all(50 < rung.belief <= 100 for rung in limits)
    assert all(rung.words and rung.sentence.endswith(".") for rung in (*limits, *costs))
    for ladder in (limits, costs):
        assert len({rung.words for rung in ladder}) == len(ladder)


@pytest.mark.parametrize("state", STATE_NAMES)
def test_every_state_stands_somewhere(state):
    if state != "cancelled":
        assert sum(stage.now for stage in analyst_stages(state)) == 1
    assert sum(stage.now for stage in person_stages(state, "privacy-constrained")) <= 1
    for answer in (None, "joined", "declined"):
        word, sentence = stands(state, answer, stated=answer is not None)
        assert word
        assert sentence.endswith(".")


def test_the_page_of_an_announced_plan_says_how_accurate_what_was_announced_is():
    """Groups of ten, each at its careful end, would say much less of a small crowd with mixed limits."""
    agents = optin.PrivacyConstrained([0.05] * 5 + [1.0] * 10)
    offer = optin.plan(agents, bounds=(0, 12)).announce(agents)
    seen = optin.plan(optin.PrivacyConstrained([0.05] * 15), bounds=(0, 12))
    draft = Draft(title="t", question="q", unit="hours", lower=0.0, upper=12.0)
    before, after = (_lead(SimpleNamespace(announcement=known, draft=draft), seen)[0] for known in (None, offer))
    reach = [float(re.search(r"± ([\d.]+) hours", words)[1]) for words in (before, after)]
    assert reach[0] == pytest.approx(seen.half_width(), rel=0.05)
    assert reach[1] == pytest.approx(offer.half_width(), rel=0.05)
    assert reach[1] < reach[0] / 3


@pytest.mark.parametrize("path", TEMPLATES, ids=lambda path: path.name)
def test_a_template_needs_nothing_that_the_content_policy_forbids(path):
    text = path.read_text()
    assert not re.search(r"<script(?![^>]* src=\"/static/)", text)
    assert not re.search(r"<style|\bstyle=|\son[a-z]+=|javascript:", text)
    assert not re.search(r"(?:src|href|action|srcset)=\"(?:https?:)?//", text)


def test_shipped_files_name_their_licence_and_load_nothing():
    assert "Zero-Clause BSD" in (WEB / "static/htmx.LICENSE.txt").read_text()
    for name in ("style.css", "optin.js", "icon.svg"):
        assert not re.search(r"url\(|@import|https?://(?!www\.w3\.org/)", (WEB / "static" / name).read_text())


def test_a_name_that_a_template_lacks_is_an_error_and_not_an_empty_place():
    with pytest.raises(Exception, match="'id' is undefined"):
        show("desk/invitations.html", visitor=None, links=[], before=False)


def test_every_button_that_the_tutorial_names_is_on_a_page():
    tutorial = (WEB.parents[2] / "docs/tutorial/browser.md").read_text()
    said = " ".join(text.read_text() for text in (*TEMPLATES, *(WEB / "pages").glob("*.py")))
    named = [re.sub(r"\s+", " ", words) for words in re.findall(r"\*\*([^*]+)\*\*", tutorial)]
    assert len(named) > 15
    assert [words for words in named if words.rstrip(".") not in said and words != "bold"] == []
