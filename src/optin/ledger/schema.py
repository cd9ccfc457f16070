"""The ledger's tables. A ledger only grows: rows are added, never changed, and columns keep their meaning.

    acts        the chain: one row for each thing that was done, hashed together with the one before
    people      text ids, byte for byte; ``person`` is the short number other tables use
    allowances  the most a person may spend over all releases; the highest row counts (allowances are only ever raised)
    promises    what an announcement (its act is the ``offer``) promised the person at each position: a budget hold
    returns     holds let go: declined, left, cancelled, or absent at the release
    charges     holds that a release turned into spending
    packs       what acts over many people registered, promised or charged: columns in blocks instead of rows of the three
                tables above (`optin.ledger.packs`)
    head_lock   one row that every PostgreSQL writer locks first
    checkpoints, cosignatures, successions   the log over the acts: what the operator's key signed at a size, what witnesses
                signed there, and which key followed which (`optin.ledger.log`)

What remains to a person is allowance minus open promises minus charges (`optin.ledger.balances`). Where the sheet is one
question, ``capped`` and ``answered`` are NULL and a charge is its promise. Else ``capped`` is what the person gives to all
questions together before it is split (E20), ``grains`` of the promise the sum of the parts, ``answered`` has a bit for each
question that was charged, and ``grains`` of the charge is the sum of those parts: what is not charged goes back. So it is,
however many questions there are, where people are in public groups, and ``design`` is the place of a person's group among
those announced; else it is NULL.
The bulk tables carry no foreign keys: they are filled by INSERT … SELECT from the tables they would refer to, and
``verify`` looks for strays, while a check for every row would double the time of a charge.
"""

from __future__ import annotations

from sqlalchemy import BigInteger, Boolean, Column, Index, Integer, LargeBinary, String, Table, Text, text

from optin.database.metadata import metadata

acts = Table(
    "acts",
    metadata,
    Column("number", BigInteger, primary_key=True, autoincrement=False),
    Column("version", Integer, nullable=False),
    Column("kind", String(16), nullable=False),
    Column("campaign", Text),
    Column("round", Integer),
    Column("offer", BigInteger),
    Column("at", String(40), nullable=False),
    Column("fingerprint", String(64)),
    Column("result", String(64)),
    Column("body", Text, nullable=False),
    Column("people", BigInteger, nullable=False),
    Column("rows", String(64), nullable=False),
    Column("joined", String(64)),
    Column("previous", String(64), nullable=False),
    Column("hash", String(64), nullable=False),
    Column("salt", String(64), nullable=False),
    sqlite_with_rowid=False,
)
_ANNOUNCED, _CLOSED = text("kind = 'announce'"), text("kind IN ('release', 'cancel')")
Index("one_offer", acts.c.campaign, acts.c.round, unique=True, sqlite_where=_ANNOUNCED, postgresql_where=_ANNOUNCED)
Index("one_closing", acts.c.offer, unique=True, sqlite_where=_CLOSED, postgresql_where=_CLOSED)

people = Table(
    "people",
    metadata,
    Column("person", BigInteger, primary_key=True, autoincrement=False),
    Column("id", Text, nullable=False),
    Column("act", BigInteger, nullable=False),
    Index("one_id", "id", unique=True),
    sqlite_with_rowid=False,
)

allowances = Table(
    "allowances",
    metadata,
    Column("person", BigInteger, primary_key=True, autoincrement=False),
    Column("act", BigInteger, primary_key=True, autoincrement=False),
    Column("grains", BigInteger, nullable=False),
    Index("allowances_of_act", "act"),
    sqlite_with_rowid=False,
)

promises = Table(
    "promises",
    metadata,
    Column("offer", BigInteger, primary_key=True, autoincrement=False),
    Column("position", BigInteger, primary_key=True, autoincrement=False),
    Column("person", BigInteger, nullable=False),
    Column("grains", BigInteger, nullable=False),
    Column("bounded", Boolean(create_constraint=False), nullable=False),
    Column("capped", BigInteger),
    Column("design", BigInteger),
    Index("one_promise", "person", "offer", unique=True),
    sqlite_with_rowid=False,
)

returns = Table(
    "returns",
    metadata,
    Column("offer", BigInteger, primary_key=True, autoincrement=False),
    Column("position", BigInteger, primary_key=True, autoincrement=False),
    Column("act", BigInteger, nullable=False),
    sqlite_with_rowid=False,
)

charges = Table(
    "charges",
    metadata,
    Column("offer", BigInteger, primary_key=True, autoincrement=False),
    Column("position", BigInteger, primary_key=True, autoincrement=False),
    Column("act", BigInteger, nullable=False),
    Column("grains", BigInteger, nullable=False),
    Column("answered", BigInteger),
    sqlite_with_rowid=False,
)

packs = Table(
    "packs",
    metadata,
    Column("act", BigInteger, primary_key=True, autoincrement=False),
    Column("part", String(8), primary_key=True),
    Column("block", BigInteger, primary_key=True, autoincrement=False),
    Column("least", BigInteger, nullable=False),
    Column("most", BigInteger, nullable=False),
    Column("body", LargeBinary, nullable=False),
)

head_lock = Table(
    "head_lock",
    metadata,
    Column("one", Integer, primary_key=True, autoincrement=False),
)

checkpoints = Table(
    "checkpoints",
    metadata,
    Column("size", BigInteger, primary_key=True, autoincrement=False),
    Column("verifier", Text, primary_key=True),
    Column("note", Text, nullable=False),
    sqlite_with_rowid=False,
)

cosignatures = Table(
    "cosignatures",
    metadata,
    Column("size", BigInteger, primary_key=True, autoincrement=False),
    Column("verifier", Text, primary_key=True),
    Column("line", Text, nullable=False),
    sqlite_with_rowid=False,
)

successions = Table(
    "successions",
    metadata,
    Column("number", BigInteger, primary_key=True, autoincrement=False),
    Column("note", Text, nullable=False),
    sqlite_with_rowid=False,
)

LOG_TABLES = ("checkpoints", "cosignatures", "successions")
APPEND_ONLY = ("acts", "people", "allowances", "promises", "returns", "charges", "packs", "head_lock", *LOG_TABLES)
