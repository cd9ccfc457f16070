"""All benchmarks, or those named: ``python -m benchmarks [planner solvers scaling hard release ledger engine …] [PEOPLE]``."""

import importlib
import sys

ALL = [
    "planner",
    "hard",
    "solvers",
    "release",
    "sheets",
    "ledger",
    "service",
    "restart",
    "strangers",
    "scale",
    "laboratory",
    "startup",
    "engine",
    "groups",
    "scaling",
    "walks",
]

for name in [word for word in sys.argv[1:] if not word.isdigit()] or ALL:
    importlib.import_module(f"benchmarks.{name}").main()
