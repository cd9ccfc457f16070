"""Write the reference from the code: every command with its options, every public name with its docstring.

Run it after a change of either: ``python docs/reference/generate.py``. A test compares the committed pages with what
this would write, so a page cannot fall behind. Examples keep running: each is preceded by the imports it needs.
"""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Iterator
from functools import cached_property
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

from meanings import MEANINGS
from rendering import Words, among, code, first_line, joined, returns, signature

HERE = Path(__file__).parent
NOTE = "<!-- Written by generate.py: change the code's docstrings and help texts, then run it again. -->"

MODULES = {
    "optin": "python.md",
    "optin.campaign": "campaign.md",
    "optin.ledger": "ledger.md",
    "optin.participation": "participation.md",
    "optin.baselines": "baselines.md",
    "optin.dynamics": "dynamics.md",
    "optin.incentives": "incentives.md",
    "optin.relations": "relations.md",
    "optin.simulation": "simulation.md",
    "optin.figures": "figures.md",
    "optin.report": "report.md",
    "optin.client": "client.md",
}
BEHIND = {
    "optin": (
        "optin.agents.Bucket",
        "optin.planning.question_plan.QuestionPlan",
        "optin.planning.wish.Target",
        "optin.planning.wrong_variance.WrongVariance",
        "optin.releasing.record.Versions",
    ),
    "optin.ledger": ("optin.ledger.verification.OutsideCopy", "optin.ledger.ledger.Bounded"),
}
"""Records that a public name gives or takes and no public module lists."""
PARTS = {"Facts", "Measured", "MeasuredErrors", "PlanNumbers", "WithIntervals"}
"""Bases that hold a part of a public class: what they define is listed with it."""
MADE_BY_HAND = {
    "Harmonic",
    "Ink",
    "LinearBenefit",
    "Lognormal",
    "Mix",
    "PrivacyConstrained",
    "QuasiLinear",
    "Quorum",
    "Source",
    "Terms",
    "TwoLevel",
    "ValueLaw",
}
"""Records that users make themselves; the others are results, so how to make one is left out."""


def pages() -> dict[str, str]:
    """Return every page by file name."""
    written = {page: module_page(name) for name, page in MODULES.items()}
    own = {
        "README.md": index_page(),
        "commands.md": commands_page(),
        "errors.md": errors_page(),
        "routes.md": routes_page(),
    }
    return {name: among(page) for name, page in (own | written).items()}


def public_names(module: str) -> list[str]:
    """List what a module offers, with the records its functions return."""
    return [*import_module(module).__all__, *(name.rpartition(".")[2] for name in BEHIND.get(module, ()))]


def index_page() -> str:
    """Write the list of pages, each with the first sentence of what it documents."""
    rows = [f"| [{page}]({page}) | {first_line(import_module(name))} |" for name, page in MODULES.items()]
    return joined(
        "# Reference",
        NOTE,
        "Every command and every public name, written from the code by `generate.py`. For the words used here see"
        " [the dictionary](../theory/notation.md).",
        "\n".join(
            [
                "| page | what it documents |",
                "|---|---|",
                "| [commands.md](commands.md) | Every command, its options, environment variables and exit codes. |",
                "| [errors.md](errors.md) | Every failure, with its exit code and HTTP status. |",
                "| [routes.md](routes.md) | Every route of the web service. |",
                *rows,
            ]
        ),
    )


# --- commands ---------------------------------------------------------------------------------------------------------


def commands_page() -> str:
    """Write every command with its arguments and options."""
    from optin.cli.environment import settings_markdown

    parts = [
        "# Commands",
        NOTE,
        "Plural options name columns, singular ones give numbers. `optin COMMAND --help` shows",
    ]
    parts[-1] += " the same words on a terminal."
    for name, command in commands():
        parts += [f"## {name}", usage(name, command), command.help or "", parameters(command)]
    parts += ["## Environment variables", settings_markdown(), "## Exit codes", exit_codes()]
    return joined(*parts)


def commands() -> Iterator[tuple[str, Any]]:
    """List the commands that do something, as they are typed."""
    import typer

    from optin.cli.app import app

    def below(name: str, command: Any) -> Iterator[tuple[str, Any]]:  # noqa: ANN401 - click's or typer's own click's
        inner = getattr(command, "commands", None)
        if inner is None:
            yield name, command
        for word, part in (inner or {}).items():
            yield from below(f"{name} {word}", part)

    return below("optin", typer.main.get_command(app))


def shown(command: Any) -> list[Any]:  # noqa: ANN401
    """List the parameters that users are meant to give."""
    return [p for p in command.params if not getattr(p, "hidden", False) and "--help" not in p.opts]


def usage(name: str, command: Any) -> str:  # noqa: ANN401
    """Write one line that shows what must be given."""
    words = [name, *(str(p.metavar or p.name) for p in shown(command) if p.param_type_name == "argument")]
    for option in shown(command):
        if option.param_type_name == "option" and option.required:
            words.append(f"{option.opts[0]} {option.metavar}")
    return "```text\n" + " ".join([*words, "[OPTIONS]"]) + "\n```"


