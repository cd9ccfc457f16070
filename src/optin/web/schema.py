"""The tables of the web service, in the same metadata and chain of migrations as the ledger's.

    web_accounts       analysts (name, argon2 hash) and people (nothing but a random id and the hash of their key)
    web_sessions       who is signed in, perhaps in one campaign alone; only hashes of the cookies are kept
    web_delays         how long the next try of a password, or the next new account, has to wait
    web_invitations    hashes of one-time secrets: to become an analyst, or to take part in a campaign (in a public group)
    web_invited_ids    ids of an invitation list under a keyed hash, and whose account each led to
    web_invitees       who is to be invited: addresses and ids sealed under the service's key, never whether they came
    web_mails          mails to them: the first or which reminder, and how sending went
    web_addresses      addresses to come back by, under a keyed hash, and whose each is
    web_links_asked    who typed an address to come back by: sealed, and gone when the mail is on its way
    web_links_back     hashes of secrets that such mails hold: each opens one account, once, for an hour; and keyed hashes of
                       pages that were sent to an account made before, so that sent again they lead there again
    web_roles          who may work on a campaign, or look at it, besides its owner; under no campaign: who runs the service
    web_campaigns      what is asked, of whom, and how far it has come
    web_registrations  what each person stated for a round: a step of the public ladder; and their public group
    web_answers        who joins and who declines; answers are there only as ciphertext, of one length in a campaign
    web_jobs           long work: what, how far, and how it ended
    web_events         what was done, in words that name no person and no number of theirs

Where words are stored that were filled in, ``told`` holds their template and data as JSON, so that nobody reads the words.

The ledger only grows; these rows change and go. What must not be lost or done twice is in the ledger.
"""

from __future__ import annotations

from sqlalchemy import BigInteger, Boolean, Column, Float, Index, Integer, LargeBinary, String, Table, Text

from optin.database.metadata import metadata

_ID, _HASH, _TIME = String(32), String(64), Float

accounts = Table(
    "web_accounts",
    metadata,
    Column("id", _ID, primary_key=True),
    Column("kind", String(8), nullable=False),
    Column("name", String(64), unique=True),
    Column("password", String(128)),
    Column("key", _HASH, unique=True),
    Column("allowance", BigInteger),
    Column("created_at", _TIME, nullable=False),
    Column("left_at", _TIME),
)

sessions = Table(
    "web_sessions",
    metadata,
    Column("id", _ID, primary_key=True),
    Column("account", _ID, nullable=False, index=True),
    Column("token", _HASH, nullable=False, unique=True),
    Column("previous", _HASH, index=True),
    Column("created_at", _TIME, nullable=False),
    Column("rotated_at", _TIME, nullable=False),
    Column("expires_at", _TIME, nullable=False),
    Column("only_campaign", _ID),
)

delays = Table(
    "web_delays",
    metadata,
    Column("key", _HASH, primary_key=True),
    Column("failures", Integer, nullable=False),
    Column("until", _TIME, nullable=False),
)

invitations = Table(
    "web_invitations",
    metadata,
    Column("secret", _HASH, primary_key=True),
    Column("kind", String(8), nullable=False),
    Column("campaign", _ID),
    Column("account", _ID, index=True),
    Column("created_at", _TIME, nullable=False),
    Column("used_at", _TIME),
    Column("group_name", Text),
    Index("web_invitations_of_campaign", "campaign", "account"),
)

invited_ids = Table(
    "web_invited_ids",
    metadata,
    Column("invitation", _HASH, primary_key=True),
    Column("campaign", _ID, nullable=False, index=True),
    Column("mark", _HASH, nullable=False, index=True),
    Column("account", _ID),
)

invitees = Table(
    "web_invitees",
    metadata,
    Column("id", _ID, primary_key=True),
    Column("campaign", _ID, nullable=False, index=True),
    Column("mark", _HASH, nullable=False, unique=True),
    Column("sealed", LargeBinary, nullable=False),
    Column("group_name", Text),
    Column("created_at", _TIME, nullable=False),
    Column("unsubscribed_at", _TIME),
)

