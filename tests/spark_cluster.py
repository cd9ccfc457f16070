"""A real Spark standalone cluster: a master and workers on loopback, from the PyPI package and this machine's Java.

A driver on it opens Spark Connect as well, as a cluster that serves clients without Java does.
"""

import contextlib
import ctypes
import os
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from pathlib import Path

import pyspark

_LIBC = ctypes.CDLL(None)
HOME = Path(pyspark.__file__).parent
PATIENT = {"OPTIN_ENGINE_PATIENCE": "3600"}
"""Starting Java takes its time where a machine is busy: 120 seconds were too few beside thirty other programs."""


class SparkCluster:
    """One master and two workers of one core each; everything they write is in one folder, gone at the end."""

    def __init__(self, workers=2):
        self.folder = Path(tempfile.mkdtemp(prefix="optin-spark-"))
        self.port = _free_port()
        self.url = f"spark://127.0.0.1:{self.port}"
        self.connect_port = _free_port()
        self.connect_url = f"sc://127.0.0.1:{self.connect_port}"
        self.master = self._run("master", "deploy.master.Master", "--port", self.port, "--webui-port", 0)
        _wait_for(lambda: _listens(self.port))
        self.workers = [
            self._run(f"worker{number}", "deploy.worker.Worker", "-c", 1, "-m", "1g", "--webui-port", 0, self.url)
            for number in range(workers)
        ]
        _wait_for(lambda: (self.folder / "master.log").read_text().count("Registering worker") == workers)

    def _run(self, name, program, *arguments):
        command = [HOME / "bin" / "spark-class", f"org.apache.spark.{program}", "--host", "127.0.0.1", *arguments]
        work = self.folder / name
        work.mkdir()
        settings = {
            "SPARK_HOME": HOME,
            "SPARK_LOCAL_DIRS": work,
            "SPARK_WORKER_DIR": work,
            "SPARK_DAEMON_MEMORY": "256m",
        }
        with (self.folder / f"{name}.log").open("wb") as log:
            return subprocess.Popen(
                [str(part) for part in command],
                env=os.environ | {key: str(value) for key, value in settings.items()},
                stdout=log,
                stderr=log,
                start_new_session=True,
                preexec_fn=_dies_with_parent,  # a killed test process leaves no cluster behind
            )

    @contextlib.contextmanager
    def driver(self, command):
        """Run a program whose Spark also serves Spark Connect; it ends when its input does."""
        conf = {
            "spark.plugins": "org.apache.spark.sql.connect.SparkConnectPlugin",
            "spark.connect.grpc.binding.address": "127.0.0.1",
            "spark.connect.grpc.binding.port": self.connect_port,
        }
        arguments = [f"--conf {name}={value}" for name, value in conf.items()]
        environment = {
            "PYSPARK_SUBMIT_ARGS": " ".join([*arguments, "pyspark-shell"]),
            **PATIENT,
        }
        with subprocess.Popen(
            [str(part) for part in command],
            env=os.environ | environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            preexec_fn=_dies_with_parent,
        ) as process:
            try:
                yield process
            finally:
                process.stdin.close()

    def kill_worker(self, number):
        """Take one worker and what it runs away, as a lost machine would."""
        os.killpg(self.workers[number].pid, signal.SIGKILL)

    def stop(self):
        for process in (*self.workers, self.master):
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        shutil.rmtree(self.folder, ignore_errors=True)


def _dies_with_parent():
    _LIBC.prctl(1, signal.SIGKILL)


def _free_port():
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return found.getsockname()[1]


def _listens(port):
    with contextlib.suppress(OSError):
        socket.create_connection(("127.0.0.1", port), timeout=1).close()
        return True
    return False


def _wait_for(condition, seconds=3600):
    patience = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < patience, "the cluster did not start"
        time.sleep(0.1)
