"""Preparation: the raw files of a data set become arrays of a known shape in one .npz."""

import contextlib
import json
import math
import os
import resource
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping
from inspect import isfunction
from pathlib import Path
from typing import Any

import numpy as np

from reproduction.data.array_rules import check_rules
from reproduction.data.errors import DataError
from reproduction.data.fetch import read_record
from reproduction.data.prepared import Arrays, Dataset, array_digest, write_npz
from reproduction.data.registry import is_users, loader_module, sha256_of
from reproduction.paths import SOURCES
from reproduction.run import reading
from reproduction.run.atomic_files import replacing
from reproduction.spec.errors_of_users import describe_error
from reproduction.spec.suggestions import near
from reproduction.spec.user_modules import import_module, module_file

MEMORY, MEMORY_PER_BYTE = 1 << 30, 16
"""Address space of an isolated reader in bytes: fixed, and per byte of its files."""
SECONDS, SECONDS_PER_BYTE = 15, 1e-6
"""Processor seconds of an isolated reader: fixed, and per byte (the 880 MB of SUSY take 35 s)."""
PATIENCE = 4
"""Wall-clock time of a reader, as a multiple of its processor time, as the machine may be busy."""
THREADS = ("OMP", "OPENBLAS", "MKL", "NUMBA", "VECLIB_MAXIMUM", "NUMEXPR")
"""Libraries that get one thread, because each further one would need address space."""


def prepare(raw: Path) -> Dataset:
    """Read the raw files of a data set.

    Files of the user, and those whose hash the registry does not know, are read in a process with
    limits.

    Parameters
    ----------
    raw : Path
        Folder with the files, and with ``source.json``, which describes them.

    Returns
    -------
    Dataset
        The data set.

    Raises
    ------
    FileNotFoundError
        If there is no ``source.json``: fetch first.
    DataError
        If the record or a raw file was changed, a file is missing or cannot be read, shape or
        digest are not those of the registry, or there is no such loader.
    """
    record = read_record(raw)
    remedy = f"remove {raw} and fetch again"
    files = {name: raw / name for name in record["files"]}
    for name, path in files.items():
        full_remedy = f"{remedy} (src/scripts/fetch.py, or run again)"
        if not path.is_file():
            raise DataError(f"{path} is missing though its record lists it; {full_remedy}")
        sha256 = sha256_of(path)
        expected = record["files"][name]
        if sha256 != expected:
            hashes = f"sha256 {sha256}, expected {expected}"
            raise DataError(f"{path} is not what was fetched: {hashes}; {full_remedy}")
    try:
        read = read_isolated if record["isolated"] else _read
        options = record.get("options", {})
        arrays = read(record["loader"], files, options)
        task = record.get("task", "other")
        check_arrays(record["id"], record["source"], arrays, record["shape"], task)
        if _is_of_user(record["loader"]):
            _check_repeatable(record["loader"], arrays, _read(record["loader"], files, options))
        if "registry" in record or record["source"] == "local":
            arrays = _note_copies(arrays)
    except ValueError as error:
        message = str(error)
        if "registry" in record:  # the key in which the user says how to read the file
            message = f"{record['registry']}: datasets.{record['id']}: {message}"
        if record["unverified"]:
            names = ", ".join(record["unverified"])
            message += f"; the hash of {names} was not known beforehand"
            message += f": if the download went wrong, {remedy}"
        raise DataError(message) from error
    digest = array_digest(round_arrays(arrays, record["prepared_decimals"]))
    expected = record["prepared_sha256"]
    if expected and digest != expected:
        arrays_of_variant = f"the prepared arrays of variant {record['variant']}"
        cause = f"the loader {record['loader']} or a library below it behaves differently"
        hashes = f"digest {digest}, expected {expected}"
        raise DataError(f"{record['id']}: {arrays_of_variant} have {hashes}; {cause}")
    return Dataset(record["id"], record["source"], record["variant"], arrays, array_digest(arrays))


def round_arrays(arrays: Arrays, decimals: int | None) -> Arrays:
    """Round values whose last bits depend on the processor, if a number of digits is given."""
    if decimals is None:
        return arrays
    rounded = {}
    for name, array in arrays.items():
        is_float = array.dtype.kind == "f"
        # + 0.0: a negative zero becomes zero
        rounded[name] = np.round(array, decimals) + 0.0 if is_float else array
    return rounded


