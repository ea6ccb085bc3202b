"""The configuration of a run: its files read strictly, what they make together held against the schema."""

import difflib
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from reproduction.data.registry import LOCAL, UserFile, users_file
from reproduction.frame.artifacts import merge
from reproduction.frame.schemas import check
from reproduction.strict_yaml import ArtifactError, read

SCHEMA = "config.schema.yaml"


def examine(config: dict[str, Any], files: Iterable[Path], schemas: Path) -> None:
    """Nothing if every file, laid over those before it, is a configuration, and so is ``config``.

    config : what a run has in the end, options of the command line included.

    Raises
    ------
    ArtifactError : one line with the file (or --config), the key, what is wrong, and what is possible.
    """
    merged: dict[str, Any] = {}
    for file in files:
        merged = merge(merged, read(file))
        check(merged, schemas, SCHEMA, str(file))
    check(config, schemas, SCHEMA, "--config")


def examine_files(local: Mapping[str, UserFile]) -> None:
    """Nothing if every file of `data.local` is there.

    Raises
    ------
    ArtifactError : one is not; with its path in full.
    """
    for name, spec in local.items():
        if not (file := users_file(spec)).is_file():
            raise ArtifactError(f"data.local: {name}: there is no file {file.absolute()}")


def examine_local(local: Mapping[str, Any], entries: Mapping[str, Any], folder: Path) -> None:
    """Nothing if every id of `data.local` is a set of the registry, or a table that some artifact names.

    folder : of the experiments; every artifact is looked at, also those of papers that are not listed.

    Raises
    ------
    ArtifactError : an id that would be ignored, with the nearest ones.
    """
    unknown = [name for name in local if name not in entries]
    if not unknown:
        return
    texts = [file.read_text(encoding="utf-8", errors="replace") for file in sorted(folder.glob("*/*.yaml"))]
    named = {name for text in texts for name in re.findall(rf"([a-z0-9][a-z0-9_-]*)\.{LOCAL}\b", text)}
    for name in unknown:
        if name not in named:
            near = difflib.get_close_matches(name, [*entries, *named], n=3)
            hint = f"; did you mean {' or '.join(near)}?" if near else ""
            raise ArtifactError(
                f"data.local: {name}: no data set of the registry has this id and no artifact below {folder} "
                f"names {name}.{LOCAL}{hint}"
            )
