"""Run one command: what it raises becomes one message and an exit code, and what cannot be shown ends it quietly."""

from __future__ import annotations

import errno
import os
import re
import sys

import typer
from typer.exceptions import TyperException

from optin.cli import screen
from optin.cli.app import app
from optin.cli.settings import debugging
from optin.cli.speaking import spoken, warnings_spoken
from optin.cli.streams import prepare, silence
from optin.errors import OptinError

__all__ = ["call", "run"]

NAME = "optin"
UNEXPECTED = 1
_WORDS = (
    (
        r"Invalid value for '(.+?)'(?: / '.*?')?: Input should be a valid number.*",
        r"\1 must be a number: digits and a point, as in 0.5",
    ),
    (r"Invalid value for '(.+?)'(?: / '.*?')?: Input should be a valid integer.*", r"\1 must be a whole number"),
    (r"Invalid value for '(.+?)'(?: / '.*?')?: ", r"\1 cannot be read: "),
    (r"Missing (?:option|argument) '(.+?)'.*", r"\1 is missing"),
    (r"No such (option|command):? '?([^\s'.]+)'?\.?", r"there is no \1 \2."),
    (r"\(Possible options: (.*)\)", r"Did you mean \1?"),
)
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
    command = typer.main.get_command(app)
    with command.make_context(NAME, arguments) as context:
        command.invoke(context)


def _guarded(arguments: list[str]) -> int:
    if f"_{NAME.upper()}_COMPLETE" in os.environ:
        app(arguments, prog_name=NAME)
    try:
        call(arguments)
    except typer.Exit as leaving:
        return leaving.exit_code
    except TyperException as error:
        return _misread(error)
    except OptinError as error:
        screen.note(f"{NAME}: {spoken(str(error))}", bad=True)
        return error.exit_code
    except OSError:
        raise
    except Exception as error:
        return _unexpected(error)
    return 0


def _misread(error: TyperException) -> int:
    """Say what cannot be read of a command line, in the words and the place of every other message."""
    context = getattr(error, "ctx", None)
    where = context.command_path if context is not None else NAME
    if type(error).__name__ == "NoArgsIsHelpError":  # nothing typed: the help is the message
        sys.stderr.write(f"{error.format_message()}\n")
    else:
        screen.note(f"{NAME}: {_mended(error.format_message())} See {where} --help", bad=True)
    return error.exit_code


def _mended(words: str) -> str:
    """Turn a parser's sentence into one of ours.

    >>> _mended("Invalid value for '--limit': Input should be a valid number, unable to parse string as a number")
    '--limit must be a number: digits and a point, as in 0.5.'
    >>> _mended("Missing argument 'PEOPLE'.")
    'PEOPLE is missing.'
    """
    for pattern, ours in _WORDS:
        words = re.sub(pattern, ours, words)
    bare = words.replace("'", "").rstrip(".")
    ended = bare if bare.endswith("?") else f"{bare}."
    return ended if ended[:2].isupper() else ended[0].lower() + ended[1:]


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
