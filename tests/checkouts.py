"""A copy of this checkout, to be run or edited, with the kernels that are compiled here."""

import hashlib
import shutil
from collections.abc import Iterable
from pathlib import Path

from reproduction.code_digest import kernel_digest

ROOT = Path(__file__).resolve().parents[1]
ODD = 'o\'dd "path" $(touch HACKED) `touch HACKED`; touch HACKED & é'
PARTS = ("Snakefile", "config", "workflow", "src", "environment.yml", "runtime.lock", "pyproject.toml")


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
    """Give the copy this checkout's cache of compiled kernels, so that no test waits for the compiler again.

    The compiler keeps the kernels of a folder of sources under the folder's name and the SHA-1 of its path,
    and takes them if time and size of the source are those on record.
    """
    cache = Path(".cache/numba") / kernel_digest()
    for source in (path for path in (ROOT / "src").rglob("*") if path.is_dir()):
        ours, theirs = (
            root / cache / _cached_as(root / source.relative_to(ROOT)) for root in (ROOT, folder.absolute())
        )
        if ours.is_dir():
            # what another test is compiling at this moment is not finished
            shutil.copytree(ours, theirs, dirs_exist_ok=True, ignore=shutil.ignore_patterns("*.tmp.*"))


def _cached_as(source: Path) -> str:
    return f"{source.name}_{hashlib.sha1(str(source).encode()).hexdigest()}"
