"""What was wished for beside the sheet: a rate of noise, room for decliners, standard errors and what they would take."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from optin.formats.strict_json import Fields
from optin.wording.records import Brief


@dataclass(frozen=True, repr=False)
class Target(Brief):
    """What a wanted standard error would take.

    ``people_needed``: how many people like these in all (None: no number, or too many to name); ``limit_needed``: the
    limit that would do if everyone here had it (None: sampling error alone is larger, or people have costs, not limits).
    """

    error: float
    reached: bool
    people_needed: int | None
    limit_needed: float | None

    @classmethod
    def from_fields(cls, fields: Fields) -> Target:
        """Read it."""
        target = cls(
            error=fields.take_real("error"),
            reached=fields.take_bool("reached"),
            people_needed=fields.maybe("people_needed", fields.take_count),
            limit_needed=fields.maybe("limit_needed", fields.take_real),
        )
        fields.finish()
        return target


@dataclass(frozen=True)
class Wish:
    """``eta`` where the Laplace rate was given (else the best is found), and ``slack`` for decliners (E12).

    ``errors`` are wished standard errors, which decide importance (E19), and ``targets`` what others would take: empty, or
    one for each question, None where nothing was asked.
    """

    eta: float | None = None
    slack: float = 0.0
    errors: tuple[float, ...] = ()
    targets: tuple[Target | None, ...] = ()

    def to_record(self) -> dict[str, Any]:
        """Write it as JSON holds it."""
        targets = [None if target is None else asdict(target) for target in self.targets]
        return {"eta": self.eta, "slack": self.slack, "errors": list(self.errors), "targets": targets}

    @classmethod
    def from_fields(cls, fields: Fields) -> Wish:
        """Read what `to_record` wrote."""
        wish = cls(
            eta=fields.maybe("eta", fields.take_real),
            slack=fields.take_real("slack"),
            errors=fields.take_reals("errors"),
            targets=fields.take_maybe_objects("targets", Target.from_fields),
        )
        fields.finish()
        return wish
