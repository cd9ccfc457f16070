"""Everyone's grains in one private Parquet file: what was promised, or what a release took."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, cast

import numpy as np
from numpy.typing import ArrayLike

from optin.agents import Agents
from optin.announcement import Announcement
from optin.campaign.kept import as_promised, is_kept, ones, rule_of
from optin.campaign.overlay import Kept
from optin.campaign.steps import promised_people
from optin.formats.atomic import AtomicWrite
from optin.ledger import Ledger, Terms
from optin.participation import check_table, joined_column, joined_rows

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["write_grains"]


def write_grains(
    announcement: Announcement,
    people: Agents,
    path: str | Path,
    *,
    joined: ArrayLike | str | None = None,
    ledger: Ledger | None = None,
) -> None:
    """Write id and grains of each announced person to Parquet (mode 0600): their promise, 0 for those who did not join.

    Of people who stay in an engine the engine writes them: no row passes through here. ``joined`` and ``ledger`` mean what
    they mean for `release`; without ``joined`` everyone's promise is written, without those who declined.
    """
    check_table(announcement, people)
    place = Path(path)
    if is_kept(people):
        _write_kept(announcement, cast("Kept", people), place, joined, ledger)
        return
    agents = people if ledger is None else promised_people(people, ledger, _terms(announcement))
    grains = announcement.grains(agents)
    present = joined_rows(joined, announcement, people)
    if present is None and ledger is not None and people.ids is not None:
        present = ledger.stands(_terms(announcement), list(people.ids))
    with AtomicWrite(place, private=True) as file:
        file.write_by(lambda draft: _write_arrays(draft, people, grains if present is None else grains * present))


def _write_kept(
    announcement: Announcement, people: Kept, path: Path, joined: ArrayLike | str | None, ledger: Ledger | None
) -> None:
    agents, standing = (people, None) if ledger is None else as_promised(people, ledger, _terms(announcement))
    present = standing if joined is None else joined_column(joined, people)
    rule = rule_of(announcement.promises(agents))
    query = agents.rows.table.select(id=agents.rows.ids(), grains=rule.column() * ones(agents.rows, present))
    with AtomicWrite(path, private=True) as file:  # DuckDB makes a file, Spark a folder of files
        file.write_by(lambda draft: agents.rows.session.write(query, str(draft), about=agents.rows.source))
    agents.rows.expect_unchanged()


def _write_arrays(path: Path, people: Agents, grains: NDArray[np.int64]) -> None:
    import pyarrow as pa
    import pyarrow.parquet as arrow_parquet

    names = [str(at) for at in range(len(people))] if people.ids is None else list(people.ids)
    arrow_parquet.write_table(
        pa.table({"id": pa.array(names, pa.string()), "grains": pa.array(grains, pa.int64())}), path
    )


def _terms(announcement: Announcement) -> Terms:
    return Terms(announcement.campaign, announcement.round, announcement.fingerprint)
