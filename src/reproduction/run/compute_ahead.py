"""Small experiments of a paper in one process, which pays for its imports once.

The first of them that starts also computes others that wait, each into a folder of its own; when one of those
starts, it only puts its files in place. One that failed there, or whose data are newer, computes by itself as
if there had been no other: nothing but time depends on what is here.
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

# Environment variable with the folder of the jobs that wait; without it every job is alone.
FOLDER = "NOISYLABELS_TOGETHER"
# Processor seconds after which a job starts no other: what is done shows, and time limits of jobs hold.
LONGEST = 30.0
PLACES = {"table": "table.csv", "points": "points.npz", "record": "record.json"}
"""Option of a job -> the name of its file, which the record repeats."""
FILES = [*PLACES]
Given = Any  # the parsed words of a job; ``data`` and `FILES` are paths


def offer(folder: Path, waiting: Mapping[str, list[str]]) -> Path:
    """Let the jobs of this run know the words of all that wait; the folder for what is computed ahead."""
    import psutil  # here, as every job imports this module

    for left in folder.glob("*"):
        if not (left.name.isdigit() and psutil.pid_exists(int(left.name))):
            shutil.rmtree(left, ignore_errors=True)
    own = folder / str(os.getpid())
    if len(waiting) > 1:
        own.mkdir(parents=True)
        atexit.register(shutil.rmtree, own, ignore_errors=True)
        (own / "waiting.json").write_text(json.dumps(waiting), encoding="utf-8")
        os.environ[FOLDER] = str(own.absolute())
    return own


def run(words: list[str], parse: Callable[[list[str]], Given], compute: Callable[[Given], None]) -> None:
    """Compute a job, or put what another one computed for it in place; then compute others of its paper.

    Every job has a process of its own, so that its record says what it alone has read. They are forked from
    this one, which has loaded no code of the project but installed packages: these take most of the time.
    """
    folder, given = Path(os.environ.get(FOLDER, "-")), parse(words)
    file = folder / "waiting.json"
    waiting: dict[str, list[str]] = json.loads(file.read_bytes()) if file.is_file() else {}
    own = next((name for name, each in waiting.items() if each == words), "")
    if not own:
        compute(given)
        return
    began = sum(os.times()[:4])
    with _claimed(folder, own, fcntl.LOCK_EX):
        if _placed(folder / own, given):
            return
        packages = folder / own / "packages"
        status = _in_child(lambda: _compute_and_tell(compute, given, packages))
        if status:
            sys.exit(status)
    for name in packages.read_text(encoding="utf-8").split():
        with suppress(Exception):  # one that does not load here is loaded by the jobs that need it
            import_module(name)
    for name, each in waiting.items():
        if name.partition("/")[0] == own.partition("/")[0] and sum(os.times()[:4]) - began < LONGEST:
            _in_child(partial(ahead, folder, name, parse(each), compute))


def _compute_and_tell(compute: Callable[[Given], None], given: Given, packages: Path) -> None:
    """Compute a job, and write which installed modules it has loaded."""
    compute(given)
    names = []
    for name, module in list(sys.modules.items()):
        file = getattr(module, "__file__", None)
        if isinstance(file, str) and "site-packages" in file and name.isidentifier():
            names.append(name)
    packages.write_text("\n".join(names), encoding="utf-8")


def _in_child(work: Callable[[], None]) -> int:
    """Do something in a process forked from this one; its exit status."""
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
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def ahead(folder: Path, name: str, given: Given, compute: Callable[[Given], None]) -> None:
    """Compute a job that waits, unless somebody does or did; what it says is kept for its own log."""
    with _claimed(folder, name, fcntl.LOCK_EX | fcntl.LOCK_NB) as is_ours, suppress(BaseException):
        if not is_ours or not all(file.is_file() for file in given.data):
            return
        started, place = time.time(), folder / name
        with (place / "log").open("w", encoding="utf-8") as log, redirect_stdout(log), redirect_stderr(log):
            compute(type(given)(**vars(given) | {each: place / PLACES[each] for each in FILES}))
        for each in FILES:
            os.utime(place / PLACES[each], (started, started))


@contextmanager
def _claimed(folder: Path, name: str, how: int) -> Iterator[bool]:
    """Hold the job's lock, which ends with its process; False: another process holds it, or held it."""
    (folder / name).mkdir(parents=True, exist_ok=True)
    with (folder / name / "claim").open("a") as claim:
        try:
            fcntl.flock(claim, how)
            is_first = os.fstat(claim.fileno()).st_size == 0
            print("taken", file=claim, flush=True)
        except BlockingIOError:
            is_first = False
        yield is_first


def _placed(found: Path, given: Given) -> bool:
    """Put files that were computed from the present data in place; False: there are none."""
    newest = max([0.0, *(data.stat().st_mtime for data in given.data)])
    files = [found / PLACES[each] for each in FILES]
    if not all(file.is_file() and file.stat().st_mtime > newest for file in files):
        return False
    print((found / "log").read_text(encoding="utf-8"), end="")
    for each in FILES:
        os.replace(found / PLACES[each], getattr(given, each))
        os.utime(getattr(given, each))
    return True
