"""JSON Schemas and tables of keys of everything in ``config/``, from the models that check it."""

import json
import re
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from typing import Any

from pydantic import BaseModel

from reproduction import protocols
from reproduction.artifact import Artifact
from reproduction.configuration import Config
from reproduction.protocols.walk import Protocol

BLOCK = re.compile(r"(<!-- keys of (\S+) -->\n).*?(<!-- end -->)", re.DOTALL)
"""Part of a page that `filled` writes."""

BOUNDS = {"exclusiveMinimum": ">", "minimum": ">=", "exclusiveMaximum": "<", "maximum": "<="}
TYPES = {"string": "text", "boolean": "true or false", "integer": "whole number", "number": "number"}


def every_protocol() -> dict[str, Protocol]:
    """Name -> protocol, of all modules."""
    modules = [
        import_module(f"{protocols.__name__}.{each.name}") for each in iter_modules(protocols.__path__)
    ]
    found = [
        member.protocol
        for module in modules
        for member in vars(module).values()
        if hasattr(member, "protocol")
    ]
    return {protocol.name: protocol for protocol in found}


def models() -> dict[str, type[BaseModel]]:
    """Name -> model: ``config``, ``artifact``, and ``settings.<protocol>``."""
    settings = {f"settings.{name}": protocol.settings for name, protocol in every_protocol().items()}
    return {"config": Config, "artifact": Artifact, **settings}


def write(folder: Path) -> None:
    """Write the JSON Schema of every model, ``<name>.schema.json``; editors check YAML files against them."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, model in models().items():
        text = json.dumps(model.model_json_schema(), indent=1)
        (folder / f"{name}.schema.json").write_text(text + "\n", encoding="utf-8")


def settings_page() -> str:
    """The page ``config/settings.md``: the keys of the settings of every protocol."""
    head = "# Settings of the protocols\n\nWritten by `python src/scripts/schemas.py` from the models.\n"
    found = every_protocol().values()
    sections = (f"\n## {each.name}\n\n{_first_line(each.run)}\n\n{table(each.settings)}" for each in found)
    return head + "".join(sections)


def _first_line(run: Any) -> str:
    return (run.__doc__ or "").partition("\n\n")[0].replace("\n", " ").replace("    ", "").strip()


def filled(page: str) -> str:
    """The page with the table of keys of a model in each of its blocks ``<!-- keys of <name> -->``."""
    known = models()
    return BLOCK.sub(lambda found: f"{found[1]}{table(known[found[2]])}{found[3]}", page)


def table(model: type[BaseModel]) -> str:
    """Markdown: a line for each key, what it takes, and what it means; ``*`` marks keys that are required."""
    rows = [("key", "value", "meaning"), ("---",) * 3, *_rows(model)]
    return "".join(f"| {' | '.join(row)} |\n" for row in rows)


def _rows(model: type[BaseModel], above: str = "") -> Iterator[tuple[str, str, str]]:
    schema = model.model_json_schema()
    for name, field in model.model_fields.items():
        key, kind = field.alias or name, field.annotation
        if field.is_required() and isinstance(kind, type) and issubclass(kind, BaseModel):
            yield from _rows(kind, f"{above}{key}.")
        else:
            value = _value(schema["properties"][key], schema.get("$defs", {})).replace("|", "\\|")
            star = "*" if field.is_required() else ""
            yield f"`{above}{key}`{star}", value, (field.description or "").replace("|", "\\|")


def _value(shape: Any, models: dict[str, Any]) -> str:
    """What a JSON Schema takes, in words: ``list of number > 0``."""
    if not isinstance(shape, dict):
        return "any"
    if "$ref" in shape:
        return _value(models[shape["$ref"].rpartition("/")[2]], models)
    alternatives = shape.get("anyOf") or shape.get("oneOf") or []
    if parts := [part for part in alternatives if part != {"type": "null"}]:
        return " or ".join(dict.fromkeys(_value(part, models) for part in parts))
    if words := shape.get("enum") or [word for word in [shape.get("const")] if word is not None]:
        return ", ".join(
            f"`{word}`" if isinstance(word, str) and word else json.dumps(word) for word in words
        )
    if shape.get("type") == "array":
        return f"list of {_value(shape.get('items'), models)}"
    if shape.get("type") == "object":
        keys = ", ".join(f"`{key}`" for key in shape.get("properties", {}))
        entries = [*shape.get("patternProperties", {}).values(), shape.get("additionalProperties")]
        return f"{{{keys}}}" if keys else f"name: {_value(entries[0], models)}"
    limits = [f"{sign} {shape[key]:g}" for key, sign in BOUNDS.items() if key in shape]
    return f"{TYPES.get(shape.get('type', ''), 'any')} {' and '.join(limits)}".strip()
