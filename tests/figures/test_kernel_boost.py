"""The figures and tables of kernel_boost draw what is in the tables."""

import itertools

import numpy as np
import pandas as pd
import pytest
from kernel_boost_inputs import ARTIFACTS, NAMES, Inputs, draw
from scipy.stats import mannwhitneyu

from noisylabels import statistics as rank_tests
from reproduction.figures import boosting, kernels, panels

FIGURES, TABLES = (
    [name for name in NAMES if ARTIFACTS[name, "full"].content["kind"] == kind]
    for kind in ("figure", "table")
)


def ours(inputs, artifact, **where):
    """Rows of the made-up table of an artifact."""
    frame = inputs.tables[artifact]
    for column, value in where.items():
        frame = frame[frame[column] == value]
    return frame


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("name", FIGURES)
def test_every_figure_draws_without_a_warning_at_full_scale(name):
    figure = draw(name)
    figure.draw_without_rendering()
    width, height = figure.get_size_inches()
    assert 4 < width < 9.5
    assert 2 < height < 8


@pytest.mark.parametrize("splits", [1, 6])
@pytest.mark.parametrize("name", TABLES)
def test_every_table_has_all_numbers_at_full_scale(name, splits):
    frame = draw(name, splits=splits)
    if splits > 1 or name not in ("klr_vs_rklr", "klr_vs_rklr_high", "rivals", "rivals_high", "cv_vs_mkl"):
        assert not frame.map(lambda cell: "nan" in cell.split()).any().any()


def test_the_dots_are_the_means_of_klr():
    inputs = Inputs("noise_harm")
    figure = inputs.draw()
    heart = [tick.get_text() for tick in figure.axes[0].get_yticklabels()].index("heart")
    for dots, noise in zip(figure.axes[0].containers, kernels.HARM, strict=True):
        where = {"metric": "error", "method": "klr", "dataset": "ida_heart", "noise": noise}
        mean = ours(inputs, "klr_vs_rklr", **where)["value"].mean()
        assert dots.lines[0].get_xdata()[heart] == pytest.approx(mean)
    legend = [text.get_text() for text in figure.legends[0].get_texts()]
    assert legend == ["clean labels", "30 % symmetric", "30 % asymmetric"]


def test_thirteen_sets_have_a_panel_each_and_a_label_below_every_column():
    shown = [ax for ax in draw("kernel_count").axes if ax.get_visible()]
    assert (len(shown), sum(bool(ax.get_xlabel()) for ax in shown)) == (13, 5)
    assert [tick.get_text() for tick in shown[0].get_xticklabels()] == ["3", "5", "7", "11", "15", "21", "41"]


def test_pooled_cells_hold_both_kinds_of_noise_beside_the_published_values():
    inputs = Inputs("klr_vs_rklr")
    frame = inputs.draw()
    kinds = ("pooled", "symmetric", "asymmetric")
    assert set(frame.index) == {f"{rate} % {kind}" for rate in (10, 20) for kind in kinds}
    row = frame.loc["20 % pooled"].set_index("data set").loc["twonorm"]
    table = ours(inputs, "klr_vs_rklr", dataset="ida_twonorm", metric="error")
    pooled = table[table["noise"].isin(["independent 0.2", "negative_only 0.2"])]
    klr, rklr = (pooled[pooled["method"] == method] for method in ("klr", "rklr"))
    assert row["klr"].strip("*") == f"{klr['value'].mean():.2f} ± {klr['value'].std():.2f}"
    assert row["klr, printed"] == "7.82 ± 1.88"
    assert row["p unpaired"] == f"{mannwhitneyu(klr['value'], rklr['value'], method='asymptotic').pvalue:.2g}"
    means = [each.groupby("repetition")["value"].mean() for each in (klr, rklr)]
    assert row["p paired"] == f"{rank_tests.signed_rank(*means):.2g}"
    assert set(frame.loc["20 % symmetric", "klr, printed"]) == {""}
    high = draw("klr_vs_rklr_high").loc["40 % pooled"].set_index("data set")["rklr, printed"]
    assert (high["twonorm"], high["titanic"]) == ("", "29.47 ± 11.39")  # the slides have no row for twonorm


def test_rmklr_is_tested_against_the_better_of_two():
    inputs = Inputs("rivals")
    frame = inputs.draw()
    assert set(frame["rMKLR against"]) <= {"svm", "rkfd"}
    found = ours(inputs, "rivals", metric="error", dataset="ida_heart", noise="independent 0.1")
    expected = found[found["method"] != "rmklr"].groupby("method")["value"].mean().idxmin()
    assert frame.loc["10 % symmetric"].set_index("data set").loc["heart", "rMKLR against"] == expected
    assert "no independent evidence" in frame.attrs["note"]


