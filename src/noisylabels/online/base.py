"""The contract of the learners of this room: predict on any instance, learn from an oracle's noisy copies."""

from __future__ import annotations

from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike

from noisylabels.noise.features import real
from noisylabels.online.oracles import Oracle
from noisylabels.validation import Floats, as_array, number, of_class


class Run(NamedTuple):
    """A whole run of a linear learner.

    predictions: (T,) <w_t, x_t>, each before its update.  w: (d,) after the last round.
    average: (d,) mean of the w_t over the rounds from `average_from` on.
    """

    predictions: Floats
    w: Floats
    average: Floats


class OnlineLearner:
    """f_1 = 0; round t: predict with f_t, then f_{t+1} from fresh noisy copies of (x_t, y_t).

    A subclass sets `name` (the name of its module), keeps each parameter of ``__init__`` under its own name,
    and implements `_start`, `_values` and `_learn`.
    """

    name: ClassVar[str]
    _d: int | None = None

    def predict(self, X: ArrayLike) -> Any:
        """f(x) of the present hypothesis; 0 before the first round. X: (d,) -> float; (n, d) -> (n,)."""
        rows = real("X", X, (None,) if as_array("X", X).ndim < 2 else (None, None))
        flat = rows.reshape(1, -1) if rows.ndim == 1 else rows
        values = np.zeros(len(flat)) if self._d is None else self._values(self._same(flat))
        return float(values[0]) if rows.ndim == 1 else values

    def partial_fit(self, oracle: Oracle) -> Self:
        """Learn from the present round of `oracle`.

        Raises ValueError: too few independent copies, another dimension than before, not finite, divergence.
        """
        self._learn(of_class("oracle", oracle, Oracle))
        return self

    def fit(self, oracle: Oracle) -> Self:
        """Forget everything, then learn from all rounds that `oracle` has left."""
        of_class("oracle", oracle, Oracle)
        self._d = None
        for view in oracle:
            self.partial_fit(view)
        return self

    def _copy(self, oracle: Oracle) -> Floats:
        """A fresh copy of the instance (d,); the first one ever starts the learner."""
        x = real("instance", oracle.instance(), (None,))
        self._ready(len(x))
        return x

    def _ready(self, d: int) -> None:
        if self._d is None:
            self._d = d
            self._start(d)
        elif d != self._d:
            raise ValueError(f"instance: has {d} entries, the learner has {self._d}; use fit to restart")

    def _same(self, rows: Floats) -> Floats:
        if rows.shape[1] != self._d:
            raise ValueError(f"X: rows have {rows.shape[1]} entries, the learner has {self._d}")
        return rows

    def _start(self, d: int) -> None:
        raise NotImplementedError

    def _values(self, X: Floats) -> Floats:
        raise NotImplementedError

    def _learn(self, oracle: Oracle) -> None:
        raise NotImplementedError


class LinearLearner(OnlineLearner):
    """f(x) = <w, x> in the ball ||w||^2 <= B_w, squared loss, projected gradient steps from w_1 = 0.

    eta: step size, > 0.  B_w: squared radius of the ball, > 0.
    Raises ValueError: eta or B_w not positive and finite.
    """

    w: Floats

    def __init__(self, eta: float, B_w: float = 1.0) -> None:
        self.eta = number("eta", eta, above=0)
        self.B_w = number("B_w", B_w, above=0)

    def _start(self, d: int) -> None:
        self.w = np.zeros(d)

    def _values(self, X: Floats) -> Floats:
        return X @ self.w
