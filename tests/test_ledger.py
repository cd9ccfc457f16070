"""The laws of the ledger, on both databases."""

import os
import stat
import time

import numpy as np
import pytest
from alembic.autogenerate import compare_metadata
from alembic.runtime.migration import MigrationContext
from hypothesis import given
from hypothesis import strategies as st
from ledger_steps import OFFERS, announce, copy_of, counts, damage, drawn_from, release, spent, terms
from sqlalchemy import create_engine, text

from optin.database import connection
from optin.database.metadata import REVISION, metadata
from optin.database.migrations import scripts
from optin.errors import BadInput, BudgetSpent, PromiseBroken
from optin.ledger import UNLIMITED, Ledger, LedgerUnavailable, Terms, allowance_grains, epsilons_of

WHO = ("ann", "bob", "cy")


def refuse_to_draw(mask, number):
    raise AssertionError("drawn twice")


# --- holds and charges ---------------------------------------------------------------------------------------------


def test_two_announcements_cannot_promise_the_same_budget(ledger):
    announce(ledger, "one")
    with pytest.raises(BudgetSpent, match=r"3 of 3 people.* index 0"):
        announce(ledger, "two")
    assert ledger.remaining(WHO).tolist() == [3, 3, 3]


def test_a_refused_announcement_leaves_nothing_behind(ledger):
    announce(ledger, "one")
    before = counts(ledger)
    with pytest.raises(BudgetSpent):
        announce(ledger, "two", ids=["new", "ann"], grains=[1, 4], allowances=[9, 9])
    assert counts(ledger) == before


def test_a_hold_becomes_a_charge_at_the_release(ledger):
    announce(ledger)
    assert spent(ledger) == {}
    release(ledger)
    assert spent(ledger) == dict.fromkeys(WHO, 5)
    assert ledger.remaining(WHO).tolist() == [3, 3, 3]


def test_whoever_declines_is_not_charged_and_gets_the_hold_back(ledger):
    announce(ledger)
    ledger.let_go(terms(), ["bob"])
    assert ledger.remaining(WHO).tolist() == [3, 8, 3]
    assert copy_of(release(ledger)).joined_people == 2
    assert spent(ledger) == {"ann": 5, "cy": 5}


def test_declining_twice_is_declining_once(ledger):
    announce(ledger)
    ledger.let_go(terms(), ["bob"])
    before = counts(ledger)
    ledger.let_go(terms(), ["bob"])
    assert counts(ledger) == before


def test_whoever_declined_cannot_be_charged(ledger):
    announce(ledger)
    ledger.let_go(terms(), ["cy"])
    with pytest.raises(PromiseBroken, match="index 2 declined"):
        release(ledger, joined=[True, True, True])
    assert spent(ledger) == {}


def test_whoever_stayed_away_gets_the_hold_back_at_the_release(ledger):
    announce(ledger)
    release(ledger, joined=[True, False, True])
    assert ledger.remaining(WHO).tolist() == [3, 8, 3]
    assert ledger.verify().ok


def test_cancelling_gives_every_hold_back_once(ledger):
    announce(ledger)
    ledger.let_go(terms(), ["ann"])
    first = ledger.cancel(terms())
    assert ledger.remaining(WHO).tolist() == [8, 8, 8]
    assert (ledger.cancel(terms()).number, ledger.verify().ok) == (first.number, True)


def test_what_is_closed_stays_closed(ledger):
    announce(ledger, "gone")
    ledger.cancel(terms("gone"))
    with pytest.raises(PromiseBroken, match="cancelled"):
        release(ledger, "gone")
    announce(ledger, "done")
    release(ledger, "done")
    with pytest.raises(PromiseBroken, match="released"):
        ledger.cancel(terms("done"))
    with pytest.raises(PromiseBroken, match="closed"):
        ledger.let_go(terms("done"), ["ann"])


def test_nothing_is_released_over_nobody(ledger):
    announce(ledger)
    with pytest.raises(PromiseBroken, match="nobody joined"):
        release(ledger, joined=[False, False, False])


# --- allowances ----------------------------------------------------------------------------------------------------


def test_the_first_limit_is_the_allowance_until_it_is_raised_explicitly(ledger):
    announce(ledger, "one")
    announce(ledger, "two", grains=1, allowances=100)
    assert ledger.remaining(WHO).tolist() == [2, 2, 2]
    announce(ledger, "three", grains=90, allowances=100, raise_limits=True)
    assert ledger.remaining(WHO).tolist() == [4, 4, 4]
    assert [act.kind for act in ledger.acts()] == ["register", "announce", "announce", "raise", "announce"]


