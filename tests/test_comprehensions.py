"""No comprehension hides a name of an enclosing function, which Python 3.12 loses (gh-121377)."""

import ast
import symtable
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
NIGHTLY = pytest.param("tests", marks=pytest.mark.nightly)
FOLDERS = ("src", "docs", NIGHTLY, "examples", "benchmarks", "workflow", ".ci")

HIDES = """
def errors(kind):
    def draw(rows):
        first = tuple(next(error for error in row if error == kind) for row in rows)
        return first, [kind for kind in "ab"]
    return draw
"""


class AsGenerators(ast.NodeTransformer):
    """Write comprehensions as generator expressions: these have their own scope in every Python."""

    def visit_ListComp(self, node):
        self.generic_visit(node)
        return ast.GeneratorExp(node.elt, node.generators)

    visit_SetComp = visit_ListComp

    def visit_DictComp(self, node):
        self.generic_visit(node)
        return ast.GeneratorExp(ast.Tuple([node.key, node.value], ast.Load()), node.generators)


def hidden_names(source):
    """List names that a comprehension binds while its function only passes them to an inner one."""
    rewritten = ast.unparse(ast.fix_missing_locations(AsGenerators().visit(ast.parse(source))))
    return sorted(_hidden_below(symtable.symtable(rewritten, "source", "exec")))


def _hidden_below(table):
    passed_on = set()
    if table.get_type() == "function":
        passed_on = {symbol.get_name() for symbol in table.get_symbols() if symbol.is_free()}
    for inner in table.get_children():
        if inner.get_name() == "genexpr":
            for symbol in inner.get_symbols():
                if symbol.is_local() and symbol.get_name() in passed_on:
                    yield f"{table.get_name()}: {symbol.get_name()}"
        yield from _hidden_below(inner)


def test_the_pattern_is_found():
    assert hidden_names(HIDES) == ["draw: kind"]
    as_dict = HIDES.replace('[kind for kind in "ab"]', '{kind: 1 for kind in "ab"}')
    assert hidden_names(as_dict) != []
    assert hidden_names(HIDES.replace('[kind for kind in "ab"]', '[word for word in "ab"]')) == []


COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, *COMPREHENSIONS)


def has_comprehension_in_two_scopes(node, scopes=0):
    """Decide whether a comprehension is in a function within another one: others hide no name."""
    if isinstance(node, COMPREHENSIONS) and scopes >= 2:
        return True
    inside = scopes + isinstance(node, SCOPES)
    children = ast.iter_child_nodes(node)
    return any(has_comprehension_in_two_scopes(child, inside) for child in children)


def test_only_sources_without_the_pattern_are_passed_over():
    assert has_comprehension_in_two_scopes(ast.parse(HIDES))
    assert not has_comprehension_in_two_scopes(ast.parse("def f(rows): return [x for x in rows]"))


@pytest.mark.parametrize("folder", FOLDERS)
def test_no_source_hides_a_name_that_its_function_passes_on(folder):
    hidden = {}
    for file in sorted((ROOT / folder).rglob("*.py")):
        source = file.read_text(encoding="utf-8")
        if not has_comprehension_in_two_scopes(ast.parse(source)):
            continue
        names = hidden_names(source)
        if names:
            hidden[str(file.relative_to(ROOT))] = names
    assert hidden == {}
