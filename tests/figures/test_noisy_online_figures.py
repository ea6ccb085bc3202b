"""Figures and tables of noisy_online: every learner has a name, power-law ticks, what the tables say."""

import pandas as pd
import pytest
import yaml

from reproduction import artifact as artifacts
from reproduction.figures import noisy_online, panels
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


def test_regret_panels_have_reference_slopes_and_bounds_and_keep_the_last_point():
    def rows(rounds, metric, factor):
        both = [(T, r) for T in rounds for r in range(3)]
        common = {"method": "two_copy", "metric": metric}
        return [row(repetition=r, x=T, value=factor * T**0.5 + r, **common) for T, r in both]

    _, axes = panels.grid_of_panels(["", ""], [""], x_label="", y_label="")
    few = rows((10.0, 100.0, 1000.0), "regret", 1) + rows((10.0, 100.0, 1000.0), "bound", 5)
    noisy_online.regret_panel(axes[0, 0], table(few), ["two_copy", "naive"])
    noisy_online.regret_panel(axes[1, 0], table(rows((10.0, 8e5), "regret", 1)), ["two_copy"])
    assert {"√T", "T"} <= {text.get_text() for text in axes[0, 0].texts}
    assert len(axes[0, 0].lines) == 4  # bound, regret, two slopes
    assert min(ax.get_xlim()[1] for ax in axes[:, 0]) > 8e5  # the panels share the axis


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
    task = {"kernel": "linear", "loss": "squared", "data": "line", "ball": 1, "sd": 0}
    smooth = task | {"kernel": {"gaussian": 4}, "loss": "smoothed_hinge", "s": 0.5}
    for given, expected in ((smooth, "k: Gaussian, smooth hinge s = 0.5"), (task, "k: linear, squared")):
        assert noisy_online.title("k", AnalyticProblem.model_validate(given)) == expected
