"""Tuning finds the best grid point on the tuning sequence, in both modes."""

import numpy as np
import pytest

from noisylabels.seeding import Seeds
from reproduction.protocols.ors.sequences import regression
from reproduction.protocols.specs import spec, specs
from reproduction.protocols.tuning import best, filters, grid_values, losses, tune_all

DATA = regression(Seeds(1, "tuning-test"), "tuning", T=2000, d=5, M=5.0, process_noise=0.01)
GRIDS = {"mu": [0.01, 0.03, 0.1, 0.3, 1.0], "eps": [0.001, 1.0]}
METHODS = specs(
    {
        "reference": {"method": "nlms", "tune": ["mu"]},
        "both": {"method": "nlms", "tune": ["mu", "eps"]},
        "fixed": {"method": "nlms", "parameters": {"mu": 0.2}},
    }
)


def test_grid_in_powers_of_ten_has_both_ends():
    assert grid_values({"log10": [-1, 4, 0.25]}) == pytest.approx(10.0 ** np.linspace(-1, 4, 21))
    assert grid_values([3, 1]) == [3.0, 1.0]


def test_losses_equal_one_run_after_the_other():
    pairs = [(METHODS["reference"], {"mu": 0.1}), (METHODS["fixed"], {})]
    together = losses(pairs, DATA, 4)
    for row, (method, chosen) in zip(together, pairs, strict=True):
        errors = (method.build(**chosen).run(DATA.x, DATA.labels[:, 0]) - DATA.y) ** 2
        assert row == pytest.approx(errors.reshape(4, -1).mean(1))


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
    beta = spec("beta", {"method": "ors", "parameters": {"variant": "beta"}, "tune": ["r", "beta"]})
    grids = {"r": {"log10": [-1, 4, 0.25]}, "beta": {"log10": [-2, 4, 0.25]}}
    points = [{"r": r, "beta": b} for r in grid_values(grids["r"]) for b in grid_values(grids["beta"])]
    errors = losses([(beta, point) for point in points], DATA, 1)[:, 0]
    found = best(beta, ["r", "beta"], grids, {}, DATA)
    assert found["parameters"] == points[int(np.argmin(errors))]


def test_shared_mode_gives_one_value_to_all_that_have_the_parameter():
    shared = {"parameter": "mu", "reference": "reference"}
    tuned = tune_all(METHODS, GRIDS, "shared_r", shared, DATA)
    alone = tune_all(METHODS, GRIDS, "per_variant", None, DATA)
    assert tuned["both"]["parameters"]["mu"] == alone["reference"]["parameters"]["mu"]
    assert tuned["fixed"]["parameters"] == {}
    assert alone["both"]["mse"] <= tuned["both"]["mse"]


def test_mean_variance_is_told_where_the_specification_says_so():
    local, mean = ({"method": "jo_nlms", "variance": told} for told in ("local", "mean"))
    told = losses([(spec("local", local), {}), (spec("mean", mean), {})], DATA, 1)[:, 0]
    assert told[0] != told[1]


@pytest.mark.parametrize("shared", [None, {"parameter": "mu", "reference": "nobody"}])
def test_shared_mode_without_its_reference_is_refused(shared):
    with pytest.raises(
        ValueError, match=r"needs settings\.shared with a reference among reference, both, fixed"
    ):
        tune_all(METHODS, GRIDS, "shared_r", shared, DATA)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ({"method": "nmls"}, "method m: 'nmls' is unknown; did you mean nlms"),
        ({"method": "nlms", "parameters": {"mue": 1}}, "method m: no parameter 'mue'; did you mean mu"),
        ({"method": "nlms", "tune": ["eps"]}, "method m: tunes eps, which has no grid; add it to `grids`"),
        (
            {"method": "kernel_svm"},
            r"method m: KernelSVMClassifier has no losses, which an experiment with adaptive filters needs; "
            r"implement losses\(filters, data, windows\) -> Array, or inherit it from `noisylabels",
        ),
    ],
)
def test_mistakes_are_named_before_anything_runs(content, message):
    with pytest.raises(ValueError, match=message):
        filters({"methods": {"m": content}, "grids": {"mu": [0.1]}})
