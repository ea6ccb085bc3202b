"""Strict reading of the configuration: YAML without traps.

`read` takes the core schema of YAML 1.2, in which ``1e3`` is a number, and ``on``, ``1:30`` and a
date are text. It names a mistake in one line: ``file: line: rule``. `check` of
`reproduction.spec.mistakes` holds the content against a model.
"""

import math
import re
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path
from types import UnionType
from typing import Any

import yaml

from reproduction.spec.mistakes import ArtifactError

# Characters that a terminal obeys; tab and line feed are text.
CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f]")
# Levels and values of a file, its anchors (& and *) written out. Ours have fewer than ten levels
# and 20,000 values.
DEEPEST, MOST = 50, 200_000
Content = dict[str, Any]  # a mapping as read from YAML


class _Trap(yaml.YAMLError):
    """A form that YAML allows and the project refuses."""


class _Loader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):  # type: ignore[misc]
    """Loader of YAML 1.2's core schema without tags, infinite numbers and repeated keys."""

    keys: type | UnionType = str

    def construct_mapping(self, node: Any, deep: bool = False) -> dict[Any, Any]:
        seen: dict[Any, int] = {}
        for key_node, _ in node.value:
            line = key_node.start_mark.line + 1
            key = self.construct_object(key_node) if isinstance(key_node, yaml.ScalarNode) else None
            if not isinstance(key, self.keys) or isinstance(key, bool):
                raise _Trap(f"line {line}: key {key_node.value!r}: a key must be text; quote it")
            if key in seen:
                rule = f"is given twice, first in line {seen[key]}; keep one"
                raise _Trap(f"line {line}: key {key!r} {rule}")
            seen[key] = line
        mapping: dict[Any, Any] = super().construct_mapping(node, deep)
        return mapping

    def construct_number(self, node: Any) -> int | float:
        value = float(node.value.replace(".inf", "inf").replace(".nan", "nan"))
        if not math.isfinite(value):
            where = f"line {node.start_mark.line + 1}: {node.value}"
            raise _Trap(f"{where} is not allowed; give a finite number")
        return int(node.value) if node.tag == TAG + "int" else value


TAG = "tag:yaml.org,2002:"
FLOAT = r"[-+]?(\.[0-9]+|(0|[1-9][0-9]*)(\.[0-9]*)?)([eE][-+]?[0-9]+)?|[-+]?\.inf|\.nan"
WRITTEN = {"null": "~|null|", "bool": "true|false", "int": "[-+]?(0|[1-9][0-9]*)", "float": FLOAT}
"""Kind of value -> pattern of its spelling; the rest is text, also ``0123``."""
RESOLVERS = [(TAG + kind, re.compile(f"({pattern})$")) for kind, pattern in WRITTEN.items()]
_Loader.yaml_implicit_resolvers = {None: RESOLVERS}
_Loader.yaml_constructors = {
    TAG + "null": _Loader.construct_yaml_null,
    TAG + "bool": _Loader.construct_yaml_bool,
    TAG + "str": _Loader.construct_yaml_str,
    TAG + "seq": _Loader.construct_yaml_seq,
    TAG + "map": _Loader.construct_yaml_map,
    TAG + "int": _Loader.construct_number,
    TAG + "float": _Loader.construct_number,
    None: _Loader.construct_undefined,
}


def read(path: Path, keys: type | UnionType = str) -> Any:
    """Read a YAML file: text, finite numbers, true or false, nothing, lists and mappings.

    Parameters
    ----------
    path : Path
        The file.
    keys : type
        What the keys of mappings may be.

    Returns
    -------
    dict
        The content.

    Raises
    ------
    ArtifactError
        If it is not UTF-8, not YAML, empty or not a mapping, or has a key twice, infinity or NaN, a
        tag, or nesting without end: one line with the file and the line or key.
    """
    try:
        text = path.read_bytes().decode("utf-8")
        _check_events(text)
        content = yaml.load(text, type("_Loader", (_Loader,), {"keys": keys}))
    except UnicodeDecodeError as error:
        line = error.object[: error.start].count(b"\n") + 1
        reason = f"line {line}: not UTF-8; save the file in this encoding"
    except _Trap as error:
        reason = str(error)
    except (yaml.YAMLError, ValueError) as error:
        reason = f"not valid YAML: {_parse_error(error)}"
    else:
        found = "the file is empty" if content is None else f"a {type(content).__name__}"
        reason = f"top level: {found}; a mapping of keys to values is expected"
        if isinstance(content, dict):
            if not _is_endless(content):
                return content
            reason = f"over {DEEPEST} levels or {MOST} values; is an anchor (&) inside itself?"
    raise ArtifactError(f"{path}: {reason}")


def _check_events(text: str) -> None:
    """Refuse deep nesting and control characters.

    Composing recurses, and the compiled composer into a crash; events do not.
    """
    depth = 0
    for event in yaml.parse(text, Loader=_Loader):
        if isinstance(event, yaml.CollectionStartEvent):
            depth += 1
        elif isinstance(event, yaml.CollectionEndEvent):
            depth -= 1
        line = event.start_mark.line + 1 if event.start_mark else 1
        if depth > DEEPEST:
            raise _Trap(f"line {line}: over {DEEPEST} levels of lists and mappings")
        control = CONTROL.search(event.value) if isinstance(event, yaml.ScalarEvent) else None
        if control:
            raise _Trap(f"line {line}: holds the control character {control[0]!r}; remove it")


def _is_endless(content: Any) -> bool:
    """Decide whether a file has too many levels or values, with its anchors written out."""
    level, count = [content], 0
    for _ in range(DEEPEST):
        level = list(islice(_nested(level), MOST))
        count += len(level)
        if not level or count >= MOST:
            break
    return bool(level)


def _nested(level: Iterable[Any]) -> Iterator[Any]:
    """Yield the lists and mappings one level further down."""
    for collection in level:
        entries = collection.values() if isinstance(collection, dict) else collection
        for entry in entries:
            if isinstance(entry, dict | list):
                yield entry


def _parse_error(error: Exception) -> str:
    """Describe a mistake of YAML in one line, such as ``line 3: found end of stream``."""
    mark = getattr(error, "problem_mark", None)
    if not isinstance(error, yaml.MarkedYAMLError) or mark is None:
        return " ".join(str(error).split())
    begun = f" from line {error.context_mark.line + 1} on" if error.context_mark else ""
    context = f"{error.context}{begun}, " if error.context else ""
    return f"line {mark.line + 1}: {context}{error.problem}"