def test_notes_count_splits_and_doubtful_runs_and_name_rebuilt_data():
    sources = {"ida_ringnorm": "rebuilt", "ida_waveform": "generated"}
    note = draw("cv_vs_mkl", sources=sources).attrs["note"]
    assert "6 splits (image 3, splice 3)" in note
    assert "rKLR 13 of 72" in note
    both = "rebuilt points and our own splits (ringnorm); points drawn anew, our own splits (waveform)"
    assert both in note
    assert "genuine" not in draw("cv_vs_mkl").attrs["note"]


def test_times_are_divided_as_the_columns_say():
    inputs = Inputs("cpu_time")
    row = inputs.draw().set_index("data set").loc["banana"]
    means = ours(inputs, "cpu_time", dataset="ida_banana").groupby("method")["value"].mean()
    assert row["rKLR / rMKLR"] == f"{means['rklr'] / means['rmklr']:.1f}"
    assert row["the same, printed"] == "4.77"
    assert row["rMKLR: printed / ours"] == f"{10.16 / means['rmklr']:.3g}"


def test_a_level_that_was_not_run_is_left_out_and_none_is_an_error():
    assert not any(title.startswith("20 %") for title in draw("klr_vs_rklr", scale="smoke").index)
    inputs = Inputs("klr_vs_rklr")
    inputs.settings["klr_vs_rklr"]["noise"] = ["independent 0"]
    with pytest.raises(panels.RenderError, match="none of the noise rates"):
        inputs.draw()


def test_published_values_belong_to_the_artifact_that_computes_them():
    contents = {name: ARTIFACTS[name, "full"].content for name in NAMES}
    counts = {name: len(content.get("published", [])) for name, content in contents.items()}
    expected = {"klr_vs_rklr": 96, "cv_vs_mkl": 26, "rivals": 78, "cpu_time": 26}
    assert {name: n for name, n in counts.items() if name in expected} == expected
    for name in expected:
        for cell in contents[name]["published"]:
            if cell["where"]["metric"] == "error":
                assert cell["margin"] == pytest.approx(max(0.5, 0.1 * cell["value"]), abs=0.0051)
                assert cell["n"] == (20 if cell["where"]["dataset"] in ("ida_image", "ida_splice") else 100)


def test_a_table_of_any_methods_shows_the_mean_of_each():
    inputs = Inputs("rivals")
    own = inputs.settings["rivals"]
    own["datasets"] = [name for name in own["datasets"] if name not in ("ida_image", "ida_splice")]
    own["methods"] = {label: own["methods"][label] for label in ("svm", "rmklr")}
    table = kernels.errors(inputs.results())
    assert list(table.columns) == ["flips", "svm", "rmklr"]
    assert list(table.index.unique())[:2] == ["banana", "breast cancer"]
    where = {"dataset": "ida_banana", "method": "svm", "noise": "independent 0.1", "metric": "error"}
    values = ours(inputs, "rivals", **where)["value"]
    cell = table.loc["banana"].set_index("flips").loc[kernels.flips("independent 0.1"), "svm"]
    assert cell == f"{values.mean():.2f} ± {values.std():.2f}"


def test_the_table_of_ones_own_set_says_which_methods_may_be_the_best():
    """B errs 0.5 more than A in a noisy way, C by 2 each time; the second noise turns A and B apart."""
    inputs = Inputs("rivals", splits=8)
    own, table = inputs.settings["rivals"], inputs.tables["rivals"]
    own["datasets"], own["noise"] = ["ida_heart"], ["independent 0.1", "negative_only 0.3"]
    own["methods"] = {label: own["methods"]["svm"] for label in "ABC"}
    rows, change = [], np.array([2, -1, 3, -2, 1, -1, 2, 0])
    for noise, method in itertools.product(own["noise"], "ABC"):
        gap = {
            "A": 0 * change,
            "B": change if noise == own["noise"][0] else 3 + change / 99,
            "C": 2 + change / 99,
        }
        for r, more in enumerate(gap[method]):
            where = {"dataset": "ida_heart", "noise": noise, "method": method, "metric": "error"}
            rows.append(table.iloc[0].to_dict() | where | {"repetition": r, "value": 10 + r + more})
    inputs.tables["rivals"] = pd.DataFrame(rows)
    found = kernels.ranked(inputs.results())
    bold = found.set_index("method").apply(lambda column: column.str.startswith("**"))
    assert bold.to_numpy().tolist() == [[True, True], [True, False], [False, False]]
    assert found["method"].tolist() == ["A", "B", "C"]
    low, high = rank_tests.t_interval(rank_tests.mean_se(change), 0.975)
    answer = f"A errs least; not to be told from it: B (+0.50 [{low:.2f}, {high:.2f}]). Test error in %"
    assert answer in found.attrs["note"]


