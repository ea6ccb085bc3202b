"""``source.json`` beside the raw files: source, variant, loader and hashes, with a digest of its own."""

import hashlib
import json
from pathlib import Path
from typing import Any

from reproduction.data.storage import DataError, write_atomically

RECORD = "source.json"
"""All that preparing needs to know."""

SEAL = "record_sha256"
"""Key of the digest of all the others: a record that was edited or damaged is no record."""

VERSION = 2
"""Of the form of a record. What has an older one is fetched again, from the files that are there."""

Record = dict[str, Any]


def write(folder: Path, content: Record) -> None:
    """Put the sealed record of the files in ``folder`` beside them; StorageError if the disk refuses."""
    write_atomically(folder / RECORD, json.dumps(content | {SEAL: _seal(content)}, indent=1) + "\n")


def read(folder: Path) -> Record:
    """The record of the files in ``folder``.

    Raises
    ------
    FileNotFoundError : there is none; fetch first.
    DataError : it is not as it was written.
    """
    path = folder / RECORD
    if not path.is_file():
        raise FileNotFoundError(f"{path} is missing; fetch the data set first")
    try:
        record = json.loads(path.read_bytes())
        sealed = record.pop(SEAL) == _seal(record)
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        sealed = False
    if not sealed:
        raise DataError(f"{path} is damaged, edited, or of an older version; remove {folder} and fetch again")
    content: Record = record
    return content


def _seal(content: Record) -> str:
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()
