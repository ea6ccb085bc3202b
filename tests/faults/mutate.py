"""Feed mutated files to every reader of a foreign format, and mutated data to every check of a hash.

    python tests/faults/mutate.py                    100,000 files a reader, 10,000 changes each
    python tests/faults/mutate.py --count 1000 --only mat csv

A reader works through its files in one process with the limits of `isolated`; a file that kills this process
is given to `isolated` itself, which must answer with a DataError. Archives are unpacked without such
protection: whatever is not a SourceError counts. Exit code 1 if anything got through.
"""

import argparse
import json
import mmap
import os
import resource
import signal
import subprocess
import sys
import tempfile
import time
import warnings
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from changes import CHECKS, silent_changes
from seeds import Case, cases

from reproduction.data import prepare
from reproduction.data.transport import DataError, SourceError

RENEWED = 5000
"""Files after which a reader gets a new process, so that no leak adds up."""

CONTAINED = 100
"""Files that killed a process and are given to `isolated` itself; the others die of the same causes."""


def attack(readers: Sequence[str], count: int, start: int = 0) -> dict[str, dict[str, Any]]:
    """Reader -> what `count` mutated files did to it: outcomes, signals, what `isolated` did not contain."""
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, __file__, "--worker", str(start), str(start + count), folder, *readers]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        reports = {reader: json.loads((Path(folder) / reader / "report").read_text()) for reader in readers}
    return {reader: _judged(cases()[reader], report) for reader, report in reports.items()}


def _judged(case: Case, report: dict[str, Any]) -> dict[str, Any]:
    """The report of a reader with what got through."""
    deaths = report.pop("deaths")
    report["signals"] = Counter(cause for _, cause in deaths)
    if case.unpack:
        report["escaped"] = deaths + [kind for kind in report["found"] if kind.startswith("failed")]
        return report
    answers = [_contained(case, number) for number, _ in deaths[:CONTAINED]]
    report["seconds"] = max([report["seconds"], *(seconds for seconds, _ in answers)])
    report["escaped"] = [answer for _, answer in answers if answer != "DataError"]
    return report


def work(case: Case, first: int, stop: int, folder: Path) -> None:
    """Read the files from ``first`` to before ``stop`` in children of this process, one after the other."""
    folder.mkdir()
    files = _written(case, folder)
    paths = {name: str(path) for name, path in files.items()}
    order = {"loader": case.loader, "options": {}, "files": paths, "memory": prepare.MEMORY}
    _reason(case, files[case.name], order)  # import what is imported late
    state = mmap.mmap(-1, 4096)  # shared with the children
    found, deaths, slowest, largest = Counter[str](), [], 0.0, 0
    while first < stop:
        last = min(first + RENEWED, stop)
        if not (child := os.fork()):
            _read_all(case, files[case.name], order, range(first, last), state)
        _, status, usage = os.wait4(child, 0)
        told = json.loads(state[:].rstrip())
        found.update(told["found"])
        slowest, largest = max(slowest, told["seconds"]), max(largest, usage.ru_maxrss >> 10)
        if code := os.waitstatus_to_exitcode(status):
            deaths.append((told["at"], signal.Signals(-code).name if code < 0 else f"exit {code}"))
        first = told["at"] + 1
    report = {"files": sum(found.values()) + len(deaths), "found": found, "deaths": deaths}
    (folder / "report").write_text(json.dumps(report | {"seconds": slowest, "megabytes": largest}))


def _read_all(case: Case, path: Path, order: dict[str, Any], numbers: range, state: mmap.mmap) -> None:
    """Read one file after the other; ``state`` survives what may happen."""
    prepare.limit(resource.RLIMIT_CORE, 0)
    prepare.limit(resource.RLIMIT_AS, order["memory"])
    signal.signal(signal.SIGPROF, signal.SIG_DFL)
    found, slowest = Counter[str](), 0.0
    for number in numbers:
        _tell(state, number, found, slowest)
        path.write_bytes(mutated(case, number))
        begin = time.process_time()
        signal.setitimer(signal.ITIMER_PROF, prepare.SECONDS)
        reason = _reason(case, path, order)
        signal.setitimer(signal.ITIMER_PROF, 0)
        slowest = max(slowest, time.process_time() - begin)
        found[_kind(reason)] += 1
    _tell(state, numbers[-1], found, slowest)
    os._exit(0)


def _reason(case: Case, path: Path, order: dict[str, Any]) -> str:
    """Why the file was not read or unpacked; "" if it was."""
    if not case.unpack:
        return str(prepare.load(order).get("error", ""))
    try:
        case.unpack(path)
    except SourceError as error:
        return str(error)
    except MemoryError:
        return "needs more than it may have"
    except Exception as error:
        return f"the loader of {case.name} fails ({type(error).__name__}: {error})"
    return ""


def _tell(state: mmap.mmap, number: int, found: Counter[str], seconds: float) -> None:
    told = json.dumps({"at": number, "found": found, "seconds": seconds})
    state[:] = told.encode().ljust(len(state))


def mutated(case: Case, number: int) -> bytes:
    """The file of that number."""
    return case.mutate(case.seeds[number % len(case.seeds)], number)


def _kind(reason: str) -> str:
    if not reason:
        return "read"
    if reason.startswith("the loader of ") and " fails (" in reason:
        return "failed with " + reason.partition(" fails (")[2].partition(":")[0]
    return "too large" if "needs more than" in reason else "refused"


def _written(case: Case, folder: Path) -> dict[str, Path]:
    contents = {case.name: case.seeds[0], **dict(case.others)}
    for name, content in contents.items():
        (folder / name).write_bytes(content)
    return {name: folder / name for name in contents}


def _contained(case: Case, number: int) -> tuple[float, str]:
    """Processor time that `isolated` takes for the file of that number, and what it answers."""
    with tempfile.TemporaryDirectory() as folder:
        files = _written(case, Path(folder))
        files[case.name].write_bytes(mutated(case, number))
        begin = resource.getrusage(resource.RUSAGE_CHILDREN)
        try:
            prepare.isolated(case.loader, files)
            answer = f"{number}: read"
        except DataError:
            answer = "DataError"
        except Exception as error:
            answer = f"{number}: {error!r}"
        end = resource.getrusage(resource.RUSAGE_CHILDREN)
        return end.ru_utime + end.ru_stime - begin.ru_utime - begin.ru_stime, answer


def main() -> None:
    warnings.simplefilter("ignore")
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--count", type=int, default=100_000, help="mutated files for each reader")
    parser.add_argument("--changes", type=int, default=10_000, help="mutations for each check of a hash")
    parser.add_argument("--only", nargs="*", choices=[*cases(), *CHECKS], default=[*cases(), *CHECKS])
    parser.add_argument("--start", type=int, default=0, help="number of the first mutation")
    parser.add_argument("--worker", nargs="+", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.worker:
        first, stop, folder, *readers = arguments.worker
        for reader in readers:
            work(cases()[reader], int(first), int(stop), Path(folder) / reader)
        return
    bad = False
    for name in arguments.only:
        begin = time.monotonic()
        if name in CHECKS:
            result = silent_changes(name, arguments.changes, arguments.start)
            bad |= bool(result["silent"] or result["other errors"])
        else:
            result = attack([name], arguments.count, arguments.start)[name]
            bad |= bool(result["escaped"]) or result["megabytes"] > 1024 or result["seconds"] > 20
        print(f"{name:10} {time.monotonic() - begin:6.0f} s  {json.dumps(result)}", flush=True)
    sys.exit(bad)


if __name__ == "__main__":
    main()
