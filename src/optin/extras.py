"""Parts of optin that are installed only when asked for, and what pip calls each.

``pip install optin`` plans, releases, keeps a ledger in SQLite and reads CSV. Whatever else a user asks for is looked for
here first, so that what is missing is said in one way, with the line that installs it.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib.util import find_spec

from optin.errors import Argument, MissingExtra

PACKAGES: Mapping[str, tuple[str, ...]] = {
    "parquet": ("pyarrow",),
    "duckdb": ("ibis", "duckdb", "pyarrow", "pandas", "fsspec"),
    "spark": ("pyspark", "ibis", "pyarrow", "pandas", "fsspec"),
    "postgres": ("psycopg",),
    "figures": ("matplotlib",),
    "web": (
        "fastapi",
        "uvicorn",
        "jinja2",
        "pydantic_settings",
        "argon2",
        "babel",
        "cryptography",
        "httpx",
        "multipart",
        "segno",
    ),
    "excel": ("openpyxl",),
    "trust": ("cryptography",),
}
"""The extras, and the packages that each of them brings, as they are imported."""


def installed(extra: str) -> bool:
    """Tell whether everything of an extra is there.

    >>> installed("parquet")
    True
    """
    return _lacking(PACKAGES[extra]) is None


def expect(extra: str, what: str, *, package: str | None = None, instead: Argument | None = None) -> None:
    """Refuse ``what`` if a package of the extra that it needs is not there; ``instead`` is a way that needs none.

    Where only one ``package`` of them is needed, the others may be missing.
    """
    lacking = _lacking(PACKAGES[extra] if package is None else (package,))
    if lacking is not None:
        raise missing(what, package=lacking, extra=f"optin[{extra}]", instead=instead)


def expect_package(package: str, what: str) -> None:
    """Refuse ``what`` if a package that no extra is about is not there: pandas, say, for whoever wants a data frame."""
    if _lacking((package,)) is not None:
        raise missing(what, package=package, extra=package)


def missing(what: str, *, package: str, extra: str, instead: Argument | None = None) -> MissingExtra:
    """Say what is not installed, and the line that installs it.

    >>> str(missing("engine duckdb", package="ibis", extra="optin[duckdb]", instead=Argument("engine", "memory")))
    "engine duckdb needs ibis, which is not installed: pip install 'optin[duckdb]'; or use engine='memory'"
    """
    line = f"pip install '{extra}'" if "[" in extra else f"pip install {extra}"
    template = "{what} needs {package}, which is not installed: {line}" + ("; or use {instead}" if instead else "")
    return MissingExtra(template, what=what, package=package, line=line, extra=extra, instead=instead)


@cache
def _present(package: str) -> bool:
    return find_spec(package) is not None


def _lacking(packages: tuple[str, ...]) -> str | None:
    return next((package for package in packages if not _present(package)), None)
