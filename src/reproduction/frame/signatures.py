"""Keywords of the library's methods and functions, read from their files: an import would take seconds."""

import ast
import difflib
from functools import cache
from pathlib import Path
from typing import Any

from noisylabels import METHODS
from reproduction import methods
from reproduction.frame import dependencies
from reproduction.frame.dependencies import ROOT

PACKAGE = "noisylabels"
Arguments = ast.FunctionDef

PLAIN = {"int", "float", "str", "bool", "None"}
"""Types that can be told apart in a file."""


def keywords(method: str, function: str = "__init__") -> list[str] | None:
    """Names of the arguments of a function of a method's class; None: any, or they cannot be read here."""
    found = _of_class(*_class(method), function)
    if found is None or found.args.kwarg:
        return None
    return _names(found)


def types(method: str, function: str = "__init__") -> dict[str, set[str]]:
    """Argument -> names of the types it may have, of those that have none but plain ones.

    Without an annotation a number as default asks for a number.
    """
    noted = {name: _kinds(note) for name, note in _annotations(method, function).items()}
    numeric = {name: {"int", "float", "None"} for name in _numbers(method, function) if name not in noted}
    return {name: kinds for name, kinds in noted.items() if kinds <= PLAIN} | numeric


def choices(method: str, function: str = "__init__") -> dict[str, list[Any]]:
    """Argument -> the values that its annotation ``Literal[...]`` lists.

    The words of a ``solver: str`` are those of a constant SOLVERS, if the file of the class has one,
    or exactly one of the files that it imports.
    """
    notes = _annotations(method, function).items()
    found = {name: _literals(note) or _named(method, name, ast.unparse(note)) for name, note in notes}
    return {name: values for name, values in found.items() if values}


def _named(method: str, argument: str, note: str) -> list[str]:
    name = argument.upper()
    plurals = {name, f"{name}S", f"{name}ES", f"{name.removesuffix('Y')}IES"}
    if note != "str":
        return []
    own = _class(method)[0]
    files = [file for file in dependencies.method_files(method) if file.suffix == ".py" and file != own]
    found = [words for file in files for plural in plurals if (words := _constants(file).get(plural))]
    here = [words for plural in plurals if (words := _constants(own).get(plural))]
    return (here or found)[0] if len(here or found) == 1 else []


@cache
def _constants(file: Path) -> dict[str, list[str]]:
    """Top-level name of a file -> the words of its tuple, or the keys of its mapping."""
    found = {}
    for node in _tree(file).body:
        target = node.targets[0] if isinstance(node, ast.Assign) else getattr(node, "target", None)
        value: Any = getattr(node, "value", None)
        words: Any = value.keys if isinstance(value, ast.Dict) else getattr(value, "elts", [])
        if isinstance(target, ast.Name) and words and all(isinstance(w, ast.Constant) for w in words):
            found[target.id] = [word.value for word in words]
    return found


def _annotations(method: str, function: str) -> dict[str, ast.expr]:
    found = _of_class(*_class(method), function)
    arguments = [*found.args.args, *found.args.kwonlyargs] if found else []
    return {a.arg: a.annotation for a in arguments if a.annotation}


def _kinds(note: ast.expr) -> set[str]:
    """``float | None`` -> {"float", "None"}; of ``Literal`` the types of its values."""
    if isinstance(note, ast.BinOp) and isinstance(note.op, ast.BitOr):
        return _kinds(note.left) | _kinds(note.right)
    return {type(value).__name__ for value in _literals(note)} or {ast.unparse(note)}


def _literals(note: ast.expr) -> list[Any]:
    if not (isinstance(note, ast.Subscript) and ast.unparse(note.value) == "Literal"):
        return []
    entries = note.slice.elts if isinstance(note.slice, ast.Tuple) else [note.slice]
    return [entry.value for entry in entries if isinstance(entry, ast.Constant)]


def _numbers(method: str, function: str) -> list[str]:
    """Arguments whose default is a number."""
    found = _of_class(*_class(method), function)
    if not found:
        return []
    places = [*found.args.posonlyargs, *found.args.args]
    first = len(places) - len(found.args.defaults)
    given = [*zip(places[first:], found.args.defaults, strict=True)]
    given += [(a, d) for a, d in zip(found.args.kwonlyargs, found.args.kw_defaults, strict=True) if d]
    values = [(a.arg, d.value) for a, d in given if isinstance(d, ast.Constant)]
    return [name for name, value in values if isinstance(value, int | float) and not isinstance(value, bool)]


