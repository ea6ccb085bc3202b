"""The figures and tables of the kernel classifiers draw what is in the tables."""

import itertools
import warnings

import numpy as np
import pandas as pd
import pytest
from figure_inputs import EXPERIMENTS

from noisylabels import rank_tests
from reproduction.artifact import load, merge
from reproduction.figures import kernel_tables as kernel_boost_tables
from reproduction.figures import kernels as kernel_boost
from reproduction.figures import panels, style, tables
from reproduction.figures.panels import Results
from reproduction.results import COLUMNS

MODULES = {"kernels": kernel_boost, "kernel_tables": kernel_boost_tables}
_FILES = sorted((EXPERIMENTS / "kernel_boost").glob("*.yaml"))
_CONTENT = {file.stem: load(file, "full").content for file in _FILES}
ARTIFACTS = {
    name: content for name, content in _CONTENT.items() if content["render"].partition(":")[0] in MODULES
}
LEVEL = {"klr": 14, "rklr": 12, "rkfd": 16, "svm": 13, "rmklr": 11}


def made_up(artifact, splits, sources):
    """Errors that grow with the flip rate and depend on the method; image and splice have fewer splits."""
    rng = np.random.default_rng(0)
    own = artifact["settings"]
    metric = {"kernels.timing": "cpu_seconds", "kernels.features": "accuracy"}.get(
        artifact["protocol"], "error"
    )
    rows = []
    for name, noise, (method, spec) in itertools.product(
        own["datasets"], own["noise"], own["methods"].items()
    ):
        rate = float(noise.split()[1])
        for repetition in range(splits if name not in ("ida_image", "ida_splice") else splits // 2):
            value = LEVEL.get(method, 15) * (1 + 2 * rate) + rng.normal(0, 1 + 5 * rate)
            base = {
                "dataset": name,
                "source": sources.get(name, "genuine"),
                "noise": noise,
                "setting": spec.get("selection", ""),
                "method": method,
                "repetition": repetition,
                "x": np.nan,
            }
            rows.append(
                base | {"metric": metric, "value": 1 - value / 100 if metric == "accuracy" else value}
            )
            if metric == "error":
                rows.append(base | {"metric": "flagged", "value": float(repetition == 0)})
    return pd.DataFrame(rows)[COLUMNS]


def inputs(name, scale="full", splits=6, sources=None):
    """Tables and settings that the workflow would give to the artifact's function."""
    artifact = ARTIFACTS[name]
    used = ([name] if "protocol" in artifact else []) + artifact.get("uses", [])
    scaled = {}
    for each in used:
        reduced = ARTIFACTS[each].get("reductions", {}).get(scale, {}).get("settings", {})
        scaled[each] = ARTIFACTS[each] | {"settings": merge(ARTIFACTS[each]["settings"], reduced)}
    shown = {each: made_up(scaled[each], splits, sources or {}) for each in used}
    printed = artifact["kind"] == "table"
    extra = {each: {"published": ARTIFACTS[each].get("published", [])} if printed else {} for each in used}
    return shown, {name: {}} | {each: scaled[each]["settings"] | extra[each] for each in used}


def draw(name, **changes):
    module, _, function = ARTIFACTS[name]["render"].partition(":")
    return getattr(MODULES[module], function)(Results(*inputs(name, **changes)))


FIGURES = [name for name, artifact in ARTIFACTS.items() if artifact["kind"] == "figure"]
TABLES = [name for name, artifact in ARTIFACTS.items() if artifact["kind"] == "table"]


@pytest.mark.usefixtures("look")
@pytest.mark.parametrize("scale", ["full", "quick", "smoke"])
@pytest.mark.parametrize("name", FIGURES)
def test_every_figure_draws_without_a_warning(name, scale, tmp_path):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        figure = draw(name, scale=scale)
        style.save(figure, [tmp_path / "figure.png"])
    width, height = figure.get_size_inches()
    assert 4 < width < 9.5
    assert 2 < height < 8


@pytest.mark.parametrize("scale", ["full", "quick", "smoke"])
@pytest.mark.parametrize("name", TABLES)
def test_every_table_is_written(name, scale, tmp_path):
    frame = draw(name, scale=scale)
    tables.save(frame, [tmp_path / f"t.{suffix}" for suffix in ("csv", "md", "tex", "html")])
    assert not frame.map(lambda cell: "nan" in cell.split()).any().any()


@pytest.mark.usefixtures("look")
def test_the_bars_are_the_means_of_klr():
    shown, settings = inputs("noise_harm")
    figure = kernel_boost.noise_harm(Results(shown, settings))
    bars = [container for container in figure.axes[0].containers if hasattr(container, "patches")]
    table = shown["klr_vs_rklr"].query("metric == 'error' and method == 'klr' and dataset == 'ida_heart'")
    heart = settings["klr_vs_rklr"]["datasets"].index("ida_heart")
    for container, noise in zip(bars, kernel_boost.HARM, strict=True):
        mean = table.query(f"noise == '{noise}'")["value"].mean()
        assert container.patches[heart].get_height() == pytest.approx(mean)
    legend = [text.get_text() for text in figure.legends[0].get_texts()]
    assert legend == ["clean labels", "30 % symmetric", "30 % asymmetric"]


@pytest.mark.usefixtures("look")
def test_thirteen_sets_have_a_panel_each_and_a_label_below_every_column():
    figure = kernel_boost.kernel_count(Results(*inputs("kernel_count")))
    shown = figure.axes
    assert len(shown) == 13
    assert sum(bool(ax.get_xlabel()) for ax in shown) == 5
    assert [tick.get_text() for tick in shown[0].get_xticklabels()] == ["3", "5", "7", "11", "15", "21", "41"]


def test_pooled_cells_hold_both_kinds_of_noise_beside_the_printed_values():
    shown, settings = inputs("klr_vs_rklr")
    frame = kernel_boost_tables.klr_vs_rklr(Results(shown, settings))
    assert list(frame.index.unique()) == [
        *("10 % pooled", "20 % pooled"),
        *("10 % symmetric", "10 % asymmetric", "20 % symmetric", "20 % asymmetric"),
    ]
    row = frame.loc["20 % pooled"].set_index("data set").loc["twonorm"]
    table = shown["klr_vs_rklr"].query("dataset == 'ida_twonorm' and metric == 'error'")
    pooled = table[table["noise"].isin(["independent 0.2", "negative_only 0.2"])]
    klr, rklr = (pooled[pooled["method"] == method] for method in ("klr", "rklr"))
    assert row["klr"].strip("*") == f"{klr['value'].mean():.2f} ± {klr['value'].std():.2f}"
    assert row["klr, printed"] == "7.82 ± 1.88"
    assert row["p unpaired"] == f"{rank_tests.mann_whitney(klr['value'], rklr['value']):.2g}"
    means = [each.groupby("repetition")["value"].mean() for each in (klr, rklr)]
    assert row["p paired"] == f"{rank_tests.signed_rank(*means):.2g}"
    assert set(frame.loc["20 % symmetric", "klr, printed"]) == {""}


def test_the_slides_have_no_row_for_twonorm_at_forty_percent():
    frame = kernel_boost_tables.klr_vs_rklr_high(Results(*inputs("klr_vs_rklr_high")))
    printed = frame.loc["40 % pooled"].set_index("data set")["rklr, printed"]
    assert printed["twonorm"] == ""
    assert printed["titanic"] == "29.47 ± 11.39"


def test_rmklr_is_tested_against_the_better_of_two():
    shown, settings = inputs("rivals")
    frame = kernel_boost_tables.rivals(Results(shown, settings))
    assert set(frame["rMKLR against"]) <= {"svm", "rkfd"}
    better = shown["rivals"].query(
        "metric == 'error' and dataset == 'ida_heart' and noise == 'independent 0.1'"
    )
    expected = better[better["method"] != "rmklr"].groupby("method")["value"].mean().idxmin()
    assert frame.loc["10 % symmetric"].set_index("data set").loc["heart", "rMKLR against"] == expected
    assert "no independent evidence" in frame.attrs["note"]


def test_notes_count_splits_and_doubtful_runs_and_name_rebuilt_data():
    sources = {"ida_ringnorm": "rebuilt", "ida_waveform": "generated"}
    note = kernel_boost_tables.cv_vs_mkl(Results(*inputs("cv_vs_mkl", sources=sources))).attrs["note"]
    assert "6 splits (image 3, splice 3)" in note
    assert "rKLR 13 of 72" in note
    assert (
        "rebuilt points and our own splits (ringnorm); points drawn anew, our own splits (waveform)" in note
    )
    assert "genuine" not in kernel_boost_tables.cv_vs_mkl(Results(*inputs("cv_vs_mkl"))).attrs["note"]


def test_times_are_divided_as_the_columns_say():
    shown, settings = inputs("cpu_time")
    frame = kernel_boost_tables.cpu_time(Results(shown, settings)).set_index("data set")
    means = shown["cpu_time"].query("dataset == 'ida_banana'").groupby("method")["value"].mean()
    row = frame.loc["banana"]
    assert row["rKLR / rMKLR"] == f"{means['rklr'] / means['rmklr']:.1f}"
    assert row["the same, printed"] == "4.77"
    assert row["rMKLR: printed / ours"] == f"{10.16 / means['rmklr']:.3g}"


def test_a_level_that_was_not_run_is_left_out_and_none_is_an_error():
    frame = kernel_boost_tables.klr_vs_rklr(Results(*inputs("klr_vs_rklr", scale="smoke")))
    assert not any(title.startswith("20 %") for title in frame.index)
    shown, settings = inputs("klr_vs_rklr")
    settings["klr_vs_rklr"]["noise"] = ["independent 0"]
    with pytest.raises(panels.RenderError, match="none of the noise rates"):
        kernel_boost_tables.klr_vs_rklr(Results(shown, settings))


def test_printed_values_stand_in_the_artifact_that_computes_them():
    counts = {name: len(artifact.get("published", [])) for name, artifact in ARTIFACTS.items()}
    expected = {"klr_vs_rklr": 96, "cv_vs_mkl": 26, "rivals": 78, "cpu_time": 26}
    assert {name: n for name, n in counts.items() if n} == expected
    for artifact in ARTIFACTS.values():
        for cell in artifact.get("published", []):
            assert cell["where"]["dataset"] in artifact["settings"]["datasets"]
            if cell["where"]["metric"] == "error":
                noise = cell["where"]["noise"]
                assert set([noise] if isinstance(noise, str) else noise) <= set(artifact["settings"]["noise"])
                assert cell["margin"] == pytest.approx(max(0.5, 0.1 * cell["value"]), abs=0.0051)
                assert cell["n"] == (20 if cell["where"]["dataset"] in ("ida_image", "ida_splice") else 100)


def test_a_table_of_any_methods_shows_the_mean_of_each():
    shown, settings = inputs("rivals")
    for name in ("ida_image", "ida_splice"):
        settings["rivals"]["datasets"].remove(name)
    settings["rivals"]["methods"] = {"svm": {}, "rmklr": {}}
    table = kernel_boost_tables.errors(Results(shown, settings))
    assert list(table.columns) == ["flips", "svm", "rmklr"]
    assert list(table.index.unique())[:2] == ["banana", "breast cancer"]
    rows = shown["rivals"].query(
        "dataset == 'ida_banana' and method == 'svm' and noise == 'independent 0.1' and metric == 'error'"
    )
    cell = table.loc["banana"].set_index("flips").loc[kernel_boost.flips("independent 0.1"), "svm"]
    assert cell == f"{rows['value'].mean():.2f} ± {rows['value'].std():.2f}"


@pytest.mark.parametrize(("a", "text"), [(2.0, "2"), (999.4, "999"), (1033.25, "1033"), (float("nan"), "")])
def test_ratios_are_written_without_an_exponent(a, text):
    assert kernel_boost_tables._ratio(a, 1.0) == text
