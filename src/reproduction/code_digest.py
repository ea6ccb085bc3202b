"""Which code a job reads, and a digest of it that comments, docstrings and formatting leave as it is.

A root is a module (``reproduction.protocols.ors``, or one of the user's) or a script (``scripts/run.py``).
Its code is itself and all that it imports, at the top or inside functions, with relative imports too, from
the packages of this checkout or from the folder of the user's module; and every data file that a module names
and that lies beside it, or in a folder ``facts`` beside it. Nothing is imported to find this out.
"""

import ast
import hashlib
import json
import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import cache
from importlib.machinery import PathFinder
from importlib.util import resolve_name
from pathlib import Path
from typing import NamedTuple

from noisylabels import METHODS

SOURCES = Path(__file__).resolve().parents[1]
CHECKOUT = SOURCES.parent
PACKAGES = ("noisylabels", "reproduction")
CACHE = CHECKOUT / ".cache/code.json"
"""SHA-256 of a file -> what `_read` finds in it: parsing everything takes seconds."""


class Code(NamedTuple):
    """What matters of a Python file: its normalised digest, the modules it imports, the files it may name."""

    digest: str
    imports: list[str]
    texts: list[str]


@cache
def stamped(*roots: str) -> str:
    """The digest of the code of a job and the roots it is of: a parameter of its rule, see `unchanged`."""
    return " ".join([digest(sorted(set(roots))), *sorted(set(roots))])


def digest(roots: Iterable[str]) -> str:
    """Digest of all code below the roots, wherever the checkout is."""
    found = closure(roots)
    lines = [f"{name} {_digest(file)}" for name, file in sorted(found.items())]
    return _sha("\n".join(lines).encode())[:16]


def closure(roots: Iterable[str]) -> dict[str, Path]:
    """Name -> file of all that the roots read.

    Raises
    ------
    FileNotFoundError : a root that does not exist.
    """
    found: dict[str, Path] = {}
    for root in roots:
        first = _located(root)
        if first is None:
            raise FileNotFoundError(f"no module {root!r}; is its folder on PYTHONPATH?")
        folder = _folder(root, first)
        waiting = [root]
        while waiting:
            name = waiting.pop()
            file = _located(name, folder)
            if file is None or name in found or name == "noisylabels":  # a table of names; each has a module
                continue
            found[name] = file
            if "site-packages" in file.parts:  # installed: it changes with its version
                continue
            waiting += [name.rpartition(".")[0]] if "." in name and "/" not in name else []
            waiting += _imported(name, file)
            found.update(_named(file))
    return found


@contextmanager
def unchanged(stamp: str) -> Iterator[None]:
    """Run a job whose code was `stamped` when it was planned.

    Raises
    ------
    SystemExit : the code differs when the job starts or when it ends; says what to do.
    """
    expected, *roots = stamp.split()
    for when in ("before", "while"):
        _forget()
        if digest(roots) != expected:
            raise SystemExit(f"error: the code was edited {when} this job ran; start the run again")
        if when == "before":
            yield


def save() -> None:
    """Keep what was found in files for later processes; where nothing can be written they look again."""
    kept = {key: list(code) for key, code in _known().items()}
    part = CACHE.with_name(f".part.{CACHE.name}")
    try:
        if CACHE.is_file() and len(json.loads(CACHE.read_bytes())) == len(kept):
            return
        part.parent.mkdir(exist_ok=True)
        part.write_text(json.dumps(kept), encoding="utf-8")
        part.replace(CACHE)
    except (OSError, ValueError):
        part.unlink(missing_ok=True)


def kernel_digest() -> str:
    """Digest of all library files with compiled kernels: the name of the folder of their cache.

    The compiler does not notice when a kernel changes that a kernel of another file inlines.
    """
    compiled = re.compile(r"\b(numba|compiled|njit)\b")
    files = sorted((SOURCES / "noisylabels").rglob("*.py"))
    digests = [_digest(file) for file in files if compiled.search(file.read_text(encoding="utf-8"))]
    return _sha("".join(digests).encode())[:16]


