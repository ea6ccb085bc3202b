"""Raw files of data sets: those that are there, or those of the first source that has them."""

import hashlib
import json
import os
import shutil
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

from reproduction.data import registry as known
from reproduction.data import transport
from reproduction.data.errors import DataError
from reproduction.data.registry import (
    PROJECT,
    UNSEEN,
    Entry,
    RawFile,
    Registry,
    Source,
    UserFile,
    sha256_of,
)
from reproduction.data.transport import Network, locked, storage_errors, write_atomically
from reproduction.run.atomic_files import replacing

RECORD = "source.json"
"""File next to the raw files with their source, loader and hashes, and a seal."""
SEAL = "record_sha256"
"""Key of the digest of all other keys: an edited or damaged record is refused."""
VERSION = 3
"""Version of the form of a record; files with an older record are recorded again."""
ORIGIN = ".origin"
"""File with the name of the source. It is not an output of a rule, so that it outlives a re-run."""

Record = dict[str, Any]


class FetchError(Exception):
    """No source has the data set."""


def fetch(dataset: str, registry: Registry, out: Path, network: Network | None = None) -> Record:
    """Fetch the raw files of a data set.

    A file that is there with the right hash is never fetched again. Sources are tried in the
    order of the registry. Archives are kept in ``.cache`` next to the folder.

    Parameters
    ----------
    dataset : str
        Name of the data set; it may pin a source.
    registry : dict
        The registry.
    out : Path
        Folder of the files.
    network : Network, optional
        Mirror, time-outs and hosts that did not answer.

    Returns
    -------
    dict
        The record, which is written to ``source.json``.

    Raises
    ------
    ValueError
        If there is no such data set, source or variant.
    StorageError
        If the disk is full or read-only.
    FetchError
        If no source had it; the message says for each why not, and what to do.
    """
    name, pin, entry = known.find(registry, dataset)
    chosen = known.sources(name, entry, pin)
    origin = _origin(out)
    network = network or Network()
    for source in sorted(chosen, key=lambda source: source.name != origin):
        hashes = {file.name: _hash(file, out) for file in source.files}
        if hashes and all(hashes.values()):
            return _finish(name, entry, source, hashes, out, entry.options)
    problems: list[str] = []
    unset: list[str] = []
    with storage_errors(out), locked(out.parent / f".cache/{dataset}.lock"):
        for source in chosen:
            source_network = network
            if source.name == PROJECT:
                source_network = replace(network, mirror=str(entry.file.parent))
            hashes = {}
            try:
                for file in source.files:
                    hash_of_copy = _hash(file, out)
                    hashes[file.name] = hash_of_copy or _obtain(file, source, out, source_network)
            except transport.NotConfiguredError as error:
                unset.append(f"  {source.name}: {error}")
            except transport.SourceError as error:
                problems.append(f"{source.name}: {error}")
            else:
                out.mkdir(parents=True, exist_ok=True)
                write_atomically(out / ORIGIN, source.name)
                for passed_over in problems:
                    print(f"{name}: {passed_over}", file=sys.stderr)
                return _finish(name, entry, source, hashes, out, entry.options)
    lines = [f"{name}: no source could be used", *unset, *(f"  {problem}" for problem in problems)]
    raise FetchError("\n".join(lines + _advice(name, chosen, entry, out)))


def fetch_local(dataset: str, registry: Registry, out: Path, spec: UserFile) -> Record:
    """Copy a user's file that replaces a data set, or is one with a new id.

    Parameters
    ----------
    dataset : str
        Name of the data set.
    registry : dict
        The registry.
    out : Path
        Folder of the copy.
    spec : str or dict
        Entry of `data.local`.

    Returns
    -------
    dict
        The record, which is written to ``source.json``.

    Raises
    ------
    ValueError
        If the data set cannot be replaced, or not by such a file.
    FileNotFoundError
        If there is no such file.
    StorageError
        If the disk is full or read-only.
    """
    name = dataset.partition(".")[0]
    loader = known.users_loader(name, registry, spec)
    file = known.users_file(spec)
    if not file.is_file():
        raise FileNotFoundError(f"{file} does not exist or is not a file")
    options = {} if isinstance(spec, str) else dict(spec)
    options.pop("file", None)
    target = out / file.name
    with storage_errors(target), locked(out.parent / f".cache/{dataset}.lock"):
        out.mkdir(parents=True, exist_ok=True)
        with replacing(target) as part:
            shutil.copyfile(file, part)
        source = Source(name="local", variant="local", loader=loader)
        return _finish(name, known.OWN, source, {file.name: sha256_of(target)}, out, options)


def read_record(folder: Path) -> Record:
    """Read the record of the files in a folder.

    Raises
    ------
    FileNotFoundError
        If there is none.
    DataError
        If it was changed.
    """
    path = folder / RECORD
    if not path.is_file():
        raise FileNotFoundError(f"{path} is missing; fetch the data set first")
    try:
        record: Record = json.loads(path.read_bytes())
        if record.pop(SEAL) == _seal(record):
            return record
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        pass
    remedy = f"remove {folder} and fetch again"
    raise DataError(f"{path} is damaged, edited, or of an older version; {remedy}")


