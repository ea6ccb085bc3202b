"""Methods by name: a method is one file, and the name of the file is the public name of the method."""

from __future__ import annotations

import difflib
import importlib
import inspect
from functools import cache
from pathlib import Path
from typing import Any

from noisylabels import METHODS

DISPLAY = ("label", "role", "shown", "note")
"""Keys of a method in an artifact that say how figures and tables show it; no experiment reads them."""

SOURCES = Path(__file__).resolve().parents[2]
PACKAGE = "noisylabels"
ROOT = SOURCES / "noisylabels"
PROJECT = SOURCES / "reproduction"
"""Folders of the library and of the project."""


@cache
def known() -> dict[str, str]:
    """Name of every method -> its module."""
    return {name: f"{PACKAGE}.{where.partition(':')[0]}" for name, where in METHODS.items()}


@cache
def public() -> dict[str, str]:
    """Name of the class of every method -> its module."""
    return {where.partition(":")[2]: f"{PACKAGE}.{where.partition(':')[0]}" for where in METHODS.values()}


def unknown(name: str) -> str:
    """The message for a name that no method has, with the nearest ones."""
    near = difflib.get_close_matches(name, known(), n=3, cutoff=0.5)
    hint = f"did you mean {' or '.join(near)}?" if near else f"known are {', '.join(sorted(known()))}"
    return f"method: {name!r} is unknown; {hint} (your own: 'package.module:Class')"


def find(name: str) -> Any:
    """The class of a method.

    name: "ors" is the class that `noisylabels.METHODS` names;
    "package.module:Class" is a class of your own, from anywhere on the import path.
    Raises ValueError: unknown name (with the nearest known ones), module or class that does not exist.
    """
    if ":" in name:
        return _own(name)
    if name not in known():
        raise ValueError(unknown(name))
    module = importlib.import_module(known()[name])
    return getattr(module, METHODS[name].partition(":")[2])


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
