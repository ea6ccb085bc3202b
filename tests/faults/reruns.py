"""Edit every source file in turn, and hold the jobs that Snakemake would run again against those that should.

What should run again is observed, not declared: a smoke run is traced, so that for each job we know the files
that its processes read and wrote. A job is due if it read the edited file, or a file that a due job wrote.
Two things are left out: downloads, which are known by their hashes and not by who fetched them, and the
package's __init__.py files, which hold names and no results.

What would run again follows, for every file, from the inputs that Snakemake has on record for each output;
every n-th file is also edited, and Snakemake asked.

    python tests/faults/reruns.py [--every 10] [--papers ors pnorm] [--targets ors_fig2 ...]

Prints one line per file with a difference, then the counts; exits with 1 if any job was missed.
"""

from __future__ import annotations

import argparse
import base64
import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from checkouts import copy_checkout

RESULTS = ("results/", "figures/", "data/prepared/")

TRACER = """
import atexit, json, os, sys
_root, _folder = os.environ["TRACED_ROOT"], os.environ["TRACED_FOLDER"]
_read, _written = set(), set()
def _audit(event, arguments):
    if event == "os.rename":  # os.replace too
        _note(_written, arguments[1])
    elif event == "open" and isinstance(arguments[0], (str, bytes, os.PathLike)):
        changes = arguments[2] & (os.O_WRONLY | os.O_RDWR | os.O_CREAT)
        _note(_written if changes else _read, arguments[0])
def _note(files, path):
    path = os.path.relpath(os.path.abspath(os.fsdecode(path)), _root)
    if not path.startswith((".", "logs")) and not path.endswith((".py", ".pyc")) and ".pyc." not in path:
        files.add(path)  # of modules, what is imported counts
def _write():
    files = [getattr(module, "__file__", None) or "" for module in list(sys.modules.values())]
    for file in map(os.path.abspath, [*files, sys.argv[0]]):  # a script has lost its __file__ by now
        if file.startswith(_root) and file.endswith(".py"):
            _read.add(os.path.relpath(file, _root))
    with open(os.path.join(_folder, f"{_job or os.getpid()}.{os.getpid()}.json"), "w") as file:
        json.dump({"argv": sys.argv, "read": sorted(_read), "written": sorted(_written)}, file)
_script = " ".join(sys.orig_argv)
_job, _exit = 0, os._exit
if "datasets.isolation" in _script:  # a child of a job, which ends without exit handlers
    _job, os._exit = os.getppid(), lambda code: (_write(), _exit(code))
    sys.addaudithook(_audit)
elif "scripts" in _script and "fetch.py" not in _script:
    sys.addaudithook(_audit)
    atexit.register(_write)
"""


@dataclass(frozen=True)
class Job:
    """What a job of the workflow read and wrote, relative to the checkout."""

    argv: list[str]
    read: frozenset[str]
    written: frozenset[str]


