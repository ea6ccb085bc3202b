"""The decorator of compiled functions, and the folders that keep them between processes.

Numba compares a compiled function on disk with the file that holds it. It does not notice that a
function or a constant has changed which another file gave to it. So each module keeps its compiled
functions in a separate folder, named by a digest of all sources that decide what the compiler makes
of them.
"""

from __future__ import annotations

import ast
import hashlib
import json
import os
import shutil
import tempfile
import threading
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numba
from numba.core.registry import CPUDispatcher

NUMBA_SETTINGS: Any = numba.config
if NUMBA_SETTINGS.DISABLE_JIT:
    raise ImportError(
        "noisylabels cannot run with NUMBA_DISABLE_JIT=1, because its compiled functions use "
        "processor instructions that Python does not have; unset NUMBA_DISABLE_JIT"
    )

LIBRARY = "noisylabels"
ROOT = Path(__file__).resolve().parents[1]  # the folder that holds the library
DAYS_KEPT = 30.0  # days after which the folder of an earlier state of a module is removed
SECONDS_A_DAY = 86400.0
PLACING = threading.RLock()  # Numba's setting is one for all threads
# classes whose fields become part of the machine code
FIXED_LAYOUT = {"NamedTuple", "Enum", "IntEnum", "IntFlag"}


class Source(NamedTuple):
    """The facts about a source file from which the digest of a module is made.

    Attributes
    ----------
    content : str
        SHA-256 of the file.
    meaning : str
        SHA-256 of the code without comments, docstrings and formatting.
    imports : list of list of str
        Pairs of module and name; the name is "" where all of the module is imported.
    plain : list of str
        Functions and classes that a compiled function of another module cannot use.
    compiled : bool
        Whether the file defines something that Numba compiles.
    """

    content: str
    meaning: str
    imports: list[list[str]]
    plain: list[str]
    compiled: bool


class TupleKernel(CPUDispatcher):
    """A compiled function that returns a tuple and raises KeyboardInterrupt unchanged.

    `compile_kernel` makes it of a function whose annotation says that it returns a tuple.

    Parameters
    ----------
    py_func : callable
        The Python function.
    locals : dict, optional
        Types of its local variables.
    targetoptions : dict, optional
        Options of the compiler.
    pipeline_class : type
        The compiler, by default Numba's own.

    Examples
    --------
    >>> from noisylabels.compilation import TupleKernel, compile_kernel
    >>> @compile_kernel()
    ... def halves(x: float) -> tuple[float, float]:
    ...     return x / 2, x / 2
    >>> isinstance(halves, TupleKernel)
    True
    """

    def __call__(self, *arguments: Any, **named: Any) -> Any:
        """Call the function.

        Numba runs a little Python when it makes arrays of the results, and does not look whether
        that succeeds for each entry of a tuple. An exception that a signal raises there, as Ctrl-C
        does, would arrive as the cause of a SystemError.
        """
        try:
            return super().__call__(*arguments, **named)
        except SystemError as error:
            raised: BaseException = error
            while isinstance(raised, SystemError) and raised.__cause__ is not None:
                raised = raised.__cause__
            if raised is error:
                raise
            raise raised from None


def compile_kernel(**options: Any) -> Callable[[Callable[..., Any]], Any]:
    """Compile a function with Numba, and keep the result on disk until one of its sources changes.

    Parameters
    ----------
    **options
        Options of ``numba.njit``, such as ``error_model="numpy"``. A function with
        ``inline="always"`` becomes part of its callers and is not kept by itself.

    Returns
    -------
    callable
        The decorator.

    Examples
    --------
    >>> from noisylabels.compilation import compile_kernel
    >>> @compile_kernel(error_model="numpy")
    ... def halve(value):
    ...     return value / 2
    >>> halve(3.0)
    1.5
    """

    def decorate(function: Callable[..., Any]) -> Any:
        if options.get("inline") == "always":
            kernel = numba.njit(**options)(function)
        else:
            with kernel_folder(function) as has_folder:
                # No kernel is called from C: the wrapper for it takes a tenth of a compilation.
                options_of_kernel = {"no_cfunc_wrapper": True, **options}
                kernel = numba.njit(cache=has_folder, **options_of_kernel)(function)
        if str(function.__annotations__.get("return")).startswith("tuple"):
            kernel.__class__ = TupleKernel
        return kernel

    return decorate


