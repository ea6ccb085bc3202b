"""Small experiments of a paper computed in one process, which loads its packages only once.

The first of them that starts also computes others that wait, each into a separate folder; when
one of those starts, it only puts its files in place. One that failed there, or whose data are
newer, computes by itself as if there had been no other: nothing but time depends on what is here.
"""

import atexit
import fcntl
import json
import os
import shutil
import sys
import time
import traceback
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, redirect_stderr, redirect_stdout, suppress
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

FOLDER = "NOISYLABELS_TOGETHER"
"""Environment variable with the folder of waiting jobs; without it every job runs alone."""
LONGEST = 30.0
"""Processor seconds after which a job starts no other job.

So what is done shows early, and time limits of jobs hold.
"""
PLACES = {"table": "table.csv", "points": "points.npz", "record": "record.json"}
"""Options of a job that are paths -> the names of these files in its record."""
FILES = [*PLACES]
Options = Any
"""The parsed options of a job; ``data`` and `FILES` are paths."""
Compute = Callable[[Options], None]


def offer(folder: Path, waiting: Mapping[str, list[str]]) -> Path:
    """Write the command lines of waiting jobs where the jobs of this run find them.

    Returns
    -------
    Path
        The folder for what is computed ahead.
    """
    import psutil  # imported here, because every job imports this module

    for leftover in folder.glob("*"):
        is_alive = leftover.name.isdigit() and psutil.pid_exists(int(leftover.name))
        if not is_alive:
            shutil.rmtree(leftover, ignore_errors=True)
    folder_of_run = folder / str(os.getpid())
    if len(waiting) > 1:
        folder_of_run.mkdir(parents=True)
        atexit.register(shutil.rmtree, folder_of_run, ignore_errors=True)
        file = folder_of_run / "waiting.json"
        file.write_text(json.dumps(waiting), encoding="utf-8")
        os.environ[FOLDER] = str(folder_of_run.absolute())
    return folder_of_run


def run(words: list[str], parse: Callable[[list[str]], Options], compute: Compute) -> None:
    """Compute a job, or take the result of another that computed it; then compute waiting jobs.

    Every job has a separate process, so that its record says what it alone has read. They are
    forked from this one, which has loaded no code of the project but installed packages: these take
    most of the time.
    """
    folder = Path(os.environ.get(FOLDER, "-"))
    options = parse(words)
    waiting = _read_waiting(folder)
    name = _find_name(waiting, words)
    if not name:
        compute(options)
        return
    start = _processor_seconds()
    with _claimed(folder, name, fcntl.LOCK_EX):
        if _placed(folder / name, options):
            return
        packages = folder / name / "packages"
        status = _in_child(partial(_compute_and_list_packages, compute, options, packages))
        if status:
            sys.exit(status)
    for package in packages.read_text(encoding="utf-8").split():
        # a package that cannot be loaded here is left to the jobs that need it
        with suppress(Exception):
            import_module(package)
    paper = name.partition("/")[0]
    for candidate, words_of_candidate in waiting.items():
        if candidate.partition("/")[0] != paper:
            continue
        if _processor_seconds() - start >= LONGEST:
            return
        _in_child(partial(ahead, folder, candidate, parse(words_of_candidate), compute))


def _read_waiting(folder: Path) -> dict[str, list[str]]:
    """Read the command lines of waiting jobs, by name; empty if there are none."""
    file = folder / "waiting.json"
    if not file.is_file():
        return {}
    waiting: dict[str, list[str]] = json.loads(file.read_bytes())
    return waiting


def _find_name(waiting: Mapping[str, list[str]], words: list[str]) -> str:
    """Find the name of the job with this command line; "" if it does not wait."""
    for name, words_of_job in waiting.items():
        if words_of_job == words:
            return name
    return ""


def _processor_seconds() -> float:
    """Measure the processor seconds that this process and its children have used."""
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system


def _compute_and_list_packages(compute: Compute, options: Options, packages: Path) -> None:
    """Compute a job, and write which installed modules it has loaded."""
    compute(options)
    names = []
    for name, module in list(sys.modules.items()):
        file = getattr(module, "__file__", None)
        is_installed = isinstance(file, str) and "site-packages" in file
        if is_installed and name.isidentifier():
            names.append(name)
    packages.write_text("\n".join(names), encoding="utf-8")


def _in_child(work: Callable[[], None]) -> int:
    """Call a function in a process forked from this one, and return its exit status."""
    sys.stdout.flush()
    child = os.fork()
    if child == 0:
        status = 1
        try:
            work()
            status = 0
        except SystemExit as end:
            status = end.code if isinstance(end.code, int) else 1
            if isinstance(end.code, str):
                print(end.code, file=sys.stderr)
        except BaseException:
            traceback.print_exc()
        finally:
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(status)
    _, status = os.waitpid(child, 0)
    return os.waitstatus_to_exitcode(status)


def ahead(folder: Path, name: str, options: Options, compute: Compute) -> None:
    """Compute a waiting job, unless another process has it.

    Its output is stored for its own log.
    """
    own_folder = folder / name
    outputs = {option: own_folder / file for option, file in PLACES.items()}
    mode = fcntl.LOCK_EX | fcntl.LOCK_NB
    with _claimed(folder, name, mode) as is_ours, suppress(BaseException):
        if not is_ours or not all(file.is_file() for file in options.data):
            return
        start = time.time()
        with (
            (own_folder / "log").open("w", encoding="utf-8") as log,
            redirect_stdout(log),
            redirect_stderr(log),
        ):
            compute(type(options)(**vars(options) | outputs))
        for file in outputs.values():
            os.utime(file, (start, start))


@contextmanager
def _claimed(folder: Path, name: str, mode: int) -> Iterator[bool]:
    """Hold the lock of a job, which ends with the process.

    False: another process holds it, or held it.
    """
    (folder / name).mkdir(parents=True, exist_ok=True)
    with (folder / name / "claim").open("a") as claim:
        try:
            fcntl.flock(claim, mode)
            is_first = os.fstat(claim.fileno()).st_size == 0
            print("taken", file=claim, flush=True)
        except BlockingIOError:
            is_first = False
        yield is_first


def _placed(folder: Path, options: Options) -> bool:
    """Move files into place that were computed from the present data; False if there are none."""
    times = [data.stat().st_mtime for data in options.data]
    newest = max([0.0, *times])
    for name in PLACES.values():
        file = folder / name
        if not file.is_file() or file.stat().st_mtime <= newest:
            return False
    print((folder / "log").read_text(encoding="utf-8"), end="")
    for option, name in PLACES.items():
        target = getattr(options, option)
        os.replace(folder / name, target)
        os.utime(target)
    return True