def test_raising_never_lowers(ledger):
    announce(ledger, "one")
    announce(ledger, "two", grains=1, allowances=[2, 9, 8], raise_limits=True)
    assert ledger.remaining(WHO).tolist() == [2, 3, 2]


def test_what_a_raise_would_leave_is_told_beforehand(ledger):
    announce(ledger, "one")
    assert ledger.remaining(WHO, raised_to=np.array([7, 10, UNLIMITED])).tolist() == [3, 5, UNLIMITED]


def test_an_infinite_allowance_is_never_used_up(ledger):
    for campaign in ("one", "two", "three"):
        announce(ledger, campaign, grains=2**42, allowances=UNLIMITED)
        release(ledger, campaign, grains=2**42)
    assert ledger.remaining(WHO).tolist() == [UNLIMITED] * 3
    assert ledger.receipt("ann").remaining is None
    assert ledger.verify().ok


def test_strangers_have_no_bound_yet(ledger):
    announce(ledger)
    assert ledger.remaining(["nobody", "ann"]).tolist() == [UNLIMITED, 3]


def test_an_offer_can_be_left_out_of_what_remains(ledger):
    announce(ledger, "one", grains=3)
    announce(ledger, "two", grains=4)
    assert ledger.remaining(WHO, besides=terms("two")).tolist() == [5, 5, 5]


@given(st.floats(0, allow_nan=False))
def test_an_allowance_in_grains_is_never_above_the_limit(limit):
    grains = int(allowance_grains(np.array([limit]))[0])
    if limit < 2**30:
        assert grains <= limit * 2**32 < grains + 1
    else:
        assert grains == UNLIMITED


@given(st.integers(0, UNLIMITED))
def test_grains_turned_into_epsilon_never_grow(grains):
    epsilon = float(epsilons_of(np.array([grains]))[0])
    if grains == UNLIMITED:
        assert epsilon == np.inf
    else:
        assert int(epsilon * 2**32) <= grains
        assert grains >= 2**53 or int(epsilon * 2**32) == grains


# --- asking again --------------------------------------------------------------------------------------------------


def test_asking_again_gives_the_stored_result_and_draws_nothing(ledger):
    announce(ledger)
    first = release(ledger)
    assert release(ledger, draw=refuse_to_draw) == first
    assert release(ledger, joined=[True, True, True], draw=refuse_to_draw) == first


def test_asking_again_after_someone_declined_gives_the_stored_result(ledger):
    announce(ledger)
    ledger.let_go(terms(), ["ann"])
    first = release(ledger)
    assert release(ledger, draw=refuse_to_draw) == first
    assert release(ledger, joined=[False, True, True], draw=refuse_to_draw) == first


def test_asking_again_for_other_people_is_refused(ledger):
    announce(ledger)
    release(ledger, joined=[True, True, False])
    for joined in (None, [True, False, True]):
        with pytest.raises(PromiseBroken, match="over other people"):
            release(ledger, joined=joined, draw=refuse_to_draw)


def test_the_same_campaign_with_another_announcement_is_refused(ledger):
    announce(ledger)
    other = Terms("c", 1, "another fingerprint")
    with pytest.raises(PromiseBroken, match="not the announcement"):
        ledger.release(other, ids=WHO, grains=np.array([5, 5, 5]), draw=refuse_to_draw)
    with pytest.raises(PromiseBroken, match="announced before, differently"):
        announce(ledger, grains=1)


def test_announcing_the_same_again_changes_nothing(ledger):
    first = announce(ledger)
    before = counts(ledger)
    assert announce(ledger) == first
    assert counts(ledger) == before


def test_a_limit_edited_after_the_announcement_is_refused_even_if_the_sums_agree(ledger):
    announce(ledger, grains=[4, 5, 6])
    with pytest.raises(PromiseBroken, match="index 0 is not the one announced"):
        release(ledger, grains=[5, 4, 6], draw=refuse_to_draw)


def test_other_people_than_announced_are_refused(ledger):
    announce(ledger)
    for ids in (("ann", "bob", "dan"), ("ann", "bob"), ("ann", "bob", "cy", "dan")):
        with pytest.raises(PromiseBroken, match="not the people"):
            release(ledger, ids=ids, draw=refuse_to_draw)


