"""Raw files -> one prepared file per data set: arrays of a known shape, with their digest, in an .npz."""

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

from reproduction.data.errors import DataError
from reproduction.data.fetch import read_record
from reproduction.data.prepared import Arrays, Dataset, array_digest, write_npz
from reproduction.data.registry import is_users, loader_module, sha256_of
from reproduction.run import reading
from reproduction.run.atomic_files import replacing
from reproduction.spec.strict_yaml import near
from reproduction.spec.user_modules import describe_error, import_module

MEMORY, MEMORY_PER_BYTE = 1 << 30, 16
"""Bytes of address space of a reader in isolation, libraries included; what each byte of its files adds."""
SECONDS, SECONDS_PER_BYTE = 15, 1e-6
"""Processor time of such a reader, and what each byte of its files adds (the 880 MB of SUSY take 35 s)."""
PATIENCE = 4
"""Wall-clock time, as a multiple of the processor time: the machine may be busy."""
THREADS = ("OMP", "OPENBLAS", "MKL", "NUMBA", "VECLIB_MAXIMUM", "NUMEXPR")
"""Libraries that are given one thread; each further one would need address space."""


def prepare(raw: Path) -> Dataset:
    """The data set whose raw files lie in ``raw``, as its ``source.json`` describes them.

    Files of the user, and those whose hash the registry does not know, are read in a process with limits.

    Raises FileNotFoundError : there is no ``source.json``; fetch first.   DataError : the record was changed;
    a raw file is missing, was changed, or cannot be read; another shape or digest than the registry has; no
    such loader.
    """
    record = read_record(raw)
    remedy = f"remove {raw} and fetch again"
    files = {name: raw / name for name in record["files"]}
    for name, path in files.items():
        how = f"{remedy} (src/scripts/fetch.py, or run again)"
        if not path.is_file():
            raise DataError(f"{path} is missing though its record lists it; {how}")
        if (found := sha256_of(path)) != (expected := record["files"][name]):
            raise DataError(f"{path} is not what was fetched: sha256 {found}, expected {expected}; {how}")
    try:
        read = isolated if record["isolated"] else _loaded
        arrays = read(record["loader"], files, record.get("options", {}))
        check_arrays(record["id"], record["source"], arrays, record["shape"])
    except ValueError as error:
        said = str(error)
        if "registry" in record:  # where the user says how the file is to be read
            said = f"{record['registry']}: datasets.{record['id']}: {said}"
        if names := ", ".join(record["unverified"]):
            said += f"; the hash of {names} was not known beforehand: if the download went wrong, {remedy}"
        raise DataError(said) from error
    digest = array_digest(rounded(arrays, record["prepared_decimals"]))
    expected = record["prepared_sha256"]
    if expected and digest != expected:
        raise DataError(
            f"{record['id']}: the prepared arrays of variant {record['variant']} have digest {digest}, "
            f"expected {expected}; the loader {record['loader']} or a library below it behaves differently"
        )
    return Dataset(record["id"], record["source"], record["variant"], arrays, array_digest(arrays))


def rounded(arrays: Arrays, decimals: int | None) -> Arrays:
    """The arrays with values rounded, where their last bits depend on the processor; None: as they are."""
    if decimals is None:
        return arrays
    return {  # + 0.0: there is only one zero
        name: np.round(array, decimals) + 0.0 if array.dtype.kind == "f" else array
        for name, array in arrays.items()
    }


def check_arrays(dataset: str, source: str, arrays: Arrays, shape: Mapping[str, Any]) -> None:
    """DataError if a value is not finite, or rows, columns, classes, samples or rate are not as given."""
    for name, array in arrays.items():
        if array.dtype.kind == "f" and not np.isfinite(array).all():
            raise DataError(f"{dataset} from source {source}: a value of {name} is not finite")
    found: dict[str, Any] = {}
    if "signal" in arrays:
        found = {"samples": len(arrays["signal"]), "rate": int(arrays["rate"])}
    if "y" in arrays:
        labels, counts = np.unique(arrays["y"], return_counts=True)
        found["rows"] = len(arrays["y"])
        found["classes"] = {str(label): int(n) for label, n in zip(labels.tolist(), counts, strict=True)}
    if "X" in arrays:
        found |= dict(zip(("rows", "columns"), arrays["X"].shape, strict=False))
    elif "shape" in arrays:
        found |= dict(zip(("rows", "columns"), arrays["shape"].tolist(), strict=True))
    for key, expected in shape.items():
        if (value := found.get(key, "missing")) != expected:
            what = f"{key} is {value}, expected {expected}"
            other = "the file is not the data set that the registry describes"
            raise DataError(f"{dataset} from source {source}: {what}; {other}")


def write_prepared(dataset: Dataset, path: Path) -> None:
    """The data set as an .npz; atomic."""
    meta = {name: getattr(dataset, name) for name in ("id", "source", "variant", "digest")}
    path.parent.mkdir(parents=True, exist_ok=True)
    with replacing(path) as part:
        write_npz(part, meta, dataset.arrays)


