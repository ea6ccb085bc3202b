"""Modules of users: how they are imported, and how their errors are told in one line."""

import ast
import difflib
import importlib
import inspect
import traceback
from collections.abc import Callable, Collection, Iterator, Sequence
from functools import cache
from importlib.machinery import PathFinder
from pathlib import Path
from types import ModuleType
from typing import Any

from reproduction.paths import PACKAGES, SOURCES
from reproduction.spec.strict_yaml import LONGEST, near


def module_file(name: str, path: list[str] | None = None) -> Path | None:
    """Find the file of a module without importing anything, not even its package.

    Parameters
    ----------
    name : str
        Name of the module, with its packages.
    path : list of str, optional
        Folders to look in; those of Python if not given.

    Returns
    -------
    Path or None
        The file; None if there is no such module, or none in a file.
    """
    spec = None
    parts = name.split(".")
    for depth in range(1, len(parts) + 1):
        spec = PathFinder.find_spec(".".join(parts[:depth]), path)
        if spec is None:
            return None
        path = list(spec.submodule_search_locations or [])
    return Path(spec.origin) if spec and spec.origin and spec.has_location else None


def describe_error(error: BaseException) -> str:
    """Say what an error is, and where it arose outside our packages.

    Parameters
    ----------
    error : BaseException
        The error.

    Returns
    -------
    str
        One line such as ``/me/code.py, line 12: KeyError: 'x'``.
    """
    frames = [(frame.filename, frame.lineno) for frame in traceback.extract_tb(error.__traceback__)]
    frames_of_user = [(file, line) for file, line in frames if is_of_user(file)]
    file, line = (frames_of_user or frames or [("", 0)])[-1]
    message = (str(error).splitlines() or [""])[0][:LONGEST]
    if isinstance(error, SyntaxError) and error.filename:
        file = error.filename
        line = error.lineno or 0
        message = error.msg
    return f"{file}, line {line}: {type(error).__name__}: {message}"


def is_of_user(file: str) -> bool:
    """Decide whether a file is neither ours nor part of an installed package."""
    if not Path(file).is_file() or "site-packages" in file:
        return False
    return not Path(file).is_relative_to(SOURCES)


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
        where = f"{project} has no paper, a folder with a TITLE"
        raise ValueError(f"module {module!r} is in no paper: {where}; move it to yours")
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


def find_function(what: str, name: str) -> Callable[..., Any]:
    """Find a function that settings name as ``module:function``.

    Parameters
    ----------
    what : str
        What it is used as, for the message, such as "metric".
    name : str
        Its name.

    Raises
    ------
    ValueError
        If there is no such module or function; with the nearest names.
    """
    module_name, _, function_name = name.partition(":")
    try:
        module = import_module(module_name)
    except ModuleNotFoundError as error:
        raise ValueError(f"{what} {name!r}: {error}; name a module of the paper") from None
    functions = {}
    for key, member in vars(module).items():
        if inspect.isfunction(member):
            functions[key] = member
    if function_name not in functions:
        hint = near(function_name, functions)
        raise ValueError(f"{what} {name!r}: {module_name} has no function {function_name!r}{hint}")
    return functions[function_name]


def import_module(module: str) -> ModuleType:
    """Import a module, and name the line of a mistake in a user's.

    Parameters
    ----------
    module : str
        Name of the module, with its packages.

    Returns
    -------
    module
        The module.

    Raises
    ------
    ModuleNotFoundError
        If it does not exist.
    ValueError
        If it is one of the user's and cannot be imported.
    """
    try:
        return importlib.import_module(module)
    except (Exception, SystemExit) as error:
        missing = isinstance(error, ModuleNotFoundError) and module.startswith(error.name or "-")
        if missing or module.startswith(("reproduction.", "noisylabels.")):
            raise
        rule = f"the module {module} cannot be imported; correct it"
        raise ValueError(f"{describe_error(error)}; {rule}") from error