def test_the_order_of_the_table_does_not_matter(ledger):
    announce(ledger, grains=[4, 5, 6])
    ledger.let_go(terms(), ["ann"])
    seen = []

    def draw(mask, number):
        seen.append(mask.tolist())
        return drawn_from(OFFERS["c"], np.array([6, 4, 5])[mask], number)

    first = release(ledger, ids=("cy", "ann", "bob"), grains=[6, 4, 5], draw=draw)
    assert seen == [[True, False, True]]
    assert release(ledger, grains=[4, 5, 6], draw=refuse_to_draw) == first
    assert ledger.verify().ok


def test_joined_answers_for_everyone_announced(ledger):
    announce(ledger)
    for joined in ([True, True], [True] * 4, True, ["no"] * 3, [1, 1, 1], [float("nan")] * 3):
        with pytest.raises(BadInput, match="each of the 3 people"):
            release(ledger, joined=joined)


def test_a_failing_draw_charges_nobody(ledger):
    announce(ledger)
    before = counts(ledger)
    with pytest.raises(BadInput, match="index 7"):
        release(ledger, draw=lambda mask, number: (_ for _ in ()).throw(BadInput("index 7")))
    assert counts(ledger) == before
    release(ledger)


def test_what_was_never_announced_cannot_be_released(ledger):
    with pytest.raises(BadInput, match="never announced"):
        release(ledger)


# --- ids -----------------------------------------------------------------------------------------------------------


def test_ids_are_kept_byte_for_byte(ledger):
    ids = ["1", "1.0", "01", " 1", "a", "A", "é", "e\u0301", "tab\there", "line\nbreak", "back\\slash", "\\N", "🙂"]
    ids += [np.str_("numpy"), "".join(map(chr, range(0x10000, 0x10000 + 500)))]
    announce(ledger, ids=ids, grains=np.arange(len(ids)), allowances=100)
    assert ledger.remaining(ids).tolist() == (100 - np.arange(len(ids))).tolist()
    assert ledger.remaining([*ids, "1.00"])[-1] == UNLIMITED
    release(ledger, ids=ids, grains=np.arange(len(ids)))
    assert [ledger.receipt(one).spent for one in ids] == list(range(len(ids)))


BAD_IDS = {"empty": "", "null": "a\x00b", "half": "\ud800", "number": 3, "repeated": "ann", "long": "x" * 501}


@pytest.mark.parametrize("kind", BAD_IDS)
def test_ids_that_no_database_could_tell_apart_are_refused(ledger, kind):
    with pytest.raises(BadInput, match="index 1"):
        announce(ledger, ids=["ann", BAD_IDS[kind]])


def test_declining_for_a_stranger_names_the_index(ledger):
    announce(ledger)
    with pytest.raises(BadInput, match="index 1 was not among"):
        ledger.let_go(terms(), ["ann", "zed"])


# --- the database --------------------------------------------------------------------------------------------------


def test_the_migrated_tables_are_the_declared_ones(ledger):
    import optin.web.schema  # noqa: F401 - declares the web's tables in the same metadata

    with ledger.engine.connect() as connection:
        assert compare_metadata(MigrationContext.configure(connection), metadata) == []


def test_the_code_knows_the_newest_migration():
    assert scripts().get_current_head() == REVISION


def test_a_ledger_can_be_closed_and_opened_again(url):
    with Ledger.open(url) as ledger:
        announce(ledger)
        first = release(ledger)
    with Ledger.open(url) as ledger:
        assert release(ledger, draw=refuse_to_draw) == first


def test_whoever_only_looks_makes_no_ledger(bare_url):
    with pytest.raises(BadInput, match="there is no ledger"):
        Ledger.open(bare_url, create=False)
    Ledger.open(bare_url).close()
    Ledger.open(bare_url, create=False).close()


def test_a_writer_that_waits_too_long_says_why(url, monkeypatch):
    monkeypatch.setattr(connection, "PATIENCE", 1)
    with Ledger.open(url) as ledger, Ledger.open(url) as other, other.engine.connect() as link, link.begin():
        connection.take_head_lock(link)
        with pytest.raises(LedgerUnavailable, match="another process kept the ledger locked; nothing was written"):
            announce(ledger)


def test_a_missing_lock_row_stops_every_writer(postgres):
    with Ledger.open(postgres.new_schema()) as ledger:
        damage(ledger, "DELETE FROM head_lock")
        with pytest.raises(LedgerUnavailable, match="tampered"):
            announce(ledger)


def test_a_ledger_of_a_newer_optin_is_refused(url):
    with Ledger.open(url) as ledger, ledger.engine.begin() as connection:
        connection.execute(text("UPDATE alembic_version SET version_num = '9999'"))
    with pytest.raises(BadInput, match="newer optin"):
        Ledger.open(url)


