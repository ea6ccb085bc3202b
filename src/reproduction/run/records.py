"""The record of a result: what it was made from, and the hashes of its files.

What *decides* is compared with the plan (see `reproduction.plan.currency`): what was asked for, the inputs,
and the code and files that the job read. The rest informs: commit, versions, machine.
"""

import hashlib
import json
import os
import platform
import re
import subprocess
import zipfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module, metadata
from pathlib import Path
from typing import Any

from reproduction.plan import code_digest
from reproduction.run import reading
from reproduction.run.atomic_files import replacing

FORMAT = 1
"""Of a record. What has a record of another format is made again."""
RECORD = "record.json"
UNKNOWN = "unknown"
"""Value of what was not observed when an old result was made."""

NUMERIC = ("numpy", "scipy", "numba", "llvmlite", "pandas", "scikit-learn", "soundfile", "pyroomacoustics")
"""Packages that experiments, data sets and verdicts are computed with."""
DRAWING = (*NUMERIC, "matplotlib", "pillow", "fonttools")
"""Packages that figures and tables are drawn with."""
MODULES = {"scikit-learn": "sklearn", "pillow": "PIL", "fonttools": "fontTools"}
"""Packages whose module has another name."""

Record = dict[str, Any]


@dataclass
class Making:
    """A job at work: what its key asks for, and what its record will say.

    asked : what decides.   given : words that decide nothing.
    informs : for the record.   outputs : the files of the result.
    """

    asked: dict[str, Any]
    given: dict[str, Any]
    informs: dict[str, Any] = field(default_factory=dict)
    outputs: list[Path] = field(default_factory=list)


@contextmanager
def making(key: Path | None, record: Path | None, sources: bool = False) -> Iterator[Making]:
    """Do a job, then write the record of its result.

    Parameters
    ----------
    key : what the plan asks for (see `reproduction.plan.currency`); without one nothing is recorded.
    record : where to write it; the outputs lie in its folder or below.
    sources : whether code is shown, so that its comments count.

    Raises
    ------
    SystemExit : what the job read, or a package, was changed while it ran; nothing is recorded.
    """
    if key is None or record is None:
        yield Making({}, {})
        return
    content = json.loads(key.read_bytes())
    reading.start()
    reading.include(content["inputs"])
    before = versions()
    made = Making(content["asked"], content["given"])
    yield made
    if changed := reading.changed():
        raise SystemExit(f"error: {changed} was edited while this job ran; start the run again")
    if (after := versions()) != before:
        names = ", ".join(name for name in {**before, **after} if before.get(name) != after.get(name))
        raise SystemExit(f"error: other versions of {names} were installed while this job ran; start again")
    write(record, decisive(content, sources), made.outputs, made.informs | where_made())


def decisive(content: Mapping[str, Any], sources: bool) -> Record:
    """What decides whether a result is current: asked, inputs, and what this process read."""
    named = {os.path.abspath(file) for file in content["inputs"]}
    inputs = {file: code_digest.digest_bytes(Path(file)) for file in content["inputs"]}
    read = {}
    for name in [*reading.modules(), *reading.data_files(sources), *reading.folders()]:
        found = reading.find(name.removesuffix(reading.LISTED))
        if found is not None and os.path.abspath(found) not in named:
            read[name] = digest_read(name, sources)
    return {"asked": content["asked"], "inputs": inputs, "read": read}


def digest_read(name: str, sources: bool = False) -> str:
    """Digest now of what a job read under a name; "" if it is not there any more."""
    found = reading.find(name.removesuffix(reading.LISTED))
    if found is None:
        return ""
    if name.endswith(reading.LISTED):
        listed = sorted(each for each in os.listdir(found) if not each.startswith((".", "__")))
        return hashlib.sha256("\n".join(listed).encode()).hexdigest()[:16]
    if found.suffix == ".py" and not sources:
        return code_digest.digest_code(found)
    return code_digest.digest_bytes(found)


def write(path: Path, decides: Record, outputs: Iterable[Path], informs: Mapping[str, Any]) -> None:
    """Write the record of a result whose files lie in the folder of the record or below it."""
    named = {os.path.relpath(file, path.parent): code_digest.digest_bytes(file) for file in outputs}
    record = {"format": FORMAT, "decides": decides, "outputs": named, "informs": informs}
    path.parent.mkdir(parents=True, exist_ok=True)
    with replacing(path) as part:
        part.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")


def record_of(file: Path) -> Path | None:
    """The record beside a file that describes it; None if no record does."""
    for record in dict.fromkeys([*places_of_record(file), *sorted(file.parent.glob(f"*.{RECORD}"))]):
        if record.is_file() and file.name in read_record(record)["outputs"]:
            return record
    return None