mails = Table(
    "web_mails",
    metadata,
    Column("id", _HASH, primary_key=True),
    Column("campaign", _ID, nullable=False, index=True),
    Column("invitee", _ID, nullable=False, index=True),
    Column("number", Integer, nullable=False),
    Column("state", String(8), nullable=False),
    Column("tries", Integer, nullable=False),
    Column("next_at", _TIME, nullable=False),
    Column("reason", String(80)),
    Column("told", Text),
)

addresses = Table(
    "web_addresses",
    metadata,
    Column("account", _ID, primary_key=True),
    Column("mark", _HASH, nullable=False, index=True),
)

links_asked = Table(
    "web_links_asked",
    metadata,
    Column("id", _ID, primary_key=True),
    Column("sealed", LargeBinary, nullable=False),
    Column("tries", Integer, nullable=False),
    Column("next_at", _TIME, nullable=False),
)

links_back = Table(
    "web_links_back",
    metadata,
    Column("secret", _HASH, primary_key=True),
    Column("account", _ID, nullable=False, index=True),
    Column("until", _TIME, nullable=False),
)

roles = Table(
    "web_roles",
    metadata,
    Column("campaign", _ID, primary_key=True),
    Column("account", _ID, primary_key=True),
    Column("role", String(16), nullable=False),
    Column("since", _TIME, nullable=False),
    Index("web_roles_of_account", "account"),
)

campaigns = Table(
    "web_campaigns",
    metadata,
    Column("id", _ID, primary_key=True),
    Column("owner", _ID, nullable=False, index=True),
    Column("draft", Text, nullable=False),
    Column("public", Boolean(create_constraint=False), nullable=False),
    Column("state", String(16), nullable=False),
    Column("round", Integer, nullable=False),
    Column("plan", Text),
    Column("announcement", Text),
    Column("release", Text),
    Column("created_at", _TIME, nullable=False),
    Column("changed_at", _TIME, nullable=False),
)

registrations = Table(
    "web_registrations",
    metadata,
    Column("campaign", _ID, primary_key=True),
    Column("round", Integer, primary_key=True, autoincrement=False),
    Column("person", _ID, primary_key=True),
    Column("step", Integer, nullable=False),
    Column("at", _TIME, nullable=False),
    Column("group_name", Text),
    Index("web_registrations_of_person", "person"),
)

answers = Table(
    "web_answers",
    metadata,
    Column("campaign", _ID, primary_key=True),
    Column("round", Integer, primary_key=True, autoincrement=False),
    Column("person", _ID, primary_key=True),
    Column("joined", Boolean(create_constraint=False), nullable=False),
    Column("value", LargeBinary),
    Column("at", _TIME, nullable=False),
    Index("web_answers_of_person", "person"),
)

jobs = Table(
    "web_jobs",
    metadata,
    Column("id", _ID, primary_key=True),
    Column("campaign", _ID, nullable=False, index=True),
    Column("round", Integer, nullable=False),
    Column("kind", String(16), nullable=False),
    Column("state", String(8), nullable=False),
    Column("step", String(80), nullable=False),
    Column("done", BigInteger, nullable=False),
    Column("total", BigInteger, nullable=False),
    Column("error", Text),
    Column("told", Text),
    Column("created_at", _TIME, nullable=False),
    Column("changed_at", _TIME, nullable=False),
)

events = Table(
    "web_events",
    metadata,
    Column("number", BigInteger().with_variant(Integer, "sqlite"), primary_key=True),
    Column("at", _TIME, nullable=False),
    Column("campaign", _ID, index=True),
    Column("round", Integer),
    Column("kind", String(32), nullable=False),
    Column("words", Text, nullable=False),
    Column("told", Text),
)
