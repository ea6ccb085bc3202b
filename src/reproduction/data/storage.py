"""The disk under the data: errors that say what to do, hashes, locks, and small files written in one step."""

import errno
import fcntl
import hashlib
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

FULL = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}
FORBIDDEN = {errno.EACCES, errno.EPERM, errno.EROFS}
NO_LOCKS = {errno.ENOLCK, errno.ENOTSUP, errno.ENOSYS}


class SourceError(Exception):
    """A source does not have the file, or has the wrong one; the next source may have it."""


class NotConfiguredError(SourceError):
    """The user has not set this source up; nothing to worry about."""


class DataError(ValueError):
    """A file on the disk is damaged, or not what it should be; the message has its path and what to do."""


class StorageError(Exception):
    """The local disk refuses; no other source would help."""


@contextmanager
def storage_errors(path: Path) -> Iterator[None]:
    """Turn an OSError about ``path`` into a StorageError that says what to do."""
    try:
        yield
    except OSError as error:
        if error.errno in FULL:
            raise StorageError(
                f"no space left for {path} ({error.strerror}); free some and run again"
            ) from None
        if error.errno in FORBIDDEN:
            raise StorageError(
                f"{path} cannot be written ({error.strerror}); make the folder writable, "
                "or have it filled by somebody who may"
            ) from None
        raise StorageError(f"{path}: {error.strerror or error}") from None


def sha256_of(path: Path) -> str:
    """SHA-256 of a file as 64 hex digits."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def git_blob_of(path: Path) -> str:
    """The name of a file's content in Git, as 40 hex digits: SHA-1 of "blob", its length, and its bytes."""
    digest = hashlib.sha1(b"blob %d\0" % path.stat().st_size, usedforsecurity=False)
    digest.update(path.read_bytes())
    return digest.hexdigest()


def write_atomically(path: Path, text: str) -> None:
    """Write a small text file in one step; nothing is touched if it already has this content."""
    if path.is_file() and path.read_text(encoding="utf-8") == text:
        return
    with storage_errors(path):
        part = path.with_name(f".{path.name}.{os.getpid()}.part")
        part.write_text(text, encoding="utf-8")
        os.replace(part, path)


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Hold the lock file ``path``; wait if another process holds it. A killed process holds nothing."""
    with storage_errors(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        handle = os.open(path, os.O_CREAT | os.O_RDWR, 0o666)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            print(f"another process holds {path}; waiting for it", file=sys.stderr, flush=True)
            fcntl.flock(handle, fcntl.LOCK_EX)
        except OSError as error:
            if error.errno not in NO_LOCKS:  # without locks atomic renames still keep the data right
                os.close(handle)
                raise
    try:
        yield
    finally:
        os.close(handle)
