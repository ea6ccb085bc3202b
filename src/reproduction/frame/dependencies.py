"""Which files a job depends on: its script, and all that its modules import, read without importing them.

A workflow engine sees the files of a rule, not the modules that a script imports. These functions turn "this
protocol with these methods" into a list of files, so that an edit re-runs the jobs that use the edited file
only. A package's ``__init__.py`` holds names and no results, and is left out.
"""

import ast
import hashlib
import re
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path

from reproduction import methods
from reproduction.methods import module_file

SOURCES = Path(__file__).resolve().parents[2]
ROOT, PROJECT = SOURCES / "noisylabels", SOURCES / "reproduction"
"""Folders of the library and of the project."""

SCRIPTS = SOURCES / "scripts"
FACTS = PROJECT / "data/facts"
PACKAGES = ("noisylabels", "reproduction")


def _module_file(module: str) -> Path | None:
    """File of ``noisylabels.a.b``; a package is its __init__.py; None for anything outside the library."""
    parts = module.split(".")
    if parts[0] not in PACKAGES:
        return None
    base = SOURCES.joinpath(*parts)
    for candidate in (base.with_suffix(".py"), base / "__init__.py"):
        if candidate.is_file():
            return candidate
    return None


def _tree(file: Path) -> ast.Module:
    return ast.parse(file.read_text(encoding="utf-8"))


def _executed(statements: Iterable[ast.AST]) -> Iterator[ast.AST]:
    """The statements and those inside them, but what only a type checker sees."""
    for statement in statements:
        test = statement.test if isinstance(statement, ast.If) else None
        if isinstance(test, ast.Name) and test.id == "TYPE_CHECKING":
            continue
        yield statement
        for part in ("body", "orelse", "handlers", "finalbody", "cases"):
            yield from _executed(getattr(statement, part, []))


@cache
def _imported(file: Path) -> frozenset[str]:
    """Names of the modules that a file imports; of ``from a import b``, a and a.b."""
    found: set[str] = set()
    for node in _executed(_tree(file).body):
        if isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and node.level == 0:
            found.update([node.module, *(f"{node.module}.{alias.name}" for alias in node.names)])
    return frozenset(found)


def _facts(file: Path) -> set[Path]:
    """The data files ``facts/<name>`` that a file reads by ``fact("<name>")``."""
    if "fact(" not in file.read_text(encoding="utf-8"):
        return set()  # no need to look at every expression
    named: set[Path] = set()
    for node in ast.walk(_tree(file)):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "fact":
            named.update(FACTS / str(word.value) for word in node.args if isinstance(word, ast.Constant))
    return named


@cache
def _used(file: Path) -> frozenset[Path]:
    """The library files that a file imports, and the facts that it reads."""
    found = {path for name in _imported(file) if (path := _module_file(name)) and path.name != "__init__.py"}
    return frozenset(found | _facts(file))


def _closure(files: Iterable[Path], without: Iterable[Path] = ()) -> list[Path]:
    seen, waiting = set(without), list(files)
    found = set()
    while waiting:
        file = waiting.pop()
        if file not in seen:
            seen.add(file)
            found.add(file)
            waiting.extend(_used(file) if file.suffix == ".py" else [])
    return sorted(found)


def _needed(module: str) -> Path:
    file = _module_file(f"reproduction.{module}")
    if file is None:
        raise FileNotFoundError(
            f"the project has no module {module}: expected {PROJECT / module.replace('.', '/')}.py"
        )
    return file


def library_files(modules: Iterable[str]) -> list[Path]:
    """Files of ``modules`` (dotted names below the package, such as "protocols.filter_curves") and all they
    import.

    Raises
    ------
    FileNotFoundError : a module that the library does not have.
    """
    return _closure(map(_needed, modules))


def script_files(script: str, without: Iterable[str] = ()) -> list[Path]:
    """The script ``src/scripts/<script>.py`` and all it imports.

    without : modules that the script imports only where it needs them, and does not need for this job.
    """
    return _closure([SCRIPTS / f"{script}.py"], map(_needed, without))


def method_files(name: str) -> list[Path]:
    """The file of a method and its imports; of a user's "package.module:Class", all of the user's own.

    Raises
    ------
    FileNotFoundError : no such file; the message lists close names.
    """
    if ":" in name:
        return _foreign_files(name)
    if name not in methods.known():
        raise FileNotFoundError(methods.unknown(name))
    file = _module_file(methods.known()[name])
    assert file is not None
    return _closure([file])


def _foreign_files(name: str) -> list[Path]:
    """A user's module, what it imports from its folder, and what these import from the library."""
    module = name.partition(":")[0]
    first = module_file(module)
    if first is None:
        raise FileNotFoundError(f"method {name!r}: no module {module!r}; is its folder on PYTHONPATH?")
    if "site-packages" in first.parts:  # installed: it changes with its version
        return [first]
    folder = first.parents[module.count(".") + (first.name == "__init__.py")]
    own, waiting = set(), [first]
    while waiting:
        file = waiting.pop()
        if file not in own and file.suffix == ".py" and file.is_relative_to(folder):
            own.add(file)
            waiting.extend(path for name in _imported(file) if (path := module_file(name, [str(folder)])))
    return sorted({*own, *_closure(path for file in own for path in _used(file))})


def is_typed(protocol: str) -> bool:
    """Is the protocol a function of a module ``protocols/<family>.py``, with typed settings?"""
    family = protocol.partition(".")[0]
    return (PROJECT / f"protocols/{family}.py").is_file()


def protocol_module(protocol: str) -> str:
    """The module of a protocol, as `library_files` takes it."""
    return f"protocols.{protocol.partition('.')[0] if is_typed(protocol) else protocol}"


@cache
def defines(module: str, function: str) -> bool:
    """Does the library module define a top-level function of that name? (Read, not imported.)"""
    tree = _tree(_needed(module))
    return any(isinstance(node, ast.FunctionDef) and node.name == function for node in tree.body)


def kernel_digest() -> str:
    """Digest of every library file that holds compiled kernels: the name of their cache.

    The compiler's own cache does not notice when a kernel changes that another file inlines; a cache folder
    of this name does.
    """
    compiled = re.compile(r"^(from|import) numba", re.M)
    files = sorted(file for file in ROOT.rglob("*.py") if compiled.search(file.read_text(encoding="utf-8")))
    digest = hashlib.sha256(b"".join(file.read_bytes() for file in files))
    return digest.hexdigest()[:16]
