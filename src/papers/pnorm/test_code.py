"""Experiments on p-norm LMS: exact facts behind them, and that they stop at a broken bound."""

import itertools
from pathlib import Path

import numpy as np
import pytest
from running import rows

from noisylabels.filters import theory
from noisylabels.filters.base import Sliding
from noisylabels.filters.lms import NLMS
from noisylabels.seeding import Seeds
from pnorm import code as pnorm
from pnorm.code import Theorem
from reproduction.run.protocol_loop import Repetition
from reproduction.spec.artifact import load


@pytest.mark.parametrize("n", [0, 2, 12])
def test_hadamard_size_must_be_a_power_of_two(n):
    with pytest.raises(ValueError, match="power of two"):
        pnorm.HadamardSettings(repetitions=1, sizes=[n])


def test_lms_is_exactly_on_the_line_and_the_rows_carry_their_bounds():
    all_rows = rows("pnorm.code:hadamard", {"sizes": [16]})
    of_lms = [row for row in all_rows if row["method"] == "lms"]
    errors = {row["x"]: row["value"] for row in of_lms if row["metric"] == "error"}
    assert all(abs(e - (1 - k / 16)) < 1e-12 for k, e in errors.items())
    assert {0, 4, 16} <= set(errors)
    assert {"online_loss", "online_bound", "online_ratio"} <= {row["metric"] for row in all_rows}


def test_a_broken_bound_is_an_error_not_a_data_point():
    repetition = Repetition(Seeds(1, "test"), 0, {"method": "lms", "setting": "ascent"})
    with pytest.raises(RuntimeError, match="filtering bound, method lms"):
        list(pnorm.bounded(repetition, "filtering", 1.1, 1.0))
    with pytest.raises(
        RuntimeError, match=r"ratio, method lms setting ascent: loss 1\.1 exceeds its bound 1"
    ):
        pnorm._ratio(repetition, 1.1)


def test_a_step_without_the_progress_of_the_theorem_is_an_error():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((30, 4))
    u = np.ones(4)
    y = X @ u
    yhat = np.zeros(30)
    size = Theorem.measure(3.0, X).x_size
    larger = Theorem(3.0, 100 * size)
    assert pnorm.smallest_slack(X, y, u, yhat, larger) > -1e-9
    smaller = Theorem(3.0, 0.01 * size)
    with pytest.raises(RuntimeError, match="less progress"):
        pnorm.smallest_slack(X, y, u, yhat, smaller)


@pytest.mark.parametrize(("scenario", "length"), [("jumps 1", 1), ("jumps 4", 4), ("drift", 1)])
def test_path_lengths(scenario, length):
    u = pnorm.targets(scenario, 50, 8)
    assert np.isclose(pnorm.path_length(u, 1.0 + 1e-12), 6 * length)
    assert np.isclose(pnorm.path_length(u, 2.0), np.sqrt(6) * length)
    assert theory.moving(0.0, 2.0, 1.0, 1.0, 0.0) == 1.0


@pytest.mark.parametrize("kind", ["signs", "unit", "unit vectors", "gaussian", "heavy"])
def test_instances_are_rows_of_their_kind(kind):
    X = pnorm.instances(np.random.default_rng(0), kind, 200, 7)
    assert X.shape == (200, 7)
    if kind == "signs":
        assert set(np.unique(X)) == {-1.0, 1.0}
    if kind.startswith("unit"):
        squared_lengths = (X**2).sum(axis=1)
        assert np.allclose(squared_lengths, 1)
    if kind == "unit vectors":
        assert set(np.count_nonzero(X, axis=1)) == {1}
    assert X.any(axis=0).all()
    assert Theorem.measure("auto", X).x_size >= np.abs(X).max()


def test_the_extreme_cases_are_those_of_the_slide():
    file = Path(pnorm.__file__).with_name("sparsity.yaml")
    tasks = load(file, "full").settings.comparison.tasks
    for name, size_of_rows, size_of_target in (("sparse target", 7, 1), ("dense target", 1, 7)):
        task = tasks[name]
        X = pnorm.instances(np.random.default_rng(0), task.instances, 200, 7)
        count = 7 if task.ones == "all" else task.ones
        u = pnorm.first_ones(7, count)
        assert set(np.count_nonzero(X, axis=1)) == {size_of_rows}
        assert set(np.abs(X[X != 0])) == {1.0}
        assert np.count_nonzero(u) == size_of_target


def test_misalignment_in_parts_is_that_of_one_run():
    rng = np.random.default_rng(0)
    padded = np.concatenate([np.zeros(4), rng.standard_normal(60)])
    h = rng.standard_normal(5)
    task = pnorm.Echo(padded, np.convolve(padded, h, "valid"), h, 0.0)
    f = NLMS(0.5)
    whole = NLMS(0.5)
    samples, levels = task.misalignment(f, 6)
    whole.run(Sliding(padded[4:], 5), task.heard)
    assert np.allclose(f.w, whole.w)
    assert all(b <= a + 1e-9 for a, b in itertools.pairwise(levels))
    assert samples[-1] == 60
