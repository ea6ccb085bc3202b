"""Figures and tables on kernel classifiers show the numbers of their results."""

import pytest
from made_tables import Inputs
from project import load_project
from scipy.stats import mannwhitneyu

from kernel_boost import kernel_drawing as kernels
from noisylabels import statistics
from reproduction.show import panels

pytestmark = pytest.mark.usefixtures("house_style")


def texts(labels):
    return [label.get_text() for label in labels]


def mean_and_deviation(values):
    return f"{values.mean():.2f} ± {values.std():.2f}"


def test_the_dots_are_the_means_of_klr():
    inputs = Inputs("kernel_boost/noise_harm")
    figure = inputs.draw()
    ax = figure.axes[0]
    heart = texts(ax.get_yticklabels()).index("heart")
    for dots, noise in zip(ax.containers, kernels.HARM, strict=True):
        rows = inputs.rows(metric="error", method="klr", dataset="ida_heart", noise=noise)
        drawn = dots.lines[0].get_xdata()
        assert drawn[heart] == pytest.approx(rows["value"].mean())
    (legend,) = figure.legends
    labels = texts(legend.get_texts())
    assert labels == ["clean labels", "30 % symmetric", "30 % asymmetric"]


def test_numbers_of_kernels_are_compared_split_by_split_in_a_panel_for_each_set():
    inputs = Inputs("kernel_boost/kernel_count")
    table = inputs.tables["kernel_count"]
    is_three = table["method"] == "S=3"
    table["value"] = table["repetition"] * 100.0 + is_three
    figure = inputs.draw()
    shown = [ax for ax in figure.axes if ax.get_visible()]
    assert len(shown) == 13
    x_labels = [ax.get_xlabel() for ax in shown]
    with_label = [x_label for x_label in x_labels if x_label]
    assert len(with_label) == 5
    first = shown[0]
    numbers = texts(first.get_xticklabels())
    assert numbers == ["3", "5", "7", "11", "15", "21", "41"]
    differences = first.lines[0].get_ydata()
    assert differences == pytest.approx([1, 0, 0, 0, 0, 0, 0])


def test_pooled_cells_hold_both_kinds_of_noise_beside_the_published_values():
    inputs = Inputs("kernel_boost/klr_vs_rklr")
    frame = inputs.draw()
    kinds = ("pooled", "symmetric", "asymmetric")
    at_10_percent = {f"10 % {kind}" for kind in kinds}
    at_20_percent = {f"20 % {kind}" for kind in kinds}
    assert set(frame.index) == at_10_percent | at_20_percent
    row = frame.loc["20 % pooled"].set_index("data set").loc["twonorm"]
    table = inputs.rows(dataset="ida_twonorm", metric="error")
    is_pooled = table["noise"].isin(["independent 0.2", "negative_only 0.2"])
    pooled = table[is_pooled]
    errors = {}
    means = {}
    for method in ("klr", "rklr"):
        of_method = pooled[pooled["method"] == method]
        errors[method] = of_method["value"]
        means[method] = of_method.groupby("repetition")["value"].mean()
    assert row["klr"].strip("*") == mean_and_deviation(errors["klr"])
    assert row["klr, published"] == "7.82 ± 1.88"
    unpaired = mannwhitneyu(errors["klr"], errors["rklr"], method="asymptotic")
    assert row["p unpaired"] == f"{unpaired.pvalue:.2g}"
    paired = statistics.signed_rank(means["klr"], means["rklr"])
    assert row["p paired"] == f"{paired:.2g}"
    published = frame.loc["20 % symmetric", "klr, published"]
    assert set(published) == {""}


def test_a_published_cell_without_row_is_empty():
    """The paper prints no value for twonorm at 40 % flips."""
    inputs = Inputs("kernel_boost/klr_vs_rklr_high")
    frame = inputs.draw()
    pooled = frame.loc["40 % pooled"].set_index("data set")
    published = pooled["rklr, published"]
    assert published["twonorm"] == ""
    assert published["titanic"] == "29.47 ± 11.39"


