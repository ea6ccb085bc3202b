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
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, redirect_stderr, redirect_stdout, suppress
from pathlib import Path
from typing import Any

# Environment variable with the folder of the jobs that wait; without it every job is alone.
FOLDER = "NOISYLABELS_TOGETHER"
# Processor seconds after which a job starts no other: what is done shows, and time limits of jobs hold.
LONGEST = 30.0
FILES = ("table", "points", "provenance")
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
    """Compute a job, or take what another one computed for it; then, in a fork, others of its paper."""
    folder, given = Path(os.environ.get(FOLDER, "-")), parse(words)
    file = folder / "waiting.json"
    waiting: dict[str, list[str]] = json.loads(file.read_bytes()) if file.is_file() else {}
    own = next((name for name, each in waiting.items() if each == words), "")
    if not own:
        compute(given)
        return
    with _claimed(folder, own, fcntl.LOCK_EX):
        if _placed(folder / own, given):
            return
        compute(given)
    sys.stdout.flush()
    if (child := os.fork()) == 0:  # whatever another one does to its process, this job is done
        for name, each in waiting.items():
            if name.partition("/")[0] == own.partition("/")[0] and time.process_time() < LONGEST:
                ahead(folder, name, parse(each), compute)
        os._exit(0)
    os.waitpid(child, 0)


def ahead(folder: Path, name: str, given: Given, compute: Callable[[Given], None]) -> None:
    """Compute a job that waits, unless somebody does or did; what it says is kept for its own log."""
    with _claimed(folder, name, fcntl.LOCK_EX | fcntl.LOCK_NB) as is_ours, suppress(BaseException):
        if not is_ours or not all(file.is_file() for file in given.data):
            return
        started, place = time.time(), folder / name
        with (place / "log").open("w", encoding="utf-8") as log, redirect_stdout(log), redirect_stderr(log):
            compute(type(given)(**vars(given) | {each: place / each for each in FILES}))
        for each in FILES:
            os.utime(place / each, (started, started))


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
    if not all((found / each).is_file() and (found / each).stat().st_mtime > newest for each in FILES):
        return False
    print((found / "log").read_text(encoding="utf-8"), end="")
    for each in FILES:
        os.replace(found / each, getattr(given, each))
        os.utime(getattr(given, each))
    return True