def test_sqlite_syncs_every_commit_and_keeps_others_out(tmp_path):
    path = tmp_path / "ledger.sqlite"
    with Ledger.open(str(path)) as ledger, ledger.engine.connect() as connection:
        announce(ledger)
        assert connection.scalar(text("PRAGMA journal_mode")) == "wal"
        assert connection.scalar(text("PRAGMA synchronous")) == 2
        assert {stat.S_IMODE(os.stat(file).st_mode) for file in tmp_path.iterdir()} == {0o600}


@pytest.mark.parametrize("name", ["a?b.db", "a%20b.db", "a#b.db", "a b.db", "a:b@c.db"])
def test_a_path_is_taken_letter_by_letter(tmp_path, name):
    with Ledger.open(str(tmp_path / name)) as ledger:
        announce(ledger)
    assert {file.name.removesuffix("-wal").removesuffix("-shm") for file in tmp_path.iterdir()} == {name}


def test_a_database_of_another_program_is_left_alone(bare_url):
    engine = create_engine(connection._place(bare_url))
    with engine.begin() as link:
        link.execute(text("CREATE TABLE alembic_version (version_num VARCHAR(32))"))
        link.execute(text("INSERT INTO alembic_version VALUES ('3f1b')"))
    engine.dispose()
    with pytest.raises(BadInput, match="belongs to another program"):
        Ledger.open(bare_url)


def test_a_ledger_in_memory_is_refused():
    for url in ("sqlite://", "sqlite:///:memory:"):
        with pytest.raises(BadInput, match=r"give a file|give a path"):
            Ledger.open(url)


@pytest.mark.parametrize("option", ["mode=memory&uri=true", "nolock=1&uri=true", "timeout=0"])
def test_a_sqlite_ledger_takes_no_options_that_could_make_it_forget(tmp_path, monkeypatch, option):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(BadInput, match="no options"):
        Ledger.open(f"sqlite:///file:ledger?{option}")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ["", "a\x00b", "\ud800", "a\nb", 5, None])
def test_campaigns_that_no_database_could_keep_are_refused(ledger, name):
    with pytest.raises(BadInput, match="campaign must be"):
        Terms(name, 1, "f")
    if name is not None:
        with pytest.raises(BadInput, match="campaign must be"):
            ledger.receipt("ann", campaign=name)


def test_postgresql_without_fsync_is_refused(postgres):
    url = postgres.new_schema()
    postgres.execute("ALTER SYSTEM SET fsync = off")
    postgres.execute("SELECT pg_reload_conf()")
    try:
        _until(lambda: postgres.execute("SHOW fsync") == [("off",)])
        with pytest.raises(BadInput, match="fsync off"):
            Ledger.open(url)
    finally:
        postgres.execute("ALTER SYSTEM RESET fsync")
        postgres.execute("SELECT pg_reload_conf()")
        _until(lambda: postgres.execute("SHOW fsync") == [("on",)])


@pytest.mark.parametrize("encoding", ["LATIN1", "SQL_ASCII"])
def test_postgresql_that_cannot_keep_every_letter_is_refused(postgres, encoding):
    name = postgres.new_database(encoding)
    with pytest.raises(BadInput, match="not in UTF-8"):
        Ledger.open(postgres.url(name))


def test_postgresql_waits_for_the_disk_even_where_the_database_would_not(postgres):
    name = postgres.new_database()
    postgres.execute(f"ALTER DATABASE {name} SET synchronous_commit = off")
    with Ledger.open(postgres.url(name)) as ledger, ledger.engine.connect() as connection:
        assert connection.scalar(text("SHOW synchronous_commit")) == "on"


def test_a_place_that_is_no_ledger_is_refused_in_clear_words(tmp_path):
    for url in ("mysql://root@localhost/x", "http://", str(tmp_path / "missing" / "ledger.sqlite")):
        with pytest.raises(BadInput, match="ledger"):
            Ledger.open(url)
    (tmp_path / "letter.txt").write_text("Dear ledger, " * 100)
    with pytest.raises(LedgerUnavailable, match="not a ledger"):
        Ledger.open(str(tmp_path / "letter.txt"))
    for url in ("postgresql://[", f"postgresql://x@/y?host={tmp_path}"):
        with pytest.raises(LedgerUnavailable, match="could not be reached"):
            Ledger.open(url)


def _until(holds):
    for _ in range(200):
        if holds():
            return
        time.sleep(0.02)
    raise AssertionError("the server did not take the setting")
