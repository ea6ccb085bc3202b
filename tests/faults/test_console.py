"""What a person sees of a run that works, fails or is stopped; Snakemake's words are in its log."""

import csv
import os
import pty
import re
import signal
import time
from contextlib import contextmanager, suppress
from pathlib import Path

import psutil
import pytest
from smoke import Smoke

from reproduction.run import console
from reproduction.run.console import Progress, clock

pytestmark = pytest.mark.workflow

OF_IDENTITIES = "results/smoke/noisy_online/identities/verdicts.csv"
OF_AVERAGING = "results/smoke/noisy_online/averaging/verdicts.csv"
NOT_JUDGED = "ran (no verdicts at reduced scale)"
LINE = re.compile(r"\[\d+/\d+\] \d+:\d\d of about \d+:\d\d  \S.*")


COUNT = """
import importlib.machinery, os, sys
if "scripts.job" in sys.orig_argv:
    compiled = importlib.machinery.SourceFileLoader.source_to_code
    def count(self, data, path, **options):
        with open(os.environ["COMPILED"], "a") as file:
            print(path, file=file)
        return compiled(self, data, path, **options)
    importlib.machinery.SourceFileLoader.source_to_code = count
"""
"""Lets jobs write down which modules they compile."""


@pytest.fixture(scope="module")
def shown(tmp_path_factory):
    """Runs with the display that `./run` asks for, started by somebody who forbids bytecode."""
    smoke = Smoke(tmp_path_factory.mktemp("console"))
    folder_of_users = tmp_path_factory.mktemp("beside")
    (folder_of_users / "sitecustomize.py").write_text(COUNT)
    smoke.display = ["--logger", "console"]
    smoke.variables = {"PYTHONDONTWRITEBYTECODE": "1", "PYTHONPATH": str(folder_of_users)}
    smoke.variables |= {"COMPILED": str(folder_of_users / "compiled")}
    return smoke


def compiled(smoke: Smoke) -> set[str]:
    """Names of the modules that jobs compiled since this was asked last."""
    file = Path(smoke.variables["COMPILED"])
    names_of_compiled = {Path(line).name for line in file.read_text().splitlines()}
    file.write_text("")
    return names_of_compiled


@contextmanager
def edited_job(smoke: Smoke, line: str):
    """Let every job begin with a line, which makes all of them due again."""
    script = smoke.folder / "src/scripts/job.py"
    old = script.read_text()
    script.write_text(old.replace("parser = ", f"{line}\nparser = ", 1))
    yield
    script.write_text(old)


def command_lines(process: psutil.Process) -> list[str]:
    """Read the command lines of all processes below one; any of them may end at this moment."""
    lines = []
    for child in process.children(recursive=True):
        with suppress(psutil.Error):
            lines.append(" ".join(child.cmdline()))
    return lines


def read_output(output: str) -> list[str]:
    """Select what was shown after the first job has started, without the lines of progress."""
    lines = [line for line in output.splitlines() if not LINE.fullmatch(line)][1:]
    return [line for line in lines if not line.startswith("Look already: ")]


def count_rows(smoke: Smoke, verdicts: str) -> int:
    """Count the rows of a file of verdicts."""
    with (smoke.folder / verdicts).open(newline="") as file:
        return sum(1 for _ in csv.DictReader(file))


@pytest.mark.nightly
def test_a_run_shows_what_was_made_and_nothing_of_snakemake(shown):
    status, output = shown.run()
    assert status == 0, output
    verdicts = count_rows(shown, OF_IDENTITIES) + count_rows(shown, OF_AVERAGING)
    assert read_output(output) == [
        "smoke scale: 1 figure and 1 table in figures/smoke",
        "made: figures/smoke/noisy_online/identities.html",
        "made: figures/smoke/noisy_online/averaging.png",
        f"verdicts: {verdicts} {NOT_JUDGED}; see {OF_IDENTITIES}, {OF_AVERAGING}",
    ]
    (log,) = (shown.folder / ".snakemake/log").glob("*.log")
    assert "Reason: Missing output files: results/smoke/noisy_online/averaging/" in log.read_text()
    assert "analytic.py" in compiled(shown)
    status, output = shown.run()
    assert (status, "Nothing to be done" in output) == (0, True)


@pytest.mark.nightly
def test_a_failed_job_shows_its_cause_once_and_counts_nothing_of_the_run_before(shown):
    """The others go on, and keep their bytecode whatever the caller forbids."""
    fail = "import sys; 'identities' in str(sys.argv) and sys.exit('error: no such luck')"
    with edited_job(shown, fail):
        status, output = shown.run()
    assert status == 1
    log = "logs/smoke/noisy_online/identities/experiment.log"
    assert read_output(output) == [
        f"failed: noisy_online/identities ({log})",
        "smoke scale: 1 figure and 0 tables in figures/smoke",
        "made: figures/smoke/noisy_online/averaging.png",
        f"verdicts: {count_rows(shown, OF_AVERAGING)} {NOT_JUDGED}; see {OF_AVERAGING}",
        "not made: noisy_online/identities; why: logs/smoke",
        f"why: no such luck ({log})",
    ]
    assert compiled(shown) <= {"job.py"}


