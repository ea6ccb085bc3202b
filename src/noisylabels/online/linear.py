"""Linear learners of noisy samples: Algorithms 1 and 2, a baseline and a control."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from noisylabels.compilation import compile_kernel
from noisylabels.fixed_order.lanes import add, dot
from noisylabels.noise.additive import checked_covariance
from noisylabels.online.oracles import OnlineLearner, Oracle
from noisylabels.validation import Floats, as_array, nonnegative, number, real, whole

NO_COVARIANCE = np.empty((1, 0))


@compile_kernel()
def project(w: Floats, B_w: float) -> None:
    """Scale weights back into a ball, in place.

    Parameters
    ----------
    w : ndarray of shape (d,)
        The weights.
    B_w : float
        Squared radius of the ball.
    """
    square = dot(w, 0, w)
    if square > B_w:
        scale = math.sqrt(B_w / square)
        for k in range(len(w)):
            w[k] *= scale


@compile_kernel()
def step(
    w: Floats,
    x: Floats,
    y: float,
    second: Floats,
    start: int,
    eta: float,
    B_w: float,
) -> None:
    r"""Make one projected gradient step of the squared loss, in place.

    Parameters
    ----------
    w : ndarray of shape (d,)
        The weights.
    x : ndarray of shape (n * d,)
        Copies for the residual, one sample after the other.
    y : float
        Target of the round.
    second : ndarray of shape (n * d,)
        Copies for the direction.
    start : int
        Where the copies of the round begin.
    eta : float
        Step size.
    B_w : float
        Squared radius of the ball.

    Notes
    -----
    :math:`w \leftarrow P(w - 2 \eta (\langle w, \tilde{x} \rangle - \tilde{y}) \tilde{x}')`.
    """
    add(w, -eta * 2.0 * (dot(x, start, w) - y), second, start)
    project(w, B_w)


@compile_kernel()
def _step_known(
    w: Floats,
    x: Floats,
    y: float,
    start: int,
    Sigma: Floats,
    Sigma_start: int,
    bias: Floats,
    eta: float,
    B_w: float,
) -> None:
    """Take one projected step with a known covariance of the noise.

    w = P(w - eta 2 ((<w, x~> - y~) x~ - Sigma_t w)), in place; bias has room for Sigma_t w.
    """
    d = len(w)
    for k in range(d):
        bias[k] = dot(Sigma, Sigma_start + k * d, w)
    add(w, -eta * 2.0 * (dot(x, start, w) - y), x, start)
    add(w, eta * 2.0, bias, 0)
    project(w, B_w)


@compile_kernel()
def _run(
    clean: Floats,
    x: Floats,
    second: Floats,
    y: Floats,
    Sigma: Floats,
    size: int,
    stride: int,
    eta: float,
    B_w: float,
    w: Floats,
    predictions: Floats,
    total: Floats,
    average_from: int,
) -> None:
    """Run all rounds: predict the clean sample, then take a step; sum the weights from a round on.

    The samples are flat arrays of T d numbers. Sigma_t is Sigma[t stride : t stride + size]:
    nothing, the d numbers of its diagonal, or all d d.
    """
    d = len(w)
    bias = np.empty(d)
    for t in range(len(y)):
        start = t * d
        predictions[t] = dot(clean, start, w)
        if t >= average_from:
            for k in range(d):
                total[k] += w[k]
        if size == 0:
            step(w, x, y[t], second, start, eta, B_w)
        elif size > d:
            _step_known(w, x, y[t], start, Sigma, t * stride, bias, eta, B_w)
        else:
            slope = eta * 2.0 * (dot(x, start, w) - y[t])
            row = x[start : start + d]
            variances = Sigma[t * stride : t * stride + d]
            for k in range(d):
                w[k] = (w[k] - slope * row[k]) + eta * 2.0 * (variances[k] * w[k])
            project(w, B_w)


class Run(NamedTuple):
    """The predictions and weights of a whole run of a linear learner.

    Attributes
    ----------
    predictions : ndarray of shape (n_rounds,)
        Predictions of the clean samples, each before its update.
    w : ndarray of shape (d,)
        Weights after the last round.
    average : ndarray of shape (d,)
        Mean of the weights over the rounds from ``average_from`` on.
    """

    predictions: Floats
    w: Floats
    average: Floats


class LinearLearner(OnlineLearner):
    """A linear function that learns by projected gradient steps of the squared loss.

    Parameters
    ----------
    eta : float
        Step size, above 0.
    B_w : float, default 1.0
        Squared radius of the ball that holds the weights, above 0.

    Attributes
    ----------
    w : ndarray of shape (d,)
        The weights, 0 at first.

    Raises
    ------
    ValueError
        If a parameter is not positive and finite.

    Examples
    --------
    >>> from noisylabels import TwoCopy
    >>> from noisylabels.online.linear import LinearLearner
    >>> issubclass(TwoCopy, LinearLearner)
    True
    """

    w: Floats

    def __init__(self, eta: float, B_w: float = 1.0) -> None:
        self.eta = number("eta", eta, above=0)
        self.B_w = number("B_w", B_w, above=0)

    def _start(self, d: int) -> None:
        self.w = np.zeros(d)

    def _values(self, X: Floats) -> Floats:
        return X @ self.w

    def _step(self, oracle: Oracle, first: Floats, second: Floats) -> None:
        step(self.w, first, oracle.target(), second, 0, self.eta, self.B_w)

    def _run(
        self,
        X: ArrayLike,
        X1: ArrayLike,
        X2: ArrayLike,
        y: ArrayLike,
        average_from: int,
        Sigma: Floats = NO_COVARIANCE,
    ) -> Run:
        """Run all rounds from the present weights.

        X1 are copies for the residual, X2 for the direction. Sigma holds (T, d d) covariances, or
        (T, d) diagonals, or one row if all rounds have the same.
        """
        clean = real("X", X, (None, None))
        n_rounds, d = clean.shape
        self._ready(d)
        first = real("copy 1", X1, clean.shape)
        targets = real("y", y, (n_rounds,))
        if X2 is X1:
            second = first
        else:
            second = real("copy 2", X2, clean.shape)
        predictions = np.empty(n_rounds)
        total = np.zeros(d)
        average_from = whole("average_from", average_from, 0, n_rounds - 1)
        n_covariances, size = Sigma.shape
        stride = size if n_covariances > 1 else 0
        _run(
            clean.ravel(),
            first.ravel(),
            second.ravel(),
            targets,
            Sigma.ravel(),
            size,
            stride,
            self.eta,
            self.B_w,
            self.w,
            predictions,
            total,
            average_from,
        )
        self._check(predictions, self.w)
        return Run(predictions, self.w.copy(), total / (n_rounds - average_from))


class TwoCopy(LinearLearner):
    r"""Linear regression on samples seen through unknown noise, from two copies of each.

    Parameters
    ----------
    eta : float
        Step size, above 0, such as from `noisylabels.online.theory.best_step`.
    B_w : float, default 1.0
        Squared radius of the ball that holds the weights, above 0.

    Raises
    ------
    ValueError
        If a parameter is not positive and finite, or a round has fewer than two copies.

    Examples
    --------
    >>> import numpy as np
    >>> from noisylabels import TwoCopy
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(5000, 2))
    >>> y = X @ [0.6, -0.3]
    >>> first, second = X + rng.normal(size=(2, 5000, 2))
    >>> run = TwoCopy(eta=0.01).run(X, first, second, y, average_from=2500)
    >>> run.average.round(1).tolist()
    [0.6, -0.3]

    Notes
    -----
    The step is
    :math:`w_{t+1} = P(w_t - 2 \eta (\langle w_t, \tilde{x}_t \rangle - \tilde{y}_t) \tilde{x}'_t)`
    with independent copies :math:`\tilde{x}_t` and :math:`\tilde{x}'_t`. It is unbiased, whatever
    the noise, because its two factors are independent.

    References
    ----------
    Cesa-Bianchi, Shalev-Shwartz and Shamir 2011, Algorithm 1 and Lemma 2.
    """

    name = "two_copy"

    def _learn(self, oracle: Oracle) -> None:
        first = self._copy(oracle)
        second = self._copy(oracle)
        self._step(oracle, first, second)

    def run(
        self,
        X: ArrayLike,
        X1: ArrayLike,
        X2: ArrayLike,
        y: ArrayLike,
        *,
        average_from: int = 0,
    ) -> Run:
        """Run many rounds at once, with the same numbers as `partial_fit` on the same copies.

        Parameters
        ----------
        X : array_like of shape (n_rounds, d)
            Samples to predict. The learner never learns from them.
        X1 : array_like of shape (n_rounds, d)
            A copy of each.
        X2 : array_like of shape (n_rounds, d)
            Another copy of each.
        y : array_like of shape (n_rounds,)
            Noisy targets.
        average_from : int, default 0
            First round of the average of the weights.

        Returns
        -------
        Run
            The run.

        Raises
        ------
        ValueError
            If a shape is wrong, a value is not finite, both copies are one array, or the weights
            diverge.
        """
        if X1 is X2:
            fault = "X1 and X2 must be independent copies, got one array twice"
            raise ValueError(f"two_copy: {fault}")
        return self._run(X, X1, X2, y, average_from)


class KnownCovariance(LinearLearner):
    r"""Linear regression on samples seen through noise of known covariance, from one copy of each.

    Parameters
    ----------
    eta : float
        Step size, above 0.
    B_w : float, default 1.0
        Squared radius of the ball that holds the weights, above 0.
    covariance : array_like of shape (d, d), optional
        Covariance of the noise, if the oracle does not give it in every round.

    Raises
    ------
    ValueError
        If a parameter is out of range, or a covariance is missing, of the wrong size, not symmetric
        or not positive semi-definite.

    Examples
    --------
    >>> import numpy as np
    >>> from noisylabels import KnownCovariance
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(5000, 2))
    >>> y = X @ [0.6, -0.3]
    >>> noisy = X + rng.normal(size=(5000, 2))
    >>> run = KnownCovariance(eta=0.01).run(X, noisy, y, variances=[1, 1], average_from=2500)
    >>> run.average.round(1).tolist()
    [0.6, -0.3]

    Notes
    -----
    The step is
    :math:`w_{t+1} = P(w_t - 2 \eta (e_t \tilde{x}_t - \Sigma_t w_t))` with
    :math:`e_t = \langle w_t, \tilde{x}_t \rangle - \tilde{y}_t`.
    :math:`\Sigma_t w_t` is what the noise adds to the gradient on average. The noise of the target
    needs no correction.

    References
    ----------
    Cesa-Bianchi, Shalev-Shwartz and Shamir 2011, Algorithm 2 and Lemma 3.
    """

    name = "known_covariance"

    def __init__(self, eta: float, B_w: float = 1.0, covariance: ArrayLike | None = None) -> None:
        super().__init__(eta, B_w)
        self.covariance = None
        if covariance is not None:
            self.covariance = checked_covariance("covariance", covariance)

    def _learn(self, oracle: Oracle) -> None:
        x = self._copy(oracle)
        Sigma = self.covariance if self.covariance is not None else oracle.covariance()
        d = len(x)
        if Sigma.shape != (d, d):
            raise ValueError(f"covariance: expected shape ({d}, {d}), got {Sigma.shape}")
        bias = np.empty(d)
        _step_known(self.w, x, oracle.target(), 0, Sigma.ravel(), 0, bias, self.eta, self.B_w)

    def run(
        self,
        X: ArrayLike,
        X1: ArrayLike,
        y: ArrayLike,
        *,
        covariance: ArrayLike | None = None,
        variances: ArrayLike | None = None,
        average_from: int = 0,
    ) -> Run:
        """Run many rounds at once, with the same numbers as `partial_fit` on the same copies.

        Parameters
        ----------
        X : array_like of shape (n_rounds, d)
            Samples to predict. The learner never learns from them.
        X1 : array_like of shape (n_rounds, d)
            A copy of each.
        y : array_like of shape (n_rounds,)
            Noisy targets.
        covariance : array_like of shape (d, d) or (n_rounds, d, d), optional
            Covariance of the noise; that of the class if neither it nor ``variances`` is given.
        variances : array_like of shape (d,) or (n_rounds, d), optional
            Variances of independent entries, in place of ``covariance``.
        average_from : int, default 0
            First round of the average of the weights.

        Returns
        -------
        Run
            The run.

        Raises
        ------
        ValueError
            If a shape is wrong, a value is not finite, there is no covariance or two, or the
            weights diverge.
        """
        n_rounds, d = real("X", X, (None, None)).shape
        if variances is not None:
            if covariance is not None:
                raise ValueError("known_covariance: give covariance or variances, not both")
            shape: tuple[int, ...]
            if as_array("variances", variances).ndim < 2:
                shape = (d,)
            else:
                shape = (n_rounds, d)
            diagonal = nonnegative("variances", real("variances", variances, shape), shape)
            return self._run(X, X1, X1, y, average_from, np.atleast_2d(diagonal))
        if covariance is None:
            covariance = self.covariance
        if covariance is None:
            rule = "known_covariance needs the covariance of the noise of every round"
            raise ValueError(f"covariance: {rule}")
        Sigma = checked_covariance("covariance", covariance, d)
        if Sigma.ndim == 3 and len(Sigma) != n_rounds:
            raise ValueError(f"covariance: has {len(Sigma)} rounds, X has {n_rounds}")
        return self._run(X, X1, X1, y, average_from, Sigma.reshape(-1, d * d))


class NaiveOGD(LinearLearner):
    r"""Linear regression that takes noisy samples for clean ones: the baseline.

    Parameters
    ----------
    eta : float
        Step size, above 0.
    B_w : float, default 1.0
        Squared radius of the ball that holds the weights, above 0.
    copies : int, default 1
        Copies of each sample whose mean is taken, at least 1.

    Raises
    ------
    ValueError
        If a parameter is out of range, or a round has too few copies.

    Examples
    --------
    >>> import numpy as np
    >>> from noisylabels import NaiveOGD
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(5000, 2))
    >>> noisy = X + rng.normal(size=(5000, 2))
    >>> run = NaiveOGD(eta=0.01).run(X, noisy, X @ [0.6, -0.3], average_from=2500)
    >>> run.average.round(1).tolist()  # half of the right weights
    [0.3, -0.2]

    Notes
    -----
    The step is
    :math:`w_{t+1} = P(w_t - 2 \eta (\langle w_t, \tilde{x}_t \rangle - \tilde{y}_t) \tilde{x}_t)`
    with the mean :math:`\tilde{x}_t` of m copies. It is biased by :math:`2 \Sigma w_t / m`, and
    converges to :math:`(\Sigma_x + \Sigma / m)^{-1} \Sigma_x w^*`.
    """

    name = "naive_ogd"

    def __init__(self, eta: float, B_w: float = 1.0, copies: int = 1) -> None:
        super().__init__(eta, B_w)
        self.copies = whole("copies", copies, 1)

    def _learn(self, oracle: Oracle) -> None:
        x = np.mean([self._copy(oracle) for _ in range(self.copies)], axis=0)
        self._step(oracle, x, x)

    def run(self, X: ArrayLike, X1: ArrayLike, y: ArrayLike, *, average_from: int = 0) -> Run:
        """Run many rounds at once, with the same numbers as `partial_fit` on the same copies.

        Parameters
        ----------
        X : array_like of shape (n_rounds, d)
            Samples to predict. The learner never learns from them.
        X1 : array_like of shape (n_rounds, d) or (n_rounds, copies, d)
            One copy of each, the mean of several, or the copies.
        y : array_like of shape (n_rounds,)
            Noisy targets.
        average_from : int, default 0
            First round of the average of the weights.

        Returns
        -------
        Run
            The run.

        Raises
        ------
        ValueError
            If a shape is wrong, a value is not finite, or the weights diverge.
        """
        if as_array("X1", X1).ndim == 3:
            X1 = np.mean(real("X1", X1, (None, self.copies, None)), axis=1)
        return self._run(X, X1, X1, y, average_from)


class OracleOGD(LinearLearner):
    r"""Linear regression on the clean samples: the control, to be fed by an oracle without noise.

    Parameters
    ----------
    eta : float
        Step size, above 0.
    B_w : float, default 1.0
        Squared radius of the ball that holds the weights, above 0.

    Raises
    ------
    ValueError
        If a parameter is not positive and finite.

    Examples
    --------
    >>> import numpy as np
    >>> from noisylabels import OracleOGD
    >>> X = np.random.default_rng(0).normal(size=(2000, 2))
    >>> OracleOGD(eta=0.01).run(X, X @ [0.6, -0.3]).w.round(2).tolist()
    [0.6, -0.3]

    Notes
    -----
    The step is :math:`w_{t+1} = P(w_t - 2 \eta (\langle w_t, x_t \rangle - y_t) x_t)`.

    References
    ----------
    Zinkevich, Online convex programming and generalized infinitesimal gradient ascent, ICML 2003.
    """

    name = "oracle_ogd"

    def _learn(self, oracle: Oracle) -> None:
        x = self._copy(oracle)
        self._step(oracle, x, x)

    def run(self, X: ArrayLike, y: ArrayLike, *, average_from: int = 0) -> Run:
        """Run many rounds at once.

        Parameters
        ----------
        X : array_like of shape (n_rounds, d)
            Clean samples.
        y : array_like of shape (n_rounds,)
            Targets.
        average_from : int, default 0
            First round of the average of the weights.

        Returns
        -------
        Run
            The run.

        Raises
        ------
        ValueError
            If a shape is wrong, a value is not finite, or the weights diverge.
        """
        return self._run(X, X, X, y, average_from)
