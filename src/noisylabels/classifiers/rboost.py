"""rBoost: AdaBoost with a loss that knows how often labels are flipped."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import validate_data

from noisylabels.bases.boosting import LinearBoostingClassifier
from noisylabels.bases.features import bounded
from noisylabels.bases.posterior import TrueLabelPosterior
from noisylabels.losses.exponential import FlippedExponential
from noisylabels.noise import flip_matrix
from noisylabels.solvers.platt import platt
from noisylabels.validation import flag, shown

Array = NDArray[np.float64]

LARGEST_RATE = 0.49
STILL = 1e-3  # gamma that moves by less in the last round has converged


class RBoostClassifier(TrueLabelPosterior, LinearBoostingClassifier):
    """min_H sum_i a_i exp(-s_i H_i) + b_i exp(s_i H_i),  H = sum_t alpha_t h_t,  h_t(x) = sign(b_t + x.w_t).

    gamma : (gamma01, gamma10), rates of the flips 0 -> 1 and 1 -> 0, each in [0, 0.5).
    learn_gamma : estimate them anew after every round from calibrated scores; gamma is then only the start.
        Scores that are calibrated on the flipped labels themselves explain the flips, and the rates fall
        towards 0: give the rates where they are known, or trusted points to `fit`.
    loss_weights : "convex", (a, b) = (1 - gamma01, gamma01) for s = +1 and (1 - gamma10, gamma10) for s = -1;
        "likelihood", (1 - gamma10, gamma01) and (1 - gamma01, gamma10).
    negative_weights : a point that the ensemble is too sure of has a weight < 0;
        "flip" teaches the next member its opposite label, "clip" leaves it out of that round.
    base, rounds, weighting, lam, newton_steps, random_state : see `AdaBoostClassifier`.

    Fitted: what `AdaBoostClassifier` has, with log_losses_ at the gamma of the round;
    flip_matrix_ (2, 2), rows = true classes; gamma_path_ (T, 2), gamma01 and gamma10 after each round;
    calibration_ (A, B) of P(y = 1 | x) = 1 / (1 + exp(A H + B));
    converged_ (gamma was given, or moved by less than 1e-3 in the last round);
    flagged_, and flags_ in words: "calibration" (trusted labels of one class, or scores that fall with the
    class), "bound" (a learned rate is held at 0.49), "no_weight" (no point had a weight, the rounds ended).
    Raises ValueError : labels that are not two classes, NaN or infinity, wrong parameters,
    trusted points with other features or classes.
    Source: Bootkrajang and Kaban, UAI 2013; Kaban and Bootkrajang, LABELNOISE 2017, eq. (11)-(22).
    """

    name = "rboost"

    def __init__(
        self,
        base: str = "logistic",
        *,
        gamma: tuple[float, float] = (0.2, 0.2),
        learn_gamma: bool = True,
        loss_weights: str = "convex",
        negative_weights: str = "flip",
        rounds: int = 100,
        weighting: str = "resample",
        lam: float = 1e-3,
        newton_steps: int = 15,
        random_state: Any = None,
    ) -> None:
        self.base = base
        self.gamma = gamma
        self.learn_gamma = learn_gamma
        self.loss_weights = loss_weights
        self.negative_weights = negative_weights
        self.rounds = rounds
        self.weighting = weighting
        self.lam = lam
        self.newton_steps = newton_steps
        self.random_state = random_state

    def fit(self, X: Any, y: ArrayLike, *, trusted: tuple[Any, ArrayLike] | None = None) -> RBoostClassifier:
        """Boost for X (n, d) and the observed labels y (n,).

        trusted : (X, y) of a few points with verified labels, on which the scores are calibrated; without
            them they are calibrated on the training points and their observed labels.
        """
        flag("learn_gamma", self.learn_gamma)
        if not (trusted is None or (isinstance(trusted, tuple | list) and len(trusted) == 2)):
            raise ValueError(f"trusted: must be a pair (X, y) or None, got {shown(trusted)}")
        X, s = self._checked(X, y)
        points, labels = (X, s) if trusted is None else self._trusted(*trusted)
        loss = FlippedExponential(s, self.gamma, self.loss_weights, self.negative_weights)
        gamma = _Gamma(self.gamma, s, labels)

        def after(H: Array, member: Array, alpha: float) -> None:
            gamma.calibrate(H if trusted is None else gamma.H + alpha * self._outputs(member, points))
            loss.assume(gamma.update(H))

        self._boost(X, loss, after if self.learn_gamma else None)
        if not self.learn_gamma:
            gamma.calibrate(self._scores(points))
        self.gamma_path_ = np.array(gamma.path or [gamma.rates] * len(self.steps_))
        self.flip_matrix_ = flip_matrix.from_rates(*gamma.rates)
        self.calibration_ = gamma.calibration
        self.converged_ = not self.learn_gamma or gamma.moved < STILL
        self.flags_ = gamma.flags() + (("no_weight",) if len(self.steps_) < self.rounds else ())
        self.flagged_ = bool(self.flags_)
        return self

    def _log_odds(self, X: Any) -> Array:
        H = self.decision_function(X)
        A, B = self.calibration_
        return -(A * H + B)

    def _trusted(self, X: Any, y: ArrayLike) -> tuple[Array, Array]:
        """The trusted points and their labels as -1.0 and +1.0."""
        X, y = validate_data(self, X, y, dtype=np.float64, reset=False)
        bounded(X)
        if not np.isin(y, self.classes_).all():
            raise ValueError(f"trusted labels must be of the classes {self.classes_.tolist()}, as in y")
        return X, np.where(y == self.classes_[1], 1.0, -1.0)


class _Gamma:
    """The flip rates round by round, and the calibration that they are read off."""

    def __init__(self, start: tuple[float, float], s: Array, labels: Array) -> None:
        self.rates = (float(start[0]), float(start[1]))
        self.observed = (s > 0).astype(float)
        self.labels = labels
        self.H = np.zeros(len(labels))
        self.calibration = (-1.0, 0.0)
        self.path: list[tuple[float, float]] = []
        self.moved = 0.0

    def calibrate(self, H: Array) -> None:
        """Platt's fit to the scores H of the trusted points, or of the training points."""
        self.H = H
        self.calibration = platt(H, self.labels)

    def update(self, H: Array) -> tuple[float, float]:
        """gamma from the posteriors of the training points with scores H (n,), each rate at most 0.49."""
        A, B = self.calibration
        before = flip_matrix.from_rates(*self.rates)
        q = flip_matrix.posterior(-(A * H + B), self.observed, before)
        after = flip_matrix.updated(q, self.observed, before)
        self.moved = float(np.abs(after - before).max())
        self.rates = (min(float(after[0, 1]), LARGEST_RATE), min(float(after[1, 0]), LARGEST_RATE))
        self.path.append(self.rates)
        return self.rates

    def flags(self) -> tuple[str, ...]:
        """What went wrong, in words."""
        found = []
        if abs(self.labels.sum()) == len(self.labels) or self.calibration[0] > 0:
            found.append("calibration")
        if self.moved and max(self.rates) >= LARGEST_RATE:
            found.append("bound")
        return tuple(found)
