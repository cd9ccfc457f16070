"""What the service is told by its environment, and the keys it starts with."""

from __future__ import annotations

import base64
import binascii
import contextlib
import ipaddress
import os
import secrets
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Annotated, Literal
from urllib.parse import SplitResult, urlsplit

from pydantic import BeforeValidator, Field, SecretStr
from pydantic_settings import BaseSettings, SettingsConfigDict

from optin.errors import BadInput
from optin.formats.atomic import write_once


def _is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _not_empty(given: object) -> object:
    """Refuse a path of no letters: it would be the folder in which the service happens to be started."""
    if given == "":
        raise ValueError("is set and empty: give it a path, or take it away")
    return given


def _lower(given: object) -> object:
    return given.lower() if isinstance(given, str) else given


_Path = Annotated[Path, BeforeValidator(_not_empty)]
_Seconds = Annotated[float, Field(gt=0, le=86400)]
"""Time that whoever is slow is given: infinite, it would be no bound."""


class WebSettings(BaseSettings):
    """Everything that can be set, each by an option of ``optin serve`` or a variable that begins with OPTIN_WEB_."""

    model_config = SettingsConfigDict(env_prefix="OPTIN_WEB_", hide_input_in_errors=True, extra="forbid")

    ledger: str = "optin-web.sqlite"
    host: str = "127.0.0.1"
    port: int = Field(default=8000, ge=1, le=65535)
    origin: str | None = None
    key: SecretStr | None = None
    keys: _Path | None = None
    proxies: str | None = None
    witnesses: _Path | None = None
    log_level: Annotated[Literal["debug", "info", "warning", "error", "critical"], BeforeValidator(_lower)] = "info"
    most_body_bytes: int = Field(default=65536, ge=1024)
    threads: int = Field(default=12, ge=1, le=1000)
    most_connections: int = Field(default=500, ge=1)
    header_seconds: _Seconds = 10.0
    body_seconds: _Seconds = 20.0
    answer_seconds: _Seconds = 30.0
    refusal_seconds: float = Field(default=1.0, ge=0, le=60)
    days_to_announce: float = Field(default=90.0, gt=0, le=3650)
    days_to_answer: float = Field(default=60.0, gt=0, le=3650)
    days_to_publish: float = Field(default=14.0, gt=0, le=3650)
    days_to_keep_ids: float = Field(default=365.0, ge=0, le=3650)
    language: str = "en"
    organisation: str | None = None
    contact: str | None = None
    logo: _Path | None = None
    privacy_notice: _Path | None = None
    imprint: _Path | None = None
    smtp_host: str | None = None
    smtp_port: int = Field(default=587, ge=1, le=65535)
    smtp_from: str | None = None
    smtp_user: str | None = None
    smtp_password: SecretStr | None = None
    smtp_security: Literal["starttls", "tls", "none"] = "starttls"

    @property
    def on_loopback(self) -> bool:
        """Whether only this machine can reach the service."""
        return _is_loopback(self.host)

    @property
    def seen_at(self) -> str:
        """Where people's browsers see the service; what is not said is this machine.

        >>> WebSettings(host="::1").seen_at, WebSettings(origin="https://town.example/").seen_at
        ('http://[::1]:8000', 'https://town.example')
        """
        if self.origin is not None:
            return checked_origin(self.origin)
        return f"http://{f'[{self.host}]' if ':' in self.host else self.host}:{self.port}"

    @property
    def sqlite_path(self) -> Path | None:
        """The file of an SQLite ledger; None for PostgreSQL."""
        if "://" not in self.ledger:
            return Path(self.ledger)
        return Path(self.ledger.removeprefix("sqlite:///")) if self.ledger.startswith("sqlite:///") else None


def key_folder(settings: WebSettings) -> Path:
    """Say where wrapped keys are kept: where told, or beside an SQLite file; never in the database."""
    if settings.keys is not None:
        return settings.keys
    if settings.sqlite_path is None:
        raise BadInput(
            "with PostgreSQL say where keys are kept: set OPTIN_WEB_KEYS (--keys) to a folder of this machine"
        )
    return settings.sqlite_path.with_name(settings.sqlite_path.name + ".keys")


def expect_key(settings: WebSettings) -> None:
    """Refuse a service that was given no key and may not make one."""
    if settings.key is None and (settings.sqlite_path is None or not settings.on_loopback):
        raise BadInput(
            "no key: set OPTIN_WEB_KEY to 32 random bytes in base64 (openssl rand -base64 32). Only with SQLite and on "
            "loopback does optin make one itself"
        )


def environment_key(
    settings: WebSettings, *, served_before: Callable[[], bool] = lambda: False
) -> tuple[bytes, str | None]:
    """Return the key that wraps all others, and a notice if it was made here.

    Only an SQLite service that nobody but this machine can reach may run on a key of its own making; anything else has to
    be given one, from wherever its secrets are kept. A key is made once: a database that was ``served_before`` had one,
    and with another its answers could not be read.
    """
    if settings.key is not None:
        return _decoded(settings.key.get_secret_value(), "OPTIN_WEB_KEY"), None
    expect_key(settings)
    path = key_folder(settings) / "environment.key"
    try:
        if path.exists():
            return _decoded(path.read_text().strip(), str(path)), None
        if not served_before():
            return _made_key(path)
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "it is no text"
    else:
        raise BadInput(_LOST.format(path=path))
    raise BadInput("{path} cannot be used: {reason}; check the place and its rights", path=path, reason=reason)


