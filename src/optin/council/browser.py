"""The check that runs in a browser: a script with nothing foreign in it, and a page of its own that works without a network."""

from __future__ import annotations

import json
import re
from functools import cache
from pathlib import Path

from optin.report.markup import Markup, tag
from optin.report.style import STYLE
from optin.wording.language import _, spoken_here
from optin.wording.spoken import WORDS

_SAID = re.compile(r'\bsay\("([^"]+)"')


@cache
def check_script() -> str:
    """Return the script, with the words that fingerprints are told in."""
    text = (Path(__file__).parent / "check.js").read_text(encoding="utf-8")
    return text.replace("%WORDS%", " ".join(WORDS))


def sentences(script: str) -> list[str]:
    """List what a script says.

    >>> sentences('say("a path is too short"); say("act {number} is in the log", act)')
    ['a path is too short', 'act {number} is in the log']
    """
    return list(dict.fromkeys(_SAID.findall(script)))


def check_words() -> str:
    """Write what the script says in the language spoken, by the English words, for a page to hold; in English nothing."""
    if not spoken_here().messages:
        return ""
    return json.dumps({words: _(words) for words in sentences(check_script())}, ensure_ascii=False)


def check_page() -> str:
    """Write the page: it holds the script, and loads and sends nothing."""
    head = tag(
        "head",
        tag("meta", charset="utf-8"),
        tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
        tag("title", _("Check a receipt or a log")),
        tag("style", Markup(STYLE)),
        tag("script", Markup(check_script())),
    )
    main = tag(
        "main",
        tag("h1", _("Check a receipt or a log")),
        tag(
            "p",
            _(
                "Choose receipts, or a log.json. They stay on this machine: this page loads and sends nothing, and works "
                "without a network. It checks signatures and proofs; optin check also checks what a receipt says of its person."
            ),
            class_="lead",
        ),
        tag("p", tag("label", _("Files") + " ", for_="check-file"), _INPUT),
        tag("div", id="file-outcome", aria_live="polite"),
        tag(
            "p",
            _(
                "The keys that come with a file are the word of whoever made it. Compare their words with others, and take "
                "this page from someone else than the one whom you check."
            ),
            class_="note",
        ),
        *([tag("div", id="check-words", hidden="", data_words=words)] if (words := check_words()) else []),
    )
    return f"<!doctype html>\n{tag('html', head, tag('body', main), lang=spoken_here().tag or 'en')}\n"


_INPUT = Markup('<input type="file" id="check-file" accept=".json" multiple>')