@pytest.mark.parametrize(("a", "text"), [(2.0, "2"), (999.4, "999"), (1033.25, "1033"), (float("nan"), "")])
def test_ratios_are_written_without_an_exponent(a, text):
    assert kernels._ratio(a, 1.0) == text


def test_the_last_rows_are_means_over_the_sets_beside_the_published_ones():
    inputs = Inputs("boosters")
    where = {"noise": "independent 0.3", "method": "GentleBoost"}
    inputs.published["boosters"] = [
        {"value": 21.12, "where": where | {"dataset": inputs.settings["boosters"]["datasets"]}},
        {"value": 20.62, "sd": 1.6, "where": where | {"dataset": "ida_banana"}},
    ]
    frame = inputs.draw()
    by_set = ours(inputs, "boosters", metric="error", **where).groupby("dataset")["value"]
    cells = frame.loc[boosting.ALL].set_index("error")["GentleBoost"]
    assert cells["ours"].strip("*") == f"{by_set.mean().mean():.2f} ± {by_set.std().mean():.2f}"
    assert cells["printed"] == "21.12"
    assert frame.loc["banana"].set_index("error").loc["printed", "GentleBoost"] == "20.62 ± 1.60"
    assert "rBoost/LR 0." in frame.attrs["note"]
    other = Inputs("boosters_asymmetric")
    where = {"metric": "error", "noise": "negative_only 0.3", "dataset": "ida_heart", "method": "AdaBoost/LR"}
    cell = other.draw().loc["heart"].set_index("error").loc["ours", "AdaBoost/LR"]
    assert cell.strip("*")[:4] == f"{ours(other, 'boosters', **where)['value'].mean():.2f}"


def test_the_choice_of_rounds_and_flips_is_the_symmetric_row_nearest_on_the_choosing_cells():
    inputs = Inputs("boosters_grid")
    table, printed = inputs.tables["boosters_grid"], {}
    for entry in inputs.published["boosters"]:
        where = entry["where"]
        if isinstance(where["dataset"], str):
            printed[where["noise"], where["dataset"], where["method"]] = entry["value"]
    assert len(printed) == 2 * 7 * 8
    flips = table["noise"].where(table["noise"] == "negative_only 0.3", "independent 0.3")
    keys = zip(flips, table["dataset"], table["method"], strict=True)
    choosing = (table["method"] == "AdaBoost/LR") | (table["dataset"] == "ida_image")
    near = choosing & (table["noise"] == "independent 0.15") & (table["x"] == 200)
    far = np.where(near, 1.0, np.where(choosing, 2.0, 3.0))
    table["value"] = np.array([printed[key] for key in keys]) + far
    frame = inputs.draw()
    chosen = frame[frame["chosen on"].str.startswith("**")]
    assert (list(chosen.index), list(chosen["rounds"])) == (["15 % symmetric"], ["200"])
    assert chosen.iloc[0].tolist() == ["200", "**1.00**", "**3.00**", "**1.00**", *["**3.00**"] * 7]
    assert set(frame["all others"].str.strip("*")) == {"3.00"}


def test_a_clear_difference_is_marked_and_a_constant_one_too():
    rng = np.random.default_rng(0)
    worse, same = 0.1 + 0.01 * rng.standard_normal(20), 0.01 * rng.standard_normal(20)
    found = boosting._marks({("a", "svm"): pd.Series(worse), ("a", "ldm"): pd.Series(same - same.mean())})
    assert found == {("a", "svm"): " (+)"}
    assert boosting._marks({("a", "svm"): pd.Series(-worse)}) == {("a", "svm"): " (-)"}


def test_ranked_lists_show_the_share_of_bikes_so_far():
    inputs = Inputs("images_ranked")
    table = inputs.tables["images"]
    table.loc[table["metric"] == "positive", "value"] = (table["x"] % 2).astype(float)
    (ax,) = inputs.draw().axes
    assert ax.lines[0].get_ydata()[:4] == pytest.approx([100, 50, 200 / 3, 50])


def test_numbers_of_kernels_are_compared_split_by_split():
    inputs = Inputs("kernel_count")
    table = inputs.tables["kernel_count"]
    table["value"] = table["repetition"] * 100.0 + (table["method"] == "S=3")
    ax = inputs.draw().axes[0]
    assert ax.lines[0].get_ydata() == pytest.approx([1, *[0] * (table["method"].nunique() - 1)])


def test_the_grey_lines_are_the_true_rates():
    levels = [ax.lines[0].get_ydata()[0] for ax in draw("boost_gamma").axes]
    assert levels == [0.3, 0.3, 0.0, 0.0]
