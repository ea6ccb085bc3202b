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
PRINTED = 10.0


def inputs(errors):
    """Make results with a given error for each method, and kinds of flips 2 points apart."""
    klr = {"method": "kernel_logistic", "selection": "cv", "noise": NOISE}
    settings = {
        "experiment": "test", "repetitions": 40, "datasets": SETS,
        "noise": ["independent 0", *NOISE],
        "widths": [0], "parametrisation": "sigma2", "folds": 2, "trusted": 0.1,
        "methods": {"klr": klr | {"label": "none"}, "klr free": klr | {"label": "free"}},
    }  # fmt: skip
    published = []
    for dataset, method in product(SETS, ("klr", "svm")):
        cell = {"dataset": dataset, "noise": NOISE, "method": method, "metric": "error"}
        published.append({"value": PRINTED, "sd": 0.1, "n": 100, "margin": 1.0, "where": cell})
    common = results.DEFAULTS | {"source": "canonical", "metric": "error"}
    methods = settings["methods"]
    shifts = zip(NOISE, (-1.0, 1.0), strict=True)
    rows = []
    for method, dataset, r, (noise, shift) in product(methods, SETS, range(20, 60), shifts):
        columns = {"dataset": dataset, "noise": noise, "method": method, "repetition": r}
        value = errors[method](dataset) + shift + 0.02 * (r % 2)
        rows.append(common | columns | {"value": value})
    validated = find_protocol("stock:errors").settings.model_validate(settings)
    return Results({"readings": pd.DataFrame(rows)}, {"readings": validated}, {"paper": published})


def test_cells_pool_the_kinds_of_flips_and_know_their_verdict():
    cells = kernels.cells(inputs({"klr": lambda d: 10.5, "klr free": lambda d: 13.0}))
    assert len(cells) == 2 * len(SETS)
    fixed, free = (cells[cells["reading"] == name] for name in ("none", "free"))
    np.testing.assert_allclose(fixed["ours"], 10.51)
    np.testing.assert_allclose(fixed["distance"], 0.51)
    assert set(fixed["verdict"]) == {"reproduced"}
    assert set(free["verdict"]) == {"not_reproduced"}
    assert set(cells["level"]) == {0.1}


def test_the_choice_on_one_half_is_judged_on_the_other():
    """Make readings of which the free bias is right on the first half and wrong on the second."""
    first = kernels.two_halves(SETS)[0]
    errors = {"klr": lambda d: 12.0, "klr free": lambda d: 10.0 if d in first else 15.0}
    case = inputs(errors)
    frame = kernels.distances(case)
    note = frame.attrs["note"]
    distances = "on the others its mean absolute distance is 5.01 against 2.01"
    assert f"chosen on a, c, e: free; {distances}" in note
    interval = "95 % interval 3.00 to 3.00 over 3 data sets"
    assert f"on average over sets +3.00 ({interval}): farther." in note
    assert "chosen on b, d, f: none, which is today's." in note
    rows = frame.loc[["KLR and rKLR"]].set_index("reading")
    assert rows.loc["free", "first half"] == "**0.01**"
    assert rows.loc["none", "second half"] == "**2.01**"
    assert rows.loc["free", ["reproduced", "not reproduced"]].tolist() == ["3", "3"]
    cells = kernels.every_cell(case).set_index("data set")
    assert cells.loc["a", "chosen elsewhere"] == cells.loc["a", "today's"] == "12.01"
    assert cells.loc["b", "chosen elsewhere"] == "15.01"
    assert cells.loc["b", "verdict"] == "not reproduced"


def test_a_better_reading_is_shown_to_be_nearer_both_ways():
    spread = {name: 0.3 * k for k, name in enumerate(SETS)}
    case = inputs({"klr": lambda d: 13.0 + spread[d], "klr free": lambda d: 10.2 + spread[d]})
    note = kernels.distances(case).attrs["note"]
    assert note.count(": nearer.") == 2


def test_verdicts_are_the_verdicts_of_published_values():
    rng = np.random.default_rng(0)
    far = {name: 0.4 * k for k, name in enumerate(SETS)}
    case = inputs(
        {
            "klr": lambda d: rng.normal(10.2 + far[d], 0.6),
            "klr free": lambda d: rng.normal(11, 1),
        }
    )
    entries = []
    for number, entry in enumerate(case.published_of["paper"]):
        entries.append(entry | {"id": str(number), "reason": "made up"})
    klr = [e for e in entries if e["where"]["method"] == "klr"]
    table = case.table[case.table["method"] == "klr"]
    verdicts = judge({"published": klr}, table, "full").set_index("id")["verdict"]
    cells = kernels.cells(case)
    of_cells = cells[cells["reading"] == "none"].set_index("dataset")["verdict"]
    assert len(set(of_cells)) > 1
    assert {e["where"]["dataset"]: verdicts[e["id"]] for e in klr} == of_cells.to_dict()
    assert kernels.judge_distance(Estimate(0.0, float("nan"), 0.0), 1.0) == "inconclusive"


def test_what_is_missing_is_named():
    case = inputs({"klr": lambda d: 10.0, "klr free": lambda d: 10.0})
    with pytest.raises(panels.RenderError, match="none of the published values"):
        kernels.distances(dataclasses.replace(case, published_of={}))
    tables = {"readings": case.table[case.table["dataset"] != "ida_a"]}
    message = r"readings: the results hold no rows with .*ida_a"
    with pytest.raises(panels.RenderError, match=message):
        kernels.distances(dataclasses.replace(case, tables=tables))
