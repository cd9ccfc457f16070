"""The house stands as its plan says: floors, public names, failures, light imports."""

import ast
import inspect
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import optin
from optin import errors

ROOT = Path(__file__).parent.parent


def run(*command):
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)


def test_imports_only_look_down():
    done = run(str(Path(sys.executable).with_name("lint-imports")))
    assert done.returncode == 0, done.stdout


def test_every_room_but_releasing_is_kept_from_drawing_noise():
    """A contract lists its rooms by name, so a new room would be free of it without a word."""
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
    kept = next(each["source_modules"] for each in contracts if each["name"] == "Only releasing draws noise")
    rooms = {
        path.stem for path in (ROOT / "src/optin").iterdir() if path.suffix == ".py" or (path / "__init__.py").exists()
    }
    assert {f"optin.{room}" for room in rooms - {"__init__", "__main__", "_attached", "_version", "releasing"}} == set(
        kept
    )


def test_nothing_below_the_root_imports_the_root():
    """Through the root every room is reached, and import-linter sees no floor in that."""

    def through_root(path):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Import):
                yield from (node.lineno for each in node.names if each.name == "optin")
            elif isinstance(node, ast.ImportFrom) and node.module == "optin":
                yield from (node.lineno for each in node.names if not is_room(each.name))
            elif isinstance(node, ast.Call) and "import_module" in ast.unparse(node.func):
                yield node.lineno

    def is_room(name):
        return (ROOT / "src/optin" / name).is_dir() or (ROOT / f"src/optin/{name}.py").exists()

    below = [path for path in (ROOT / "src/optin").rglob("*.py") if path != ROOT / "src/optin/__init__.py"]
    found = [(str(path.relative_to(ROOT / "src/optin")), line) for path in below for line in through_root(path)]
    assert [path for path, _ in found] == [
        "campaign/__init__.py"
    ]  # which imports its own verbs when they are asked for


def test_public_names_are_sorted_exist_and_shadow_no_module():
    names = optin.__all__
    assert names == sorted(names)
    modules = {path.stem for path in (ROOT / "src/optin").iterdir()}
    for name in names:
        assert getattr(optin, name) is not None
        if callable(getattr(optin, name)):
            assert name not in modules


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="no attribute 'plann'"):
        optin.plann  # noqa: B018


def test_importing_optin_loads_numpy_and_nothing_heavier():
    heavy = "{'scipy', 'pandas', 'opendp', 'sqlalchemy', 'pyarrow', 'matplotlib', 'typer', 'rich', 'alembic'}"
    done = run(sys.executable, "-c", f"import optin, sys; print(sorted({heavy} & set(sys.modules)))")
    assert done.stdout.strip() == "[]", done.stderr


def leaves(kind):
    below = kind.__subclasses__()
    return [kind] if not below else [leaf for sub in below for leaf in leaves(sub)]


def test_every_failure_has_an_exit_code_a_status_and_a_place_in_the_drawing():
    for kind in leaves(errors.OptinError):
        assert kind.exit_code in (1, 2, 3, 4, 5)
        assert kind.http_status in (409, 422, 500, 503)
        if kind.__module__ == "optin.errors":
            drawn = re.search(rf"{kind.__name__}\b.*exit (\d), HTTP (\d+)", errors.__doc__)
            assert drawn, kind
            assert (int(drawn[1]), int(drawn[2])) == (kind.exit_code, kind.http_status)


def test_every_public_name_says_what_it_is():
    for name in optin.__all__:
        value = getattr(optin, name)
        if inspect.isclass(value) or inspect.isfunction(value):
            assert (value.__doc__ or "").strip(), name


def test_files_and_functions_stay_small():
    import ast

    for path in (ROOT / "src").rglob("*.py"):
        text = path.read_text()
        assert text.count("\n") <= 350, path
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.FunctionDef):
                assert node.end_lineno - node.lineno <= 60, (path, node.name)


def test_the_files_a_project_needs_are_there():
    for name in [
        "README.md",
        "CHANGELOG.md",
        "CONTRIBUTING.md",
        "SECURITY.md",
        "LICENSE",
        "CITATION.cff",
        "src/optin/py.typed",
    ]:
        assert (ROOT / name).stat().st_size > 0 or name.endswith("py.typed"), name


@pytest.mark.xdist_group("together")
def test_tests_of_one_group_share_one_process(request):
    """A pytest that hides groups from pytest-xdist scatters them, and each worker starts a Spark of its own."""
    grouped = request.config.getoption("loadgroup", default=False)
    assert request.node.nodeid.endswith("@together") == grouped


ENGINES = ("duckdb", "pyspark", "postgres", "spark-local")


def test_only_an_engine_s_own_file_compares_the_names_of_engines():
    """How engines differ is said by their `Dialect`; a comparison elsewhere would be one more file for a new engine."""

    def names_one(node):
        return any(isinstance(part, ast.Constant) and part.value in ENGINES for part in ast.walk(node))

    def asks(node):
        compared = isinstance(node, ast.Compare) and names_one(node)
        return compared or (
            isinstance(node, ast.Call) and getattr(node.func, "attr", "") == "startswith" and names_one(node)
        )

    own = {"duck.py", "spark.py", "spark_connect.py", "engines.py"}
    found = [
        f"{path.name}:{node.lineno}"
        for path in (ROOT / "src/optin").rglob("*.py")
        if not (path.parent.name == "engine" and path.name in own)
        for node in ast.walk(ast.parse(path.read_text()))
        if asks(node) or getattr(node, "id", getattr(node, "attr", "")) == "is_spark"
    ]
    assert found == []