def parameters(command: Any) -> str:  # noqa: ANN401
    """Write the table of a command's arguments and options."""
    rows = [f"| {spelling(p)} | {p.help or ''} | {fallback(p)} |" for p in shown(command)]
    return "\n".join(["| argument or option | meaning | default |", "|---|---|---|", *rows])


def spelling(parameter: Any) -> str:  # noqa: ANN401
    """Write how a parameter is typed."""
    if parameter.param_type_name == "argument":
        return f"`{parameter.metavar or parameter.name}`".replace("|", "\\|")
    value = "" if parameter.is_flag else f" {parameter.metavar or 'PATH'}"
    return ", ".join(f"`{name}{value}`" for name in parameter.opts).replace("|", "\\|")


def fallback(parameter: Any) -> str:  # noqa: ANN401
    """Write what happens if a parameter is left out."""
    if parameter.required:
        found = "required"
    elif isinstance(parameter.show_default, str):
        found = parameter.show_default
    elif parameter.default is None or parameter.is_flag:
        found = ""
    else:
        found = f"`{parameter.default}`"
    return found + (f" (or `{parameter.envvar}`)" if parameter.envvar else "")


def exit_codes() -> str:
    """Write what a script can tell from the exit code."""
    rows = [f"| {kind.exit_code} | [{kind.__name__}](errors.md#{kind.__name__.lower()}) |" for kind in failures()]
    done = ["| 0 | done |", "| 1 | something unexpected; set `OPTIN_DEBUG=1` to see it |", "| 130 | interrupted |"]
    return "\n".join(["| exit code | meaning |", "|---|---|", *sorted([*rows, *done], key=_code)])


def _code(row: str) -> int:
    return int(row.split("|")[1])


# --- failures ---------------------------------------------------------------------------------------------------------


def failures() -> list[type[Any]]:
    """List every failure optin raises on purpose, below the root of the tree."""
    import optin.errors
    import optin.ledger  # adds one of its own

    found, ahead = [], [optin.errors.OptinError]
    while ahead:
        below = ahead.pop().__subclasses__()
        found, ahead = [*found, *below], [*ahead, *below]
    return sorted(found, key=lambda kind: (kind.exit_code, kind.__name__))


def errors_page() -> str:
    """Write every failure with its codes."""
    from optin.errors import OptinError

    parts = ["# Failures", NOTE, "All descend from `optin.OptinError`. A message says what is wrong, where (an index,"]
    parts[-1] += " a line, an id, an act) and what to do; it never shows a private value."
    for kind in [OptinError, *failures()]:
        codes = f"Exit code {kind.exit_code}, HTTP status {kind.http_status}."
        also = " Also a `ValueError`." if issubclass(kind, ValueError) else ""
        parts += [f"## {kind.__name__}", f"`{home(kind)}`. {codes}{also}", Words(kind).text]
    return joined(*parts)


# --- routes -----------------------------------------------------------------------------------------------------------


def routes_page() -> str:
    """Write every route of the web service: the JSON interface from its OpenAPI document, and the pages."""
    parts = ["# Routes", NOTE, f"The web service ({SERVE}) answers here. Its OpenAPI document, with examples, is at"]
    parts[-1] += (
        " `/api/openapi.json`. Every change needs the `Origin` header and, once signed in, `X-CSRF-Token`"
        f" ([why]({THREATS})); `optin.Client` ([client.md](client.md)) sends both."
    )
    document = interface().openapi()
    rows = ["| request | what it does | takes | gives |", "|---|---|---|---|"]
    for path, operations in document["paths"].items():
        rows += [_route(path, method, operation) for method, operation in operations.items()]
    parts += ["## JSON interface", "\n".join(rows), "## Statuses", _statuses(document)]
    lines = [f"| `{method} {path}` | {words} |" for path, method, words in page_routes()]
    return joined(*parts, "## Pages", "\n".join(["| request | what it shows or does |", "|---|---|", *lines]))


SERVE, THREATS = "[how to run it](../how-to/serve.md)", "../threat-model.md"


def interface() -> Any:  # noqa: ANN401 - a FastAPI application
    """Make an application of the JSON interface alone; it has no store behind it."""
    from fastapi import FastAPI

    from optin.web import api

    app = FastAPI()
    app.include_router(api.router)
    return app


def page_routes() -> list[tuple[str, str, str]]:
    """List the pages: path, method, and the first sentence of their handler."""
    from optin.web.pages import router

    return [
        (route.path, method, first_line(route.endpoint))
        for route in _below(router)
        for method in sorted(route.methods - {"HEAD"})
    ]


def _below(router: Any) -> Iterator[Any]:  # noqa: ANN401
    for route in router.routes:
        inner = getattr(route, "original_router", None)
        yield from [route] if inner is None else _below(inner)


