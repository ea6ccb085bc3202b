"""Who runs in a folder: locks of a run that was killed are told from those of a run that goes on.

Snakemake locks a folder by files, which a killed run leaves behind. Each run therefore also holds a lock of
the kernel, shared with other runs and dry runs, that ends with its process. Whoever gets it alone knows that
no run is alive, and that what files of locks there are belong to the dead.
"""

import fcntl
import shutil
from pathlib import Path
from typing import IO


def claim(folder: Path) -> IO[str] | None:
    """Note that this process runs in ``folder`` (``.snakemake``), after removing the locks of dead runs.

    Returns the open file that says so, to be kept open; None where the file system has no locks, or may
    not be written: then nothing is removed.
    """
    try:
        folder.mkdir(exist_ok=True)
        handle = (folder / "owner").open("a", encoding="utf-8")
    except OSError:
        return None
    try:
        _alone(handle, folder / "locks")
        fcntl.flock(handle, fcntl.LOCK_SH)
    except OSError:
        handle.close()
        return None
    return handle


def _alone(handle: IO[str], locks: Path) -> None:
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return  # another run is alive; Snakemake's own locks say what it works on
    for lock in locks.glob("*.lock") if locks.is_dir() else ():
        if lock.is_dir():
            shutil.rmtree(lock, ignore_errors=True)
        else:
            lock.unlink(missing_ok=True)
