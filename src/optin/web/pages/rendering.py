"""Templates filled into responses; every text is escaped on its way in."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from fastapi.responses import HTMLResponse, RedirectResponse
from jinja2 import Environment, FileSystemLoader, StrictUndefined

from optin.errors import Argument, Failure, OptinError
from optin.web.languages import offered
from optin.web.organisation import organisation_here
from optin.web.pages.asked_words import purpose_said, question_said, title_said
from optin.web.pages.desk_steps import STEPS
from optin.web.pages.stages import STATE_NAMES
from optin.web.service.drafts import WORDS
from optin.web.service.failures import Refused, TooSoon
from optin.web.service.life import Move, Moves, State
from optin.web.service.records import Visitor
from optin.wording import limit_steps
from optin.wording.language import _, capital, in_digits, localised, spoken_here
from optin.wording.numbers import hours
from optin.wording.sentences import Sentence

_templates = Environment(
    loader=FileSystemLoader(Path(__file__).parent.parent / "templates"),
    autoescape=True,
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
    extensions=["jinja2.ext.i18n"],
)
_templates.install_gettext_callables(  # type: ignore[attr-defined]
    lambda words: spoken_here().said(words),
    lambda one, many, number: spoken_here().said_of(one, many, number),
    newstyle=True,
)
_templates.filters["digits"] = lambda number, spec="g": localised(format(number, spec))
_templates.filters |= {"capital": capital, "hours": hours}
_templates.filters |= {"title_said": title_said, "purpose_said": purpose_said, "question_said": question_said}
_ABSENT = {
    "here": "",
    "message": None,
    "said": None,
    "name": "",
    "why": "",
    "wrong_value": "",
    "echo": None,
    "echoes": (),
    "few": "",
    "left_out": "",
    "part": False,
    "changed": False,
    "shared": False,
    "fresh": False,
    "can_mail": False,
    "typed": "",
    "chosen": -1,
}

REFUSALS = (OptinError, Refused, TooSoon)
"""What a form is shown again for, with the reason above it."""


def sentence(refusal: Exception | str) -> str:
    """Write a refusal as a sentence, in the language of the page.

    >>> sentence("registration is closed")
    'Registration is closed.'
    """
    words = said_again(refusal if isinstance(refusal, Failure | str) else str(refusal))
    return capital(words) + ("" if words.endswith((".", "!")) else ".")


def said_again(words: Failure | str) -> str:
    """Say why something failed, or what was written down in English once, in the language of the page.

    Words that are not in the catalogue stay as they were written.

    >>> said_again("registration was closed")
    'registration was closed'
    """
    if isinstance(words, Failure):
        return _told(words.sentence)
    return _told(words) if isinstance(words, Sentence) else _(words)


_templates.filters["said"] = said_again


def _told(said: Sentence) -> Sentence:
    """Say a sentence in the language of the page."""
    return said.told(_said, {said.template: spoken_here().said(said.template)})


def _said(value: Any) -> Any:  # noqa: ANN401 - whatever a template names
    """Call an argument what the form calls it; what is a sentence itself is said in the language of the page."""
    if isinstance(value, Argument):
        return _(WORDS[value.name]) if value.name in WORDS else str(value)
    if isinstance(value, State | Move):
        return _quoted(value)
    if isinstance(value, Moves):
        return ", ".join(map(_quoted, value))
    return _told(value) if isinstance(value, Sentence) else in_digits(value)


def _quoted(name: State | Move) -> str:
    """Call a state what it is called on pages, and a step what its button says."""
    return _("“{name}”", name=_(STATE_NAMES[name] if isinstance(name, State) else STEPS[name].button))


def show(template: str, *, visitor: Visitor | None, status: int = 200, **context: Any) -> HTMLResponse:  # noqa: ANN401
    """Fill a template; a name it needs and is not given is an error, not an empty place."""
    known: dict[str, Any] = {
        **_ABSENT,
        "visitor": visitor,
        "status": status,
        "organisation": organisation_here(),
        "tongue": spoken_here(),
    }
    known |= {
        "languages": offered(),
        "limit_question": _(limit_steps.QUESTION),
        "limit_advice": _(limit_steps.ADVICE),
    }
    text = _templates.get_template(template).render({**known, **context})
    return HTMLResponse(text, status_code=status)


def shown_again(template: str, refusal: Exception, *, visitor: Visitor | None, **context: Any) -> HTMLResponse:  # noqa: ANN401
    """Show a form again with why it was refused above it and, if it came too soon, when to send it again."""
    status = getattr(refusal, "http_status", 422)
    shown = show(template, visitor=visitor, status=status, message=sentence(refusal), **context)
    if isinstance(refusal, TooSoon):
        shown.headers["Retry-After"] = str(refusal.seconds)
    return shown


def moved(to: str) -> RedirectResponse:
    """Send the browser to a page after a form was accepted, so that reloading does not send it twice."""
    return RedirectResponse(to, status_code=303)
