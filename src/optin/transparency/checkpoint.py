"""A checkpoint (C2SP tlog-checkpoint): the name of a log, how many leaves it has, and the root above them."""

from __future__ import annotations

import re
from dataclasses import dataclass

from optin.errors import BadInput
from optin.transparency.note import checked_name, decoded, encoded
from optin.wording.records import Listed

_SIZE = re.compile(r"0|[1-9][0-9]{0,17}")


@dataclass(frozen=True, repr=False)
class Checkpoint(Listed):
    """What a log stands at: everything before is under the root.

    >>> print(Checkpoint("example.org/survey", 2, "ab" * 32).to_text(), end="")
    example.org/survey
    2
    q6urq6urq6urq6urq6urq6urq6urq6urq6urq6urq6s=
    """

    origin: str
    size: int
    root: str

    def to_text(self) -> str:
        """Write the three lines that are signed."""
        return f"{self.origin}\n{self.size}\n{encoded(bytes.fromhex(self.root))}\n"

    @classmethod
    def from_text(cls, text: str) -> Checkpoint:
        """Read the text of a checkpoint; more lines than three are left to whoever knows them."""
        lines = text.removesuffix("\n").split("\n")
        root = decoded(lines[2]) if len(lines) >= 3 else None
        if root is None or len(root) != 32 or not _SIZE.fullmatch(lines[1]) or not all(lines):
            raise BadInput("this is not a checkpoint: it has a name, a number and a hash, a line each")
        return cls(checked_name(lines[0]), int(lines[1]), root.hex())