def test_only_where_a_database_is_opened_is_its_name_compared():
    """Elsewhere `is_sqlite` is asked; migrations stay as they were when they were written."""

    def names_one(node):
        return any(isinstance(part, ast.Constant) and part.value in ("sqlite", "postgresql") for part in ast.walk(node))

    found = {
        str(path.relative_to(ROOT / "src/optin"))
        for path in (ROOT / "src/optin").rglob("*.py")
        if "migrations" not in path.parts
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Compare) and names_one(node)
    }
    assert found == {"database/connection.py", "database/kinds.py"}


def imports_of(path):
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and node.module:
            yield from ((node.module, each.name, node.lineno) for each in node.names)


VERBS = ("optin.ledger", "optin.releasing", "optin.announcement")


def test_command_line_and_web_service_import_records_and_the_verbs_of_campaign_alone():
    """What may be done to a ledger, a release or an announcement is decided in campaign, once; records may go anywhere."""
    found = [
        f"{path.relative_to(ROOT)}:{line} {module}.{name}"
        for room in ("cli", "web")
        for path in (ROOT / f"src/optin/{room}").rglob("*.py")
        for module, name, line in imports_of(path)
        if module.startswith(VERBS) and name[0].islower()
    ]
    assert found == []


FORMS = ("is_kept", "kept_rule", "Kept", "KeptRule", "KeptConstrained", "KeptQuasiLinear")
ASKING = {
    "engine/opening.py",  # where a table is opened
    "grains/people.py",  # where people are taken for what they are
}


def test_two_places_ask_whether_people_are_in_memory_or_in_an_engine():
    """Both forms answer everything up to campaign; where someone asks which it is, a law holds for one form alone."""

    def asks(node):
        name = getattr(node, "id", getattr(node, "attr", getattr(node, "name", "")))
        if name in FORMS or (isinstance(node, ast.Constant) and node.value == "Kept"):
            return True
        if not isinstance(node, ast.Call) or getattr(node.func, "id", "") not in ("isinstance", "hasattr"):
            return False
        tested = {getattr(part, "id", getattr(part, "value", "")) for part in ast.walk(node.args[1])}
        both = {"PrivacyConstrained", "QuasiLinear"} <= tested
        return both or bool(
            tested & {"rows", "EngineAgents", "EnginePeople", "ArrayPeople", "EnginePromises", "GrainRule"}
        )

    found = {
        str(path.relative_to(ROOT / "src/optin"))
        for path in (ROOT / "src/optin").rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text()))
        if asks(node)
    }
    assert found <= ASKING
    assert "grains/people.py" in found, "this test no longer sees what it is about"


MANY = 7
DOORS = {
    "baselines/comparison.py": {"compare"},
    "campaign/planning.py": {"plan"},
    "campaign/steps.py": {"announce"},
    "cli/compare.py": {"compare_designs"},
    "cli/announcing.py": {"announce_plan"},
    "cli/plan.py": {"plan_people"},
    "cli/releases.py": {"release_results"},
    "cli/simulate.py": {"simulate_campaigns"},
    "engine/opening.py": {"read"},
    "figures/laboratory.py": {"relation"},
    "ledger/ledger.py": {"announce", "release"},
    "planning/solve.py": {"plan"},
    "simulation/simulating.py": {"simulate"},
}
"""Commands, whose arguments are options, and public functions, whose arguments are words that people write in scripts."""


def test_more_than_seven_arguments_are_a_record_but_at_public_doors():
    """Whoever needs one argument more inside finds the record that it belongs to; at a door it is one word more to write."""

    def many(node):
        taken = node.args
        names = [each.arg for each in (*taken.posonlyargs, *taken.args, *taken.kwonlyargs)]
        return len([name for name in names if name not in ("self", "cls")]) > MANY

    found = {}
    for path in (ROOT / "src/optin").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and many(node):
                found.setdefault(str(path.relative_to(ROOT / "src/optin")), set()).add(node.name)
    assert found == DOORS


NAMING = ("id", "arg", "attr", "name")  # where Python's trees keep names: variables, arguments, attributes, patterns


def test_no_variable_argument_or_attribute_is_called_found():
    """A name says what it holds; that something was found says nothing of it."""
    called = {
        f"{path.relative_to(ROOT)}:{node.lineno}"
        for path in (ROOT / "src/optin").rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text()))
        if any(getattr(node, each, None) in ("found", "_found") for each in NAMING)
    }
    in_pages = re.compile(r"\{[%{][^}]*\bfound\b")
    called |= {str(page) for page in (ROOT / "src/optin").rglob("*.html") if in_pages.search(page.read_text())}
    assert called == set()


READ = {
    "errors.py": "what failures are filled with is written beside them",
    "campaign/history.py": "the door through which command line and web service read a ledger",
    "participation.py": "docs/reference/generate.py",
    "relations.py": "docs/reference/generate.py",
}
"""Files that are not packages, and who reads their ``__all__``: a name passed on, or a page of the reference."""


def test_only_packages_and_files_whose_list_is_read_list_their_names():
    """A name is imported from where it is defined, so that whoever looks for it finds it in one hop."""
    found = {
        str(path.relative_to(ROOT / "src/optin"))
        for path in (ROOT / "src/optin").rglob("*.py")
        if path.name != "__init__.py" and any(line.startswith("__all__") for line in path.read_text().splitlines())
    }
    assert found == set(READ)
