"""Members of archives, compressed files and pickles from strangers: only what was asked for, never more
than expected.

Nothing is ever extracted to a name that the archive chooses: one member is copied into a file that the
caller names.
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
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from typing import IO, Any

from noisylabels.datasets.storage import SourceError, storage_errors

LARGEST = 4 << 30
"""Bytes; the cap of an unpacked file whose size the registry does not state."""

BLOCK = 1 << 20
OPENERS: dict[str, Any] = {"gzip": gzip.open, "bzip2": bz2.open, "xz": lzma.open}


def extract(archive: Path, member: str, to: Path, size: int | None = None) -> None:
    """Copy the member of a zip (wheel) or tar (sdist, npm) archive into the file ``to``; nothing else is
    unpacked.

    ``size`` is its expected length in bytes, if known; more is never written.

    Raises
    ------
    SourceError : no such member, not a regular file, a name that leaves the archive, larger than expected,
    or an
        archive that is damaged or of another kind.
    """
    pure = PurePosixPath(member)
    if pure.is_absolute() or ".." in pure.parts or "\\" in member:
        raise SourceError(f"{archive.name}: member {member!r} would lie outside the archive; refused")
    with _damage(archive):
        if zipfile.is_zipfile(archive):
            _from_zip(archive, member, to, size)
        elif tarfile.is_tarfile(archive):
            _from_tar(archive, member, to, size)
        else:
            raise SourceError(f"{archive.name}: neither a zip nor a tar archive")


def decompress(packed: Path, kind: str, to: Path, size: int | None = None) -> None:
    """Unpack a gzip, bzip2 or xz file into ``to``; more than ``size`` bytes (if known) are never written.

    Raises
    ------
    SourceError : damaged, cut short, of another kind, or larger than expected.
    """
    with _damage(packed), OPENERS[kind](packed) as stream:
        _copy(stream, to, size, packed.name)


def _from_zip(archive: Path, member: str, to: Path, size: int | None) -> None:
    with zipfile.ZipFile(archive) as content:
        try:
            info = content.getinfo(member)
        except KeyError:
            raise SourceError(f"{archive.name}: no member {member}") from None
        mode = info.external_attr >> 16
        if info.is_dir() or (stat.S_IFMT(mode) not in (0, stat.S_IFREG)):
            raise SourceError(f"{archive.name}: member {member} is not a regular file; refused")
        if info.flag_bits & 1:
            raise SourceError(f"{archive.name}: member {member} is encrypted; refused")
        _declared(info.file_size, size, f"{archive.name}: {member}")
        with content.open(info) as stream:
            _copy(stream, to, size, f"{archive.name}: {member}")


def _from_tar(archive: Path, member: str, to: Path, size: int | None) -> None:
    with tarfile.open(archive) as content:
        for info in content:  # stops at the member: the rest of a large archive is not read
            if info.name.removeprefix("./") != member:
                continue
            if not info.isreg():
                raise SourceError(f"{archive.name}: member {member} is a link or not a regular file; refused")
            _declared(info.size, size, f"{archive.name}: {member}")
            stream = content.extractfile(info)
            if stream is None:
                raise SourceError(f"{archive.name}: member {member} cannot be read")
            with stream:
                _copy(stream, to, size, f"{archive.name}: {member}")
            return
    raise SourceError(f"{archive.name}: no member {member}")


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
    except (
        zipfile.BadZipFile,
        tarfile.TarError,
        EOFError,
        zlib.error,
        lzma.LZMAError,
        gzip.BadGzipFile,
    ) as error:
        raise SourceError(f"{path.name}: damaged or not what it should be ({error})") from None
    except (NotImplementedError, RuntimeError) as error:  # an unknown compression, a password
        raise SourceError(f"{path.name}: cannot be unpacked ({error})") from None
    except OSError as error:
        raise SourceError(f"{path.name}: damaged or unreadable ({error})") from None


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
    """Arrays (in tuples, lists, dicts) from a pickle, gzipped or not, of Python 2 or 3; no other object is
    made.

    Raises
    ------
    ValueError : a global other than those an array needs, a damaged pickle, or more than ``largest`` bytes.
    """
    with path.open("rb") as raw:
        magic = raw.read(2)
    try:
        with gzip.open(path) if magic == b"\x1f\x8b" else path.open("rb") as stream:
            content = stream.read(largest + 1)
        if len(content) > largest:
            raise ValueError(f"{path}: the pickle unpacks to more than {largest} bytes; refused")
        return _ArraysOnly(io.BytesIO(content), encoding="latin1").load()
    except (pickle.UnpicklingError, EOFError, zlib.error, OSError) as error:
        raise ValueError(f"{path}: {error}") from None
    except (TypeError, AttributeError, IndexError, KeyError, ImportError, UnicodeDecodeError) as error:
        raise ValueError(f"{path}: damaged pickle ({type(error).__name__}: {error})") from None
