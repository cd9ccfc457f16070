"""Texts of announcements and releases over sheets, as small as the ledger needs them."""

import hashlib
import json
from dataclasses import dataclass
from functools import cached_property

from optin.announcement.numbers import ExactSums


@dataclass(frozen=True)
class Offer:
    text: str

    @cached_property
    def fields(self):
        return json.loads(self.text)

    @classmethod
    def from_json(cls, text):
        found = cls(text)
        if "shares" not in found.fields:
            raise ValueError
        return found

    def to_json(self):
        return self.text

    @property
    def fingerprint(self):
        return hashlib.sha256(self.text.encode()).hexdigest()

    def __getattr__(self, name):
        if name == "shares":
            return tuple(self.fields["shares"])
        if name == "question_sums":
            return tuple(ExactSums(*each) for each in self.fields["sums"])
        return self.fields[name]


@dataclass(frozen=True)
class Drawn:
    text: str
    ledger_head: str | None = None

    @cached_property
    def fields(self):
        return json.loads(self.text)

    @classmethod
    def from_sealed(cls, text, head):
        found = cls(text, head)
        if "announcement" not in found.fields:
            raise ValueError
        return found

    @property
    def announcement(self):
        return Offer(self.fields["announcement"])

    @property
    def drawn_fingerprint(self):
        return hashlib.sha256(self.text.encode()).hexdigest()

    fingerprint = drawn_fingerprint

    @property
    def question_people(self):
        return tuple(self.fields["question_people"])

    @property
    def question_sums(self):
        return tuple(None if each is None else ExactSums(*each) for each in self.fields["sums"])

    def __getattr__(self, name):
        return self.fields[name]
