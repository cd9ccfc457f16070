"""Campaigns as their analysts see them: drafts, invitations, counts, and the log."""

from __future__ import annotations

import base64
import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import Connection, Row, func, insert, or_, select, update

from optin.agents.grouping import fault_of
from optin.announcement import Announcement
from optin.campaign.history import released
from optin.client.wire import Event
from optin.errors import BadInput, PromiseBroken
from optin.releasing import Release
from optin.web.schema import campaigns, events, invitations, jobs, roles
from optin.web.service.core import Service, hashed, log_event, new_id, new_secret, words_of
from optin.web.service.deadlines import WAITING, publish_by, window_end
from optin.web.service.drafts import LONGEST, Draft, checked_draft, last_moment
from optin.web.service.identities import checked_ids, note_ids
from optin.web.service.life import possible, warning
from optin.web.service.lookups import READER, count, job_of, joined_count, owned_row
from optin.web.service.records import Campaign, Visitor
from optin.web.service.schedule import next_by_itself
from optin.web.service.turnout import registered_by_group, turnout_of
from optin.web.transactions import hold
from optin.wording.groups import in_tens
from optin.wording.language import Day
from optin.wording.sentences import Sentence

MOST_INVITATIONS = 1000
BEFORE_REGISTRATION_CLOSES = ("draft", "registration")


@dataclass(frozen=True)
class Invited:
    """Secrets of invitations; ``before`` says that the same page made them already, and nothing new was made."""

    secrets: list[str] = field(repr=False)
    before: bool = False


def create(service: Service, analyst: Visitor, draft: Draft) -> str:
    """Begin a campaign as a draft."""
    draft, name, now = checked_draft(draft), new_id(), service.clock()
    _expect_day_to_come(service, draft)
    row = {"id": name, "owner": analyst.account, "draft": draft.to_json(), "public": draft.public, "state": "draft"}

    def work(connection: Connection) -> None:
        times = {"created_at": now, "changed_at": now}
        connection.execute(insert(campaigns).values({**row, **times, "round": 1}))
        log_event(connection, now, "created", "the campaign was drafted", campaign=name, round=1)

    service.change(work)
    return name


def _expect_day_to_come(service: Service, draft: Draft) -> None:
    """Refuse a last day that is over as it is written down, not only when registration is to be opened."""
    last = last_moment(draft)
    if last is not None and service.clock() >= last:
        raise BadInput("the last day to answer, {day}, is over: choose a later one", day=Day.of(draft.answer_by))


def mark_of(draft: Draft) -> str:
    """Mark a draft as it is, for whoever changes it later."""
    return hashed(draft.to_json())[:32]


def revise(service: Service, analyst: Visitor, campaign: str, draft: Draft, *, since: str = "") -> None:
    """Change a draft; once registration is open people rely on what it says.

    Words and quorum are under the announcement's fingerprint; before there is one, nothing but this keeps them. Whoever says by
    ``since`` which one they opened overwrites nothing that a colleague kept meanwhile.
    """
    draft = checked_draft(draft)
    _expect_day_to_come(service, draft)

    def work(connection: Connection) -> None:
        owned_row(connection, analyst, campaign)
        hold(connection, campaign)
        row = owned_row(connection, analyst, campaign)
        _expect_draft(row)
        now = Draft.from_json(row.draft)
        if since and mark_of(now) != since and now != draft:
            raise PromiseBroken(
                "this draft was changed since you opened it, perhaps by a colleague; look at theirs in another window. Nothing "
                "is kept yet: kept once more, yours takes its place"
            )
        new = {"draft": draft.to_json(), "public": draft.public, "changed_at": service.clock()}
        connection.execute(update(campaigns).where(campaigns.c.id == campaign).values(new))

    service.change(work)


def to_revise(service: Service, analyst: Visitor, campaign: str) -> Draft:
    """Return a draft that may still be changed."""

    def look(connection: Connection) -> Draft:
        row = owned_row(connection, analyst, campaign)
        _expect_draft(row)
        return Draft.from_json(row.draft)

    return service.read(look)


