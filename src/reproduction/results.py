"""The tidy result table, one row per data set, noise, setting, method, repetition, metric, x; its provenance.

Equal runs give equal bytes: fixed columns and number format, rows in the order in which the protocol yields
them; in the provenance commit, versions, processor and digests, but no times.
"""

import glob
import hashlib
import json
import math
import os
import platform
import re
import subprocess
import zipfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from importlib import import_module, metadata
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import psutil

if TYPE_CHECKING:
    import pandas as pd

MEANINGS = {
    "dataset": "id of the data set; `synthetic` where a protocol draws its own data, and nothing else",
    "source": "which variant of the data it was",
    "noise": "label of the noise, as in the settings",
    "setting": "what else tells rows apart, such as how a method was selected; may be empty",
    "method": "label of the method, as in the settings",
    "repetition": "number of the split or of the draw; rows of one repetition are paired",
    "metric": "what was measured, one of the `labels` that the protocol declares",
    "x": "place on a curve; empty of a single number",
    "value": "the number, finite",
}
"""Column of a result table -> what it holds."""
COLUMNS = [*MEANINGS]

Row = dict[str, Any]
"""Column of `COLUMNS` -> what a row has there."""

LABELS = ("dataset", "source", "noise", "setting", "method", "metric")
DEFAULTS = {"dataset": "synthetic", "source": "synthetic", "noise": "", "setting": "", "x": math.nan}

NUMERIC = ("numpy", "scipy", "numba", "llvmlite", "pandas", "scikit-learn", "soundfile", "pyroomacoustics")
"""Packages that experiments, data sets and verdicts are computed with."""

DRAWING = (*NUMERIC, "matplotlib", "pillow", "fonttools")
"""Packages that figures and tables are drawn with."""

MODULES = {"scikit-learn": "sklearn", "pillow": "PIL", "fonttools": "fontTools"}
"""Packages whose module has another name."""

# Files that are whole or not there


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


# The table


def write_rows(rows: Iterable[Mapping[str, Any]], path: str | Path) -> None:
    """Write result rows (with the keys of `COLUMNS`; missing ones take `DEFAULTS`) as a byte-stable CSV.

    Raises ValueError: an unknown or missing column, a value that is not finite, a label with a comma; nothing
    is written.
    """
    lines = [",".join(COLUMNS), *(_line(row, f"row {number}: ") for number, row in enumerate(rows))]
    Path(path).write_text("\n".join(lines) + "\n", encoding="utf-8", newline="\n")


def _line(row: Mapping[str, Any], where: str) -> str:
    if unknown := sorted(set(row) - set(COLUMNS)):
        raise ValueError(f"{where}unknown columns {unknown}; a result row has {COLUMNS}")
    full: Row = DEFAULTS | dict(row)
    if missing := [column for column in COLUMNS if column not in full]:
        raise ValueError(f"{where}missing columns {missing}")
    x, value = float(full["x"]), float(full["value"])
    if not math.isfinite(value):
        what = f"{full['metric']} of method {full['method']}"
        place = f"repetition {full['repetition']}, x = {x}"
        raise ValueError(f"{where}the value of {what} ({place}) is {value}; results must be finite")
    if math.isinf(x):
        raise ValueError(f"{where}x is infinite")
    labels = {column: str(full[column]) for column in LABELS}
    for column, text in labels.items():
        if set(text) & set(',"\r\n'):
            rule = "holds a comma, a quote or a line break; use a plain label"
            raise ValueError(f"{where}{column} {text!r} {rule}")
    numbers = {"repetition": int(full["repetition"]), "x": "" if math.isnan(x) else f"{x:.10g}"}
    cells = {**labels, **numbers, "value": f"{value:.10g}"}
    return ",".join(str(cells[column]) for column in COLUMNS)


def concatenate(parts: Iterable[str | Path], path: str | Path) -> None:
    """Join the tables ``parts``, in the order given, into one table.

    Raises ValueError: a part whose header is not that of a result table, or that ends within a line.
    """
    header, body = ",".join(COLUMNS) + "\n", []
    for part in parts:
        text = Path(part).read_text(encoding="utf-8")
        if not text.startswith(header) or not text.endswith("\n"):
            remedy = "delete it and run again"
            raise ValueError(f"{part} is not a whole result table (columns {COLUMNS}); {remedy}")
        body.append(text.removeprefix(header))
    Path(path).write_text(header + "".join(body), encoding="utf-8", newline="\n")


def read_table(path: str | Path | IO[bytes]) -> "pd.DataFrame":
    """Read a result table with text columns as text and empty labels as "".

    Raises ValueError: columns other than `COLUMNS`.
    """
    import pandas as pd

    types = dict.fromkeys(COLUMNS, "object") | {"repetition": "int64", "x": "float64", "value": "float64"}
    frame = pd.read_csv(path, keep_default_na=False, na_values={"x": [""]}, dtype=types)
    if list(frame.columns) != COLUMNS:
        raise ValueError(f"{path} has the columns {list(frame.columns)}, a result table has {COLUMNS}")
    return frame


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


# Where it comes from


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
