"""Build the wheel and live a small campaign in a clean environment for every extra, alone and together.

    python packaging/try_extras.py             # base, every extra alone, all of them; prints a table of sizes and counts
    python packaging/try_extras.py base web    # some of them

Each environment is made from the wheel alone, outside the repository. What an extra brings is used there; what it does not
bring is asked for too, and must be answered with the line that installs it.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
from dataclasses import asdict, dataclass
from pathlib import Path

from dist import build, uv

ROOT = Path(__file__).resolve().parent.parent
LIFE = ROOT / "packaging" / "small_life.py"
EXTRAS = ("parquet", "duckdb", "spark", "postgres", "figures", "web", "excel", "trust")
NAMES = ("base", *EXTRAS, "all")


@dataclass(frozen=True)
class Found:
    """What an environment holds: its name, how many packages besides optin, and how many MB they take."""

    name: str
    packages: int
    megabytes: float
    names: tuple[str, ...]


def main() -> int:
    """Try the environments that are named, and print what they hold."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", default=list(NAMES), help="which environments")
    parser.add_argument("--python", default=sys.executable, help="the Python to try them with")
    parser.add_argument("--wheel", type=Path, help="a wheel that is built already")
    parser.add_argument("--unpinned", action="store_true", help="take the newest versions instead of constraints.txt")
    parser.add_argument("--json", action="store_true", help="print every package as JSON instead of a table")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="optin-extras-") as folder:
        if given.wheel is None:
            build(Path(folder) / "dist")
        wheel = (given.wheel or next((Path(folder) / "dist").glob("*.whl"))).resolve()
        pins = [] if given.unpinned else ["--constraint", str(ROOT / "constraints.txt")]
        found = [tried(name, wheel, Path(folder), given.python, pins) for name in given.names]
    print(json.dumps([asdict(each) for each in found]) if given.json else as_table(found))
    return 0


def tried(name: str, wheel: Path, folder: Path, python: str, pins: list[str]) -> Found:
    """Make a clean environment, live the small life in it, and measure it."""
    place = folder / name
    run(uv(), "venv", "--quiet", "--python", python, str(place))
    inside = str(place / "bin" / "python")
    asked = str(wheel) if name == "base" else f"{wheel}[{name}]"
    run(uv(), "pip", "install", "--quiet", "--python", inside, *pins, asked)
    names = installed(inside)
    size = megabytes(place / "lib")
    with tempfile.TemporaryDirectory(prefix=f"optin-{name}-") as work:
        shutil.copy(LIFE, work)
        brought = EXTRAS if name == "all" else tuple(extra for extra in EXTRAS if brings(name, extra))
        told = run(inside, "small_life.py", *brought, cwd=work, PYTHONPATH=None, PYTHONDONTWRITEBYTECODE="1")
    print(f"{name}: {told.strip()}", file=sys.stderr)
    shutil.rmtree(place)
    return Found(name, len(names) - 1, size, names)


def brings(name: str, extra: str) -> bool:
    """Tell whether an extra is part of another: engines read Parquet, and the service draws."""
    return extra == name or extra in {"duckdb": ("parquet",), "spark": ("parquet",), "web": ("figures", "trust")}.get(
        name, ()
    )


def installed(python: str) -> tuple[str, ...]:
    """List the packages of an environment."""
    listed = json.loads(run(uv(), "pip", "list", "--quiet", "--python", python, "--format", "json"))
    return tuple(each["name"] for each in listed)


def megabytes(folder: Path) -> float:
    """Add up the sizes of files."""
    return sum(file.stat().st_size for file in folder.rglob("*") if file.is_file() and not file.is_symlink()) / 1e6


def as_table(found: list[Found]) -> str:
    """Write the table."""
    lines = ["| `pip install` | packages besides optin | MB |", "|---|---:|---:|"]
    for each in found:
        asked = "optin" if each.name == "base" else f"optin[{each.name}]"
        lines.append(f"| `{asked}` | {each.packages} | {each.megabytes:.0f} |")
    return "\n".join(lines)


def run(*words: str, cwd: Path | str | None = None, **settings: str | None) -> str:
    """Run a command and return what it prints; say what it said where it fails."""
    environment = {name: value for name, value in {**os.environ, **settings}.items() if value is not None}
    done = subprocess.run(words, cwd=cwd, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{' '.join(words)} failed:\n{done.stdout}{done.stderr}")
    return done.stdout


if __name__ == "__main__":
    sys.exit(main())
