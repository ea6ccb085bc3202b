"""The raw files of a data set: from the cache, from the first source that has them, or a full account."""

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
from reproduction.data.registry import PROJECT, UNSEEN, Entry, RawFile, Registry, Source, UserFile, sha256_of
from reproduction.data.transport import Network, locked, storage_errors, write_atomically
from reproduction.run.atomic_files import replacing

RECORD = "source.json"
"""What preparing needs to know about the raw files beside it: source, variant, loader, hashes, and a seal."""
SEAL = "record_sha256"
"""Key of the digest of all the others: a record that was edited or damaged is refused."""
VERSION = 3
"""Of the form of a record. What has an older one is fetched again, from the files that are there."""
ORIGIN = ".origin"
"""Name of the source alone; unlike the record it is not an output of a rule, so that it outlives a re-run."""

Record = dict[str, Any]


class FetchError(Exception):
    """No source has the data set."""


def fetch(dataset: str, registry: Registry, out: Path, network: Network | None = None) -> Record:
    """Have the raw files of ``dataset`` in ``out``; the record that is also written there as ``source.json``.

    What already lies in ``out`` with the right hash is never asked for again. Sources are tried in the order
    of the registry; ``dataset`` may pin one. Archives are kept in ``.cache`` beside ``out``.
    Raises ValueError : no such data set, source or variant.   StorageError : the disk is full or read-only.
    FetchError : no source had it; the message says for each why not, and what to do.
    """
    name, pin, entry = known.find(registry, dataset)
    chosen, origin, network = known.sources(name, entry, pin), _origin(out), network or Network()
    for source in sorted(chosen, key=lambda source: source.name != origin):
        hashes = {file.name: _hash(file, out) for file in source.files}
        if hashes and all(hashes.values()):
            return _finish(name, entry, source, hashes, out, entry.options)
    problems: list[str] = []
    unset: list[str] = []
    with storage_errors(out), locked(out.parent / f".cache/{dataset}.lock"):
        for source in chosen:
            own = source.name == PROJECT
            net = replace(network, mirror=str(entry.file.parent)) if own else network
            try:
                hashes = {
                    each.name: _hash(each, out) or _obtain(each, source, out, net) for each in source.files
                }
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
    """Let a user's file take the place of ``dataset``, or be a data set of that new id: a copy in ``out``.

    ``spec`` is an entry of `data.local`.   Raises ValueError : it cannot be replaced, or not by such a file.
    FileNotFoundError : no such file.   StorageError : the disk is full or read-only.
    """
    name = dataset.partition(".")[0]
    loader, file = known.users_loader(name, registry, spec), known.users_file(spec)
    if not file.is_file():
        raise FileNotFoundError(f"{file} does not exist or is not a file")
    options = {} if isinstance(spec, str) else {key: value for key, value in spec.items() if key != "file"}
    target = out / file.name
    with storage_errors(target), locked(out.parent / f".cache/{dataset}.lock"):
        out.mkdir(parents=True, exist_ok=True)
        with replacing(target) as part:
            shutil.copyfile(file, part)
        source = Source(name="local", variant="local", loader=loader)
        return _finish(name, known.OWN, source, {file.name: sha256_of(target)}, out, options)


def read_record(folder: Path) -> Record:
    """The record of the files in ``folder``; FileNotFoundError without one, DataError if it was changed."""
    path = folder / RECORD
    if not path.is_file():
        raise FileNotFoundError(f"{path} is missing; fetch the data set first")
    try:
        record: Record = json.loads(path.read_bytes())
        if record.pop(SEAL) == _seal(record):
            return record
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        pass
    raise DataError(f"{path} is damaged, edited, or of an older version; remove {folder} and fetch again")


def write_record(folder: Path, record: Record) -> None:
    """Put the sealed record of the files in ``folder`` beside them; StorageError if the disk refuses."""
    with storage_errors(folder):
        write_atomically(folder / RECORD, json.dumps(record | {SEAL: _seal(record)}, indent=1) + "\n")


def _seal(record: Record) -> str:
    read = json.loads(json.dumps(record))  # numbers as keys become texts, which have another order
    return hashlib.sha256(f"{VERSION} {json.dumps(read, sort_keys=True)}".encode()).hexdigest()


def _finish(
    name: str, entry: Entry, source: Source, hashes: dict[str, str], out: Path, options: dict[str, Any]
) -> Record:
    expected = entry.prepared_sha256.get(source.variant, UNSEEN)
    record = {
        "id": name,
        "source": source.name,
        "variant": source.variant,
        "loader": source.loader,
        "shape": source.shape.model_dump(exclude_none=True) if source.shape else {},
        "prepared_sha256": "" if expected == UNSEEN else expected,
        "prepared_decimals": entry.prepared_decimals.get(source.variant),
        "files": hashes,
        # a reader of the user's own is trusted, and may import more than the limits allow
        "isolated": not known.is_users(source.loader)
        and (source.name == "local" or not all(file.sha256 for file in source.files)),
        "unverified": [file.name for file in source.files if not (file.sha256 or file.git_blob)],
    } | ({"options": options} if options else {})
    if source.name == PROJECT:
        record["registry"] = str(entry.file)
    write_record(out, record)
    return record


def _hash(file: RawFile, out: Path) -> str:
    """SHA-256 of the file in ``out`` if it is the right one, else ""; of a first download it was kept."""
    path, accepted = out / file.name, file.sha256
    if not path.is_file():
        return ""
    if not accepted and (first := path.with_name(f"{path.name}.sha256")).is_file():
        accepted = first.read_text(encoding="utf-8")[:64]
    sha256 = sha256_of(path)
    return (
        sha256
        if sha256 == accepted or (file.git_blob and transport.git_blob_of(path) == file.git_blob)
        else ""
    )


def _origin(out: Path) -> str:
    """The source that the files in ``out`` came from: two sources of the same bytes are not confused."""
    path = out / ORIGIN
    return path.read_text(encoding="utf-8") if path.is_file() else ""


def _obtain(file: RawFile, source: Source, out: Path, network: Network) -> str:
    """SHA-256 of the file, now in ``out``: from a data set that has it from the same source, or its place.

    Of one hash, only one file at a time is on its way: thirteen sets in one file are one download. Files are
    replaced, never changed in place, so that two names of one file cannot disturb each other.
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
                    except OSError:  # a file system without links
                        shutil.copyfile(path, part)
                return file.sha256
        return transport.obtain(file, out, network)


def _advice(name: str, chosen: list[Source], entry: Entry, out: Path) -> list[str]:
    lines = ["What helps: a network, a package index that pip can reach, a mirror (NOISYLABELS_MIRROR),"]
    pinned = next((s.files for s in chosen if s.files and all(file.sha256 for file in s.files)), ())
    lines.append(f"or these files put into {out} by hand:" if pinned else f"or a look at {entry.homepage}.")
    for file in pinned:
        size = f"{file.bytes} bytes, " if file.bytes else ""
        lines.append(f"  {file.name} ({size}sha256 {file.sha256})")
    if entry.task in known.LOADERS:
        lines.append(f"A file of your own may take its place: `data: {{local: {{{name}: FILE}}}}`.")
    if entry.stand_in:
        lines.append("An artifact that can do with a stand-in says `id.or_stand_in`. It would be this one:")
        lines.append(f"  {entry.stand_in.note.strip()}")
    return lines