_LOST = (
    "{path} is missing, and people have accounts in this database: without the key it holds, answers that were given and not "
    "yet released cannot be read. Put your copy of the file back (or set OPTIN_WEB_KEY as before) and start again. If it "
    "is lost for good, docs/how-to/backup.md says how to go on without it"
)


def unknown_variables(names: Iterable[str]) -> list[str]:
    """List variables that begin as ours do and set nothing: a letter is wrong, and what was meant would not be done.

    >>> unknown_variables(["OPTIN_WEB_LANGUGE", "OPTIN_WEB_KEY", "HOME"])
    ['OPTIN_WEB_LANGUGE']
    """
    known = {f"OPTIN_WEB_{name.upper()}" for name in WebSettings.model_fields}
    return sorted(name for name in names if name.upper().startswith("OPTIN_WEB_") and name.upper() not in known)


def _decoded(text: str, where: str) -> bytes:
    key = b""
    with contextlib.suppress(binascii.Error, ValueError):
        key = base64.b64decode(text, validate=True)
    if len(key) != 32:
        raise BadInput("{where} must be 32 bytes in base64; make one with: openssl rand -base64 32", where=where)
    return key


def _made_key(path: Path) -> tuple[bytes, str | None]:
    """Make a key, whole or not at all: half of one would be taken for a wrong one at the next start."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    key = secrets.token_bytes(32)
    try:
        write_once(path, base64.b64encode(key).decode() + "\n")
    except FileExistsError:  # another process was faster
        return _decoded(path.read_text().strip(), str(path)), None
    _sync(path.parent)
    notice = (
        f"made a key for answers in {path}; whoever has it and the folder can read answers until they are released. "
        "Keep a copy of this one file elsewhere: without it the service does not start again"
    )
    return key, notice


def _sync(folder: Path) -> None:
    """Wait until the names in a folder are on disk."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def checked_origin(text: str) -> str:
    """Write an origin as browsers send it; refuse what none would send, or from which it would send passwords in the open.

    >>> checked_origin("https://Umfrage-Köln.example:443/")
    'https://xn--umfrage-kln-zfb.example'
    """
    parts = urlsplit(text.rstrip("/"))
    if f"{parts.scheme}://{parts.netloc}".lower() != text.rstrip("/").lower() or "@" in parts.netloc:
        raise BadInput(_NO_ORIGIN)
    host, port = _host(parts), _port(parts)
    if parts.scheme != "https" and not (parts.scheme == "http" and _is_loopback(host.strip("[]"))):
        raise BadInput("people reach this service from other machines: OPTIN_WEB_ORIGIN must begin with https://")
    usual = {"https": 443, "http": 80}[parts.scheme]
    return f"{parts.scheme}://{host}" + ("" if port in (None, usual) else f":{port}")


_READ_OTHERWISE = frozenset("ßς\u200c\u200d")
"""Letters that Python's IDNA (2003) writes otherwise than browsers (2008)."""
_NO_ORIGIN = "OPTIN_WEB_ORIGIN must be scheme://host[:port] without a path, such as https://example.org"


def _host(parts: SplitResult) -> str:
    """Write a host as browsers send it: names with other letters in their ASCII form, IPv6 in brackets."""
    host = parts.hostname or ""
    if set(host) & _READ_OTHERWISE:
        raise BadInput("OPTIN_WEB_ORIGIN: write this name as browsers send it, in its ASCII form (xn--…)")
    with contextlib.suppress(UnicodeError):
        written = f"[{host}]" if ":" in host else host.encode("idna").decode()
        if written:
            return written
    raise BadInput(_NO_ORIGIN)


def _port(parts: SplitResult) -> int | None:
    with contextlib.suppress(ValueError):
        return parts.port
    raise BadInput(_NO_ORIGIN)


def trusted_proxies(settings: WebSettings) -> list[str] | None:
    """List the addresses and networks whose word is taken for where a visitor comes from; None: what uvicorn takes by itself.

    Nobody is trusted wherever they come from: of an address that a visitor may write, every visitor could have many.

    >>> trusted_proxies(WebSettings(proxies="10.0.0.5, 172.18.0.0/16"))
    ['10.0.0.5', '172.18.0.0/16']
    """
    if settings.proxies is None:
        return None
    parts = [part.strip() for part in settings.proxies.split(",") if part.strip()]
    try:
        nets = [ipaddress.ip_network(part) for part in parts]
    except ValueError:
        nets = []
    if not nets or any(net.prefixlen == 0 for net in nets):
        raise BadInput(
            "OPTIN_WEB_PROXIES must be addresses or networks, such as 10.0.0.5,172.18.0.0/16; not everyone's"
        )
    return parts


def own_origins(settings: WebSettings) -> frozenset[str]:
    """List the origins under which browsers may talk to us; others' pages and rebound names are refused.

    >>> sorted(own_origins(WebSettings(port=8000)))
    ['http://127.0.0.1:8000', 'http://[::1]:8000', 'http://localhost:8000']
    """
    if settings.origin is not None:
        return frozenset({checked_origin(settings.origin)})
    if not settings.on_loopback:
        raise BadInput(
            "say under which address people will see this service: set OPTIN_WEB_ORIGIN, such as https://example.org"
        )
    return frozenset(f"http://{host}:{settings.port}" for host in ("127.0.0.1", "localhost", "[::1]"))
