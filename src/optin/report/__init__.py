"""One self-contained page about a plan or a release, for people who have to decide and people who have to check."""

from optin.report.writing import Source, read_source, render, write_report

__all__ = ["Source", "read_source", "render", "write_report"]
