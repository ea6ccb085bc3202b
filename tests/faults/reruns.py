"""Trace every job of a smoke run: its digest covers all that it read, and an edit of that runs it again.

A job is run again when the digest of its code changes, so each module that a job imported and each data file
below ``src`` that it opened must be part of what `reproduction.plan.code_digest` finds from the job's roots.
Edits that count are a new statement, also with an old time stamp (`cp -p`, an unpacked archive) or one of
tomorrow; edits that do not are a comment, a new time and the same bytes in a new file.

    python tests/faults/reruns.py [--papers ors pnorm] [--targets ors_fig2 ...] [--edits 40] [--seed 0]

Prints every job that read more, was missed or is needless; exits with 1 if any read more or was missed.
"""

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

import numpy as np
from smoke import Smoke, preloaded

PAPERS = ["noisy_online"]
DAY = 86_400
KINDS = ("statement", "statement, old time", "statement, time of tomorrow", "comment", "new time", "new file")

TRACER = """
import atexit, json, os, sys
os.environ.pop("NOISYLABELS_TOGETHER", None)  # each job alone: it is what a job reads that counts
_sources, _folder = os.environ["TRACED_SOURCES"], os.environ["TRACED_FOLDER"]
_read = set()
def _audit(event, arguments):
    if event == "open" and isinstance(arguments[0], (str, bytes, os.PathLike)):
        path = os.path.realpath(os.fsdecode(arguments[0]))
        if path.startswith(_sources) and not path.endswith((".py", ".pyc")) and "__pycache__" not in path:
            _read.add(path)  # of modules, what is imported counts
def _write():
    files = [getattr(module, "__file__", None) or "" for module in list(sys.modules.values())]
    _read.update(path for path in map(os.path.realpath, files) if path.startswith(_sources))
    stamp = sys.argv[sys.argv.index("--code") + 1]
    with open(os.path.join(_folder, f"{os.getpid()}.json"), "w") as file:
        json.dump({"stamp": stamp, "words": sys.argv[1:], "read": sorted(_read)}, file)
if "scripts." in " ".join(sys.orig_argv) and "--code" in sys.orig_argv:
    sys.addaudithook(_audit)
    atexit.register(_write)
"""
NAMES = ("src/noisylabels/__init__.py", "src/scripts/__init__.py")
"""They hold names and change no result, which tests/test_packages.py holds."""
LISTED = (
    "import json, sys; from reproduction import code_digest; roots = json.loads(sys.argv[1]);"
    "print(json.dumps([[str(file) for file in code_digest.closure(each).values()] for each in roots]))"
)


def snakemake(folder: Path, papers: list[str], *options: str, **variables: str) -> str:
    """Run Snakemake at smoke scale in the copied checkout; returns what it printed."""
    papers_given = ["--config", f"papers=[{','.join(papers)}]"] if papers else []
    words = ["--cores", "2", "--nocolor", *options, "--configfile", "config/smoke.yaml", *papers_given]
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("SNAKEMAKE", "PYTHONPATH"))}
    status, output = preloaded.snakemake(words, folder, kept | variables)
    if status:
        raise SystemExit(output)
    return output


class Traced(NamedTuple):
    """A job: digest and roots of its code, its arguments, the files below ``src`` that it read."""

    stamp: str
    words: list[str]
    read: set[str]


def traced(folder: Path, papers: list[str], targets: list[str]) -> list[Traced]:
    """Every job of a smoke run."""
    with tempfile.TemporaryDirectory() as scratch:
        (Path(scratch) / "sitecustomize.py").write_text(TRACER)
        traces = Path(scratch) / "traces"
        traces.mkdir()
        sources = f"{os.path.realpath(folder / 'src')}{os.sep}"
        tracing = {"PYTHONPATH": scratch, "TRACED_SOURCES": sources, "TRACED_FOLDER": str(traces)}
        snakemake(folder, papers, *targets, **tracing)
        jobs = [json.loads(file.read_text()) for file in sorted(traces.glob("*.json"))]
    return [Traced(job["stamp"], job["words"], set(job["read"])) for job in jobs]


def more_than_listed(folder: Path, jobs: list[Traced]) -> list[str]:
    """Which jobs read more files than their digest is of."""
    environment = os.environ | {"PYTHONPATH": str(folder / "src")}
    command = [sys.executable, "-c", LISTED, json.dumps([job.stamp.split()[1:] for job in jobs])]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    found, unread = [], {os.path.realpath(folder / name) for name in NAMES}
    for job, files in zip(jobs, json.loads(done.stdout), strict=True):
        if more := sorted(job.read - unread - {os.path.realpath(file) for file in files}):
            found.append(f"{job.stamp}: read {', '.join(os.path.relpath(f, folder) for f in more)} too")
    return found


