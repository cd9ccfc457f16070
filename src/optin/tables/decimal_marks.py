"""Which sign stands before a fraction: a point, or a comma where cells are separated by something else.

A column is looked at as a whole. Cells such as 0,5 or 12,25 can only be decimals; 1,234 and 1.234 could also be thousands in
groups of three digits, and where nothing but such cells is there, or both signs are, nothing is guessed.
"""

from __future__ import annotations

from dataclasses import dataclass

from optin.errors import Argument, BadInput

POINT, COMMA = ".", ","
WITH_COMMA = "^[+-]?[0-9]*,[0-9]+([eE][+-]?[0-9]+)?$"
WITH_POINT = "^[+-]?[0-9]*[.][0-9]+([eE][+-]?[0-9]+)?$"
IN_GROUPS = "^[+-]?[1-9][0-9]{0,2}([.,][0-9]{3})+$"
"""What could also be a whole number in groups of three digits."""


@dataclass(frozen=True)
class Signs:
    """How many cells of a column have a comma, a point; and how many of each could be whole numbers in groups."""

    commas: int = 0
    points: int = 0
    grouped_commas: int = 0
    grouped_points: int = 0

    def __add__(self, other: Signs) -> Signs:
        return Signs(
            self.commas + other.commas,
            self.points + other.points,
            self.grouped_commas + other.grouped_commas,
            self.grouped_points + other.grouped_points,
        )


def decimal_mark(signs: Signs, source: str, name: str) -> str:
    """Choose the decimal mark of a column whose cells are not separated by commas.

    >>> decimal_mark(Signs(commas=3, grouped_commas=1), "people.csv", "limit")
    ','
    """
    both = signs.commas and signs.points
    grouped = signs.commas + signs.points == signs.grouped_commas + signs.grouped_points > 0
    if both or grouped:
        how = "some with a comma and some with a point" if both else "only with three digits behind a comma or a point"
        raise BadInput(
            "{source}: {name} has numbers written "
            + how
            + ", which can be read in two ways; say which sign stands before a"
            " fraction with {comma} or {point}",
            source=source,
            name=name,
            comma=Argument("decimal", COMMA),
            point=Argument("decimal", POINT),
        )
    return COMMA if signs.commas else POINT
