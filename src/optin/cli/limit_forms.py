"""``optin form``: the limit question for other people's forms, in the words of the web pages."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from optin.cli.output import Output
from optin.cli.screen import note, say
from optin.forms import limit_form

Kind = Annotated[str, typer.Argument(metavar="text|paper|redcap|limesurvey", help="For which form.")]
FormFile = Annotated[
    Path | None,
    typer.Option("-o", "--output", metavar="FILE", help="Where to write it.", show_default="standard output"),
]


def write_form(kind: Kind, output: FormFile = None) -> None:
    """Write the limit question for a form: as text, for paper, as a REDCap data dictionary or a LimeSurvey question.

    Whatever the form exports of the answer, codes or words, optin plan reads as its epsilon: name the column with --limits.
    Upload the dictionary (CSV) to a new REDCap project, or add its last line to your own; import the LimeSurvey file (lsq) into
    a group of questions.

    Example: optin form redcap -o dictionary.csv
    """
    text = limit_form(kind)
    if output is None:
        say(text.rstrip("\n"))
        return
    with Output(output) as file:
        file.write(text)
    note(f"wrote {output}")
