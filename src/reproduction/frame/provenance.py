"""Where a result comes from: commit, versions, processor, digests. No times, so that equal runs give equal
files.
"""

import hashlib
import json
import platform
import subprocess
import zipfile
from pathlib import Path
from typing import Any

from reproduction.frame import packages

PACKAGES = ("noisylabels", *packages.NUMERIC)


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
    """What a prepared data file says of itself; its arrays stay unread."""
    with zipfile.ZipFile(file) as archive:
        meta: dict[str, str] = json.loads(archive.read("meta.json"))
    return meta


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
        "packages": packages.versions(PACKAGES),
    }


def write(about: str, tuned: dict[str, Any], data: list[Path], table: Path, points: Path, path: Path) -> None:
    """Write `describe` as JSON; ``about`` is JSON too."""
    text = json.dumps(describe(json.loads(about), tuned, data, table, points), indent=1, sort_keys=True)
    path.write_text(text + "\n", encoding="utf-8")
