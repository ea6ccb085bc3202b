"""The figures and tables of the robust-SGD paper draw what is in the tables."""

import dataclasses
import itertools

import numpy as np
import pandas as pd
import pytest

from reproduction.figures import robust_sgd
from reproduction.figures.panels import Results
from reproduction.protocols import walk
from reproduction.protocols.settings import Noise
from reproduction.results import COLUMNS, DEFAULTS

METHODS = {
    "log": {"method": "robust_sgd", "losses": [{"loss": "log"}]},
    "rgomp": {"method": "robust_sgd", "losses": [{"loss": "rgomp"}]},
    "liblinear_primal": {"method": "liblinear"},
}
NOISE = ["symmetric 0", "symmetric 0.2", "symmetric 0.4"]


def inputs(sets=("a7a", "ijcnn1")):
    rng = np.random.default_rng(0)
    rows = []
    for name, noise, method, repetition in itertools.product(sets, NOISE, METHODS, range(3)):
        source = "stand-in" if name == "ijcnn1" else "canonical"
        base = {"dataset": name, "source": source, "noise": noise, "method": method, "repetition": repetition}
        base |= {"setting": ""}
        epochs = [4] if method == "liblinear_primal" else range(1, 5)
        rows += [base | {"metric": "error", "x": x, "value": 10 + 5 / x + rng.random()} for x in epochs]
        if method == "rgomp":
            rows += [base | {"metric": "objective", "x": x, "value": 1 / (x + 1)} for x in range(5)]
    return made("table1", rows, datasets=list(sets))


def made(artifact, rows, **changes):
    own = {
        "experiment": "test", "repetitions": 3, "epochs": 4, "folds": 2, "rule": "one_se", "lambdas": [1],
        "multipliers": [1], "cv_rows": 1, "rows": 0, "stand_in_rows": 0, "resample_noise": False,
        "official": [], "noise": NOISE, "methods": METHODS, "objectives": ["rgomp"], "families": {},
    }  # fmt: skip
    settings = walk.find("robust_sgd.errors").settings.model_validate(own | changes)
    return Results({artifact: pd.DataFrame(rows)[COLUMNS]}, {artifact: settings})


def test_six_data_sets_fill_two_rows_and_stand_ins_are_named():
    figure = robust_sgd.errors_by_noise(inputs(("a7a", "ijcnn1", "covtype", "susy", "mnist38")))
    shown = [ax.get_title() for ax in figure.axes if ax.get_visible()]
    assert shown == ["a7a", "ijcnn1 (stand-in)", "covtype", "susy", "mnist38"]


def test_what_differs_by_rounding_alone_has_no_variance():
    results = inputs(("a7a",))
    table = results.table
    table["value"] = 9.7 + 1e-13 * table["repetition"]
    (ax, *_) = robust_sgd.variances(results).axes
    curves, marks = ax.get_lines()[::2], ax.get_lines()[1::2]
    assert len(curves) == len(METHODS)
    for curve, mark in zip(curves, marks, strict=True):  # an open triangle at every rate
        assert mark.get_markerfacecolor() == "white"
        assert np.array_equal(curve.get_xydata(), mark.get_xydata())


def test_rates_above_one_half_have_a_panel_beside_the_others():
    results = inputs(("a7a",))
    table, settings = results.table, results.settings
    above = table[table["noise"] == NOISE[0]].assign(noise="symmetric 0.6", value=80.0)
    more = settings.model_copy(update={"noise": [*settings.noise, Noise.parse("symmetric 0.6")]})
    figure = robust_sgd.errors_by_noise(Results({"table1": pd.concat([table, above])}, {"table1": more}))
    main, side = (ax for ax in figure.axes if ax.get_visible())
    assert [tick.get_text() for tick in side.get_xticklabels()] == ["60"]
    assert main.get_ylim()[1] < 30 < side.get_ylim()[0]


def test_noise_is_named_in_words():
    results = inputs(("a7a",))
    titles = [ax.get_title() for ax in robust_sgd.error_curves(results).axes]
    (legend,) = robust_sgd.objectives(results).legends
    assert "40 % flipped" in titles
    assert "no flips" in [text.get_text() for text in legend.get_texts()]


def test_tables_have_means_and_deviations():
    where = {"dataset": "a7a", "noise": "symmetric 0", "method": "log", "metric": "error", "x": "last"}
    published = {"table1": [{"id": "p", "value": 15.16, "sd": 0.06, "where": where}]}
    results = dataclasses.replace(inputs(), published_of=published)
    table = robust_sgd.clean_errors(results)
    assert list(table.columns) == ["method", "a7a", "a7a, printed", "ijcnn1 (stand-in)"]
    assert table["a7a, printed"].tolist()[:2] == ["15.16 ± 0.06", ""]
    frame = results.table
    last = frame.query("dataset == 'a7a' and noise == 'symmetric 0' and method == 'log' and x == 4")
    assert table["a7a"][0].strip("*") == f"{last['value'].mean():.2f} ± {last['value'].std():.2f}"


def test_redrawn_trials_stand_below_those_of_the_paper():
    results = inputs(("a7a",))
    last = results.table.query("metric == 'error' and x == 4")
    redrawn = last.assign(metric="redrawn_error", value=last["value"] + 1)
    both = {"table1": pd.concat([results.table, redrawn])}
    table = robust_sgd.redrawn_errors(dataclasses.replace(results, tables=both))
    assert table.index.names == ["data set", "training labels", "trials differ in"]
    assert table.index.get_level_values(2).tolist() == ["orders", "redrawn"] * len(NOISE)
    ours, theirs = (float(table["log"].iloc[k].strip("*").split()[0]) for k in (1, 0))
    assert ours - theirs == pytest.approx(1, abs=0.02)


def test_every_loss_is_drawn_for_every_way_of_training():
    losses = ("log", "rgomp")
    labels = [f"{loss} {way}" for loss in losses for way in robust_sgd.WAYS]
    rows = [
        DEFAULTS | {"dataset": "a7a", "noise": "symmetric 0.4", "method": label, "repetition": k,
                    "metric": "error", "x": 15, "value": 20 + k}
        for label in labels for k in range(3)
    ]  # fmt: skip
    methods = {label: {"method": "liblinear"} for label in labels}
    changes = {"datasets": ["a7a"], "noise": ["symmetric 0.4"], "methods": methods, "objectives": []}
    (ax,) = robust_sgd.loss_and_optimiser(made("t", rows, **changes)).axes
    assert len(ax.containers) == len(losses)
    assert [tick.get_text() for tick in ax.get_xticklabels()] == list(robust_sgd.WAYS.values())


def test_theorem_table():
    where = {"noise": "symmetric 0", "setting": "0.5", "method": "from zero"}
    means = [("gap", 0.1), ("published", 0.2), ("corrected", 0.3)]
    rows = [where | {"metric": m, "value": value + r} for r in (-0.01, 0.01) for m, value in means]
    table = robust_sgd.theorem_bounds(Results({"theorem1": pd.DataFrame(rows)}, {}))
    assert table.iloc[0].tolist() == ["0.5", "0.1", "0.2", "0.3"]
