"""Libraries that not everyone installs: what needs them says the line that brings them."""

from __future__ import annotations

from importlib import import_module
from types import ModuleType

from optin.errors import BadInput


def needed(module: str, *, extra: str, what: str) -> ModuleType:
    """Import a library that comes with an extra, or say how to install it.

    >>> needed("no_such_library", extra="excel", what="a workbook")
    Traceback (most recent call last):
    ...
    optin.errors.BadInput: a workbook needs no_such_library, which is not installed: pip install 'optin[excel]'
    """
    try:
        return import_module(module)
    except ImportError:
        name = module.partition(".")[0]
    raise BadInput(
        "{what} needs {name}, which is not installed: pip install 'optin[{extra}]'", what=what, name=name, extra=extra
    )
