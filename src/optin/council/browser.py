"""The check that runs in a browser: a script with nothing foreign in it, and a page of its own that works without a network."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from optin.report.markup import Markup, tag
from optin.report.style import STYLE
from optin.wording.spoken import WORDS


@cache
def check_script() -> str:
    """Return the script, with the words that fingerprints are told in."""
    text = (Path(__file__).parent / "check.js").read_text(encoding="utf-8")
    return text.replace("%WORDS%", " ".join(WORDS))


def check_page() -> str:
    """Write the page: it holds the script, and loads and sends nothing."""
    head = tag(
        "head",
        tag("meta", charset="utf-8"),
        tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
        tag("title", "Check a receipt or a log"),
        tag("style", Markup(STYLE)),
        tag("script", Markup(check_script())),
    )
    main = tag(
        "main",
        tag("h1", "Check a receipt or a log"),
        tag(
            "p",
            "Choose receipts, or a log.json. They stay on this machine: this page loads and sends nothing, and works without"
            " a network. It checks signatures and proofs; optin check also checks what a receipt says of its person.",
            class_="lead",
        ),
        tag("p", tag("label", "Files ", for_="check-file"), _INPUT),
        tag("div", id="file-outcome", aria_live="polite"),
        tag(
            "p",
            "The keys that come with a file are the word of whoever made it. Compare their words with others, and take this"
            " page from someone else than the one whom you check.",
            class_="note",
        ),
    )
    return f"<!doctype html>\n{tag('html', head, tag('body', main), lang='en')}\n"


_INPUT = Markup('<input type="file" id="check-file" accept=".json" multiple>')
