"""Charging a million registered people, against writing the same rows with nothing around them.

The bare line is the least a database can do: one transaction, the same charge rows, no checks, no hashes, no result.
"""

import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
from sqlalchemy import text

from optin.ledger import Ledger, Terms

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))
from ledger_steps import drawn_from, offer_of

PEOPLE = 10**6
REPEATS = 2
COLUMNS = "offer BIGINT, position BIGINT, act BIGINT, grains BIGINT, PRIMARY KEY (offer, position)"


def main() -> None:
    """Print both ratios."""
    with tempfile.TemporaryDirectory() as folder:
        report(
            "SQLite: charging over executemany",
            f"sqlite:///{Path(folder) / 'ledger.sqlite'}",
            bare_executemany,
            target=5,
        )
    from postgres import PostgresServer

    server = PostgresServer(max_wal_size="4GB").start()
    try:
        report("PostgreSQL: charging over COPY", server.new_schema(), bare_copy)
    finally:
        server.remove()


def report(name: str, url: str, bare: Callable[[Ledger, list], None], target: float | None = None) -> None:
    ids = [f"person-{k:07d}" for k in range(PEOPLE)]
    grains = np.arange(PEOPLE) * 4000
    with Ledger.open(url) as ledger:
        ratios, seconds = [], []
        for turn in range(REPEATS):
            offer = offer_of(f"bench {turn}", grains)
            terms = Terms(offer.campaign, 1, offer.fingerprint)
            ledger.announce(terms, body=offer.to_json(), ids=ids, grains=grains, allowances=np.full(PEOPLE, 2**62))
            charging = clock(
                lambda terms=terms, offer=offer: ledger.release(
                    terms, ids=ids, grains=grains, draw=lambda _, number: drawn_from(offer, grains, number)
                )
            )
            same = rows(turn)
            plain = clock(lambda same=same: bare(ledger, same))
            ratios.append(charging / plain)
            seconds.append(charging)
    goal = f" (target <= {target})" if target else ""
    print(f"{name}: {statistics.median(ratios):.2f}{goal}; charging {PEOPLE:,} took {statistics.median(seconds):.1f} s")


def clock(job: Callable[[], object]) -> float:
    start = time.perf_counter()
    job()
    return time.perf_counter() - start


def rows(turn: int) -> list[tuple[int, int, int, int]]:
    return list(
        zip([turn] * PEOPLE, range(PEOPLE), [turn + 1] * PEOPLE, (np.arange(PEOPLE) * 4000).tolist(), strict=True)
    )


def bare_executemany(ledger: Ledger, same: list) -> None:
    with ledger.engine.connect() as link, link.begin():
        link.exec_driver_sql("BEGIN IMMEDIATE")
        link.execute(text(f"CREATE TABLE IF NOT EXISTS bare ({COLUMNS}) WITHOUT ROWID"))
        link.connection.cursor().executemany("INSERT INTO bare VALUES (?, ?, ?, ?)", same)


def bare_copy(ledger: Ledger, same: list) -> None:
    with ledger.engine.connect() as link, link.begin():
        link.execute(text(f"CREATE TABLE IF NOT EXISTS bare ({COLUMNS})"))
        with link.connection.cursor() as cursor, cursor.copy("COPY bare FROM STDIN") as copy:
            for row in same:
                copy.write_row(row)


if __name__ == "__main__":
    main()
