"""The command line: one file for each group of commands, and nothing in them but reading, calling and showing."""

from __future__ import annotations

from optin.cli.app import app, main

__all__ = ["app", "main"]
