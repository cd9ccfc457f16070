"""What databases said of people: one command asks each question once, a later call of the library asks anew."""

from __future__ import annotations

from optin.asked_once import AskedOnce

QUERIES = AskedOnce("queries")
