"""Pegasos: the projected subgradient solver of the linear SVM."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numba import njit
from numpy.typing import ArrayLike

from noisylabels.bases.linear import LinearBinaryClassifier
from noisylabels.bases.random_state import generator
from noisylabels.solvers.sgd import AHEAD, SMALLEST_SCALE, Rows, add, as_rows, dot, energy, fetch
from noisylabels.validation import flag, number

_PIECE = 1 << 20  # row numbers drawn at a time


class PegasosClassifier(LinearBinaryClassifier):
    """w <- (1 - eta_t lambda) w + eta_t y_i x_i 1[z_i < 1],  eta_t = 1/(lambda t), i uniform, k = 1.

    lam : lambda > 0.   project : then w <- min(1, 1/(sqrt(lambda) ||w||)) w.
    max_passes : the run takes T = min(max(ceil(10/lambda), n), max_passes n) steps; None: no cap. Han et al.
        say 10/lambda "epochs", at lambda = 1e-6 ten million passes over the data: read as steps.
    fit_intercept : add a constant feature 1, regularised like the others.   random_state : seed of the draws.

    Larger than memory: `fit` reads a `numpy.memmap` in place, row by drawn row; `partial_fit` takes chunks
    (`noisylabels.chunks`), and draws as many rows from each as it has. An epoch is then the chunks
    in the order of the file, and a random sample with replacement inside each: shuffle the file once.

    Fitted: coef_ (1, d), intercept_ (1,), classes_ (2,), t_ (steps done).
    Raises ValueError : labels that are not two classes, NaN or infinity, lam <= 0, max_passes <= 0.
    Source: Shalev-Shwartz, Singer, Srebro, Cotter, Mathematical Programming 127, 2011.
    """

    name = "pegasos"

    def __init__(
        self,
        lam: float = 1e-4,
        *,
        project: bool = True,
        max_passes: float | None = 100,
        fit_intercept: bool = True,
        random_state: Any = None,
    ) -> None:
        self.lam = lam
        self.project = project
        self.max_passes = max_passes
        self.fit_intercept = fit_intercept
        self.random_state = random_state

    def fit(self, X: Any, y: ArrayLike) -> PegasosClassifier:
        """Run on X (n, d), dense or CSR, and y (n,), from w = 0."""
        self._check_parameters()
        X, labels = self._checked(X, y, None, first=True)
        n = len(labels)
        wanted = max(math.ceil(10.0 / float(self.lam)), n)
        steps = wanted if self.max_passes is None else min(wanted, math.ceil(float(self.max_passes) * n))
        self._start(X.shape[1])
        return self._walk(X, labels, steps)

    def partial_fit(self, X: Any, y: ArrayLike, classes: ArrayLike | None = None) -> PegasosClassifier:
        """n steps on rows drawn from X (n, d), after the steps done; ``classes`` is needed if y lacks one."""
        first = not hasattr(self, "t_")
        self._check_parameters()
        X, labels = self._checked(X, y, classes, first=first)
        if first:
            self._start(X.shape[1])
        return self._walk(X, labels, len(labels))

    def _check_parameters(self) -> None:
        number("lam", self.lam, above=0)
        flag("project", self.project)
        flag("fit_intercept", self.fit_intercept)
        if self.max_passes is not None:
            number("max_passes, if not None", self.max_passes, above=0)

    def _start(self, d: int) -> None:
        """State of a new run: w, b, ||(w, b)||^2, steps done; and its draws."""
        self._state, self._rng, self.t_ = np.zeros(d + 3), generator(self.random_state), 0

    def _walk(self, X: Any, labels: np.ndarray, steps: int) -> PegasosClassifier:
        """That many steps on rows of X."""
        rows, state = as_rows(X), self._state
        end = self.t_ + steps
        while self.t_ < end:
            order = self._rng.integers(len(labels), size=min(_PIECE, end - self.t_), dtype=np.uint32)
            _pegasos(rows, labels, order, state, float(self.lam), self.project, float(self.fit_intercept))
            self.t_ += len(order)
        self.coef_ = state[np.newaxis, :-3].copy()
        self.intercept_ = float(self.fit_intercept) * state[-3:-2]
        return self


@njit(cache=True, error_model="numpy")
def _pegasos(
    rows: Rows,
    y: np.ndarray,
    order: np.ndarray,
    state: np.ndarray,
    lam: float,
    project: bool,
    constant: float,
) -> None:
    """Steps over rows[order]; w is kept as scale * w, and ||(w, b)||^2 from step to step."""
    d = len(state) - 3
    w, b, square, done = state[:d], state[d], state[d + 1], state[d + 2]
    scale = 1.0
    last = len(order) - 1
    for k in range(len(order)):
        fetch(rows, y, order[min(k + AHEAD, last)])
        i = order[k]
        t = done + k + 1.0
        f = scale * dot(rows, i, w) + constant * b
        step = y[i] / (lam * t) if y[i] * f < 1.0 else 0.0  # of the hinge loss
        shrink = 1.0 - 1.0 / t  # 0 at t = 1, where w = 0 anyway
        if t > 1.0:
            scale *= shrink
        b *= shrink
        if step != 0.0:
            size = constant * constant + energy(rows, i)
            square = shrink * shrink * square + 2.0 * shrink * step * f + step * step * size
            add(rows, i, w, step / scale)
            b += step * constant
        else:
            square *= shrink * shrink
        if project and square * lam > 1.0:
            back = 1.0 / math.sqrt(square * lam)
            scale *= back
            b *= back
            square = 1.0 / lam
        if scale < SMALLEST_SCALE:
            for j in range(d):
                w[j] *= scale
            scale = 1.0
    for j in range(d):
        w[j] *= scale
    state[d], state[d + 1], state[d + 2] = b, square, done + len(order)
