"""Archives, compressed files and pickles from elsewhere: only what was asked for, never more than expected.

Nothing is ever extracted to a name that the archive chooses: one member is copied into
a file that the caller names.
"""

import bz2
import gzip
import io
import lzma
import pickle
import stat
import tarfile
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from typing import IO, Any

from noisylabels.datasets.storage import SourceError, StorageError, storage_errors

LARGEST = 4 << 30
"""Bytes; the cap of an unpacked file whose size the registry does not state."""

BLOCK = 1 << 20
OPENERS: dict[str, Any] = {"gzip": gzip.open, "bzip2": bz2.open, "xz": lzma.open}


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
        elif tarfile.is_tarfile(archive):
            found = _from_tar(archive, wanted)
        else:
            raise SourceError(f"{archive.name}: neither a zip nor a tar archive")
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
    with zipfile.ZipFile(archive) as content:
        for info in content.infolist():
            if info.filename not in wanted:
                continue
            what = f"{archive.name}: member {info.filename}"
            if info.is_dir() or stat.S_IFMT(info.external_attr >> 16) not in (0, stat.S_IFREG):
                raise SourceError(f"{what} is a link or not a regular file; refused")
            if info.flag_bits & 1:
                raise SourceError(f"{what} is encrypted; refused")
            to, size = wanted[info.filename]
            _declared(info.file_size, size, what)
            with content.open(info) as stream:
                _copy(stream, to, size, what)
            found.add(info.filename)
    return found


def _from_tar(archive: Path, wanted: Mapping[str, tuple[Path, int | None]]) -> set[str]:
    found: set[str] = set()
    with tarfile.open(archive) as content:
        for info in content:
            name = info.name.removeprefix("./")
            if name not in wanted:
                continue
            what = f"{archive.name}: member {name}"
            stream = content.extractfile(info) if info.isreg() else None
            if stream is None:
                raise SourceError(f"{what} is a link or not a regular file; refused")
            to, size = wanted[name]
            _declared(info.size, size, what)
            with stream:
                _copy(stream, to, size, what)
            found.add(name)
            if len(found) == len(wanted):  # the rest of a large archive is not read
                break
    return found


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


# pickles: four functions are all that a pickled array needs; whatever else a pickle names is refused
_ALLOWED = {
    ("numpy.core.multiarray", "_reconstruct"),
    ("numpy._core.multiarray", "_reconstruct"),
    ("numpy", "ndarray"),
    ("numpy", "dtype"),
    ("_codecs", "encode"),
}


class _ArraysOnly(pickle.Unpickler):
    def find_class(self, module: str, name: str) -> Any:
        if (module, name) not in _ALLOWED:
            raise pickle.UnpicklingError(
                f"the pickle asks for {module}.{name}, which is not part of an array; refused"
            )
        return super().find_class(module.replace("numpy.core", "numpy._core"), name)


def load_numpy_pickle(path: Path, largest: int = 1 << 30) -> Any:
    """Arrays (in tuples, lists, dicts) from a pickle, gzipped or not, of Python 2 or 3;
    no other object is made.

    Raises
    ------
    ValueError : a global other than those an array needs, a damaged pickle, or more than ``largest`` bytes.
    """
    with path.open("rb") as raw:
        magic = raw.read(2)
    try:
        with gzip.open(path) if magic == b"\x1f\x8b" else path.open("rb") as stream:
            content = io.BytesIO()
            while block := stream.read(BLOCK):
                content.write(block)
                if content.tell() > largest:
                    raise ValueError(f"{path}: the pickle unpacks to more than {largest} bytes; refused")
    except (EOFError, zlib.error, OSError) as error:
        raise ValueError(f"{path}: damaged ({error})") from None
    content.seek(0)
    try:
        return _ArraysOnly(content, encoding="latin1").load()
    except Exception as error:  # a damaged pickle may fail in any way at all
        raise ValueError(f"{path}: not a pickle of arrays, or damaged ({error})") from None
