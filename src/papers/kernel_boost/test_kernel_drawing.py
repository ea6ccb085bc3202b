"""Figures and tables on kernel classifiers show the numbers of their results."""

import pytest
from made_tables import Inputs
from project import load_project
from scipy.stats import mannwhitneyu

from kernel_boost import kernel_drawing as kernels
from noisylabels import statistics
from reproduction.show import panels


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
    numbers = [tick.get_text() for tick in shown[0].get_xticklabels()]
    assert numbers == ["3", "5", "7", "11", "15", "21", "41"]
    assert shown[0].lines[0].get_ydata() == pytest.approx([1, *[0] * 6])


def test_pooled_cells_hold_both_kinds_of_noise_beside_the_published_values():
    inputs = Inputs("kernel_boost/klr_vs_rklr")
    frame = inputs.draw()
    kinds = ("pooled", "symmetric", "asymmetric")
    at_10_percent = {f"10 % {kind}" for kind in kinds}
    at_20_percent = {f"20 % {kind}" for kind in kinds}
    assert set(frame.index) == at_10_percent | at_20_percent
    row = frame.loc["20 % pooled"].set_index("data set").loc["twonorm"]
    table = inputs.rows(dataset="ida_twonorm", metric="error")
    pooled = table[table["noise"].isin(["independent 0.2", "negative_only 0.2"])]
    klr, rklr = (pooled[pooled["method"] == method] for method in ("klr", "rklr"))
    assert row["klr"].strip("*") == f"{klr['value'].mean():.2f} ± {klr['value'].std():.2f}"
    assert row["klr, published"] == "7.82 ± 1.88"
    unpaired = mannwhitneyu(klr["value"], rklr["value"], method="asymptotic").pvalue
    assert row["p unpaired"] == f"{unpaired:.2g}"
    means = [errors.groupby("repetition")["value"].mean() for errors in (klr, rklr)]
    assert row["p paired"] == f"{statistics.signed_rank(*means):.2g}"
    assert set(frame.loc["20 % symmetric", "klr, published"]) == {""}
    high = Inputs("kernel_boost/klr_vs_rklr_high").draw()
    printed = high.loc["40 % pooled"].set_index("data set")["rklr, published"]
    assert (printed["twonorm"], printed["titanic"]) == ("", "29.47 ± 11.39")  # no row for twonorm


def test_a_level_that_was_not_run_is_left_out_and_none_is_an_error():
    inputs = Inputs("kernel_boost/klr_vs_rklr")
    settings = inputs.settings["rivals"]
    settings["noise"] = [noise for noise in settings["noise"] if not noise.endswith(" 0.2")]
    assert not any(title.startswith("20 %") for title in inputs.draw().index)
    settings["noise"] = ["independent 0"]
    settings["methods"] = {name: settings["methods"][name] for name in ("klr", "rklr")}
    with pytest.raises(panels.RenderError, match="none of the noise rates"):
        inputs.draw()


def test_rmklr_is_tested_against_the_better_of_two():
    inputs = Inputs("kernel_boost/rivals")
    frame = inputs.draw()
    rows = inputs.rows(metric="error", dataset="ida_heart", noise="independent 0.1")
    expected = rows[rows["method"] != "rmklr"].groupby("method")["value"].mean().idxmin()
    row = frame.loc["10 % symmetric"].set_index("data set").loc["heart"]
    assert row["rMKLR against"] == expected
    assert "no independent evidence" in frame.attrs["note"]


def test_notes_count_splits_and_doubtful_runs_and_name_rebuilt_data():
    inputs = Inputs("kernel_boost/cv_vs_mkl", few=5)
    table = inputs.tables["rivals"]
    sources = {"ida_ringnorm": "rebuilt", "ida_waveform": "generated"}
    table["source"] = table["dataset"].map(sources).fillna("genuine")
    table.loc[table["metric"] == "flagged", "value"] = (table["repetition"] == 0).astype(float)
    note = inputs.draw().attrs["note"]
    assert "5 splits (image 1, splice 1)" in note
    assert "rKLR 13 of 57" in note
    assert "rebuilt points and our own splits (ringnorm)" in note
    assert "points drawn again, our splits (waveform)" in note
    table["source"] = "genuine"
    assert "genuine" not in inputs.draw().attrs["note"]


def test_times_are_divided_as_the_columns_say_without_exponents():
    inputs = Inputs("kernel_boost/cpu_time")
    row = inputs.draw().set_index("data set").loc["banana"]
    times = inputs.rows(dataset="ida_banana", metric="cpu_seconds")
    means = times.groupby("method")["value"].mean()
    assert row["rKLR / rMKLR"] == f"{means['rklr'] / means['rmklr']:.1f}"
    assert row["the same, published"] == "4.77"
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
                is_large = cell["where"]["dataset"] in ("ida_image", "ida_splice")
                assert cell["n"] == (20 if is_large else 100)


def test_ranked_lists_show_the_share_of_bikes_so_far():
    inputs = Inputs("kernel_boost/images_ranked")
    table = inputs.tables["images"]
    table.loc[table["metric"] == "positive", "value"] = (table["x"] % 2).astype(float)
    (ax,) = inputs.draw().axes
    assert ax.lines[0].get_ydata()[:4] == pytest.approx([100, 50, 200 / 3, 50])
