"""YAML without traps: nothing given twice, no infinity, no number that would be read as text."""

import math
import re
from collections.abc import Iterator
from pathlib import Path
from types import UnionType
from typing import Any

import yaml

NUMBER = re.compile(r"[-+]?(\d[\d_]*\.?\d*|\.\d+)[eE][-+]?\d+")
"""Looks like a number, but YAML 1.1 wants a point and a sign and reads ``1e3`` as text."""

KEYS = ("tag:yaml.org,2002:str", "tag:yaml.org,2002:int")

DEEPEST, MOST = 50, 200_000
"""Levels and values of a file, anchors (& and *) written out; none here has ten levels or 20,000 values."""


class ArtifactError(ValueError):
    """A mistake in a file of the configuration, with the file and the key."""


class _Loader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):  # type: ignore[misc]
    """Refuses what YAML would pass over in silence; `read` adds the file."""

    def construct_mapping(self, node: Any, deep: bool = False) -> dict[Any, Any]:
        seen: dict[Any, int] = {}
        for key_node, value_node in node.value:
            line = key_node.start_mark.line + 1
            if key_node.tag not in KEYS:
                raise _Trap(f"line {line}: key {key_node.value!r}: a key must be text; quote it")
            if key_node.value in seen:
                first = seen[key_node.value]
                raise _Trap(
                    f"line {line}: key {key_node.value!r} is given twice, first in line {first}; keep one"
                )
            seen[key_node.value] = line
            _plain(key_node.value, value_node, set())
        mapping: dict[Any, Any] = super().construct_mapping(node, deep)
        return mapping


class _Trap(yaml.YAMLError):
    """What `_Loader` refuses."""


def _plain(key: str, node: Any, seen: set[int]) -> None:
    """Refuse a number without quotes that is read as text, also in a list; each list is looked at once."""
    if isinstance(node, yaml.SequenceNode) and id(node) not in seen:
        seen.add(id(node))
        for entry in node.value:
            _plain(key, entry, seen)
    is_text = isinstance(node, yaml.ScalarNode) and node.tag.endswith(":str") and not node.style
    if is_text and NUMBER.fullmatch(node.value):
        line = node.start_mark.line + 1
        raise _Trap(f"line {line}: {key}: {as_text(node.value)}")


def as_text(word: str) -> str:
    """What is wrong with a number that YAML reads as text, and how to write it."""
    value = float(word.replace("_", ""))
    if not math.isfinite(value):
        return f"{word} is too large for a number"
    digits = f"{value:.0f}" if value == round(value) and abs(value) < 1e16 else f"{value!r}"
    if "e" in digits and "." not in digits:
        digits = digits.replace("e", ".0e")
    return f"{word} is text in YAML, not a number; write {digits}"


def read(path: Path, keys: type | UnionType = str) -> Any:
    """Content of a YAML file: text, finite numbers, true or false, nothing, lists and mappings.

    keys : what the keys of mappings may be.

    Raises
    ------
    ArtifactError : one line with the file and the line or key: not UTF-8, not YAML, a key given twice,
    infinity or NaN, a number read as text, a date, a file that is empty or no mapping.
    """
    try:
        content = yaml.load(path.read_bytes().decode("utf-8"), _Loader)
    except UnicodeDecodeError as error:
        line = error.object[: error.start].count(b"\n") + 1
        raise ArtifactError(f"{path}: line {line}: not UTF-8; save the file in this encoding") from None
    except _Trap as error:
        raise ArtifactError(f"{path}: {error}") from None
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise ArtifactError(f"{path}: not valid YAML: {_said(error)}") from None
    if not isinstance(content, dict):
        found = "the file is empty" if content is None else f"a {type(content).__name__}"
        raise ArtifactError(f"{path}: top level: {found}; a mapping of keys to values is expected")
    if reason := untrue(content, keys):
        raise ArtifactError(f"{path}: {reason}")
    return content


def _said(error: Exception) -> str:
    """``line 3: while scanning a quoted scalar from line 1 on, found unexpected end of stream``."""
    mark = getattr(error, "problem_mark", None)
    if not isinstance(error, yaml.MarkedYAMLError) or mark is None:
        return " ".join(str(error).split())
    begun = f" from line {error.context_mark.line + 1} on" if error.context_mark else ""
    context = f"{error.context}{begun}, " if error.context else ""
    return f"line {mark.line + 1}: {context}{error.problem}"


def untrue(content: object, keys: type | UnionType = str) -> str:
    """``key: what is wrong`` of the first value that is no text, finite number, list or mapping, or ""."""
    for values, (place, value) in enumerate(_leaves(content, ())):
        key = ".".join(map(str, place)) or "top level"
        if len(place) > DEEPEST or values > MOST:
            return f"{key[:80]}: over {DEEPEST} levels or {MOST} values; is an anchor (&) inside itself?"
        if strange := [name for name in place if not isinstance(name, keys)]:
            return f"{key}: the key {strange[0]!r} must be text; quote it"
        if isinstance(value, float) and not math.isfinite(value):
            return f"{key}: {value} is not allowed; give a finite number"
        if value is not None and not isinstance(value, str | bool | int | float | dict | list):
            return f"{key}: {value!s} is read as a {type(value).__name__}; quote it if it is text"
    return ""


def _leaves(value: Any, place: tuple[Any, ...]) -> Iterator[tuple[tuple[Any, ...], Any]]:
    """Every value that has none below it, with the keys above it; it goes one level too deep at most."""
    if not isinstance(value, dict | list) or not value or len(place) > DEEPEST:
        yield place, value
        return
    for name, entry in value.items() if isinstance(value, dict) else enumerate(value):
        yield from _leaves(entry, (*place, name if isinstance(value, dict) else str(name)))
