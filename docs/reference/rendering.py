"""Docstrings and signatures as Markdown: prose joined to paragraphs, examples with the imports they need."""

from __future__ import annotations

import ast
import builtins
import dataclasses
import doctest
import inspect
import re
import sys
from functools import cached_property
from importlib import import_module
from types import ModuleType
from typing import Any


def signature(thing: Any) -> str:  # noqa: ANN401
    """Write a signature, one argument a line where it is long."""
    found = inspect.signature(thing)
    kept = [p.replace(default=p.default) for p in found.parameters.values() if p.name != "self"]
    text = re.sub(r"'([^']*)'(?=[,)=]|$| =|\])", r"\1", str(found.replace(parameters=kept)))
    text = re.sub(r"<factory>|<class '([^']+)'>", "…", text)
    text = re.sub(r"= Ink\([^)]*\)", "= LIGHT", text.removesuffix(" -> None") if inspect.isclass(thing) else text)
    if len(text) <= 100:
        return text
    return re.sub(r"^\((.*)\)( -> .*|)$", lambda m: "(\n    " + _lines(m[1]) + ",\n)" + m[2], text, flags=re.S)


def _lines(arguments: str) -> str:
    """Break a list of arguments at the commas outside brackets."""
    depth, text = 0, ""
    for sign in arguments:
        depth += (sign in "([{") - (sign in ")]}")
        text += ",\n    " if sign == "," and depth == 0 else sign
    return re.sub(r"\n     +", "\n    ", text)


def returns(function: Any) -> str:  # noqa: ANN401
    """Write what a property gives."""
    return str(inspect.signature(function).return_annotation).strip("'")


class Words:
    """The docstring of a thing as Markdown: prose joined to paragraphs, examples with the imports they need."""

    def __init__(self, thing: Any) -> None:  # noqa: ANN401
        self.home = thing if isinstance(thing, ModuleType) else sys.modules[thing.__module__]
        self.doc = inspect.cleandoc(thing.__doc__ or "")
        if dataclasses.is_dataclass(thing) and self.doc.startswith(f"{getattr(thing, '__name__', '')}("):
            self.doc = ""

    @cached_property
    def text(self) -> str:
        """Return the Markdown; text set in by four spaces is kept as it is."""
        parts = re.split(r"\n\s*\n", self.doc)
        return "\n\n".join(self._part(part) for part in parts if part.strip())

    def _part(self, part: str) -> str:
        if part.startswith(">>>"):
            return "```python\n" + "\n".join([*self._imports(), part]) + "\n\n```"
        if part.startswith("    "):
            return "```text\n" + inspect.cleandoc(part) + "\n```"
        return " ".join(part.split()).replace("``", "`")

    def _imports(self) -> list[str]:
        """Import what the example takes from its module's own names."""
        examples = doctest.DocTestParser().get_examples(self.doc)
        names = [n for e in examples for n in ast.walk(ast.parse(e.source)) if isinstance(n, ast.Name)]
        made = {n.id for n in names if isinstance(n.ctx, ast.Store)}
        brought = {a.asname or a.name for e in examples for n in ast.walk(ast.parse(e.source)) for a in _aliases(n)}
        used = {n.id for n in names} - made - brought - set(dir(builtins))
        lines = [_import(name, self.home) for name in sorted(used) if hasattr(self.home, name)]
        return list(dict.fromkeys(lines))


def _aliases(node: ast.AST) -> list[ast.alias]:
    return node.names if isinstance(node, ast.Import | ast.ImportFrom) else []


def _import(name: str, module: ModuleType) -> str:
    value = getattr(module, name)
    if isinstance(value, ModuleType):
        return f">>> import {value.__name__} as {name}" if value.__name__ != name else f">>> import {name}"
    return f">>> from {_shortest(name, module.__name__)} import {name}"


def _shortest(name: str, module: str) -> str:
    """Name the outermost package that offers a name."""
    parts = module.split(".")
    outer = (".".join(parts[:depth]) for depth in range(1, len(parts)))
    return next((place for place in outer if name in getattr(import_module(place), "__all__", ())), module)


def first_line(thing: Any) -> str:  # noqa: ANN401
    """Return the first sentence of a docstring."""
    return inspect.cleandoc(thing.__doc__ or "").split("\n\n")[0].replace("\n", " ").replace("``", "`")


def code(text: str) -> str:
    """Set text as Python that is not run."""
    return f"```py\n{text}\n```"


AMONG = "Best and optimum, here and on every page, are among weighted means with fixed weights and one Laplace noise."
BEST = re.compile(r"\b(?:optimum|optimal|best design|design is best)\b")


def among(page: str) -> str:
    """Say what a design is the best among, at the end of a page that calls one the best and does not say it."""
    return page if "one Laplace noise" in page or not BEST.search(page) else f"{page}\n{AMONG}\n"


def joined(*parts: str) -> str:
    """Put the parts of a page together."""
    return "\n\n".join(part for part in parts if part) + "\n"
