"""A file of your own in the place of a data set or under a new id: `data.local` of the configuration."""

import json
import os
from pathlib import Path
from typing import Any

from reproduction.data.registry import OWN, Entry

LOADERS = {"binary": "table:table", "audio": "audio:recording", "impulse_response": "audio:room_response"}
"""Task of a data set -> what reads a file of your own in its place."""

SUFFIXES = (".csv", ".tsv", ".npz")
"""Files that are read as tables."""

Spec = str | dict[str, Any]
"""A file, or a table with more to say: ``{file, label, positive, columns}``."""


def own_file(spec: Spec) -> Path:
    """The file of an entry of `data.local`; ``~`` is the home folder."""
    return Path(os.path.expanduser(spec if isinstance(spec, str) else spec["file"]))


def own_options(spec: Spec) -> dict[str, Any]:
    """What an entry of `data.local` says about its table: ``label``, ``positive``, ``columns``."""
    return {} if isinstance(spec, str) else {key: value for key, value in spec.items() if key != "file"}


def own_loader(dataset: str, registry: dict[str, Entry], spec: Spec) -> str:
    """``module:function`` that reads a file of your own as ``dataset``; an unknown id is a table.

    Raises
    ------
    ValueError : a data set that no single file can replace, options for a file that is no table,
    or a file that is no table where one is expected.
    """
    entry = registry.get(dataset, OWN)
    loader = LOADERS.get(entry["task"], "")
    if not loader:
        raise ValueError(
            f"data.local: no file can take the place of {dataset} (task {entry['task']}); "
            "give your table an id of its own, such as `mine`"
        )
    file, options = own_file(spec), own_options(spec)
    if loader != OWN["loader"]:
        if options:
            raise ValueError(f"data.local: {dataset} is no table, so {', '.join(options)} mean nothing")
    elif file.suffix.lower() not in SUFFIXES:
        unknown = "" if dataset in registry else f" ({dataset} is not in the registry)"
        raise ValueError(f"data.local: {dataset}: {file} is no table ({', '.join(SUFFIXES)}){unknown}")
    return loader


def with_own(registry: dict[str, Entry], local: dict[str, Spec]) -> dict[str, Entry]:
    """The registry in which every id of `data.local` has an entry and a loader for the file of your own.

    Raises
    ------
    ValueError : see `own_loader`.
    """
    loaders = {dataset: own_loader(dataset, registry, spec) for dataset, spec in local.items()}
    own = {name: registry.get(name, OWN) | {"local": {"loader": loader}} for name, loader in loaders.items()}
    return registry | own


def as_option(spec: Spec) -> str:
    """An entry of `data.local` as the option ``--local`` of ``fetch.py`` has it: a file, or JSON."""
    return spec if isinstance(spec, str) else json.dumps(spec)
