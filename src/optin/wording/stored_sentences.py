"""Sentences in a store, with their template and what was filled in beside the English words, so that nobody reads those words.

The words stay what was written down, for whoever looks into the store. A page says the template anew in its reader's language,
and a rule that needs a number of a sentence takes it from its data. What is stored of a number are its digits as the words have
them, no more: a standard error told in two digits is not stored in sixteen.
"""

from __future__ import annotations

import json
import string
from datetime import date, datetime
from typing import Any

from optin.wording.language import Day, Digits
from optin.wording.sentences import Sentence


def stored(words: str | None) -> str | None:
    """Write the template of a sentence and its data as JSON; None where there is no data, and the words are the template.

    >>> stored(Sentence("{people} people from {low!r}", people=12, low=0.1))
    '{"template": "{people} people from {low!r}", "data": {"people": {"digits": "12"}, "low": {"digits": "0.1"}}}'
    """
    return json.dumps(_record(words)) if isinstance(words, Sentence) and words.data else None


def stored_sentence(words: str, told: str | None) -> Sentence:
    """Read a sentence back; where nothing was told of it, or something else, the words are all there is.

    >>> said = stored_sentence("12 people", stored(Sentence("{people} people", people=12)))
    >>> said, int(said.data["people"])
    ('12 people', 12)
    """
    if told is None:
        return Sentence(words)
    sentence = _read(json.loads(told))
    return sentence if sentence == words else Sentence(words)


def _record(sentence: Sentence) -> dict[str, Any]:
    parts = string.Formatter().parse(sentence.template)
    named = {name: (spec or "", how) for _, name, spec, how in parts if name}
    return {
        "template": sentence.template,
        "data": {name: _part(sentence.data[name], *written) for name, written in named.items()},
    }


def _part(value: Any, spec: str, how: str | None) -> Any:  # noqa: ANN401 - whatever a template names
    if isinstance(value, Sentence):
        return _record(value)
    if isinstance(value, Day):
        return {"day": value.moment.date().isoformat()}
    if isinstance(value, int | float) and not isinstance(value, bool):
        return {"digits": repr(value) if how == "r" else format(value, spec)}
    return str(value)


def _read(record: dict[str, Any]) -> Sentence:
    return Sentence(record["template"], **{name: _read_part(part) for name, part in record["data"].items()})


def _read_part(part: Any) -> Any:  # noqa: ANN401
    """Read one piece of data; a plain text may be a word of ours, such as the name of a step."""
    if isinstance(part, str):
        return Sentence(part)
    if "digits" in part:
        return Digits(part["digits"])
    return (
        _read(part)
        if "template" in part
        else Day(datetime.combine(date.fromisoformat(part["day"]), datetime.min.time()))
    )
