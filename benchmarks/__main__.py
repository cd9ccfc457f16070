"""Run all benchmarks, or those named: ``python -m benchmarks [planner solvers scaling hard release ledger engine …]``."""

import importlib
import sys

ALL = [
    "planner",
    "hard",
    "solvers",
    "release",
    "sheets",
    "ledger",
    "scale",
    "laboratory",
    "startup",
    "engine",
    "groups",
    "scaling",
    "walks",
]

for name in sys.argv[1:] or ALL:
    importlib.import_module(f"benchmarks.{name}").main()
