"""The web service: accounts, sessions, invitations, campaigns, registrations, answers, jobs, events."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"

_ID, _HASH = sa.String(32), sa.String(64)


def _key(name: str, kind: Any = _ID) -> sa.Column[Any]:  # noqa: ANN401
    return sa.Column(name, kind, primary_key=True, autoincrement=False)


def _given(name: str, kind: Any = _ID, **more: Any) -> sa.Column[Any]:  # noqa: ANN401
    return sa.Column(name, kind, nullable=False, **more)


def _time(name: str, *, nullable: bool = False) -> sa.Column[float]:
    return sa.Column(name, sa.Float, nullable=nullable)


def _yes_or_no(name: str) -> sa.Column[bool]:
    return _given(name, sa.Boolean(create_constraint=False))


def upgrade() -> None:
    """Create the tables of the web service."""
    _create_accounts()
    _create_invitations()
    _create_campaigns()
    _create_what_people_say()
    _create_work()


def _create_accounts() -> None:
    op.create_table(
        "web_accounts",
        _key("id"),
        _given("kind", sa.String(8)),
        sa.Column("name", sa.String(64), unique=True),
        sa.Column("password", sa.String(128)),
        sa.Column("key", _HASH, unique=True),
        sa.Column("allowance", sa.BigInteger),
        _time("created_at"),
        _time("left_at", nullable=True),
    )
    op.create_table(
        "web_sessions",
        _key("id"),
        _given("account", index=True),
        _given("token", _HASH, unique=True),
        sa.Column("previous", _HASH, index=True),
        _time("created_at"),
        _time("rotated_at"),
        _time("expires_at"),
    )
    op.create_table("web_delays", _key("key", _HASH), _given("failures", sa.Integer), _time("until"))


def _create_invitations() -> None:
    op.create_table(
        "web_invitations",
        _key("secret", _HASH),
        _given("kind", sa.String(8)),
        sa.Column("campaign", _ID),
        sa.Column("account", _ID, index=True),
        _time("created_at"),
        _time("used_at", nullable=True),
    )
    op.create_index("web_invitations_of_campaign", "web_invitations", ["campaign", "account"])


def _create_campaigns() -> None:
    op.create_table(
        "web_campaigns",
        _key("id"),
        _given("owner", index=True),
        _given("draft", sa.Text),
        _yes_or_no("public"),
        _given("state", sa.String(16)),
        _given("round", sa.Integer),
        sa.Column("plan", sa.Text),
        sa.Column("announcement", sa.Text),
        sa.Column("release", sa.Text),
        _time("created_at"),
        _time("changed_at"),
    )


def _create_what_people_say() -> None:
    whose = ("campaign", "person")
    op.create_table(
        "web_registrations",
        _key(whose[0]),
        _key("round", sa.Integer),
        _key(whose[1]),
        _given("step", sa.Integer),
        _time("at"),
    )
    op.create_index("web_registrations_of_person", "web_registrations", ["person"])
    op.create_table(
        "web_answers",
        _key(whose[0]),
        _key("round", sa.Integer),
        _key(whose[1]),
        _yes_or_no("joined"),
        sa.Column("value", sa.LargeBinary),
        _time("at"),
    )
    op.create_index("web_answers_of_person", "web_answers", ["person"])


def _create_work() -> None:
    op.create_table(
        "web_jobs",
        _key("id"),
        _given("campaign", index=True),
        _given("round", sa.Integer),
        _given("kind", sa.String(16)),
        _given("state", sa.String(8)),
        _given("step", sa.String(80)),
        _given("done", sa.BigInteger),
        _given("total", sa.BigInteger),
        sa.Column("error", sa.Text),
        _time("created_at"),
        _time("changed_at"),
    )
    op.create_table(
        "web_events",
        sa.Column("number", sa.BigInteger().with_variant(sa.Integer, "sqlite"), primary_key=True),
        _time("at"),
        sa.Column("campaign", _ID, index=True),
        sa.Column("round", sa.Integer),
        _given("kind", sa.String(32)),
        _given("words", sa.Text),
    )