def _route(path: str, method: str, operation: dict[str, Any]) -> str:
    words = operation["description"].split("\n")[0]
    done = next(status for status in operation["responses"] if status.startswith("2"))
    body = operation.get("requestBody", {}).get("content", {}).get("application/json", {}).get("schema", {})
    given = operation["responses"][done].get("content", {}).get("application/json", {}).get("schema", {})
    return f"| `{method.upper()} {path}` | {words} | {_schema(body)} | {done} {_schema(given)} |"


def _schema(schema: dict[str, Any]) -> str:
    return f"`{schema['$ref'].rpartition('/')[2]}`" if "$ref" in schema else ""


def _statuses(document: dict[str, Any]) -> str:
    from optin.web.api.responses import FAILURES

    rows = [f"| {status} | {told['description']} |" for status, told in FAILURES.items()]
    words = 'Any route may also answer with one of these; the body is `{"error": words}` and repeats nothing sent.'
    return joined(words, "\n".join(["| status | meaning |", "|---|---|", *rows])).strip()


def home(kind: type[Any]) -> str:
    """Name the shortest public place a class can be imported from."""
    import optin

    return f"optin.{kind.__name__}" if kind.__name__ in optin.__all__ else f"optin.ledger.{kind.__name__}"


# --- Python -----------------------------------------------------------------------------------------------------------


def module_page(name: str) -> str:
    """Write every public name of a module."""
    module = import_module(name)
    parts = [f"# {name}", NOTE, Words(module).text]
    for word in sorted(module.__all__, key=str.lower):
        parts += entry(name, word, getattr(module, word))
    for path in BEHIND.get(name, ()):
        parts += entry(path.rpartition(".")[0], path.rpartition(".")[2], _found(path))
    return joined(*parts)


def _found(path: str) -> Any:  # noqa: ANN401
    module, _, name = path.rpartition(".")
    return getattr(import_module(module), name)


def entry(module: str, name: str, thing: Any) -> list[str]:  # noqa: ANN401
    """Write one public name: what it is, what it takes, why it is right, an example."""
    parts = [f"## {name}"]
    if isinstance(thing, ModuleType):
        return [*parts, f"The module [`{thing.__name__}`]({MODULES[thing.__name__]}): {first_line(thing)}"]
    if inspect.isclass(thing) and issubclass(thing, BaseException):
        return [*parts, f"A failure: {first_line(thing)} See [errors.md](errors.md#{name.lower()})."]
    if inspect.isclass(thing):
        return [*parts, *class_entry(module, name, thing)]
    if inspect.isfunction(thing):
        return [*parts, code(f"{module}.{name}{signature(thing)}"), Words(thing).text]
    if dataclasses.is_dataclass(thing):
        return [*parts, f"`{module}.{name}`: a ready-made {type(thing).__name__}."]
    return [*parts, f"`{module}.{name} = {thing!r}`"]


def class_entry(module: str, name: str, kind: type[Any]) -> list[str]:
    """Write a class: how to make one, its fields, properties and methods."""
    parts = [code(f"{module}.{name}{signature(kind)}")] if name in MADE_BY_HAND else [f"`{module}.{name}`"]
    parts.append(Words(kind).text)
    rows = [f"| `{field}` | `{_cell(of)}` | {_cell(meaning)} |" for field, of, meaning in attributes(kind)]
    if rows:
        parts.append("\n".join(["| attribute | type | meaning |", "|---|---|---|", *rows]))
    for method, function in methods(kind):
        parts += [f"### {name}.{method}", code(f"{name}.{method}{signature(function)}"), Words(function).text]
    return parts


def attributes(kind: type[Any]) -> list[tuple[str, str, str]]:
    """List the fields and properties of a class with their types and meanings."""
    fields = dataclasses.fields(kind) if dataclasses.is_dataclass(kind) else ()
    known = MEANINGS["everywhere"] | MEANINGS.get(kind.__name__, {})
    rows = [(f.name, str(f.type), known.get(f.name, "")) for f in fields if not f.name.startswith("_")]
    computed = ((n, p.fget if isinstance(p, property) else p.func) for n, p in members(kind, property, cached_property))
    return [*rows, *((n, returns(function), first_line(function)) for n, function in computed)]


def members(kind: type[Any], *of: type[Any]) -> list[tuple[str, Any]]:
    """List the public members of some sorts that a class defines itself, in the order of its source."""
    return [(n, m) for n, m in defined(kind) if isinstance(m, of) and not n.startswith("_")]


def defined(kind: type[Any]) -> list[tuple[str, Any]]:
    """List what a class defines, with the bases that are parts of it; what it overrides is listed once."""
    parts = (part for part in reversed(kind.__mro__) if part is kind or part.__name__ in PARTS)
    return list({name: found for part in parts for name, found in vars(part).items()}.items())


def methods(kind: type[Any]) -> list[tuple[str, Any]]:
    """List public methods, class methods included, and calling an instance."""
    found = [(n, getattr(kind, n)) for n, m in defined(kind) if inspect.isfunction(m) or isinstance(m, classmethod)]
    return [(n, m) for n, m in found if not n.startswith("_") or n == "__call__"]


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


if __name__ == "__main__":
    for page, text in pages().items():
        (HERE / page).write_text(text, encoding="utf-8")
