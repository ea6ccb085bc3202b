"""Methods by name, as artifacts write them: a key of `noisylabels.METHODS`, or ``package.module:Class``.

A class of the library is imported while a run is planned. A user's is looked for, and imported by the jobs.
"""

import importlib
import inspect
from importlib.machinery import PathFinder
from pathlib import Path
from typing import Any

from noisylabels import METHODS
from reproduction.strict_yaml import near

DISPLAY = ("label", "role", "shown", "note")
"""Keys of a method in an artifact that say how figures and tables show it; no experiment reads them."""


def known() -> dict[str, str]:
    """Name of every method of the library -> its module."""
    return {name: f"noisylabels.{where.partition(':')[0]}" for name, where in METHODS.items()}


def public() -> dict[str, str]:
    """Name of the class of every method -> its module."""
    return {where.partition(":")[2]: known()[name] for name, where in METHODS.items()}


def unknown(name: str) -> str:
    """The message for a name that no method has, with the nearest ones."""
    return f"method: {name!r} is unknown{near(name, known(), 3)} (your own: 'package.module:Class')"


def find(name: str) -> Any:
    """The class of a method.

    Raises
    ------
    ValueError : a name that no method has, a module or class that does not exist; with the nearest ones.
    """
    if ":" not in name and name not in METHODS:
        raise ValueError(unknown(name))
    module_name, _, class_name = (name if ":" in name else f"noisylabels.{METHODS[name]}").partition(":")
    try:
        module = importlib.import_module(module_name)
    except ModuleNotFoundError as error:
        if error.name is None or not module_name.startswith(error.name):
            raise  # the module is there, something that it imports is not
        raise ValueError(f"method: no module {module_name!r} for {name!r}; is it on PYTHONPATH?") from error
    if not inspect.isclass(getattr(module, class_name, None)):
        close = near(class_name, dir(module), 3)
        raise ValueError(f"method: module {module_name!r} has no class {class_name!r}{close}")
    return getattr(module, class_name)


def module_file(module: str, path: list[str] | None = None) -> Path | None:
    """The file of a module anywhere on the import path; nothing is imported, not even its package."""
    spec = None
    for depth in range(1, module.count(".") + 2):
        spec = PathFinder.find_spec(".".join(module.split(".")[:depth]), path)
        if spec is None:
            return None
        path = list(spec.submodule_search_locations or [])
    return Path(spec.origin) if spec and spec.origin and spec.has_location else None


def missing(name: str) -> str:
    """Why the module of a user's class cannot be imported, in a few words, or ""; nothing is imported."""
    module = name.partition(":")[0]
    there = ":" not in name or module_file(module)
    return "" if there else f"{name!r}: no module {module!r}; is its folder on PYTHONPATH?"


def module(name: str) -> str:
    """The module of a method: of the library by its name, of the user's by ``package.module:Class``."""
    return name.partition(":")[0] if ":" in name else known()[name]
