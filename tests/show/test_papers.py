"""The figures and tables of the papers draw what is in the tables."""

import dataclasses
import itertools

import numpy as np
import pandas as pd
import pytest
from made_tables import Inputs
from project import archived_names, load_project, one_of_each_paper
from scipy.stats import mannwhitneyu

from kernel_boost import boosting_drawing as boosting
from kernel_boost import kernel_drawing as kernels
from noisy_online import drawing as noisy_online
from noisy_online.code import AnalyticProblem
from noisylabels import statistics
from ors import drawing as ors
from reproduction.run.results import COLUMNS, DEFAULTS
from reproduction.show import names, panels, stock, style
from reproduction.show.panels import Results
from reproduction.spec.papers import HOME
from robust_sgd import drawing as robust_sgd


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("name", one_of_each_paper(archived_names("figure")))
def test_every_figure_is_drawn_at_full_scale_without_a_warning_and_fits_a_page(name):
    figure = Inputs(name).draw()
    figure.draw_without_rendering()
    width, height = figure.get_size_inches()
    assert 4 < width < 10.6
    assert 2 < height < 10.1
    assert max(len(ax.get_title()) for ax in figure.axes) < 42


@pytest.mark.parametrize("few", [1, 6])
@pytest.mark.parametrize("name", one_of_each_paper(archived_names("table")))
def test_every_table_has_all_numbers_at_full_scale(name, few):
    frame = Inputs(name, few).draw()
    if few > 1 or not any(column.startswith("p ") for column in frame):
        assert not frame.map(lambda cell: "nan" in str(cell).split()).any().any()


# Online regression with label noise


def test_known_and_unknown_variance_show_their_own_rules():
    figure = Inputs("ors/fig2").draw()
    drawn = [{str(line.get_label()) for line in ax.get_lines()} for ax in figure.axes[:2]]
    known, unknown = ({label for label in labels if not label.startswith("_")} for labels in drawn)
    with names.of(HOME / "ors"):
        assert known >= set(map(style.label, ["clean", "noisy", "beta", "opt", "one", "one_pred", "two"]))
        assert unknown == set(map(style.label, ["clean", "noisy", "one_pred_u", "two_u", "two_noisy"]))
        assert style.label("two_full") not in [text.get_text() for text in figure.legends[0].get_texts()]


def test_a_users_own_method_is_drawn_in_both_columns():
    inputs = Inputs("ors/fig2", few=2)
    table, methods = inputs.tables["fig2"], inputs.settings["fig2"]["methods"]
    inputs.tables["fig2"] = pd.concat([table, inputs.rows(method="noisy").assign(method="mine")])
    methods["mine"] = methods["clean"]
    assert all("mine" in {line.get_label() for line in ax.get_lines()} for ax in inputs.draw().axes)


def test_the_short_delay_is_not_in_the_speech_figure():
    inputs = Inputs("ors/fig5", few=2)
    figure = inputs.draw()
    assert len(figure.axes) == 4
    assert figure.axes[0].get_lines()[0].get_xdata()[-1] == pytest.approx(inputs.rows()["x"].max() / 16000)


def test_budget_figure_separates_strategies_by_colour_and_scaling_by_dash():
    lines = Inputs("ors/fig6").draw().axes[0].get_lines()
    assert len({line.get_color() for line in lines}) == 4
    assert len({line.get_linestyle() for line in lines}) == 2


def test_the_last_errors_are_those_after_a_fifth_of_the_rounds_and_the_best_rule_is_no_oracle():
    """Errors of exactly 1 in the first fifth of the rounds and c > 1 afterwards, c by method."""
    inputs = Inputs("ors/fig2", few=2)
    table, x = inputs.tables["fig2"], inputs.tables["fig2"]["x"]
    at = np.unique(x)
    start = at[np.searchsorted(at, 0.2 * at[-1])]
    c = table["method"].map({m: 2.0 + i for i, m in enumerate(inputs.settings["fig2"]["methods"])})
    table["value"] = (np.minimum(x, start) + c * np.maximum(x - start, 0)) / x
    frame = ors.final_errors(inputs.results())
    shared = frame.loc["Fig. 2, regression", "M=5", "one r for all rules"].set_index("rule")
    assert shared.loc["noisy", "MSE, last 80 %"] == "**3**"
    assert shared.loc["beta", "MSE, last 80 %"] == "4"
    assert shared.loc["noisy", "MSE, all rounds"] == f"**{3 - 2 * start / at[-1]:.3g}**"
    bold = frame["MSE, all rounds"].str.startswith("**")
    assert set(frame["rule"][bold]) == {"noisy"}  # clean has less, but is no rule


