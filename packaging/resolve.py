"""Resolve what optin needs for every Python it claims, from wheels alone, pinned and newest; nothing is installed.

    python packaging/resolve.py

Spark is the exception: it is published as source, which is Python and needs no compiler.
"""

from __future__ import annotations

import subprocess
import sys
import tomllib

from dist import ROOT, uv

PREFIX = "Programming Language :: Python :: 3."


def main() -> int:
    """Try every Python that the project names, with and without constraints.txt."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    pythons = [each.removeprefix(PREFIX[:-2]) for each in project["classifiers"] if each.startswith(PREFIX)]
    failed = 0
    for python in pythons:
        for extra in ("", "all"):
            for pins in ((), ("--constraint", "constraints.txt")):
                found = resolved(python, extra, pins)
                failed += found is None
                name = f"optin[{extra}]" if extra else "optin"
                print(
                    f"{python}  {name:<10}  {'pinned' if pins else 'newest'}  {found or 'cannot be resolved'}",
                    flush=True,
                )
    return int(failed > 0)


def resolved(python: str, extra: str, pins: tuple[str, ...]) -> str | None:
    """Say how many packages it takes; None if they cannot be had together."""
    asked = ["--extra", extra] if extra else []
    words = [uv(), "pip", "compile", "--quiet", "--no-header", "--no-annotate", "--python-version", python]
    words += ["--only-binary", ":all:", "--no-binary", "pyspark", *asked, *pins, "pyproject.toml"]
    done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.stderr.write(done.stderr)
        return None
    return f"{done.stdout.count('==')} packages"


if __name__ == "__main__":
    sys.exit(main())