def find_loader(spec: str) -> Callable[..., Arrays]:
    """The loader ``uci:heart`` of this package, or the user's own, which has a dot before the colon.

    Raises ValueError : there is no such function, or its module cannot be imported.
    """
    module_name, name = loader_module(spec), spec.partition(":")[2]
    try:
        module = import_module(module_name)
    except ModuleNotFoundError as error:
        remedy = "correct `loader` in the registry (of your paper: module:function)"
        raise ValueError(f"loader {spec}: {error}; {remedy}") from None
    loader: Callable[..., Arrays] | None = getattr(module, name, None)
    if not callable(loader):
        functions = [key for key, each in vars(module).items() if isfunction(each)]
        raise ValueError(f"loader {spec}: no function {name} in {module_name}{near(name, functions)}")
    return loader


def _loaded(loader: str, files: Mapping[str, Path], options: Mapping[str, Any]) -> Arrays:
    """The arrays that a loader makes of the files. Raises DataError : one of the user's fails; where."""
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


def isolated(loader: str, files: Mapping[str, Path], options: Mapping[str, Any] | None = None) -> Arrays:
    """The arrays that ``loader`` ("uci:heart") makes of the files and options, computed in a child process.

    A file can crash the compiled readers of .mat, audio, svmlight and tables, keep them busy or fill the
    memory.   Raises DataError : the loader refuses a file, fails, crashes, or reaches a limit of memory or
    time; the message has the folder of the files and the reason.
    """
    size = sum(path.stat().st_size for path in files.values())
    seconds = math.ceil(SECONDS + SECONDS_PER_BYTE * size)
    limits = {"memory": MEMORY + MEMORY_PER_BYTE * size, "seconds": seconds}
    absolute = {name: str(path.absolute()) for name, path in files.items()}
    order = {"loader": loader, "options": options or {}, "files": absolute} | limits
    paths = os.pathsep.join(filter(None, [str(Path(__file__).parents[2]), os.environ.get("PYTHONPATH")]))
    environment = os.environ | {"PYTHONPATH": paths} | {f"{name}_NUM_THREADS": "1" for name in THREADS}
    with tempfile.TemporaryDirectory() as folder:
        answer = Path(folder) / "answer"
        command = [sys.executable, "-P", "-m", __name__, json.dumps(order), str(answer)]
        try:
            code = subprocess.run(
                command, env=environment, timeout=PATIENCE * seconds, check=False, stdout=sys.stderr
            ).returncode
        except subprocess.TimeoutExpired:
            code = -signal.SIGKILL
        reason = death(code, seconds)
        if code == 0 and answer.is_file():
            with contextlib.suppress(Exception), np.load(answer, allow_pickle=False) as found:
                arrays = {name: found[name] for name in found.files}
                reason = str(arrays.pop("error", ""))
                reading.include(map(str, arrays.pop("read", ())))
                if not reason:
                    return arrays
    where = ", ".join(sorted({str(path.parent) for path in files.values()}))
    raise DataError(f"{where}: {reason}")


def death(code: int, seconds: int) -> str:
    """Why a reader with this exit code and so much processor time gave no answer."""
    if code == -signal.SIGXCPU:
        return f"the reader was stopped after {seconds:g} s; the file may mean harm"
    if code == -signal.SIGKILL:
        limit = PATIENCE * seconds
        return f"the reader was killed: no answer within {limit:g} s, or no memory left on this machine"
    if code < 0:
        return f"the reader crashed ({signal.Signals(-code).name}); the file may mean harm"
    return f"the reader ended without an answer (exit code {code})"


def limit(kind: int, value: int, grace: int = 0) -> None:
    """Lower a limit of this process; a system that knows no such limit goes without."""
    _, hard = resource.getrlimit(kind)
    with contextlib.suppress(ValueError, OSError):
        most = value + grace if hard == resource.RLIM_INFINITY else min(value + grace, hard)
        resource.setrlimit(kind, (min(value, most), most))


def load(order: dict[str, Any]) -> Arrays:
    """Arrays, or under ``error`` the reason why there are none."""
    files = {name: Path(path) for name, path in order["files"].items()}
    try:
        return find_loader(order["loader"])(files, **order["options"])
    except MemoryError:
        reason = f"the reader needs more than {order['memory'] >> 20} MiB; the file is damaged or means harm"
    except ValueError as error:
        reason = str(error)
    except Exception as error:  # a damaged file can make a reader raise nearly anything
        reason = f"the loader {order['loader']} fails ({type(error).__name__}: {error})"
    return {"error": np.array(reason)}


def main() -> None:
    """The child: an order as JSON and the file of the answer are its arguments."""
    order = json.loads(sys.argv[1])
    limit(resource.RLIMIT_CORE, 0)
    limit(resource.RLIMIT_AS, order["memory"])
    limit(resource.RLIMIT_CPU, order["seconds"], grace=1)
    reading.start()
    found = load(order)
    with open(sys.argv[2], "wb") as answer:
        np.savez(answer, allow_pickle=False, **found, read=np.array(list(reading.SEEN.files), str))
    os._exit(0)  # no exit handler of a library can hang or crash any more


if __name__ == "__main__":
    main()
