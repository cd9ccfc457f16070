"""``optin doctor``: what is installed, what is missing, and the line that installs it."""

from __future__ import annotations

import platform
import shutil
import subprocess
import sys
from dataclasses import asdict, dataclass
from importlib import metadata
from typing import Annotated

import typer

from optin.cli import screen
from optin.cli.options import AsJson, MaybeLedgerUrl
from optin.extras import PACKAGES as EXTRAS
from optin.extras import installed

HERE, MISSING = "ok", "missing"


@dataclass(frozen=True)
class Part:
    """One thing that optin can use: for what, which version is here, and how to get it where it is not."""

    name: str
    what_for: str
    version: str | None
    install: str

    def cells(self) -> tuple[str, ...]:
        """Write it for people to read."""
        return self.name, self.version or MISSING, self.what_for, "" if self.version else self.install


OWN = (("numpy", "planning"), ("opendp", "drawing noise"), ("sqlalchemy", "ledgers"))
"""What a plain install brings, and for what."""
WHAT_FOR = {
    "parquet": "Parquet files, tables in memory, zstd",
    "duckdb": "engine duckdb, tables from 10^6 rows on, DuckDB files",
    "spark": "engines spark-local, spark:// and sc://",
    "postgres": "ledgers and queries in PostgreSQL",
    "figures": "pictures and reports",
    "web": "optin serve",
    "excel": "workbooks (XLSX)",
    "trust": "signed logs: keys, witnesses, who signed",
}
"""What each extra is for."""
CALLED = {"ibis": "ibis-framework", "argon2": "argon2-cffi", "multipart": "python-multipart"}
"""What pip calls a package that is imported by another name."""


def packages() -> list[tuple[str, str, str]]:
    """List what pip installs: its name there, what it is for, and what to ask pip for; each once, with its smallest extra.

    >>> [(name, extra) for name, _, extra in packages() if name in ("numpy", "openpyxl", "pyarrow")]
    [('numpy', 'optin'), ('pyarrow', 'optin[parquet]'), ('openpyxl', 'optin[excel]')]
    """
    by_name = {name: (name, what_for, "optin") for name, what_for in OWN}
    for extra, brought in sorted(EXTRAS.items(), key=lambda each: len(each[1])):
        for package in brought:
            name = CALLED.get(package, package.replace("_", "-"))
            by_name.setdefault(name, (name, WHAT_FOR[extra], f"optin[{extra}]"))
    return list(by_name.values())


def check_machine(ledger: MaybeLedgerUrl = None, as_json: AsJson = False) -> None:
    """Say which versions are here, which engines can be used, and what is missing with the line that installs it.

    With --ledger it also opens that ledger, reads how many acts it has, and changes nothing.

    Example: optin doctor --ledger postgresql://me@host/studies
    """
    parts = [*_own(), *(_package(*each) for each in packages()), _java(), _postgresql()]
    ledger_words = None if ledger is None else _ledger(ledger)
    if as_json:
        screen.print_json({"parts": [asdict(each) for each in parts], "engines": engines(), "ledger": ledger_words})
        return
    screen.columns("This machine", ("part", "version", "for", "to install"), [p.cells() for p in parts], texts=4)
    screen.say()
    screen.rows(
        "Engines", [(name, "can be used" if able else "lacks a part above") for name, able in engines().items()]
    )
    if ledger_words is not None:
        screen.say()
        screen.rows("Ledger", [(ledger or "", ledger_words)])


def _own() -> list[Part]:
    from optin._version import __version__

    system = f"{platform.system()} {platform.release()}, {platform.machine()}"
    return [
        Part("optin", sys.prefix, __version__, ""),
        Part("Python", system, platform.python_version(), ""),
    ]


def version_of(package: str) -> str | None:
    """Say which version of a package is installed, or None.

    >>> version_of("numpy") is not None, version_of("no-such-package")
    (True, None)
    """
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None


def _package(name: str, what_for: str, extra: str) -> Part:
    line = f"pip install '{extra}'" if "[" in extra else f"pip install {extra}"
    return Part(name, what_for, version_of(name), line)


def _java() -> Part:
    version = _first_line(["java", "-version"])
    return Part("Java", "engines spark-local and spark://", version, "apt-get install openjdk-17-jre-headless")


def _postgresql() -> Part:
    version = _first_line(["psql", "--version"])
    return Part("psql", "backups of ledgers in PostgreSQL", version, "apt-get install postgresql-client")


def _first_line(command: list[str]) -> str | None:
    """Ask a program for its version; None where it is not there or says nothing."""
    program = shutil.which(command[0])
    if program is None:
        return None
    try:
        told = subprocess.run([program, *command[1:]], capture_output=True, text=True, timeout=20, check=False)  # noqa: S603
    except (OSError, subprocess.SubprocessError):
        return None
    lines = (told.stdout or told.stderr).strip().splitlines()
    return lines[0] if lines else None


def engines() -> dict[str, bool]:
    """Say which engines could be started here."""
    spark, java = installed("spark"), shutil.which("java") is not None
    return {
        "memory": True,
        "duckdb": installed("duckdb"),
        "spark-local, spark://…": spark and java,
        "sc://…": spark,
    }


def _ledger(url: str) -> str:
    """Open a ledger and count its acts, in a sentence; a failure is one too."""
    from optin.cli.ledgers import open_ledger
    from optin.cli.speaking import spoken
    from optin.errors import OptinError

    try:
        with open_ledger(url) as opened:
            return f"{HERE}: {len(opened.acts()):,} acts"
    except OptinError as error:
        return spoken(error.sentence)


def print_completion(
    shell: Annotated[str, typer.Argument(metavar="bash|zsh|fish", help="Which shell.")],
) -> None:
    """Print a script that completes commands and options in a shell; optin --install-completion writes it for yours.

    Example: optin completion bash > ~/.local/share/bash-completion/completions/optin
    """
    from typer._completion_shared import get_completion_script

    from optin.errors import BadInput

    if shell not in ("bash", "zsh", "fish"):
        raise BadInput("completion is there for bash, zsh and fish")
    typer.echo(get_completion_script(prog_name="optin", complete_var="_OPTIN_COMPLETE", shell=shell))
