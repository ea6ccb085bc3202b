"""Learning of the weights of many kernels for several classes, or with weights of the examples.

The path is that of `noisylabels.solvers.multi_kernel`, with a softmax in place of the logistic
function. Every sum has a fixed order, as there.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from noisylabels.compilation import compile_kernel
from noisylabels.fixed_order.exp_and_log import LARGEST, exp_of_negative, log_of_positive
from noisylabels.fixed_order.lanes import dot
from noisylabels.fixed_order.linear_algebra import times
from noisylabels.noise import flip_matrix as flips
from noisylabels.solvers.flipped_logistic import marginal_zeta
from noisylabels.solvers.flipped_softmax import contrasts
from noisylabels.solvers.multi_kernel import STATIONARY, TRIALS, Path, _bracketed
from noisylabels.validation import Floats

STEPS = {"cg10": 10, "newton": 1000}  # steps of `SoftmaxPath` by the name of the solver


@compile_kernel(error_model="numpy")
def softmax_fit(
    f: Floats,
    y: NDArray[np.intp],
    a: Floats,
    C: Floats,
    omega: Floats,
    slope: Floats,
) -> float:
    """Compute the log-likelihood of several classes and its gradient.

    Parameters
    ----------
    f : ndarray of shape (K - 1, n)
        Decision values of the contrasts.
    y : ndarray of shape (n,)
        Observed labels, numbers of classes from 0.
    a : ndarray of shape (n,)
        Weights of the rows.
    C : ndarray of shape (K, K - 1)
        Contrasts of the classes.
    omega : ndarray of shape (K, K)
        Flip matrix.
    slope : ndarray of shape (K - 1, n)
        Overwritten with the gradient.

    Returns
    -------
    float
        The log-likelihood.
    """
    K = len(omega)
    value = 0.0
    s = np.empty(K)
    for n in range(len(y)):
        weight = a[n]
        label = y[n]
        top = -np.inf
        for k in range(K):
            s[k] = 0.0
            for j in range(K - 1):
                s[k] += C[k, j] * f[j, n]
            top = max(top, s[k])
        total = 0.0
        likely = 0.0
        for k in range(K):
            s[k] = exp_of_negative(max(s[k] - top, -LARGEST))
            total += s[k]
            likely += s[k] * omega[k, label]
        value += weight * log_of_positive(likely / total)
        for j in range(K - 1):
            slope[j, n] = 0.0
            for k in range(K):
                pull = omega[k, label] / likely - 1.0 / total
                slope[j, n] += weight * s[k] * pull * C[k, j]
    return value


class SoftmaxPath(Path):
    r"""The ascent path of several classes with weights of the examples, over stacked kernels.

    Parameters
    ----------
    labels : ndarray of shape (n,)
        Observed labels, numbers of classes from 0.
    K : int
        Number of classes.
    weights : ndarray of shape (n,)
        Weights of the examples.
    kernels : int
        Number of stacked kernels.
    prior_factor : {"slides", "exact"}
        See `noisylabels.solvers.flipped_logistic.marginal_zeta`.
    beta : float
        The same.

    Examples
    --------
    >>> import numpy as np
    >>> from noisylabels.solvers.softmax_multi_kernel import SoftmaxPath
    >>> path = SoftmaxPath(np.array([0, 1, 2]), 3, np.ones(3), 1, "slides", 2.0)
    >>> path.classes(path.w).shape
    (3, 3)

    Notes
    -----
    The objective is
    :math:`\sum_n a_n \log \tilde P_n - \zeta \sum_n a_n \lVert v_n \rVert^2 - \sum_i \xi_i u_i^2`
    with :math:`f = \sum_i \eta_i K_i\, \mathrm{diag}(a) V` and :math:`\tilde P` by the softmax of
    :math:`f C^T / \sqrt{2}`, C the contrasts of the classes. For two classes without weights it is
    that of a `Path`. The attribute ``w`` (K - 1, n) holds :math:`a_n v_n`, and ``f`` is flat. The
    solver "newton" makes conjugate-gradient steps to the end.
    """

    def __init__(
        self,
        labels: NDArray[np.intp],
        K: int,
        weights: Floats,
        kernels: int,
        prior_factor: str,
        beta: float,
    ) -> None:
        super().__init__(labels, kernels, prior_factor, beta)
        n = len(labels)
        self.C = contrasts(K) / np.sqrt(2.0)
        self.a = weights
        self.root = np.sqrt(weights)
        self.w = np.zeros((K - 1, n))
        self.f = np.zeros((K - 1) * n)
        self.omega = flips.start(K)

    @property
    def zeta(self) -> float:
        """Penalty on the squared norm of the weights, which depends on the weights.

        Returns
        -------
        float
            The penalty.
        """
        v = (self.w / self.root).reshape(-1)
        count = len(self.w) * float(self.a.sum())
        square = dot(v, 0, v)
        return marginal_zeta(square, count, *self._prior)

    def classes(self, w: Floats) -> Floats:
        """Turn values of the contrasts into values of the classes.

        Parameters
        ----------
        w : ndarray of shape (K - 1, n)
            Weights or decision values of the contrasts; may be flat.

        Returns
        -------
        ndarray of shape (n, K)
            Values of the classes.
        """
        return w.reshape(len(self.w), -1).T @ self.C.T

    def fit(self, f: Floats, slope: Floats) -> float:
        """Compute the log-likelihood and its gradient.

        Parameters
        ----------
        f : ndarray of shape ((K - 1) n,)
            Decision values of the contrasts.
        slope : ndarray of shape ((K - 1) n,)
            Overwritten with the gradient.

        Returns
        -------
        float
            The log-likelihood.
        """
        shape = self.w.shape
        f = f.reshape(shape)
        slope = slope.reshape(shape)
        return softmax_fit(f, self.y, self.a, self.C, self.omega, slope)

    def solved(self, K: Floats, w_solver: str) -> Floats:
        """Compute the weights of the next round, by conjugate-gradient steps.

        Parameters
        ----------
        K : ndarray of shape (n, n)
            The mixed kernel matrix.
        w_solver : {"cg10", "newton"}
            Whether there are 10 steps, or as many as are needed.

        Returns
        -------
        ndarray of shape (K - 1, n)
            The weights.
        """
        # The variable is v = V diag(a)^(1/2).
        zeta = self.zeta
        v = self.w / self.root

        def times_K(x: Floats) -> Floats:
            return np.stack([times(K, row) for row in x])

        def inner(x: Floats, y: Floats) -> float:
            return dot(x.reshape(-1), 0, y.reshape(-1))

        f = times_K(self.w)
        residual = np.empty_like(v)
        phi = zeta * inner(v, v) - self.fit(f, residual)
        slope_of_f = times_K(residual)
        g = 2.0 * zeta * v - slope_of_f * self.root
        d = -g
        square = inner(g, g)
        previous_phi = phi + 0.5 * np.sqrt(square)
        still = STATIONARY if w_solver == "cg10" else 1e-4 * STATIONARY
        for _ in range(STEPS[w_solver]):
            if not np.abs(g).max() > still:
                break
            slope = inner(g, d)
            if not slope < 0.0:
                d = -g
                slope = -square
            step = 2.02 * (phi - previous_phi) / slope
            t = min(1.0, step)
            t = t if t > 0.0 else 1.0
            Kd = times_K(d * self.root)
            low = (0.0, phi, slope)
            high = (-1.0, phi, slope)
            vv = inner(v, v)
            vd = inner(v, d)
            dd = inner(d, d)
            done = False
            for _ in range(TRIALS):
                log_likelihood = self.fit(f + t * Kd, residual)
                square_of_end = vv + t * (2.0 * vd + t * dd)
                new_phi = zeta * square_of_end - log_likelihood
                along = 2.0 * zeta * (vd + t * dd) - inner(residual, Kd)
                done, t, low, high = _bracketed(t, new_phi, along, phi, slope, low, high)
                if done:
                    break
            if not done:
                break
            previous_phi = phi
            phi = new_phi
            v = v + t * d
            f = f + t * Kd
            new_g = 2.0 * zeta * v - times_K(residual) * self.root
            change = inner(new_g - g, new_g)
            beta = max(0.0, change / square)
            d = beta * d - new_g
            g = new_g
            square = inner(g, g)
        return np.asarray(v * self.root)

    def flips(self, f: Floats) -> Floats:
        """Estimate the flip matrix by the posterior probabilities of the labels.

        Parameters
        ----------
        f : ndarray of shape ((K - 1) n,)
            Decision values of the contrasts.

        Returns
        -------
        ndarray of shape (K, K)
            The flip matrix.
        """
        q = flips.posterior(self.classes(f), self.y, self.omega)
        return flips.updated(q, self.y, self.omega, self.a)
