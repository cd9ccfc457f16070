"""One idea, one home: numbers and formulas that everything rests on are written down once."""

import ast
import re
from functools import cache
from pathlib import Path

import pytest

from optin.engine import check_engine
from optin.questions.sheet import KINDS as SHEET_KINDS
from optin.wording.engines import KNOWN

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


def hides_kappa(node):
    """2 / x / x and 8 * a / x / x, with whatever else is divided twice, 2 * fsum(b * b for b in scales), and a price of 8."""
    if isinstance(node, ast.Assign | ast.AnnAssign):
        target = node.targets[0] if isinstance(node, ast.Assign) else node.target
        return "price" in ast.unparse(target).lower() and is_kappa(node.value)
    if not isinstance(node, ast.BinOp):
        return False
    if isinstance(node.op, ast.Mult):
        squares = any(map(is_square, ast.walk(node.right)))
        return is_kappa(node.left) and squares and any("scale" in name for name in names_in(node.right))
    twice = is_square(node.right) or (
        isinstance(node.left, ast.BinOp)
        and isinstance(node.left.op, ast.Div)
        and ast.dump(node.left.right) == ast.dump(node.right)
    )
    return isinstance(node.op, ast.Div) and twice and any(map(is_kappa, factors(node.left)))


def factors(node):
    """What a numerator is made of, besides exponents and what is negative, for no variance is."""
    yield node
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        return
    power = isinstance(node, ast.BinOp) and isinstance(node.op, ast.Pow)
    for part in [node.left] if power else ast.iter_child_nodes(node):
        yield from factors(part)


def is_kappa(node):
    """The numbers that kappa and the price of a yes or no (kappa over a quarter) hide as."""
    return isinstance(node, ast.Constant) and node.value in (2, 8) and not isinstance(node.value, bool)


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


def test_kappa_hides_nowhere_as_a_literal():
    assert places(hides_kappa, besides=NOISE) == set()


@pytest.mark.parametrize(
    "formula",
    [
        "2.0 / self.reach / self.reach",
        "2.0 * (1.0 + (1.0 - 2.0 * clipped) ** 2) / self.reach / self.reach",
        "(2.0 if bins == 2 else 8.0 * j * (bins - j) / bins) / reach / reach * np.ones(bins - 1)",
        "math.sqrt(sd * sd + 2.0 * math.fsum(b * b for b in scales))",
        "_WORST_PRICE = 8.0",
        "price: ClassVar[float] = 8.0",
        "2 / reach**2",
    ],
)
def test_a_hidden_kappa_is_noticed(formula):
    assert any(hides_kappa(node) for node in ast.walk(ast.parse(formula)))


NAMERS = {
    "kernel/mixtures.py": "the variance of several noises",
    "kernel/proportions.py": "the noise of running sums",
    "kernel/spreads.py": "the noise of a released spread",
    "questions/facts.py": "noise constants and prices of all kinds",
    "questions/counted.py": "variances and quantiles of all results",
    "planning/question_plan.py": "the scale of one noise with the variance of several",
    "planning/numbers.py": "the noise of a plan",
    "planning/record.py": "its name in a file",
    "planning/version_2.py": "its name in a file",
    "kernel/combining.py": "the noise of sums over groups",
    "baselines/local.py": "noise that people add themselves",
    "baselines/one_bit.py": "noise that people add themselves",
}


def test_a_kind_states_what_it_moves_and_never_names_the_noise():
    """Kinds, results, reports and games get the noise from the facts of a kind, what was counted, or the plan's units."""

    def names_it(node):
        return isinstance(node, ast.ImportFrom) and any(alias.name == "LAPLACE" for alias in node.names)

    def draws(node):
        return isinstance(node, ast.ImportFrom) and any(alias.name.endswith("_quantile") for alias in node.names)

    found = {place.split(":")[0] for place in places(names_it, besides=NOISE)}
    assert found == set(NAMERS)
    quantiles = {place.split(":")[0] for place in places(draws, besides=NOISE) if place.startswith("questions/")}
    assert quantiles == {"questions/counted.py", "questions/spending.py"}


KINDS = {"Number", "YesNo", "Choice", "Scale", "Score", "Histogram", "MultipleChoice", "Measured"}
RESULTS = {"NumberResult", "YesNoResult", "ScaleResult", "HistogramResult", "Proportions", "Several"}
BY_KIND = {
    "announcement/origin.py": "what may be asked anew of one number",
    "baselines/answer_laws.py": "how numbers of all kinds are made up",
    "figures/answers.py": "how a result is drawn",
    "figures/proportions.py": "how a result is drawn",
    "releasing/one_number.py": "a release of one number",
}


def test_a_fact_of_a_kind_is_asked_of_the_kind():
    """Whether it is a proportion, how wide, what it costs at worst: nobody else lists kinds, by class or by word."""
    words = {found.kind for found in SHEET_KINDS.values()}

    def sorts(node):
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "isinstance":
            return bool(names_in(node.args[1]) & (KINDS | RESULTS))
        if not isinstance(node, ast.Compare) or not ast.unparse(node.left).endswith("kind"):
            return False
        said = {each.value for each in ast.walk(node) if isinstance(each, ast.Constant)}
        return bool(said & words)

    found = {place.split(":")[0] for place in places(sorts, besides=None)}
    assert {place for place in found if not place.startswith("questions/")} == set(BY_KIND)
    assert {each.__name__ for each in SHEET_KINDS.values()} <= KINDS


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

    assert places(divides, besides=SOURCE / "questions" / "measured.py") == set()


def test_every_engine_that_messages_name_is_known_and_named_in_one_file():
    names = re.split(r", | or ", KNOWN)
    assert len(names) == 5
    for name in names:
        check_engine(name)

    def lists(node):
        return isinstance(node, ast.Constant) and "duckdb, spark-local," in str(node.value)

    assert places(lists, besides=SOURCE / "wording" / "engines.py") == set()


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
