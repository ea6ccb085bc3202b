"""A copied checkout in which a few artifacts run at smoke scale, exactly as `./run` starts them."""

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import preloaded
from checkouts import copy_checkout
from runs import Run

TARGETS = ("noisy_online_identities", "noisy_online_averaging")
"""Small artifacts that need no data; the second is cut into two blocks, which are collected."""


def any_starts_with(targets: tuple[str, ...], paper: str) -> bool:
    return any(target.startswith(paper) for target in targets)


class Smoke(Run):
    """Runs of some targets in a scratch copy of the checkout, at smoke scale or another."""

    def __init__(
        self,
        folder: Path,
        targets: tuple[str, ...] = TARGETS,
        scale: str = "smoke",
    ) -> None:
        copy_checkout(folder)
        super().__init__(folder, folder)
        self.targets = targets
        papers = {file.parent.name for file in (folder / "src/papers").glob("*/TITLE")}
        papers_needed = sorted(paper for paper in papers if any_starts_with(targets, paper))
        self.settings = [f"papers=[{','.join(papers_needed)}]", "formats=[png]"]
        self.overlay = [] if scale == "full" else ["--configfile", f"config/{scale}.yaml"]
        self.display: list[str] = []
        self.variables: dict[str, str] = {}
        averaging = folder / "src/papers/noisy_online/averaging.yaml"
        whole = averaging.read_text(encoding="utf-8")
        old = "    shards: {repetitions: 2}"
        averaging.write_text(whole.replace(old, "    shards: {repetitions: 1}"))

    def start(self, **options: Any) -> "subprocess.Popen[str]":
        """Start a run, in a session of its own."""
        command = [
            sys.executable,
            "-P",
            "src/scripts/start.py",
            "--profile",
            "workflow/profiles/default",
        ]
        command += ["--cores", "2", *self.overlay, *self.display]
        command += ["--config", *self.settings, "--", *self.targets]
        pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
        return subprocess.Popen(
            command,
            cwd=self.folder,
            env=self.environment() | self.variables,
            text=True,
            start_new_session=True,
            **(pipes | options),
        )

    @contextmanager
    def started(self, **options: Any) -> Iterator["subprocess.Popen[str]"]:
        """Start a run; if the test fails before its end, end it with all its jobs."""
        with self.start(**options) as process:
            try:
                yield process
            finally:
                if process.poll() is None:
                    os.killpg(process.pid, signal.SIGKILL)

    def run(self, **options: Any) -> tuple[int, str]:
        """Run to the end; exit status and what was printed."""
        with self.started(**options) as process:
            output, _ = process.communicate()
        return process.returncode, output or ""

    def clear(self) -> None:
        """Remove all that runs made but the compiled kernels."""
        for part in ("data", "results", "figures", "site", "logs", ".snakemake"):
            shutil.rmtree(self.folder / part, ignore_errors=True)


def snakemake(folder: Path, papers: list[str], *options: str, **variables: str) -> str:
    """Run Snakemake at smoke scale in the copied checkout; returns what it printed."""
    words = ["--cores", "2", "--nocolor", *options]
    words += ["--configfile", "config/smoke.yaml"]
    if papers:
        words += ["--config", f"papers=[{','.join(papers)}]"]
    environment = {}
    for name, value in os.environ.items():
        if not name.startswith(("SNAKEMAKE", "PYTHONPATH")):
            environment[name] = value
    status, output = preloaded.snakemake(words, folder, environment | variables)
    if status:
        raise SystemExit(output)
    return output
