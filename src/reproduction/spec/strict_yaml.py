"""Strict reading of the configuration: YAML without traps, checked by pydantic models.

`read` takes the core schema of YAML 1.2, in which ``1e3`` is a number, and ``on``, ``1:30`` and a
date are text; `check` holds content against a model. Both name a mistake in one line: ``file: key:
rule, got value; did you mean ...?``.
"""

import difflib
import math
import re
from collections.abc import Iterable, Iterator
from contextlib import suppress
from itertools import islice
from pathlib import Path
from types import UnionType
from typing import Any, TypeVar

import yaml
from pydantic import (
    BaseModel,
    ConfigDict,
    GetCoreSchemaHandler,
    ValidationError,
    ValidationInfo,
    model_validator,
)
from pydantic_core import CoreSchema, ErrorDetails, PydanticCustomError

# Characters that a terminal obeys; tab and line feed are text.
CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f]")
# Levels and values of a file, its anchors (& and *) written out. Ours have fewer than ten levels
# and 20,000 values.
DEEPEST, MOST = 50, 200_000
LONGEST = 200  # largest number of characters of a value that a message quotes
Content = dict[str, Any]  # a mapping as read from YAML
M = TypeVar("M", bound=BaseModel)


class ArtifactError(ValueError):
    """A mistake in a file of the configuration, with the file and the key."""


def texts(value: Any) -> Iterator[str]:
    """Yield every key and text in settings."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        yield from texts([*value, *value.values()])
    elif isinstance(value, list):
        for entry in value:
            yield from texts(entry)


def near(word: object, known: Iterable[object], most: int = 2) -> str:
    """Suggest the nearest known words, as ``; did you mean a or b?``, or list all."""
    words = list(dict.fromkeys(map(str, known)))
    return _did_you_mean(str(word), words, most) or f"; known: {', '.join(words) or 'none'}"


def _did_you_mean(word: str, words: list[str], most: int = 2) -> str:
    close = difflib.get_close_matches(word, words, n=most)
    return f"; did you mean {' or '.join(close)}?" if close else ""


def _with_lists(schema: Any) -> Any:
    """Let the tuples of a schema accept lists, as YAML has no tuples."""
    parts = schema if isinstance(schema, list) else []
    if isinstance(schema, dict):
        parts = list(schema.values())
        if schema.get("type") == "tuple":
            schema["strict"] = False
    for part in parts:
        _with_lists(part)
    return schema


WITH_CODE = "with_code"
"""Key in the context of a validation that says whether code may be imported."""


def is_with_code(info: ValidationInfo) -> bool:
    """Decide whether a validation may import the named classes, unless `check` forbids it."""
    return info.context is None or bool(info.context.get(WITH_CODE, True))


class Model(BaseModel):
    """Base of everything that is read from YAML: unknown keys and conversions are refused."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, allow_inf_nan=False)

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        return _with_lists(handler(source))

    @model_validator(mode="before")
    @classmethod
    def _known_keys(cls, content: Any) -> Any:
        known = [field.alias or name for name, field in cls.model_fields.items()]
        for key, value in content.items() if isinstance(content, dict) else ():
            if key not in known:
                message = f"there is no key {str(key)!r}{near(key, known)}"
            elif value is None:
                message = f"{key}: is empty; give a value or drop the key"
            else:
                continue
            raise PydanticCustomError("unknown_key", "{message}", {"message": message})
        return content


def check(model: type[M], content: object, where: object, with_code: bool = True) -> M:
    """Parse content as a model.

    Parameters
    ----------
    model : type of pydantic.BaseModel
        The model.
    content : object
        What a file says.
    where : object
        The file, for messages.
    with_code : bool, default True
        Import the classes that the content names, and check what it says of them.

    Returns
    -------
    pydantic.BaseModel
        An instance of the model.

    Raises
    ------
    ArtifactError
        If a rule is broken: one line with the place, the key, the rule, the value, and known words.
    """
    try:
        return model.model_validate(content, context={WITH_CODE: with_code})
    except ValidationError as error:
        raise ArtifactError(f"{where}: {explained(error, content)}") from None


def explained(error: ValidationError, content: object) -> str:
    """Write one mistake as ``key: rule, got value``; of alternatives, the one that got farthest."""
    errors = error.errors(include_url=False)
    places = [_place(one, content) for one in errors]
    deepest = max(places, key=len)
    here = [one for one, place in zip(errors, places, strict=True) if place == deepest]
    meant = [one for one in here if not one["type"].endswith("_type")] or here
    text = " or ".join(dict.fromkeys(map(_rule, meant)))
    if meant[0]["type"] not in ("missing", "unknown_key", "value_error", "union_tag_not_found"):
        text += f", got {_shortened(repr(meant[0]['input']))}{_hint(meant[0])}"
    key = ".".join(map(str, deepest))
    return text if not key or text.startswith(f"{key}: ") else f"{key}: {text}"


def _shortened(value: str) -> str:
    if len(value) <= LONGEST:
        return value
    half = LONGEST // 2
    return f"{value[:half]} ... {value[-half:]}"


def _place(error: ErrorDetails, content: Any) -> tuple[int | str, ...]:
    """Find the keys of an error's location, without pydantic's names of alternatives."""
    place: list[int | str] = []
    for part in error["loc"]:
        if isinstance(content, list) and isinstance(part, int):
            content = dict(enumerate(content))
        if isinstance(content, dict) and part in content:
            content = content[part]
            place.append(part)
    return (*place, error["loc"][-1]) if error["type"] == "missing" else tuple(place)


def _rule(error: ErrorDetails) -> str:
    text = re.sub("^(Value error, |Assertion failed, |Input )| after validation$", "", error["msg"])
    return "this key is required" if error["type"] == "missing" else text


def _hint(error: ErrorDetails) -> str:
    """Say how to write a number, or name the nearest of the allowed words."""
    value, kind = error["input"], error["type"]
    if isinstance(value, str) and kind == "literal_error":
        return _did_you_mean(value, re.findall(r"'([^']+)'", error["ctx"]["expected"]))
    if isinstance(value, str | float) and kind.startswith(("int", "float")):
        with suppress(ValueError, OverflowError):  # not a number, or not a finite one
            number = float(value)
            if number == int(number):
                return f"; write {int(number)}"
            return "; write a whole number" if kind.startswith("int") else f"; write {number}"
    return ""


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
    """Yield the lists and mappings that are entries in those of a level."""
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