def write_record(folder: Path, record: Record) -> None:
    """Write the sealed record of the files in a folder.

    Raises
    ------
    StorageError
        If the disk is full or read-only.
    """
    text = json.dumps(record | {SEAL: _seal(record)}, indent=1)
    with storage_errors(folder):
        write_atomically(folder / RECORD, text + "\n")


def _seal(record: Record) -> str:
    # keys that are numbers become texts in JSON, which sort in another order
    read = json.loads(json.dumps(record))
    return hashlib.sha256(f"{VERSION} {json.dumps(read, sort_keys=True)}".encode()).hexdigest()


def _finish(
    name: str,
    entry: Entry,
    source: Source,
    hashes: dict[str, str],
    out: Path,
    options: dict[str, Any],
) -> Record:
    expected = entry.prepared_sha256.get(source.variant, UNSEEN)
    is_unknown = source.name == "local" or not all(file.sha256 for file in source.files)
    record = {
        "id": name,
        "source": source.name,
        "variant": source.variant,
        "loader": source.loader,
        "task": entry.task,
        "shape": source.shape.model_dump(exclude_none=True) if source.shape else {},
        "prepared_sha256": "" if expected == UNSEEN else expected,
        "prepared_decimals": entry.prepared_decimals.get(source.variant),
        "files": hashes,
        # users trust the loaders of their papers, which may import more than the limits allow
        "isolated": is_unknown and not known.is_users(source.loader),
        "unverified": [file.name for file in source.files if not (file.sha256 or file.git_blob)],
    }
    if options:
        record["options"] = options
    if source.name == PROJECT:
        record["registry"] = str(entry.file)
    write_record(out, record)
    return record


def _hash(file: RawFile, out: Path) -> str:
    """Compute the SHA-256 of the file in ``out``; "" if it is not the expected one.

    Without a registered hash it is the one that was recorded with the first download.
    """
    path, accepted = out / file.name, file.sha256
    if not path.is_file():
        return ""
    recorded = path.with_name(f"{path.name}.sha256")
    if not accepted and recorded.is_file():
        accepted = recorded.read_text(encoding="utf-8")[:64]
    sha256 = sha256_of(path)
    if sha256 == accepted:
        return sha256
    has_git_name = file.git_blob and transport.git_blob_of(path) == file.git_blob
    return sha256 if has_git_name else ""


def _origin(out: Path) -> str:
    """Name the source of the files in ``out``: two sources of the same bytes are not confused."""
    path = out / ORIGIN
    return path.read_text(encoding="utf-8") if path.is_file() else ""


def _obtain(file: RawFile, source: Source, out: Path, network: Network) -> str:
    """Bring a file into ``out``, from a data set with the same source or from where it is kept.

    Of one hash, only one file at a time is on its way: thirteen sets in one file are one download.
    Files are replaced, never changed in place, so that two names of one file cannot disturb each
    other. Returns the SHA-256.
    """
    if not file.sha256:
        sha256 = transport.obtain(file, out, network)
        write_atomically(out / f"{file.name}.sha256", f"{sha256}  {file.name}\n")
        return sha256
    with locked(out.parent / f".cache/{file.sha256}.lock"):
        for path in sorted(out.parent.glob(f"*/{file.name}")):
            if _origin(path.parent) in ("", source.name) and _hash(file, path.parent):
                out.mkdir(parents=True, exist_ok=True)
                with replacing(out / file.name) as part:
                    try:
                        os.link(path, part)
                    except OSError:  # the file system has no links
                        shutil.copyfile(path, part)
                return file.sha256
        return transport.obtain(file, out, network)


def _advice(name: str, chosen: list[Source], entry: Entry, out: Path) -> list[str]:
    lines = ["What helps: a network, a package index that pip can reach,"]
    lines[0] += " a mirror (NOISYLABELS_MIRROR),"
    pinned = _pinned_files(chosen)
    if pinned:
        lines.append(f"or these files put into {out} by hand:")
    else:
        lines.append(f"or a look at {entry.homepage}.")
    for file in pinned:
        size = f"{file.bytes} bytes, " if file.bytes else ""
        lines.append(f"  {file.name} ({size}sha256 {file.sha256})")
    if entry.task in known.LOADERS:
        lines.append(f"You can use your own file instead: `data: {{local: {{{name}: FILE}}}}`.")
    if entry.stand_in:
        rule = "An artifact that can do with a stand-in says `id.or_stand_in`."
        lines.append(f"{rule} It would be this one:")
        lines.append(f"  {entry.stand_in.note.strip()}")
    return lines


def _pinned_files(chosen: list[Source]) -> list[RawFile]:
    """List the files of the first source with a hash for each of them."""
    for source in chosen:
        if source.files and all(file.sha256 for file in source.files):
            return source.files
    return []
