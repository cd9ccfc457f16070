"""The page: sections in the order a reader asks."""

from __future__ import annotations

from optin.agents import Description
from optin.planning import Plan
from optin.releasing import Release


def page(*, plan: Plan | None, description: Description | None, release: Release | None) -> str:
    """Lay out everything that is known as one HTML document."""
    return "<!doctype html>\n<html lang='en'><title>optin report</title></html>\n"
