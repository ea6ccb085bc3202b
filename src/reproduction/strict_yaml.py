"""The files of the configuration: YAML without traps, checked by pydantic models, each mistake in one line.

`read` refuses what YAML passes over in silence; `check` holds content against a model; both say
``file: key: rule, got value; did you mean ...?``.
"""

import difflib
import math
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from types import UnionType
from typing import Any, TypeVar

import yaml
from pydantic import BaseModel, ConfigDict, ValidationError, model_validator
from pydantic_core import ErrorDetails, PydanticCustomError

NUMBER = re.compile(r"[-+]?(\d[\d_]*\.?\d*|\.\d+)[eE][-+]?\d+")
"""Looks like a number, but YAML 1.1 wants a point and a sign and reads ``1e3`` as text."""

DEEPEST, MOST = 50, 200_000
"""Levels and values of a file, anchors (& and *) written out; none here has ten levels or 20,000 values."""

MISREAD = re.compile(r"[-+]?(0[0-9_]+|[0-9][0-9_]*(:[0-5]?[0-9])+(\.[0-9_]*)?)")
"""A plain number that YAML 1.1 reads as another: octal ``0123``, sexagesimal ``1:30``."""

LONGEST = 200
"""Characters of a value that a message quotes."""


class ArtifactError(ValueError):
    """A mistake in a file of the configuration, with the file and the key."""


def near(word: object, known: Iterable[object], most: int = 2) -> str:
    """``; did you mean a or b?`` with the nearest of the known words, else ``; known: a, b, c``."""
    words = list(dict.fromkeys(map(str, known)))
    return _did_you_mean(str(word), words, most) or f"; known: {', '.join(words) or 'none'}"


def _did_you_mean(word: str, words: list[str], most: int = 2) -> str:
    close = difflib.get_close_matches(word, words, n=most)
    return f"; did you mean {' or '.join(close)}?" if close else ""


class Model(BaseModel):
    """Base of everything that is read from YAML: no unknown keys, no conversions, no changes afterwards."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    @model_validator(mode="before")
    @classmethod
    def _known_keys(cls, content: Any) -> Any:
        known = [field.alias or name for name, field in cls.model_fields.items()]
        for key, value in content.items() if isinstance(content, dict) else ():
            said = f"{key}: is empty; give a value or drop the key" if value is None else ""
            if key not in known:
                said = f"there is no key {str(key)!r}{near(key, known)}"
            if said:
                raise PydanticCustomError("unknown_key", "{said}", {"said": said})
        return content


M = TypeVar("M", bound=BaseModel)
Content = dict[str, Any]
"""A mapping as YAML has it."""


def check(model: type[M], content: object, where: object) -> M:
    """The content as an instance of the model.

    Raises
    ------
    ArtifactError : one line: where, the key, the rule that is broken, the value, near or known words.
    """
    if reason := untrue(content, str | int):
        raise ArtifactError(f"{where}: {reason}")
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
        value = repr(meant[0]["input"])
        half = LONGEST // 2
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
    if error["type"] == "missing":
        return "this key is required"
    text = error["msg"].removeprefix("Value error, ").removeprefix("Assertion failed, ")
    return text.removeprefix("Input ").removesuffix(" after validation")


def _hint(error: ErrorDetails) -> str:
    """How to write a number, or the nearest of the words that are allowed."""
    value = error["input"]
    if isinstance(value, str) and NUMBER.fullmatch(value):
        return f": {as_text(value)}"
    if isinstance(value, float) and error["type"].startswith("int") and value.is_integer():
        return f"; write {value:.0f}"
    if isinstance(value, str) and error["type"] == "literal_error":
        return _did_you_mean(value, re.findall(r"'([^']+)'", error["ctx"]["expected"]))
    return ""


class _Loader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):  # type: ignore[misc]
    """Refuses what YAML would pass over in silence; `read` adds the file."""

    def construct_mapping(self, node: Any, deep: bool = False) -> dict[Any, Any]:
        seen: dict[Any, int] = {}
        for key_node, value_node in node.value:
            key, line = key_node.value, key_node.start_mark.line + 1
            if key_node.tag not in ("tag:yaml.org,2002:str", "tag:yaml.org,2002:int"):
                raise _Trap(f"line {line}: key {key!r}: a key must be text; quote it")
            if key in seen:
                raise _Trap(f"line {line}: key {key!r} is given twice, first in line {seen[key]}; keep one")
            seen[key] = line
            _refuse_plain_number(key, value_node, set())
        mapping: dict[Any, Any] = super().construct_mapping(node, deep)
        return mapping


CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f]")
"""Characters that a terminal obeys; tab and line feed are text."""


class _Trap(yaml.YAMLError):
    """What `_Loader` refuses."""


def _refuse_plain_number(key: str, node: Any, seen: set[int]) -> None:
    """One without quotes that is read as text, also in a list; each list is looked at once."""
    if isinstance(node, yaml.SequenceNode) and id(node) not in seen:
        seen.add(id(node))
        for entry in node.value:
            _refuse_plain_number(key, entry, seen)
    if not isinstance(node, yaml.ScalarNode) or node.style:
        return
    line = node.start_mark.line + 1
    if node.tag.endswith(":str") and NUMBER.fullmatch(node.value):
        raise _Trap(f"line {line}: {key}: {as_text(node.value)}")
    if node.tag.endswith((":int", ":float")) and MISREAD.fullmatch(node.value):
        raise _Trap(f"line {line}: {key}: YAML reads {node.value} as another number; write it without 0 or :")


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
        text = path.read_bytes().decode("utf-8")
        _check_events(text)
        content = yaml.load(text, _Loader)
    except UnicodeDecodeError as error:
        line = error.object[: error.start].count(b"\n") + 1
        reason = f"line {line}: not UTF-8; save the file in this encoding"
    except _Trap as error:
        reason = str(error)
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        reason = f"not valid YAML: {_parse_error(error)}"
    else:
        found = "the file is empty" if content is None else f"a {type(content).__name__}"
        reason = f"top level: {found}; a mapping of keys to values is expected"
        if isinstance(content, dict) and not (reason := untrue(content, keys)):
            return content
    raise ArtifactError(f"{path}: {reason}")


def _parse_error(error: Exception) -> str:
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
    entries = value.items() if isinstance(value, dict) else ((str(n), e) for n, e in enumerate(value))
    for name, entry in entries:
        yield from _leaves(entry, (*place, name))
