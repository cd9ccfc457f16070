"""What is deployed and published agrees with the code: variables, versions, extras, and who may do what."""

import json
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
import yaml

import optin
from optin.web.settings import WebSettings

ROOT = Path(__file__).parent.parent
DEPLOY = ROOT / "deploy"
SETTINGS = {f"OPTIN_WEB_{name.upper()}" for name in WebSettings.model_fields}
COMPOSE = yaml.safe_load((DEPLOY / "compose.yaml").read_text())
IMAGE = (ROOT / "Dockerfile").read_text()
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]


@pytest.mark.parametrize("file", [ROOT / "Dockerfile", *DEPLOY.rglob("*")], ids=lambda file: file.name)
def test_every_variable_that_is_set_is_a_setting_of_the_service(file):
    if file.is_file():
        assert set(re.findall(r"OPTIN_WEB_[A-Z_]+", file.read_text())) <= SETTINGS


def test_everything_that_compose_asks_for_is_in_the_example_of_secrets():
    asked = set(re.findall(r"\$\{([A-Z_]+)", (DEPLOY / "compose.yaml").read_text()))
    assert asked == set(re.findall(r"^([A-Z_]+)=", (DEPLOY / "example.env").read_text(), re.MULTILINE))


def test_the_image_builds_in_one_stage_and_runs_in_another_without_rights():
    assert IMAGE.count("\nFROM ") == 2
    last = IMAGE.rsplit("\nFROM ", 1)[1]
    assert "\nUSER optin\n" in last
    assert "pip install" not in last
    assert "\nHEALTHCHECK " in last
    assert last.index("\nUSER optin\n") < last.index("\nCMD ")


def test_the_image_holds_what_was_compiled_so_that_no_start_compiles_again():
    assert "compileall -qf --invalidation-mode unchecked-hash" in IMAGE
    assert "__pycache__" not in IMAGE


def test_only_the_proxy_is_reached_from_outside_and_keys_are_in_no_backup():
    services = COMPOSE["services"]
    assert [name for name, each in services.items() if "ports" in each] == ["proxy"]
    assert [name for name, each in services.items() if any(v.startswith("keys:") for v in each.get("volumes", []))] == [
        "optin"
    ]
    assert COMPOSE["networks"]["inside"]["internal"]
    assert services["database"]["networks"] == ["inside"]


def test_one_version_stands_everywhere():
    assert COMPOSE["services"]["optin"]["image"] == f"optin:{optin.__version__}"
    assert f"\nversion: {optin.__version__}\n" in (ROOT / "CITATION.cff").read_text()
    assert f"\n## {optin.__version__}\n" in (ROOT / "CHANGELOG.md").read_text()


@pytest.mark.parametrize("file", WORKFLOWS, ids=lambda file: file.name)
def test_workflows_have_no_more_rights_than_they_need(file):
    workflow = yaml.safe_load(file.read_text())
    assert workflow["permissions"] == {"contents": "read"}
    jobs = [job for job in workflow["jobs"].values() if "steps" in job]
    writing = [job["permissions"] for job in jobs if "permissions" in job]
    assert writing == {
        "docs.yml": [{"pages": "write", "id-token": "write"}],
        "release.yml": [{"id-token": "write"}],
    }.get(file.name, [])


def test_what_workflows_and_hooks_run_is_there():
    made = set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    for file in (*WORKFLOWS, ROOT / ".pre-commit-config.yaml"):
        text = file.read_text()
        assert set(re.findall(r"\bmake ([a-z]+)", text)) - {"test."} <= made
        for script in re.findall(r"\b((?:packaging|docs)/[\w/]+\.py)", text):
            assert (ROOT / script).is_file()


def test_wheels_are_tried_on_every_python_that_is_claimed():
    claimed = {each.rsplit(" ", 1)[1] for each in PROJECT["classifiers"] if ":: Python :: 3." in each}
    matrix = yaml.safe_load((ROOT / ".github" / "workflows" / "wheels.yml").read_text())["jobs"]["try"]["strategy"][
        "matrix"
    ]
    assert set(matrix["python"]) == claimed


def test_backups_keep_what_is_young_and_drop_what_is_old(tmp_path):
    (tmp_path / "pg_dump").write_text(
        '#!/bin/sh\nfor word in "$@"; do case $word in --file=*) echo dump > "${word#--file=}";; esac; done\n'
    )
    (tmp_path / "pg_dump").chmod(0o755)
    folder = tmp_path / "backups"
    folder.mkdir()
    old = folder / "ledger-20200101T000000Z.dump"
    old.touch()
    subprocess.run(["touch", "-d", "30 days ago", str(old)], check=True)
    environment = {"PATH": f"{tmp_path}:/usr/bin:/bin", "BACKUPS": str(folder), "KEEP_DAYS": "14"}
    subprocess.run(["sh", DEPLOY / "backup.sh", "once"], env=environment, check=True, capture_output=True)
    (new,) = folder.iterdir()
    assert new != old
    assert new.stat().st_mode & 0o077 == 0


def test_a_backup_that_fails_leaves_nothing_behind(tmp_path):
    (tmp_path / "pg_dump").write_text(
        '#!/bin/sh\nfor word in "$@"; do case $word in --file=*) : > "${word#--file=}";; esac; done; exit 1\n'
    )
    (tmp_path / "pg_dump").chmod(0o755)
    folder = tmp_path / "backups"
    folder.mkdir()
    environment = {"PATH": f"{tmp_path}:/usr/bin:/bin", "BACKUPS": str(folder)}
    done = subprocess.run(["sh", DEPLOY / "backup.sh"], env=environment, check=False, capture_output=True)
    assert done.returncode == 1
    assert not list(folder.iterdir())


@pytest.mark.slow
def test_the_site_is_built_without_a_warning_and_loads_nothing_from_elsewhere(tmp_path):
    """It needs packages of its own, in an environment of its own."""
    uv = Path(sys.executable).with_name("uv")
    subprocess.run([uv, "venv", "--quiet", tmp_path / "docs"], check=True)
    python = tmp_path / "docs" / "bin" / "python"
    wanted = PROJECT["optional-dependencies"]["docs"]
    subprocess.run(
        [uv, "pip", "install", "--quiet", "--python", python, "--constraint", ROOT / "constraints.txt", *wanted],
        check=True,
    )
    done = subprocess.run([python, ROOT / "packaging" / "site.py"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "WARNING" not in done.stderr
    index = json.loads((ROOT / "build" / "site" / "search" / "search_index.json").read_text())
    assert len(index["docs"]) > 500
