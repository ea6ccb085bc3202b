"""What `./run check` finds without a repetition is found before the jobs of a run, too."""

import subprocess
import sys
import zlib
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from command_lines import run_script
from small_paper import ROOT, add_loader, add_method, change, run_paper, write_paper

from reproduction.judge import paper_check
from reproduction.plan import early_check, plan, steps
from reproduction.run import console

DESCENDING = """def fit(self, X, y):
    super().fit(X, y)
    self.classes_ = self.classes_[::-1]
    return self"""
NOISE = '''

def keep(y, rng, rate):
    """Flip nothing."""
    return y
'''


@pytest.fixture
def paper(tmp_path, request, monkeypatch):
    """The small paper under a name of its own: Python imports a module once."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    return write_paper(tmp_path / f"early_{zlib.crc32(request.node.name.encode()):x}")


@pytest.fixture
def asked_here(monkeypatch):
    """Ask in this process, which has loaded what another one would load for two seconds."""

    def run(command, **options):
        words = command[command.index("scripts.check") + 1 :]
        status, output, errors = run_script("check", Path.cwd(), *words)
        return subprocess.CompletedProcess(command, status, output, errors)

    in_this_process = SimpleNamespace(**vars(subprocess) | {"run": run})
    monkeypatch.setattr(early_check, "subprocess", in_this_process)


def planned(paper, scale="full"):
    config = plan.configured(ROOT, scale) | {"papers": [str(paper)]}
    return plan.planned(ROOT, config, run=True)


def find_mistakes(paper):
    paper_plan = planned(paper)
    return paper_plan, early_check.find_mistakes(paper_plan, [*paper_plan.artifacts])


def add_noise(paper):
    file = paper / "code.py"
    file.write_text(file.read_text(encoding="utf-8") + NOISE, encoding="utf-8")
    change(paper / "tab.yaml", "[class_conditional", '["code:keep 0.2", class_conditional')


def test_a_right_paper_has_no_mistake_and_no_warning(paper):
    paper_plan, mistakes = find_mistakes(paper)
    assert mistakes == {}
    assert paper_plan.read_warnings(paper_plan.artifacts) == []


@pytest.mark.usefixtures("asked_here")
def test_reversed_classes_and_noise_without_flips_stop_the_paper(paper):
    add_method(paper, DESCENDING)
    add_noise(paper)
    _, mistakes = find_mistakes(paper)
    (mistake,) = mistakes.values()
    assert mistake.startswith(f"{paper}/tab.yaml, line ")
    assert "settings.methods.own: the most probable class of predict_proba is right on" in mistake
    assert mistake.endswith(f" (1 more: ./run check {paper})")


@pytest.mark.nightly
def test_the_steps_of_what_is_asked_for_are_left_out_with_the_reason(paper):
    add_noise(paper)
    other_paper = write_paper(paper.parent / f"{paper.name}_other")
    for file in ("datasets.yaml", "tab.yaml", "tab.published.csv"):
        change(other_paper / file, "tumours", "others")
    (other_paper / "tumours.csv").rename(other_paper / "others.csv")
    config = plan.configured(ROOT, "full") | {"papers": [str(paper), str(other_paper)]}
    paper_plan = plan.planned(ROOT, config, run=True)
    checked, _, _ = steps.decide(paper_plan, [f"{paper.name}/"])
    assert {*checked.artifacts} == {f"{other_paper.name}/tab"}
    assert "noise 'keep 0.2' changes nothing" in checked.broken[paper.name]
    assert "changes nothing" in checked.faults([])[paper.name]
    assert steps.decide(paper_plan)[0] is paper_plan  # a preview tries nothing


@pytest.mark.nightly
def test_a_process_that_ends_gives_a_warning_and_stops_nothing(paper):
    add_method(paper, "def fit(self, X, y):\n    os._exit(7)")
    paper_plan, mistakes = find_mistakes(paper)
    assert mistakes == {}
    (warning,) = paper_plan.read_warnings(paper_plan.artifacts)
    assert "methods and noise were not tried before the run: exit status 7" in warning


@pytest.mark.usefixtures("asked_here")
def test_check_and_the_end_of_a_run_say_the_same_of_data_and_methods(paper):
    add_method(paper, "def predict(self, X):\n    return np.zeros(len(X), int)")
    add_loader(paper, "return {'X': np.c_[X, t], 'y': np.where(t, 1, -1)}")
    report = paper_check.read_paper(paper)
    paper_check.run_paper(paper, report)
    doubts = [remark for remark in report.remarks if "warning: " in remark]
    paper_plan, _ = find_mistakes(paper)
    run_paper(paper, "full")
    all_notes = console._notes(paper_plan, paper_plan.artifacts)
    notes = [note for note in all_notes if "warning: " in note]
    assert len(doubts) == len(notes) == 2
    for words in ("column 8 of X holds the label", "settings.methods.own: learns little from"):
        (doubt,) = [doubt for doubt in doubts if words in doubt]
        (note,) = [note for note in notes if words in note]
        assert doubt.partition("warning: ")[2] == note.partition("warning: ")[2]


def test_copies_of_rows_are_said_by_check_too(paper):
    add_loader(paper, "return {'X': np.r_[X, X], 'y': np.tile(np.where(t, 1, -1), 2)}")
    report = paper_check.read_paper(paper)
    paper_check.run_paper(paper, report)
    assert np.sum(["569 of 1138 rows are copies" in remark for remark in report.remarks]) == 1