def lacking(method: str) -> str:
    """Why the class "package.module:Class" cannot be had, in a few words, or ""; nothing is imported."""
    module, _, name = method.partition(":")
    file = methods.module_file(module)
    if file is None:
        return f"no module {module!r}; is its folder on PYTHONPATH?"
    if file.suffix != ".py" or {name, "*"} & _words(file):
        return ""
    near = difflib.get_close_matches(name, _words(file), n=3)
    return f"{file} has no class {name!r}" + (f"; did you mean {' or '.join(near)}?" if near else "")


@cache
def _words(file: Path) -> frozenset[str]:
    """Names that a module may have: its classes and functions, what it imports, what it assigns."""
    nodes = list(ast.walk(_tree(file)))
    named = [node.name for node in nodes if isinstance(node, ast.ClassDef | ast.FunctionDef)]
    named += [node.asname or node.name for node in nodes if isinstance(node, ast.alias)]
    return frozenset(named + [node.id for node in nodes if isinstance(node, ast.Name)])


def has(method: str, member: str) -> bool:
    """Does the class of a method, or a class above it in the library, define a function or value?"""
    return member in _members(*_class(method))


def of_function(module: str, function: str) -> list[str]:
    """Names of the parameters of a loss, ``("losses.margin", "ramp")``."""
    for node in _tree(ROOT / f"{module.replace('.', '/')}.py").body:
        if isinstance(node, ast.ClassDef):  # a loss: a dataclass that says its name
            words = [word for m in node.body if isinstance(m, ast.Assign) for word in ast.walk(m.value)]
            if any(isinstance(word, ast.Constant) and word.value == function for word in words):
                fields = (m.target for m in node.body if isinstance(m, ast.AnnAssign))
                return [field.id for field in fields if isinstance(field, ast.Name)]
    raise ValueError(f"{module} has no {function}")


def _names(function: ast.FunctionDef) -> list[str]:
    arguments = [*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs]
    return [argument.arg for argument in arguments if argument.arg not in ("self", "cls")]


def _class(method: str) -> tuple[Path, str]:
    if ":" in method:
        folder, _, name = method.partition(":")
        return methods.module_file(folder) or Path(), name
    return _file(methods.known()[method]), METHODS[method].partition(":")[2]


def _file(module: str) -> Path:
    return ROOT.joinpath(*module.split(".")[1:]).with_suffix(".py")


@cache
def _tree(file: Path) -> ast.Module:
    return ast.parse(file.read_text(encoding="utf-8"))


@cache
def _origins(file: Path) -> dict[str, Path]:
    """Name -> the library file from which it is imported."""
    found = {}
    for node in _tree(file).body:
        if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith(f"{PACKAGE}."):
            found.update({alias.asname or alias.name: _file(node.module) for alias in node.names})
    return found


@cache
def _line(file: Path, name: str) -> list[ast.ClassDef]:
    """A class of the library and those above it, nearest first."""
    if not file.is_file():
        return []
    for node in _tree(file).body:
        if isinstance(node, ast.ClassDef) and node.name == name:
            bases = [base.id for base in node.bases if isinstance(base, ast.Name)]
            above = [_line(_origins(file).get(base, file), base) for base in bases if base != name]
            return [node, *(each for line in above for each in line)]
    return []


def _of_class(file: Path, name: str, function: str) -> ast.FunctionDef | None:
    for node in _line(file, name):
        for member in node.body:
            if isinstance(member, Arguments) and member.name == function:
                return member
    return None


@cache
def _members(file: Path, name: str) -> frozenset[str]:
    found = set()
    for member in (member for node in _line(file, name) for member in node.body):
        if isinstance(member, Arguments):
            found.add(member.name)
        elif isinstance(member, ast.AnnAssign) and isinstance(member.target, ast.Name) and member.value:
            found.add(member.target.id)
        elif isinstance(member, ast.Assign):
            found.update(target.id for target in member.targets if isinstance(target, ast.Name))
    return frozenset(found)
