"""Code that reads without decoding: forms that nobody has to work out."""

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
FOLDERS = ("src", "docs", "tests", "examples", "benchmarks")

COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
SEQUENCES = (ast.List, ast.Tuple, ast.ListComp, ast.JoinedStr)


def is_condition(node):
    if isinstance(node, ast.Call):
        return isinstance(node.func, ast.Name) and node.func.id == "bool"
    is_not = isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not)
    return is_not or isinstance(node, ast.Compare | ast.BoolOp)


def is_sequence(node):
    is_text = isinstance(node, ast.Constant) and isinstance(node.value, str)
    return is_text or isinstance(node, SEQUENCES)


def is_product_with_a_condition(node):
    """Decide whether a sequence is multiplied by a condition: ``"s" * (n != 1)``."""
    if not (isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult)):
        return False
    for sequence, condition in ((node.left, node.right), (node.right, node.left)):
        if is_sequence(sequence) and is_condition(condition):
            return True
    return False


def is_nested_comprehension(node):
    """Decide whether a comprehension has two loops or two conditions, or holds another one."""
    if not isinstance(node, COMPREHENSIONS):
        return False
    comprehensions = [part for part in ast.walk(node) if isinstance(part, COMPREHENSIONS)]
    n_loops = len(node.generators)
    n_conditions = len(node.generators[0].ifs)
    return n_loops > 1 or n_conditions > 1 or len(comprehensions) > 1


def is_chained_conditional(node):
    """Decide whether a conditional expression holds another one."""
    if not isinstance(node, ast.IfExp):
        return False
    return any(isinstance(part, ast.IfExp) for part in (node.body, node.orelse, node.test))


def is_parallel_assignment(node):
    """Decide whether one statement assigns several calls or comprehensions: ``a, b = f(), g()``."""
    if not (isinstance(node, ast.Assign) and isinstance(node.value, ast.Tuple)):
        return False
    if not isinstance(node.targets[0], ast.Tuple):
        return False
    return any(isinstance(part, (ast.Call, *COMPREHENSIONS)) for part in ast.walk(node.value))


RULES = {
    "write a conditional, not a product with a condition": is_product_with_a_condition,
    "write a loop, not a nested comprehension": is_nested_comprehension,
    "write if and elif, not a chain of conditional expressions": is_chained_conditional,
    "write one assignment a line": is_parallel_assignment,
}


def find_faults(source):
    """List (line, rule) of everything that breaks a rule."""
    faults = []
    for node in ast.walk(ast.parse(source)):
        for rule, breaks in RULES.items():
            if breaks(node):
                faults.append((node.lineno, rule))
    return sorted(faults)


def files():
    for folder in FOLDERS:
        for file in sorted((ROOT / folder).rglob("*.py")):
            if "__pycache__" not in file.parts:
                yield file


def files_with_faults():
    return {
        file.relative_to(ROOT).as_posix(): faults
        for file in files()
        if (faults := find_faults(file.read_text(encoding="utf-8")))
    }


@pytest.mark.parametrize(
    ("code", "rule"),
    [
        ('word = "row" + "s" * (n != 1)', "not a product"),
        ("words = [x] * bool(x)", "not a product"),
        ("a = [x for row in rows for x in row]", "nested comprehension"),
        ("a = [x for x in rows if x if x > 1]", "nested comprehension"),
        ("a = {x: [y for y in x] for x in rows}", "nested comprehension"),
        ("a = 1 if x else 2 if y else 3", "not a chain"),
        ("a, b = f(), 1", "one assignment a line"),
    ],
)
def test_each_rule_is_noticed(code, rule):
    (fault,) = find_faults(code)
    assert rule in fault[1]


@pytest.mark.parametrize(
    "code",
    [
        "a = 0.5 * (x > 1)",
        "a, b = 1, x[0]",
        "a, b = f()",
        "a = [x for x in rows if x]",
        "a = [0] * n",
    ],
)
def test_plain_code_breaks_no_rule(code):
    assert find_faults(code) == []


def test_no_file_breaks_a_rule():
    assert files_with_faults() == {}