def _expect_draft(row: Row[Any]) -> None:
    if row.state != "draft":
        raise PromiseBroken(
            "registration was opened, and people rely on the question, its purpose, unit, bounds and quorum as they were "
            "then: nothing of it can be changed. Cancel, and draft a new campaign"
        )


def mine(service: Service, analyst: Visitor) -> list[Campaign]:
    """List the campaigns in which this analyst has a role, newest first."""
    given = select(roles.c.campaign).where(roles.c.account == analyst.account)
    own = or_(campaigns.c.owner == analyst.account, campaigns.c.id.in_(given))
    query = select(campaigns).where(own).order_by(campaigns.c.created_at.desc())
    return service.read(lambda connection: [_view(service, connection, row) for row in connection.execute(query).all()])


def show(service: Service, analyst: Visitor, campaign: str) -> Campaign:
    """Show one campaign."""
    return service.read(
        lambda connection: _view(service, connection, owned_row(connection, analyst, campaign, least=READER))
    )


def invite(
    service: Service,
    analyst: Visitor,
    campaign: str,
    number: int,
    *,
    group: str | None = None,
    ids: Sequence[str] = (),
    page: str = "",
) -> Invited:
    """Make one-time secrets to send to people, all of one public ``group`` if it is named; each is shown now and never again.

    With ``ids``, one for each of them in their order: someone invited again by the same id keeps one total over all campaigns.
    With a ``page``, a mark that only the page knows which sends this, a page that is sent again makes no more of them.
    """
    group, ids = checked_group(group), checked_ids(ids)
    number = len(ids) or number
    if not 1 <= number <= MOST_INVITATIONS:
        raise BadInput("make 1 to {most_invitations} invitations at a time", most_invitations=MOST_INVITATIONS)
    asked = json.dumps([campaign, page, number, group, ids])
    secrets = [_secret_of(service, asked, at) if page else new_secret() for at in range(number)]
    now = service.clock()
    rows = [
        {"secret": hashed(s), "kind": "person", "campaign": campaign, "created_at": now, "group_name": group}
        for s in secrets
    ]

    def work(connection: Connection) -> Invited:
        row = owned_row(connection, analyst, campaign)
        if page:
            hold(connection, campaign)  # of one page that is sent twice at once, one makes them
        if count(connection, invitations, invitations.c.secret == hashed(secrets[0])):
            return Invited(secrets, before=True)
        if row.state not in BEFORE_REGISTRATION_CLOSES:
            raise PromiseBroken("registration is closed: an invitation would lead nowhere")
        expect_grouped(connection, row, group)
        connection.execute(insert(invitations), rows)
        if ids:
            note_ids(service, connection, row, ids, secrets)
        words = (
            Sentence("{number} invitations were made", number=number)
            if group is None
            else Sentence("{number} invitations were made to one group", number=number)
        )
        log_event(connection, now, "invited", words, campaign=campaign, round=row.round)
        return Invited(secrets)

    return service.change(work)


def _secret_of(service: Service, asked: str, at: int) -> str:
    """Derive a secret from what was asked for, as long and as hard to guess as one that is drawn."""
    derived = bytes.fromhex(service.keys.digest("invitations of a page", f"{at}:{asked}"))
    return base64.urlsafe_b64encode(derived).rstrip(b"=").decode()


def checked_group(group: str | None) -> str | None:
    """Refuse the name of a group that could not be announced, or not be shown on one line."""
    group = None if group is None else group.strip()
    if group and (fault_of(group) or not group.isprintable() or len(group) > LONGEST["group"]):
        raise BadInput(
            "the name of a group must be text on one line, of at most {most} characters", most=LONGEST["group"]
        )
    return group or None


def expect_grouped(connection: Connection, row: Row[Any], group: str | None) -> None:
    """Refuse a group where others come without one, or none where others have one: everyone is in a group, or nobody."""
    odd = select(invitations.c.secret).where(invitations.c.campaign == row.id).limit(1)
    odd = odd.where(invitations.c.group_name.is_(None) if group else invitations.c.group_name.is_not(None))
    if group and Draft.from_json(row.draft).open_link:
        raise BadInput(
            "an open link says of nobody which group they are in: groups are for lists and links of one person"
        )
    if group and row.public:
        raise BadInput("where anyone may come in, nobody is in a group: groups are for campaigns by invitation")
    if connection.execute(odd).first() is not None:
        raise BadInput(
            "everyone who is invited is in a group, or nobody is: earlier invitations of this campaign differ"
        )


