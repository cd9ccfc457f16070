"""How answers are kept until the result is drawn: by the web service, or in files of the operator."""

from __future__ import annotations

from dataclasses import dataclass

from optin.announcement import Announcement
from optin.announcement.terms import SEALED_ANSWERS
from optin.errors import BadInput
from optin.wording.language import N_, _
from optin.wording.records import Brief


@dataclass(frozen=True, repr=False)
class Keeping(Brief):
    """Where answers are, how long, and until when they can be taken back."""

    name: str
    where: str
    retention: str
    last_moment: str
    flow: tuple[str, ...]
    flow_of_one_visit: tuple[str, ...] = ()

    def flow_under(self, offer: Announcement) -> tuple[str, ...]:
        """List how data flows under this offer: answers come after it, or before it and with the limits."""
        one_visit = (offer.terms.conditions.mode or "").startswith(SEALED_ANSWERS)
        return self.flow_of_one_visit if one_visit and self.flow_of_one_visit else self.flow

    def withdrawal(self, offer: Announcement) -> str:
        """Say how and until when someone can withdraw, with the date if one was stated."""
        until = offer.terms.conditions.answers_until
        taken = (_("Answers are taken until {until}.", until=until),) if until else ()
        return " ".join((_(self.last_moment), *taken))


SERVICE = Keeping(
    "service",
    N_("the database of the web service, encrypted with a key that is kept in a file outside of it"),
    N_(
        "Answers are unreadable once the round ends: their key is destroyed when the result is drawn, or the round is cancelled"
        " or begun anew. What was promised and spent stays under a random id; a person's account until they leave."
    ),
    N_("Until answers are closed, on the person's own page: decline, or leave. After that an answer is counted once."),
    (
        N_("A person opens an invitation, or an account without a name, and states the most epsilon they accept."),
        N_("The plan is made from these limits; the offer is announced, and can no longer change."),
        N_("Each person sees what it means for them, and joins with their answers or declines."),
        N_("Answers are encrypted as they arrive, and are opened only once the quorum is met."),
        N_("One result is drawn with noise, and is published; the key of the answers is destroyed."),
        N_("Everyone keeps a receipt."),
    ),
    (
        N_(
            "A person opens an invitation, or an account without a name, and sends in one visit the most epsilon they accept and"
            " their answers, before there is an offer."
        ),
        N_("Answers are encrypted as they arrive, and are opened only once the quorum is met."),
        N_("The plan is made from these limits; the offer is announced, and can no longer change."),
        N_(
            "Each person can then see what it means for them, and change or withdraw their answers; whoever does nothing takes"
            " part with what they sent."
        ),
        N_("One result is drawn with noise, and is published; the key of the answers is destroyed."),
        N_("Everyone keeps a receipt."),
    ),
)
FILES = Keeping(
    "files",
    N_("a table on the operator's own machine, or in the operator's database"),
    N_(
        "The table of answers is the operator's, and optin does not delete it: ask the operator for a date. The ledger keeps what"
        " was promised and spent under the ids of the table, and no answer."
    ),
    N_("Until the result is drawn, by telling the operator, who writes it down (optin ledger decline)."),
    (
        N_("The operator collects the most epsilon that each person accepts."),
        N_("The plan is made from these limits; the offer is announced, and can no longer change."),
        N_("Each person is shown the offer, and joins with their answers or declines."),
        N_("The operator reads the answers of those who joined into one table."),
        N_("One result is drawn with noise, and is published."),
        N_("Everyone can ask for a receipt."),
    ),
)


def keeping_named(name: str) -> Keeping:
    """Find a way of keeping answers by its name.

    >>> keeping_named("files").name
    'files'
    """
    by_name = {each.name: each for each in (SERVICE, FILES)}
    if name not in by_name:
        raise BadInput("answers are kept by the service or in files, and not otherwise")
    return by_name[name]
