"""The cache of compiled kernels, mended: a damaged file in it is removed, and the job starts again."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType

STARTS = "NOISYLABELS_STARTS"
MOST = 50


@contextmanager
def mended() -> Iterator[None]:
    """Run this script anew if reading a cached kernel fails, without the files that could not be read.

    The compiler writes its files in one step, but a disk or a copy may cut them short, and it does not
    check them.
    """
    try:
        yield
    except Exception as error:
        starts = int(os.environ.get(STARTS, "1"))
        damaged = _damaged(error)
        if not damaged or starts >= MOST:
            raise
        for file in damaged:
            file.unlink(missing_ok=True)
            print(f"removed the damaged file {file} of compiled kernels; starting again", flush=True)
        os.environ[STARTS] = str(starts + 1)
        os.execv(sys.executable, [sys.executable, *sys.argv])


def _damaged(error: BaseException | None) -> list[Path]:
    """Files of the compiler's cache that were read when the error, or one that caused it, was raised."""
    while error is not None:
        if not isinstance(error, OSError) and (found := _read_by(error.__traceback__)):
            return found
        error = error.__cause__ or error.__context__
    return []


def _read_by(trace: TracebackType | None) -> list[Path]:
    found = []
    while trace is not None:
        code, local = trace.tb_frame.f_code, trace.tb_frame.f_locals
        if code.co_filename.endswith(os.path.join("numba", "core", "caching.py")):
            if code.co_name in ("_load_index", "_load_data"):
                found.append(Path(local["self"]._index_path))
            if code.co_name == "_load_data":
                found.append(Path(local["path"]))
        trace = trace.tb_next
    return found
