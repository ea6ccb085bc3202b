"""Figures and tables show the numbers of their results."""

import numpy as np
import pandas as pd
import pytest
from made_tables import Inputs

from ors import drawing as ors
from reproduction.show import names, style
from reproduction.spec.papers import HOME


def labels_of_lines(ax):
    """List the labels of the lines that a legend would show."""
    labels = {str(line.get_label()) for line in ax.get_lines()}
    return {label for label in labels if not label.startswith("_")}


def test_known_and_unknown_variance_show_their_own_rules():
    figure = Inputs("ors/fig2").draw()
    labels_of_known = labels_of_lines(figure.axes[0])
    unknown = labels_of_lines(figure.axes[1])
    in_legend = [text.get_text() for text in figure.legends[0].get_texts()]
    rules = ["clean", "noisy", "beta", "opt", "one", "one_pred", "two"]
    rules_without_variance = ["clean", "noisy", "one_pred_u", "two_u", "two_noisy"]
    with names.using(HOME / "ors"):
        assert labels_of_known >= set(map(style.label, rules))
        assert unknown == set(map(style.label, rules_without_variance))
        assert style.label("two_full") not in in_legend


def test_a_users_own_method_is_drawn_in_both_columns():
    inputs = Inputs("ors/fig2", few=2)
    table, methods = inputs.tables["fig2"], inputs.settings["fig2"]["methods"]
    inputs.tables["fig2"] = pd.concat([table, inputs.rows(method="noisy").assign(method="mine")])
    methods["mine"] = methods["clean"]
    assert all("mine" in labels_of_lines(ax) for ax in inputs.draw().axes)


def test_the_short_delay_is_not_in_the_speech_figure():
    inputs = Inputs("ors/fig5", few=2)
    figure = inputs.draw()
    assert len(figure.axes) == 4
    seconds = figure.axes[0].get_lines()[0].get_xdata()
    assert seconds[-1] == pytest.approx(inputs.rows()["x"].max() / 16000)


def test_budget_figure_separates_strategies_by_colour_and_scaling_by_dash():
    lines = Inputs("ors/fig6").draw().axes[0].get_lines()
    assert len({line.get_color() for line in lines}) == 4
    assert len({line.get_linestyle() for line in lines}) == 2


def test_the_last_errors_are_those_after_a_fifth_of_the_rounds_and_the_best_rule_is_no_oracle():
    """Make errors of exactly 1 in the first fifth of the rounds, and of c > 1 afterwards."""
    inputs = Inputs("ors/fig2", few=2)
    table, x = inputs.tables["fig2"], inputs.tables["fig2"]["x"]
    points = np.unique(x)
    start = points[np.searchsorted(points, 0.2 * points[-1])]
    c = table["method"].map({m: 2.0 + i for i, m in enumerate(inputs.settings["fig2"]["methods"])})
    table["value"] = (np.minimum(x, start) + c * np.maximum(x - start, 0)) / x
    frame = ors.final_errors(inputs.results())
    shared = frame.loc["Fig. 2, regression", "M=5", "one r for all rules"].set_index("rule")
    assert shared.loc["noisy", "MSE, last 80 %"] == "**3**"
    assert shared.loc["beta", "MSE, last 80 %"] == "4"
    assert shared.loc["noisy", "MSE, all rounds"] == f"**{3 - 2 * start / points[-1]:.3g}**"
    bold = frame["MSE, all rounds"].str.startswith("**")
    # the control has a lower error, but it is not a rule
    assert set(frame["rule"][bold]) == {"noisy"}
