"""What several test files share: the two databases a ledger can live in, and the web service on them."""

import gc
import os
import shutil
import tempfile
from pathlib import Path

import pytest
from hypothesis import settings
from later import is_for_later, never_matching
from postgres import PostgresServer

from optin.report import images

collect_ignore = ["fixtures"]  # its scripts belong to the commits they name
settings.register_profile("daily", deadline=None, max_examples=20)  # a law holds however busy the machine is
settings.register_profile("thorough", deadline=None, max_examples=100)  # chosen by make slow
settings.load_profile("daily")
os.environ.setdefault("JAVA_TOOL_OPTIONS", "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC")  # Java that lives for a minute

images.DOTS = 50  # hundreds of pictures are drawn, and what is said of them holds however fine they are

MEMORY = Path("/dev/shm")  # a commit waits for the disk, and there are thousands
if MEMORY.is_dir() and shutil.disk_usage(MEMORY).free > 4 * 2**30:
    tempfile.tempdir = os.environ["TMPDIR"] = str(MEMORY)

LONG = (
    "test_web_pages",
    "test_web_load",
    "test_faults",
    "test_differential",
    "test_column_names",
    "test_engine_ledger",
)

TOGETHER = (
    "test_blind_spots",
    "test_cli_words",
    "test_council",
    "test_house",
    "test_log",
    "test_objects",
    "test_one_home",
    "test_public_files",
    "test_report",
    "test_sheet_report",
    "test_web_access",
    "test_web_cautions",
    "test_web_entrance",
    "test_web_every_role",
    "test_web_identities",
    "test_web_languages",
    "test_web_lists",
    "test_web_mail_back",
    "test_web_next_time",
    "test_web_one_visit",
    "test_web_open_links",
    "test_web_openapi",
    "test_web_pages",
    "test_web_pages_fuzz",
    "test_web_pages_openapi",
    "test_web_pages_refusals",
    "test_web_roles",
    "test_web_sheet_editor",
    "test_web_sheets",
    "test_web_tens",
    "test_web_typed_numbers",
    "test_web_visit_pages",
    "test_web_visit_slips",
)
"""Files whose tests look at one thing that is long in the making: one worker makes it, and the other does not make it too.

Where that thing is a service with a clock, its tests are also always run in one order: which half of them a worker had
before decided what the clock said.
"""

SMALL = {
    "spark.sql.shuffle.partitions": "1",
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    "spark.sql.constraintPropagation.enabled": "false",
}


def pytest_collection_finish():
    """Let the garbage collector pass over what stays anyway: ten thousand tests and every library."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000, 20, 20)


def pytest_collection_modifyitems(config, items):
    """Begin with what runs on Spark, since one worker does all of it, then with what is long: nobody waits at the end."""
    if config.args == config.getini("testpaths"):
        stale = never_matching([(item.path.stem, item.name) for item in items])
        assert not stale, f"tests/later.py names cases that are not there: {stale}"
    for item in items:
        if is_for_later(item.path.stem, item.name) and not {"slow", "soak"} & {
            mark.name for mark in item.iter_markers()
        }:
            item.add_marker(pytest.mark.slow)
            item.add_marker(pytest.mark.later)
        if item.path.stem in TOGETHER and item.get_closest_marker("xdist_group") is None:
            item.add_marker(pytest.mark.xdist_group(item.path.stem))
    items.sort(key=lambda item: (not _on_spark(item), item.path.stem not in LONG))


def _on_spark(item):
    return any("spark" in (*mark.args, *mark.kwargs.values()) for mark in item.iter_markers("xdist_group"))


@pytest.fixture(autouse=True)
def small_queries(request):
    """Let Spark take a query of twenty rows for what it is: one partition, nothing compiled. The longest runs change nothing."""
    if not _on_spark(request.node) or request.node.get_closest_marker("soak"):
        yield
        return
    from optin.engine import open_session

    conf = open_session("spark-local").backend._session.conf
    before = {name: conf.get(name) for name in SMALL}
    for name, value in SMALL.items():
        conf.set(name, value)
    yield
    for name, value in before.items():
        conf.set(name, value)


@pytest.fixture(scope="session")
def postgres():
    server = PostgresServer().start()
    yield server
    server.remove()


@pytest.fixture(scope="session")
def migrated(tmp_path_factory):
    """The bytes of an empty ledger on SQLite: thousands of tests need one, and few of them are about how it comes to be."""
    from optin.ledger import Ledger

    path = tmp_path_factory.mktemp("migrated") / "ledger.sqlite"
    Ledger.open(str(path)).close()
    return path.read_bytes()


@pytest.fixture(params=["sqlite", "postgresql"])
def url(request, tmp_path):
    """The URL of an empty ledger, in each kind of database in turn."""
    return _empty_ledger(request, tmp_path)


def _empty_ledger(request, tmp_path):
    if request.param == "postgresql":
        return request.getfixturevalue("postgres").new_ledger()
    path = tmp_path / "ledger.sqlite"
    path.write_bytes(request.getfixturevalue("migrated"))
    path.chmod(0o600)
    return f"sqlite:///{path}"


@pytest.fixture(params=["sqlite", "postgresql"])
def bare_url(request, tmp_path):
    """The URL of a database without any table, of each kind in turn."""
    if request.param == "postgresql":
        return request.getfixturevalue("postgres").new_schema()
    return f"sqlite:///{tmp_path / 'ledger.sqlite'}"


@pytest.fixture
def ledger(url):
    from optin.ledger import Ledger

    with Ledger.open(url) as opened:
        yield opened


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=pytest.mark.slow)])
def house(request, tmp_path):
    """A web service, on PostgreSQL in the slow run: below it, the ledger is tried on both every day."""
    from web_steps import House

    with House(_empty_ledger(request, tmp_path), tmp_path) as opened:
        yield opened


@pytest.fixture
def house_on_each(url, tmp_path):
    """A web service on each database in turn, for what the locks of each decide."""
    from web_steps import House

    with House(url, tmp_path) as opened:
        yield opened


@pytest.fixture
def lodge_url(tmp_path, migrated):
    path = tmp_path / "web.sqlite"
    path.write_bytes(migrated)
    path.chmod(0o600)
    return f"sqlite:///{path}"


@pytest.fixture
def lodge(lodge_url, tmp_path):
    """A web service on SQLite alone, for what cannot differ between databases."""
    from web_steps import House

    with House(lodge_url, tmp_path) as opened:
        yield opened


@pytest.fixture
def open_lodge(lodge_url, tmp_path):
    """The same on a port of this machine, for browsers."""
    from web_steps import OpenHouse

    with OpenHouse(lodge_url, tmp_path) as opened:
        yield opened
