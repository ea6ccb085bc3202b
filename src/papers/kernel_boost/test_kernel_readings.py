"""Tables of readings: distances to published values, and choices judged on other data sets."""

import dataclasses
from itertools import product

import numpy as np
import pandas as pd
import pytest

from kernel_boost import kernel_drawing as kernels
from noisylabels.statistics import Estimate
from reproduction.judge.verdicts import judge
from reproduction.run import results
from reproduction.show import panels
from reproduction.show.panels import Results
from reproduction.spec.protocol import find_protocol

SETS = [f"ida_{letter}" for letter in "badcfe"]  # alphabetically: a c e and b d f
NOISE = ["independent 0.1", "negative_only 0.1"]
PUBLISHED = 10.0


KLR = {"method": "kernel_logistic", "selection": "cv", "noise": NOISE}
SETTINGS = {
    "experiment": "test",
    "repetitions": 40,
    "datasets": SETS,
    "noise": ["independent 0", *NOISE],
    "widths": [0],
    "parametrisation": "sigma2",
    "folds": 2,
    "trusted": 0.1,
    "methods": {"klr": KLR | {"label": "none"}, "klr free": KLR | {"label": "free"}},
}
SHIFTS = {NOISE[0]: -1.0, NOISE[1]: 1.0}
"""What a kind of flips adds to the errors."""


def results_of(**errors_of_readings):
    """Make results of both readings, from a function that gives the error on a data set."""
    rows = []
    for method in SETTINGS["methods"]:
        reading = SETTINGS["methods"][method]["label"]
        error_on = errors_of_readings[reading]
        for dataset, repetition, noise in product(SETS, range(20, 60), NOISE):
            columns = {"dataset": dataset, "noise": noise, "method": method}
            value = error_on(dataset) + SHIFTS[noise] + 0.02 * (repetition % 2)
            rows.append(columns | {"repetition": repetition, "value": value})
    common = results.DEFAULTS | {"source": "canonical", "metric": "error"}
    table = pd.DataFrame([common | row for row in rows])
    settings = find_protocol("stock:errors").settings.model_validate(SETTINGS)
    return Results({"readings": table}, {"readings": settings}, {"paper": published_values()})


def published_values():
    """Publish one error for every data set and method."""
    entries = []
    for dataset, method in product(SETS, ("klr", "svm")):
        cell = {"dataset": dataset, "noise": NOISE, "method": method, "metric": "error"}
        entries.append({"value": PUBLISHED, "sd": 0.1, "n": 100, "margin": 1.0, "where": cell})
    return entries


def always(error):
    return lambda dataset: error


def test_cells_pool_the_kinds_of_flips_and_know_their_verdict():
    cells = kernels.cells(results_of(none=always(10.5), free=always(13.0)))
    assert len(cells) == 2 * len(SETS)
    assert set(cells["level"]) == {0.1}
    of_none = cells[cells["reading"] == "none"]
    np.testing.assert_allclose(of_none["ours"], 10.51)
    np.testing.assert_allclose(of_none["distance"], 0.51)
    assert set(of_none["verdict"]) == {"reproduced"}
    of_free = cells[cells["reading"] == "free"]
    assert set(of_free["verdict"]) == {"not_reproduced"}


@pytest.fixture
def right_on_first_half():
    """Make readings of which the free bias is right on the first half and wrong on the second."""
    first, _ = kernels.two_halves(SETS)

    def error_of_free(dataset):
        return 10.0 if dataset in first else 15.0

    return results_of(none=always(12.0), free=error_of_free)


def test_the_choice_on_one_half_is_judged_on_the_other(right_on_first_half):
    frame = kernels.distances(right_on_first_half)
    note = frame.attrs["note"]
    distances = "on the others its mean absolute distance is 5.01 against 2.01"
    assert f"chosen on a, c, e: free; {distances}" in note
    interval = "95 % interval 3.00 to 3.00 over 3 data sets"
    assert f"on average over sets +3.00 ({interval}): farther." in note
    assert "chosen on b, d, f: none, which is today's." in note
    rows = frame.loc[["KLR and rKLR"]].set_index("reading")
    assert rows.loc["free", "first half"] == "**0.01**"
    assert rows.loc["none", "second half"] == "**2.01**"
    counts = rows.loc["free", ["reproduced", "not reproduced"]]
    assert counts.tolist() == ["3", "3"]


def test_every_cell_is_judged_by_the_reading_chosen_on_the_other_half(right_on_first_half):
    cells = kernels.every_cell(right_on_first_half).set_index("data set")
    assert cells.loc["a", "chosen elsewhere"] == "12.01"
    assert cells.loc["a", "today's"] == "12.01"
    assert cells.loc["b", "chosen elsewhere"] == "15.01"
    assert cells.loc["b", "verdict"] == "not reproduced"


def test_a_better_reading_is_shown_to_be_nearer_both_ways():
    def growing_from(lowest):
        return lambda dataset: lowest + 0.3 * SETS.index(dataset)

    case = results_of(none=growing_from(13.0), free=growing_from(10.2))
    note = kernels.distances(case).attrs["note"]
    assert note.count(": nearer.") == 2


def test_verdicts_are_the_verdicts_of_published_values():
    rng = np.random.default_rng(0)

    def error_of_none(dataset):
        mean = 10.2 + 0.4 * SETS.index(dataset)
        return rng.normal(mean, 0.6)

    case = results_of(none=error_of_none, free=always(11.0))
    cells = kernels.cells(case)
    of_none = cells[cells["reading"] == "none"]
    verdicts_of_cells = of_none.set_index("dataset")["verdict"].to_dict()
    assert len(set(verdicts_of_cells.values())) > 1
    published = []
    for entry in case.published_of["paper"]:
        if entry["where"]["method"] == "klr":
            dataset = entry["where"]["dataset"]
            published.append(entry | {"id": dataset, "reason": "made up"})
    of_klr = case.table[case.table["method"] == "klr"]
    verdicts = judge({"published": published}, of_klr, "full")
    assert verdicts.set_index("id")["verdict"].to_dict() == verdicts_of_cells


def test_a_distance_without_an_error_is_inconclusive():
    without_error = Estimate(0.0, float("nan"), 0.0)
    assert kernels.judge_distance(without_error, 1.0) == "inconclusive"


def test_what_is_missing_is_named():
    case = results_of(none=always(10.0), free=always(10.0))
    without_published = dataclasses.replace(case, published_of={})
    with pytest.raises(panels.RenderError, match="none of the published values"):
        kernels.distances(without_published)
    is_of_other_sets = case.table["dataset"] != "ida_a"
    without_a = dataclasses.replace(case, tables={"readings": case.table[is_of_other_sets]})
    message = r"readings: the results hold no rows with .*ida_a"
    with pytest.raises(panels.RenderError, match=message):
        kernels.distances(without_a)
