"""The configuration of a run, and what pages and editors are told of the keys of all files in ``config/``."""

import inspect
import json
import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import fields
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, Field, NonNegativeInt, PositiveInt, field_validator, model_validator

from noisylabels.noise import flip_models
from reproduction import protocols, results
from reproduction.artifact import Artifact, merge
from reproduction.data.prepare import find_loader
from reproduction.data.registry import LOCAL, Entry, UserFile, loaders, users_file
from reproduction.protocols import walk
from reproduction.protocols.settings import Distinct, check_keywords
from reproduction.protocols.walk import Protocol
from reproduction.strict_yaml import ArtifactError, Content, Model, check, near, read


class LocalTable(Model):
    """A table of the user's, with more to say than where it lies."""

    file: str = Field(description="CSV or `.npz`")
    label: str | None = Field(default=None, description="column of the labels; default: y")
    positive: str | float | bool | None = Field(
        default=None, description="the class that becomes +1; default: the larger of two numbers"
    )
    columns: Distinct[str] | None = Field(
        default=None, description="columns to learn from; default: all others"
    )
    gaps: Literal["fill"] | None = Field(
        default=None, description="put the median or the most frequent word where a value is missing"
    )


class Data(Model):
    """Where data come from."""

    mirror: str = Field(
        description="folder or URL with copies of the data files, or the environment variable "
        "`NOISYLABELS_MIRROR`"
    )
    source: Literal["", "official", "mirror", "packaged"] = Field(
        description="take one kind of source only: `official`, `mirror`, `packaged` (from a package, else"
        " generated); empty: the registry's order. An artifact with a data set that has no "
        "such source is left out, and the end of the run says so"
    )
    offline: bool = Field(description="never touch the network")
    local: dict[Annotated[str, Field(pattern="^[a-z0-9][a-z0-9_-]*$")], str | LocalTable] = Field(
        description="your own file in the place of a data set, `{speech: talk.wav}`, or a table under a "
        "new id, `{beans: {file: ~/mine/beans.csv, label: kind, positive: bombay}}`: "
        "[docs/extending.md](../docs/extending.md#your-own-table). `file` is CSV or `.npz`; "
        "`label`, the column with the labels, is `y` by default; `positive` is the class that"
        " becomes +1, by default the larger of two numbers; `columns` lists what to learn "
        "from, by default all other columns; with `gaps: fill` values may be missing"
    )

    @field_validator("mirror")
    @classmethod
    def _reachable(cls, mirror: str) -> str:
        address = mirror.startswith(("http://", "https://", "file://"))
        if mirror and not address and not Path(mirror).expanduser().is_dir():
            raise ValueError(f"{mirror!r} is neither a folder that exists nor an address with https://")
        return mirror


class Only(Model):
    """What to keep of every artifact."""

    datasets: Distinct[str] | None = None
    repetitions: PositiveInt | None = None


class Config(Model):
    """The file ``config/config.yaml``."""

    scale: Literal["full", "quick", "smoke"] = Field(
        description="`full` (the papers' protocols), `quick` (minutes), `smoke` (seconds). Results of the"
        " scales never overwrite each other"
    )
    papers: Distinct[str] = Field(description="folders of `experiments/` to run")
    project: str = Field(
        default="",
        description="a folder of your own: every folder in it with a `TITLE` is a paper, and its modules can "
        "be named in artifacts ([extending.md](../docs/extending.md))",
    )
    seed: NonNegativeInt = Field(description="root of every random number")
    seeds: list[NonNegativeInt] = Field(
        default=[],
        description="further roots, `[1, 2, 3]`: every experiment is repeated with each of them, in the "
        "same run. `results/<scale>/<paper>/<artifact>/seeds.csv` has the mean and the spread"
        " over the seeds of everything measured, `seeds_verdicts.csv` how many seeds come to "
        "the same verdict; both are on the artifact's page. What is drawn and judged is still"
        " the run with `seed`",
    )
    only: Only | None = Field(
        default=None,
        description="a part of the full scale, `{datasets: [ida_heart], repetitions: 8}`: artifacts without "
        "these data sets are left out. It is judged for what it is, and kept in `results/part`, apart from "
        "the whole; claims that need more are not judged",
    )
    data: Data
    formats: Distinct[Literal["png", "pdf", "svg"]] = Field(
        description="file formats of figures; `png` must be one of them"
    )

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        if len(set(self.seeds)) < len(self.seeds):
            raise ValueError("seeds: a seed is listed twice; keep one")
        if "png" not in self.formats:
            raise ValueError("formats: png must be one of them, the pages show it; pdf and svg may be")
        if self.only and self.scale != "full":
            raise ValueError(f"only: is a part of the full scale, not of {self.scale}; drop one of them")
        return self