def snakemake(folder: Path, papers: list[str], *options: str, **variables: str) -> str:
    """Run Snakemake at smoke scale in the copied checkout; returns what it printed."""
    papers_given = ["--config", f"papers=[{','.join(papers)}]"] if papers else []
    command = [sys.executable, "-m", "snakemake", "--cores", "2", "--nocolor", *options]
    command += ["--configfile", "config/smoke.yaml", *papers_given]
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("SNAKEMAKE", "PYTHONPATH"))}
    done = subprocess.run(command, cwd=folder, env=kept | variables, capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(done.stdout + done.stderr)
    return done.stdout + done.stderr


def traced(folder: Path, papers: list[str], targets: list[str]) -> list[Job]:
    """The jobs of a smoke run."""
    with tempfile.TemporaryDirectory() as scratch:
        (Path(scratch) / "sitecustomize.py").write_text(TRACER)
        traces = Path(scratch) / "traces"
        traces.mkdir()
        tracing = {"PYTHONPATH": scratch, "TRACED_ROOT": f"{folder}{os.sep}", "TRACED_FOLDER": str(traces)}
        snakemake(folder, papers, *targets, **tracing)
        found: dict[str, list[dict[str, list[str]]]] = {}
        for file in sorted(traces.glob("*.json")):
            found.setdefault(file.name.partition(".")[0], []).append(json.loads(file.read_text()))
    # A job is a process with the children that read foreign formats for it.
    return [
        Job(
            parts[0]["argv"],
            frozenset[str]().union(*(part["read"] for part in parts)),
            frozenset[str]().union(*(part["written"] for part in parts)),
        )
        for parts in found.values()
    ]


def due(jobs: Iterable[Job], file: str) -> set[str]:
    """Files that should be written again after an edit of ``file``."""
    changed, found = {file}, set()
    waiting = list(jobs)
    while True:
        now = [job for job in waiting if job.read & changed]
        if not now:
            return found
        waiting = [job for job in waiting if not job.read & changed]
        for job in now:
            found |= job.written
            changed |= job.written


def recorded(folder: Path) -> list[Job]:
    """Every output of the run with its inputs, as Snakemake has them on record."""
    records, found = folder / ".snakemake/metadata", []
    for file in (path for path in records.rglob("*") if path.is_file()):
        name = "".join(part.removeprefix("@") for part in file.relative_to(records).parts)
        written = base64.urlsafe_b64decode(name).decode()
        read = json.loads(file.read_text(encoding="utf-8"))["input"]
        found.append(Job([], frozenset(read), frozenset([written])))
    return found


def planned(folder: Path, file: Path, papers: list[str], targets: list[str]) -> set[str]:
    """Files that Snakemake would make again if the file were edited."""
    before = file.read_bytes()
    file.write_bytes(edited(file))
    summary = snakemake(folder, papers, "--summary", *targets)
    file.write_bytes(before)
    rows = (line.split("\t") for line in summary.splitlines())
    return {row[0] for row in rows if len(row) > 3 and row[-1] == "update pending"}


def sources(folder: Path) -> Iterator[Path]:
    """Every file whose edit may change a result."""
    library = folder / "src/noisylabels"
    yield from sorted(file for file in library.rglob("*.py") if file.name != "__init__.py")
    yield from sorted(file for file in (library / "datasets/facts").glob("*") if file.is_file())
    yield from sorted((folder / "src/scripts").glob("*.py"))
    yield folder / "runtime.lock"


def edited(file: Path) -> bytes:
    """The file with a comment more; data files get a space at their end, the lock another NumPy."""
    content = file.read_bytes()
    if file.suffix == ".lock":
        return re.sub(rb"^numpy==\S+", b"numpy==0.0.1", content, flags=re.M)
    return content + (b"\n# edited\n" if file.suffix == ".py" else b" ")


def kept(folder: Path, files: Iterable[str]) -> set[str]:
    """The results among them: not what was temporary, and no downloads."""
    return {file for file in files if file.startswith(RESULTS) and (folder / file).exists()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--every", type=int, default=1, help="edit every n-th file only")
    parser.add_argument("--papers", nargs="*", default=[], help="default: those of the configuration")
    parser.add_argument("--targets", nargs="*", default=[], help="default: all")
    arguments = parser.parse_args()
    counts = dict.fromkeys(("due", "missed", "needless"), 0)
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch) / "checkout"
        copy_checkout(folder)
        jobs = traced(folder, arguments.papers, arguments.targets)
        records = recorded(folder)
        files = list(sources(folder))
        asked = {*files[:: arguments.every], folder / "runtime.lock"}
        for file in files:
            name = str(file.relative_to(folder))
            should = kept(folder, due(jobs, name))
            if name == "runtime.lock":  # other versions of the packages: everything
                should = kept(folder, (path for job in jobs for path in job.written))
            made = kept(folder, due(records, name))
            if file in asked:
                made = kept(folder, planned(folder, file, arguments.papers, arguments.targets))
            late, extra = should - made, made - should
            for what, outputs in zip(counts, (should, late, extra), strict=True):
                counts[what] += len(outputs)
            if late or extra:
                print(f"{name}: missed {sorted(late)[:3]} ({len(late)}), needless {len(extra)}", flush=True)
    told = ", ".join(f"{count} {what}" for what, count in counts.items())
    print(f"{len(files)} files, of which {len(asked)} were edited; outputs: {told}")
    raise SystemExit(counts["missed"] > 0)


if __name__ == "__main__":
    main()
