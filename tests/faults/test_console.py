"""What a person sees of a run that works, fails or is stopped; what Snakemake says is in its log."""

import os
import pty
import re
import signal
import time

import psutil
import pytest
from smoke import Smoke

from reproduction.console import Progress, clock

pytestmark = pytest.mark.workflow

VERDICTS = [
    f"verdicts: {claims} ran (a reduced scale judges nothing); "
    f"see results/smoke/noisy_online/{name}/verdicts.csv"
    for name, claims in (("identities", 5), ("averaging", 1))
]
LINE = re.compile(r"\[\d+/\d+\] \d+:\d\d of about \d+:\d\d  \S.*")


@pytest.fixture(scope="module")
def shown(tmp_path_factory):
    """Runs with the display that `./run` asks for."""
    smoke = Smoke(tmp_path_factory.mktemp("console"))
    smoke.display = ["--logger", "console"]
    return smoke


def edit_job(smoke: Smoke, line: str):
    """Let every job begin with a line; returns the old text."""
    script = smoke.folder / "src/scripts/job.py"
    old = script.read_text()
    script.write_text(old.replace("parser = ", f"{line}\nparser = ", 1))
    return lambda: script.write_text(old)


def test_a_run_shows_what_was_made_and_nothing_of_snakemake(shown):
    status, output = shown.run()
    assert status == 0, output
    assert [line for line in output.splitlines() if not LINE.fullmatch(line)][1:] == [
        "smoke scale: 1 figure and 1 table in figures/smoke",
        *VERDICTS,
    ]
    (log,) = (shown.folder / ".snakemake/log").glob("*.log")
    assert "Reason: Missing output files: results/smoke/noisy_online/averaging/" in log.read_text()
    status, output = shown.run()
    assert (status, "Nothing to be done" in output) == (0, True)


def test_a_failed_job_shows_its_cause_and_its_log_and_the_others_go_on(shown):
    shown.clear()
    restore = edit_job(shown, "import sys; 'identities' in str(sys.argv) and sys.exit('error: no such luck')")
    status, output = shown.run()
    restore()
    assert status == 1
    said = [line for line in output.splitlines() if not LINE.fullmatch(line)][1:]
    log = "logs/smoke/noisy_online/identities/experiment.log"
    assert said == [
        f"failed: noisy_online/identities: no such luck ({log})",
        "smoke scale: 1 figure and 0 tables in figures/smoke",
        VERDICTS[1],
        "not made: noisy_online/identities; why: logs/smoke",
        f"why: no such luck ({log})",
    ]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupt_ends_the_jobs_at_once_and_the_same_command_goes_on(shown, number):
    shown.clear()
    restore = edit_job(
        shown, f"import time, signal; signal.signal({int(number)}, signal.SIG_IGN); time.sleep(600)"
    )
    process = shown.start()
    main = psutil.Process(process.pid)
    while not any("scripts.job" in " ".join(child.cmdline()) for child in main.children(recursive=True)):
        time.sleep(0.05)
    jobs = main.children(recursive=True)
    time.sleep(0.5)
    # a terminal interrupts all processes, whoever terminates a run often the first alone
    os.killpg(process.pid, number) if number == signal.SIGINT else process.terminate()
    output, _ = process.communicate(timeout=60)  # the jobs would sleep for ten minutes
    restore()
    assert process.returncode == 1
    assert "stopped, 2 to go; what is finished is kept, the same command goes on" in output
    assert not re.search("failed|Traceback|Killed|Error", output)
    assert not list((shown.folder / ".snakemake/locks").glob("*"))
    assert not [job for job in jobs if job.is_running() and job.status() != psutil.STATUS_ZOMBIE]
    status, output = shown.run()
    assert status == 0, output


def test_a_terminal_has_one_line_that_is_written_over(shown):
    shown.clear()
    ours, theirs = pty.openpty()
    restore = edit_job(shown, "import time; time.sleep(2.5)")
    process = shown.start(stdout=theirs, stderr=theirs)
    os.close(theirs)
    output = b""
    try:
        while part := os.read(ours, 65536):
            output += part
    except OSError:  # the other side is closed
        pass
    restore()
    assert process.wait() == 0
    lines = output.decode().split("\r\n")
    progress = [text for line in lines for text in line.split("\r\x1b[K")[1:]]
    assert sum(LINE.fullmatch(text) is not None for text in progress) >= 2
    assert len([line for line in lines if line.strip()]) <= 4


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


def test_jobs_keep_their_bytecode_whatever_the_caller_forbids(shown, tmp_path):
    (tmp_path / "sitecustomize.py").write_text(COUNT)
    shown.variables = {"PYTHONDONTWRITEBYTECODE": "1", "PYTHONPATH": str(tmp_path)}
    shown.variables |= {"PYTHONPYCACHEPREFIX": str(tmp_path / "bytecode")}
    compiled = []
    for run in ("first", "second"):
        shown.clear()
        shown.variables["COMPILED"] = str(tmp_path / run)
        status, output = shown.run()
        assert status == 0, output
        compiled.append((tmp_path / run).read_text().splitlines() if (tmp_path / run).exists() else [])
    shown.variables = {}
    assert any(path.endswith("protocols/walk.py") for path in compiled[0])
    assert compiled[1] == []


@pytest.mark.parametrize(("seconds", "text"), [(0, "0:00"), (59.6, "1:00"), (7509, "2:05:09")])
def test_a_time_is_written_as_a_clock_shows_it(seconds, text):
    assert clock(seconds) == text


def test_the_expected_time_starts_from_what_is_known_and_follows_the_machine():
    progress = Progress(2, {1: 10.0, 2: 30.0, 3: 60.0})
    assert progress.expected(0.0) == 50.0  # 100 seconds of work on two cores
    progress.finished(1)
    assert progress.expected(20.0) == 200.0  # a tenth took 20 s
    assert Progress(2, {}).expected(5.0) == 0.0
