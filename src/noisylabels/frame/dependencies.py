"""Which library files a job depends on: the transitive imports of its modules, read without importing them.

A workflow engine sees the files of a rule, not the modules that a script imports. These functions turn "this
protocol with these methods" into a list of files, so that an edit re-runs the jobs that use the edited file
only.
"""

import ast
import hashlib
import importlib.util
import re
from collections.abc import Iterable
from functools import cache
from pathlib import Path

from noisylabels.frame import methods
from noisylabels.frame.methods import PACKAGE, ROOT


def _module_file(module: str) -> Path | None:
    """File of ``noisylabels.a.b``; a package is its __init__.py; None for anything outside the library."""
    parts = module.split(".")
    if parts[0] != PACKAGE:
        return None
    base = ROOT.joinpath(*parts[1:])
    for candidate in (base.with_suffix(".py"), base / "__init__.py"):
        if candidate.is_file():
            return candidate
    return None


@cache
def _imports(file: Path) -> frozenset[Path]:
    found: set[Path] = set()
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module and node.level == 0:
            names = [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
        else:
            continue
        found.update(path for name in names if (path := _module_file(name)) and path.name != "__init__.py")
    return frozenset(found)


def library_files(modules: Iterable[str]) -> list[Path]:
    """Files of ``modules`` (dotted names below the package, such as "protocols.filter_curves") and all they
    import.

    Raises
    ------
    FileNotFoundError : a module that the library does not have.
    """
    waiting = []
    for module in modules:
        file = _module_file(f"{PACKAGE}.{module}")
        if file is None:
            raise FileNotFoundError(
                f"the library has no module {module}: expected {ROOT / module.replace('.', '/')}.py"
            )
        waiting.append(file)
    seen: set[Path] = set()
    while waiting:
        file = waiting.pop()
        if file not in seen:
            seen.add(file)
            waiting.extend(_imports(file))
    return sorted(seen)


def method_files(name: str) -> list[Path]:
    """The file of a method and its imports, or the file of a user's "package.module:Class".

    Raises
    ------
    FileNotFoundError : no such file; the message lists close names.
    """
    if ":" in name:
        return [_foreign_file(name)]
    if name not in methods.known():
        raise FileNotFoundError(methods.unknown(name))
    return library_files([methods.known()[name].removeprefix(f"{PACKAGE}.")])


def _foreign_file(name: str) -> Path:
    module = name.partition(":")[0]
    try:
        spec = importlib.util.find_spec(module)
    except ModuleNotFoundError:
        spec = None
    if spec is None or spec.origin is None:
        raise FileNotFoundError(f"method {name!r}: no module {module!r}; is its folder on PYTHONPATH?")
    return Path(spec.origin)


@cache
def defines(module: str, function: str) -> bool:
    """Does the library module define a top-level function of that name? (Read, not imported.)"""
    file = _module_file(f"{PACKAGE}.{module}")
    if file is None:
        raise FileNotFoundError(
            f"the library has no module {module}: expected {ROOT / module.replace('.', '/')}.py"
        )
    tree = ast.parse(file.read_text(encoding="utf-8"))
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