# Noisy instances


def test_regret_panels_have_reference_slopes_and_bounds_and_keep_the_last_point():
    def rows(rounds, metric, factor):
        places = itertools.product(rounds, range(3))
        return [("two_copy", metric, r, T, factor * T**0.5 + r) for T, r in places]

    _, axes = panels.grid_of_panels(["", ""], [""], x_label="", y_label="")
    few = rows((10.0, 100.0, 1000.0), "regret", 1) + rows((10.0, 100.0, 1000.0), "bound", 5)
    for ax, drawn in ((axes[0, 0], few), (axes[1, 0], rows((10.0, 8e5), "regret", 1))):
        table = pd.DataFrame(drawn, columns=["method", "metric", "repetition", "x", "value"])
        noisy_online.regret_panel(ax, table, ["two_copy", "naive"])
    assert {"√T", "T"} <= {text.get_text() for text in axes[0, 0].texts}
    assert len(axes[0, 0].lines) == 4  # bound, regret, two slopes
    assert min(ax.get_xlim()[1] for ax in axes[:, 0]) > 8e5  # the panels share the axis


def test_the_table_of_identities_has_the_largest_z_in_its_note():
    rows = [
        {"method": name, "setting": "gradients", "repetition": 0, "metric": metric, "value": value}
        for name, z in (("a", -1.5), ("b", 0.25))
        for metric, value in (("predicted", 1.0), ("measured", 1.1), ("se", 0.1), ("z", z))
    ]
    frame = noisy_online.identities(Results({"identities": pd.DataFrame(rows)}, {}))
    assert "1.50" in frame.attrs["note"]
    assert list(frame["z"]) == ["-1.50", "0.25"]


def test_titles_of_the_panels_name_kernel_and_loss():
    task = {"kernel": "linear", "loss": "squared", "data": "line", "ball": 1, "sd": 0}
    smooth = task | {"kernel": {"gaussian": 4}, "loss": "smoothed_hinge", "s": 0.5}
    for given, expected in ((smooth, "k: Gaussian, smooth hinge s = 0.5"), (task, "k: linear, squared")):
        assert noisy_online.title("k", AnalyticProblem.model_validate(given)) == expected


# Robust losses


def test_stand_ins_are_named_and_noise_is_in_words():
    inputs = Inputs("robust_sgd/table1", few=3)
    table = inputs.tables["table1"]
    table.loc[table["dataset"] == "ijcnn1", "source"] = "a stand-in"
    results = inputs.results()
    titles = [ax.get_title() for ax in robust_sgd.errors_by_noise(results).axes if ax.get_visible()]
    assert "ijcnn1 (stand-in)" in titles
    assert "40 % flipped" in [ax.get_title() for ax in robust_sgd.error_curves(results).axes]
    (legend,) = robust_sgd.objectives(results).legends
    assert "no flips" in [text.get_text() for text in legend.get_texts()]


def one_set():
    """Table 1 with its first data set alone."""
    inputs = Inputs("robust_sgd/table1", few=3)
    settings = inputs.settings["table1"]
    settings["datasets"] = settings["datasets"][:1]
    inputs.tables = {"table1": inputs.rows(dataset=settings["datasets"][0])}
    return inputs