@cache
def _located(name: str, folder: Path | None = None) -> Path | None:
    """The file of a script, or of a module of the checkout or below a folder; without folder of any module.

    Nothing is imported, not even the package of the module.
    """
    if "/" in name:
        return SOURCES / name
    parts = name.split(".")
    if parts[0] in PACKAGES:
        base = SOURCES.joinpath(*parts)
        return next((f for f in (base.with_suffix(".py"), base / "__init__.py") if f.is_file()), None)
    if folder == SOURCES:
        return None
    path = [str(folder)] if folder else None
    spec = None
    for depth in range(1, len(parts) + 1):
        spec = PathFinder.find_spec(".".join(parts[:depth]), path)
        if spec is None:
            return None
        path = list(spec.submodule_search_locations or [])
    return Path(spec.origin) if spec and spec.origin and spec.has_location else None


def _folder(root: str, file: Path) -> Path:
    """From where the modules beside a root are imported."""
    if "/" in root or root.partition(".")[0] in PACKAGES:
        return SOURCES
    return file.parents[root.count(".") + (file.name == "__init__.py")]


def _imported(name: str, file: Path) -> Iterator[str]:
    """Full names of what a module imports; a public name of the library stands for its module."""
    package = name if file.name == "__init__.py" else name.rpartition(".")[0]
    for each in _read(file).imports:
        full = resolve_name(each, package) if each.startswith(".") else each
        yield f"noisylabels.{_public()[full]}" if full in _public() else full


@cache
def _public() -> dict[str, str]:
    """``noisylabels.ORS`` -> ``filters.ors``."""
    return {f"noisylabels.{name}": module for module, _, name in (m.partition(":") for m in METHODS.values())}


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


@cache
def _content(file: Path) -> tuple[str, bytes]:
    content = file.read_bytes()
    return _sha(content), content


def _forget() -> None:
    """Look at all files again."""
    for each in (_content, _digest, _located, _named):
        each.cache_clear()


@cache
def _digest(file: Path) -> str:
    """Of a Python file that of its meaning, of any other that of its bytes."""
    return _read(file).digest if file.suffix == ".py" else _content(file)[0][:16]


def _read(file: Path) -> Code:
    key, content = _content(file)
    known = _known()
    if file.suffix != ".py":
        return Code(key[:16], [], [])
    if key not in known:
        tree = ast.parse(content, str(file))
        imports, texts = sorted(_imports(tree.body)), sorted(_texts(tree))
        known[key] = Code(_sha(ast.dump(_bare(tree)).encode())[:16], imports, texts)
    return known[key]


def _imports(statements: Iterable[ast.AST]) -> set[str]:
    """Modules that the statements import, with their leading dots; of ``from a import b``, a and a.b."""
    found: set[str] = set()
    for node in statements:
        if isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING":
            continue
        if isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            module = "." * node.level + (node.module or "")
            joint = "" if module.endswith(".") else "."
            found.update([module, *(f"{module}{joint}{alias.name}" for alias in node.names)])
        for part in ("body", "orelse", "handlers", "finalbody", "cases"):
            if isinstance(inner := getattr(node, part, None), list):
                found |= _imports(inner)
    return found


def _texts(tree: ast.AST) -> set[str]:
    """Texts that could name a file or a folder beside the module."""
    texts = (node.value for node in ast.walk(tree) if isinstance(node, ast.Constant))
    return {text for text in texts if isinstance(text, str) and re.fullmatch(r"[\w-]+(\.[a-z0-9]+)?", text)}


def _bare(tree: ast.AST) -> ast.AST:
    """The tree without docstrings and other texts that stand as statements."""
    for node in ast.walk(tree):
        if isinstance(body := getattr(node, "body", None), list):
            body[:] = [
                s
                for s in body
                if not (
                    isinstance(s, ast.Expr)
                    and isinstance(s.value, ast.Constant)
                    and isinstance(s.value.value, str)
                )
            ]
    return tree


def _sha(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()
