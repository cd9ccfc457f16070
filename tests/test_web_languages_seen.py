"""Languages on a phone: German, one two fifths longer, and one from right to left; nothing is cut or too wide."""

import pytest
from browser import PHONE, WIDE, Watch, chromium
from language_walk import SHEET, walk
from other_languages import speak
from test_web_languages import Clock
from web_steps import KEY, OpenHouse

CUT = """() => [...document.querySelectorAll("main *, .top *, .bottom *")].filter(each => each.clientWidth > 0
  && !each.closest(".scroll, .sr-only, input, textarea, select, pre, svg")
  && each.scrollWidth > each.clientWidth + 1 && getComputedStyle(each).display !== "inline")
  .map(each => each.tagName + "." + each.className + ": " + each.textContent.trim().slice(0, 60))"""


def seen(page, name, faults):
    """Write down what is too wide for the screen, or for the box it stands in."""
    wider = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
    faults += [f"{name}: {wider} pixels too wide"] if wider > 0 else []
    faults += [f"{name}: cut: {words}" for words in page.evaluate(CUT)]


def come_in(context, cookie):
    where = {"domain": "127.0.0.1", "path": "/", "secure": True, "httpOnly": True, "sameSite": "Lax"}
    context.add_cookies([{"name": "__Host-optin", "value": cookie, **where}])


@pytest.mark.slow
def test_every_kind_of_page_fits_a_phone_in_each_language(tmp_path, monkeypatch):
    faults = []
    with OpenHouse(f"sqlite:///{tmp_path / 'web.sqlite'}", tmp_path, key=KEY, clock=Clock()) as house:
        walk(house, "de")
        ada, person, over = house.ada, house.walked.cookies[0], house.walked.campaign
        going = ada.draft(SHEET, quorum_people=10, sealed=True, window_hours=48.0).id
        ada.take(going, "open")
        secret = ada.invite(going, 1)[0]
        speak(monkeypatch)
        with chromium() as browser:
            for tag, size in (("de", PHONE), ("de", WIDE), ("eo", PHONE), ("he", PHONE)):
                watch = Watch(browser, house.origin)
                _link(watch.visitor(size=size, locale=tag), house, secret, f"{tag} {size['width']}", faults)
                for who, paths in (
                    (None, ("/", "/about", "/login", "/back")),
                    (person, ("/me", f"/c/{over}", f"/c/{over}/receipt", f"/r/{over}")),
                    (
                        ada._cookie,
                        ("/a", "/a/start", "/a/new-sheet?begin=pulse", f"/a/c/{going}", f"/a/c/{over}/plan", "/admin"),
                    ),
                ):
                    page = watch.visitor(size=size, locale=tag)
                    if who:
                        come_in(page.context, who)
                    for path in paths:
                        page.goto(house.origin + path)
                        assert page.evaluate("document.documentElement.lang") == tag
                        assert page.evaluate("getComputedStyle(document.body).direction") == (
                            "rtl" if tag == "he" else "ltr"
                        )
                        seen(page, f"{tag} {size['width']} {path.split('?')[0]}", faults)
                    page.context.close()
                assert watch.faults == []
    assert faults == []


def _link(page, house, secret, name, faults):
    """Open a link, begin, and look at the whole form; then choose another language, and come back to the same link."""
    page.goto(f"{house.origin}/i#{secret}")
    page.locator("form[data-begin] button").click()
    page.locator("form[data-keep]").wait_for()
    for each in page.locator("details").all():
        each.evaluate("each => each.open = true")
    seen(page, f"{name} the form", faults)
    with page.expect_navigation():
        page.locator(".languages button[value=en]").click()
    page.locator("form[data-keep]").wait_for()
    assert "Your limit" in page.locator("main").inner_text()
    page.context.close()