def test_what_differs_by_rounding_alone_has_no_variance():
    inputs = one_set()
    table = inputs.tables["table1"]
    inputs.tables["table1"] = table.assign(value=9.7 + 1e-13 * table["repetition"])
    (ax, *_) = robust_sgd.variances(inputs.results()).axes
    lines = ax.get_lines()
    for curve, mark in zip(lines[::2], lines[1::2], strict=True):  # an open triangle at every rate
        assert mark.get_markerfacecolor() == "white"
        assert np.array_equal(curve.get_xydata(), mark.get_xydata())


def test_rates_above_one_half_have_a_panel_beside_the_others():
    inputs = one_set()
    table, settings = inputs.tables["table1"], inputs.settings["table1"]
    low, high = settings["noise"][0], "symmetric 0.9"
    above = table[table["noise"] == low].assign(noise=high, value=800.0)
    settings["noise"] = [low, high]
    inputs.tables["table1"] = pd.concat([table, above])
    main, side = (ax for ax in robust_sgd.errors_by_noise(inputs.results()).axes if ax.get_visible())
    assert [tick.get_text() for tick in side.get_xticklabels()] == ["90"]
    assert main.get_ylim()[1] < 100 < side.get_ylim()[0]


def test_tables_have_means_and_deviations_beside_printed_ones_and_redrawn_trials_below():
    inputs = Inputs("robust_sgd/table1", few=30)
    where = {"dataset": "a7a", "noise": "symmetric 0", "method": "log", "metric": "error", "x": "last"}
    published = {"table1": [{"id": "p", "value": 15.16, "sd": 0.06, "where": where}]}
    results = dataclasses.replace(inputs.results(), published_of=published)
    table = robust_sgd.clean_errors(results)
    assert list(table.columns)[:3] == ["method", "a7a", "a7a, printed"]
    assert sorted(set(table["a7a, printed"])) == ["", "15.16 ± 0.06"]
    rows = inputs.rows(dataset="a7a", noise="symmetric 0", method="log", metric="error")
    last = rows.loc[rows["x"] == rows["x"].max(), "value"]
    assert table["a7a"][0].strip("*") == f"{last.mean():.2f} ± {last.std():.2f}"
    errors = inputs.rows(metric="error")
    both = pd.concat([errors, errors.assign(metric="redrawn_error", value=errors["value"] + 1)])
    table = robust_sgd.redrawn_errors(dataclasses.replace(results, tables={"table1": both}))
    assert table.index.names == ["data set", "training labels", "trials differ in"]
    assert table.index.get_level_values(2).tolist()[:4] == ["orders", "redrawn"] * 2
    ours, theirs = (float(table["log"].iloc[k].strip("*").split()[0]) for k in (1, 0))
    assert ours - theirs == pytest.approx(1, abs=0.02)


def test_every_loss_is_drawn_for_every_way_of_training():
    inputs = Inputs("robust_sgd/optimiser_or_loss", few=3)
    losses = dict.fromkeys(m.partition(" ")[0] for m in inputs.settings["optimiser_or_loss"]["methods"])
    axes = inputs.draw().axes
    assert {len(ax.containers) for ax in axes} == {len(losses)}
    assert [tick.get_text() for tick in axes[-1].get_xticklabels()] == list(robust_sgd.WAYS.values())


def test_theorem_table():
    where = {"noise": "symmetric 0", "setting": "0.5", "method": "from zero"}
    means = [("gap", 0.1), ("published", 0.2), ("corrected", 0.3)]
    rows = [where | {"metric": m, "value": value + r} for r in (-0.01, 0.01) for m, value in means]
    table = robust_sgd.theorem_bounds(Results({"theorem1": pd.DataFrame(rows)}, {}))
    assert table.iloc[0].tolist() == ["0.5", "0.1", "0.2", "0.3"]


# Kernel classifiers


def test_the_dots_are_the_means_of_klr():
    inputs = Inputs("kernel_boost/noise_harm")
    figure = inputs.draw()
    heart = [tick.get_text() for tick in figure.axes[0].get_yticklabels()].index("heart")
    for dots, noise in zip(figure.axes[0].containers, kernels.HARM, strict=True):
        rows = inputs.rows(metric="error", method="klr", dataset="ida_heart", noise=noise)
        assert dots.lines[0].get_xdata()[heart] == pytest.approx(rows["value"].mean())
    legend = [text.get_text() for text in figure.legends[0].get_texts()]
    assert legend == ["clean labels", "30 % symmetric", "30 % asymmetric"]


