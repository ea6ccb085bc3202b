"""Records of results: what each was made from, and the hashes of its files.

What *decides* is compared with the plan (see `reproduction.plan.currency`): what was requested, the
inputs, and the code and files that the job read. The rest informs: commit, versions, machine.
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
"""Format of records; a result whose record has another format is made again."""
RECORD = "record.json"
UNKNOWN = "unknown"
"""Value of what was not observed when an old result was made."""

NUMERIC = (
    "numpy",
    "scipy",
    "numba",
    "llvmlite",
    "pandas",
    "scikit-learn",
    "soundfile",
    "pyroomacoustics",
)
"""Packages with which experiments, data sets and verdicts are computed."""
DRAWING = (*NUMERIC, "matplotlib", "pillow", "fonttools")
"""Packages with which figures and tables are drawn."""
MODULES = {"scikit-learn": "sklearn", "pillow": "PIL", "fonttools": "fontTools"}
"""Package -> its module, if that has another name."""

LONGEST_REASON = 200
"""Largest number of characters that are shown of an import error."""
REQUIRED = {"asked", "inputs", "read"}
"""Keys of every record that decide whether its result is current."""

Record = dict[str, Any]


@dataclass
class Making:
    """A job at work, with its request and the content of its record.

    Attributes
    ----------
    request : dict
        What decides; ``asked`` in the key.
    context : dict
        What decides nothing; ``given`` in the key.
    informs : dict
        Facts that are recorded only.
    outputs : list of Path
        The files of the result.
    """

    request: dict[str, Any]
    context: dict[str, Any]
    informs: dict[str, Any] = field(default_factory=dict)
    outputs: list[Path] = field(default_factory=list)


@contextmanager
def making(key: Path | None, record: Path | None, sources: bool = False) -> Iterator[Making]:
    """Do a job, then write the record of its result.

    Parameters
    ----------
    key : Path or None
        What the plan requests (see `reproduction.plan.currency`); without one nothing is recorded.
    record : Path or None
        File to write; the outputs are in its folder or below.
    sources : bool, default False
        Whether code is shown, so that its comments count.

    Raises
    ------
    SystemExit
        If what the job read, or a package, was changed while it ran; nothing is recorded.
    """
    if key is None or record is None:
        yield Making({}, {})
        return
    content = json.loads(key.read_bytes())
    reading.start()
    reading.include(content["inputs"])
    before = versions()
    result = Making(content["asked"], content["given"])
    yield result
    changed = reading.changed()
    if changed:
        raise SystemExit(f"error: {changed} was edited while this job ran; start the run again")
    _check_versions(before, versions())
    informs = result.informs | where_made()
    write(record, decisive(content, sources), result.outputs, informs)


def _check_versions(before: Mapping[str, str], after: Mapping[str, str]) -> None:
    """End the job if other versions of packages were installed while it ran."""
    if after == before:
        return
    changed = [name for name in {**before, **after} if before.get(name) != after.get(name)]
    names = ", ".join(changed)
    event = f"other versions of {names} were installed while this job ran"
    raise SystemExit(f"error: {event}; start again")


def decisive(content: Mapping[str, Any], sources: bool) -> Record:
    """Collect what decides whether a result is current: request, inputs, and files read."""
    inputs = {}
    paths = set()
    for input_file in content["inputs"]:
        inputs[input_file] = code_digest.digest_bytes(Path(input_file))
        paths.add(os.path.abspath(input_file))
    names = [*reading.modules(), *reading.data_files(sources), *reading.folders()]
    read = {}
    for name in names:
        file = reading.find(name.removesuffix(reading.LISTED))
        if file is not None and os.path.abspath(file) not in paths:
            read[name] = digest_read(name, sources)
    return {"asked": content["asked"], "inputs": inputs, "read": read}


def digest_read(name: str, sources: bool = False) -> str:
    """Compute the present digest of a file that a job has read; "" if it is gone."""
    file = reading.find(name.removesuffix(reading.LISTED))
    if file is None:
        return ""
    if name.endswith(reading.LISTED):
        entries = [entry for entry in os.listdir(file) if not entry.startswith((".", "__"))]
        text = "\n".join(sorted(entries))
        return hashlib.sha256(text.encode()).hexdigest()[:16]
    if file.suffix == ".py" and not sources:
        return code_digest.digest_code(file)
    return code_digest.digest_bytes(file)


def write(
    path: Path,
    decides: Record,
    outputs: Iterable[Path],
    informs: Mapping[str, Any],
) -> None:
    """Write the record of a result whose files are in the folder of the record or below it."""
    digests = {}
    for file in outputs:
        digests[os.path.relpath(file, path.parent)] = code_digest.digest_bytes(file)
    record = {"format": FORMAT, "decides": decides, "outputs": digests, "informs": informs}
    path.parent.mkdir(parents=True, exist_ok=True)
    with replacing(path) as part:
        part.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")


def record_of(file: Path) -> Path | None:
    """Find the record that describes a file; None if there is none."""
    records = [*places_of_record(file), *sorted(file.parent.glob(f"*.{RECORD}"))]
    for record in dict.fromkeys(records):
        if record.is_file() and file.name in read_record(record)["outputs"]:
            return record
    return None


def places_of_record(file: Path) -> Iterator[Path]:
    """List the places where the record of a file may be, the most specific first."""
    stem = file.name
    while "." in stem:
        stem = stem.rpartition(".")[0]
        yield file.with_name(f"{stem}.{RECORD}")
    yield file.with_name(RECORD)


def read_record(path: Path) -> Record:
    """Read a record. Raises ValueError: it cannot be read, or has another format."""
    try:
        record: Record = json.loads(path.read_bytes())
        is_current_format = record["format"] == FORMAT and isinstance(record["outputs"], dict)
        if is_current_format and set(record["decides"]) >= REQUIRED:
            return record
    except (ValueError, KeyError, TypeError):
        raise ValueError(f"{path} cannot be read; delete it, and run again") from None
    raise ValueError(f"{path} is of another version of this project; run again")


def facts(path: Path) -> Record:
    """Collect the record of a result table in one flat dict; {} without a record."""
    if not path.is_file():
        return {}
    record = read_record(path)
    decides = record["decides"]
    data = {}
    for file, digest in decides["inputs"].items():
        if file.endswith(".npz"):
            data[Path(file).name] = digest
    facts = dict(record["informs"])
    facts["data_sha256"] = data
    facts["read"] = decides["read"]
    facts["asked"] = decides["asked"]
    for name, digest in record["outputs"].items():
        stem = name.partition(".")[0]
        facts[f"{stem}_sha256"] = digest
    return facts


def verify(path: str | Path) -> None:
    """Check that a file is the one in the record next to it, if there is a record.

    Raises
    ------
    ValueError
        If it is another file, or the record cannot be read; the message says what to run.
    """
    file = Path(path)
    record = record_of(file)
    if record is None:
        return
    if code_digest.digest_bytes(file) != read_record(record)["outputs"][file.name]:
        fault = f"is not the file that {record} records (changed by hand?)"
        raise ValueError(f"{file} {fault}; run again")


def describe_numbers(
    description: Mapping[str, Any],
    tuned: Mapping[str, Any],
    data: Iterable[Path],
) -> Record:
    """Describe what a result table was computed from, and with what.

    Parameters
    ----------
    description : dict
        What ran; all of it becomes part of the answer.
    tuned : dict
        Tuned values, by cell.
    data : iterable of Path
        Prepared data sets.

    Returns
    -------
    dict
        ``data_variant`` has for each data set the content that it had ("genuine", "rebuilt", ...),
        where sources differ. ``simd`` and ``blas_kernel`` are the instructions and BLAS kernels
        that were chosen here; the name of a processor decides neither. ``calibration_ms`` is the
        time of a fixed piece of work here.
    """
    import numpy as np
    import threadpoolctl

    from reproduction.run.calibration import measure_calibration

    build = np.show_config(mode="dicts")
    blas = build["Build Dependencies"]["blas"]
    kernels = {pool.get("architecture", "") for pool in threadpoolctl.threadpool_info()}
    variants = {}
    for file in data:
        meta = json.loads(zipfile.ZipFile(file).read("meta.json"))  # no array is read
        variants[meta["id"]] = meta["variant"]
    settings = json.dumps(description.get("settings"), sort_keys=True)
    return {
        **description,
        "settings_sha256": hashlib.sha256(settings.encode()).hexdigest(),
        "tuned": tuned,
        "data_variant": variants,
        "simd": " ".join(build["SIMD Extensions"].get("found", [])),
        "blas": f"{blas['name']} {blas['version']}",
        "blas_kernel": " ".join(sorted(kernels - {""})),
        "calibration_ms": measure_calibration(),
    }


def where_made() -> Record:
    """Describe the commit, the versions and the machine of this process."""
    return {
        "commit": _commit(),
        "python": platform.python_version(),
        "system": f"{platform.system()} {platform.machine()}",
        "processor": _processor(),
        "packages": versions(),
    }


def damaged() -> str:
    """Say in one line which package cannot be imported and why; "" if all can."""
    for name in DRAWING:
        try:
            import_module(MODULES.get(name, name))
        except Exception as error:  # a damaged file can raise anything
            message = " ".join(str(error).split())
            return f"{name} ({type(error).__name__}: {message[:LONGEST_REASON]})"
    return ""


def versions() -> dict[str, str]:
    """Look up the versions of the installed packages that results depend on."""
    installed = {}
    for name in ("noisylabels", *DRAWING):
        with suppress(metadata.PackageNotFoundError):
            installed[name] = metadata.version(name)
    return installed


@cache
def _commit() -> str:
    """Return the commit of the checkout, with "+" if tracked files were changed.

    It is "unknown" outside a checkout.
    """
    command = ["git", "describe", "--always", "--dirty=+", "--abbrev=40", "--exclude=*"]
    folder = Path(__file__).resolve().parent
    try:
        output = subprocess.check_output(
            command,
            cwd=folder,
            stderr=subprocess.DEVNULL,
            text=True,
        )
    except (OSError, subprocess.CalledProcessError):
        return "unknown"
    return output.strip()


@cache
def _processor() -> str:
    with suppress(OSError):
        description = Path("/proc/cpuinfo").read_text()
        model = re.search(r"^model name.*?:(.*)$", description, re.M)
        if model:
            return model[1].strip()
    return platform.processor() or platform.machine()
