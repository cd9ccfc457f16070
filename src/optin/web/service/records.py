"""What the service's functions take and give: records without behaviour."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

from optin.announcement import Announcement, Deal
from optin.client import wire
from optin.releasing import Release
from optin.web.service.drafts import Draft


@dataclass(frozen=True)
class Visitor:
    """Who is signed in, and the token that proves that a form came from our own page."""

    account: str
    kind: Literal["analyst", "person"]
    name: str | None
    session: str = field(repr=False)
    csrf: str = field(repr=False)
    only: str | None = None
    """The one campaign that is shown to whoever came in by an id of an invitation list; None shows all."""


@dataclass(frozen=True, kw_only=True)
class Job(wire.Job):
    """Long work of a campaign: what it is, how far it has come, and why it failed if it did."""

    campaign: str

    @property
    def unfinished(self) -> bool:
        """Whether it waits or runs."""
        return self.state in ("queued", "running")


@dataclass(frozen=True, kw_only=True)
class Campaign(wire.Campaign):
    """A campaign as its analyst sees it: counts in tens, never who, never a limit or a value.

    ``warning`` says what would be lost by closing now; ``publish_by`` when an announced round is cancelled by itself,
    ``next_step`` and ``next_at`` what is done next by itself, and when.
    """

    draft: Draft
    job: Job | None
    announcement: Announcement | None
    release: Release | None
    created_at: float
    changed_at: float
    steps: tuple[str, ...]
    enough: bool
    """Whether enough people joined for a result; told once answers are closed, and False before."""


@dataclass(frozen=True)
class Preview(wire.Outlook):
    """What a design would give, computed from cells or from assumed people, never from single limits."""

    half_width: float
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Published(wire.Published):
    """What may be seen of a campaign, once it is announced: by everyone if it is ``public``, else by those invited."""

    public: bool
    open_link: int
    announcement: Announcement
    release: Release | None
    released_at: float | None


@dataclass(frozen=True, kw_only=True)
class MyCampaign(wire.MyCampaign):
    """A campaign as one of its people sees it: what is asked, and what is theirs.

    ``given_back`` says that the promise of this round is no longer held for them, so that they cannot join it any more;
    ``remaining`` is what is left of their total over all campaigns, None if nothing bounds it yet; ``due`` says what is to be
    done by ``publish_by``: answers "closed" or, once they were closed before, the result "published".
    """

    draft: Draft
    deal: Deal | None = field(repr=False)
    announcement: Announcement | None
    release: Release | None
    due: str | None
    window: float | None = None
    """Until when sealed answers may be changed or withdrawn at least, in seconds since 1970."""
    announce_by: float | None = None
    """Until when sealed answers wait for an announcement at most; then they are destroyed."""
    readable: float | None = None
    """Until when at most those who run the server could read answers."""
    too_late: bool = False
    """Whether registration is over for people: it is closed, or its last day is over and nobody has closed it yet."""


def counts_about(deal: Deal | None) -> int | None:
    """Say how many answers like this one make the whole: the inverse of the weight."""
    return None if deal is None or deal.weight <= 0 else round(1.0 / deal.weight)


def told(deal: Deal | None) -> dict[str, Any] | None:
    """Write a deal in numbers that JSON knows: one past the largest is null.

    >>> told(Deal(1, 1024.0, 1.0, math.inf, None, 0.0))["odds_factor"] is None
    True
    """
    if deal is None:
        return None
    numbers = {name: value for name, value in asdict(deal).items() if name != "questions"}  # one question is asked here
    return {name: value if value is None or math.isfinite(value) else None for name, value in numbers.items()}


@dataclass(frozen=True)
class Me(wire.Totals):
    """What a person has promised and spent over all campaigns, in epsilon; an allowance may be without limit."""

    campaigns: tuple[MyCampaign, ...]