@contextmanager
def kernel_folder(function: Callable[..., Any], also: str = "") -> Iterator[bool]:
    """Let Numba keep a function in its module's folder while the context lasts.

    Parameters
    ----------
    function : callable
        The function that will be compiled.
    also : str, default ""
        Full name of a further module of the library that the compiled code depends on.

    Yields
    ------
    bool
        Whether there is such a folder. If not, each process compiles the function again.

    Examples
    --------
    >>> import numba
    >>> from noisylabels.compilation import kernel_folder
    >>> def halve(value):  # not in a file, so that no folder belongs to it
    ...     return value / 2
    >>> with kernel_folder(halve) as has_folder:
    ...     kernel = numba.njit(cache=has_folder)(halve)
    >>> has_folder
    False
    """
    file = Path(function.__code__.co_filename)
    with PLACING:
        folder = _folder_of_module(function.__module__, file, also) if file.is_file() else None
        before = NUMBA_SETTINGS.CACHE_DIR
        NUMBA_SETTINGS.CACHE_DIR = str(folder or before)
        try:
            yield folder is not None
        finally:
            NUMBA_SETTINGS.CACHE_DIR = before


@cache
def _folder_of_module(module: str, file: Path, also: str) -> Path | None:
    base = _writable_base(str(NUMBA_SETTINGS.CACHE_DIR))
    if base is None:
        return None
    sources = _read_sources(base)
    before = dict(sources)
    digest = _digest(module, file, also, sources)
    folder = base / f"{module}-{digest}"
    with suppress(OSError):
        if sources != before:
            _replace(base / "sources.json", json.dumps(sources))
        if folder.is_dir():
            os.utime(folder)  # marks the folder as used
        else:
            folder.mkdir(exist_ok=True)
            _remove_old_folders(base, module)
    return folder


@cache
def _writable_base(requested: str) -> Path | None:
    """Find the first folder that can be written: requested, of the package, or of the user."""
    places = [Path(requested)] if requested else []
    places.append(Path(__file__).resolve().parent / "__pycache__/kernels")
    with suppress(RuntimeError):  # a user without a home has no folder for caches
        places.append(Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / LIBRARY)
    for place in places:
        with suppress(OSError):
            place.mkdir(parents=True, exist_ok=True)
            tempfile.TemporaryFile(dir=place).close()
            return place
    warnings.warn(
        f"noisylabels cannot keep compiled functions, because it can write to none of "
        f"{', '.join(map(str, places))}; every process compiles them again, for seconds to a "
        "minute. Set NUMBA_CACHE_DIR to a folder that can be written.",
        RuntimeWarning,
        stacklevel=2,
    )
    return None


def _remove_old_folders(base: Path, module: str) -> None:
    """Remove the folders of earlier states of a module that nothing has used for some time."""
    oldest = time.time() - DAYS_KEPT * SECONDS_A_DAY
    for folder in base.glob(f"{module}-*"):
        if folder.stat().st_mtime < oldest:
            shutil.rmtree(folder, ignore_errors=True)


def _digest(module: str, file: Path, also: str, records: dict[str, Source]) -> str:
    """Digest a module and all modules that can change its machine code."""
    sources = dict(_deciding_sources(module, file, records))
    if also:
        sources |= _deciding_sources(also, _file_of(also, [ROOT]), records)
    lines = [f"numba {numba.__version__}"]
    for name in sorted(sources):
        lines.append(f"{name} {sources[name].meaning}")
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()[:16]


def _deciding_sources(
    module: str,
    file: Path | None,
    records: dict[str, Source],
) -> dict[str, Source]:
    """List the module and, transitively, its imports from the library or from its own folder.

    Imports are left out that no compiled function can use: plain functions and classes of a module
    in which nothing is compiled.
    """
    assert file is not None
    depth = module.count(".") + (file.name == "__init__.py")
    folders = [ROOT, file.resolve().parents[depth]]
    sources: dict[str, Source] = {}
    waiting = [(module, file)]
    while waiting:
        name, path = waiting.pop()
        if name in sources:
            continue
        sources[name] = _read_source(name, path, records)
        for imported, attribute in sources[name].imports:
            if attribute:
                submodule = _file_of(f"{imported}.{attribute}", folders)
            else:
                submodule = None
            if submodule:
                waiting.append((f"{imported}.{attribute}", submodule))
                continue
            origin = _file_of(imported, folders)
            if origin is None:
                continue
            source = _read_source(imported, origin, records)
            if source.compiled or attribute not in source.plain:
                waiting.append((imported, origin))
    return sources


