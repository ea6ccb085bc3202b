"""The functions that a module of a paper declares, read from its source without running it."""

import ast
import difflib
from collections.abc import Collection, Iterator, Sequence
from functools import cache

from reproduction.paths import PACKAGES
from reproduction.spec.user_modules import module_file


def check_declared(module: str, function: str, decorators: Sequence[str]) -> None:
    """Refuse a function that no paper declares, by reading its module without running it.

    So a name in an artifact can start no other module: those of Python and of installed packages
    are in no folder with papers.

    Parameters
    ----------
    module, function : str
        Names of the module, with its packages, and of the function.
    decorators : sequence of str
        Decorators that declare it, such as ``panels.figure``.

    Raises
    ------
    ValueError
        If the module does not exist or is in no such folder, or does not declare the function.
    """
    if module.partition(".")[0] in PACKAGES:
        return
    file = module_file(module)
    if file is None:
        raise ValueError(f"no module {module!r}; is its folder in `papers`, or on PYTHONPATH?")
    project = file.parents[module.count(".") + (file.name == "__init__.py")]
    if not any(project.glob("*/TITLE")):
        problem = f"{project} has no paper, a folder with a TITLE"
        raise ValueError(f"module {module!r} is in no paper: {problem}; move it to yours")
    if file.suffix != ".py":
        raise ValueError(f"module {module!r} ({file}) is not Python source")
    names = frozenset(decorator.rpartition(".")[2] for decorator in decorators)
    try:
        declared = _find_declared(file.read_bytes(), names)
    except SyntaxError:
        return  # the import names the place
    if function not in declared:
        nearest = difflib.get_close_matches(function, declared) or sorted(declared)
        remedy = f"put @{decorators[0]} above it"
        if nearest:
            remedy = f"close names: {', '.join(nearest)}"
        raise ValueError(f"module {module!r} declares no function {function!r}; {remedy}")


@cache
def _find_declared(source: bytes, decorators: frozenset[str]) -> frozenset[str]:
    """Find the names that a module declares, once, as artifacts of a paper ask for the same few."""
    return frozenset(_declared_names(ast.parse(source), decorators))


def _declared_names(tree: ast.Module, decorators: Collection[str]) -> Iterator[str]:
    """Yield the names of functions below a decorator, and of what a call returned."""
    for statement in tree.body:
        if isinstance(statement, ast.FunctionDef):
            for decorator in statement.decorator_list:
                called = decorator.func if isinstance(decorator, ast.Call) else decorator
                if ast.unparse(called).rpartition(".")[2] in decorators:
                    yield statement.name
        elif isinstance(statement, ast.Assign) and isinstance(statement.value, ast.Call):
            yield from (target.id for target in statement.targets if isinstance(target, ast.Name))
