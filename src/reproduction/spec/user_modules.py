"""Modules of users: how they are found and imported."""

import importlib
import inspect
from collections.abc import Callable
from importlib.machinery import PathFinder
from pathlib import Path
from types import ModuleType
from typing import Any

from reproduction.spec.suggestions import near


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
        from reproduction.spec.errors_of_users import describe_error

        rule = f"the module {module} cannot be imported; correct it"
        raise ValueError(f"{describe_error(error)}; {rule}") from error
