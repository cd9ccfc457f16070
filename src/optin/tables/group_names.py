"""Names of public groups as they are written: text that every engine and file keeps, byte for byte."""

LONGEST = 2**14
"""Characters of a group's name."""


def text_fault(name: str) -> str:
    r"""Say what is wrong with a group's name, if anything is.

    >>> text_fault("ICU"), text_fault("I\0CU")[:17]
    ('', 'holds a character')
    """
    if "\0" in name or any("\ud800" <= letter <= "\udfff" for letter in name):
        return "holds a character that not every file keeps (NUL, or half of a pair); rename the group"
    return f"is a name of more than {LONGEST:,} characters; give the group a shorter one" if len(name) > LONGEST else ""
