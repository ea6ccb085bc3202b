"""Check content against a JSON Schema written as YAML; what is wrong, in one line, with what is allowed."""

import difflib
from functools import cache
from pathlib import Path
from typing import Any

from reproduction.strict_yaml import NUMBER, ArtifactError, as_text, read, untrue

LONGEST = 300
"""Characters of what a validator says; it likes to print whole mappings."""


def check(content: object, schemas: Path, schema: str, where: str) -> None:
    """Validate against the schema ``schemas / schema`` (``$ref`` is relative to ``schemas``).

    Raises
    ------
    ArtifactError : one line with the place, the key and what is wrong.
    """
    from jsonschema.exceptions import best_match

    if reason := untrue(content):
        raise ArtifactError(f"{where}: {reason}")
    error = best_match(_validator(schemas, schema).iter_errors(content))
    if error is not None:
        error = _meant(error)
        key = ".".join(str(part) for part in error.absolute_path) or "top level"
        raise ArtifactError(f"{where}: {key}: {_what(error)} (allowed: {schemas / schema})")


def _meant(error: Any) -> Any:
    """Of a value that fits no alternative, what is wrong with the only one of its type and ``kind``."""
    from jsonschema.exceptions import best_match

    while error.validator in ("oneOf", "anyOf"):
        branches: dict[Any, list[Any]] = {}
        for inner in error.context:
            branches.setdefault(inner.schema_path[0], []).append(inner)
        meant = [errors for errors in branches.values() if not any(map(_another, errors))]
        if len(meant) != 1:
            break
        error = best_match(meant[0])
    return error


def _another(error: Any) -> bool:
    return error.validator == "const" or (error.validator == "type" and not error.relative_path)


@cache
def _validator(schemas: Path, schema: str) -> Any:
    from jsonschema import Draft202012Validator
    from jsonschema.validators import extend
    from referencing import Registry, Resource
    from referencing.jsonschema import DRAFT202012

    @cache
    def retrieve(uri: str) -> Resource[Any]:
        return Resource.from_contents(read(schemas / uri), default_specification=DRAFT202012)

    types = Draft202012Validator.TYPE_CHECKER.redefine("integer", _is_integer)
    registry = Registry(retrieve=retrieve)  # type: ignore[call-arg]
    return extend(Draft202012Validator, type_checker=types)(read(schemas / schema), registry=registry)


def _is_integer(_: object, value: object) -> bool:
    """A number of rounds is 20, not 20.0, which no range takes."""
    return isinstance(value, int) and not isinstance(value, bool)


def _what(error: Any) -> str:
    if error.validator == "type" and isinstance(error.instance, str) and NUMBER.fullmatch(error.instance):
        return as_text(error.instance)
    if error.validator == "type" and isinstance(error.instance, float) and error.validator_value == "integer":
        return f"{error.instance} is not a whole number" + (
            f"; write {error.instance:.0f}" if error.instance.is_integer() else ""
        )
    if error.validator == "contains":
        return f"{error.instance}: {error.schema['description']}"
    text = error.message
    if error.validator in ("pattern", "maxItems", "minItems", "uniqueItems", "minLength", "oneOf", "anyOf"):
        text += f": {description}" if (description := error.schema.get("description")) else ""
    text = text if len(text) <= LONGEST else f"{text[: LONGEST // 2]} ... {text[-LONGEST // 2 :]}"
    return text + _close(error)


def _close(error: Any) -> str:
    """``; did you mean ...?`` for an unknown key or word; of keys that none comes close to, all."""
    if error.validator == "additionalProperties" and isinstance(error.instance, dict):
        known = list(error.schema.get("properties", {}))
        wrong = [key for key in error.instance if key not in known]
    elif error.validator == "enum":
        known, wrong = list(map(str, error.validator_value)), [str(error.instance)]
    else:
        return ""
    near = difflib.get_close_matches(wrong[0], known, n=2) if wrong else []
    if near or error.validator == "enum":
        return f"; did you mean {' or '.join(near)}?" if near else ""
    return f"; known: {', '.join(known)}" if known else ""
