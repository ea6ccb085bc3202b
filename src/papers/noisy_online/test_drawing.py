"""Figures and tables show the numbers of their results."""

import itertools

import pandas as pd

from noisy_online import drawing as noisy_online
from noisy_online.code import AnalyticProblem
from reproduction.show import panels
from reproduction.show.panels import Results


def test_regret_panels_have_reference_slopes_and_bounds_and_keep_the_last_point():
    def rows(rounds, metric, factor):
        places = itertools.product(rounds, range(3))
        return [("two_copy", metric, r, T, factor * T**0.5 + r) for T, r in places]

    _, axes = panels.grid_of_panels(["", ""], [""], x_label="", y_label="")
    horizons = (10.0, 100.0, 1000.0)
    three_horizons = rows(horizons, "regret", 1) + rows(horizons, "bound", 5)
    for ax, drawn in ((axes[0, 0], three_horizons), (axes[1, 0], rows((10.0, 8e5), "regret", 1))):
        table = pd.DataFrame(drawn, columns=["method", "metric", "repetition", "x", "value"])
        noisy_online.regret_panel(ax, table, ["two_copy", "naive"])
    assert {"√T", "T"} <= {text.get_text() for text in axes[0, 0].texts}
    assert len(axes[0, 0].lines) == 4  # bound, regret, two slopes
    assert min(ax.get_xlim()[1] for ax in axes[:, 0]) > 8e5  # the panels share the axis


def test_the_table_of_identities_has_the_largest_z_in_its_note():
    rows = []
    for name, z in (("a", -1.5), ("b", 0.25)):
        common = {"method": name, "setting": "gradients", "repetition": 0}
        for metric, value in (("predicted", 1.0), ("measured", 1.1), ("se", 0.1), ("z", z)):
            rows.append(common | {"metric": metric, "value": value})
    frame = noisy_online.identities(Results({"identities": pd.DataFrame(rows)}, {}))
    assert "1.50" in frame.attrs["note"]
    assert list(frame["z"]) == ["-1.50", "0.25"]


def test_titles_of_the_panels_name_kernel_and_loss():
    task = {"kernel": "linear", "loss": "squared", "data": "line", "ball": 1, "sd": 0}
    smooth = task | {"kernel": {"gaussian": 4}, "loss": "smoothed_hinge", "s": 0.5}
    titles = ["k: linear, squared", "k: Gaussian, smooth hinge s = 0.5"]
    problems = [AnalyticProblem.model_validate(settings) for settings in (task, smooth)]
    assert [noisy_online.title("k", problem) for problem in problems] == titles
