"""A job that the scheduler ended is named in one line, with what helps."""

import os

import pytest

from reproduction.frame.scheduler_log import ended

STARTED = "Job 0: Run ors/fig2 (tasks=a,noise=b), repetitions 0:5\nReason: Missing output files\n"
SIGNS = {
    "runtime": "slurmstepd: error: *** JOB 4 ON n1 CANCELLED AT 2026-01-01T00:00:00 DUE TO TIME LIMIT ***",
    "mem_mb": "slurmstepd: error: Detected 1 oom_kill event in StepId=4.0. Some of the step tasks ...",
}


def log(folder, name, text, time=100):
    file = folder / "rule_run" / name / "4.log"
    file.parent.mkdir(parents=True)
    file.write_text(text)
    os.utime(file, (time, time))


@pytest.mark.parametrize("resource", SIGNS)
def test_the_job_and_its_remedy_are_named(tmp_path, resource):
    log(tmp_path, "a", STARTED.replace("fig2", "fig1") + STARTED + SIGNS[resource])
    (line,) = ended(tmp_path, since=50)
    assert "Run ors/fig2 (tasks=a,noise=b), repetitions 0:5: it" in line
    assert f"`resources: {{{resource}: ...}}` in config/experiments/ors/fig2.yaml" in line


def test_an_attempt_and_its_repetition_are_one_line_and_older_runs_none(tmp_path):
    for name, time in (("a", 100), ("b", 101), ("old", 10)):
        log(tmp_path, name, STARTED + SIGNS["runtime"], time)
    assert len(ended(tmp_path, since=50)) == 1
    assert ended(tmp_path, since=200) == []


def test_other_failures_are_left_to_their_own_logs(tmp_path):
    log(tmp_path, "a", STARTED + "ValueError: wrong")
    assert ended(tmp_path, since=0) == []
    assert ended(tmp_path / "none", since=0) == []


def test_a_job_that_was_ended_before_it_said_its_name_is_named_by_its_log(tmp_path):
    log(tmp_path, "ors_fig2_b_0", SIGNS["mem_mb"])
    (line,) = ended(tmp_path, 0, ["ors/fig", "ors/fig2", "ors/fig3"])
    assert "rule_run/ors_fig2_b_0/4.log: it needed more memory" in line
    assert line.endswith("in config/experiments/ors/fig2.yaml")
    assert ended(tmp_path, 0)[0].endswith("in config/experiments/<paper>/<artifact>.yaml")