def _file_of(module: str, folders: list[Path]) -> Path | None:
    for folder in folders:
        place = folder.joinpath(*module.split("."))
        for file in (place.with_suffix(".py"), place / "__init__.py"):
            if file.is_file():
                return file
    return None


@cache
def _read_sources(base: Path) -> dict[str, Source]:
    """Load what earlier processes found in the sources, because parsing takes half a second."""
    try:
        records = json.loads((base / "sources.json").read_bytes())
        return {module: Source(*record) for module, record in records.items()}
    except (OSError, ValueError, TypeError, AttributeError):
        return {}


def _read_source(module: str, file: Path, records: dict[str, Source]) -> Source:
    content = file.read_bytes()
    digest = hashlib.sha256(content).hexdigest()
    if module not in records or records[module].content != digest:
        records[module] = _parse_source(module, file, content, digest)
    return records[module]


def _parse_source(module: str, file: Path, content: bytes, digest: str) -> Source:
    tree = ast.parse(content)
    if file.name == "__init__.py":
        package = module
    else:
        package = module.rpartition(".")[0]
    imports = _find_imports(tree, package)
    definitions = [node for node in tree.body if isinstance(node, ast.FunctionDef | ast.ClassDef)]
    plain = [node.name for node in definitions if not _has_fixed_layout(node)]
    compilers = {"numba", "llvmlite", __name__}
    compiled = any(name.partition(".")[0] in compilers or name in compilers for name, _ in imports)
    for node in ast.walk(tree):
        body = getattr(node, "body", None)
        if isinstance(body, list):
            body[:] = [statement for statement in body if not _is_docstring(statement)]
    meaning = hashlib.sha256(ast.dump(tree).encode()).hexdigest()
    return Source(digest, meaning, imports, plain, compiled)


def _find_imports(tree: ast.Module, package: str) -> list[list[str]]:
    """List pairs of module and name, without names that only annotations use."""
    annotated, valued = _names_by_use(tree)
    only_annotated = annotated - valued
    imports = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            imports += [[alias.name, ""] for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            module = _absolute_name(node, package)
            for alias in node.names:
                if (alias.asname or alias.name) not in only_annotated:
                    imports.append([module, alias.name])
    return imports


def _absolute_name(node: ast.ImportFrom, package: str) -> str:
    if not node.level:
        return node.module or ""
    parts = package.split(".")
    base = parts[: len(parts) - node.level + 1]
    return ".".join([*base, *([node.module] if node.module else [])])


def _names_by_use(tree: ast.Module) -> tuple[set[str], set[str]]:
    """Collect the names in annotations, and those in anything else."""
    annotated: set[str] = set()
    valued: set[str] = set()

    def visit(node: ast.AST, names: set[str]) -> None:
        if isinstance(node, ast.Name):
            names.add(node.id)
        for field, value in ast.iter_fields(node):
            children = value if isinstance(value, list) else [value]
            inner = annotated if field in ("annotation", "returns") else names
            for child in children:
                if isinstance(child, ast.AST):
                    visit(child, inner)

    visit(tree, valued)
    return annotated, valued


def _has_fixed_layout(node: ast.FunctionDef | ast.ClassDef) -> bool:
    if isinstance(node, ast.FunctionDef):
        return False
    bases = {base.id for base in node.bases if isinstance(base, ast.Name)}
    return bool(bases & FIXED_LAYOUT)


def _is_docstring(statement: ast.AST) -> bool:
    return isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)


def _replace(file: Path, text: str) -> None:
    """Write a whole file at once, as other processes read it at any time."""
    part = file.with_name(f"{file.name}.{os.getpid()}")
    part.write_text(text, encoding="utf-8")
    part.replace(file)