def examine(config: Mapping[str, Any], files: Iterable[Path]) -> None:
    """Nothing if every file, laid over those before it, is a configuration, and so is ``config``.

    config : what a run has in the end, options of the command line included.
    Raises ArtifactError: one line with the file (or --config), the key, what is wrong, and what is possible.
    """
    merged: Content = {}
    for file in files:
        check(Config, merged := merge(merged, read(file)), file)
    check(Config, config, "--config")


def examine_local(local: Mapping[str, UserFile], entries: Collection[str], *folders: Path) -> None:
    """Nothing if the ids of `data.local` are of the registry or of an artifact, and their files are there.

    folders : of experiments; every artifact is looked at, also those of papers that are not listed.
    Raises ArtifactError: an id that would be ignored, with near ones; a file that does not exist, in full.
    """
    known = set(entries)
    for artifact in (file for folder in folders for file in sorted(folder.glob("*/*.yaml"))):
        text = artifact.read_text(encoding="utf-8", errors="replace")
        known |= {*re.findall(rf"([a-z0-9][a-z0-9_-]*)\.{LOCAL}\b", text)}
    for name, spec in local.items():
        file = users_file(spec).absolute()
        if name not in known:
            why = f"no data set of the registry has this id and no artifact below {folders[0]} names"
            why += f" {name}.{LOCAL}{near(name, sorted(known), 3)}"
        elif not file.exists():
            why = f"there is no file {file}"
        elif not file.is_file() or file.resolve().parts[1] in ("proc", "sys"):
            why = f"{file} is not a regular file; copy what is to be read into a file of its own"
        else:
            continue
        raise ArtifactError(f"data.local: {name}: {why}")


def examine_loaders(dataset: str, entry: Entry) -> None:
    """Import the loaders of a data set of one's own.

    Raises ArtifactError: one cannot be used, or has no such options.
    """
    try:
        for loader in loaders(entry):
            check_keywords(find_loader(loader), entry.options)
    except ValueError as error:
        raise ArtifactError(f"{entry.file}: datasets.{dataset.partition('.')[0]}: {error}") from None


# The keys, from the models that check them

BLOCK = re.compile(r"(<!-- keys of (\S+) -->\n).*?(<!-- end -->)", re.DOTALL)  # what `filled` writes
BOUNDS = {"exclusiveMinimum": ">", "minimum": ">=", "exclusiveMaximum": "<", "maximum": "<="}
TYPES = {"string": "text", "boolean": "true or false", "integer": "whole number", "number": "number"}


def every_protocol() -> dict[str, Protocol]:
    """Name -> protocol, of all modules."""
    modules = (
        import_module(f"{protocols.__name__}.{each.name}") for each in iter_modules(protocols.__path__)
    )
    members = (member for module in modules for member in vars(module).values())
    return {each.protocol.name: each.protocol for each in members if hasattr(each, "protocol")}


def models() -> dict[str, type[BaseModel]]:
    """Name -> model: ``config``, ``artifact``, and ``settings.<protocol>``."""
    settings = {f"settings.{name}": protocol.settings for name, protocol in every_protocol().items()}
    return {"config": Config, "artifact": Artifact, **settings}


def write_schemas(folder: Path) -> None:
    """Write the JSON Schema of every model, ``<name>.schema.json``; editors check YAML files against them."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, model in models().items():
        text = json.dumps(model.model_json_schema(), indent=1)
        (folder / f"{name}.schema.json").write_text(text + "\n", encoding="utf-8")


def settings_page() -> str:
    """The page ``config/settings.md``: the keys of the settings of every protocol."""
    head = "# Settings of the protocols\n\nWritten by `python src/scripts/generate.py` from the models.\n"
    parts = (f"\n## {p.name}\n\n{_summary(p.run)}\n\n{table(p.settings)}" for p in every_protocol().values())
    return head + "".join(parts)


def vocabulary_page() -> str:
    """The page ``config/vocabulary.md``, from the code: kinds of noise, fields of data, columns of rows."""
    from reproduction.data.prepared import Dataset

    noise = {
        " ".join([name, *flip_models.numbers(name)]): _summary(each)
        for name, each in flip_models.MODELS.items()
    }
    page = "# Words of settings and results\n\nWritten by `python src/scripts/generate.py` from the code.\n"
    page += f"\n## Kinds of noise\n\n{_meanings('label', noise)}"
    for title, model in (("`split`", walk.Split), ("`dataset`, whole", Dataset)):
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
