"""Files of the user, and files whose hash nobody knew before, are read in a process with limits.

The readers of .mat, audio, svmlight and tables are compiled code of other projects, written for files that
mean well: a file can crash them, keep them busy for ever or fill the memory. A file with a registered SHA-256
is known to be harmless and needs none of this.
"""

import contextlib
import importlib
import json
import math
import os
import resource
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reproduction.data.transport import DataError

MEMORY, MEMORY_PER_BYTE = 1 << 30, 16
"""Bytes of address space of the child, libraries included, and what each byte of its files adds."""

SECONDS, SECONDS_PER_BYTE = 15, 1e-6
"""Processor time of the child, and what each byte of its files adds (the 880 MB of SUSY take 35 s)."""

PATIENCE = 4
"""Wall-clock time, as a multiple of the processor time: the machine may be busy."""

THREADS = ("OMP", "OPENBLAS", "MKL", "NUMBA", "VECLIB_MAXIMUM", "NUMEXPR")
"""Libraries that are given one thread; each further one would need address space."""

Arrays = dict[str, NDArray[Any]]
Loader = Callable[..., Arrays]


def find_loader(spec: str) -> Loader:
    """``"uci:heart"`` -> reproduction.data.uci.heart; ValueError if there is no such function."""
    module_name, _, name = spec.partition(":")
    try:
        function = getattr(importlib.import_module(f"reproduction.data.{module_name}"), name, None)
    except ModuleNotFoundError as error:
        raise ValueError(f"loader {spec}: {error}; correct `loader` in the registry") from None
    if not callable(function):
        raise ValueError(f"loader {spec}: no function {name} in reproduction.data.{module_name}")
    loader: Loader = function
    return loader


def isolated(loader: str, files: Mapping[str, Path], options: Mapping[str, Any] | None = None) -> Arrays:
    """The arrays that ``loader`` ("uci:heart") makes of the files, computed in a child process.

    ``options`` are passed to the loader by name; they must be what JSON can hold.

    Raises
    ------
    DataError : the loader refuses a file, fails, crashes, or reaches a limit of memory or time; the message
        has the folder of the files and the reason.
    """
    size = sum(path.stat().st_size for path in files.values())
    memory, seconds = MEMORY + MEMORY_PER_BYTE * size, math.ceil(SECONDS + SECONDS_PER_BYTE * size)
    order = {"loader": loader, "options": dict(options or {}), "memory": memory, "seconds": seconds}
    order |= {"files": {name: str(path.absolute()) for name, path in files.items()}}
    with tempfile.TemporaryDirectory() as folder:
        answer = Path(folder) / "answer"
        command = [sys.executable, "-P", "-m", __name__, json.dumps(order), str(answer)]
        try:
            code = subprocess.run(
                command, env=_environment(), timeout=PATIENCE * seconds, check=False, stdout=sys.stderr
            ).returncode
        except subprocess.TimeoutExpired:
            code = -signal.SIGKILL
        reason = _death(code, seconds)
        if code == 0 and answer.is_file():
            with contextlib.suppress(Exception), np.load(answer, allow_pickle=False) as found:
                arrays = {name: found[name] for name in found.files}
                reason = str(arrays.pop("error", ""))
                if not reason:
                    return arrays
    where = ", ".join(sorted({str(path.parent) for path in files.values()}))
    raise DataError(f"{where}: {reason}")


def _environment() -> dict[str, str]:
    """Of this process, with this library first and one thread everywhere."""
    library = str(Path(__file__).parents[2])
    paths = os.pathsep.join(filter(None, [library, os.environ.get("PYTHONPATH")]))
    return os.environ | {"PYTHONPATH": paths} | {f"{name}_NUM_THREADS": "1" for name in THREADS}


def _death(code: int, seconds: int) -> str:
    if code == -signal.SIGXCPU:
        return f"the reader was stopped after {seconds:g} s; the file may mean harm"
    if code == -signal.SIGKILL:
        limit = PATIENCE * seconds
        return f"the reader was killed: no answer within {limit:g} s, or no memory left on this machine"
    if code < 0:
        return f"the reader crashed ({signal.Signals(-code).name}); the file may mean harm"
    return f"the reader ended without an answer (exit code {code})"


def _limit(kind: int, value: int, grace: int = 0) -> None:
    """Lower a limit of this process; a system that knows no such limit goes without."""
    _, hard = resource.getrlimit(kind)
    with contextlib.suppress(ValueError, OSError):
        most = value + grace if hard == resource.RLIM_INFINITY else min(value + grace, hard)
        resource.setrlimit(kind, (min(value, most), most))


def load(order: dict[str, Any]) -> Arrays:
    """Arrays, or under ``error`` the reason why there are none."""
    files = {name: Path(path) for name, path in order["files"].items()}
    try:
        found = find_loader(order["loader"])(files, **order["options"])
        return {name: np.asarray(array) for name, array in found.items()}
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
    _limit(resource.RLIMIT_CORE, 0)
    _limit(resource.RLIMIT_AS, order["memory"])
    _limit(resource.RLIMIT_CPU, order["seconds"], grace=1)
    with open(sys.argv[2], "wb") as answer:
        np.savez(answer, allow_pickle=False, **load(order))
    os._exit(0)  # no exit handler of a library can hang or crash any more


if __name__ == "__main__":
    main()
