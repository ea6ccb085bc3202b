"""Tuning finds the best grid point on the tuning sequence, in both modes."""

import itertools

import numpy as np
import pytest

from noisylabels.seeding import Seeds
from ors.code import Linear
from reproduction.run.protocol_loop import Repetition
from reproduction.run.tuning import (
    FilterMethod,
    FilterSettings,
    best,
    grid_values,
    losses,
    tune_all,
)

REPETITION = Repetition(Seeds(1, "tuning-test"), "tuning", {})
DATA = Linear(T=2000, d=5, M=5.0, process_noise=0.01).draw(REPETITION)
GRIDS = {"mu": [0.01, 0.03, 0.1, 0.3, 1.0], "eps": [0.001, 1.0]}


def filters(methods, **options):
    """Settings with these methods."""
    content = {"experiment": "test", "repetitions": 1, "grids": GRIDS, "methods": methods} | options
    return FilterSettings.model_validate(content)


SETTINGS = filters(
    {
        "reference": {"method": "nlms", "tune": ["mu"]},
        "both": {"method": "nlms", "tune": ["mu", "eps"]},
        "fixed": {"method": "nlms", "parameters": {"mu": 0.2}},
    },
    shared={"parameter": "mu", "reference": "reference"},
)
METHODS = SETTINGS.methods
POWERS = {"r": {"log10": [-1, 4, 0.25]}, "beta": {"log10": [-2, 4, 0.25]}}


def test_grid_in_powers_of_ten_has_both_ends():
    grids = filters({"m": {"method": "nlms"}}, grids=POWERS).grids
    assert grid_values(grids["r"]) == pytest.approx(10.0 ** np.linspace(-1, 4, 21))
    assert grid_values([3, 1]) == [3.0, 1.0]


@pytest.mark.parametrize(
    ("method", "grids"),
    [
        ({"method": "nlms", "tune": ["mu", "eps"]}, GRIDS),
        ({"method": "ors", "parameters": {"variant": "beta"}, "tune": ["r", "beta"]}, POWERS),
    ],
)
def test_the_search_finds_what_the_full_grid_finds(method, grids):
    """Of the second a quarter of the points, for a valley that is not parallel to the axes."""
    settings = filters({"m": method}, grids=grids)
    method, (a, b) = settings.methods["m"], method["tune"]
    values = {name: grid_values(settings.grids[name]) for name in (a, b)}
    points = [{a: x, b: z} for x, z in itertools.product(values[a], values[b])]
    errors = losses([(method, point) for point in points], DATA, 1)[:, 0]
    best_point = best(method, [a, b], settings.grids, {}, DATA)
    winner = points[int(np.argmin(errors))]
    assert best_point["parameters"] == winner
    assert best_point["mse"] == pytest.approx(errors.min())
    ends = set()
    for name in (a, b):
        if winner[name] in (min(values[name]), max(values[name])):
            ends.add(name)
    assert set(best_point["at_end_of_grid"]) == ends


def test_shared_mode_gives_one_value_to_all_that_have_the_parameter():
    tuned = tune_all(SETTINGS, "shared_r", DATA)
    alone = tune_all(SETTINGS, "per_variant", DATA)
    assert tuned["both"]["parameters"]["mu"] == alone["reference"]["parameters"]["mu"]
    assert tuned["fixed"]["parameters"] == {}
    assert alone["both"]["mse"] <= tuned["both"]["mse"]
    with pytest.raises(ValueError, match="shared: the mode shared_r needs"):
        SETTINGS.model_copy(update={"shared": None}).check_mode(["shared_r"])


def test_the_mean_variance_is_given_where_the_settings_say_so():
    kinds = [FilterMethod(method="jo_nlms", variance=variance) for variance in ("local", "mean")]
    local, mean = losses([(kind, {}) for kind in kinds], DATA, 1)[:, 0]
    assert local != mean


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (
            {"method": "nlms", "tune": ["eps"]},
            "methods.m.tune: 'eps' has no grid; add it to `grids`",
        ),
        (
            {"method": "nlms", "tune": ["mu"], "parameters": {"mu": 1}},
            "fixed by `parameters` too; keep one",
        ),
        (
            {"method": "builtins:dict"},
            "has no losses, which an experiment with adaptive filters needs",
        ),
    ],
)
def test_mistakes_are_named_before_anything_runs(content, message):
    with pytest.raises(ValueError, match=message):
        filters({"m": content}, grids={"mu": [0.1]}).check_custom()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {"shared": {"parameter": "mu", "reference": "n"}},
            "shared.reference: 'n' is unknown .*known: m",
        ),
        (
            {"shared": {"parameter": "eps", "reference": "m"}},
            "shared.parameter: 'eps' is unknown here",
        ),
        ({"grids": {"mu": {"log10": [0, 1, -1]}}}, "log10: step -1 does not lead from 0 to 1"),
        ({"grids": {"mu": {"log10": [0, 1, 1e-6]}}}, r"log10: 1e\+06 steps, 10000 are allowed"),
        ({"grids": {"mu": {"log10": [0, 400, 1]}}}, "leaves the range of numbers"),
    ],
)
def test_unusable_grids_and_references_are_named(options, message):
    with pytest.raises(ValueError, match=message):
        filters({"m": {"method": "nlms", "tune": ["mu"]}}, **options)
