"""Import modules that a user wrote, and say in one line what they raise."""

import ast
import difflib
import importlib
import traceback
from collections.abc import Collection, Iterator, Sequence
from functools import cache
from importlib.machinery import PathFinder
from pathlib import Path
from types import ModuleType

from reproduction.paths import PACKAGES, SOURCES
from reproduction.spec.strict_yaml import LONGEST


def module_file(name: str, path: list[str] | None = None) -> Path | None:
    """The file of a module on a path, else anywhere; nothing is imported, not even its package."""
    spec, parts = None, name.split(".")
    for depth in range(1, len(parts) + 1):
        spec = PathFinder.find_spec(".".join(parts[:depth]), path)
        if spec is None:
            return None
        path = list(spec.submodule_search_locations or [])
    return Path(spec.origin) if spec and spec.origin and spec.has_location else None


def raised(error: BaseException) -> str:
    """``/me/code.py, line 12: KeyError: 'x'``: what was raised, and where outside our packages."""
    frames = [(frame.filename, frame.lineno) for frame in traceback.extract_tb(error.__traceback__)]
    theirs = [
        (file, line)
        for file, line in frames
        if Path(file).is_file() and "site-packages" not in file and not Path(file).is_relative_to(SOURCES)
    ]
    file, line = (theirs or frames or [("", 0)])[-1]
    said = (str(error).splitlines() or [""])[0][:LONGEST]
    if isinstance(error, SyntaxError) and error.filename:
        file, line, said = error.filename, error.lineno or 0, error.msg
    return f"{file}, line {line}: {type(error).__name__}: {said}"


def check_declared(module: str, function: str, decorators: Sequence[str]) -> None:
    """Refuse a function that an artifact names unless a paper declares it; its module is only read.

    So a name in an artifact can start no other module: those of Python and of installed packages are in no
    folder with papers.

    Raises ValueError: the module does not exist or is in no such folder, or does not declare the function.
    """
    if module.partition(".")[0] in PACKAGES:
        return
    file = module_file(module)
    if file is None:
        raise ValueError(f"no module {module!r}; is its folder in `papers`, or on PYTHONPATH?")
    project = file.parents[module.count(".") + (file.name == "__init__.py")]
    if not any(project.glob("*/TITLE")):
        where = f"{project} has no paper, a folder with a TITLE"
        raise ValueError(f"module {module!r} is in no paper: {where}; move it to yours")
    if file.suffix != ".py":
        raise ValueError(f"module {module!r} ({file}) is not Python source")
    names = frozenset(decorator.rpartition(".")[2] for decorator in decorators)
    try:
        declared = _find_declared(file.read_bytes(), names)
    except SyntaxError:
        return  # the import says where
    if function not in declared:
        close = difflib.get_close_matches(function, declared) or sorted(declared)
        there = f"close names: {', '.join(close)}" if close else f"put @{decorators[0]} above it"
        raise ValueError(f"module {module!r} declares no function {function!r}; {there}")


@cache
def _find_declared(source: bytes, decorators: frozenset[str]) -> frozenset[str]:
    """Find the names that a module declares; every artifact of a paper asks for the same few modules."""
    return frozenset(_declared_names(ast.parse(source), decorators))


def _declared_names(tree: ast.Module, decorators: Collection[str]) -> Iterator[str]:
    """Names of functions below one of the decorators, and those that the value of a call is given."""
    for statement in tree.body:
        if isinstance(statement, ast.FunctionDef):
            for decorator in statement.decorator_list:
                called = decorator.func if isinstance(decorator, ast.Call) else decorator
                if ast.unparse(called).rpartition(".")[2] in decorators:
                    yield statement.name
        elif isinstance(statement, ast.Assign) and isinstance(statement.value, ast.Call):
            yield from (target.id for target in statement.targets if isinstance(target, ast.Name))


def imported(module: str) -> ModuleType:
    """The module. Raises ModuleNotFoundError: it does not exist; ValueError: one's own that has a mistake."""
    try:
        return importlib.import_module(module)
    except (Exception, SystemExit) as error:
        missing = isinstance(error, ModuleNotFoundError) and module.startswith(error.name or "-")
        if missing or module.startswith(("reproduction.", "noisylabels.")):
            raise
        raise ValueError(f"{raised(error)}; the module {module} cannot be imported, mend it") from error
