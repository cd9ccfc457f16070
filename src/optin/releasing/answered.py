"""What a release counted for one question, and the noisy integers that it published."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from optin.announcement.numbers import ExactSums
from optin.formats.strict_json import Fields, real, wide
from optin.wording.groups import in_tens

NOTHING = ExactSums(0, 0)


@dataclass(frozen=True)
class Answered:
    """Who is counted, in sums: how many people, the tilt of their weights (E15), what they gave in grains, and N + Z (E13).

    A question that was ``dropped`` says why; nothing is published of it, and nobody is charged for it.
    """

    people: int
    tilt: float = 0.0
    sums: ExactSums = field(default=NOTHING, repr=False)
    noisy_totals: tuple[int, ...] = field(default=(), repr=False)
    dropped: str = ""

    def public(self, *, of_group: bool = False) -> dict[str, Any]:
        """Write what everyone may read, as JSON holds it; of a group, people are counted in tens."""
        people = in_tens(self.people) if of_group else self.people
        return {"people": people, "tilt": real(self.tilt), "dropped": self.dropped}

    def sealed(self, *, of_group: bool = False) -> dict[str, Any]:
        """Write the exact sums and the noisy integers, as JSON holds them; of a group, the exact count too."""
        counted = {"people": self.people} if of_group else {}
        return {**counted, **self.sums.to_record(), "noisy_totals": [wide(total) for total in self.noisy_totals]}

    @classmethod
    def from_fields(cls, public: Fields, sealed: Fields, *, of_group: bool = False) -> Answered:
        """Read what `public` and `sealed` wrote."""
        told = public.take_count("people")
        found = cls(
            people=sealed.take_count("people") if of_group else told,
            tilt=public.take_real("tilt"),
            dropped=public.take_text("dropped"),
            sums=ExactSums.from_fields(sealed),
            noisy_totals=sealed.take_integers("noisy_totals"),
        )
        public.finish()
        sealed.finish()
        return found
