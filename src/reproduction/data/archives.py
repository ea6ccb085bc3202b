"""Archives and compressed files from elsewhere: only what was asked for, never more than expected.

Nothing is ever extracted to a name that the archive chooses: one member is copied into
a file that the caller names. What an archive says of itself decides about no memory either.
"""

import bz2
import gzip
import stat
import tarfile
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from typing import IO, Any, cast

from reproduction.data.capped import CappedReads, Xz
from reproduction.data.storage import SourceError, StorageError, storage_errors

LARGEST = 4 << 30
"""Bytes; the cap of an unpacked file whose size the registry does not state."""

MOST = 200_000
"""Members of a tar archive."""

BLOCK = 1 << 20
OPENERS: dict[str, Any] = {"gzip": gzip.open, "bzip2": bz2.open, "xz": Xz}

ZIPPED = {zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2}
"""Not LZMA: its decoder takes the memory that the archive asks for."""

TARRED: dict[bytes, Any] = {b"\x1f\x8b": gzip.open, b"BZ": bz2.open, b"\xfd7": Xz}
"""First two bytes -> what opens a compressed tar archive."""


def extract(archive: Path, wanted: Mapping[str, tuple[Path, int | None]]) -> None:
    """Copy members of a zip (wheel) or tar (sdist, npm) archive into files; nothing else is unpacked.

    ``wanted`` maps a member to the file it goes to and its expected length in bytes (None if not known); more
    is never written. The archive is read once.

    Raises
    ------
    SourceError : no such member, not a regular file, a name that leaves the archive, another length than
        expected, or an archive that is damaged or of another kind.
    """
    for member in wanted:
        pure = PurePosixPath(member)
        if pure.is_absolute() or ".." in pure.parts or "\\" in member:
            raise SourceError(f"{archive.name}: member {member!r} would lie outside the archive; refused")
    with _damage(archive):
        if zipfile.is_zipfile(archive):
            found = _from_zip(archive, wanted)
        else:
            found = _from_tar(archive, wanted)
    if missing := sorted(set(wanted) - found):
        raise SourceError(f"{archive.name}: no member {', '.join(missing)}")


def decompress(packed: Path, kind: str, to: Path, size: int | None = None) -> None:
    """Unpack a gzip, bzip2 or xz file into ``to``; more than ``size`` bytes (by default the cap) are never
    written.

    Raises
    ------
    SourceError : damaged, cut short, of another kind, or larger than expected.
    """
    with _damage(packed), OPENERS[kind](packed) as stream:
        _copy(stream, to, size, packed.name)


def _from_zip(archive: Path, wanted: Mapping[str, tuple[Path, int | None]]) -> set[str]:
    found = set()
    with archive.open("rb") as raw, zipfile.ZipFile(cast("IO[bytes]", reads := CappedReads(raw))) as content:
        for info in content.infolist():
            if info.filename not in wanted:
                continue
            what = f"{archive.name}: member {info.filename}"
            if info.is_dir() or stat.S_IFMT(info.external_attr >> 16) not in (0, stat.S_IFREG):
                raise SourceError(f"{what} is a link or not a regular file; refused")
            if info.flag_bits & 1:
                raise SourceError(f"{what} is encrypted; refused")
            if info.compress_type not in ZIPPED:
                raise SourceError(f"{what} is compressed by method {info.compress_type}; refused")
            to, size = wanted[info.filename]
            _declared(info.file_size, size, what)
            reads.left += archive.stat().st_size
            with content.open(info) as stream:
                _copy(stream, to, size, what)
            found.add(info.filename)
    return found


def _from_tar(archive: Path, wanted: Mapping[str, tuple[Path, int | None]]) -> set[str]:
    found: set[str] = set()
    with _unpacked(archive) as reads, _tar(reads, archive.name) as content:
        for info in content:
            name = info.name.removeprefix("./")
            if name not in wanted:
                continue
            what = f"{archive.name}: member {name}"
            stream = content.extractfile(info) if info.isreg() and not info.issparse() else None
            if stream is None:
                raise SourceError(f"{what} is a link or not a regular file; refused")
            to, size = wanted[name]
            _declared(info.size, size, what)
            reads.left += info.size
            with stream:
                _copy(stream, to, size, what)
            found.add(name)
            if len(found) == len(wanted):  # the rest of a large archive is not read
                break
    return found


@contextmanager
def _unpacked(archive: Path) -> Iterator[CappedReads]:
    with archive.open("rb") as raw:
        opener = TARRED.get(raw.read(2), open)
    with opener(archive, "rb") as stream:
        yield CappedReads(stream)


def _tar(reads: CappedReads, name: str) -> tarfile.TarFile:
    try:
        return tarfile.open(fileobj=cast("IO[bytes]", reads), mode="r:")
    except tarfile.ReadError:
        raise SourceError(f"{name}: neither a zip nor a tar archive") from None


def _declared(declared: int, size: int | None, what: str) -> None:
    if size is not None and declared != size:
        raise SourceError(f"{what} unpacks to {declared} bytes, expected {size}; refused")
    if declared > LARGEST:
        raise SourceError(f"{what} unpacks to {declared} bytes, more than the cap of {LARGEST}; refused")


def _copy(stream: IO[bytes], to: Path, size: int | None, what: str) -> None:
    """Copy at most the expected number of bytes: an archive may declare less than it holds."""
    limit = LARGEST if size is None else size
    count = 0
    with storage_errors(to):
        target = to.open("wb")
    with target:
        while block := stream.read(BLOCK):
            count += len(block)
            if count > limit:
                raise SourceError(f"{what} unpacks to more than {limit} bytes; refused")
            with storage_errors(to):
                target.write(block)


@contextmanager
def _damage(path: Path) -> Iterator[None]:
    try:
        yield
    except (SourceError, StorageError):
        raise
    except (NotImplementedError, RuntimeError) as error:  # an unknown compression, a password
        raise SourceError(f"{path.name}: cannot be unpacked ({error})") from None
    except Exception as error:  # damage makes these libraries raise nearly anything
        raise SourceError(f"{path.name}: damaged or not what it should be ({error})") from None
