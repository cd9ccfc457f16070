"""Growing delays instead of locks: of many tries from one place the first are free, then each waits longer.

Passwords and new accounts wait in the same way. The store keeps a count under a keyed hash, which says neither who
tried nor from where, and forgets it an hour after the last try.
"""

from __future__ import annotations

import ipaddress
from dataclasses import dataclass

from sqlalchemy import Connection, delete, text, update

from optin.web.schema import delays
from optin.web.service.core import Service, hashed
from optin.web.service.failures import TooSoon
from optin.web.service.forgetting import erase

_FORGET_AFTER = 3600.0
_LOCKED = """INSERT INTO web_delays (key, failures, until) VALUES (:key, 0, :now)
    ON CONFLICT (key) DO UPDATE SET failures = web_delays.failures RETURNING failures, until"""
"""Read a count of tries, made if need be, and keep other tries from reading it until this one is counted."""


@dataclass(frozen=True)
class Patience:
    """What is counted together, how many tries of it are free, and the longest wait, in seconds, after that."""

    what: str
    free: int
    longest: float = 60.0

    def pause(self, tries: int) -> float:
        """Say how long the next try waits after so many: one second at first, then twice as long each time.

        >>> [Patience("", free=3).pause(tries) for tries in (1, 2, 3, 4, 5, 20)]
        [0.0, 0.0, 1.0, 2.0, 4.0, 60.0]
        """
        return min(2.0 ** min(tries - self.free, 10), self.longest) if tries >= self.free else 0.0


def place_of(address: str) -> str:
    """Say which addresses count as one place: with IPv6 one household has as many as it likes, alike in their first half.

    An IPv4 address written as IPv6, as servers that listen to both do, is the IPv4 address: all of them share one /64.

    >>> place_of("192.0.2.7"), place_of("::ffff:192.0.2.7"), place_of("2001:db8:1:2:3:4:5:6"), place_of("")
    ('192.0.2.7', '192.0.2.7', '2001:db8:1:2::/64', '')

    Some web servers in front add a port, which is another one each time.

    >>> place_of("192.0.2.7:4711"), place_of("[2001:db8:1:2:3:4:5:6]:4711")
    ('192.0.2.7', '2001:db8:1:2::/64')
    """
    bare = _without_port(address)
    try:
        known = ipaddress.ip_address(bare)
    except ValueError:
        return address
    if isinstance(known, ipaddress.IPv4Address):
        return bare
    return str(known.ipv4_mapped or ipaddress.ip_network((known, 64), strict=False))


def _without_port(address: str) -> str:
    if address.startswith("["):
        return address[1:].partition("]")[0]
    return address.partition(":")[0] if address.count(":") == 1 else address


def wait_your_turn(service: Service, connection: Connection, patiences: list[Patience], *, words: str) -> None:
    """Count a try, or raise TooSoon if it has to wait; a try that waits does not count.

    It counts before it is looked at: of many at once only the first few are.
    """
    now = service.clock()
    connection.execute(delete(delays).where(delays.c.until < now - _FORGET_AFTER))
    keys = [_key(service, patience) for patience in patiences]
    rows = [connection.execute(text(_LOCKED), {"key": key, "now": now}).one() for key in keys]
    held = [patience.pause(row.failures) > 0 for patience, row in zip(patiences, rows, strict=True)]
    wait = max((row.until - now for row, waits in zip(rows, held, strict=True) if waits), default=0.0)
    if wait > 0:  # a free try may have come after our clock was read: nobody waits for that one
        raise TooSoon(int(wait) + 1, words)
    for patience, key, row in zip(patiences, keys, rows, strict=True):
        tries = row.failures + 1
        new = {"failures": tries, "until": now + patience.pause(tries)}
        connection.execute(update(delays).where(delays.c.key == key).values(new))


def forgive(service: Service, connection: Connection, patiences: list[Patience]) -> None:
    """Forget the tries so far, since one of them was right."""
    keys = [_key(service, patience) for patience in patiences]
    connection.execute(delete(delays).where(delays.c.key.in_(keys)))


def _key(service: Service, patience: Patience) -> str:
    return service.keys.digest("delay", hashed(patience.what))


def erase_delays(service: Service) -> None:
    """Forget tries of more than an hour ago."""
    erase(service, delays, delays.c.until < service.clock() - _FORGET_AFTER)
