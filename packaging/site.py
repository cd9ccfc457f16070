"""Stage the Markdown of the repository for the site, and build it strictly: a link that leads nowhere is a failure.

    python packaging/site.py        # build/site/index.html, to be opened from a disk; search works there too

It needs optin's extra ``docs``. Pages stay where they are, so that links that work in the repository work on the site.
Folders named with a star in mkdocs.yml are listed by what they hold.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BUILD = ROOT / "build"
STAGE, SITE = BUILD / "site-source", BUILD / "site"
STAGED = (
    "README.md",
    "CHANGELOG.md",
    "CONTRIBUTING.md",
    "SECURITY.md",
    "CITATION.cff",
    "LICENSE",
    "docs",
    "examples",
    "deploy",
)
NAMED_FENCE = re.compile(r"^(```\w+) (\S+)$", re.MULTILINE)
"""A block of a file that the tests write, by its name, before they run a page."""
SHIM = "https://unpkg.com/iframe-worker/shim"
ELSEWHERE = re.compile(
    r"<(script|img|iframe|source)[^>]* src=.?(https?:)?//[^>]*>|<link[^>]*stylesheet[^>]* href=.?(https?:)?//[^>]*>"
)
STARRED = re.compile(r'^( +)- ([\w ]+): "\*([\w/-]+)"$', re.MULTILINE)


def main() -> int:
    """Stage, write the configuration out, build."""
    shutil.rmtree(STAGE, ignore_errors=True)
    for name in tracked():
        stage(name)
    shutil.copy(STAGE / "README.md", STAGE / "index.md")
    (STAGE / "README.md").unlink()
    written = BUILD / "mkdocs.yml"
    written.write_text(configuration())
    words = [sys.executable, "-m", "mkdocs", "build", "--strict", "--clean", "--config-file", str(written)]
    settings = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}  # advertises another program
    code = subprocess.run(words, cwd=ROOT, env=settings, check=False).returncode
    return code or keep_at_home()


def keep_at_home() -> int:
    """Put the script that search needs beside the pages, and refuse a page that loads anything from elsewhere."""
    shutil.copy(ROOT / "packaging" / "iframe-worker.js", SITE / "assets" / "javascripts")
    for page in SITE.rglob("*.html"):
        up = "../" * (len(page.relative_to(SITE).parts) - 1)
        text = page.read_text().replace(SHIM, f"{up}assets/javascripts/iframe-worker.js")
        page.write_text(text)
        if found := ELSEWHERE.search(text):
            sys.stderr.write(f"{page} loads from elsewhere: {found.group()}\n")
            return 1
    return 0


def tracked() -> list[str]:
    """List what is part of the repository of what is staged; where there is no git, as in an unpacked sdist, everything."""
    if not (ROOT / ".git").exists():
        found = [file for name in STAGED for file in ((ROOT / name), *(ROOT / name).rglob("*"))]
        return [str(file.relative_to(ROOT)) for file in found if file.is_file() and "__pycache__" not in file.parts]
    words = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", *STAGED]
    listed = subprocess.run(words, cwd=ROOT, capture_output=True, check=True)
    return [name for name in listed.stdout.decode().split("\0") if name and (ROOT / name).is_file()]


def stage(name: str) -> None:
    """Copy a file; in a page, names of blocks become titles."""
    place = STAGE / name
    place.parent.mkdir(parents=True, exist_ok=True)
    if place.suffix != ".md":
        shutil.copy(ROOT / name, place)
        return
    place.write_text(NAMED_FENCE.sub(r'\1 title="\2"', (ROOT / name).read_text()))


def configuration() -> str:
    """Write folders out, and say where the stage is, seen from the folder of the build."""
    text = (ROOT / "mkdocs.yml").read_text().replace("build/site", "site").replace(" README.md", " index.md")
    return STARRED.sub(lambda found: "\n".join(_listed(*found.groups())), text)


def _listed(indent: str, title: str, folder: str) -> list[str]:
    pages = sorted((STAGE / folder).glob("*.md"), key=lambda page: (page.name != "README.md", page.name))
    return [f"{indent}- {title}:", *(f"{indent}    - {page.relative_to(STAGE)}" for page in pages)]


if __name__ == "__main__":
    sys.exit(main())