def test_numbers_of_kernels_are_compared_split_by_split_in_a_panel_for_each_set():
    inputs = Inputs("kernel_boost/kernel_count")
    table = inputs.tables["kernel_count"]
    table["value"] = table["repetition"] * 100.0 + (table["method"] == "S=3")
    shown = [ax for ax in inputs.draw().axes if ax.get_visible()]
    assert (len(shown), sum(bool(ax.get_xlabel()) for ax in shown)) == (13, 5)
    assert [tick.get_text() for tick in shown[0].get_xticklabels()] == ["3", "5", "7", "11", "15", "21", "41"]
    assert shown[0].lines[0].get_ydata() == pytest.approx([1, *[0] * 6])


def test_pooled_cells_hold_both_kinds_of_noise_beside_the_published_values():
    inputs = Inputs("kernel_boost/klr_vs_rklr")
    frame = inputs.draw()
    kinds = ("pooled", "symmetric", "asymmetric")
    assert set(frame.index) == {f"{rate} % {kind}" for rate in (10, 20) for kind in kinds}
    row = frame.loc["20 % pooled"].set_index("data set").loc["twonorm"]
    table = inputs.rows(dataset="ida_twonorm", metric="error")
    pooled = table[table["noise"].isin(["independent 0.2", "negative_only 0.2"])]
    klr, rklr = (pooled[pooled["method"] == method] for method in ("klr", "rklr"))
    assert row["klr"].strip("*") == f"{klr['value'].mean():.2f} ± {klr['value'].std():.2f}"
    assert row["klr, printed"] == "7.82 ± 1.88"
    unpaired = mannwhitneyu(klr["value"], rklr["value"], method="asymptotic").pvalue
    assert row["p unpaired"] == f"{unpaired:.2g}"
    means = [each.groupby("repetition")["value"].mean() for each in (klr, rklr)]
    assert row["p paired"] == f"{statistics.signed_rank(*means):.2g}"
    assert set(frame.loc["20 % symmetric", "klr, printed"]) == {""}
    high = Inputs("kernel_boost/klr_vs_rklr_high").draw()
    printed = high.loc["40 % pooled"].set_index("data set")["rklr, printed"]
    assert (printed["twonorm"], printed["titanic"]) == ("", "29.47 ± 11.39")  # no row for twonorm


def test_a_level_that_was_not_run_is_left_out_and_none_is_an_error():
    inputs = Inputs("kernel_boost/klr_vs_rklr")
    own = inputs.settings["klr_vs_rklr"]
    own["noise"] = [noise for noise in own["noise"] if not noise.endswith(" 0.2")]
    assert not any(title.startswith("20 %") for title in inputs.draw().index)
    own["noise"] = ["independent 0"]
    with pytest.raises(panels.RenderError, match="none of the noise rates"):
        inputs.draw()


def test_rmklr_is_tested_against_the_better_of_two():
    inputs = Inputs("kernel_boost/rivals")
    frame = inputs.draw()
    found = inputs.rows(metric="error", dataset="ida_heart", noise="independent 0.1")
    expected = found[found["method"] != "rmklr"].groupby("method")["value"].mean().idxmin()
    assert frame.loc["10 % symmetric"].set_index("data set").loc["heart", "rMKLR against"] == expected
    assert "no independent evidence" in frame.attrs["note"]


def test_notes_count_splits_and_doubtful_runs_and_name_rebuilt_data():
    inputs = Inputs("kernel_boost/cv_vs_mkl", few=5)
    table = inputs.tables["cv_vs_mkl"]
    sources = {"ida_ringnorm": "rebuilt", "ida_waveform": "generated"}
    table["source"] = table["dataset"].map(sources).fillna("genuine")
    table.loc[table["metric"] == "flagged", "value"] = (table["repetition"] == 0).astype(float)
    note = inputs.draw().attrs["note"]
    assert "5 splits (image 1, splice 1)" in note
    assert "rKLR 13 of 57" in note
    assert (
        "rebuilt points and our own splits (ringnorm); points drawn anew, our own splits (waveform)" in note
    )
    table["source"] = "genuine"
    assert "genuine" not in inputs.draw().attrs["note"]


