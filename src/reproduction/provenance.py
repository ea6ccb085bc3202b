"""Where a result comes from: commit, versions, processor, digests. No times: equal runs give equal files."""

import hashlib
import json
import platform
import re
import subprocess
import zipfile
from collections.abc import Iterable
from importlib import import_module, metadata
from pathlib import Path
from typing import Any

NUMERIC = ("numpy", "scipy", "numba", "llvmlite", "pandas", "scikit-learn", "soundfile", "pyroomacoustics")
"""Packages that experiments, data sets and verdicts are computed with."""

DRAWING = (*NUMERIC, "matplotlib", "pillow", "fonttools")
"""Packages that figures and tables are drawn with."""

MODULES = {"scikit-learn": "sklearn", "pillow": "PIL", "fonttools": "fontTools"}
"""Packages whose module has another name."""


def versions(names: Iterable[str]) -> dict[str, str]:
    """The installed versions; a package that is not installed is left out."""
    found = {}
    for name in names:
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    return found


def pinned(names: Iterable[str], lock: Path) -> dict[str, list[str]]:
    """The versions in a lock file, several where they differ by interpreter; {} if there is no such file."""
    text = lock.read_text(encoding="utf-8") if lock.is_file() else ""
    lines = re.findall(r"^([A-Za-z0-9._-]+)==([^\s;]+)", text, re.M)
    wanted = set(names)
    return {name: sorted(v for n, v in lines if n == name) for name in sorted({n for n, _ in lines} & wanted)}


def packages(names: Iterable[str], lock: Path) -> str:
    """Both as JSON, a parameter of rules: a result is made again when either changes."""
    names = tuple(names)
    return json.dumps({"installed": versions(names), "locked": pinned(names, lock)}, sort_keys=True)


def damaged() -> str:
    """Which package cannot be imported, and why, in one line; "" if all can."""
    for name in DRAWING:
        try:
            import_module(MODULES.get(name, name))
        except Exception as error:  # a damaged file can raise anything
            return f"{name} ({type(error).__name__}: {' '.join(str(error).split())[:200]})"
    return ""


def describe(
    about: dict[str, Any], tuned: dict[str, Any], data: list[Path], table: Path, points: Path
) -> dict[str, Any]:
    """Provenance of one result table and the points beside it: what ran (``about``), with which tuned values,
    on which data, with what.

    data_variant : data set -> which content it had ("genuine", "rebuilt", ...), where sources differ.
    """
    described = [_described(file) for file in data]
    return {
        **about,
        "settings_sha256": _digest(json.dumps(about.get("settings"), sort_keys=True).encode()),
        "tuned": tuned,
        "data_sha256": {file.name: _digest(file.read_bytes()) for file in data},
        "data_variant": {each["id"]: each["variant"] for each in described},
        "table_sha256": _digest(table.read_bytes()),
        "points_sha256": _digest(points.read_bytes()),
        "commit": _commit(),
        "python": platform.python_version(),
        "system": f"{platform.system()} {platform.machine()}",
        "processor": _processor(),
        "blas": _blas(),
        "packages": versions(["noisylabels", *NUMERIC]),
    }


def write(about: str, tuned: dict[str, Any], data: list[Path], table: Path, points: Path, path: Path) -> None:
    """Write `describe` as JSON; ``about`` is JSON too."""
    text = json.dumps(describe(json.loads(about), tuned, data, table, points), indent=1, sort_keys=True)
    path.write_text(text + "\n", encoding="utf-8")


def _commit() -> str:
    """Commit of the checkout, with "+" if files that git knows were changed; "unknown" outside a checkout."""
    command = ["git", "describe", "--always", "--dirty=+", "--abbrev=40", "--exclude=*"]
    folder = Path(__file__).resolve().parent
    try:
        return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return "unknown"


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
        return next(line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        return platform.processor() or platform.machine()


def _blas() -> str:
    import numpy as np

    blas = np.show_config(mode="dicts")["Build Dependencies"]["blas"]
    return f"{blas['name']} {blas['version']}"


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def _described(file: Path) -> dict[str, str]:
    """What a prepared data file records about itself; its arrays stay unread."""
    with zipfile.ZipFile(file) as archive:
        meta: dict[str, str] = json.loads(archive.read("meta.json"))
    return meta
