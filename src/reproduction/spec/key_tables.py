"""Tables of keys and words for pages and editors, made from the models that check them."""

import inspect
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import fields
from importlib import import_module
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from noisylabels.noise import flip_models
from reproduction.run import results, splits
from reproduction.spec.artifact import Artifact
from reproduction.spec.configuration import Config
from reproduction.spec.papers import find_papers, list_papers
from reproduction.spec.protocol import STOCK, Protocol
from reproduction.spec.strict_yaml import Content

BLOCK = re.compile(r"(<!-- keys of (\S+) -->\n).*?(<!-- end -->)", re.DOTALL)  # what `filled` writes
BOUNDS = {"exclusiveMinimum": ">", "minimum": ">=", "exclusiveMaximum": "<", "maximum": "<="}
TYPES = {"string": "text", "boolean": "true or false", "integer": "whole number", "number": "number"}


def every_protocol() -> dict[str, Protocol]:
    """Name -> protocol, of the engine and of all papers of the repository."""
    folders = find_papers(list_papers()).values()
    files = [file for folder in folders for file in sorted(folder.glob("*.py"))]
    declaring = [file for file in files if "\n@protocol(" in file.read_text(encoding="utf-8")]
    modules = [import_module(STOCK)]
    modules += [import_module(f"{file.parent.name}.{file.stem}") for file in declaring]
    members = (member for module in modules for member in vars(module).values())
    found = [member.protocol for member in members if hasattr(member, "protocol")]
    return {protocol.name: protocol for protocol in found}


def models() -> dict[str, type[BaseModel]]:
    """Name -> model: ``config``, ``artifact``, and ``settings.<protocol>``."""
    settings = {f"settings.{name}": protocol.settings for name, protocol in every_protocol().items()}
    return {"config": Config, "artifact": Artifact, **settings}


def write_schemas(folder: Path) -> None:
    """Write the JSON Schema of every model, ``<name>.schema.json``; editors check YAML files against them."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, model in models().items():
        text = json.dumps(model.model_json_schema(), indent=1)
        (folder / f"{name.replace(':', '.')}.schema.json").write_text(text + "\n", encoding="utf-8")


def config_schema() -> str:
    """The JSON Schema of ``config/config.yaml`` and of what is laid over it: ``config/schema.json``."""
    return json.dumps(Config.model_json_schema(), indent=1) + "\n"


def settings_page() -> str:
    """The page ``docs/settings.md``: the keys of the settings of every protocol."""
    head = "# Settings of the protocols\n\nWritten by `python src/scripts/generate.py` from the models.\n"
    parts = (f"\n## {p.name}\n\n{_summary(p.run)}\n\n{table(p.settings)}" for p in every_protocol().values())
    return head + "".join(parts)


def vocabulary_page() -> str:
    """The page ``docs/vocabulary.md``, from the code: kinds of noise, fields of data, columns of rows."""
    from reproduction.data.prepared import Dataset

    noise = {
        " ".join([name, *flip_models.numbers(name)]): _summary(each)
        for name, each in flip_models.MODELS.items()
    }
    page = "# Words of settings and results\n\nWritten by `python src/scripts/generate.py` from the code.\n"
    page += f"\n## Kinds of noise\n\n{_meanings('label', noise)}"
    for title, model in (("`split`", splits.Split), ("`dataset`, whole", Dataset)):
        about = (inspect.getdoc(model) or "").replace("``", "`")
        names = ", ".join(f"`{each.name}`" for each in fields(model))
        page += f"\n## A data set as a protocol sees it: {title}\n\n{about}\n\nFields: {names}.\n"
    return f"{page}\n## A row of a result table\n\n{_meanings('column', results.MEANINGS)}"


def _summary(found: object) -> str:
    return " ".join((inspect.getdoc(found) or "").partition("\n\n")[0].split())


def _meanings(head: str, words: Mapping[str, str]) -> str:
    """Markdown: a line for each word and what it means."""
    rows = [(head, "meaning"), ("---",) * 2, *((f"`{key}`", said) for key, said in words.items())]
    return "".join(f"| {key} | {said.replace('|', chr(92) + '|')} |\n" for key, said in rows)


def filled(page: str) -> str:
    """The page with the table of keys of a model in each of its blocks ``<!-- keys of <name> -->``."""
    return BLOCK.sub(lambda found: f"{found[1]}{table(models()[found[2]])}{found[3]}", page)


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


def _value(shape: Any, models: Content) -> str:
    """What a JSON Schema takes, in words: ``list of number > 0``."""
    if not isinstance(shape, dict):
        return "any"
    if "$ref" in shape:
        return _value(models[shape["$ref"].rpartition("/")[2]], models)
    alternatives = shape.get("anyOf") or shape.get("oneOf") or []
    if parts := [part for part in alternatives if part != {"type": "null"}]:
        return " or ".join(dict.fromkeys(_value(part, models) for part in parts))
    if words := shape.get("enum", [shape["const"]] if "const" in shape else []):
        return ", ".join(f"`{w}`" if isinstance(w, str) and w else json.dumps(w) for w in words)
    if shape.get("type") == "array":
        return f"list of {_value(shape.get('items'), models)}"
    if shape.get("type") == "object":
        keys = ", ".join(f"`{key}`" for key in shape.get("properties", {}))
        entries = [*shape.get("patternProperties", {}).values(), shape.get("additionalProperties")]
        return f"{{{keys}}}" if keys else f"name: {_value(entries[0], models)}"
    limits = [f"{sign} {shape[key]:g}" for key, sign in BOUNDS.items() if key in shape]
    return f"{TYPES.get(shape.get('type', ''), 'any')} {' and '.join(limits)}".strip()
