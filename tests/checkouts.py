"""A copy of this checkout, to be run or edited, with the kernels that are compiled here."""

import hashlib
import shutil
from collections.abc import Iterable
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
ODD = 'o\'dd "path" $(touch HACKED) `touch HACKED`; touch HACKED & é'
PARTS = (
    "Snakefile",
    "config",
    "workflow",
    "src",
    "environment.yml",
    "runtime.lock",
    "pyproject.toml",
)


def copy_checkout(folder: Path, further: Iterable[str] = ()) -> None:
    """The files that a run needs, as they are in this checkout, and further ones."""
    folder.mkdir(parents=True, exist_ok=True)
    for part in (*PARTS, *further):
        if (ROOT / part).is_dir():
            ignored = shutil.ignore_patterns("__pycache__", "*.egg-info")
            shutil.copytree(ROOT / part, folder / part, ignore=ignored)
        else:
            shutil.copy2(ROOT / part, folder / part)
    share_kernels(folder)


def share_kernels(folder: Path) -> None:
    """Give the copy this checkout's cache of compiled kernels, so that no test compiles them again.

    In the folder of a module, the compiler keeps its files under the name of the folder of the
    sources and the SHA-1 of that folder's path.
    """
    cache = Path(".cache/numba")
    unfinished = shutil.ignore_patterns("*.tmp.*")  # what another test is compiling at this moment
    for source in [path for path in (ROOT / "src").rglob("*") if path.is_dir()]:
        ours = _cached_as(source)
        theirs = _cached_as(folder.absolute() / source.relative_to(ROOT))
        for cached in (ROOT / cache).glob(f"*/{ours}"):
            target = folder / cache / cached.parent.name / theirs
            shutil.copytree(cached, target, dirs_exist_ok=True, ignore=unfinished)


def _cached_as(source: Path) -> str:
    return f"{source.name}_{hashlib.sha1(str(source).encode()).hexdigest()}"
