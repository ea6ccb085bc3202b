"""Trace every job of a smoke run, and hold the files of this checkout that it read against its code's digest.

A job is run again when the digest of its code changes, so each module that a job imported and each data file
below ``src`` that it opened must be part of what `reproduction.code_digest` finds from the job's roots. That
edits are noticed is tested in tests/test_code_digest.py and tests/workflow/test_workflow.py.

    python tests/faults/reruns.py [--papers ors pnorm] [--targets ors_fig2 ...]

Prints a line for each job that read more, then the counts; exits with 1 if any did.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from checkouts import copy_checkout

TRACER = """
import atexit, json, os, sys
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
    "import json, sys; from reproduction import code_digest;"
    "print(json.dumps([str(file) for file in code_digest.closure(sys.argv[1:]).values()]))"
)


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


def listed(folder: Path, roots: list[str]) -> set[str]:
    """The files that the digest of these roots is of."""
    environment = os.environ | {"PYTHONPATH": str(folder / "src")}
    command = [sys.executable, "-c", LISTED, *roots]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    return {os.path.realpath(file) for file in json.loads(done.stdout)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--papers", nargs="*", default=[], help="default: those of the configuration")
    parser.add_argument("--targets", nargs="*", default=[])
    arguments = parser.parse_args()
    missed = 0
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch) / "checkout"
        copy_checkout(folder)
        jobs = traced(folder, arguments.papers, arguments.targets)
        unread = {os.path.realpath(folder / name) for name in NAMES}
        for stamp, _, read in jobs:
            more = read - listed(folder, stamp.split()[1:]) - unread
            missed += bool(more)
            if more:
                found = ", ".join(sorted(os.path.relpath(file, folder) for file in more))
                print(f"{stamp}: read {found} too", flush=True)
    print(f"{len(jobs)} jobs, {missed} read more than their digest is of")
    raise SystemExit(missed > 0 or not jobs)


if __name__ == "__main__":
    main()
