"""Figures and tables of noisy_online: every learner has a name, power-law ticks, what the tables say."""

import pandas as pd
import pytest
import yaml

from reproduction import artifact as artifacts
from reproduction.figures import noisy_online, panels, style
from reproduction.figures.panels import Results
from reproduction.protocols.noisy_online import AnalyticProblem
from reproduction.results import COLUMNS

FOLDER = artifacts.Path(__file__).resolve().parents[2] / "config/experiments/noisy_online"


def table(rows):
    return pd.DataFrame(rows, columns=COLUMNS).fillna({"noise": "", "setting": "", "x": float("nan")})


def row(**values):
    return {"dataset": "synthetic", "source": "synthetic", "noise": "", "setting": "", "x": 1.0} | values


@pytest.mark.parametrize("file", sorted(FOLDER.glob("*.yaml")), ids=lambda file: file.stem)
def test_every_learner_of_an_artifact_has_a_readable_name(file):
    learners = yaml.safe_load(file.read_text()).get("settings", {}).get("learners", [])
    for label in learners:
        if not label.startswith(("told ", "mean of ")):
            assert noisy_online.looks(label)["label"] not in (label, "")


def test_regret_panels_have_reference_slopes_and_bounds():
    rows = [
        row(method="two_copy", repetition=r, metric=m, x=float(T), value=f * T**0.5 + r)
        for T in (10, 100, 1000)
        for r in range(3)
        for m, f in (("regret", 1.0), ("bound", 5.0))
    ]
    with style.context():
        _, axes = panels.grid_of_panels([""], [""], x_label="", y_label="")
        noisy_online.regret_panel(axes[0, 0], table(rows), ["two_copy", "naive"])
    texts = {text.get_text() for text in axes[0, 0].texts}
    assert {"√T", "T"} <= texts
    assert len(axes[0, 0].lines) == 4  # bound, regret, two slopes


def test_a_panel_below_with_more_rounds_keeps_its_last_point():
    def rows(rounds):
        return table(
            row(method="two_copy", repetition=r, metric="regret", x=T, value=T**0.5 + r)
            for T in rounds
            for r in range(3)
        )

    with style.context():
        _, axes = panels.grid_of_panels(["", ""], [""], x_label="", y_label="")
        noisy_online.regret_panel(axes[0, 0], rows((10.0, 1000.0)), ["two_copy"])
        noisy_online.regret_panel(axes[1, 0], rows((10.0, 8e5)), ["two_copy"])
    for ax in axes[:, 0]:
        assert ax.get_xlim()[1] > 8e5


def test_the_table_of_identities_has_the_largest_z_in_its_note():
    rows = [
        row(method=name, setting="gradients", repetition=0, metric=metric, value=value)
        for name, z in (("a", -1.5), ("b", 0.25))
        for metric, value in (("predicted", 1.0), ("measured", 1.1), ("se", 0.1), ("z", z))
    ]
    frame = noisy_online.identities(Results({"identities": table(rows)}, {}))
    assert "1.50" in frame.attrs["note"]
    assert list(frame["z"]) == ["-1.50", "0.25"]


def test_titles_of_the_panels_name_kernel_and_loss():
    task = {
        "kernel": {"gaussian": 4},
        "loss": "smoothed_hinge",
        "s": 0.5,
        "data": "sides",
        "ball": 1,
        "sd": 0,
    }
    problem = AnalyticProblem.model_validate
    assert noisy_online.title("k", problem(task)) == "k: Gaussian, smooth hinge s = 0.5"
    plain = {"kernel": "linear", "loss": "squared", "data": "line", "ball": 1, "sd": 0}
    assert noisy_online.title("a", problem(plain)) == "a: linear, squared"
