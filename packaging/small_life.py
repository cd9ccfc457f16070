"""A small life of a campaign with nothing but what is installed; started by try_extras.py with the extras that are there.

From the command line: demo; then plan, announce, release and verify over CSV. What each extra is for is used if it is there,
and refused with the line that installs it if it is not.
"""

from __future__ import annotations

import contextlib
import io
import sys
from collections.abc import Callable
from pathlib import Path

EXTRAS = ("parquet", "duckdb", "spark", "postgres", "figures", "web", "excel", "trust")


def main(there: list[str]) -> None:
    """Live it, and try every extra."""
    base()
    uses: dict[str, Callable[[], None]] = {
        "parquet": parquet, "duckdb": duckdb, "spark": spark, "postgres": postgres, "figures": figures, "web": web,
        "excel": excel, "trust": trust,
    }  # fmt: skip
    for extra, use in uses.items():
        if extra in there:
            use()
        else:
            expect_refused(extra, use)
    print("a small life of a campaign;", "with " + ", ".join(there) if there else "every extra refused with its line")


def optin(*words: str, expected: int = 0) -> str:
    """Run a command as if it had been typed."""
    from optin.cli.one_command import run

    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = run(list(words))
    assert code == expected, (words, code, err.getvalue())
    return out.getvalue() + err.getvalue()


def base() -> None:
    """Use what a plain install has, and see that nothing else was loaded."""
    told = optin("demo", "--folder", "demo")
    assert "Report" in told, told
    people = "id,limit,drinks,smokes\n" + "".join(f"p{at},0.{at % 9 + 1},{at % 7},yes\n" for at in range(300))
    Path("people.csv").write_text(people)
    Path("semicolons.csv").write_text(people.replace(",", ";"))
    plan = ("plan", "people.csv", "--limits", "limit", "--bounds", "0", "9", "--sd", "2", "-o", "plan.json")
    optin(*plan)
    optin("announce", "plan.json", "people.csv", "--ledger", "ledger.sqlite", "-o", "offer.json")
    optin(
        "release", "offer.json", "people.csv", "--values", "drinks", "--ledger", "ledger.sqlite", "-o", "release.json"
    )
    optin("ledger", "verify", "--ledger", "ledger.sqlite", "--against", "release.json")
    told = optin("report", "release.json", "--plan", "plan.json", "-o", "report.html")
    assert ("optin[figures]" in told) != ("matplotlib" in installed_names()), told
    optin("compare", "people.csv", "--limits", "limit", "--bounds", "0", "9", "--sd", "2")
    optin("simulate", "--people", "100", "--campaigns", "20")
    optin("plan", "semicolons.csv", *plan[2:-1], "semicolons.json")
    import optin as library

    agents = library.read("people.csv", limits="limit", engine="memory")
    assert library.plan(agents, bounds=(0, 9), data_variance=4).certificate(agents).holds


def parquet() -> None:
    """Write everyone's grains to Parquet, and read a table of Parquet in memory."""
    import optin as library

    people = library.PrivacyConstrained([0.5] * 20, ids=[f"p{at}" for at in range(20)])
    offer = library.plan(people, bounds=(0, 1)).announce(people)
    library.campaign.write_grains(offer, people, Path("grains.parquet"))
    library.read("grains.parquet", limits="grains", engine="memory")


def duckdb() -> None:
    """Plan where the table lies."""
    import optin as library

    assert len(library.read("people.csv", limits="limit", engine="duckdb")) == 300


def spark() -> None:
    """Open Spark, where there is Java."""
    import shutil

    import optin as library

    if shutil.which("java") or "pyspark" not in installed_names():
        assert len(library.read("people.csv", limits="limit", engine="spark-local")) == 300


def postgres() -> None:
    """Knock at a database that is not there: the driver is found, and the failure is the database's."""
    from optin.errors import LedgerUnavailable
    from optin.ledger import Ledger

    with contextlib.suppress(LedgerUnavailable):
        Ledger.open("postgresql://nobody@127.0.0.1:1/nothing")


def figures() -> None:
    """Draw."""
    from optin import figures

    assert figures.png([lambda ax: ax.plot([1, 2])], size=(2, 2)).startswith(b"\x89PNG")
    assert "Not drawn" not in Path("report.html").read_text()


def trust() -> None:
    """Draw the key of a log, and sign."""
    from optin.transparency.keys import SigningKey

    key = SigningKey.new("example.org/survey")
    assert key.signed("text").is_of(key.verifier)


def web() -> None:
    """Make the service, and ask it how it is."""
    from optin.extras import expect

    expect("web", "the web service")
    import optin.client  # noqa: F401
    from optin.web.serving import serve  # noqa: F401


def excel() -> None:
    """Plan over a workbook; where nothing can write one, an archive that looks like one is asked for."""
    import zipfile

    if "openpyxl" in installed_names():
        import openpyxl

        book = openpyxl.Workbook()
        for line in Path("people.csv").read_text().splitlines():
            book.active.append(line.split(","))
        book.save("people.xlsx")
    else:
        with zipfile.ZipFile("people.xlsx", "w") as packed:
            packed.writestr("xl/workbook.xml", "<workbook/>")
    import optin as library

    assert len(library.read("people.xlsx", limits="limit", engine="memory")) == 300


def installed_names() -> set[str]:
    """List what can be imported."""
    from importlib.metadata import packages_distributions

    return set(packages_distributions())


def expect_refused(extra: str, use: Callable[[], None]) -> None:
    """Expect the line that installs an extra."""
    from optin.errors import MissingExtra

    try:
        use()
    except MissingExtra as missing:
        assert f"pip install 'optin[{extra}]'" in str(missing), str(missing)
        return
    raise AssertionError(f"{extra} is not there, and was not missed")


if __name__ == "__main__":
    main(sys.argv[1:])
