"""The figures and tables of boosting, bounds, crowd and images draw what is in the tables."""

import itertools
import warnings

import numpy as np
import pandas as pd
import pytest
from figure_inputs import EXPERIMENTS

from reproduction import artifact as artifacts
from reproduction.figures import boosting, boosting_tables, bounds, crowd, images, style, tables
from reproduction.figures.panels import Results
from reproduction.results import COLUMNS, DEFAULTS

MODULES = {
    "boosting": boosting,
    "boosting_tables": boosting_tables,
    "bounds": bounds,
    "crowd": crowd,
    "images": images,
}
_LOADED = [artifacts.load(file, "full") for file in sorted((EXPERIMENTS / "kernel_boost").glob("*.yaml"))]
ARTIFACTS = {a.name: a for a in _LOADED if a.content["render"].partition(":")[0] in MODULES}
FIGURES = [name for name, artifact in ARTIFACTS.items() if artifact.content["kind"] == "figure"]
TABLES = [name for name, artifact in ARTIFACTS.items() if artifact.content["kind"] == "table"]
ROUNDS = range(1, 31)


def _errors(s):
    for name, noise, method in itertools.product(s["datasets"], s["noise"], s["methods"]):
        base = {"dataset": name, "source": "genuine", "noise": noise, "method": method}
        yield base | {"metric": "error"}
        if method.startswith("rBoost/"):
            yield from (base | {"metric": metric} for metric in ("gamma01", "gamma10"))


def _curves(s):
    metrics = ("train_error", "test_error", "gamma01", "gamma10")
    for name, noise, method, metric, x in itertools.product(
        s["datasets"], s["noise"], s["methods"], metrics, ROUNDS
    ):
        yield {"dataset": name, "noise": noise, "method": method, "metric": metric, "x": x}


def _calibration(s):
    for name, noise, method, metric, x in itertools.product(
        s["datasets"], s["noise"], s["methods"], ("error", "gamma_error"), s["trusted"]
    ):
        yield {"dataset": name, "noise": noise, "method": method, "metric": metric, "x": x}


def _loss(s):
    for setting, method, x in itertools.product(("label +1", "label -1"), s["gammas"], np.linspace(-2, 2, 9)):
        yield {"setting": setting, "method": method, "metric": "loss", "x": x}


def _flips(s):
    shown = {"formula": ("f", "gaussian_slack", "sub_gaussian_slack"), "gaussian": ("share",)}
    shown |= {"rademacher": ("share",)}
    for k, (setting, metrics) in itertools.product(s["ks"], shown.items()):
        for metric, x in itertools.product(metrics, np.linspace(0, np.pi, 7)):
            yield {"setting": setting, "method": f"k={k}", "metric": metric, "x": x}


def _halves(s):
    for name, method in itertools.product(s["datasets"], s["methods"]):
        yield {"dataset": name, "method": method, "metric": "error"}


def _against_k(s):
    metrics = ("bound", "risk", "complexity", "error")
    for name, metric, x in itertools.product(s["datasets"], metrics, s["ks"]):
        yield {"dataset": name, "method": "new", "metric": metric, "x": x}


def _crowd(s):
    settings = ("labelled items", "new items", "new items and gold labels")
    for setting, method, x in itertools.product(settings, ("majority vote", *s["methods"]), s["annotators"]):
        yield {"setting": setting, "method": method, "metric": "accuracy", "x": x}


def _images(s):
    yield {"method": "search", "metric": "noise_share"}
    for method in s["methods"]:
        yield {"method": method, "metric": "error"}
        yield from ({"method": method, "metric": "positive", "x": x} for x in range(1, s["ranks"] + 1))


ROWS = {
    "boosting.errors": _errors, "boosting.curves": _curves, "boosting.calibration": _calibration,
    "boosting.loss": _loss, "bounds.flip_probability": _flips, "bounds.errors": _halves,
    "bounds.against_k": _against_k, "crowd.annotators": _crowd, "images.search": _images,
}  # fmt: skip


def inputs(name, repetitions=3):
    """Made-up tables and the settings that the workflow would give to the function of an artifact."""
    artifact = ARTIFACTS[name]
    own = [name] if "protocol" in artifact.content else []
    names = own + artifact.content.get("uses", [])
    rng = np.random.default_rng(0)
    made = {
        used: pd.DataFrame(
            [
                DEFAULTS | row | {"repetition": r, "value": float(rng.uniform(0.1, 0.9))}
                for row in ROWS[ARTIFACTS[used].content["protocol"]](ARTIFACTS[used].settings)
                for r in range(repetitions)
            ]
        )[COLUMNS]
        for used in names
    }
    printed = {"published": []} if artifact.content["kind"] == "table" else {}
    return made, {each: ARTIFACTS[each].settings | printed for each in dict.fromkeys([name, *names])}


