"""Feed mutated files to every reader of a foreign format, and mutated data to every hash check.

    python tests/faults/mutate.py                    100,000 files a reader, 10,000 changes each
    python tests/faults/mutate.py --count 1000 --only mat csv

Each file is read in a process with the limits of `read_isolated`; a file that kills this process is
given to `read_isolated` itself, which must answer with a DataError. Archives are unpacked without
such protection: whatever is not a SourceError counts. Exit code 1 if anything got through.
"""

import argparse
import json
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
from seeds import CASES, Case

from reproduction.data import prepare
from reproduction.data.errors import DataError
from reproduction.data.transport import SourceError

CONTAINED = 100
"""Number of files that killed a process and are given to `read_isolated` itself.

The others die of the same causes.
"""

OUTCOMES = ("read", "refused", "too large", "failed")


def attack(readers: Sequence[str], count: int, start: int = 0) -> dict[str, dict[str, Any]]:
    """Reader -> what `count` mutated files did to it: outcomes, signals, what was not contained."""
    command = [sys.executable, __file__, "--worker", str(start), str(start + count), *readers]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    reports = json.loads(done.stdout)
    return {name: _judged(CASES[name], report) for name, report in reports.items()}


def _judged(case: Case, report: dict[str, Any]) -> dict[str, Any]:
    """The report of a reader with what got through."""
    deaths = report.pop("deaths")
    report["signals"] = Counter(cause for _, cause in deaths)
    if case.unpack:
        report["escaped"] = deaths + ["failed"] * report["found"].get("failed", 0)
        return report
    answers = [_contained(case, number) for number, _ in deaths[:CONTAINED]]
    report["seconds"] = max([report["seconds"], *(seconds for seconds, _ in answers)])
    report["escaped"] = [answer for _, answer in answers if answer != "DataError"]
    return report


def work(case: Case, numbers: range) -> dict[str, Any]:
    """Read the files of those numbers, each in a fork with the limits of `read_isolated`."""
    outcomes = Counter[str]()
    deaths = []
    slowest = 0.0
    largest = 0
    with tempfile.TemporaryDirectory() as folder:
        files = _written(case, Path(folder))
        paths = {name: str(path) for name, path in files.items()}
        order = {"loader": case.loader, "options": {}, "files": paths, "memory": prepare.MEMORY}
        _outcome(case, files[case.name], order)  # import what is imported late
        for number in numbers:
            files[case.name].write_bytes(mutated(case, number))
            if not (child := os.fork()):
                prepare.lower_limit(resource.RLIMIT_CORE, 0)
                prepare.lower_limit(resource.RLIMIT_AS, order["memory"])
                prepare.lower_limit(resource.RLIMIT_CPU, prepare.SECONDS, grace=1)
                os._exit(OUTCOMES.index(_outcome(case, files[case.name], order)))
            _, status, usage = os.wait4(child, 0)
            slowest = max(slowest, usage.ru_utime + usage.ru_stime)
            largest = max(largest, usage.ru_maxrss >> 10)
            if (code := os.waitstatus_to_exitcode(status)) < 0:
                deaths.append((number, signal.Signals(-code).name))
            else:
                outcomes[OUTCOMES[code]] += 1
    report = {"files": len(numbers), "found": outcomes, "deaths": deaths}
    return report | {"seconds": slowest, "megabytes": largest}


def _outcome(case: Case, path: Path, order: dict[str, Any]) -> str:
    """Read the file and give one of `OUTCOMES`; only an unpacker, being unprotected, can fail."""
    try:
        if case.unpack:
            case.unpack(path)
            return "read"
        reason = str(prepare.follow(order).get("error", ""))
    except SourceError as error:
        reason = str(error)
    except MemoryError:
        return "too large"
    except Exception:
        return "failed"
    if "needs more than" in reason:
        return "too large"
    return "refused" if reason else "read"


def mutated(case: Case, number: int) -> bytes:
    """The file of that number."""
    return case.mutate(case.seeds[number % len(case.seeds)], number)


def _written(case: Case, folder: Path) -> dict[str, Path]:
    contents = {case.name: case.seeds[0], **dict(case.further_files)}
    for name, content in contents.items():
        (folder / name).write_bytes(content)
    return {name: folder / name for name in contents}


def _contained(case: Case, number: int) -> tuple[float, str]:
    """Measure the processor time of `read_isolated` for the file of that number, and its answer."""
    with tempfile.TemporaryDirectory() as folder:
        files = _written(case, Path(folder))
        files[case.name].write_bytes(mutated(case, number))
        begin = _seconds_of_children()
        try:
            prepare.read_isolated(case.loader, files)
            answer = f"{number}: read"
        except DataError:
            answer = "DataError"
        except Exception as error:
            answer = f"{number}: {error!r}"
        return _seconds_of_children() - begin, answer


def _seconds_of_children() -> float:
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def main() -> None:
    warnings.simplefilter("ignore")
    form = argparse.RawTextHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=form)
    names = [*CASES, *CHECKS]
    parser.add_argument("--count", type=int, default=100_000, help="mutated files for each reader")
    parser.add_argument("--changes", type=int, default=10_000, help="mutations for each hash check")
    parser.add_argument("--only", nargs="*", choices=names, default=names)
    parser.add_argument("--start", type=int, default=0, help="number of the first mutation")
    parser.add_argument("--worker", nargs="+", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.worker:
        first, stop, *readers = arguments.worker
        numbers = range(int(first), int(stop))
        reports = {name: work(CASES[name], numbers) for name in readers}
        print(json.dumps(reports))
        return
    bad = False
    for name in arguments.only:
        begin = time.monotonic()
        if name in CHECKS:
            result = silent_changes(name, arguments.changes, arguments.start)
            bad |= bool(result["silent"]) or bool(result["other errors"])
        else:
            result = attack([name], arguments.count, arguments.start)[name]
            bad |= bool(result["escaped"]) or result["megabytes"] > 1024 or result["seconds"] > 20
        seconds = time.monotonic() - begin
        print(f"{name:10} {seconds:6.0f} s  {json.dumps(result)}", flush=True)
    sys.exit(bad)


if __name__ == "__main__":
    main()
