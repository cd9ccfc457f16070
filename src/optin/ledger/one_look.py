"""What is asked of a ledger once in a look, however often it is needed: what one person was promised lies in few places."""

from __future__ import annotations

from optin.asked_once import AskedOnce

ONE_LOOK = AskedOnce("one_look", most=64)
"""A block of packs takes a few hundred kilobytes; around a look at one state of one ledger."""
