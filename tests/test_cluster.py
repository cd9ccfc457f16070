"""A real Spark cluster plans and releases what one process does, and loses a worker without losing a digit."""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from changing import numbers_of
from spark_cluster import PATIENT, SparkCluster

import optin
from optin.releasing.drawing import measure

N = 4_000
RNG = np.random.default_rng(8)
LIMITS, VALUES, JOINED = RNG.lognormal(-1.0, 1.0, N), RNG.normal(0.5, 0.5, N), RNG.random(N) < 0.9
IDS = [f"p{number:05}" for number in range(N)]
HELD = optin.PrivacyConstrained(LIMITS, ids=IDS)


@pytest.fixture(scope="module")
def people(tmp_path_factory):
    folder = tmp_path_factory.mktemp("people")
    table = pa.table({"id": IDS, "limit": LIMITS, "value": np.where(JOINED, VALUES, np.nan), "joined": JOINED})
    for part in range(4):
        pq.write_table(table.slice(part * N // 4, N // 4), folder / f"{part}.parquet")
    return folder


@pytest.fixture
def cluster():
    started = SparkCluster()
    yield started
    started.stop()


@pytest.mark.slow
@pytest.mark.xdist_group("spark")
def test_a_cluster_plans_and_releases_the_same_by_either_url_and_survives_the_loss_of_a_worker(
    cluster, people, tmp_path
):
    plan = optin.plan(HELD, bounds=(0, 1))
    offer = plan.announce(HELD, campaign="c")
    expected = str(measure(offer, HELD, VALUES, joined=JOINED).those.questions[0].cells[0])
    (tmp_path / "plan.json").write_text(plan.to_json())
    job = [sys.executable, Path(__file__).parent / "cluster_job.py"]
    where = [people, tmp_path]
    with cluster.driver([*job, cluster.url, *where, 3]) as process:
        planned = json.loads(process.stdout.readline() or "null")
        assert planned is not None, process.stderr.read()
        sums = [json.loads(process.stdout.readline())]
        cluster.kill_worker(0)
        sums += [json.loads(process.stdout.readline()) for _ in range(2)]
        attached = subprocess.run(
            list(map(str, [*job, cluster.connect_url, *where, 1])),
            env=os.environ | PATIENT,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
        )
    assert attached.returncode == 0, attached.stderr
    by_connect = [json.loads(line) for line in attached.stdout.splitlines()]
    assert [planned["cap"], by_connect[0]["cap"]] == pytest.approx([plan.cap] * 2, rel=1e-11)
    assert planned["offer"] == by_connect[0]["offer"] == json.loads(json.dumps(numbers_of(offer)))
    assert sums + by_connect[1:] == [{"sum": expected, "joined": int(JOINED.sum())}] * 4
