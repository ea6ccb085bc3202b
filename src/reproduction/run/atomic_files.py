"""Files that are whole or do not exist."""

import glob
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Give a file to write, which replaces ``path`` when it is complete.

    After an error ``path`` is as it was. What killed processes left half-written is removed.
    """
    _remove_leftovers(path)
    part = path.with_name(f".part.{os.getpid()}.{path.name}")
    try:
        yield part
        with part.open("rb") as written:
            os.fsync(written.fileno())  # a disk may report a failed write only now
        os.replace(part, path)
    finally:
        part.unlink(missing_ok=True)


def _remove_leftovers(path: Path) -> None:
    """Remove half-written files of processes that have ended.

    The writer of a figure makes another name from the one that `replacing` gives.
    """
    name = glob.escape(path.name)
    leftovers = [*path.parent.glob(f".part.*.{name}")]
    leftovers += path.parent.glob(f"..part.*.{name}.part")
    for file in leftovers:
        process = file.name.partition("part.")[2].partition(".")[0]
        is_alive = process.isdigit() and psutil.pid_exists(int(process))
        if not is_alive:
            file.unlink(missing_ok=True)
