"""What counts as yes and no, and as nothing, wherever answers are written: in files, in arrays and in engines."""

from __future__ import annotations

BLANKS = " \t\n\r\v\f"
"""What surrounds a cell and means nothing, the same everywhere."""
YES = ("1", "true", "t", "yes", "y")
NO = ("0", "false", "f", "no", "n")
SEPARATOR = ";"
"""What stands between several options that are written as one text."""
LARGEST_WHOLE = 2.0**53 - 1.0
"""The largest whole number that floats tell from its neighbours, and the largest that may stand for an option of digits."""
NO_ANSWER = "is not an answer; write true or false, yes or no, 1 or 0"
NO_OPTION = "is none of the options; write one of them letter for letter, or nothing"
NO_SET = "is not a selection of at most {most} of the options; write them letter for letter, with ; between them"
_ANSWERS = dict.fromkeys(YES, True) | dict.fromkeys(NO, False)


def answer_of(text: str) -> bool | None:
    """Read one answer in words; None if it is none.

    >>> answer_of(" Yes "), answer_of("0"), answer_of("perhaps")
    (True, False, None)
    """
    return _ANSWERS.get(text.strip(BLANKS).lower())
