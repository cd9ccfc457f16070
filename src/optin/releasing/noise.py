"""The noise: OpenDP's discrete Laplace of scale 2^52, drawn at input 0; the only importer of OpenDP.

No draw takes a seed: OpenDP draws from the operating system's secure source. The draw is a 64-bit integer that OpenDP
saturates at the ends; a draw on that rail (probability below 2^-2950) is an error, never a result.
"""

from __future__ import annotations

import functools
import importlib.metadata
import re
from collections.abc import Iterator
from contextlib import contextmanager
from fractions import Fraction
from typing import TYPE_CHECKING

from optin.errors import OptinError, PromiseBroken
from optin.kernel.rounding import exact_epsilon
from optin.questions.cells import LEVEL

if TYPE_CHECKING:
    from opendp.mod import Measurement

SCALE = 2**52
MECHANISM = "discrete Laplace, scale 2^52, 64-bit"
OLDEST = (0, 14, 2)
_RAIL = (-(2**63), 2**63 - 1)


def draw(count: int = 1) -> list[int]:
    """Draw the production noise; a release takes one, audits take many from the same mechanism."""
    drawn: list[int] = _production()([0] * count)
    if any(z in _RAIL for z in drawn):
        raise PromiseBroken("the noise reached the end of 64 bits, which should never happen: nothing was released")
    return drawn


def check_loss(grains: int) -> None:
    """Certify, in exact rationals and by OpenDP's own map, that ``grains`` grains lose at most grains * 2^-32.

    A person of A grains moves the sum by at most A * 2^20, and the noise has scale 2^52 (E13).
    """
    moved, promised = grains * LEVEL, exact_epsilon(grains)
    mapped: float = _production().map(moved)  # type: ignore[no-untyped-call]
    if Fraction(moved, SCALE) > promised or Fraction(mapped) > promised:
        raise PromiseBroken("the noise does not cover what was promised: nothing was released")


def laplace(scale: float) -> Measurement:
    """Build OpenDP's discrete Laplace mechanism over lists of 64-bit integers."""
    _check_version()
    from opendp.domains import atom_domain, vector_domain  # its prelude would load Polars and more
    from opendp.measurements import make_laplace
    from opendp.metrics import l1_distance

    with _contrib():
        space = vector_domain(atom_domain(T="i64")), l1_distance(T="i64")
        return make_laplace(*space, scale=float(scale))


def opendp_version() -> str:
    """Return the version of OpenDP that is installed."""
    return importlib.metadata.version("opendp")


@functools.cache
def _production() -> Measurement:
    return laplace(SCALE)


def _check_version() -> None:
    """Refuse an OpenDP whose sampler is known to be wrong at small scales."""
    version = opendp_version()
    numbers = tuple(int(part) for part in re.findall(r"\d+", version)[:3])
    if numbers < OLDEST:
        raise OptinError(f"opendp {version} is too old to be trusted with noise: install opendp>=0.14.2")


@contextmanager
def _contrib() -> Iterator[None]:
    """Allow OpenDP's vetted-by-contributors parts while building, and leave the caller's setting as it was."""
    from opendp import mod

    missing = "contrib" not in mod.GLOBAL_FEATURES
    mod.enable_features("contrib")
    try:
        yield
    finally:
        if missing:
            mod.disable_features("contrib")