def invited_by_group(service: Service, analyst: Visitor, campaign: str) -> dict[str, int]:
    """Count who is invited, not who came, in each public group."""

    def look(connection: Connection) -> dict[str, int]:
        row = owned_row(connection, analyst, campaign, least=READER)
        here = (invitations.c.campaign == row.id, invitations.c.group_name.is_not(None))
        query = select(invitations.c.group_name, func.count()).where(*here).group_by(invitations.c.group_name)
        return {name: int(people) for name, people in connection.execute(query.order_by(invitations.c.group_name))}

    return service.read(look)


def registered_in_tens(service: Service, analyst: Visitor, campaign: str) -> dict[str, int]:
    """Count in tens who registered in each group that was invited; nothing while people still come."""

    def look(connection: Connection) -> dict[str, int]:
        row = owned_row(connection, analyst, campaign, least=READER)
        return {} if row.state == "registration" else registered_by_group(connection, row)

    came = service.read(look)
    return {name: in_tens(came.get(name, 0)) for name in invited_by_group(service, analyst, campaign)} if came else {}


def log(service: Service, analyst: Visitor, campaign: str) -> list[Event]:
    """List what was done with a campaign, oldest first."""

    def look(connection: Connection) -> list[Event]:
        owned_row(connection, analyst, campaign, least=READER)
        query = select(events).where(events.c.campaign == campaign).order_by(events.c.number)
        return [Event(row.at, row.kind, row.round, words_of(row)) for row in connection.execute(query)]

    return service.read(look)


def possible_now(service: Service, connection: Connection, row: Row[Any]) -> tuple[str, ...]:
    """List the steps that a campaign may take as it is; what the ledger has released can only be published.

    Sealed answers are not closed before the time is over that people have to look at their deal.
    """
    if row.state in WAITING and released(connection, row.id, row.round):
        return ("release",)
    draft = Draft.from_json(row.draft)
    too_few = row.state == "closed" and _too_few_joined(connection, row, draft.quorum_people)
    steps = possible(row.state, sealed=draft.sealed, too_few=too_few)
    end = window_end(connection, row, draft.window_hours) if draft.sealed else None
    waits = end is not None and service.clock() < end
    return tuple(step for step in steps if step != "close") if waits else steps


def _too_few_joined(connection: Connection, row: Row[Any], quorum: int) -> bool:
    """Say whether a closed round cannot be released: by the count that its analyst sees, or since a release was refused.

    Counting only those who are promised something would tell the analyst how many have nothing left.
    """
    refused = (jobs.c.campaign == row.id, jobs.c.kind == "release", jobs.c.state == "failed")
    since_closing = jobs.c.created_at >= row.changed_at
    joined = joined_count(connection, row.id, row.round, joined=True)
    return joined < quorum or count(connection, jobs, *refused, since_closing) > 0


def _view(service: Service, connection: Connection, row: Row[Any]) -> Campaign:
    invited = (invitations.c.campaign == row.id, invitations.c.kind == "person")
    job, draft = job_of(connection, row.id), Draft.from_json(row.draft)
    came = turnout_of(connection, row)
    due = next_by_itself(connection, row)
    return Campaign(
        id=row.id,
        draft=draft,
        state=row.state,
        round=row.round,
        invited=count(connection, invitations, *invited),
        redeemed=came.redeemed,
        registered=came.registered,
        joined=came.joined,
        declined=came.declined,
        job=job,
        announcement=Announcement.from_json(row.announcement) if row.announcement else None,
        release=Release.from_json(row.release) if row.release else None,
        created_at=row.created_at,
        changed_at=row.changed_at,
        steps=() if job and job.unfinished else possible_now(service, connection, row),
        warning=warning(draft, row.state, registered=came.registered, joined=came.joined),
        publish_by=publish_by(service, connection, row),
        next_step=due.step if due else None,
        next_at=due.at if due else None,
        enough=row.state == "closed"
        and joined_count(connection, row.id, row.round, joined=True) >= draft.quorum_people,
    )
