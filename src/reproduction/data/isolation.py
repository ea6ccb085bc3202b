"""Foreign files are read in a process of their own: a reader may crash, hang or eat memory; we do not.

The readers of .mat, audio, svmlight and large tables are compiled code of other projects, written for files
that mean well. SciPy's reader of .mat files, for one, can be crashed by a file, and be kept busy for ever.
So every loader that is given files runs in a child process with limits, and hands back plain arrays.
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
import threading
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from reproduction.data.storage import DataError

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


def isolated(loader: str, files: Mapping[str, Path], options: Mapping[str, Any] | None = None) -> Arrays:
    """The arrays that ``loader`` ("uci:german") makes of the files, computed in a child process.

    ``options`` are passed to the loader by name; they must be what JSON can hold.

    Raises
    ------
    DataError : the loader refuses a file, fails, crashes, or reaches a limit of memory or time; the message
        has the folder of the files and the reason.
    """
    size = sum(path.stat().st_size for path in files.values())
    memory, seconds = MEMORY + MEMORY_PER_BYTE * size, math.ceil(SECONDS + SECONDS_PER_BYTE * size)
    order = {"loader": loader, "options": dict(options or {}), "memory": memory, "seconds": seconds}
    order |= {"files": {name: str(path) for name, path in files.items()}}
    command = [sys.executable, "-P", "-m", __name__]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=_environment()
    ) as child:
        timer = threading.Timer(PATIENCE * seconds, child.kill)
        timer.start()
        try:
            arrays, reason = _converse(child, order)
        finally:
            timer.cancel()
    if arrays is None:
        where = ", ".join(sorted({str(path.parent) for path in files.values()}))
        raise DataError(f"{where}: {reason or _death(child.returncode, seconds)}")
    return arrays


def find_loader(spec: str) -> Loader:
    """``"uci:german"`` -> reproduction.data.uci.german; ValueError if there is no such function."""
    module_name, _, function_name = spec.partition(":")
    try:
        module = importlib.import_module(f"reproduction.data.{module_name}")
    except ModuleNotFoundError as error:
        raise ValueError(f"loader {spec}: {error}; mend `loader` in the registry") from None
    function = getattr(module, function_name, None)
    if not callable(function):
        raise ValueError(f"loader {spec}: no function {function_name} in {module.__file__}")
    loader: Loader = function
    return loader


# the parent


def _environment() -> dict[str, str]:
    """Of this process, with this library first and one thread everywhere."""
    library = str(Path(__file__).parents[2])
    paths = os.pathsep.join(filter(None, [library, os.environ.get("PYTHONPATH")]))
    return os.environ | {"PYTHONPATH": paths} | {f"{name}_NUM_THREADS": "1" for name in THREADS}


def _converse(child: "subprocess.Popen[bytes]", order: dict[str, Any]) -> tuple[Arrays | None, str]:
    """The child's arrays; or None and its reason, which is "" if it died before the end of its answer."""
    assert child.stdin is not None
    assert child.stdout is not None
    try:
        with contextlib.suppress(BrokenPipeError), child.stdin:
            child.stdin.write(json.dumps(order).encode())
        answer = json.loads(child.stdout.readline())
        if "error" in answer:
            return None, answer["error"]
        kinds, most = answer["arrays"], order["memory"]
        return {name: _receive(child.stdout, dtype, shape, most) for name, dtype, shape in kinds}, ""
    except (ValueError, KeyError, TypeError, EOFError):
        child.kill()  # no effect on how it died, if it did
        return None, ""


def _receive(stream: IO[bytes], dtype: str, shape: list[int], most: int) -> NDArray[Any]:
    """An array of plain values, whose bytes follow in C order."""
    kind = np.dtype(dtype)
    if kind.hasobject or math.prod(shape) * kind.itemsize > most:
        raise ValueError(f"{shape} values of type {dtype}")
    array: NDArray[Any] = np.empty(shape, kind)
    left = memoryview(_bytes(array).data)
    while left:
        count = stream.readinto(left)  # type: ignore[attr-defined]
        if not count:
            raise EOFError
        left = left[count:]
    return array


def _bytes(array: NDArray[Any]) -> NDArray[np.uint8]:
    """The memory of an array in C order."""
    return array.reshape(-1).view(np.uint8) if array.size and array.itemsize else np.empty(0, np.uint8)


def _death(code: int, seconds: int) -> str:
    if code == -signal.SIGXCPU:
        return f"the reader was stopped after {seconds:g} s; the file may mean harm"
    if code == -signal.SIGKILL:
        limit = PATIENCE * seconds
        return f"the reader was killed: no answer within {limit:g} s, or no memory left on this machine"
    if code < 0:
        return f"the reader crashed ({signal.Signals(-code).name}); the file may mean harm"
    return f"the reader ended without an answer (exit code {code})"


# the child


def _limit(kind: int, value: int, grace: int = 0) -> None:
    """Lower a limit of this process; a system that knows no such limit goes without."""
    _, hard = resource.getrlimit(kind)
    with contextlib.suppress(ValueError, OSError):
        most = value + grace if hard == resource.RLIM_INFINITY else min(value + grace, hard)
        resource.setrlimit(kind, (min(value, most), most))


def _load(order: dict[str, Any]) -> tuple[Arrays, str]:
    """Arrays, or the reason why there are none."""
    files = {name: Path(path) for name, path in order["files"].items()}
    try:
        loaded = find_loader(order["loader"])(files, **order["options"])
        found = {name: np.asarray(array) for name, array in loaded.items()}
        if objects := [name for name, array in found.items() if array.dtype.hasobject]:
            return {}, f"the loader {order['loader']} makes arrays of objects: {', '.join(objects)}"
        return {name: np.asarray(array, order="C") for name, array in found.items()}, ""
    except MemoryError:
        return (
            {},
            f"the reader needs more than {order['memory'] >> 20} MiB; the file is damaged or means harm",
        )
    except ValueError as error:
        return {}, str(error)
    except Exception as error:  # a damaged file can make a reader raise nearly anything
        return {}, f"the loader {order['loader']} fails ({type(error).__name__}: {error})"


def main() -> None:
    """Read an order from standard input; write a line of JSON, then the bytes of the arrays."""
    order = json.loads(sys.stdin.buffer.read())
    answer = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # whatever a library prints is no part of the answer
    _limit(resource.RLIMIT_CORE, 0)
    _limit(resource.RLIMIT_AS, order["memory"])
    _limit(resource.RLIMIT_CPU, order["seconds"], grace=1)
    arrays, reason = _load(order)
    kinds = [(name, array.dtype.str, array.shape) for name, array in arrays.items()]
    answer.write(json.dumps({"error": reason} if reason else {"arrays": kinds}).encode() + b"\n")
    for array in arrays.values():
        answer.write(_bytes(array).data)
    answer.flush()
    os._exit(0)  # no exit handler of a library can hang or crash any more


if __name__ == "__main__":
    main()
