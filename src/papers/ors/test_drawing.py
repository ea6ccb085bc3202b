"""Figures and tables show the numbers of their results."""

import numpy as np
import pandas as pd
import pytest
from made_tables import Inputs

from ors import drawing as ors
from reproduction.show import names, style
from reproduction.spec.papers import HOME

pytestmark = pytest.mark.usefixtures("house_style")


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
    inputs = Inputs("ors/fig2", repetitions=2)
    table = inputs.tables["fig2"]
    rows_of_mine = inputs.rows(method="noisy").assign(method="mine")
    inputs.tables["fig2"] = pd.concat([table, rows_of_mine])
    methods = inputs.settings["fig2"]["methods"]
    methods["mine"] = methods["clean"]
    figure = inputs.draw()
    for ax in figure.axes:
        assert "mine" in labels_of_lines(ax)


def test_the_short_delay_is_not_in_the_speech_figure():
    inputs = Inputs("ors/fig5", repetitions=2)
    figure = inputs.draw()
    assert len(figure.axes) == 4
    first_line = figure.axes[0].get_lines()[0]
    seconds = first_line.get_xdata()
    samples = inputs.rows()["x"]
    assert seconds[-1] == pytest.approx(samples.max() / 16000)


def test_budget_figure_separates_strategies_by_colour_and_scaling_by_dash():
    figure = Inputs("ors/fig6").draw()
    lines = figure.axes[0].get_lines()
    colours = {line.get_color() for line in lines}
    assert len(colours) == 4
    dashes = {line.get_linestyle() for line in lines}
    assert len(dashes) == 2


def test_the_last_errors_are_those_after_a_fifth_of_the_rounds_and_the_best_rule_is_no_oracle():
    """Make errors of exactly 1 in the first fifth of the rounds, and of c > 1 afterwards."""
    inputs = Inputs("ors/fig2", repetitions=2)
    table = inputs.tables["fig2"]
    x = table["x"]
    points = np.unique(x)
    end = points[-1]
    position = np.searchsorted(points, 0.2 * end)
    start = points[position]
    methods = inputs.settings["fig2"]["methods"]
    errors_of_methods = {method: 2.0 + i for i, method in enumerate(methods)}
    c = table["method"].map(errors_of_methods)
    first_rounds = np.minimum(x, start)
    last_rounds = np.maximum(x - start, 0)
    table["value"] = (first_rounds + c * last_rounds) / x
    frame = ors.final_errors(inputs.results())
    shared = frame.loc["Fig. 2, regression", "M=5", "one r for all rules"].set_index("rule")
    assert shared.loc["noisy", "MSE, last 80 %"] == "**3**"
    assert shared.loc["beta", "MSE, last 80 %"] == "4"
    mean_error = 3 - 2 * start / end
    assert shared.loc["noisy", "MSE, all rounds"] == f"**{mean_error:.3g}**"
    is_bold = frame["MSE, all rounds"].str.startswith("**")
    best_rules = frame["rule"][is_bold]
    # the control has a lower error, but it is not a rule
    assert set(best_rules) == {"noisy"}