def places_of_record(file: Path) -> Iterator[Path]:
    """Where the record of a file may be, the most particular place first."""
    stem = file.name
    while "." in stem:
        stem = stem.rpartition(".")[0]
        yield file.with_name(f"{stem}.{RECORD}")
    yield file.with_name(RECORD)


def read_record(path: Path) -> Record:
    """A record that was written. Raises ValueError: it cannot be read, or is of another format."""
    try:
        found: Record = json.loads(path.read_bytes())
        known = found["format"] == FORMAT and isinstance(found["outputs"], dict)
        if known and {"asked", "inputs", "read"} <= set(found["decides"]):
            return found
    except (ValueError, KeyError, TypeError):
        raise ValueError(f"{path} cannot be read; delete it, and run again") from None
    raise ValueError(f"{path} is of another version of this project; run again")


def facts(path: Path) -> Record:
    """What a record says of a result table, one level deep; {} without a record."""
    if not path.is_file():
        return {}
    record = read_record(path)
    decides = record["decides"]
    inputs = {Path(file).name: digest for file, digest in decides["inputs"].items()}
    data = {name: digest for name, digest in inputs.items() if name.endswith(".npz")}
    found = {**record["informs"], "data_sha256": data, "read": decides["read"], "asked": decides["asked"]}
    for name, digest in record["outputs"].items():
        found[f"{name.partition('.')[0]}_sha256"] = digest
    return found


def verify(path: str | Path) -> None:
    """Nothing if the file is the one of the record beside it, or if no record describes it.

    Raises ValueError: another file, or a record that cannot be read; the message says what to run.
    """
    file = Path(path)
    record = record_of(file)
    if record is None:
        return
    if code_digest.digest_bytes(file) != read_record(record)["outputs"][file.name]:
        raise ValueError(f"{file} is not the file that {record} records (changed by hand?); run again")


def describe_numbers(about: Mapping[str, Any], tuned: Mapping[str, Any], data: Iterable[Path]) -> Record:
    """What informs of a result table: what ran, tuned values, the data and what computed.

    data_variant : data set -> which content it had ("genuine", "rebuilt", ...), where sources differ.
    simd, blas_kernel : instructions and BLAS kernels chosen here; a processor's name decides neither.
    """
    import numpy as np
    import threadpoolctl

    build = np.show_config(mode="dicts")
    blas = build["Build Dependencies"]["blas"]
    kernels = {pool.get("architecture", "") for pool in threadpoolctl.threadpool_info()}
    described = [json.loads(zipfile.ZipFile(file).read("meta.json")) for file in data]  # no array is read
    settings = json.dumps(about.get("settings"), sort_keys=True)
    return {
        **about,
        "settings_sha256": hashlib.sha256(settings.encode()).hexdigest(),
        "tuned": tuned,
        "data_variant": {each["id"]: each["variant"] for each in described},
        "simd": " ".join(build["SIMD Extensions"].get("found", [])),
        "blas": f"{blas['name']} {blas['version']}",
        "blas_kernel": " ".join(sorted(kernels - {""})),
    }


def where_made() -> Record:
    """Commit, versions and machine of this process."""
    return {
        "commit": _commit(),
        "python": platform.python_version(),
        "system": f"{platform.system()} {platform.machine()}",
        "processor": _processor(),
        "packages": versions(),
    }


def damaged() -> str:
    """Which package cannot be imported, and why, in one line; "" if all can."""
    for name in DRAWING:
        try:
            import_module(MODULES.get(name, name))
        except Exception as error:  # a damaged file can raise anything
            return f"{name} ({type(error).__name__}: {' '.join(str(error).split())[:200]})"
    return ""


def versions() -> dict[str, str]:
    """Versions of the packages that results depend on, where they are installed."""
    found = {}
    for name in ("noisylabels", *DRAWING):
        with suppress(metadata.PackageNotFoundError):
            found[name] = metadata.version(name)
    return found


@cache
def _commit() -> str:
    """Commit of the checkout, with "+" if files that git knows were changed; "unknown" outside a checkout."""
    command = ["git", "describe", "--always", "--dirty=+", "--abbrev=40", "--exclude=*"]
    folder = Path(__file__).resolve().parent
    try:
        return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return "unknown"


@cache
def _processor() -> str:
    with suppress(OSError):
        if found := re.search(r"^model name.*?:(.*)$", Path("/proc/cpuinfo").read_text(), re.M):
            return found[1].strip()
    return platform.processor() or platform.machine()
