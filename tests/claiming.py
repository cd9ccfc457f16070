"""Which sentences of README and docs claim a number or an optimum: found by a rule, not by hand.

A sentence claims if it says that something is best, better or faster (`OPTIMUM`), or gives a figure (`FIGURE`): a
percentage other than the level of an interval, so many times, at least or at most so many, a size or a time; or a decimal
number where it speaks of what is measured (`MEASURED`). Code blocks, formulas and what is quoted as code do not count. A
table counts as one sentence, its heading, if it claims anywhere.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parent.parent
ELSEWHERE = ("reference", "gallery")
"""Written from docstrings, or computed by make.py."""
LISTS = ("backed.md", "claims.md")
"""Pages that are themselves lists of what holds which claim."""

OPTIMUM = re.compile(
    r"\b(best|(?:most|more|less) accurate|optimal|optimum|optima|fastest|faster|slower|beats?|beaten|outperforms?"
    r"|nothing (?:is )?better|no better|nothing at all|better by|can go below|never the least|stands out"
    r"|(?:at least|just) as (?:often|accurate|good)|as predicted|without (?:end|bound))\b",
    re.I,
)
COUNT = r"(?:\d[\d.,]*|two|three|four|five|six|seven|eight|nine|ten|twenty|thirty|fifty|hundred|thousand)"
PARTS = r"(?:\d[\d.,]*|one|two|three|forty-nine|nine|ninety)"
FIGURE = re.compile(
    r"(?<![\d.])(?!(?:80|95|99) ?%)\d[\d.,]* ?%|\bper cent\b"
    rf"|\b(?:{COUNT}|a half) times\b|\btimes as (?:large|many|much|long|fast)\b|\bfactor of {COUNT}\b"
    rf"|\bat (?:least|most) (?:an? )?(?:\d|{COUNT}\b(?! people)|half|third|\w+th\b)"
    r"|\b(?:almost|nearly|about|(?:longer|less|more) than|by) (?:an? )?"
    r"(?:half|third|quarter|fifth|tenth|hundredth|minute|hour)\b"
    rf"|\b{PARTS} (?:\w+ )?(?:in|of|out of) (?:a )?(?:1,?0+|four|ten|twenty|hundred|thousand)\b(?! people)"
    r"|\b\d[\d,]* (?:packages|digits|(?:plain )?scans|µs|ms|populations|random|would do|too,)"
    r"|\b(?:about|up to) (?:an? )?(?:twice|quarter|\w+(?:nth|fth|xth|hth|dth))\b|\bone part in\b|\btwice (?:too|as)\b"
    r"|\blose half\b|\bhalves (?:the|their)\b|\blike … people\b"
    r"|\b(?:as accurate as|needs|some|about) \d|\bbelow 2\^|\bare (?:enough|too few)\b|\bsix figures\b|\btimes as\b"
    rf"|\b{COUNT} (?:core-|milli|micro|nano)?(?:seconds?|minutes?|hours|GB|MB|MiB|bytes)\b",
    re.I,
)
DECIMAL = re.compile(r"(?<![\w.])\d*\.\d+(?![\w.]*\w)")
MEASURED = re.compile(
    r"%|±|\b(errors?|variances?|intervals?|tilt|took|takes|needed|costs?|covers?|held|against|within|factor|medians?|away"
    r"|gives?|gave|alone|itself)\b",
    re.I,
)


def pages() -> list[Path]:
    """README and all pages that are written by hand, or by the study."""
    docs = sorted((ROOT / "docs").rglob("*.md"))
    mine = [page for page in docs if page.relative_to(ROOT / "docs").parts[0] not in ELSEWHERE]
    return [ROOT / "README.md", *(page for page in mine if page.name not in LISTS)]


def claims(text: str) -> list[str]:
    """Return the sentences of a page that claim something, in plain words."""
    return [plain(said) for said, judged in _sentences(text) if claiming(judged)]


def claiming(sentence: str) -> bool:
    """Say whether a sentence claims a number or an optimum."""
    bare = re.sub(r"`[^`]*`|\$[^$]*\$|\*Optimal Data Acquisition[^*]*\*|\"Optimal[^\"]*\"", " ", sentence)
    measured = DECIMAL.search(bare) and MEASURED.search(bare)
    return bool(OPTIMUM.search(bare) or FIGURE.search(bare) or measured)


def plain(text: str) -> str:
    """Return words without emphasis, code marks and more than one space."""
    words = re.sub(r"^\s*(?:[-*>]|\d+\.)\s|[*`|]", " ", re.sub(r"\$[^$]*\$", "…", text))
    return " ".join(words.split())


def _sentences(text: str) -> Iterator[tuple[str, str]]:
    """Yield each sentence as it is quoted and as it is judged; of a table the heading, and all of it."""
    text = re.sub(r"<!--.*?-->|^( *)```.*?^\1```$|\$\$.*?\$\$|\A---\n.*?\n---\n", "\n", text, flags=re.S | re.M)
    text = re.sub(r"!?\[([^\]]*)\]\([^)]*\)|<a id[^>]*></a>", r"\1", text)
    for block in _blocks(text):
        if block.startswith("|"):
            yield block.split("\n")[0], block
        elif not block.startswith("#"):
            yield from ((each, each) for each in re.split(r"(?<=[.!?:;])(?<!\be\.g\.)\s+(?=[\"*`(\[$A-Z\d±])", block))


def _blocks(text: str) -> Iterator[str]:
    """Yield paragraphs, items and headings as one line each, and tables as they are."""
    for paragraph in re.split(r"\n\s*\n", text):
        for piece in re.split(r"\n(?=\s*(?:[-*] |\d+\. |#))|\n(?=\|)(?<!\|\n)|(?<=\|)\n(?!\|)", paragraph.strip()):
            yield piece.strip() if piece.strip().startswith("|") else " ".join(piece.split())
