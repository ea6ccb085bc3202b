"""Two worlds that one noisy copy cannot tell apart (Theorems 8 and 9): who can be good in both?

World A: x_t = 3 or -1 by a fair coin, no noise. World B: x_t = 1, noise 2 or -2. y_t = 1 in both.
A single copy is 3 or -1 by a fair coin either way, so a learner of one copy plays the same weights in both
worlds, and no weight is good in both: 0.3056 per round is lost in one of them.
Two copies agree in A and differ in B.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from noisylabels.losses.analytic import AnalyticLoss, analytic_loss
from noisylabels.online.linear import KnownCovariance, NaiveOGD, TwoCopy
from noisylabels.seeding import Seeds
from noisylabels.theory import regret_bounds
from noisylabels.theory.regret_bounds import copies, worlds
from reproduction.protocols.noisy_online.regret import Row, rows_of
from reproduction.protocols.noisy_online.sequences import Floats

RADIUS2 = 2.25
"""B_w of the weights [-1.5, 1.5]."""
BEST = {"A": 0.2, "B": 1.0}
"""The best weight of each world: argmin of the losses below."""
SINGLE = ("naive", "told_0", "told_4", "constant", "running_mean")
"""Learners of one copy without side information."""


def loss_A(w: Floats | float) -> Any:
    """F_A(w) = ((3w - 1)^2 + (w + 1)^2) / 2, the expected loss of a round in world A."""
    w = np.asarray(w)
    return ((3 * w - 1) ** 2 + (w + 1) ** 2) / 2


def loss_B(w: Floats | float) -> Any:
    """F_B(w) = (w - 1)^2."""
    return (np.asarray(w) - 1) ** 2


LOSSES: dict[str, Callable[[Any], Any]] = {"A": loss_A, "B": loss_B}


def run(
    settings: dict[str, Any], data: dict[str, Any], seeds: Seeds, repetitions: range, tuned: dict[str, Any]
) -> list[Row]:
    """Rows; noise = world, x = T. The regret is the expected one given the weights, sum_t F(w_t) - T min F.

    "worse": the larger regret of the two worlds. largest_difference: between the weights of the two worlds.
    The constants of other losses and the test of the two streams are rows of repetition 0.
    """
    rows: list[Row] = []
    for repetition in repetitions:
        regrets: dict[str, dict[str, dict[int, float]]] = {}
        for T in settings["horizons"]:
            for method, weights in _weights(T, seeds, repetition).items():
                found = regrets.setdefault(method, {"A": {}, "B": {}, "worse": {}})
                for world, w in weights.items():
                    loss = LOSSES[world]
                    found[world][T] = float((loss(w) - loss(BEST[world])).sum())
                found["worse"][T] = max(found["A"][T], found["B"][T])
                apart = float(np.abs(weights["A"] - weights["B"]).max())
                columns = {"method": method, "repetition": repetition, "x": T}
                rows.append(columns | {"metric": "largest_difference", "value": apart})
        for method, found in regrets.items():
            for world, values in found.items():
                columns = {"method": method, "noise": world, "repetition": repetition}
                rows += rows_of(columns, values, lasts=settings["exponent_horizons"])
        if repetition == 0:
            rows += _streams(seeds, settings["horizons"][-1]) + constants(settings["grid"])
    return rows


def _weights(T: int, seeds: Seeds, repetition: int) -> dict[str, dict[str, Floats]]:
    """Method -> world -> (T,) weights; all learners see the same first copy, in both worlds."""
    first = copies(seeds.generator(repetition, f"copy 1 {T}"), T)
    second = copies(seeds.generator(repetition, f"copy 2 {T}"), T)
    y, one = np.ones(T), np.ones((T, 1))  # predictions on x = 1 are the weights
    eta = regret_bounds.best_step(RADIUS2, regret_bounds.two_copy_moment(RADIUS2, 9.0, 1.0), T)
    found: dict[str, dict[str, Floats]] = {}
    for world, truth in (("A", 0.0), ("B", 4.0)):
        x = first if world == "A" else 1 + (first - 1)  # the clean instance and its noise
        other = x.copy() if world == "A" else second
        played = {
            "naive": NaiveOGD(eta, RADIUS2).run(one, x, y).predictions,
            "constant": np.full(T, 1 / np.sqrt(5)),
            "running_mean": _running_mean(x[:, 0]),
            "two_copy": TwoCopy(eta, RADIUS2).run(one, x, other, y).predictions,
        }
        for method, variance in (("told_0", 0.0), ("told_4", 4.0), ("told_truth", truth)):
            learner = KnownCovariance(eta, RADIUS2)
            played[method] = learner.run(one, x, y, variances=np.array([variance])).predictions
        for method, w in played.items():
            found.setdefault(method, {})[world] = w
    return found


def _running_mean(x: Floats) -> Floats:
    """w_t = 1 / mean(x~_1..x~_{t-1}), cut to [-1.5, 1.5]; the best weight if the mean were the instance."""
    mean = np.cumsum(x)[:-1] / np.arange(1, len(x))
    with np.errstate(divide="ignore"):
        return np.concatenate([[0.0], np.clip(1 / mean, -1.5, 1.5)])


def _streams(seeds: Seeds, T: int) -> list[Row]:
    """Kolmogorov-Smirnov p-value of T copies of world A against T independent ones of world B."""
    from scipy.stats import ks_2samp

    a, b = (copies(seeds.generator("streams", world), T)[:, 0] for world in "AB")
    p = float(ks_2samp(a, b, method="asymp").pvalue)
    return [{"method": "streams", "repetition": 0, "metric": "ks_p_value", "x": T, "value": p}]


def constants(points: int) -> list[Row]:
    """What no learner of one copy avoids, for several losses with |w| <= 3, on a grid; setting = loss."""
    analytic = {
        "squared": analytic_loss("squared"),
        "exponential": analytic_loss("exponential"),
        "smoothed hinge s = 1": analytic_loss("smoothed_hinge", 1.0),
        "smoothed absolute s = 1": analytic_loss("smoothed_absolute", 1.0),
    }
    losses: dict[str, Callable[[Any], Any]] = {name: _at_one(each) for name, each in analytic.items()}
    losses |= {"logistic": lambda a: np.logaddexp(0, -a), "hinge": lambda a: np.maximum(0, 1 - a)}
    rows: list[Row] = []
    for name, loss in losses.items():
        found = worlds(loss, points=points)
        columns = {"method": "constants", "setting": name, "repetition": 0}
        rows += [columns | {"metric": metric, "value": value} for metric, value in found._asdict().items()]
    return rows


def _at_one(loss: AnalyticLoss) -> Callable[[Any], Any]:
    return lambda a: loss.loss(a, np.ones_like(a))
