"""Digests of files: of the meaning of code, and of the bytes of anything else.

Comments, docstrings, formatting, messages of ``raise`` and the version of Python do not change the
digest of code. What was digested is remembered by the size, times and number of the file, and by
this module.
"""

import ast
import hashlib
import json
import os
from collections.abc import Iterator
from contextlib import suppress
from functools import cache
from pathlib import Path

from reproduction.paths import CHECKOUT
from reproduction.run.atomic_files import replacing

CACHE = CHECKOUT / ".cache/digests.json"
DEFINITIONS = CHECKOUT / ".cache/definitions"
"""Folder with digests of the functions of modules, to say later which of them changed."""
BYTES, CODE = "bytes", "code"
UNTITLED = "the code outside functions"


def digest_bytes(file: Path) -> str:
    """Compute the SHA-256 of the bytes of a file."""
    return _remembered(file, BYTES)


def digest_code(file: Path) -> str:
    """Compute a digest of the meaning of a Python file."""
    return _remembered(file, CODE)


def digest_definitions(file: Path) -> dict[str, str]:
    """Digest each function of a file; a method is named ``class.method``.

    What is outside of functions is one entry, `UNTITLED`.
    """
    digests: dict[str, str] = {}
    outside = []
    for statement in _parse(file).body:
        if isinstance(statement, ast.ClassDef):
            for member in statement.body:
                method = getattr(member, "name", "")
                name = f"{statement.name}.{method}" if method else statement.name
                digests[name] = _sha(describe(member))
        elif isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef):
            digests[statement.name] = _sha(describe(statement))
        else:
            outside.append(describe(statement))
    digests[UNTITLED] = _sha("".join(outside))
    return digests


def changed_definition(digest: str, file: Path) -> str:
    """Name the first function of a file that differs from its state at an earlier digest.

    The name is "" if it is unknown.
    """
    with suppress(OSError, ValueError):
        before = json.loads((DEFINITIONS / f"{digest}.json").read_bytes())
        now = digest_definitions(file)
        for name in dict.fromkeys([*before, *now]):
            if before.get(name) != now.get(name):
                return name
    return ""


def save() -> None:
    """Remember the digests for later processes.

    Where nothing can be written, they are computed again.
    """
    with suppress(OSError):
        CACHE.parent.mkdir(exist_ok=True)
        with replacing(CACHE) as part:
            part.write_text(json.dumps(_digests()), encoding="utf-8")


def save_definitions(file: Path) -> None:
    """Remember the functions of a module, under the digest of the module."""
    with suppress(OSError, ValueError):
        target = DEFINITIONS / f"{digest_code(file)}.json"
        if not target.exists():
            DEFINITIONS.mkdir(parents=True, exist_ok=True)
            with replacing(target) as part:
                part.write_text(json.dumps(digest_definitions(file)), encoding="utf-8")


def describe(node: object) -> str:
    """Write the meaning of a syntax tree as a text that is equal in every version of Python."""
    if isinstance(node, ast.JoinedStr):
        return f"JoinedStr[{','.join(_describe_pieces(node.values))}]"
    if isinstance(node, ast.AST):
        parts = []
        for field, value in _fields_that_matter(node):
            parts.append(f"{field}={describe(value)}")
        return f"{type(node).__name__}({','.join(parts)})"
    if isinstance(node, list):
        return f"[{','.join(map(describe, node))}]"
    return ascii(node)


def _fields_that_matter(node: ast.AST) -> Iterator[tuple[str, object]]:
    """Yield the fields that are set, without docstrings and arguments of what is raised."""
    for field, value in ast.iter_fields(node):
        if value is None or field in ("ctx", "kind", "type_comment"):
            continue
        if field == "exc" and isinstance(node, ast.Raise) and isinstance(value, ast.Call):
            yield field, value.func
        elif isinstance(value, list):
            parts = [part for part in value if not _is_text_alone(part)]
            if parts:
                yield field, parts
        else:
            yield field, value


def _describe_pieces(pieces: list[ast.expr]) -> Iterator[str]:
    """List the pieces of an f-string.

    Versions of Python differ in how they cut the text between the values.
    """
    text = ""
    for piece in pieces:
        if isinstance(piece, ast.Constant):
            text += str(piece.value)
            continue
        if text:
            yield ascii(text)
        text = ""
        yield describe(piece)
    if text:
        yield ascii(text)


def _is_text_alone(node: object) -> bool:
    """Decide whether a statement is only a text, as a docstring is."""
    if not isinstance(node, ast.Expr) or not isinstance(node.value, ast.Constant):
        return False
    return isinstance(node.value.value, str)


def _parse(file: Path) -> ast.Module:
    try:
        return ast.parse(file.read_bytes(), str(file))
    except SyntaxError as error:
        raise ValueError(f"{file}, line {error.lineno}: {error.msg}; correct it") from None


def _remembered(file: Path, kind: str) -> str:
    key = f"{kind} {os.path.abspath(file)}"
    status = os.stat(file)
    stamp = [status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino, _version()]
    remembered = _digests().get(key)
    if isinstance(remembered, list) and remembered[:-1] == stamp:
        return str(remembered[-1])
    if kind == BYTES:
        with open(file, "rb") as content:
            digest = hashlib.file_digest(content, "sha256").hexdigest()
    else:
        digest = _sha(describe(_parse(file)))
    _digests()[key] = [*stamp, digest]
    return digest


@cache
def _digests() -> dict[str, object]:
    """Load the remembered digests: kind and path -> size, times and digest."""
    with suppress(OSError, ValueError):
        digests = json.loads(CACHE.read_bytes())
        if isinstance(digests, dict):
            return digests
    return {}


@cache
def _version() -> str:
    """Digest this module, because another version of it computes other digests."""
    return _sha(Path(__file__).read_text(encoding="utf-8"))


def _sha(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:16]
