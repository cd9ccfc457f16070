"""Methods that a floor offers and a higher floor does, attached by the root: the one exception to imports that look down."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

METHODS: dict[str, Callable[..., Any]] = {}
