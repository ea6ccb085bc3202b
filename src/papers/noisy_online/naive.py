r"""Baselines of Algorithms 3 and 4 that take noisy samples for clean ones.

On clean samples they are the controls without noise.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from noisylabels.compilation import compile_kernel
from noisylabels.fixed_order.lanes import add, dot
from noisylabels.kernels.surrogate import SurrogatePair
from noisylabels.kernels.tensor import TensorKernel
from noisylabels.losses.analytic import DIFFERENCE, MARGIN_LESS_ONE, AnalyticLoss
from noisylabels.losses.compiling import compiled
from noisylabels.online.kernel import NO_PREDICTIONS, KernelRun, SurrogateKernel
from noisylabels.online.linear import LinearLearner, project
from noisylabels.online.oracles import Oracle
from noisylabels.validation import Floats, of_class, real, whole

BLOCK = 16_384
"""Number of rows whose features are in memory at once."""


class NaiveFeatureOGD(LinearLearner):
    r"""Kernel learning that takes noisy samples for clean ones: the baseline.

    On clean samples it is the control without noise.

    Parameters
    ----------
    kernel : TensorKernel
        The kernel, from `noisylabels.kernels.tensor`.
    loss : AnalyticLoss
        The loss, from `noisylabels.losses.analytic`.
    eta : float
        Step size, above 0.
    B_w : float, default 1.0
        Squared radius of the ball that holds the hypothesis, above 0.
    highest : int, default 30
        Degree at which the features of an infinite kernel are cut off.

    Raises
    ------
    ValueError
        If a parameter is out of range, or a label does not fit the loss.

    Examples
    --------
    >>> import numpy as np
    >>> from noisy_online.naive import NaiveFeatureOGD
    >>> from noisylabels.kernels.tensor import polynomial
    >>> from noisylabels.losses.analytic import squared
    >>> X = np.random.default_rng(0).uniform(-1, 1, size=(3000, 1))
    >>> learner = NaiveFeatureOGD(polynomial(2), squared(), eta=0.05, B_w=9.0)
    >>> predictions = learner.run(X, X, X[:, 0] ** 2)
    >>> round(learner.predict([0.5]), 2)
    0.25

    Notes
    -----
    The step is
    :math:`w_{t+1} = P(w_t - \eta\, l'(a_t, y_t) \Psi(\tilde{x}_t))` with
    :math:`a_t = \langle w_t, \Psi(\tilde{x}_t) \rangle`.
    """

    name = "naive_feature_ogd"

    def __init__(
        self,
        kernel: TensorKernel,
        loss: AnalyticLoss,
        eta: float,
        B_w: float = 1.0,
        highest: int = 30,
    ) -> None:
        super().__init__(eta, B_w)
        self.kernel = of_class("kernel", kernel, TensorKernel)
        self.loss = of_class("loss", loss, AnalyticLoss)
        highest = whole("highest", highest, 0)
        self.highest = highest if kernel.degree is None else kernel.degree

    def run(self, X: ArrayLike, X1: ArrayLike, y: ArrayLike) -> Floats:
        """Run many rounds at once, from the present hypothesis.

        Parameters
        ----------
        X : array_like of shape (n_rounds, d)
            Samples to predict. The learner never learns from them.
        X1 : array_like of shape (n_rounds, d)
            A copy of each.
        y : array_like of shape (n_rounds,)
            Targets.

        Returns
        -------
        ndarray of shape (n_rounds,)
            Predictions of the clean samples, each before its update.

        Raises
        ------
        ValueError
            If a shape is wrong, a value is not finite, a label does not fit the loss, or the
            hypothesis diverges.
        """
        clean = real("X", X, (None, None))
        noisy = real("X1", X1, clean.shape)
        targets = real("y", y, (len(clean),))
        self.loss.check_labels(targets)
        self._ready(clean.shape[1])
        predictions = np.empty(len(targets))
        for begin in range(0, len(targets), BLOCK):
            rows = slice(begin, begin + BLOCK)
            self._steps(clean[rows], noisy[rows], targets[rows], predictions[rows])
        return predictions

    def _start(self, d: int) -> None:
        self.w = np.zeros(sum(d**n for n in range(self.highest + 1)))

    def _values(self, X: Floats) -> Floats:
        return self.kernel.features(X, self.highest) @ self.w

    def _learn(self, oracle: Oracle) -> None:
        x = self._copy(oracle)[None, :]
        y = np.array([oracle.target()])
        self.loss.check_labels(y)
        self._steps(x, x, y, np.empty(1))

    def _steps(self, clean: Floats, noisy: Floats, y: Floats, predictions: Floats) -> None:
        Psi = self.kernel.features(clean, self.highest).ravel()
        noisy_Psi = Psi
        if noisy is not clean:
            noisy_Psi = self.kernel.features(noisy, self.highest).ravel()
        _steps(
            Psi,
            noisy_Psi,
            y,
            self.loss.kind,
            compiled(self.loss.formula),
            np.array([self.loss.s]),
            self.eta,
            self.B_w,
            self.w,
            predictions,
        )
        self._check(predictions, self.w)


class NaiveKernelOGD(SurrogateKernel):
    r"""Kernel regression that takes noisy samples for clean ones: the baseline.

    It learns a function that fits the blurred samples. On clean samples it is the control without
    noise.

    Parameters
    ----------
    pair : SurrogatePair
        Kernel and surrogate, of which only the kernel is used.
    eta : float
        Step size, above 0.
    ball : float, default 1.0
        Squared radius of the ball that holds the hypothesis, above 0.

    Raises
    ------
    ValueError
        If a parameter is not positive and finite, or samples have another number of entries than
        the kernel.

    Examples
    --------
    >>> import numpy as np
    >>> from noisy_online.naive import NaiveKernelOGD
    >>> from noisylabels.kernels.surrogate import gaussian_pair
    >>> X = np.random.default_rng(0).uniform(-1, 1, size=(1000, 1))
    >>> learner = NaiveKernelOGD(gaussian_pair(0.5, [0.09]), eta=0.05, ball=20.0)
    >>> run = learner.run(X, X, np.sin(3 * X[:, 0]))
    >>> learner.predict([0.5]) > 0.5
    True

    Notes
    -----
    The step is
    :math:`f_{t+1} = P(f_t - 2 \eta (f_t(\tilde{x}_t) - \tilde{y}_t) k(\tilde{x}_t, \cdot))`.
    """

    name = "naive_kernel_ogd"

    def __init__(self, pair: SurrogatePair, eta: float, ball: float = 1.0) -> None:
        super().__init__(of_class("pair", pair, SurrogatePair).without_noise(), eta, ball)

    def run(self, X: ArrayLike, X1: ArrayLike, y: ArrayLike) -> KernelRun:  # type: ignore[override]
        """Run many rounds at once, with the same numbers as `partial_fit` on the same copies.

        Parameters
        ----------
        X : array_like of shape (n_rounds, d)
            Samples to predict. The learner never learns from them.
        X1 : array_like of shape (n_rounds, d)
            A copy of each.
        y : array_like of shape (n_rounds,)
            Noisy targets.

        Returns
        -------
        KernelRun
            The run.
        """
        return super().run(X, X1, X1, y)

    def _learn(self, oracle: Oracle) -> None:
        x = self._copy(oracle)[None]
        self._rounds(x, x, x, np.array([oracle.target()]), NO_PREDICTIONS)


@compile_kernel()
def _steps(
    clean: Floats,
    noisy: Floats,
    y: Floats,
    kind: int,
    slope: Any,
    s: Floats,
    eta: float,
    B_w: float,
    w: Floats,
    predictions: Floats,
) -> None:
    """Run all rounds: predict the clean sample, then take one step."""
    d = len(w)
    argument = np.empty(1)
    derivative = np.empty(1)
    for t in range(len(y)):
        predictions[t] = dot(clean, t * d, w)
        a = dot(noisy, t * d, w)
        if kind == DIFFERENCE:
            argument[0] = a - y[t]
        else:
            argument[0] = y[t] * a - (kind == MARGIN_LESS_ONE)
        slope(argument.ctypes, s.ctypes, 1, derivative.ctypes, 1)
        gradient = derivative[0] if kind == DIFFERENCE else y[t] * derivative[0]
        add(w, -eta * gradient, noisy, t * d)
        project(w, B_w)