def check_arrays(
    dataset: str, source: str, arrays: Arrays, shape: Mapping[str, Any], task: str = "other"
) -> None:
    """Check the values and the shape of arrays, and the rules of their task.

    Parameters
    ----------
    dataset, source : str
        Names, for messages.
    arrays : dict
        Name -> array.
    shape : mapping
        What is expected of ``rows``, ``columns``, ``classes``, ``samples`` and ``rate``.
    task : str
        Task of the registry; see `check_rules`.

    Raises
    ------
    DataError
        If a value is not finite, lengths or indices do not fit together, or the shape is another.
    """
    for name, array in arrays.items():
        if array.dtype.kind == "f" and not np.isfinite(array).all():
            raise DataError(f"{dataset} from source {source}: a value of {name} is not finite")
    try:
        check_rules(arrays, task)
    except ValueError as error:
        raise DataError(f"{dataset} from source {source}: {error}") from None
    facts: dict[str, Any] = {}
    if "signal" in arrays:
        facts = {"samples": len(arrays["signal"]), "rate": int(arrays["rate"])}
    if "y" in arrays:
        labels, counts = np.unique(arrays["y"], return_counts=True)
        facts["rows"] = len(arrays["y"])
        names = [str(label) for label in labels.tolist()]
        facts["classes"] = dict(zip(names, counts.tolist(), strict=True))
    if "X" in arrays:
        facts |= dict(zip(("rows", "columns"), arrays["X"].shape, strict=False))
    elif "shape" in arrays:
        facts |= dict(zip(("rows", "columns"), arrays["shape"].tolist(), strict=True))
    for key, expected in shape.items():
        value = facts.get(key, "missing")
        if value != expected:
            difference = f"{key} is {value}, expected {expected}"
            cause = "the file is not the data set that the registry describes"
            raise DataError(f"{dataset} from source {source}: {difference}; {cause}")


def write_prepared(dataset: Dataset, path: Path) -> None:
    """Write a data set as an .npz, in one step."""
    meta = {name: getattr(dataset, name) for name in ("id", "source", "variant", "digest")}
    path.parent.mkdir(parents=True, exist_ok=True)
    with replacing(path) as part:
        write_npz(part, meta, dataset.arrays)


def find_loader(spec: str) -> Callable[..., Arrays]:
    """Find a loader by its name.

    Parameters
    ----------
    spec : str
        ``uci:heart`` of this package, or ``paper.module:function``.

    Returns
    -------
    callable
        The loader.

    Raises
    ------
    ValueError
        If there is no such function, or its module cannot be imported.
    """
    module_name = loader_module(spec)
    name = spec.partition(":")[2]
    try:
        module = import_module(module_name)
    except ModuleNotFoundError as error:
        remedy = "correct `loader` in the registry (of your paper: module:function)"
        raise ValueError(f"loader {spec}: {error}; {remedy}") from None
    loader: Callable[..., Arrays] | None = getattr(module, name, None)
    if not callable(loader):
        functions = [key for key, member in vars(module).items() if isfunction(member)]
        nearest = near(name, functions)
        raise ValueError(f"loader {spec}: no function {name} in {module_name}{nearest}")
    return loader


def _read(loader: str, files: Mapping[str, Path], options: Mapping[str, Any]) -> Arrays:
    """Let a loader read files, and name the loader if it fails."""
    function = find_loader(loader)
    try:
        arrays = function(files, **options)
    except Exception as error:
        if not is_users(loader):
            raise
        raise DataError(f"loader {loader}: {describe_error(error)}") from error
    if isinstance(arrays, dict) and all(isinstance(array, np.ndarray) for array in arrays.values()):
        return arrays
    must = "it must return {name: array} of numpy arrays, such as {'X': X, 'y': y}"
    raise DataError(f"loader {loader}: {must}")


def _is_of_user(loader: str) -> bool:
    """Decide whether a loader belongs to a paper of a user."""
    if not is_users(loader):
        return False
    file = module_file(loader_module(loader))
    return file is not None and not file.is_relative_to(SOURCES)


def _note_copies(arrays: Arrays) -> Arrays:
    """Note how many rows of a user's table are copies, which a random split may part."""
    X = arrays.get("X")
    y = arrays.get("y")
    if X is None or y is None or X.dtype.kind not in "biuf" or "train" in arrays:
        return arrays
    copies = len(X) - len(np.unique(np.column_stack([X, y]), axis=0))
    if not copies:
        return arrays
    note = f"{copies} of {len(X)} rows are copies of others; a random split may part them"
    return arrays | {"notes": np.array([*arrays.get("notes", ()), note])}


def _check_repeatable(loader: str, first: Arrays, second: Arrays) -> None:
    """Refuse a loader that returns other arrays when it is called again."""
    if {*first} != {*second}:
        raise DataError(f"loader {loader}: a second call returns other arrays: {', '.join(second)}")
    for name, array in first.items():
        if array_digest({name: array}) != array_digest({name: second[name]}):
            remedy = "draw random numbers from a seed, such as np.random.default_rng(0)"
            raise DataError(f"loader {loader}: a second call returns another {name}; {remedy}")


