"""The record of a result: what it was made from, and whether a file is still the one that it describes."""

import hashlib
import json
import platform
import re
import subprocess
import zipfile
from collections.abc import Iterable, Mapping
from contextlib import suppress
from importlib import import_module, metadata
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    pass

NUMERIC = ("numpy", "scipy", "numba", "llvmlite", "pandas", "scikit-learn", "soundfile", "pyroomacoustics")
"""Packages that experiments, data sets and verdicts are computed with."""
DRAWING = (*NUMERIC, "matplotlib", "pillow", "fonttools")
"""Packages that figures and tables are drawn with."""
MODULES = {"scikit-learn": "sklearn", "pillow": "PIL", "fonttools": "fontTools"}
"""Packages whose module has another name."""


def verify(path: str | Path) -> None:
    """Nothing if the file is the one that the provenance beside it records, or if there is none beside it.

    path : a table.csv, which it records as table_sha256, or a points.npz, as points_sha256.
    Raises ValueError: another file, or a provenance that cannot be read; the message says what to run.
    """
    file = Path(path)
    kind, provenance = file.stem, file.with_name("provenance.json")
    if not provenance.is_file():
        return
    mend = f"delete {file} and run again"
    try:
        recorded = json.loads(provenance.read_bytes())[f"{kind}_sha256"]
    except (ValueError, KeyError, TypeError):
        raise ValueError(f"{provenance}: {kind}_sha256 cannot be read; {mend}") from None
    if _digest(file.read_bytes()) != recorded:
        raise ValueError(f"{file} is not the {kind} that {provenance} records (changed by hand?); {mend}")


def write_provenance(
    about: str, tuned: Mapping[str, Any], data: Iterable[Path], table: Path, points: Path, path: Path
) -> None:
    """Write as JSON what ran (``about``, JSON too), with which tuned values, on which data, with what.

    data_variant : data set -> which content it had ("genuine", "rebuilt", ...), where sources differ.
    simd, blas_kernel : instructions and BLAS kernels chosen here; a processor's name decides neither.
    """
    import numpy as np
    import threadpoolctl

    ran, files = json.loads(about), list(data)
    build = np.show_config(mode="dicts")
    blas = build["Build Dependencies"]["blas"]
    kernels = {pool.get("architecture", "") for pool in threadpoolctl.threadpool_info()}
    described = [json.loads(zipfile.ZipFile(file).read("meta.json")) for file in files]  # no array is read
    record = ran | {
        "settings_sha256": _digest(json.dumps(ran.get("settings"), sort_keys=True).encode()),
        "tuned": tuned,
        "data_sha256": {file.name: _digest(file.read_bytes()) for file in files},
        "data_variant": {each["id"]: each["variant"] for each in described},
        "table_sha256": _digest(table.read_bytes()),
        "points_sha256": _digest(points.read_bytes()),
        "commit": _commit(),
        "python": platform.python_version(),
        "system": f"{platform.system()} {platform.machine()}",
        "processor": _processor(),
        "simd": " ".join(build["SIMD Extensions"].get("found", [])),
        "blas": f"{blas['name']} {blas['version']}",
        "blas_kernel": " ".join(sorted(kernels - {""})),
        "packages": _versions(["noisylabels", *NUMERIC]),
    }
    path.write_text(json.dumps(record, indent=1, sort_keys=True) + "\n", encoding="utf-8")


def packages(names: Iterable[str], lock: Path) -> str:
    """Versions, installed and in a lock file, as JSON; a result is made again when either changes.

    A lock file may have several of a package, for different interpreters.
    """
    text = lock.read_text(encoding="utf-8") if lock.is_file() else ""
    locked: dict[str, list[str]] = {}
    for name, version in sorted(re.findall(r"^([A-Za-z0-9._-]+)==([^\s;]+)", text, re.M)):
        if name in names:
            locked.setdefault(name, []).append(version)
    return json.dumps({"installed": _versions(names), "locked": locked}, sort_keys=True)


def damaged() -> str:
    """Which package cannot be imported, and why, in one line; "" if all can."""
    for name in DRAWING:
        try:
            import_module(MODULES.get(name, name))
        except Exception as error:  # a damaged file can raise anything
            return f"{name} ({type(error).__name__}: {' '.join(str(error).split())[:200]})"
    return ""


def _versions(names: Iterable[str]) -> dict[str, str]:
    """Those of the packages that are installed."""
    found = {}
    for name in names:
        with suppress(metadata.PackageNotFoundError):
            found[name] = metadata.version(name)
    return found


def _commit() -> str:
    """Commit of the checkout, with "+" if files that git knows were changed; "unknown" outside a checkout."""
    command = ["git", "describe", "--always", "--dirty=+", "--abbrev=40", "--exclude=*"]
    folder = Path(__file__).resolve().parent
    try:
        return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return "unknown"


def _processor() -> str:
    with suppress(OSError):
        if found := re.search(r"^model name.*?:(.*)$", Path("/proc/cpuinfo").read_text(), re.M):
            return found[1].strip()
    return platform.processor() or platform.machine()


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()
