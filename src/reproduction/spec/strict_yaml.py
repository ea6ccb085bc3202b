"""The files of the configuration: YAML without traps, checked by pydantic models, each mistake in one line.

`read` takes the core schema of YAML 1.2, in which ``1e3`` is a number, and ``on``, ``1:30`` and a date are
text; `check` holds content against a model. Both say ``file: key: rule, got value; did you mean ...?``.
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
from pydantic import BaseModel, ConfigDict, GetCoreSchemaHandler, ValidationError, model_validator
from pydantic_core import CoreSchema, ErrorDetails, PydanticCustomError

# Characters that a terminal obeys; tab and line feed are text.
CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f]")
# Levels and values of a file, anchors (& and *) written out; none here has ten levels or 20,000 values.
DEEPEST, MOST = 50, 200_000
LONGEST = 200  # characters of a value that a message quotes
Content = dict[str, Any]  # a mapping as YAML has it
M = TypeVar("M", bound=BaseModel)


class ArtifactError(ValueError):
    """A mistake in a file of the configuration, with the file and the key."""


def texts(value: Any) -> Iterator[str]:
    """Every key and text in settings."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, list | dict):
        for entry in [*value, *value.values()] if isinstance(value, dict) else value:
            yield from texts(entry)


def near(word: object, known: Iterable[object], most: int = 2) -> str:
    """``; did you mean a or b?`` with the nearest of the known words, else ``; known: a, b, c``."""
    words = list(dict.fromkeys(map(str, known)))
    return _did_you_mean(str(word), words, most) or f"; known: {', '.join(words) or 'none'}"


def _did_you_mean(word: str, words: list[str], most: int = 2) -> str:
    close = difflib.get_close_matches(word, words, n=most)
    return f"; did you mean {' or '.join(close)}?" if close else ""


def _with_lists(schema: Any) -> Any:
    """The schema, its tuples made to take lists, as YAML has no tuples."""
    if isinstance(schema, dict) and schema.get("type") == "tuple":
        schema["strict"] = False
    for each in schema.values() if isinstance(schema, dict) else schema if isinstance(schema, list) else ():
        _with_lists(each)
    return schema


class Model(BaseModel):
    """Base of everything that is read from YAML: no unknown keys, no conversions, no changes afterwards."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, allow_inf_nan=False)

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        return _with_lists(handler(source))

    @model_validator(mode="before")
    @classmethod
    def _known_keys(cls, content: Any) -> Any:
        known = [field.alias or name for name, field in cls.model_fields.items()]
        for key, value in content.items() if isinstance(content, dict) else ():
            if key not in known or value is None:
                said = f"{key}: is empty; give a value or drop the key"
                said = said if key in known else f"there is no key {str(key)!r}{near(key, known)}"
                raise PydanticCustomError("unknown_key", "{said}", {"said": said})
        return content


def check(model: type[M], content: object, where: object) -> M:
    """The content as an instance of the model.

    Raises ArtifactError : one line: where, the key, the rule that is broken, the value, near or known words.
    """
    try:
        return model.model_validate(content)
    except ValidationError as error:
        raise ArtifactError(f"{where}: {explained(error, content)}") from None


def explained(error: ValidationError, content: object) -> str:
    """``key: rule, got value`` of one mistake: of those below alternatives, the one that got farthest."""
    found = [(_place(each, content), each) for each in error.errors(include_url=False)]
    first = max((place for place, _ in found), key=len)
    here = [each for place, each in found if place == first]
    meant = [each for each in here if not each["type"].endswith("_type")] or here
    text = " or ".join(dict.fromkeys(map(_said_of, meant)))
    if meant[0]["type"] not in ("missing", "unknown_key", "value_error", "union_tag_not_found"):
        value, half = repr(meant[0]["input"]), LONGEST // 2
        text += f", got {value if len(value) <= LONGEST else f'{value[:half]} ... {value[-half:]}'}"
        text += _hint(meant[0])
    key = ".".join(map(str, first))
    return text if not key or text.startswith(f"{key}: ") else f"{key}: {text}"


def _place(error: ErrorDetails, content: Any) -> tuple[int | str, ...]:
    """The keys of an error's location: pydantic puts the names of alternatives between them."""
    place: list[int | str] = []
    for part in error["loc"]:
        if isinstance(content, list) and isinstance(part, int):
            content = dict(enumerate(content))
        if isinstance(content, dict) and part in content:
            content = content[part]
            place.append(part)
    return (*place, error["loc"][-1]) if error["type"] == "missing" else tuple(place)


