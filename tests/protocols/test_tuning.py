"""Tuning finds the best grid point on the tuning sequence, in both modes."""

import numpy as np
import pytest

from noisylabels.seeding import Seeds
from reproduction.protocols.ors import Linear
from reproduction.protocols.tuning import FilterMethod, FilterSettings, best, grid_values, losses, tune_all

DATA = Linear(T=2000, d=5, M=5.0, process_noise=0.01).draw(Seeds(1, "tuning-test"), "tuning")
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


def test_best_is_the_smallest_error_of_all_grid_points():
    found = best(METHODS["both"], ["mu", "eps"], GRIDS, {}, DATA)
    errors = {
        (mu, eps): losses([(METHODS["both"], {"mu": mu, "eps": eps})], DATA, 1)[0, 0]
        for mu in GRIDS["mu"]
        for eps in GRIDS["eps"]
    }
    winner = min(errors, key=lambda point: errors[point])
    assert found["parameters"] == dict(zip(("mu", "eps"), winner, strict=True))
    assert found["mse"] == pytest.approx(errors[winner])
    assert ("eps" in found["at_end_of_grid"]) == (winner[1] in (0.001, 1.0))


def test_the_search_finds_what_the_full_grid_finds():
    """A quarter of the points, the same minimum, for a valley that is not parallel to the axes."""
    method = {"method": "ors", "parameters": {"variant": "beta"}, "tune": ["r", "beta"]}
    settings = filters({"beta": method}, grids=POWERS)
    beta, grids = settings.methods["beta"], settings.grids
    points = [{"r": r, "beta": b} for r in grid_values(grids["r"]) for b in grid_values(grids["beta"])]
    errors = losses([(beta, point) for point in points], DATA, 1)[:, 0]
    found = best(beta, ["r", "beta"], grids, {}, DATA)
    assert found["parameters"] == points[int(np.argmin(errors))]


def test_shared_mode_gives_one_value_to_all_that_have_the_parameter():
    tuned, alone = (tune_all(SETTINGS, mode, DATA) for mode in ("shared_r", "per_variant"))
    assert tuned["both"]["parameters"]["mu"] == alone["reference"]["parameters"]["mu"]
    assert tuned["fixed"]["parameters"] == {}
    assert alone["both"]["mse"] <= tuned["both"]["mse"]


def test_the_mean_variance_is_given_where_the_settings_say_so():
    kinds = [FilterMethod(method="jo_nlms", variance=variance) for variance in ("local", "mean")]
    local, mean = losses([(each, {}) for each in kinds], DATA, 1)[:, 0]
    assert local != mean


def test_shared_mode_without_a_shared_parameter_is_refused():
    with pytest.raises(ValueError, match="shared: the mode shared_r needs"):
        tune_all(SETTINGS.model_copy(update={"shared": None}), "shared_r", DATA)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ({"method": "nmls"}, "'nmls' is unknown; did you mean nlms"),
        ({"method": "nlms", "parameters": {"mue": 1}}, "no parameter 'mue'; did you mean mu"),
        ({"method": "nlms", "tune": ["eps"]}, "methods.m.tune: 'eps' has no grid; add it to `grids`"),
        (
            {"method": "nlms", "tune": ["mu"], "parameters": {"mu": 1.0}},
            "fixed by `parameters` too; keep one",
        ),
        ({"method": "kernel_svm"}, "'kernel_svm' is not one of the filters: "),
        ({"method": "builtins:dict"}, "has no losses, which an experiment with adaptive filters needs"),
    ],
)
def test_mistakes_are_named_before_anything_runs(content, message):
    with pytest.raises(ValueError, match=message):
        filters({"m": content}, grids={"mu": [0.1]}).check_custom()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"shared": {"parameter": "mu", "reference": "n"}}, "shared.reference: 'n' is unknown .*known: m"),
        ({"shared": {"parameter": "eps", "reference": "m"}}, "shared.parameter: 'eps' is unknown here"),
        ({"grids": {"mu": {"log10": [0, 1, -1]}}}, "log10: step -1 does not lead from 0 to 1"),
        ({"grids": {"mu": {"log10": [0, 1, 1e-6]}}}, r"log10: 1e\+06 steps, 10000 are allowed"),
        ({"grids": {"mu": {"log10": [0, 400, 1]}}}, "leaves the range of numbers"),
    ],
)
def test_unusable_grids_and_references_are_named(options, message):
    with pytest.raises(ValueError, match=message):
        filters({"m": {"method": "nlms", "tune": ["mu"]}}, **options)
