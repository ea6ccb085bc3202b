"""Files that a job reads and modules that it loads, as observed in its process.

Names are relative to the folders on PYTHONPATH and to the folder of the run, so that they mean the
same in a copy elsewhere. What a library in C opens is not reported: a job is given such files as
inputs.
"""

import os
import sys
from collections.abc import Iterable, Iterator
from functools import cache
from importlib.util import source_from_cache
from pathlib import Path
from types import FrameType
from typing import Any, NamedTuple

from reproduction.paths import SOURCES

ENGINE = (f"{SOURCES}/reproduction/", f"{SOURCES}/scripts/")
"""Modules of the engine, whose own files are inputs or settings of the job."""
RECORDING = (
    "reproduction/plan/code_digest.py",
    "reproduction/run/calibration.py",
    "reproduction/run/reading.py",
    "reproduction/run/records.py",
    "reproduction/run/compute_ahead.py",
)
"""Modules that only observe, so that no edit of them changes a result."""
DOWNLOADING = ("reproduction/data/transport.py",)
"""Modules that download files; a raw file with its hash is never fetched again."""
NOT_RECORDED = (*RECORDING, *DOWNLOADING)
"""Modules that records leave out, so that their edits run no job again."""
NOT_READ = ("data", "results", "figures", "logs", "site", "__pycache__")
"""Folders of a run; the files there that a job needs are among its inputs."""
IMPORT = "<frozen importlib"
LISTED = "/"
"""End of the name of a folder whose names a job has listed."""

Stamp = tuple[int, int, int]


class Seen(NamedTuple):
    """Files that were opened or loaded, with their state then, and folders that were listed."""

    files: dict[str, Stamp]
    folders: set[str]
    elsewhere: set[str]
    """Code that child processes have loaded."""


SEEN = Seen({}, set(), set())


@cache
def roots() -> tuple[str, ...]:
    """List the folders on PYTHONPATH in their order, those of this code, then that of the run."""
    entries = os.environ.get("PYTHONPATH", "").split(os.pathsep)
    entries += [str(SOURCES), str(SOURCES / "papers"), "."]
    folders = []
    for entry in entries:
        folder = os.path.realpath(entry).rstrip("/")
        if entry and folder not in folders:
            folders.append(folder)
    return tuple(folders)


@cache
def installed() -> tuple[str, ...]:
    """List the folders of Python and of installed packages, whose versions a record has."""
    library = os.path.dirname(os.__file__)
    folders = []
    for folder in (sys.prefix, sys.base_prefix, library):
        real = os.path.realpath(folder)
        folders.append(f"{real}/")
    return tuple(folders)


def name_of(file: str) -> str:
    """Name a file as records do; "" outside the roots, or for a file that a run made."""
    full = os.path.realpath(file)
    if full.startswith(installed()):
        return ""
    enclosing = [root for root in roots() if full.startswith(f"{root}/")]
    if not enclosing:
        return ""
    name = os.path.relpath(full, max(enclosing, key=len))
    first = name.partition("/")[0]
    if "__pycache__" in name or first.startswith("."):
        return ""
    if first in NOT_READ and full.startswith(os.getcwd()):
        return ""
    return name


def find(name: str) -> Path | None:
    """Find the file or folder of a name in a record, in the order of Python's search."""
    for root in roots():
        path = Path(root, name)
        if path.exists():
            return path
    return None


@cache
def start() -> None:
    """Begin to observe this process, once."""
    for file in _loaded_modules():
        _see(file)
    sys.addaudithook(_hear)


def modules() -> list[str]:
    """List the names of the source files of all modules that are loaded now."""
    names = {name_of(file) for file in [*_loaded_modules(), *SEEN.elsewhere]}
    return sorted(names.difference(("", *NOT_RECORDED)))


def data_files(sources: bool = False) -> list[str]:
    """List the names of other opened files, and with ``sources`` also of code read as text."""
    names = set()
    for file in SEEN.files:
        is_code = file.endswith(".py")
        if sources or not is_code:
            names.add(name_of(file))
    names.discard("")
    return sorted(names)


def folders() -> list[str]:
    """List the names of the folders whose files were listed, each followed by `LISTED`."""
    names = set()
    for folder in SEEN.folders:
        name = name_of(folder)
        if name:
            names.add(f"{name}{LISTED}")
    return sorted(names)


def changed() -> str:
    """Find a file that has changed since it was read; "" if none has."""
    for file, stamp in SEEN.files.items():
        if _stamp(file) != stamp:
            return file
    return ""


def include(files: Iterable[str]) -> None:
    """Add files that a child process has read."""
    for file in files:
        _see(file)
        if file.endswith(".py"):
            SEEN.elsewhere.add(file)


def _loaded_modules() -> Iterator[str]:
    for module in list(sys.modules.values()):
        file = getattr(module, "__file__", None)
        if isinstance(file, str) and not file.startswith(installed()):
            yield file


def _see(file: str) -> None:
    if file not in SEEN.files and name_of(file):
        SEEN.files[file] = _stamp(file)


def _stamp(file: str) -> Stamp:
    try:
        status = os.stat(file)
    except OSError:
        return (0, 0, 0)
    return (status.st_size, status.st_mtime_ns, status.st_ino)


def _hear(event: str, arguments: tuple[Any, ...]) -> None:
    """Observe, as an audit hook, the files and folders that code opens."""
    if event == "open":
        file, mode, flags = arguments
        writes = isinstance(mode, str) and not set(mode).isdisjoint("wax+")
        if writes or not isinstance(file, str | bytes | os.PathLike):
            return
        if isinstance(flags, int) and flags & (os.O_WRONLY | os.O_RDWR):
            return
    elif event in ("os.listdir", "os.scandir"):
        file = arguments[0]
        if not isinstance(file, str | bytes | os.PathLike):
            return
    else:
        return
    path = os.path.abspath(os.fsdecode(file))
    if path.startswith(installed()) or not path.startswith(roots()):
        return
    innermost = sys._getframe(1)
    if innermost.f_code.co_filename.startswith(IMPORT):
        if event == "open" and path.endswith((".py", ".pyc")):
            _see(source_from_cache(path) if path.endswith(".pyc") else path)
    elif event == "open":
        own_file = path.startswith(ENGINE)
        if (own_file or _asked_by_code(innermost)) and not os.path.isdir(path):
            _see(path)
    elif _asked_by_code(innermost):
        SEEN.folders.add(path)


def _asked_by_code(frame: FrameType | None) -> bool:
    """Decide whether code of a paper, of the library or of a user is running."""
    while frame is not None:
        file = frame.f_code.co_filename
        if file.startswith(roots()) and not file.startswith((*installed(), *ENGINE)):
            return True
        frame = frame.f_back
    return False
