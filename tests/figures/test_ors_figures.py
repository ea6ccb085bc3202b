import numpy as np
import pandas as pd
import pytest
from figure_inputs import ARTIFACTS, inputs

from reproduction.figures import ors, style
from reproduction.figures.panels import Results
from reproduction.figures.rendering import find


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("name", [name for name, a in ARTIFACTS.items() if a.content["kind"] == "figure"])
def test_every_figure_draws_without_a_warning(name):
    figure = find(ARTIFACTS[name].content["render"])(inputs(name))
    figure.draw_without_rendering()
    width, height = figure.get_size_inches()
    assert 4 < width < 9.5
    assert 2 < height < 8
    assert max(len(ax.get_title()) for ax in figure.axes) < 36


def test_known_and_unknown_variance_show_their_own_rules():
    figure = ors.regression_curves(inputs("fig2"))
    drawn = [{str(line.get_label()) for line in ax.get_lines()} for ax in figure.axes[:2]]
    known, unknown = ({label for label in labels if not label.startswith("_")} for labels in drawn)
    assert known >= set(map(style.label, ["clean", "noisy", "beta", "opt", "one", "one_pred", "two"]))
    assert unknown == set(map(style.label, ["clean", "noisy", "one_pred_u", "two_u", "two_noisy"]))
    assert style.label("two_full") not in [text.get_text() for text in figure.legends[0].get_texts()]


def test_a_users_own_method_is_drawn_in_both_columns():
    results = inputs("fig2")
    table, methods = results.table, results.settings.methods
    tables = {"fig2": pd.concat([table, table.query("method == 'noisy'").assign(method="mine")])}
    settings = {"fig2": results.settings.model_copy(update={"methods": methods | {"mine": methods["clean"]}})}
    figure = ors.regression_curves(Results(tables, settings))
    assert all("mine" in {line.get_label() for line in ax.get_lines()} for ax in figure.axes)


def test_the_short_delay_is_not_in_the_speech_figure():
    figure = ors.speech_curves(inputs("fig5"))
    assert len(figure.axes) == 4
    assert figure.axes[0].get_lines()[0].get_xdata()[-1] == pytest.approx(3000 / 16000)


def test_budget_figure_separates_strategies_by_colour_and_scaling_by_dash():
    figure = ors.label_budgets(inputs("fig6"))
    lines = figure.axes[0].get_lines()
    assert len({line.get_color() for line in lines}) == 4
    assert len({line.get_linestyle() for line in lines}) == 2


def final_errors():
    """fig2 with errors of exactly 1 in the first fifth of the rounds and c > 1 afterwards, c by method."""
    results = inputs("fig2")
    table, x = results.table, results.table["x"]
    c = table["method"].map({method: 2.0 + i for i, method in enumerate(results.settings.methods)})
    table["value"] = (np.minimum(x, 600) + c * np.maximum(x - 600, 0)) / x
    return ors.final_errors(results)


def test_final_errors_of_known_sequences():
    shared = final_errors().loc["Fig. 2, regression", "M=5", "one r for all rules"].set_index("rule")
    assert shared.loc["noisy", "MSE, last 80 %"] == "**3**"
    assert shared.loc["beta", "MSE, last 80 %"] == "4"
    assert shared.loc["noisy", "MSE, all rounds"] == "**2.6**"


def test_the_best_rule_is_bold_and_never_an_oracle():
    bold = final_errors()["MSE, all rounds"].str.startswith("**")
    rules = final_errors()["rule"]
    assert set(rules[bold]) == {"noisy"}  # clean has less, but is no rule
    assert bold.sum() == 2  # one in each mode