def read_isolated(
    loader: str,
    files: Mapping[str, Path],
    options: Mapping[str, Any] | None = None,
) -> Arrays:
    """Let a loader read files in a child process.

    A file can crash the compiled readers of .mat, audio, svmlight and tables, keep them busy or
    fill the memory.

    Parameters
    ----------
    loader : str
        Name of the loader, such as ``uci:heart``.
    files : mapping
        Name -> path.
    options : mapping, optional
        Keyword arguments of the loader.

    Returns
    -------
    dict
        Name -> array.

    Raises
    ------
    DataError
        If the loader refuses a file, fails, crashes, or reaches a limit of memory or time; the
        message has the folder of the files and the reason.
    """
    size = sum(path.stat().st_size for path in files.values())
    seconds = math.ceil(SECONDS + SECONDS_PER_BYTE * size)
    limits = {"memory": MEMORY + MEMORY_PER_BYTE * size, "seconds": seconds}
    absolute = {name: str(path.absolute()) for name, path in files.items()}
    order = {"loader": loader, "options": options or {}, "files": absolute} | limits
    folders = [str(Path(__file__).parents[2]), os.environ.get("PYTHONPATH")]
    environment = os.environ | {f"{name}_NUM_THREADS": "1" for name in THREADS}
    environment["PYTHONPATH"] = os.pathsep.join(filter(None, folders))
    with tempfile.TemporaryDirectory() as folder:
        answer = Path(folder) / "answer"
        command = [sys.executable, "-P", "-m", __name__, json.dumps(order), str(answer)]
        try:
            code = subprocess.run(
                command, env=environment, timeout=PATIENCE * seconds, check=False, stdout=sys.stderr
            ).returncode
        except subprocess.TimeoutExpired:
            code = -signal.SIGKILL
        reason = explain_exit(code, seconds)
        if code == 0 and answer.is_file():
            with contextlib.suppress(Exception), np.load(answer, allow_pickle=False) as archive:
                arrays = {name: archive[name] for name in archive.files}
                reason = str(arrays.pop("error", ""))
                reading.include(map(str, arrays.pop("read", ())))
                if not reason:
                    return arrays
    location = ", ".join(sorted({str(path.parent) for path in files.values()}))
    raise DataError(f"{location}: {reason}")


def explain_exit(code: int, seconds: int) -> str:
    """Explain why a reader with this exit code and processor time gave no answer."""
    if code == -signal.SIGXCPU:
        return f"the reader was stopped after {seconds:g} s; the file may mean harm"
    if code == -signal.SIGKILL:
        causes = f"no answer within {PATIENCE * seconds:g} s, or no memory left on this machine"
        return f"the reader was killed: {causes}"
    if code < 0:
        return f"the reader crashed ({signal.Signals(-code).name}); the file may mean harm"
    return f"the reader ended without an answer (exit code {code})"


def lower_limit(kind: int, value: int, grace: int = 0) -> None:
    """Lower a limit of this process, on a system that has such a limit."""
    _, hard = resource.getrlimit(kind)
    with contextlib.suppress(ValueError, OSError):
        ceiling = value + grace if hard == resource.RLIM_INFINITY else min(value + grace, hard)
        resource.setrlimit(kind, (min(value, ceiling), ceiling))


def follow(order: dict[str, Any]) -> Arrays:
    """Read the files of an order, and return arrays, or the reason why there are none."""
    files = {name: Path(path) for name, path in order["files"].items()}
    try:
        return find_loader(order["loader"])(files, **order["options"])
    except MemoryError:
        reason = f"the reader needs more than {order['memory'] >> 20} MiB"
        reason += "; the file is damaged or means harm"
    except ValueError as error:
        reason = str(error)
    except Exception as error:  # a damaged file can make a reader raise nearly anything
        reason = f"the loader {order['loader']} fails ({type(error).__name__}: {error})"
    return {"error": np.array(reason)}


def main() -> None:
    """Run as the child: the arguments are an order as JSON and the file for the answer."""
    order = json.loads(sys.argv[1])
    lower_limit(resource.RLIMIT_CORE, 0)
    lower_limit(resource.RLIMIT_AS, order["memory"])
    lower_limit(resource.RLIMIT_CPU, order["seconds"], grace=1)
    reading.start()
    arrays = follow(order)
    files_read = np.array(list(reading.SEEN.files), str)
    with open(sys.argv[2], "wb") as answer:
        np.savez(answer, allow_pickle=False, **arrays, read=files_read)
    os._exit(0)  # ends at once, as exit handlers of libraries can hang or crash


if __name__ == "__main__":
    main()
