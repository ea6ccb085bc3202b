"""Mistakes in content that a model refuses, each in one line: ``key: rule, got value``.

`check` holds content against a model.
"""

import re
from contextlib import suppress
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from reproduction.spec.models import WITH_CODE
from reproduction.spec.suggestions import did_you_mean

LONGEST = 200  # largest number of characters of a value that a message quotes
M = TypeVar("M", bound=BaseModel)


class ArtifactError(ValueError):
    """A mistake in a file of the configuration, with the file and the key."""


def check(model: type[M], content: object, location: object, with_code: bool = True) -> M:
    """Parse content as a model.

    Parameters
    ----------
    model : type of pydantic.BaseModel
        The model.
    content : object
        What a file says.
    location : object
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
        raise ArtifactError(f"{location}: {explained(error, content)}") from None


def explained(error: ValidationError, content: object) -> str:
    """Write one mistake as ``key: rule, got value``; of alternatives, the one that got farthest."""
    errors = error.errors(include_url=False)
    places = [_find_keys(mistake, content) for mistake in errors]
    deepest = max(places, key=len)
    pairs = zip(errors, places, strict=True)
    farthest = [mistake for mistake, location in pairs if location == deepest]
    meant = [mistake for mistake in farthest if not mistake["type"].endswith("_type")] or farthest
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


def _find_keys(error: ErrorDetails, content: Any) -> tuple[int | str, ...]:
    """Find the keys of an error's location, without pydantic's names of alternatives."""
    keys: list[int | str] = []
    for part in error["loc"]:
        if isinstance(content, list) and isinstance(part, int):
            content = dict(enumerate(content))
        if isinstance(content, dict) and part in content:
            content = content[part]
            keys.append(part)
    return (*keys, error["loc"][-1]) if error["type"] == "missing" else tuple(keys)


def _rule(error: ErrorDetails) -> str:
    text = re.sub("^(Value error, |Assertion failed, |Input )| after validation$", "", error["msg"])
    return "this key is required" if error["type"] == "missing" else text


def _hint(error: ErrorDetails) -> str:
    """Say how to write a number, or name the nearest of the allowed words."""
    value, kind = error["input"], error["type"]
    if isinstance(value, str) and kind == "literal_error":
        return did_you_mean(value, re.findall(r"'([^']+)'", error["ctx"]["expected"]))
    if isinstance(value, str | float) and kind.startswith(("int", "float")):
        with suppress(ValueError, OverflowError):  # not a number, or not a finite one
            number = float(value)
            if number == int(number):
                return f"; write {int(number)}"
            return "; write a whole number" if kind.startswith("int") else f"; write {number}"
    return ""