def test_a_level_that_was_not_run_is_left_out_and_none_is_an_error():
    inputs = Inputs("kernel_boost/klr_vs_rklr")
    settings = inputs.settings["rivals"]
    settings["noise"] = [noise for noise in settings["noise"] if not noise.endswith(" 0.2")]
    frame = inputs.draw()
    for title in frame.index:
        assert not title.startswith("20 %")
    settings["noise"] = ["independent 0"]
    methods = settings["methods"]
    settings["methods"] = {"klr": methods["klr"], "rklr": methods["rklr"]}
    with pytest.raises(panels.RenderError, match="none of the noise rates"):
        inputs.draw()


def test_rmklr_is_tested_against_the_better_of_two():
    inputs = Inputs("kernel_boost/rivals")
    frame = inputs.draw()
    rows = inputs.rows(metric="error", dataset="ida_heart", noise="independent 0.1")
    is_other = rows["method"] != "rmklr"
    errors = rows[is_other].groupby("method")["value"]
    best = errors.mean().idxmin()
    row = frame.loc["10 % symmetric"].set_index("data set").loc["heart"]
    assert row["rMKLR against"] == best
    assert "no independent evidence" in frame.attrs["note"]


def test_notes_count_splits_and_doubtful_runs_and_name_rebuilt_data():
    inputs = Inputs("kernel_boost/cv_vs_mkl", repetitions=5)
    table = inputs.tables["rivals"]
    sources = {"ida_ringnorm": "rebuilt", "ida_waveform": "generated"}
    table["source"] = table["dataset"].map(sources).fillna("genuine")
    is_flag = table["metric"] == "flagged"
    is_first_run = table["repetition"] == 0
    table.loc[is_flag, "value"] = is_first_run.astype(float)
    note = inputs.draw().attrs["note"]
    assert "5 splits (image 1, splice 1)" in note
    assert "rKLR 13 of 57" in note
    assert "rebuilt points and our own splits (ringnorm)" in note
    assert "points drawn again, our splits (waveform)" in note
    table["source"] = "genuine"
    note = inputs.draw().attrs["note"]
    assert "genuine" not in note


def test_times_are_divided_as_the_columns_say_without_exponents():
    inputs = Inputs("kernel_boost/cpu_time")
    row = inputs.draw().set_index("data set").loc["banana"]
    times = inputs.rows(dataset="ida_banana", metric="cpu_seconds")
    means = times.groupby("method")["value"].mean()
    ratio = means["rklr"] / means["rmklr"]
    assert row["rKLR / rMKLR"] == f"{ratio:.1f}"
    assert row["the same, published"] == "4.77"
    assert row["rMKLR: printed / ours"] == kernels._ratio(10.16, means["rmklr"])
    assert kernels._ratio(2.0, 1.0) == "2"
    assert kernels._ratio(999.4, 1.0) == "999"
    assert kernels._ratio(1033.25, 1.0) == "1033"
    assert kernels._ratio(float("nan"), 1.0) == ""


def test_published_values_belong_to_the_artifact_that_computes_them():
    counts = {"klr_vs_rklr": 96, "cv_vs_mkl": 26, "rivals": 78, "cpu_time": 26}
    artifacts = load_project("full")
    for name, count in counts.items():
        published = artifacts[f"kernel_boost/{name}"].values
        assert len(published) == count
        for cell in published:
            columns = cell["where"]
            if columns["metric"] == "error":
                margin = max(0.5, 0.1 * cell["value"])
                assert cell["margin"] == pytest.approx(margin, abs=0.0051)
                is_large = columns["dataset"] in ("ida_image", "ida_splice")
                splits = 20 if is_large else 100
                assert cell["n"] == splits


def test_ranked_lists_show_the_share_of_bikes_so_far():
    inputs = Inputs("kernel_boost/images_ranked")
    table = inputs.tables["images"]
    is_rank = table["metric"] == "positive"
    is_odd = table["x"] % 2
    table.loc[is_rank, "value"] = is_odd.astype(float)
    (ax,) = inputs.draw().axes
    shares = ax.lines[0].get_ydata()
    assert shares[:4] == pytest.approx([100, 50, 200 / 3, 50])
