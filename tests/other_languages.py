"""Languages that nobody speaks, made of the English one: one that is longer by two fifths, and one written from right to left."""

import re

from babel import Locale

from optin.web import languages, translating
from optin.web.languages import made

_ACCENTS = str.maketrans("aeioucnsyAEIOUCNSY", "áéíóúçñšýÁÉÍÓÚÇÑŠÝ")
_KEPT = re.compile(r"%\(\w+\)s|%%|\{[^}]*\}|<[^>]+>|&\w+;")
LONGER = 0.4


def longer(text):
    """Say a sentence in letters with accents and two fifths longer; what is filled in, and markup, stays."""
    parts, at = [], 0
    for found in _KEPT.finditer(text):
        parts += [text[at : found.start()].translate(_ACCENTS), found[0]]
        at = found.end()
    said = "".join([*parts, text[at:].translate(_ACCENTS)])
    more, words = round(LONGER * len(text)), "ümlåüt lörém "
    return f"{said} {(words * (more // len(words) + 1))[:more].strip()}" if more > 2 else said


def right_to_left(text):
    """Say a sentence in Hebrew letters, as many as it has."""
    letters = "אבגדהוזחטיכלמנסעפצקרשת"
    parts, at = [], 0
    for found in _KEPT.finditer(text):
        parts += [_hebrew(text[at : found.start()], letters), found[0]]
        at = found.end()
    return "".join([*parts, _hebrew(text[at:], letters)])


def _hebrew(text, letters):
    return re.sub(r"[A-Za-z]", lambda found: letters[ord(found[0].lower()) % len(letters)], text)


def _messages(say):
    found = {}
    for message in translating.extracted():
        ids = (message.id,) if isinstance(message.id, str) else tuple(message.id)
        if ids[0]:
            found[ids[0]] = tuple(map(say, ids))
    return found


def speak(monkeypatch):
    """Offer both beside the languages there are."""
    one_or_many = lambda number: int(number != 1)  # noqa: E731
    own = {
        "eo": made(Locale.parse("eo"), _messages(longer), one_or_many),
        "he": made(Locale.parse("he"), _messages(right_to_left), one_or_many),
    }
    known, language = languages.tags(), languages.language
    monkeypatch.setattr(languages, "tags", lambda: (*known, *own))
    monkeypatch.setattr(languages, "language", lambda tag: own[tag] if tag in own else language(tag))
