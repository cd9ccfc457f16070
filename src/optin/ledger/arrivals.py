"""People on their way into the ledger, in one of two forms: a roster in memory, or a table that waits beside the ledger."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Connection, Engine, Row

from optin.database.connection import write
from optin.errors import LedgerUnavailable
from optin.ledger.chain import Entry, Written, is_stored
from optin.ledger.sharing import Sharing
from optin.ledger.splits import Split
from optin.ledger.streamed_hashes import Block


class Arrivals(Protocol):
    """The people of one act; what is written of them is the same in either form."""

    @property
    def connection(self) -> Connection | None:
        """The connection they wait on, if they do."""

    def __len__(self) -> int: ...

    def place(self, position: int) -> object:
        """Name the person at a position, for a message."""

    def stage(self, connection: Connection) -> None:
        """Have them in the table ``staged``."""

    def names(self, connection: Connection) -> Iterable[list[str]]:
        """List their ids in blocks as packs have them."""

    def columns(self, connection: Connection, *names: str) -> list[NDArray[np.int64]]:
        """Read what came with them, by the names of a batch; BadInput where something did not."""

    def enroll(self, connection: Connection, base: int, act: int, *, everyone: bool) -> int:
        """Add those who are new to the people of the ledger, numbered from ``base`` by position, and count them."""

    def promised(self, connection: Connection, act: int, salt: str, sharing: Sharing) -> Written:
        """Digest and add up what an announcement, whose holds are just written, promises them."""

    def taking(self, connection: Connection, offer: Row[Any]) -> Taking:
        """Find them among those announced; other people and edited limits are refused."""

    def expect_distinct(self) -> None:
        """Refuse an id that stands twice; the ledger's keys refused it before."""


class Taking(Protocol):
    """Who joined, among those announced."""

    def answers(self, *, closed: bool = False) -> Iterable[Block]:
        """List who joined in announced order; ``closed`` asks for those who did when the round was closed."""

    def expect_standing(self) -> None:
        """Refuse a yes of someone who declined, and a round that nobody joined."""

    def let_absent_go(self) -> int:
        """Give back the holds of those who neither joined nor declined, as one act; say how many are charged."""

    def marks(self) -> str:
        """Name a table that says, by position, which questions of a sheet those who joined answered."""

    def charged(self, act: int, salt: str, split: Split) -> Written:
        """Count, add up and build the tree over the charges just written."""

    @property
    def joined(self) -> Any:  # noqa: ANN401 - a mask in memory, in the order of the roster; None of a table
        """Who is charged, as whoever draws wants it."""


def enter(engine: Engine, arrivals: Arrivals, work: Callable[[Connection], Entry]) -> Entry:
    """Run one writing transaction over people; where a key of the ledger refused a row, say whose."""
    try:
        return write(engine, work, is_stored=is_stored, on=arrivals.connection)
    except LedgerUnavailable:
        arrivals.expect_distinct()
        raise
