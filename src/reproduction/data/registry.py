"""The registry of data sets (config/datasets.yaml): read, checked, and asked for the sources of a set."""

import difflib
import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from reproduction.strict_yaml import read

REGISTRY = Path(__file__).resolve().parents[3] / "config/datasets.yaml"

STAND_IN, OR_STAND_IN = "stand_in", "or_stand_in"
"""`id.stand_in` is the stand-in itself, `id.or_stand_in` allows it where no source can be reached."""

PACKAGED = "packaged"
"""`id.packaged` is what every machine with a package index gets: from a package, or generated."""

LOCAL = "local"
"""`id.local` is a file of the user's own; the registry need not have the id."""

KINDS = ("official", "mirror", "package", "generated")
"""Names of sources; a pin may also be `PACKAGED` or a variant of the set, each before `OR_STAND_IN`."""

MOVING = re.compile(r"/(HEAD|master|main)/")
"""Part of an address whose content is whatever a branch holds that day."""

UNSEEN = "unseen"
"""In place of the digest of a variant that nobody has opened yet."""

Entry = dict[str, Any]

OWN: Entry = {"title": "a table of your own", "task": "binary", "loader": "table:table", "sources": []}
"""What is known of `id.local` if the registry does not have the id."""


@dataclass(frozen=True)
class RawFile:
    """One file of a source: how it is recognised, and the one place to have it from.

    Exactly one of ``url``, ``path`` (below the user's mirror) and ``package`` (pinned distribution) is set.
    ``sha256`` holds the accepted hashes of the file itself; it is empty if none is known yet. Then
    ``git_blob`` may be known, the name of its content in Git. ``largest`` caps a file of unknown length.
    """

    name: str
    sha256: tuple[str, ...] = ()
    bytes: int | None = None
    url: str | None = None
    path: str | None = None
    package: dict[str, Any] | None = None
    member: str | None = None
    unpack: str | None = None
    git_blob: str | None = None
    largest: int | None = None


@dataclass(frozen=True)
class Source:
    """Where a data set can be had from, and how its files become arrays. No files: it is generated."""

    name: str
    variant: str
    loader: str
    shape: dict[str, Any]
    files: tuple[RawFile, ...]


def load_registry(path: Path, schema: Path | None = None) -> dict[str, Entry]:
    """Data set id -> entry, as in the file, with each file's ``package`` replaced
    by what is pinned under that name.

    ``schema`` is by default the one of the checkout that the registry lies in.

    Raises
    ------
    ValueError : a key that is unknown, missing, given twice or of the wrong kind,
    or a package that is not pinned.
    """
    path = Path(path)
    schema = schema or path.resolve().parents[1] / "workflow" / "schemas" / "datasets.schema.yaml"
    content = read(path, keys=str | int)
    _validate(content, read(schema), path)
    for dataset, entry in content["datasets"].items():
        entry["sources"] = [  # new ones: aliases in the file share theirs
            source | {"files": [_pinned(file, content["packages"], f"{path}: {dataset}") for file in files]}
            if (files := source.get("files"))
            else source
            for source in entry["sources"]
        ]
    entries: dict[str, Entry] = content["datasets"]
    return entries


@cache
def groups() -> dict[str, list[str]]:
    """Name -> ids of the data sets that artifacts may name together, from ``config/datasets.yaml``."""
    found: dict[str, list[str]] = read(REGISTRY, keys=str | int).get("groups", {})
    return found


def _pinned(file: dict[str, Any], packages: dict[str, Any], where: str) -> dict[str, Any]:
    """A file of the registry with what is pinned under the name of its package."""
    if MOVING.search(file.get("url", "")) and not {"sha256", "git_blob"} & file.keys():
        raise ValueError(
            f"{where}: {file['url']} may change its content any day; "
            "it needs a sha256 or git_blob, or a commit in the address"
        )
    if "package" not in file:
        return file
    if file["package"] not in packages:
        known = ", ".join(sorted(packages))
        raise ValueError(f"{where}: package {file['package']!r} is not pinned; known: {known}")
    return file | {"package": packages[file["package"]]}