def test_times_are_divided_as_the_columns_say_without_exponents():
    inputs = Inputs("kernel_boost/cpu_time")
    row = inputs.draw().set_index("data set").loc["banana"]
    means = inputs.rows(dataset="ida_banana", metric="cpu_seconds").groupby("method")["value"].mean()
    assert row["rKLR / rMKLR"] == f"{means['rklr'] / means['rmklr']:.1f}"
    assert row["the same, printed"] == "4.77"
    assert row["rMKLR: printed / ours"] == kernels._ratio(10.16, means["rmklr"])
    for a, text in ((2.0, "2"), (999.4, "999"), (1033.25, "1033"), (float("nan"), "")):
        assert kernels._ratio(a, 1.0) == text


def test_published_values_belong_to_the_artifact_that_computes_them():
    for name, count in {"klr_vs_rklr": 96, "cv_vs_mkl": 26, "rivals": 78, "cpu_time": 26}.items():
        published = load_project("full")[f"kernel_boost/{name}"].values
        assert len(published) == count
        for cell in published:
            if cell["where"]["metric"] == "error":
                assert cell["margin"] == pytest.approx(max(0.5, 0.1 * cell["value"]), abs=0.0051)
                assert cell["n"] == (20 if cell["where"]["dataset"] in ("ida_image", "ida_splice") else 100)


def test_a_table_of_any_methods_shows_the_mean_of_each():
    inputs = Inputs("kernel_boost/rivals")
    methods = inputs.settings["rivals"]["methods"]
    del methods["rkfd"]
    table = stock.errors(inputs.results())
    assert list(table.columns) == ["flips", *methods]
    assert list(table.index.unique())[:2] == ["banana", "breast cancer"]
    where = {"dataset": "ida_banana", "method": "svm", "noise": "independent 0.1", "metric": "error"}
    values = inputs.rows(**where)["value"]
    cell = table.loc["banana"].set_index("flips").loc["10 % symmetric", "svm"].strip("*")
    assert cell == f"{values.mean():.2f} ± {values.std():.2f}"


def test_the_table_of_ones_own_set_says_which_methods_may_be_the_best():
    """B errs 0.5 more than A in a noisy way, C by 2 each time; the second noise turns A and B apart."""
    inputs, change = Inputs("kernel_boost/rivals"), np.array([2, -1, 3, -2, 1, -1, 2, 0])
    own, noises = inputs.settings["rivals"], ["independent 0.1", "negative_only 0.3"]
    own["datasets"], own["noise"] = ["ida_heart"], noises
    own["methods"] = dict.fromkeys("ABC", own["methods"]["svm"])
    gaps = {(noise, "A"): 0 * change for noise in noises}
    gaps |= {(noise, "C"): 2 + change / 99 for noise in noises}
    gaps |= {(noises[0], "B"): change, (noises[1], "B"): 3 + change / 99}
    common = DEFAULTS | {"dataset": "ida_heart", "source": "genuine", "metric": "error"}
    inputs.tables["rivals"] = pd.DataFrame([
        common | {"noise": noise, "method": method, "repetition": r, "value": 10 + r + gap}
        for (noise, method), values in sorted(gaps.items())
        for r, gap in enumerate(values)
    ])[COLUMNS]  # fmt: skip
    found = stock.ranked(inputs.results())
    bold = found.set_index("method").apply(lambda column: column.str.startswith("**"))
    assert bold.to_numpy().tolist() == [[True, True], [True, False], [False, False]]
    low, high = statistics.t_interval(statistics.mean_se(change), 0.975)
    answer = f"A errs least; not to be told from it: B (+0.50 [{low:.2f}, {high:.2f}]). Test error in %"
    assert answer in found.attrs["note"]


