"""Which code a job reads, and its digest, which comments, docstrings, formatting and messages do not change.

A root is a module (``ors.code``, or one of the user's) or a script (``scripts/job.py``).
Its code is itself and all that it imports, at the top or inside functions, with relative imports too, from
the packages of this checkout or from the folder of the user's module; and every data file that a module names
and that lies beside it, or in a folder ``facts`` beside it. Nothing is imported to find this out.

Modules of the user are imported by `user_modules.import_module`, which names the line of a mistake.
"""

import ast
import hashlib
import json
import re
import traceback
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from functools import cache
from importlib.util import resolve_name
from pathlib import Path
from typing import NamedTuple, TypeGuard

from noisylabels import METHODS
from reproduction.paths import CHECKOUT, PACKAGES, SOURCES
from reproduction.run.atomic_files import replacing
from reproduction.spec.user_modules import module_file

CACHE = CHECKOUT / ".cache/code.json"
"""SHA-256 of this module and a file -> what `_read` finds in the file: parsing everything takes seconds."""


class Code(NamedTuple):
    """What matters of a file: its normalised digest, the modules it imports, the files it may name."""

    digest: str
    imports: list[str]
    texts: list[str]


@cache
def stamped(*roots: str) -> str:
    """The digest of the code of a job and the roots it is of: a parameter of its rule, see `unchanged`."""
    return " ".join([digest(sorted(set(roots))), *sorted(set(roots))])


def digest(roots: Iterable[str]) -> str:
    """Digest of all code below the roots, wherever the checkout is."""
    lines = [f"{name} {_read(file).digest}" for name, file in sorted(closure(roots).items())]
    return _sha("\n".join(lines).encode())[:16]


def closure(roots: Iterable[str]) -> dict[str, Path]:
    """Name -> file of all that the roots read. Raises FileNotFoundError: a root that does not exist."""
    found: dict[str, Path] = {}
    for root in roots:
        first, folder = _located(root), SOURCES
        if first is None:
            raise FileNotFoundError(f"no module {root!r}; is its folder on PYTHONPATH?")
        if "/" not in root and root.partition(".")[0] not in PACKAGES:  # the user's; others lie beside it
            folder = first.parents[root.count(".") + (first.name == "__init__.py")]
        waiting = [root]
        while waiting:
            name = waiting.pop()
            file = _located(name, folder)
            if file is None or name in found or name == "noisylabels":  # a table of names; each has a module
                continue
            found[name] = file
            if "site-packages" not in file.parts:  # what is installed changes with its version
                waiting += [name.rpartition(".")[0]] if "." in name and "/" not in name else []
                waiting += _full_names(name, file)
                found.update(_named(file))
    return found


@contextmanager
def unchanged(stamp: str) -> Iterator[None]:
    """Run a job whose code was `stamped` when it was planned.

    Raises SystemExit: the code differs when the job starts or when it ends, or the cache of compiled kernels
    cannot be read; says what to do.
    """
    expected, *roots = stamp.split()
    for when in ("before", "while"):
        _forget()
        if digest(roots) != expected:
            raise SystemExit(f"error: the code was edited {when} this job ran; start the run again")
        if when == "while":
            return
        try:
            yield
        except Exception as error:
            files = [frame.filename for frame in traceback.extract_tb(error.__traceback__)]
            if not any(Path(file).match("numba/core/caching.py") for file in files):
                raise
            traceback.print_exc()
            remedy = "remove the folder .cache/numba and start again"
            raise SystemExit(f"error: a compiled kernel cannot be read; {remedy}") from None


def save() -> None:
    """Keep what was found in files for later processes; where nothing can be written they look again."""
    with suppress(OSError):
        CACHE.parent.mkdir(exist_ok=True)
        with replacing(CACHE) as part:
            part.write_text(json.dumps(_known()), encoding="utf-8")


@cache
def _located(name: str, folder: Path | None = None) -> Path | None:
    """The file of a script, or of a module of the checkout or below a folder; without folder, of any."""
    if "/" in name:
        return SOURCES / name
    if name.partition(".")[0] in PACKAGES:
        base = SOURCES.joinpath(*name.split("."))
        return next((f for f in (base.with_suffix(".py"), base / "__init__.py") if f.is_file()), None)
    return None if folder == SOURCES else module_file(name, [str(folder)] if folder else None)


def _full_names(name: str, file: Path) -> Iterator[str]:
    """Full names of what a module imports; a public name of the library stands for its module."""
    package = name if file.name == "__init__.py" else name.rpartition(".")[0]
    public = {attribute: module for module, _, attribute in (m.partition(":") for m in METHODS.values())}
    for each in _read(file).imports:
        full = resolve_name(each, package) if each.startswith(".") else each
        library, _, attribute = full.rpartition(".")
        yield f"noisylabels.{public[attribute]}" if library == "noisylabels" and attribute in public else full


@cache
def _named(file: Path) -> dict[str, Path]:
    """Data files that a module names, and all files of a folder without modules that it names."""
    found: dict[str, Path] = {}
    for text in _read(file).texts:
        for near in (file.parent / text, file.parent / "facts" / text):
            inside = list(near.iterdir()) if near.is_dir() and not any(near.glob("*.py")) else [near]
            data = (each for each in inside if each.is_file() and not each.name.startswith("__"))
            found |= {f"{each.parent.name}/{each.name}": each for each in data}
    return found


@cache
def _known() -> dict[str, Code]:
    try:
        return {key: Code(*code) for key, code in json.loads(CACHE.read_bytes()).items()}
    except (OSError, ValueError, TypeError):
        return {}


def _forget() -> None:
    for each in (_read, _located, _named):
        each.cache_clear()


@cache
def _read(file: Path) -> Code:
    """Of a Python file the digest is that of its meaning, of any other that of its bytes."""
    content = file.read_bytes()
    if file.suffix != ".py":
        return Code(_sha(content)[:16], [], [])
    key = _sha(Path(__file__).read_bytes() + content)
    if key not in _known():
        try:
            tree = ast.parse(content, str(file))
        except SyntaxError as error:
            raise ValueError(f"{file}, line {error.lineno}: {error.msg}; correct it") from None
        texts = {str(node.value) for node in ast.walk(tree) if _is_text(node)}
        names = sorted(text for text in texts if re.fullmatch(r"[\w-]+(\.[a-z0-9]+)?", text))
        imports = sorted(set(_imports(tree)))
        for node in ast.walk(tree):
            if isinstance(body := getattr(node, "body", None), list):  # without texts that are statements
                body[:] = [s for s in body if not (isinstance(s, ast.Expr) and _is_text(s.value))]
            if isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call):
                node.exc.args, node.exc.keywords = [], []  # a message changes no number
        _known()[key] = Code(_sha(ast.dump(tree).encode())[:16], imports, names)
    return _known()[key]


def _imports(tree: ast.AST) -> Iterator[str]:
    """Modules that run code imports, with their leading dots; of ``from a import b``, a and a.b."""
    if isinstance(tree, ast.Import):
        yield from (alias.name for alias in tree.names)
    elif isinstance(tree, ast.ImportFrom):
        module = "." * tree.level + (tree.module or "")
        joint = "" if module.endswith(".") else "."
        yield from [module, *(f"{module}{joint}{alias.name}" for alias in tree.names)]
    for node in ast.iter_child_nodes(tree):
        only_typed = isinstance(node, ast.If) and getattr(node.test, "id", "") == "TYPE_CHECKING"
        if not only_typed and not isinstance(node, ast.expr):
            yield from _imports(node)


def _is_text(node: ast.AST) -> TypeGuard[ast.Constant]:
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


def _sha(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()