@pytest.mark.nightly
def test_a_figure_that_cannot_be_drawn_costs_no_other_file_of_its_paper(tmp_path):
    smoke = Smoke(tmp_path)
    broken = "@panels.figure\ndef averaging(results):\n    raise KeyError('x')\n"
    with (tmp_path / "src/papers/noisy_online/drawing.py").open("a") as drawing:
        drawing.write(broken)
    status, output = smoke.run()
    assert status == 1
    drawn = {file.name for file in (tmp_path / "figures/smoke/noisy_online").iterdir()}
    suffixes = ("csv", "html", "md", "tex", "record.json")
    assert drawn == {f"identities.{suffix}" for suffix in suffixes}
    assert "not made: noisy_online/averaging" in output
    assert "src/papers/noisy_online/drawing.py, line " in output
    assert ": KeyError: 'x' (logs/smoke/noisy_online/averaging/draw.log)" in output

    smoke.edit("src/papers/noisy_online/drawing.py", broken, "")
    assert smoke.run()[0] == 0
    assert (tmp_path / "figures/smoke/noisy_online/averaging.png").is_file()


@pytest.mark.nightly
def test_an_interrupt_ends_the_jobs_at_once_and_the_same_command_goes_on(shown):
    for number in (signal.SIGINT, signal.SIGTERM):
        ignore = f"signal.signal({int(number)}, signal.SIG_IGN)"
        sleep = f"import time, signal; {ignore}; time.sleep(600)"
        with edited_job(shown, sleep), shown.started() as process:
            main = psutil.Process(process.pid)
            while not any("scripts.job" in line for line in command_lines(main)):
                assert process.poll() is None, "the run ended before its first job"
                time.sleep(0.05)
            jobs = main.children(recursive=True)
            time.sleep(0.5)
            # a terminal interrupts all processes, whoever terminates a run often the first alone
            if number == signal.SIGINT:
                os.killpg(process.pid, number)
            else:
                process.terminate()
            output, _ = process.communicate(timeout=60)  # the jobs would sleep for ten minutes
        assert process.returncode == 1
        counts, stopped = read_output(output)
        assert counts == "smoke scale: 0 figures and 0 tables in figures/smoke"
        continue_with = "finished results are kept, run the same command to continue"
        assert stopped == f"stopped with 2 results to go; {continue_with}"
        assert not list((shown.folder / ".snakemake/locks").glob("*"))
        for job in jobs:
            assert not job.is_running() or job.status() == psutil.STATUS_ZOMBIE
    with edited_job(shown, "import time; time.sleep(1)"):
        lines = on_a_terminal(shown)
    progress = []
    for line in lines:
        progress += line.split("\r\x1b[K")[1:]
    assert sum(LINE.fullmatch(text) is not None for text in progress) >= 2  # one line, written over
    assert len([line for line in lines if " of about " in line]) == 1


def on_a_terminal(smoke: Smoke) -> list[str]:
    """Return what a run that works sends to a terminal."""
    ours, theirs = pty.openpty()
    output = b""
    with smoke.started(stdout=theirs, stderr=theirs) as process:
        os.close(theirs)
        with suppress(OSError):  # the other side is closed
            while part := os.read(ours, 65536):
                output += part
        assert process.wait() == 0, output
    return output.decode().split("\r\n")


def test_the_expected_time_starts_from_what_is_known_and_follows_the_machine():
    assert [clock(seconds) for seconds in (0, 59.6, 7509)] == ["0:00", "1:00", "2:05:09"]
    progress = Progress(2, {1: 10.0, 2: 30.0, 3: 60.0})
    assert progress.expected(0.0) == 50.0  # 100 seconds of work on two cores
    progress.finished(1)
    assert progress.expected(20.0) == 200.0  # a tenth took 20 s
    assert Progress(2, {}).expected(5.0) == 0.0


def test_the_expected_time_does_not_grow_while_long_jobs_run(monkeypatch):
    now = 0.0
    monkeypatch.setattr(console.time, "monotonic", lambda: now)
    progress = Progress(2, {1: 60.0, 2: 60.0, 3: 5.0})
    progress.start(3, "short")
    now = 5.0
    progress.finished(3)
    for job in (1, 2):
        progress.start(job, "long")
    expected = []
    for now in (10.0, 20.0, 40.0, 60.0):
        expected.append(progress.expected(now))
    assert max(expected) < 90  # 62.5 s on two cores that are always busy
    assert expected == sorted(expected, reverse=True)
    now = 200.0  # they take longer than expected: the rest is what has not begun
    assert progress.expected(now) == pytest.approx(200.0)


def test_a_job_that_takes_longer_than_expected_delays_the_end_by_no_more_than_that(monkeypatch):
    now = 0.0
    monkeypatch.setattr(console.time, "monotonic", lambda: now)
    progress = Progress(2, {1: 10.0, 2: 10.0, 3: 80.0})
    progress.start(1, "first")
    now = 14.0
    progress.finished(1)
    progress.start(2, "slow")
    before = progress.expected(now)
    for now in (34.0, 84.0, 134.0):
        assert progress.expected(now) - before <= now - 14.0


def test_paths_are_shown_from_where_the_command_was_typed(monkeypatch, tmp_path):
    monkeypatch.delenv(console.TYPED_IN, raising=False)
    assert console.path_to_show("figures/full") == "figures/full"
    monkeypatch.setenv(console.TYPED_IN, str(tmp_path))
    (tmp_path / "beans_try").mkdir()
    monkeypatch.chdir(tmp_path / "beans_try")
    assert console.path_to_show("figures/full") == "beans_try/figures/full"


def test_what_was_computed_ahead_counts_until_its_own_job_puts_it_in_place(tmp_path, monkeypatch):
    monkeypatch.setattr(console, "AHEAD", {tmp_path / name: job for job, name in enumerate("abc")})
    progress = Progress(1, dict.fromkeys(range(4), 10.0))
    (tmp_path / "b").touch()
    assert progress.expected(20.0) == 80.0  # one of four
    (tmp_path / "a").touch()
    assert progress.expected(20.0) == 40.0
    (tmp_path / "a").unlink()
    progress.finished(0)
    assert progress.expected(20.0) == 40.0
