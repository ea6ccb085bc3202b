"""The exponential loss with flipped labels, a exp(-s H) + b exp(s H): its weights, its exact line search.

With gamma = (gamma01, gamma10), the rates of the flips 0 -> 1 and 1 -> 0, a point labelled +1 costs
(1 - gamma01) exp(-H) + gamma01 exp(H), a point labelled -1 costs (1 - gamma10) exp(H) + gamma10 exp(-H).
gamma = 0 is AdaBoost's loss.

Source: Kaban and Bootkrajang, LABELNOISE 2017, eq. (11)-(15). The step of (15) has a closed form.
"""

from __future__ import annotations

import math
from typing import Literal, get_args

import numpy as np
from numba import njit
from numpy.typing import ArrayLike

from noisylabels.elementary import LARGEST, exp_of_negative
from noisylabels.validation import Floats, choice, numbers, shown

GUARD = 1e-12
"""Share of the total weight that is added to both sides of the exact step: |alpha| <= 13.9."""
LossWeights = Literal["convex", "likelihood"]
NegativeWeights = Literal["flip", "clip"]


def mixture(s: ArrayLike, gamma: tuple[float, float], loss_weights: str = "convex") -> tuple[Floats, Floats]:
    """(a, b), each (n,), of labels s (n,) of -1 and +1.

    "convex" : (1 - gamma01, gamma01) for s = +1, (1 - gamma10, gamma10) for s = -1, as the paper draws it.
    "likelihood" : P(s | true class s) and P(s | the other class), (1 - gamma10, gamma01) and
        (1 - gamma01, gamma10); the same for symmetric noise.
    Raises ValueError : a rate outside [0, 0.5), an unknown name.
    """
    choice("loss_weights", loss_weights, get_args(LossWeights))
    rates = numbers("gamma", gamma, least=0.0, below=0.5)
    if len(rates) != 2:
        raise ValueError(f"gamma: must be the two flip rates (gamma01, gamma10), got {shown(gamma)}")
    up, down = rates
    positive = np.asarray(s) > 0
    b = np.where(positive, up, down)
    return (1.0 - b if loss_weights == "convex" else np.where(positive, 1.0 - down, 1.0 - up)), b


def value(H: ArrayLike, s: ArrayLike, gamma: tuple[float, float], loss_weights: str = "convex") -> Floats:
    """a exp(-s H) + b exp(s H), elementwise: the loss as the paper draws it."""
    a, b = mixture(s, gamma, loss_weights)
    margin = np.asarray(s) * np.asarray(H, dtype=float)
    return np.asarray(a * np.exp(-margin) + b * np.exp(margin))


def exact_step(agree: float, disagree: float) -> float:
    """alpha = 1/2 log(agree / disagree) minimises J(H + alpha h) = agree exp(-alpha) + disagree exp(alpha).

    agree = sum_{h = s} w^a + sum_{h != s} w^b,  disagree = sum_{h = s} w^b + sum_{h != s} w^a; see `GUARD`.
    """
    guard = GUARD * (agree + disagree)
    return 0.5 * math.log((agree + guard) / (disagree + guard))


class FlippedExponential:
    """J(H) = sum_i a_i exp(-s_i H_i) + b_i exp(s_i H_i) of n points, for the additive loop.

    s (n,) of -1.0 and +1.0; gamma and loss_weights: see `mixture`. The weight of a point is w^a_i - w^b_i,
    w^a_i = a_i exp(-s_i H_i) and w^b_i = b_i exp(s_i H_i). It is below 0 where the ensemble is surer than the
    noise allows: "flip" then asks for the opposite label with weight |w|, "clip" sets it to 0.
    """

    def __init__(
        self, s: Floats, gamma: tuple[float, float] = (0.0, 0.0), loss_weights: str = "convex",
        negative_weights: str = "flip",
    ) -> None:  # fmt: skip
        choice("negative_weights", negative_weights, get_args(NegativeWeights))
        self.s, self.loss_weights, self.clip = s, loss_weights, negative_weights == "clip"
        self.assume(gamma)

    def assume(self, gamma: tuple[float, float]) -> None:
        """Go on with other flip rates."""
        self.a, self.b = mixture(self.s, gamma, self.loss_weights)

    def weigh(self, H: Floats) -> tuple[Floats, Floats]:
        """|weights| (n,), up to a common factor, and the labels (n,) to learn at the scores H (n,)."""
        _, self._wa, self._wb = _terms(H, self.s, self.a, self.b)
        w = self._wa - self._wb
        return np.maximum(w, 0.0) if self.clip else np.abs(w), np.where(w >= 0.0, self.s, -self.s)

    def step(self, h: Floats) -> float:
        """The exact step along decisions h (n,) of -1.0 and +1.0, from the scores that were weighed last."""
        return exact_step(*_agreement(self.s, h, self._wa, self._wb))

    def log_value(self, H: Floats) -> float:
        """log(J(H) / n)."""
        shift, wa, wb = _terms(H, self.s, self.a, self.b)
        return float(shift + math.log((wa.sum() + wb.sum()) / len(H)))


@njit(cache=True, error_model="numpy")
def _terms(H: Floats, s: Floats, a: Floats, b: Floats) -> tuple[float, Floats, Floats]:
    """M, w^a exp(-M) and w^b exp(-M), M the largest exponent among terms that are not 0."""
    wa, wb = np.empty_like(H), np.empty_like(H)
    largest = -np.inf
    for i in range(len(H)):
        margin = s[i] * H[i]
        if a[i] > 0.0:
            largest = max(largest, -margin)
        if b[i] > 0.0:
            largest = max(largest, margin)
    for i in range(len(H)):
        margin = s[i] * H[i]
        wa[i] = a[i] * exp_of_negative(min(0.0, max(-margin - largest, -LARGEST)))
        wb[i] = b[i] * exp_of_negative(min(0.0, max(margin - largest, -LARGEST)))
    return largest, wa, wb


@njit(cache=True, error_model="numpy")
def _agreement(s: Floats, h: Floats, wa: Floats, wb: Floats) -> tuple[float, float]:
    """(agree, disagree) of `exact_step`."""
    agree = disagree = 0.0
    for i in range(len(s)):
        same = s[i] == h[i]
        agree += wa[i] if same else wb[i]
        disagree += wb[i] if same else wa[i]
    return agree, disagree
