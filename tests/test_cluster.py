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
from spark_cluster import SparkCluster

import optin
from optin.releasing.drawing import measure

N = 20_000
RNG = np.random.default_rng(8)
LIMITS, VALUES, JOINED = RNG.lognormal(-1.0, 1.0, N), RNG.normal(0.5, 0.5, N), RNG.random(N) < 0.9
IDS = [f"p{number:05}" for number in range(N)]


@pytest.fixture
def cluster():
    started = SparkCluster()
    yield started
    started.stop()


@pytest.mark.xdist_group("spark")
def test_a_standalone_cluster_plans_and_releases_the_same_and_survives_the_loss_of_a_worker(cluster, tmp_path):
    people = tmp_path / "people"
    people.mkdir()
    table = pa.table({"id": IDS, "limit": LIMITS, "value": np.where(JOINED, VALUES, np.nan), "joined": JOINED})
    for part in range(16):
        pq.write_table(table.slice(part * N // 16, N // 16), people / f"{part:02}.parquet")
    held = optin.PrivacyConstrained(LIMITS, ids=IDS)
    plan = optin.plan(held, bounds=(0, 1))
    offer = plan.announce(held, campaign="c")
    (tmp_path / "announcement.json").write_text(offer.to_json())
    patient = os.environ | {"OPTIN_ENGINE_PATIENCE": "120"}  # starting Java on a busy machine takes its time
    job = [
        sys.executable,
        Path(__file__).parent / "cluster_job.py",
        cluster.url,
        people,
        tmp_path / "announcement.json",
    ]
    with subprocess.Popen(
        list(map(str, job)), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=patient
    ) as process:
        planned = json.loads(process.stdout.readline() or "null")
        assert planned is not None, process.stderr.read()
        sums = [json.loads(process.stdout.readline())]
        cluster.kill_worker(0)
        sums += [json.loads(line) for line in process.stdout]
    assert planned["cap"] == pytest.approx(plan.cap, rel=1e-11)
    expected = measure(offer, held, VALUES, joined=JOINED)
    assert sums == [{"sum": str(expected.those.weighted), "joined": int(JOINED.sum())}] * 3
