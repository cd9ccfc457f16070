"""Run one command: what it raises becomes one message and an exit code, and what cannot be shown ends it quietly."""

from __future__ import annotations

import errno
import functools
import os
import sys
from collections.abc import Iterable
from typing import Any

import typer
from typer.exceptions import TyperException

from optin.cli import screen
from optin.cli.app import app
from optin.cli.dashes import dashed_file
from optin.cli.environment import debugging
from optin.cli.speaking import spoken, warnings_spoken
from optin.cli.streams import prepare, silence
from optin.errors import OptinError, came_of_interrupt
from optin.tables.queries import QUERIES

NAME = "optin"
UNEXPECTED = 1
_NUMBER = "must be a number: digits and a point, as in 0.5"
_WANTED = {
    "float_parsing": _NUMBER,
    "value_error": _NUMBER,
    "int_parsing": "must be a whole number",
    "int_from_float": "must be a whole number",
    "float": _NUMBER,
    "<float float>": _NUMBER,
    "typed_limit": _NUMBER,
    "int": "must be a whole number",
}
"""What was wanted, by what the libraries that read command lines call it: one names the fault, another the type."""
NO_READER = 141  # what a shell reports for a program that stopped because nobody reads its output


def run(arguments: list[str]) -> int:
    """Run a command and return its exit code."""
    prepare()
    try:
        with warnings_spoken():
            code = _guarded(arguments)
        sys.stdout.flush()
    except OSError as error:
        return _unheard(error) if _is_of_output(error) else _unexpected(error)
    return code


def call(arguments: list[str]) -> None:
    """Run a command as if it had been typed, and let whatever it raises pass."""
    with QUERIES.look(), _command().make_context(NAME, arguments) as context:
        _command().invoke(context)


@functools.cache  # a demo runs many commands
def _command() -> Any:  # noqa: ANN401 - of a library that typer keeps to itself
    """Make the command that all others are under."""
    return typer.main.get_command(app)


def _guarded(arguments: list[str]) -> int:
    if f"_{NAME.upper()}_COMPLETE" in os.environ:
        app(arguments, prog_name=NAME)
    try:
        call(arguments)
    except typer.Exit as leaving:
        return leaving.exit_code
    except TyperException as error:
        return _misread(error, arguments)
    except OptinError as error:
        screen.note(f"{NAME}: {spoken(error.sentence)}", bad=True)
        return error.exit_code
    except OSError:
        raise
    except Exception as error:
        if came_of_interrupt(error):
            raise KeyboardInterrupt from None
        return _unexpected(error)
    return 0


def _misread(error: TyperException, typed: list[str]) -> int:
    """Say what cannot be read of a command line, in the words and the place of every other message."""
    context = getattr(error, "ctx", None)
    where = context.command_path if context is not None else NAME
    if type(error).__name__ == "NoArgsIsHelpError":  # nothing typed: the help is the message
        sys.stderr.write(f"{error.format_message()}\n")
    else:
        words = _mended(error).rstrip(".")
        meant = dashed_file(typed) if type(error).__name__ in ("NoSuchOption", "MissingParameter") else ""
        screen.note(f"{NAME}: {words}{'' if words.endswith('?') else '.'}{meant} See {where} --help", bad=True)
    return error.exit_code


def _mended(error: TyperException) -> str:
    """Say what a parser refused in a sentence of ours, by what it refused; its own words where it does not tell.

    >>> _mended(typer.BadParameter("too long", param_hint="--name"))
    '--name cannot be read: too long'
    """
    kind, name = type(error).__name__, _name(error)
    if kind == "MissingParameter":
        return f"{name} is missing"
    if kind == "NoSuchOption":
        near: Iterable[str] = getattr(error, "possibilities", None) or ()
        meant = f". Did you mean {', '.join(sorted(near))}?" if near else ""
        return f"there is no option {getattr(error, 'option_name', '')}{meant}"
    if isinstance(error, typer.BadParameter):
        return f"{name} {_WANTED.get(_fault(error), f'cannot be read: {error.message}')}"
    words = error.format_message().replace("'", "")
    return words[:1].lower() + words[1:]


def _name(error: TyperException) -> str:
    """Name the parameter as it was typed: of two spellings the first."""
    param = getattr(error, "param", None)
    if param is None:
        return str(getattr(error, "param_hint", ""))
    return str(param.metavar or param.name if param.param_type_name == "argument" else param.opts[0])


def _fault(error: TyperException) -> str:
    """Tell what kind of value was wanted, as the library that reads values names it."""
    cause = error.__cause__
    if isinstance(cause, ValueError) and hasattr(cause, "errors"):
        return str(cause.errors()[0]["type"])
    return str(getattr(getattr(getattr(error, "param", None), "type", None), "name", ""))


def _is_of_output(error: OSError) -> bool:
    """Say whether a stream took no more: such failures carry no file's name, and files of ours never let theirs pass."""
    return error.filename is None and error.errno in (errno.EPIPE, errno.ENOSPC, errno.EIO, errno.EBADF, errno.EDQUOT)


def _unheard(why: OSError) -> int:
    """Leave when standard output takes no more; without a word if its reader just left."""
    silence(sys.stdout)
    if why.errno == errno.EPIPE:
        return NO_READER
    screen.note(f"{NAME}: standard output cannot be written: {why.strerror}; what was stored before stays", bad=True)
    return UNEXPECTED


def _unexpected(error: Exception) -> int:
    """Name the kind of failure and keep its text: a library's message may quote a private cell."""
    if debugging():
        raise error
    screen.note(
        f"{NAME}: unexpected {type(error).__name__}; set OPTIN_DEBUG=1 to see where (may show private values)", bad=True
    )
    return UNEXPECTED