def find(entries: dict[str, Entry], dataset: str) -> tuple[str, str, Entry]:
    """``"german.package"`` -> ("german", "package", its entry); the second is "" if nothing is pinned.

    ``"mine.local"`` has the entry `OWN`, unless the registry has an id ``mine``.

    Raises
    ------
    ValueError : a data set that is not in the registry; the message has the nearest names.
    """
    name, _, pin = dataset.partition(".")
    if name not in entries and pin == LOCAL:
        return name, pin, OWN
    if name not in entries:
        near = difflib.get_close_matches(name, entries, n=3)
        hint = f"; did you mean {' or '.join(near)}?" if near else ""
        raise ValueError(
            f"data set {name!r} is not in the registry{hint} (a table of your own would be '{name}.{LOCAL}')"
        )
    return name, pin, entries[name]


def with_source(dataset: str, source: str) -> str:
    """``dataset`` pinned to ``source``, unless it has a pin of its own; an allowed stand-in stays allowed:
    ``("ijcnn1.or_stand_in", "packaged")`` -> "ijcnn1.packaged.or_stand_in".
    """
    name, _, pin = dataset.partition(".")
    if not source or pin not in ("", OR_STAND_IN):
        return dataset
    return ".".join(filter(None, (name, source, pin)))


def sources(dataset: str, entry: Entry, pin: str = "") -> list[Source]:
    """The sources to try, in order: all of them, or those that ``pin`` names; last an allowed stand-in.

    A pin is a kind of source, a variant, "packaged", or "stand_in"; "or_stand_in" may stand alone or, after a
    dot, behind any of the others. "packaged" is one kind only (packages, else generated, else an allowed
    stand-in), so that what it gives does not depend on the machine.

    Raises
    ------
    ValueError : nothing of that name; the message lists what there is.
    """
    if pin == LOCAL:
        raise ValueError(
            f"{dataset}.{LOCAL} is a file of your own, and the configuration does not say which: "
            f"data: {{local: {{{dataset}: FILE}}}}"
        )
    found = [_source(entry, spec) for spec in entry["sources"]]
    variants = {source.variant for source in found}
    stand_in = [
        Source("stand-in", "stand-in", spec["loader"], spec.get("shape", {}), ())
        for spec in ([entry["stand_in"]] if "stand_in" in entry else [])
    ]
    allowed = stand_in if pin.endswith(OR_STAND_IN) else []
    wanted = pin.removesuffix(OR_STAND_IN).removesuffix(".") if allowed else pin
    chosen: list[Source] = []
    if wanted == STAND_IN:
        chosen = stand_in
    elif wanted == PACKAGED:
        kinds = [[source for source in found if source.name == kind] for kind in ("package", "generated")]
        chosen = next(filter(None, [*kinds, allowed]), [])
    elif wanted in ("", *KINDS, *variants):
        chosen = [source for source in found if wanted in ("", source.name, source.variant)] + allowed
    if not chosen:
        known = sorted({source.name for source in found} | variants)
        known += [PACKAGED] if {"package", "generated"} & set(known) else []
        known += [STAND_IN, OR_STAND_IN] if stand_in else []
        raise ValueError(f"{dataset} has no source or variant {pin!r}; it has: {', '.join(known)}")
    return chosen


def loaders(entry: Entry) -> list[str]:
    """Every ``module:function`` that may read this data set."""
    specs = [entry, *entry["sources"], entry.get("local", {}), entry.get("stand_in", {})]
    return sorted({spec["loader"] for spec in specs if "loader" in spec})


def _source(entry: Entry, spec: dict[str, Any]) -> Source:
    files = [file | {"sha256": tuple(file.get("sha256", ()))} for file in spec.get("files", [])]
    return Source(
        name=spec["name"],
        variant=spec.get("variant", "canonical"),
        loader=spec["loader"] if "loader" in spec else entry["loader"],
        shape=spec["shape"] if "shape" in spec else entry.get("shape", {}),
        files=tuple(RawFile(**file) for file in files),
    )


def _validate(content: Any, schema: Any, path: Path) -> None:
    from jsonschema import Draft202012Validator

    error = next(iter(Draft202012Validator(schema).iter_errors(content)), None)
    if error is not None:
        where = ".".join(str(part) for part in error.absolute_path) or "top level"
        what = error.message
        if error.validator == "oneOf":
            what = "a file needs exactly one of `url`, `path`, or `package` with `member`"
        raise ValueError(f"{path}: {where}: {what[:300]}")