def _said_of(error: ErrorDetails) -> str:
    text = re.sub("^(Value error, |Assertion failed, |Input )| after validation$", "", error["msg"])
    return "this key is required" if error["type"] == "missing" else text


def _hint(error: ErrorDetails) -> str:
    """How to write a number, or the nearest of the words that are allowed."""
    value, kind = error["input"], error["type"]
    if isinstance(value, str) and kind == "literal_error":
        return _did_you_mean(value, re.findall(r"'([^']+)'", error["ctx"]["expected"]))
    if isinstance(value, str | float) and kind.startswith(("int", "float")):
        with suppress(ValueError, OverflowError):  # no number, or none that is finite
            number = float(value)
            return f"; write {int(number) if number == int(number) else number}"
    return ""


class _Trap(yaml.YAMLError):
    """What YAML allows and we refuse."""


class _Loader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):  # type: ignore[misc]
    """The core schema of YAML 1.2 without other tags, infinite numbers and keys given twice."""

    keys: type | UnionType = str

    def construct_mapping(self, node: Any, deep: bool = False) -> dict[Any, Any]:
        seen: dict[Any, int] = {}
        for key_node, _ in node.value:
            line = key_node.start_mark.line + 1
            key = self.construct_object(key_node) if isinstance(key_node, yaml.ScalarNode) else None
            if not isinstance(key, self.keys) or isinstance(key, bool):
                raise _Trap(f"line {line}: key {key_node.value!r}: a key must be text; quote it")
            if key in seen:
                raise _Trap(f"line {line}: key {key!r} is given twice, first in line {seen[key]}; keep one")
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
"""Kind -> how it is written; the rest is text, also ``0123``, which YAML 1.1 reads as 83."""
_Loader.yaml_implicit_resolvers = {None: [(TAG + k, re.compile(f"({how})$")) for k, how in WRITTEN.items()]}
_Loader.yaml_constructors = {
    TAG + kind: getattr(_Loader, f"construct_yaml_{kind}") for kind in ("null", "bool", "str", "seq", "map")
} | {TAG + kind: _Loader.construct_number for kind in ("int", "float")}
_Loader.yaml_constructors[None] = _Loader.construct_undefined


def read(path: Path, keys: type | UnionType = str) -> Any:
    """Content of a YAML file: text, finite numbers, true or false, nothing, lists and mappings.

    keys : what the keys of mappings may be.

    Raises ArtifactError : one line with the file and the line or key: not UTF-8, not YAML, a key given twice,
    infinity or NaN, a tag, nesting without end, a file that is empty or no mapping.
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
    """No deep nesting, no control characters.

    Composing recurses, and the compiled composer into a crash; events do not.
    """
    depth = 0
    for event in yaml.parse(text, Loader=_Loader):
        depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
        line = event.start_mark.line + 1 if event.start_mark else 1
        if depth > DEEPEST:
            raise _Trap(f"line {line}: over {DEEPEST} levels of lists and mappings")
        if isinstance(event, yaml.ScalarEvent) and (found := CONTROL.search(event.value)):
            raise _Trap(f"line {line}: holds the control character {found[0]!r}; remove it")


def _is_endless(content: Any) -> bool:
    """Anchors can write out more levels and values than the file has."""
    level, count = [content], 0
    for _ in range(DEEPEST):
        entries = (each.values() if isinstance(each, dict) else each for each in level)
        nested = (entry for each in entries for entry in each if isinstance(entry, dict | list))
        level = list(islice(nested, MOST))
        count += len(level)
        if not level or count >= MOST:
            break
    return bool(level)


def _parse_error(error: Exception) -> str:
    """``line 3: while scanning a quoted scalar from line 1 on, found unexpected end of stream``."""
    mark = getattr(error, "problem_mark", None)
    if not isinstance(error, yaml.MarkedYAMLError) or mark is None:
        return " ".join(str(error).split())
    begun = f" from line {error.context_mark.line + 1} on" if error.context_mark else ""
    context = f"{error.context}{begun}, " if error.context else ""
    return f"line {mark.line + 1}: {context}{error.problem}"
