"""Open a file as a stream of bytes, decompressing by its suffix."""

import bz2
import errno
import gzip
import lzma
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import IO, Any, cast

MEND = "delete it and fetch it again"

_OPENERS: dict[str, Callable[..., Any]] = {".gz": gzip.open, ".bz2": bz2.open, ".xz": lzma.open}
_DAMAGE = (EOFError, lzma.LZMAError, zlib.error, gzip.BadGzipFile, zipfile.BadZipFile, RuntimeError)


@contextmanager
def open_bytes(path: Path) -> Iterator[IO[bytes]]:
    """Binary stream of ``path``; ``.gz``, ``.bz2``, ``.xz`` and one-file ``.zip`` are unpacked on the way.

    Raises
    ------
    ValueError : the compressed stream is cut short or damaged, or a zip archive holds several files.
    """
    with ExitStack() as stack:
        try:
            if path.suffix == ".zip":
                stream = _only_member(stack.enter_context(zipfile.ZipFile(path)), path.name)
            else:
                stream = cast("IO[bytes]", _OPENERS.get(path.suffix, open)(path, "rb"))
            yield stack.enter_context(stream)
        except _DAMAGE as error:
            raise ValueError(f"{path.name}: damaged {path.suffix} file ({error}); {MEND}") from error
        except (
            OSError
        ) as error:  # damage: of bz2 without an error number, of zip a place before the beginning
            if error.errno not in (None, errno.EINVAL):
                raise
            raise ValueError(f"{path.name}: damaged {path.suffix} file ({error}); {MEND}") from error


def _only_member(archive: zipfile.ZipFile, name: str) -> IO[bytes]:
    members = [m for m in archive.namelist() if not m.startswith("__MACOSX/") and not m.endswith("/")]
    if len(members) != 1:
        raise ValueError(f"{name}: expected one file in the archive, found {', '.join(members) or 'none'}")
    return archive.open(members[0])