def draw(name, **changes):
    module, _, function = ARTIFACTS[name].content["render"].partition(":")
    return getattr(MODULES[module], function)(Results(*inputs(name, **changes)))


@pytest.mark.usefixtures("look")
@pytest.mark.parametrize("name", FIGURES)
def test_every_figure_draws_without_a_warning(name, tmp_path):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        figure = draw(name)
        style.save(figure, [tmp_path / "figure.png"])
    width, height = figure.get_size_inches()
    assert 4 < width < 9.5
    assert 2 < height < 8


@pytest.mark.parametrize("repetitions", [1, 3])
@pytest.mark.parametrize("name", TABLES)
def test_every_table_is_written(name, repetitions, tmp_path):
    frame = draw(name, repetitions=repetitions)
    tables.save(frame, [tmp_path / f"t.{suffix}" for suffix in ("csv", "md", "tex", "html")])
    assert not frame.map(lambda cell: "nan" in cell.split()).any().any()


def test_the_last_rows_are_means_over_the_sets_beside_the_printed_ones():
    made, settings = inputs("boosters")
    sets = settings["boosters"]["datasets"]
    where = {"dataset": sets, "noise": "independent 0.3", "method": "GentleBoost"}
    settings["boosters"]["published"] = [
        {"value": 21.12, "where": where},
        {"value": 20.62, "sd": 1.6, "where": where | {"dataset": "ida_banana"}},
    ]
    frame = boosting_tables.symmetric(Results(made, settings))
    rows = made["boosters"].query(
        "metric == 'error' and noise == 'independent 0.3' and method == 'GentleBoost'"
    )
    by_set = rows.groupby("dataset")["value"]
    cells = frame.loc[boosting_tables.ALL].set_index("error")["GentleBoost"]
    assert cells["ours"].strip("*") == f"{by_set.mean().mean():.2f} ± {by_set.std().mean():.2f}"
    assert cells["printed"] == "21.12"
    assert frame.loc["banana"].set_index("error").loc["printed", "GentleBoost"] == "20.62 ± 1.60"
    assert "rBoost/LR 0." in frame.attrs["note"]


def test_the_second_table_shows_the_other_noise():
    made, settings = inputs("boosters_asymmetric")
    frame = boosting_tables.asymmetric(Results(made, settings))
    rows = made["boosters"].query("metric == 'error' and noise == 'negative_only 0.3'")
    mean = rows[(rows["dataset"] == "ida_heart") & (rows["method"] == "AdaBoost/LR")]["value"].mean()
    assert frame.loc["heart"].set_index("error").loc["ours", "AdaBoost/LR"].strip("*")[:4] == f"{mean:.2f}"


def test_a_clear_difference_is_marked_and_a_constant_one_too():
    rng = np.random.default_rng(0)
    worse, same = 0.1 + 0.01 * rng.standard_normal(20), 0.01 * rng.standard_normal(20)
    found = bounds._marks({("a", "svm"): pd.Series(worse), ("a", "ldm"): pd.Series(same - same.mean())})
    assert found == {("a", "svm"): " (+)"}
    assert bounds._marks({("a", "svm"): pd.Series(-worse)}) == {("a", "svm"): " (-)"}


@pytest.mark.usefixtures("look")
def test_squares_of_the_ranked_lists_are_the_truth():
    made, settings = inputs("images_ranked")
    table = made["images"]
    table.loc[table["metric"] == "positive", "value"] = (table["x"] % 2).astype(float)
    figure = images.ranked(Results(made, settings))
    mesh = figure.axes[0].collections[0].get_array()
    assert np.asarray(mesh)[0].tolist() == [float(x % 2) for x in range(1, 41)]
    assert "50 % bikes" in figure.axes[0].get_title()


@pytest.mark.usefixtures("look")
def test_the_grey_lines_are_the_true_rates():
    made, settings = inputs("boost_gamma")
    figure = boosting.learned_rates(Results(made, settings))
    levels = [ax.lines[0].get_ydata()[0] for ax in figure.axes]
    assert levels == [0.3, 0.3, 0.0, 0.0]
