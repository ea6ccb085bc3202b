"""Methods by name: a method is one file, and the name of the file is the public name of the method."""

from __future__ import annotations

import difflib
import importlib
import inspect
import re
from functools import cache
from pathlib import Path
from typing import Any

FOLDERS = ("filters", "online", "classifiers")
"""Subpackages of noisylabels that hold methods."""

DISPLAY = ("label", "role", "shown", "note")
"""Keys of a method in an artifact that say how figures and tables show it; no experiment reads them."""

PACKAGE = "noisylabels"
ROOT = Path(__file__).resolve().parents[1]


@cache
def known() -> dict[str, str]:
    """Name of every method -> its module; files are read, not imported.

    A file of `FOLDERS` is a method if it has a class with ``name = "<name of the file>"``.
    """
    return {file.stem: _module(file) for file in _classes()}


@cache
def public() -> dict[str, str]:
    """Name of the class of every method -> its module; files are read, not imported."""
    return {name: _module(file) for file, name in _classes().items()}


@cache
def _classes() -> dict[Path, str]:
    """The file of every method -> the name of its class."""
    files = (file for folder in FOLDERS for file in sorted((ROOT / folder).glob("*.py")))
    return {file: name for file in files if (name := _class_of(file))}


def _module(file: Path) -> str:
    return f"{PACKAGE}.{file.parent.name}.{file.stem}"


def _class_of(file: Path) -> str | None:
    """The last class that starts above the line ``name = "<stem>"``; read as text, which is fast."""
    text = file.read_text(encoding="utf-8")
    named = re.search(rf"""^    name(: [^=\n]+)? = ["']{re.escape(file.stem)}["']""", text, re.MULTILINE)
    above = re.findall(r"^class (\w+)", text[: named.start()], re.MULTILINE) if named else []
    return above[-1] if above else None


def unknown(name: str) -> str:
    """The message for a name that no method has, with the nearest ones."""
    near = difflib.get_close_matches(name, known(), n=3, cutoff=0.5)
    hint = f"did you mean {' or '.join(near)}?" if near else f"known are {', '.join(sorted(known()))}"
    return f"method: {name!r} is unknown; {hint} (your own: 'package.module:Class')"


def hint(name: str) -> str:
    """``; did you mean ...?`` with the nearest names of classes of methods, or nothing."""
    near = difflib.get_close_matches(name, public(), n=3)
    return f"; did you mean {' or '.join(near)}?" if near else ""


def find(name: str) -> Any:
    """The class of a method.

    name: "ors" is the class with ``name == "ors"`` in the file ``ors.py`` of one of `FOLDERS`;
    "package.module:Class" is a class of your own, from anywhere on the import path.
    Raises ValueError: unknown name (with the nearest known ones), module or class that does not exist.
    """
    if ":" in name:
        return _own(name)
    if name not in known():
        raise ValueError(unknown(name))
    module = importlib.import_module(known()[name])
    return next(
        member
        for _, member in inspect.getmembers(module, inspect.isclass)
        if getattr(member, "name", None) == name and member.__module__ == module.__name__
    )


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
