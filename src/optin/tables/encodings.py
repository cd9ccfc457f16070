"""Text in other encodings than UTF-8: read where its first bytes say which (a byte order mark), and named where they do not."""

from __future__ import annotations

import codecs
from pathlib import Path

from optin.errors import BadInput

MARKS = (
    (codecs.BOM_UTF32_LE, "UTF-32"),
    (codecs.BOM_UTF32_BE, "UTF-32"),
    (codecs.BOM_UTF16_LE, "UTF-16"),
    (codecs.BOM_UTF16_BE, "UTF-16"),
)
"""Byte order marks; that of UTF-32 begins with that of UTF-16, so it stands first."""
BLOCK = 1 << 20
PAIRS = 64
"""How many pairs of bytes are looked at."""
NARROW = "not UTF-8 text, perhaps Windows-1252 or Latin-1 (iconv -f WINDOWS-1252 -t UTF-8 writes it anew)"
WIDE = "not UTF-8 text but seems to be UTF-16 without a byte order mark (iconv -f {name} -t UTF-8 writes it anew)"


def marked_encoding(head: bytes) -> str | None:
    r"""Say which encoding a byte order mark stands for, but that of UTF-8, which is read as it is.

    >>> marked_encoding("id".encode("utf-16")), marked_encoding("id".encode("utf-32")), marked_encoding(b"id")
    ('UTF-16', 'UTF-32', None)
    """
    return next((name for mark, name in MARKS if head.startswith(mark)), None)


def other_text(line: bytes) -> str:
    r"""Name what bytes may be that are not UTF-8.

    >>> other_text("id,limit".encode("utf-16-le"))
    'not UTF-8 text but seems to be UTF-16 without a byte order mark (iconv -f UTF-16LE -t UTF-8 writes it anew)'
    """
    even, odd = line[0 : 2 * PAIRS : 2], line[1 : 2 * PAIRS : 2]
    for part, other, name in ((odd, even, "UTF-16LE"), (even, odd, "UTF-16BE")):
        if len(part) > 2 and 2 * part.count(0) > len(part) and not other.count(0):
            return WIDE.format(name=name)
    return "not UTF-8 text" if b"\x00" in line else NARROW


def in_utf8(name: Path, file: Path, encoding: str, to: Path) -> None:
    """Write a file's text in UTF-8, without its mark and with its line ends as they are."""
    failed = False
    try:
        with file.open(encoding=encoding, newline="") as read, to.open("w", encoding="utf-8", newline="") as plain:
            while text := read.read(BLOCK):
                plain.write(text)
    except (UnicodeError, ValueError):
        failed = True
    if failed:
        raise BadInput(
            "{name} is {encoding} by its first bytes, and cannot be read as that; save the file as CSV in UTF-8",
            name=name,
            encoding=encoding,
        )
