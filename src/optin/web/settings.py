"""What the service is told by its environment, and the keys it starts with."""

from __future__ import annotations

import base64
import binascii
import contextlib
import ipaddress
import os
import secrets
from collections.abc import Callable
from pathlib import Path
from typing import Literal
from urllib.parse import urlsplit

from pydantic import Field, SecretStr
from pydantic_settings import BaseSettings, SettingsConfigDict

from optin.errors import BadInput


def _is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


class WebSettings(BaseSettings):
    """Everything that can be set, each by an option of ``optin serve`` or a variable that begins with OPTIN_WEB_."""

    model_config = SettingsConfigDict(env_prefix="OPTIN_WEB_", hide_input_in_errors=True, extra="forbid")

    ledger: str = "optin-web.sqlite"
    host: str = "127.0.0.1"
    port: int = Field(default=8000, ge=1, le=65535)
    origin: str | None = None
    key: SecretStr | None = None
    keys: Path | None = None
    proxies: str | None = None
    witnesses: Path | None = None
    log_level: str = "info"
    most_body_bytes: int = 65536
    threads: int = 12
    most_connections: int = Field(default=500, ge=1)
    header_seconds: float = Field(default=10.0, gt=0)
    body_seconds: float = Field(default=20.0, gt=0)
    answer_seconds: float = Field(default=30.0, gt=0)
    refusal_seconds: float = Field(default=1.0, ge=0, le=60)
    days_to_announce: float = Field(default=90.0, gt=0, le=3650)
    days_to_answer: float = Field(default=60.0, gt=0, le=3650)
    days_to_publish: float = Field(default=14.0, gt=0, le=3650)
    days_to_keep_ids: float = Field(default=365.0, ge=0, le=3650)
    language: str = "en"
    organisation: str | None = None
    contact: str | None = None
    logo: Path | None = None
    privacy_notice: Path | None = None
    imprint: Path | None = None
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
    if settings.sqlite_path is None or not settings.on_loopback:
        raise BadInput(
            "no key: set OPTIN_WEB_KEY to 32 random bytes in base64 (openssl rand -base64 32). Only with SQLite and on "
            "loopback does optin make one itself"
        )
    path = key_folder(settings) / "environment.key"
    if path.exists():
        return _decoded(path.read_text().strip(), str(path)), None
    if served_before():
        raise BadInput(_LOST.format(path=path))
    return _made_key(path)


_LOST = (
    "{path} is missing, and people have accounts in this database: without the key it holds, answers that were given and not "
    "yet released cannot be read. Put your copy of the file back (or set OPTIN_WEB_KEY as before) and start again. If it "
    "is lost for good, docs/how-to/backup.md says how to go on without it"
)


def _decoded(text: str, where: str) -> bytes:
    key = b""
    with contextlib.suppress(binascii.Error, ValueError):
        key = base64.b64decode(text, validate=True)
    if len(key) != 32:
        raise BadInput("{where} must be 32 bytes in base64; make one with: openssl rand -base64 32", where=where)
    return key


def _made_key(path: Path) -> tuple[bytes, str | None]:
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    key = secrets.token_bytes(32)
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(handle, "w") as file:
        file.write(base64.b64encode(key).decode() + "\n")
        file.flush()
        os.fsync(file.fileno())
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


def _checked_origin(text: str) -> str:
    """Refuse an origin that no browser would send, or from which it would send passwords and answers in the open."""
    parts = urlsplit(text.rstrip("/"))
    origin = f"{parts.scheme}://{parts.netloc}".lower()
    if origin != text.rstrip("/").lower() or not parts.hostname or "@" in parts.netloc:
        raise BadInput("OPTIN_WEB_ORIGIN must be scheme://host[:port] without a path, such as https://example.org")
    if parts.scheme != "https" and not (parts.scheme == "http" and _is_loopback(parts.hostname)):
        raise BadInput("people reach this service from other machines: OPTIN_WEB_ORIGIN must begin with https://")
    return origin


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
        return frozenset({_checked_origin(settings.origin)})
    if not settings.on_loopback:
        raise BadInput(
            "say under which address people will see this service: set OPTIN_WEB_ORIGIN, such as https://example.org"
        )
    return frozenset(f"http://{host}:{settings.port}" for host in ("127.0.0.1", "localhost", "[::1]"))
