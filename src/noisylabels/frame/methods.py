"""Methods by name: a method is one file, and the name of the file is the public name of the method."""

from __future__ import annotations

import ast
import difflib
import importlib
import inspect
from functools import cache
from pathlib import Path
from typing import Any

FOLDERS = ("filters", "online", "classifiers")
"""Subpackages of noisylabels that hold methods."""

PACKAGE = "noisylabels"
ROOT = Path(__file__).resolve().parents[1]


@cache
def known() -> dict[str, str]:
    """Name of every method -> its module; files are read, not imported.

    A file of `FOLDERS` is a method if it has a class with ``name = "<name of the file>"``.
    """
    files = (file for folder in FOLDERS for file in sorted((ROOT / folder).glob("*.py")))
    return {file.stem: f"{PACKAGE}.{file.parent.name}.{file.stem}" for file in files if _is_method(file)}


def _is_method(file: Path) -> bool:
    classes = [node for node in ast.parse(file.read_bytes()).body if isinstance(node, ast.ClassDef)]
    return any(_is_name(statement, file.stem) for node in classes for statement in node.body)


def _is_name(statement: ast.stmt, name: str) -> bool:
    if isinstance(statement, ast.AnnAssign):
        targets: list[ast.expr] = [statement.target]
    elif isinstance(statement, ast.Assign):
        targets = statement.targets
    else:
        return False
    named = any(isinstance(target, ast.Name) and target.id == "name" for target in targets)
    return named and isinstance(statement.value, ast.Constant) and statement.value.value == name


def unknown(name: str) -> str:
    """The message for a name that no method has, with the nearest ones."""
    near = difflib.get_close_matches(name, known(), n=3, cutoff=0.5)
    hint = f"did you mean {' or '.join(near)}?" if near else f"known are {', '.join(sorted(known()))}"
    return f"method: {name!r} is unknown; {hint} (your own: 'package.module:Class')"


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
