"""Methods by name: a method is one file, and the name of the file is the public name of the method."""

from __future__ import annotations

import difflib
import importlib
import inspect
import pkgutil
from typing import Any

FOLDERS = ("filters", "online", "classifiers")
"""Subpackages of noisylabels that hold methods."""


def find(name: str) -> Any:
    """The class of a method.

    name: "ors" is the class with ``name == "ors"`` in the file ``ors.py`` of one of `FOLDERS`;
    "package.module:Class" is a class of your own, from anywhere on the import path.
    Raises ValueError: unknown name (with the nearest known ones), module or class that does not exist, a file
    without its class.
    """
    if ":" in name:
        return _own(name)
    modules = _modules()
    if name not in modules:
        near = difflib.get_close_matches(name, modules, n=3, cutoff=0.5)
        hint = f"did you mean {' or '.join(near)}?" if near else f"known are {', '.join(sorted(modules))}"
        raise ValueError(f"method: {name!r} is unknown; {hint} (your own: 'package.module:Class')")
    for module_name in modules[name]:
        for _, member in inspect.getmembers(importlib.import_module(module_name), inspect.isclass):
            if getattr(member, "name", None) == name and member.__module__ == module_name:
                return member
    raise ValueError(f"method: {modules[name][0]} has no class with name = {name!r}, so it is not a method")


def _modules() -> dict[str, list[str]]:
    """Every file in `FOLDERS`: its name and the modules that have it."""
    found: dict[str, list[str]] = {}
    for folder in FOLDERS:
        try:
            package = importlib.import_module(f"noisylabels.{folder}")
        except ModuleNotFoundError:
            continue
        for module in pkgutil.iter_modules(package.__path__):
            found.setdefault(module.name, []).append(f"noisylabels.{folder}.{module.name}")
    return found


def _own(name: str) -> Any:
    module_name, _, class_name = name.partition(":")
    try:
        module = importlib.import_module(module_name)
    except ModuleNotFoundError as error:
        if error.name is None or not module_name.startswith(error.name):
            raise  # the module is there, something that it imports is not
        raise ValueError(f"method: no module {module_name!r} for {name!r}; is it on PYTHONPATH?") from error
    if not inspect.isclass(getattr(module, class_name, None)):
        near = difflib.get_close_matches(class_name, dir(module), n=3)
        hint = f"; did you mean {' or '.join(near)}?" if near else ""
        raise ValueError(f"method: module {module_name!r} has no class {class_name!r}{hint}")
    return getattr(module, class_name)
