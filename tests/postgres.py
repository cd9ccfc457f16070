"""A real PostgreSQL for the tests: private data directory, Unix socket only, gone when the tests end.

One server for each test process, so that parallel workers cannot disturb one another.
"""

import ctypes
import os
import pwd
import resource
import shutil
import signal
import subprocess
import tempfile
import time
import uuid
from functools import cached_property
from pathlib import Path

import psycopg

PORT = 5432
TEMPLATE = "ledger_to_copy"
_LIBC = ctypes.CDLL(None)


class PostgresServer:
    """One cluster in a temporary folder, run as an ordinary user because initdb refuses root."""

    def __init__(self, **settings):
        self.user = "postgres" if os.geteuid() == 0 else None
        self.folder = Path(tempfile.mkdtemp(prefix="optin-pg-"))
        if self.user:
            account = pwd.getpwnam(self.user)
            os.chown(self.folder, account.pw_uid, account.pw_gid)
        self.settings = settings
        self.process = None

    @property
    def log(self):
        return self.folder / "log"

    def start(self, *, file_limit=None):
        """Start the server; with ``file_limit`` no file of it can grow past so many bytes, as on a full disk."""
        data = self.folder / "data"
        if not data.exists():
            command = [_program("initdb"), "-D", data, "-U", "optin", "-A", "trust", "-E", "UTF8", "--locale=C"]
            command += ["--wal-segsize=1", "--no-sync", "--no-instructions"]
            subprocess.run(command, user=self.user, cwd=self.folder, check=True, capture_output=True)
        options = {"listen_addresses": "", "unix_socket_directories": str(self.folder), "port": PORT, **self.settings}
        if file_limit is not None:  # shared memory must not count as a file that grew too large
            options["dynamic_shared_memory_type"] = "sysv"
        flags = [part for name, value in options.items() for part in ("-c", f"{name}={value}")]
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(
                [_program("postgres"), "-D", data, *flags],
                user=self.user,
                cwd=self.folder,
                stdout=log,
                stderr=log,
                preexec_fn=lambda: _prepare(file_limit),
            )
        self._wait()
        return self

    def _wait(self):
        for _ in range(600):
            try:
                psycopg.connect(host=str(self.folder), port=PORT, user="optin", dbname="postgres").close()
                return
            except psycopg.OperationalError:
                if self.process.poll() is not None:
                    raise RuntimeError(self.log.read_text()) from None
                time.sleep(0.05)
        raise RuntimeError("PostgreSQL did not start")

    def stop(self, how=signal.SIGINT):
        """End the server: SIGINT closes connections and shuts down, SIGQUIT leaves as in a crash."""
        self.process.send_signal(how)
        self.process.wait(timeout=60)

    def remove(self):
        self.stop(signal.SIGQUIT)  # nothing here is worth a checkpoint
        shutil.rmtree(self.folder)

    def new_schema(self):
        """Create an empty schema, which is much faster than a database, and give the URL of a ledger in it."""
        name = f"ledger_{uuid.uuid4().hex}"
        self.execute(f"CREATE SCHEMA {name}")
        return self.url("postgres", schema=name)

    def new_ledger(self):
        """Create a schema with the tables of an empty ledger, copied in one go from one that was migrated step by step."""
        name = f"ledger_{uuid.uuid4().hex}"
        self.execute(self._tables.replace(TEMPLATE, name))
        return self.url("postgres", schema=name)

    @cached_property
    def _tables(self):
        from optin.ledger import Ledger

        self.execute(f"CREATE SCHEMA {TEMPLATE}")
        Ledger.open(self.url("postgres", schema=TEMPLATE)).close()
        command = [_program("pg_dump"), "-h", self.folder, "-U", "optin", "-d", "postgres", "-n", TEMPLATE, "--inserts"]
        dump = subprocess.run(command, check=True, capture_output=True, text=True).stdout
        return "".join(line for line in dump.splitlines(keepends=True) if not line.startswith(("\\", "--")))

    def new_database(self, encoding="UTF8"):
        """Create an empty database and give its name."""
        name = f"ledger_{uuid.uuid4().hex}"
        self.execute(f"CREATE DATABASE {name} ENCODING '{encoding}' TEMPLATE template0")
        return name

    def restored(self, dump):
        """Create a database from the text that pg_dump wrote, and give the URL of what is in it."""
        name = self.new_database()
        command = [_program("psql"), "-h", self.folder, "-U", "optin", "-d", name, "-q", "-v", "ON_ERROR_STOP=1"]
        subprocess.run([*command, "-f", dump], check=True, capture_output=True)
        return self.url(name)

    def url(self, database, *, schema="public", folder=None):
        where = f"host={folder or self.folder}&port={PORT}&options=-csearch_path%3D{schema}"
        return f"postgresql://optin@/{database}?{where}"

    def execute(self, statement):
        with psycopg.connect(
            host=str(self.folder), port=PORT, user="optin", dbname="postgres", autocommit=True
        ) as link:
            cursor = link.execute(statement)
            return cursor.fetchall() if cursor.description else None


def _program(name):
    found = sorted(Path("/usr/lib/postgresql").glob(f"*/bin/{name}"))
    place = str(found[-1]) if found else shutil.which(name)
    if place is None:
        raise RuntimeError(f"{name} is missing: install the Debian package postgresql")
    return place


def _prepare(file_limit):
    """Shut down even if the test process is killed: the kernel sends SIGINT when the parent goes."""
    _LIBC.prctl(1, signal.SIGINT)
    if file_limit is not None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (file_limit, file_limit))
