"""E13, E14, E17, E22: noisy results in exact integers, and how far it may be off."""

from optin.questions.intervals import Interval
from optin.releasing.drawing import release
from optin.releasing.record import Release

__all__ = ["Interval", "Release", "release"]
