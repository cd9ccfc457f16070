"""The tutorial in a notebook runs from its first cell to its last, and shows objects as tables and pictures."""

import json
import os
import random
import socket
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest

NOTEBOOK = Path(__file__).parent.parent / "docs" / "tutorial" / "notebook.ipynb"
CHANNELS = ("shell", "iopub", "stdin", "control", "hb")


def is_free(port):
    with socket.socket() as probe, suppress(OSError):
        probe.bind(("127.0.0.1", port))
        return True
    return False


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """The notebook as a reader's Jupyter leaves it.

    Jupyter would find ports free, close them, and open them a second later, when they may be another's: it is given five
    that no system hands out by itself. And its kernel may take its time to start, where the machine is busy.
    """
    import matplotlib.font_manager  # noqa: F401 - else the notebook says that fonts are looked for, the first time

    folder, ports = tmp_path_factory.mktemp("notebook"), filter(is_free, random.sample(range(20_000, 32_000), 100))
    command = [
        sys.executable,
        "-m",
        "jupyter",
        "nbconvert",
        "--execute",
        "--KernelManager.cache_ports=False",
        *(f"--KernelManager.{name}_port={port}" for name, port in zip(CHANNELS, ports, strict=False)),
        "--ExecutePreprocessor.startup_timeout=600",
        "--to",
        "notebook",
        "--output-dir",
        folder,
        NOTEBOOK,
    ]
    environment = {name: value for name, value in os.environ.items() if name != "MPLBACKEND"} | {
        "IPYTHONDIR": str(folder)
    }
    told = subprocess.run(list(map(str, command)), env=environment, capture_output=True, text=True, check=False)
    assert told.returncode == 0, told.stderr
    return json.loads((folder / NOTEBOOK.name).read_text())


def outputs(run):
    return [output for cell in run["cells"] if cell["cell_type"] == "code" for output in cell["outputs"]]


@pytest.mark.slow
def test_every_cell_of_the_notebook_runs_and_says_nothing_on_standard_error(run):
    assert [cell for cell in run["cells"] if cell["cell_type"] == "code" and cell["execution_count"] is None] == []
    assert [output for output in outputs(run) if output["output_type"] in ("error", "stream")] == []


@pytest.mark.slow
def test_objects_are_shown_as_tables_and_pictures(run):
    shown = [output["data"] for output in outputs(run) if "data" in output]
    assert sum("image/png" in each for each in shown) == 2
    pages = ["".join(each["text/html"]) for each in shown if "text/html" in each]
    for words in (
        "Sheet of 3 questions",
        "Certificate",
        "Announcement shifts",
        "Deal",
        "Release shifts",
        "Plan</caption>",
    ):
        assert any(words in page for page in pages), words


def test_the_notebook_is_kept_without_outputs_of_one_run():
    kept = json.loads(NOTEBOOK.read_text())
    code = [cell for cell in kept["cells"] if cell["cell_type"] == "code"]
    assert len(code) > 10
    assert all(cell["outputs"] == [] and cell["execution_count"] is None for cell in code)
