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

from reproduction.run import results, splits
from reproduction.spec import noise_kinds
from reproduction.spec.artifact import Artifact
from reproduction.spec.configuration import Config
from reproduction.spec.papers import find_papers, list_papers
from reproduction.spec.protocol import STOCK, Protocol
from reproduction.spec.strict_yaml import Content

BLOCK = re.compile(r"(<!-- keys of (\S+) -->\n).*?(<!-- end -->)", re.DOTALL)
"""Pattern of a place in a page that `fill_blocks` writes."""
BOUNDS = {"exclusiveMinimum": ">", "minimum": ">=", "exclusiveMaximum": "<", "maximum": "<="}
TYPES = {
    "string": "text",
    "boolean": "true or false",
    "integer": "whole number",
    "number": "number",
}


def list_protocols() -> dict[str, Protocol]:
    """List the protocols of the engine and of all papers of the repository, by their names."""
    modules = [import_module(STOCK)]
    for folder in find_papers(list_papers()).values():
        for file in sorted(folder.glob("*.py")):
            if "\n@protocol(" in file.read_text(encoding="utf-8"):
                modules.append(import_module(f"{folder.name}.{file.stem}"))
    protocols = {}
    for module in modules:
        for member in vars(module).values():
            if hasattr(member, "protocol"):
                protocols[member.protocol.name] = member.protocol
    return protocols


def list_models() -> dict[str, type[BaseModel]]:
    """List the models by their names: ``config``, ``artifact``, and ``settings.<protocol>``."""
    models: dict[str, type[BaseModel]] = {"config": Config, "artifact": Artifact}
    for name, protocol in list_protocols().items():
        models[f"settings.{name}"] = protocol.settings
    return models


def write_schemas(folder: Path) -> None:
    """Write the JSON Schema of every model, ``<name>.schema.json``, for editors of YAML files."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, model in list_models().items():
        text = json.dumps(model.model_json_schema(), indent=1)
        (folder / f"{name.replace(':', '.')}.schema.json").write_text(text + "\n", encoding="utf-8")


def format_config_schema() -> str:
    """Format ``config/schema.json``, the schema of ``config.yaml`` and of files laid over it."""
    return json.dumps(Config.model_json_schema(), indent=1) + "\n"


def format_settings() -> str:
    """Format the keys of the settings of every protocol, for the page ``docs/settings.md``."""
    return "".join(format_protocol(protocol) for protocol in list_protocols().values())


def format_protocol(protocol: Protocol) -> str:
    """Format the keys of the settings of a protocol, with what it measures."""
    keys = format_key_table(protocol.settings)
    return f"\n## {protocol.name}\n\n{_summarise(protocol.run)}\n\n{keys}"


def format_vocabulary() -> str:
    """Format kinds of noise, fields of data and columns of rows, for ``docs/settings.md``."""
    from reproduction.data.prepared import Dataset

    noise = {}
    for name, kind in noise_kinds.KINDS.items():
        label = " ".join([name, *kind.numbers])
        noise[label] = f"{kind.meaning} For {', '.join(kind.sources)}."
    page = f"\n## Kinds of noise\n\n{_format_meanings('label', noise)}"
    for title, data in (("`split`", splits.Split), ("`dataset`, whole", Dataset)):
        text = (inspect.getdoc(data) or "").replace("``", "`")
        names = ", ".join(f"`{field.name}`" for field in fields(data))
        page += f"\n## A data set as a protocol sees it: {title}\n\n{text}\n\nFields: {names}.\n"
    return f"{page}\n## A row of a result table\n\n{_format_meanings('column', results.MEANINGS)}"


def _summarise(documented: object) -> str:
    return " ".join((inspect.getdoc(documented) or "").partition("\n\n")[0].split())


def _format_meanings(head: str, meanings: Mapping[str, str]) -> str:
    """Format a line of Markdown for each word and what it means."""
    lines = [f"| {head} | meaning |\n", "| --- | --- |\n"]
    for word, meaning in meanings.items():
        escaped = meaning.replace("|", "\\|")
        lines.append(f"| `{word}` | {escaped} |\n")
    return "".join(lines)


def fill_blocks(page: str) -> str:
    """Write the keys of a model into each block ``<!-- keys of <name> -->`` of a page."""

    def fill_block(block: re.Match[str]) -> str:
        return f"{block[1]}{format_key_table(list_models()[block[2]])}{block[3]}"

    return BLOCK.sub(fill_block, page)


def format_key_table(model: type[BaseModel]) -> str:
    """Format the keys of a model as a table of Markdown; ``*`` marks those that are required."""
    rows = [("key", "value", "meaning"), ("---",) * 3, *_rows(model)]
    return "".join(f"| {' | '.join(row)} |\n" for row in rows)


def _rows(model: type[BaseModel], prefix: str = "") -> Iterator[tuple[str, str, str]]:
    schema = model.model_json_schema()
    for name, field in model.model_fields.items():
        key = field.alias or name
        kind = field.annotation
        if field.is_required() and isinstance(kind, type) and issubclass(kind, BaseModel):
            yield from _rows(kind, f"{prefix}{key}.")
        else:
            value = _describe(schema["properties"][key], schema.get("$defs", {}))
            star = "*" if field.is_required() else ""
            meaning = field.description or ""
            yield f"`{prefix}{key}`{star}", value.replace("|", "\\|"), meaning.replace("|", "\\|")


def _describe(shape: Any, models: Content) -> str:
    """Write what a JSON Schema accepts, such as ``list of number > 0``."""
    if not isinstance(shape, dict):
        return "any"
    if "$ref" in shape:
        return _describe(models[shape["$ref"].rpartition("/")[2]], models)
    alternatives = shape.get("anyOf") or shape.get("oneOf") or []
    parts = [_describe(part, models) for part in alternatives if part != {"type": "null"}]
    if parts:
        return " or ".join(dict.fromkeys(parts))
    if "const" in shape:
        return _quote(shape["const"])
    if "enum" in shape:
        return ", ".join(map(_quote, shape["enum"]))
    kind = shape.get("type", "")
    if kind == "array":
        return f"list of {_describe(shape.get('items'), models)}"
    if kind == "object":
        keys = ", ".join(f"`{key}`" for key in shape.get("properties", {}))
        entries = [*shape.get("patternProperties", {}).values(), shape.get("additionalProperties")]
        return f"{{{keys}}}" if keys else f"name: {_describe(entries[0], models)}"
    limits = [f"{sign} {shape[key]:g}" for key, sign in BOUNDS.items() if key in shape]
    return f"{TYPES.get(kind, 'any')} {' and '.join(limits)}".strip()


def _quote(word: object) -> str:
    return f"`{word}`" if isinstance(word, str) and word else json.dumps(word)