def test_ranked_lists_show_the_share_of_bikes_so_far():
    inputs = Inputs("kernel_boost/images_ranked")
    table = inputs.tables["images"]
    table.loc[table["metric"] == "positive", "value"] = (table["x"] % 2).astype(float)
    (ax,) = inputs.draw().axes
    assert ax.lines[0].get_ydata()[:4] == pytest.approx([100, 50, 200 / 3, 50])


# Boosting


def test_the_last_rows_are_means_over_the_sets_beside_the_published_ones():
    inputs = Inputs("kernel_boost/boosters")
    where = {"noise": "independent 0.3", "method": "GentleBoost"}
    inputs.published["boosters"] = [
        {"value": 21.12, "where": where | {"dataset": inputs.settings["boosters"]["datasets"]}},
        {"value": 20.62, "sd": 1.6, "where": where | {"dataset": "ida_banana"}},
    ]
    frame = inputs.draw()
    by_set = inputs.rows(metric="error", **where).groupby("dataset")["value"]
    cells = frame.loc[boosting.ALL].set_index("error")["GentleBoost"]
    assert cells["ours"].strip("*") == f"{by_set.mean().mean():.2f} ± {by_set.std().mean():.2f}"
    assert cells["printed"] == "21.12"
    assert frame.loc["banana"].set_index("error").loc["printed", "GentleBoost"] == "20.62 ± 1.60"
    assert "rBoost/LR 0." in frame.attrs["note"]
    other = Inputs("kernel_boost/boosters_asymmetric")
    where = {"metric": "error", "noise": "negative_only 0.3", "dataset": "ida_heart", "method": "AdaBoost/LR"}
    cell = other.draw().loc["heart"].set_index("error").loc["ours", "AdaBoost/LR"]
    assert cell.strip("*").split()[0] == f"{other.rows(**where)['value'].mean():.2f}"


def test_the_choice_of_rounds_and_flips_is_the_symmetric_row_nearest_on_the_choosing_cells():
    inputs = Inputs("kernel_boost/boosters_grid")
    table, where = inputs.tables["boosters_grid"], [each["where"] for each in inputs.published["boosters"]]
    printed = {
        (at["noise"], at["dataset"], at["method"]): entry["value"]
        for entry, at in zip(inputs.published["boosters"], where, strict=True)
        if isinstance(at["dataset"], str)
    }
    assert len(printed) == 2 * 7 * 8
    inputs.tables["boosters_grid"] = table = table[table["metric"] == "error"].copy()
    flips = table["noise"].where(table["noise"] == "negative_only 0.3", "independent 0.3")
    keys = zip(flips, table["dataset"], table["method"], strict=True)
    choosing = (table["method"] == "AdaBoost/LR") | (table["dataset"] == "ida_image")
    near = choosing & (table["noise"] == "independent 0.15") & (table["x"] == 200)
    far = np.where(near, 1.0, np.where(choosing, 2.0, 3.0))
    table["value"] = np.array([printed[key] for key in keys]) + far
    frame = inputs.draw()
    chosen = frame[frame["chosen on"].str.startswith("**")]
    assert list(chosen.index) == ["15 % symmetric"]
    assert chosen.iloc[0].tolist() == ["200", "**1.00**", "**3.00**", "**1.00**", *["**3.00**"] * 7]
    assert set(frame["all others"].str.strip("*")) == {"3.00"}


def test_a_clear_difference_is_marked_and_a_constant_one_too():
    worse, same = np.random.default_rng(0).normal(0, 0.01, (2, 20))
    for sign, mark in ((1, " (+)"), (-1, " (-)")):
        differences = {("a", "svm"): sign * (0.1 + worse), ("a", "ldm"): same - same.mean()}
        found = boosting._marks({pair: pd.Series(values) for pair, values in differences.items()})
        assert found == {("a", "svm"): mark}


def test_the_grey_lines_are_the_true_rates():
    levels = [ax.lines[0].get_ydata()[0] for ax in Inputs("kernel_boost/boost_gamma").draw().axes]
    assert levels == [0.3, 0.3, 0.0, 0.0]
