"""Build the sdist, and the wheel from it; look both through; leave them in dist/, ready to publish.

    python packaging/dist.py                       # make dist
    python packaging/dist.py --expect-tag v0.2.0   # only look through what is in dist/ already

They are built from a copy of what git knows, so that a file that nobody added is missing here as it would be for others.
"""

from __future__ import annotations

import argparse
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
DIST = ROOT / "dist"
IN_SDIST = (
    "Makefile",
    "constraints.txt",
    "tests/conftest.py",
    "docs/README.md",
    "packaging/dist.py",
    "LICENSE",
    "CHANGELOG.md",
)
IN_WHEEL = ("optin/py.typed", "optin/web/templates/base.html", "optin/database/migrations/versions/ledger_0001.py")


def main() -> int:
    """Build, look through, say what is ready."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--expect-tag", metavar="TAG", help="look through dist/ instead of building; its version is this tag's"
    )
    given = parser.parse_args()
    if given.expect_tag is None:
        shutil.rmtree(DIST, ignore_errors=True)
        build(DIST)
    elif given.expect_tag != f"v{version()}":
        raise SystemExit(f"the tag is {given.expect_tag}, and the version {version()}")
    look_through(DIST)
    for file in sorted(DIST.iterdir()):
        print(f"{file.stat().st_size / 1e6:6.2f} MB  {file.relative_to(ROOT)}")
    return 0


def version() -> str:
    """Read the one place that the version is written in."""
    found = re.search(r'__version__ = "([^"]+)"', (ROOT / "src" / "optin" / "_version.py").read_text())
    if found is None:
        raise SystemExit("src/optin/_version.py names no version")
    return found.group(1)


def build(out: Path) -> None:
    """Build the sdist, and the wheel out of the sdist: so that a wheel can be built from what is published."""
    with tempfile.TemporaryDirectory(prefix="optin-source-") as folder:
        copy_source(Path(folder) / "optin")
        run(uv(), "build", "--quiet", "--out-dir", str(out), str(Path(folder) / "optin"))
    (out / ".gitignore").unlink(missing_ok=True)


def copy_source(place: Path) -> None:
    """Copy what git knows; where there is no git, as in an unpacked sdist, everything."""
    if not (ROOT / ".git").exists():
        shutil.copytree(ROOT, place, ignore=shutil.ignore_patterns(".venv", "build", "dist", "__pycache__", ".*_cache"))
        return
    for name in filter(None, run("git", "-C", str(ROOT), "ls-files", "-z").split("\0")):
        if (ROOT / name).is_file():
            (place / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, place / name)


def look_through(folder: Path) -> None:
    """Refuse what lacks a file, carries another version than it should, or is not one sdist and one wheel."""
    (sdist,), (wheel,) = list(folder.glob("*.tar.gz")), list(folder.glob("*.whl"))
    if f"-{version()}" not in sdist.name or f"-{version()}-" not in wheel.name:
        raise SystemExit(f"{sdist.name} and {wheel.name} are not of version {version()}")
    with tarfile.open(sdist) as packed:
        names = {name.partition("/")[2] for name in packed.getnames()}
    _expect(sdist, names, IN_SDIST)
    with zipfile.ZipFile(wheel) as packed:
        inside = set(packed.namelist())
        described = packed.read(next(name for name in inside if name.endswith("METADATA"))).decode()
    _expect(wheel, inside, IN_WHEEL)
    for needed in (f"Version: {version()}", "License-Expression: Apache-2.0", "Provides-Extra: duckdb", "# optin"):
        if needed not in described:
            raise SystemExit(f"{wheel.name} does not say {needed}")


def _expect(file: Path, names: set[str], needed: tuple[str, ...]) -> None:
    lacking = [name for name in needed if name not in names]
    cached = [name for name in names if "__pycache__" in name or name.endswith((".pyc", ".sqlite-wal"))]
    if lacking or cached:
        raise SystemExit(f"{file.name} lacks {lacking} or carries {cached}")


def uv() -> str:
    """Find uv beside this Python, or on the path."""
    beside = Path(sys.executable).parent / "uv"
    found = str(beside) if beside.exists() else shutil.which("uv")
    if found is None:
        raise SystemExit("uv is missing: pip install uv")
    return found


def run(*words: str) -> str:
    """Run a command and return what it prints; say what it said where it fails."""
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{' '.join(words)} failed:\n{done.stdout}{done.stderr}")
    return done.stdout


if __name__ == "__main__":
    sys.exit(main())