def name(job: Traced) -> str:
    """As a dry run calls the job: ``noisy_online/averaging 0:1``, ``Draw noisy_online/averaging``; or ""."""
    if "--repetitions" in job.words:
        table = job.words[job.words.index("--table") + 1]
        artifact = "/".join(Path(table).parts[2:4])
        return f"{artifact} {job.words[job.words.index('--repetitions') + 1]}"
    return f"Draw {job.words[-1]}" if "--config" in job.words and "/" in job.words[-1] else ""


def planned(folder: Path, targets: tuple[str, ...]) -> set[str]:
    """The jobs that would run, by those names."""
    told = snakemake(folder, PAPERS, "-n", *targets)
    runs = re.findall(r"^Job \d+: Run (\S+)(?: \(.*\))?, repetitions (\d+:\d+)$", told, re.M)
    return {f"{artifact} {block}" for artifact, block in runs} | set(
        re.findall(r"^Job \d+: (Draw \S+)$", told, re.M)
    )


def edited(file: Path, kind: str, number: int) -> None:
    """Change the file in one of the `KINDS`."""
    if kind == "new file":
        shutil.copyfile(file, file.with_suffix(".new"))
        file.with_suffix(".new").replace(file)
        return
    statement = f"\n_EDIT_{number} = {number}\n" if kind.startswith("statement") else f"\n# edit {number}\n"
    if kind != "new time":
        file.write_text(file.read_text(encoding="utf-8") + statement, encoding="utf-8")
    moved = {"statement, old time": -5000 * DAY, "statement, time of tomorrow": DAY}.get(kind, 0)
    os.utime(file, (time.time() + moved,) * 2)


def attack(smoke: Smoke, traces: Iterable[Traced], count: int, seed: int) -> dict[str, list[str]]:
    """What was missed, and what is needless, of ``count`` edits after a run; each is undone afterwards."""
    jobs = [job for job in traces if name(job)]
    unread = {os.path.realpath(smoke.folder / each) for each in NAMES}
    read = sorted({file for job in jobs for file in job.read if file.endswith(".py")} - unread)
    every = sorted(map(os.path.realpath, (smoke.folder / "src").rglob("*.py")))
    others = sorted(set(every) - set(read) - unread)
    found: dict[str, list[str]] = {"due": [], "missed": [], "needless": []}
    rng = np.random.default_rng(seed)
    assert planned(smoke.folder, smoke.targets) == set()
    for number in range(count):
        kind = KINDS[number % len(KINDS)]
        file = Path(str(rng.choice(read if rng.random() < 0.7 else others)))
        kept = file.read_bytes()
        edited(file, kind, number)
        must = {name(job) for job in jobs if str(file) in job.read} if kind.startswith("statement") else set()
        would = planned(smoke.folder, smoke.targets)
        follow = {f"Draw {job.rpartition(' ')[0]}" for job in would if not job.startswith("Draw")}
        where = f"{kind} in {file.relative_to(os.path.realpath(smoke.folder))}"
        found["due"] += sorted(must)
        found["missed"] += [f"{where}: {job}" for job in sorted(must - would)]
        found["needless"] += [f"{where}: {job}" for job in sorted(would - must - follow)]
        file.write_bytes(kept)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--papers", nargs="*", default=[], help="default: those of the configuration")
    parser.add_argument("--targets", nargs="*", default=[])
    parser.add_argument("--edits", type=int, default=40, help="number of edits")
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as scratch:
        smoke = Smoke(Path(scratch) / "checkout")
        jobs = traced(smoke.folder, arguments.papers, arguments.targets)
        more = more_than_listed(smoke.folder, jobs)
        smoke.clear()
        traces = traced(smoke.folder, PAPERS, list(smoke.targets))
        found = attack(smoke, traces, arguments.edits, arguments.seed)
    print(*more, *(f"{what}: {job}" for what in ("missed", "needless") for job in found[what]), sep="\n")
    print(f"{len(jobs)} jobs, {len(more)} read more than their digest is of")
    print(f"{arguments.edits} edits: {', '.join(f'{len(jobs)} jobs {what}' for what, jobs in found.items())}")
    raise SystemExit(bool(more or found["missed"] or not jobs))


if __name__ == "__main__":
    main()
