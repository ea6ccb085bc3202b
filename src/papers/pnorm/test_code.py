"""Experiments on p-norm LMS: exact facts behind them, and that they stop at a broken bound."""

from pathlib import Path

import numpy as np
import pytest
from running import table

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
    frame = table("pnorm.code:hadamard", {"sizes": [16]})
    assert {"online_loss", "online_bound", "online_ratio"} <= set(frame["metric"])
    is_error_of_lms = (frame["method"] == "lms") & (frame["metric"] == "error")
    errors = frame[is_error_of_lms]
    rows_seen = errors["x"]
    assert {0, 4, 16} <= set(rows_seen)
    np.testing.assert_allclose(errors["value"], 1 - rows_seen / 16, atol=1e-12)


def test_a_broken_bound_is_an_error_not_a_data_point():
    repetition = Repetition(Seeds(1, "test"), 0, {"method": "lms", "setting": "ascent"})
    with pytest.raises(RuntimeError, match="filtering bound, method lms"):
        list(pnorm.bounded(repetition, "filtering", 1.1, 1.0))
    message = r"ratio, method lms setting ascent: loss 1\.1 exceeds its bound 1"
    with pytest.raises(RuntimeError, match=message):
        pnorm._ratio(repetition, 1.1)


def test_a_step_without_the_progress_of_the_theorem_is_an_error():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((30, 4))
    u = np.ones(4)
    y = X @ u
    predictions = np.zeros(30)
    size = Theorem.measure(3.0, X).x_size
    small_steps = Theorem(3.0, 100 * size)
    assert pnorm.smallest_slack(X, y, u, predictions, small_steps) > -1e-9
    large_steps = Theorem(3.0, 0.01 * size)
    with pytest.raises(RuntimeError, match="less progress"):
        pnorm.smallest_slack(X, y, u, predictions, large_steps)


@pytest.mark.parametrize(("scenario", "length"), [("jumps 1", 1), ("jumps 4", 4), ("drift", 1)])
def test_path_lengths(scenario, length):
    u = pnorm.targets(scenario, 50, 8)
    in_1_norm = pnorm.path_length(u, 1.0 + 1e-12)
    assert np.isclose(in_1_norm, 6 * length)
    in_2_norm = pnorm.path_length(u, 2.0)
    assert np.isclose(in_2_norm, np.sqrt(6) * length)


def test_a_target_that_does_not_move_has_the_plain_bound():
    assert theory.moving(0.0, 2.0, 1.0, 1.0, 0.0) == 1.0


@pytest.mark.parametrize("kind", ["signs", "unit", "unit vectors", "gaussian", "heavy"])
def test_instances_are_rows_of_their_kind(kind):
    rng = np.random.default_rng(0)
    X = pnorm.instances(rng, kind, 200, 7)
    assert X.shape == (200, 7)
    if kind == "signs":
        assert set(np.unique(X)) == {-1.0, 1.0}
    if kind.startswith("unit"):
        squared_lengths = (X**2).sum(axis=1)
        assert np.allclose(squared_lengths, 1)
    if kind == "unit vectors":
        nonzero_of_rows = np.count_nonzero(X, axis=1)
        assert set(nonzero_of_rows) == {1}
    is_used = X.any(axis=0)
    assert is_used.all()
    assert Theorem.measure("auto", X).x_size >= np.abs(X).max()


@pytest.mark.parametrize(
    ("name", "nonzero_in_row", "nonzero_in_target"),
    [("sparse target", 7, 1), ("dense target", 1, 7)],
)
def test_the_extreme_cases_are_those_of_the_slide(name, nonzero_in_row, nonzero_in_target):
    n = 7
    file = Path(pnorm.__file__).with_name("sparsity.yaml")
    task = load(file, "full").settings.comparison.tasks[name]
    rng = np.random.default_rng(0)
    X = pnorm.instances(rng, task.instances, 200, n)
    assert set(np.count_nonzero(X, axis=1)) == {nonzero_in_row}
    assert set(np.abs(X[X != 0])) == {1.0}
    count = n if task.ones == "all" else task.ones
    target = pnorm.first_ones(n, count)
    assert np.count_nonzero(target) == nonzero_in_target


def test_misalignment_in_parts_is_that_of_one_run():
    rng = np.random.default_rng(0)
    speech = rng.standard_normal(60)
    response = rng.standard_normal(5)
    padded = np.concatenate([np.zeros(4), speech])
    echo = np.convolve(padded, response, "valid")
    task = pnorm.Echo(padded, echo, response, 0.0)
    in_parts = NLMS(0.5)
    samples, levels = task.misalignment(in_parts, 6)
    assert samples[-1] == 60
    assert (np.diff(levels) <= 1e-9).all()
    at_once = NLMS(0.5)
    at_once.run(Sliding(speech, 5), task.heard)
    assert np.allclose(in_parts.w, at_once.w)
