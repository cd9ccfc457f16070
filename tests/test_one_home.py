"""One idea, one home: numbers and formulas that everything rests on are written down once."""

import ast
from functools import cache
from pathlib import Path

import pytest

SOURCE = Path(__file__).parent.parent / "src" / "optin"
NOISE = SOURCE / "kernel" / "noise.py"
CONSTANTS = {"kappa", "noise_constant", "KAPPA", "LAPLACE"}


@cache
def nodes():
    """Every node of every file, read and walked once for all laws below."""
    return {path: list(ast.walk(ast.parse(path.read_text()))) for path in sorted(SOURCE.rglob("*.py"))}


def names_in(node):
    found = [each for each in ast.walk(node) if isinstance(each, ast.Name | ast.Attribute)]
    return {each.id if isinstance(each, ast.Name) else each.attr for each in found}


def is_square(node):
    """x**2, x * x, and the 2 * x**2 of noise that forgot its constant."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Pow):
        return ast.unparse(node.right) == "2"
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult):
        return ast.dump(node.left) == ast.dump(node.right)
    return False


def writes_a_variance(node):
    """kappa / x**2, kappa / x / x, kappa * (r / x)**2, and 2 * scale**2, with whatever is added before dividing."""
    if not isinstance(node, ast.BinOp):
        return False
    scale = any("scale" in name for name in names_in(node.right))
    if isinstance(node.op, ast.Mult) and is_square(node.right):
        two = isinstance(node.left, ast.Constant) and node.left.value == 2 and scale
        return two or bool(names_in(node.left) & CONSTANTS)
    if not isinstance(node.op, ast.Div) or not names_in(node.left) & CONSTANTS:
        return False
    twice = isinstance(node.left, ast.BinOp) and isinstance(node.left.op, ast.Div)
    return is_square(node.right) or (twice and ast.dump(node.left.right) == ast.dump(node.right))


def is_power_of_two(node, exponent):
    if not isinstance(node, ast.BinOp) or not isinstance(node.op, ast.Pow):
        return False
    return ast.unparse(node.left) in {"2", "2.0"} and ast.unparse(node.right) in {str(exponent), str(-exponent)}


def places(condition, *, besides):
    return {
        f"{path.relative_to(SOURCE)}:{node.lineno}"
        for path, found in nodes().items()
        if path != besides
        for node in found
        if condition(node)
    }


def test_the_variance_is_written_out_in_one_file():
    assert places(writes_a_variance, besides=NOISE) == set()


@pytest.mark.parametrize(
    "formula",
    [
        "plan.noise_constant / plan.eta**2",
        "kappa / reach / reach",
        "(spread * squares + kappa) / reach / reach",
        "(plan.data_variance * squares + plan.noise_constant * plan.width**2) / totals**2",
        "plan.noise_constant * (plan.width / reach) ** 2",
        "2.0 * release.noise_scale**2",
        "kappa / (reach * reach)",
    ],
)
def test_a_variance_written_out_is_noticed(formula):
    assert any(writes_a_variance(node) for node in ast.walk(ast.parse(formula)))


def test_grains_of_an_epsilon_are_stated_in_one_file():
    assert places(lambda node: is_power_of_two(node, 32), besides=SOURCE / "kernel" / "rounding.py") == set()


def test_kappa_is_stated_in_one_file():
    def states(node):
        if isinstance(node, ast.keyword):
            return node.arg in CONSTANTS and isinstance(node.value, ast.Constant)
        target = node.targets[0] if isinstance(node, ast.Assign) else getattr(node, "target", None)
        return target is not None and bool(names_in(target) & CONSTANTS) and isinstance(node.value, ast.Constant)

    assert (
        places(lambda n: isinstance(n, ast.Assign | ast.AnnAssign | ast.keyword) and states(n), besides=NOISE) == set()
    )


def test_the_smallest_group_is_stated_in_one_file():
    """Ten people: any default or constant of ten for people, cells or groups comes from one name."""
    words = ("people", "cell", "group", "smallest")

    def states(node):
        if isinstance(node, ast.Assign | ast.AnnAssign):
            target = node.targets[0] if isinstance(node, ast.Assign) else node.target
            return is_ten(node.value) and any(word in ast.unparse(target).lower() for word in words)
        if isinstance(node, ast.arguments):
            named = [*zip([*node.posonlyargs, *node.args][::-1], node.defaults[::-1], strict=False)]
            named += zip(node.kwonlyargs, node.kw_defaults, strict=True)
            return any(is_ten(default) and any(word in arg.arg for word in words) for arg, default in named)
        return False

    def is_ten(node):
        return isinstance(node, ast.Constant) and node.value == 10

    home = SOURCE / "wording" / "groups.py"
    found = {path.relative_to(SOURCE) for path, there in nodes().items() if path != home and any(map(states, there))}
    assert found == set()


def uses(*attributes):
    return lambda node: isinstance(node, ast.Attribute) and ast.unparse(node) in attributes


def test_files_are_put_in_place_in_one_file():
    assert places(uses("os.replace", "os.umask"), besides=SOURCE / "formats" / "atomic.py") == set()


def test_numbers_are_rounded_up_for_people_in_one_file():
    home = SOURCE / "wording" / "numbers.py"
    assert places(uses("decimal.ROUND_CEILING", "decimal.ROUND_UP"), besides=home) == set()


def test_the_variance_in_units_of_the_range_is_found_in_one_file():
    """sigma^2 / R^2 has rules: at most a quarter, and nothing where nobody could tell it from nothing."""

    def divides(node):
        if not isinstance(node, ast.BinOp) or not isinstance(node.op, ast.Div):
            return False
        wide = "width" in names_in(node.right)
        return wide and "data_variance" in names_in(node.left) and not names_in(node.left) & {"min", "max"}

    assert places(divides, besides=SOURCE / "questions" / "number.py") == set()


def test_nothing_below_the_root_imports_optin_itself():
    """An import through the root hides which floor it looks at from the linter of imports."""

    rooms = {path.stem for path in SOURCE.iterdir()} - {"__init__"}

    def through_the_root(node):
        if isinstance(node, ast.Import):
            return any(alias.name == "optin" for alias in node.names)
        if isinstance(node, ast.ImportFrom) and node.module == "optin":
            return any(alias.name not in rooms for alias in node.names)
        return False

    root = {SOURCE / "__init__.py", SOURCE / "__main__.py"}
    found = {
        f"{path.relative_to(SOURCE)}:{node.lineno}"
        for path, there in nodes().items()
        if path not in root
        for node in there
        if through_the_root(node)
    }
    assert found == set()
