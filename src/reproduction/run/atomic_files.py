"""Files that are whole or not there."""

import glob
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import psutil

if TYPE_CHECKING:
    pass


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Where to write what takes the name ``path`` at the end; after an error ``path`` is as it was.

    What killed processes left half-written is removed: under such a name, or under the one that the writer of
    a figure makes of it.
    """
    name = glob.escape(path.name)
    for left in (*path.parent.glob(f".part.*.{name}"), *path.parent.glob(f"..part.*.{name}.part")):
        process = left.name.partition("part.")[2].partition(".")[0]
        if not (process.isdigit() and psutil.pid_exists(int(process))):
            left.unlink(missing_ok=True)
    part = path.with_name(f".part.{os.getpid()}.{path.name}")
    try:
        yield part
        with part.open("rb") as written:
            os.fsync(written.fileno())  # a disk may report only now that it could not write
        os.replace(part, path)
    finally:
        part.unlink(missing_ok=True)
