"""The first root of many small polynomials at once: E10's cubics and E11's quadratics, one for each piece."""

from __future__ import annotations

import numpy as np

from optin.kernel.pieces import Array

ROUNDING = 8 * np.finfo(float).eps


def first_root(coefficients: Array, ends: Array, sizes: Array) -> tuple[int, float] | None:
    """Return the first piece with a point where its polynomial is not negative, and the first such point in it.

    A polynomial of degree three is monotone between its critical points, so its sign at the ends and there decides. A
    value within rounding of zero counts as touching it.
    """
    points = _stops(coefficients, ends)
    values = _evaluate(coefficients[:, None, :], points)
    slack = ROUNDING * _evaluate(sizes[:, None, :], np.abs(points))
    reached = (values >= -slack) & np.isfinite(points)
    endless = np.isinf(ends[:, 1])
    reached[endless, -1] &= values[endless, -1] > slack[endless, -1]  # an end made up here may not merely be touched
    pieces = np.flatnonzero(reached.any(axis=1))
    if len(pieces) == 0:
        return None
    j = int(pieces[0])
    stop = int(np.argmax(reached[j]))
    right = float(points[j, stop])
    if stop == 0 or values[j, stop] <= 0:
        return j, right
    return j, _bisect(coefficients[j], float(points[j, stop - 1]), right)


def _stops(coefficients: Array, ends: Array) -> Array:
    """Return for each piece its left end, the critical points inside, and its right end, rising."""
    c = coefficients
    low = ends[:, 0]
    high = np.where(np.isinf(ends[:, 1]), np.maximum(_root_bound(c), 2.0 * low + 1.0), ends[:, 1])
    with np.errstate(all="ignore"):
        square, half, constant = 3 * c[:, 3], c[:, 2], c[:, 1]
        root = np.sqrt(np.maximum(half * half - square * constant, 0.0))
        far = -(half + np.copysign(root, half))
        critical = np.stack([far / square, constant / far], 1)
    critical = np.where(np.isfinite(critical), critical, low[:, None])
    critical = np.sort(np.clip(critical, low[:, None], high[:, None]), axis=1)
    return np.concatenate([low[:, None], critical, high[:, None]], axis=1)


def _root_bound(c: Array) -> Array:
    """Bound all real roots (Cauchy, generously), so that an endless piece gets an end after its last root."""
    size = np.abs(c)
    degree = np.where(size[:, 3] > 0, 3, np.where(size[:, 2] > 0, 2, 1))
    lead = np.take_along_axis(size, degree[:, None], 1)[:, 0]
    with np.errstate(all="ignore"):
        bound = 2.0 + 2.0 * size.max(axis=1) / lead
    return np.where(np.isfinite(bound), bound, 1.0)


def _evaluate(c: Array, v: Array) -> Array:
    with np.errstate(over="ignore", invalid="ignore"):
        return np.asarray(((c[..., 3] * v + c[..., 2]) * v + c[..., 1]) * v + c[..., 0])


def _bisect(c: Array, low: float, high: float) -> float:
    """Find where a polynomial turns from negative to not negative, to the last bit."""
    while True:
        middle = low + (high - low) / 2
        if not low < middle < high:
            return high
        if float(_evaluate(c, np.asarray(middle))) >= 0:
            high = middle
        else:
            low = middle
