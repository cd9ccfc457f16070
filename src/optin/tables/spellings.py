"""What people write where a number is wanted, and what to write instead: kinds of spelling, never the cell itself."""

from __future__ import annotations

import re
from collections.abc import Sequence

from optin.tables.columns import (
    A_DATE,
    GROUPED,
    NO_COMMA,
    NO_DECIMAL,
    NO_LIMIT,
    NO_NUMBER,
    NO_NUMBER_IN_COMMAS,
    OF_MERGED,
    PERCENTAGE,
    TWO_WAYS,
    UNCOMPUTED,
    Wanted,
)
from optin.tables.decimal_marks import COMMA, WITH_COMMA, WITH_POINT
from optin.tables.table_cells import BLANKS

ENDLESS_WORDS = "^(unlimited|no limit|limitless|without limit|any|anything|everything|infinite|max|maximum|∞)$"
NOTHING_WORDS = (
    "^(none|no|nothing|never|null|nil|na|n/a|n[.]a[.]|-+|[?]+|missing|unknown|[.][a-z]?|<na>|#n/a|#n/v|#null!)$"
)
"""Words of people, and of programs: R, Stata, SPSS, pandas, spreadsheets."""
IN_THOUSANDS = "^[+-]?[0-9]{1,3}([., '\u2019\u00a0\u202f][0-9]{3})+([.,][0-9]+)?$"


def spellings(wanted: Wanted, mark: str) -> Sequence[tuple[str, str]]:
    """List what to say of a text that is no number, and the pattern (of small letters) it is told by; the first counts."""
    signs = [(NO_COMMA, WITH_POINT)] if mark == COMMA else [(NO_DECIMAL, WITH_COMMA)]
    others = [(NO_NUMBER_IN_COMMAS, "")] if mark == COMMA else []
    signs += [
        (GROUPED, IN_THOUSANDS),
        (UNCOMPUTED, "^= [(]a formula"),
        (OF_MERGED, "^= [(]a part"),
        (A_DATE, "^[0-9]{4}-[0-9]{2}-[0-9]{2}(t|$)"),
    ]
    if not wanted.is_limit:
        return [*signs, *others]
    return [*signs, (PERCENTAGE, "%$"), (NO_LIMIT, ENDLESS_WORDS), (TWO_WAYS, NOTHING_WORDS), *others]


def said_of(text: str, wanted: Wanted, mark: str) -> str:
    """Say what to write instead of a text that is no number.

    >>> said_of("10 %", Wanted.limits("limit"), ".")
    'is a percentage; write the number itself, such as 0.1'
    """
    small = text.strip(BLANKS).lower()
    return next((words for words, pattern in spellings(wanted, mark) if re.search(pattern, small)), NO_NUMBER)
