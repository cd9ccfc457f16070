"""What ``optin plan`` is asked for: one number within bounds, or a sheet of questions."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from optin.errors import BadInput


@dataclass(frozen=True)
class Asking:
    """The options that say what is asked; ``one_number`` are those that go with --bounds alone."""

    sheet: Path | None
    one_number: dict[str, Any]
    slack: float
    target_error: Sequence[str] | None
    wished_error: Sequence[str] | None

    def arguments(self) -> dict[str, Any]:
        """Return what `optin.campaign.plan` takes."""
        return {
            **self.questions(),
            "slack": self.slack,
            "target_error": self._errors("--target-error", self.target_error),
            "wished_errors": self._errors(WISHED, self.wished_error),
        }

    def questions(self) -> dict[str, Any]:
        """Return what is asked alone: bounds and the like of one number, or a sheet."""
        from optin.questions import Sheet

        given = [name for name, value in self.one_number.items() if value is not None and (name, value) != NO_GAP]
        if self.sheet is None and "bounds" not in given:
            raise BadInput("say what is asked: --bounds LO HI for one number, or --sheet sheet.toml for questions")
        if self.sheet is None:
            return self.one_number
        if given:
            raise BadInput(
                "{option} is for one number, and a sheet says such things of each question: leave out {option}, or --sheet",
                option=_OPTIONS[given[0]],
            )
        return {"sheet": Sheet.from_toml(self.sheet)}

    def _errors(self, option: str, given: Sequence[str] | None) -> float | dict[str, float] | None:
        """Read standard errors: a plain one where one number is asked for, else by the names of questions."""
        if not given:
            return None
        if self.sheet is None and option == WISHED:
            raise BadInput("{option} goes with --sheet, whose questions it names", option=option)
        if self.sheet is None and len(given) == 1 and "=" not in given[0]:
            return _number(option, given[0])
        if self.sheet is None:
            raise BadInput("{option} takes one number where no --sheet names questions", option=option)
        pairs = [text.rpartition("=") for text in given]
        if not all(name for name, _, _ in pairs):
            raise BadInput(
                "{option} takes the name of a question and a standard error, as in {option} hours=0.5", option=option
            )
        errors = {name: _number(option, error) for name, _, error in pairs}
        if len(errors) < len(pairs):
            raise BadInput("{option} names a question twice; give one standard error for each", option=option)
        return errors


WISHED = "--wished-error"
NO_GAP = ("max_gap", 0.0)
_OPTIONS = {"bounds": "--bounds", "sd": "--sd", "eta": "--eta", "max_gap": "--max-gap"}


def _number(option: str, text: str) -> float:
    try:
        error = float(text)
    except ValueError:
        error = math.nan
    if math.isnan(error):
        raise BadInput("{option} must be a number: digits and a point, as in 0.5", option=option)
    return error
