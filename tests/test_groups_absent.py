"""A group of which nobody came, where people stay in an engine."""

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from test_groups_engines import ENGINES, ONE, SHEET, columns, read, table

import optin
from optin import campaign
from optin.releasing.drawing import measure


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("sheet", [SHEET, ONE])
def test_a_group_that_nobody_joined_is_withheld_alone_in_an_engine_too(tmp_path, engine, sheet):
    """It was refused as if people had been changed, and with it all others."""
    found = table(11).to_pydict()
    found["joined"] = [joined and ward != "ICU" for joined, ward in zip(found["joined"], found["ward"], strict=True)]
    pq.write_table(pa.table(found), tmp_path / "people.parquet")
    kept, held = (read(tmp_path / "people.parquet", each) for each in (engine, "memory"))
    plan = optin.plan(held, sheet)
    offers = [plan.announce(each, campaign="c") for each in (kept, held)]
    mine = measure(offers[0], kept, "hours" if sheet is ONE else None, joined="joined")
    theirs = measure(offers[1], held, columns(pa.table(found), sheet), joined=np.array(found["joined"]))
    assert [part.those for part in mine.parts] == [part.those for part in theirs.parts]
    assert mine.drawn().withheld == {"ICU": "nobody in this group who allows anything joined"}
    with optin.Ledger.open(str(tmp_path / "ledger.sqlite")) as ledger:
        offer = campaign.announce(plan, kept, ledger=ledger, allowances=20.0)
        asked = "hours" if sheet is ONE else None
        release = campaign.release(offer, kept, asked, ledger=ledger, joined="joined")
        assert list(release.withheld) == ["ICU"]
        assert ledger.verify([release]).ok
