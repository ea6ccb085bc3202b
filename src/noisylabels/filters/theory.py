r"""Theory of the p-norm filters: link, divergence, loss bounds for every target, and worst cases.

How much of the energy of the noise can come out as filtering error? The ratio is
:math:`\rho = \sum_t (u \cdot x_t - \hat{y}_t)^2 / (\sum_t (y_t - u \cdot x_t)^2 + K)` with
:math:`K = (p - 1) X_p^2 \lVert u \rVert_q^2`. LMS with step :math:`1 / X_2^2` has
:math:`\rho \le 1` for every target, all noise and all rows, and no filter has a smaller worst case:
it is optimal in the sense of H-infinity.

Source: Hassibi, Sayed and Kailath, H-infinity optimality of the LMS algorithm, IEEE Trans. SP 44,
1996.
"""

from __future__ import annotations

import math
import warnings

import numpy as np
from numpy.typing import ArrayLike

from noisylabels.compilation import compile_kernel
from noisylabels.fixed_order.linear_algebra import put
from noisylabels.validation import Floats, number

Power = float | str  # a number, or "auto"

TOLERANCE = 1e-9
"""Relative amount by which rounding may raise a loss above its bound."""


def exponent(p: Power, n: int) -> float:
    r"""Find the exponent that a setting stands for.

    Parameters
    ----------
    p : float or "auto"
        An exponent of at least 2, or the word for the one that suits a sparse target.
    n : int
        Number of entries of a sample. "auto" needs at least 3.

    Returns
    -------
    float
        The exponent, :math:`\max(2, 2 \ln n)` for "auto".

    Raises
    ------
    ValueError
        If p is below 2, infinite or not a number.

    Warns
    -----
    UserWarning
        If n is too small for "auto", so that 2 is taken.

    Examples
    --------
    >>> from noisylabels.filters.theory import exponent
    >>> exponent(3, 10), round(exponent("auto", 100), 2)
    (3.0, 9.21)
    """
    if isinstance(p, str) and p == "auto":
        if n < 3:
            message = f'p="auto" is 2 ln n and needs n >= 3; p = 2 is used for n = {n}'
            warnings.warn(message, stacklevel=2)
        if n >= 1:
            twice_log = 2.0 * math.log(n)
            return max(2.0, twice_log)
        return 2.0
    return number('p, if not "auto"', p, least=2)


def dual(p: float) -> float:
    r"""Compute the dual exponent.

    Parameters
    ----------
    p : float
        An exponent above 1.

    Returns
    -------
    float
        The exponent q with :math:`1/p + 1/q = 1`; then :math:`(p - 1)(q - 1) = 1`.

    Raises
    ------
    ValueError
        If p is not above 1 and finite.

    Examples
    --------
    >>> from noisylabels.filters.theory import dual
    >>> dual(3.0)
    1.5
    """
    return number("p", p, above=1) / (p - 1.0)


def _scaled(v: Floats) -> tuple[Floats, Floats]:
    """Divide by the largest absolute value along the last axis, or by 1 where all are 0."""
    size = np.abs(v)
    largest = size.max(axis=-1, keepdims=True)
    largest = np.where(largest > 0, largest, 1.0)
    return size / largest, largest


def norm(v: ArrayLike, s: float) -> Floats:
    r"""Compute the s-norm of vectors without overflow.

    Parameters
    ----------
    v : array_like of shape (..., n)
        Vectors along the last axis.
    s : float
        The exponent, above 1.

    Returns
    -------
    ndarray of shape (...)
        The norms.

    Examples
    --------
    >>> from noisylabels.filters.theory import norm
    >>> float(norm([3.0, 4.0], 2.0))
    5.0

    Notes
    -----
    :math:`\lVert v \rVert_s = m (\sum_i z_i^s)^{1/s}` with :math:`z = |v| / m` and
    :math:`m = \max_i |v_i|`.
    """
    magnitudes = np.asarray(v, dtype=np.float64)
    z, largest = _scaled(magnitudes)
    total = np.sum(z**s, axis=-1)
    return np.asarray(largest[..., 0] * total ** (1.0 / s))


def link(v: ArrayLike, s: float) -> Floats:
    r"""Map weights to their dual, or back.

    Parameters
    ----------
    v : array_like of shape (..., n)
        Vectors along the last axis: weights, with the exponent q, or their dual, with the exponent
        p.
    s : float
        The exponent, above 1.

    Returns
    -------
    ndarray of shape (..., n)
        The gradient of half of the squared s-norm; 0 at 0.

    Raises
    ------
    ValueError
        If the exponent is out of range, or a value is not finite.

    Examples
    --------
    >>> from noisylabels.filters.theory import link
    >>> link(link([3.0, -1.0], 1.5), 3.0).round(6).tolist()
    [3.0, -1.0]

    Notes
    -----
    :math:`f_i(v) = \mathrm{sign}(v_i) |v_i|^{s - 1} / \lVert v \rVert_s^{s - 2}`, computed as
    :math:`m\, \mathrm{sign}(v_i) z_i^{s - 1} (\sum_j z_j^s)^{(2 - s)/s}` with :math:`z = |v| / m`
    and :math:`m = \max_i |v_i|`, which neither overflows nor underflows. Near :math:`s = 1`
    rounding errors of the weights are amplified. So an algorithm keeps the dual as its state and
    never recomputes it from the weights.

    References
    ----------
    Slides of Kivinen, Warmuth and Hassibi, "link function"; Gentile, The robustness of the p-norm
    algorithms, 2003.
    """
    dual(s)
    v = np.asarray(v, dtype=np.float64)
    if not np.isfinite(v).all():
        raise ValueError("v: values must be finite")
    z, largest = _scaled(v)
    total = np.sum(z**s, axis=-1, keepdims=True)
    positive_total = np.where(total > 0, total, 1.0)
    magnitudes = z ** (s - 1.0)
    signed = np.copysign(magnitudes, v)
    exponent = (2.0 - s) / s
    scale = positive_total**exponent
    return largest * signed * scale


def potential(w: ArrayLike, q: float) -> Floats:
    r"""Compute half of the squared norm of weights.

    Parameters
    ----------
    w : array_like of shape (..., n)
        Weights.
    q : float
        The exponent, above 1.

    Returns
    -------
    ndarray of shape (...)
        :math:`F(w) = \lVert w \rVert_q^2 / 2`. Its conjugate is
        :math:`\lVert \theta \rVert_p^2 / 2`.

    Examples
    --------
    >>> from noisylabels.filters.theory import potential
    >>> float(potential([3.0, 4.0], 2.0))
    12.5
    """
    return 0.5 * norm(w, q) ** 2


def divergence(u: ArrayLike, w: ArrayLike, q: float) -> Floats:
    r"""Compute the Bregman divergence between two vectors of weights.

    Parameters
    ----------
    u : array_like of shape (..., n)
        The target.
    w : array_like of shape (..., n)
        The weights.
    q : float
        The exponent, above 1.

    Returns
    -------
    ndarray of shape (...)
        The divergence, at least 0, and 0 only for equal vectors.

    Examples
    --------
    >>> from noisylabels.filters.theory import divergence
    >>> float(divergence([3.0, 4.0], [0.0, 0.0], 2.0))
    12.5

    Notes
    -----
    :math:`d(u, w) = F(u) - F(w) - f(w) \cdot (u - w)`, half of the squared distance for
    :math:`q = 2`. It is not symmetric for other exponents.

    References
    ----------
    Slides of Kivinen, Warmuth and Hassibi, "Bregman divergence".
    """
    return divergence_dual(u, link(w, q), dual(q))


def divergence_dual(u: ArrayLike, theta: ArrayLike, p: float) -> Floats:
    r"""Compute the Bregman divergence from the dual of the weights, the state of the algorithms.

    Parameters
    ----------
    u : array_like of shape (..., n)
        The target.
    theta : array_like of shape (..., n)
        Dual of the weights.
    p : float
        The exponent of the dual, above 1.

    Returns
    -------
    ndarray of shape (...)
        :math:`\lVert u \rVert_q^2 / 2 + \lVert \theta \rVert_p^2 / 2 - u \cdot \theta`.

    Examples
    --------
    >>> from noisylabels.filters.theory import divergence_dual
    >>> float(divergence_dual([3.0, 4.0], [0.0, 0.0], 2.0))
    12.5
    """
    products = np.asarray(u) * np.asarray(theta)
    inner = np.sum(products, axis=-1)
    potential_of_u = potential(u, dual(p))
    return potential_of_u + potential(theta, p) - inner


def project(theta: ArrayLike, p: float, radius: float) -> Floats:
    r"""Scale the dual of weights so that the weights are in a ball.

    Parameters
    ----------
    theta : array_like of shape (..., n)
        Dual of the weights.
    p : float
        The exponent of the dual, above 1.
    radius : float
        Radius of the ball in the dual exponent q, above 0.

    Returns
    -------
    ndarray of shape (..., n)
        The scaled dual.

    Raises
    ------
    ValueError
        If the radius is not positive.

    Examples
    --------
    >>> from noisylabels.filters.theory import project
    >>> project([3.0, 4.0], 2.0, radius=1.0).round(6).tolist()
    [0.6, 0.8]

    Notes
    -----
    It is the Bregman projection: the link is homogeneous and
    :math:`\lVert f(w) \rVert_p = \lVert w \rVert_q`. No target of the ball is farther from the
    projection than from the weights.
    """
    number("radius", radius, above=0)
    size = norm(theta, p)[..., None]
    positive_size = np.where(size > 0, size, radius)
    factor = np.minimum(1.0, radius / positive_size)
    direction = np.asarray(theta)
    return direction * factor


def penalty(p: float, x_size: float, u_size: float) -> float:
    r"""Compute the price of not knowing the target.

    Parameters
    ----------
    p : float
        The exponent, at least 2.
    x_size : float
        Largest p-norm of a row.
    u_size : float
        Norm of the target in the dual exponent.

    Returns
    -------
    float
        :math:`K = (p - 1) X_p^2 \lVert u \rVert_q^2`.

    Examples
    --------
    >>> from noisylabels.filters.theory import penalty
    >>> penalty(3.0, 2.0, 1.0)
    8.0
    """
    return (p - 1.0) * x_size**2 * u_size**2


def rate(p: float, x_size: float, alpha: float = 1.0) -> float:
    r"""Compute the step size of the loss bounds.

    Parameters
    ----------
    p : float
        The exponent, at least 2. 2 gives the steps of LMS.
    x_size : float
        Largest p-norm of a row, above 0.
    alpha : float, default 1.0
        Above 0 and at most 1: 1 to filter, less to predict.

    Returns
    -------
    float
        :math:`\eta = \alpha / ((p - 1) X_p^2)`.

    Raises
    ------
    ValueError
        If an argument is out of range.

    Examples
    --------
    >>> from noisylabels.filters.theory import rate
    >>> rate(3.0, 2.0)
    0.125
    """
    number("p", p, least=2)
    number("x_size", x_size, above=0)
    share = number("alpha", alpha, above=0, most=1)
    return share / ((p - 1.0) * x_size**2)


def prediction(noise: float, K: float, alpha: float) -> float:
    r"""Bound the loss of predicting noisy labels.

    Parameters
    ----------
    noise : float
        Loss of the target.
    K : float
        The `penalty` of the target.
    alpha : float
        Factor of the step size, see `rate`; above 0 and below 1. 1 is allowed only for a target
        without loss.

    Returns
    -------
    float
        The bound on :math:`\sum_t (y_t - \hat{y}_t)^2`.

    Raises
    ------
    ValueError
        If ``alpha`` is out of range.

    Examples
    --------
    >>> from noisylabels.filters.theory import prediction
    >>> prediction(1.0, 1.0, alpha=0.5)
    4.0

    Notes
    -----
    The bound is :math:`L_u / (1 - \alpha) + K / \alpha` for the loss :math:`L_u` of the target.

    References
    ----------
    Cesa-Bianchi, Long and Warmuth 1996 for p = 2; the same computation for other exponents.
    """
    if noise == 0 and alpha == 1:
        return K
    number("alpha, which is 1 only for a target without loss", alpha, above=0, below=1)
    noise_part = noise / (1.0 - alpha)
    loss_part = K / alpha
    return noise_part + loss_part


def best_alpha(noise: float, K: float) -> float:
    r"""Compute the factor of the step size with the smallest bound on the loss.

    Parameters
    ----------
    noise : float
        Loss of the target, at least 0.
    K : float
        The `penalty` of the target, above 0.

    Returns
    -------
    float
        :math:`\alpha^* = \sqrt{K} / (\sqrt{K} + \sqrt{L_u})`; then `prediction` is
        :math:`(\sqrt{L_u} + \sqrt{K})^2`.

    Examples
    --------
    >>> from noisylabels.filters.theory import best_alpha
    >>> best_alpha(4.0, 4.0)
    0.5
    """
    root_K = math.sqrt(number("K", K, above=0))
    root_noise = math.sqrt(number("noise", noise, least=0))
    return root_K / (root_K + root_noise)


def eg_plus_minus(noise: float, budget: float, x_top: float, n: int) -> float:
    r"""Bound the loss of EG+-.

    Parameters
    ----------
    noise : float
        Loss of the target.
    budget : float
        Bound on the 1-norm of the target.
    x_top : float
        Bound on the entries of rows.
    n : int
        Number of entries of a row.

    Returns
    -------
    float
        :math:`3 (L_u + U^2 X^2 \ln 2n)`, at the step :math:`1 / (3 U^2 X^2)`.

    Examples
    --------
    >>> from noisylabels.filters.theory import eg_plus_minus
    >>> round(eg_plus_minus(1.0, 1.0, 1.0, n=2), 3)
    7.159

    References
    ----------
    Kivinen and Warmuth, Exponentiated gradient versus gradient descent, 1997, c = 4.
    """
    range_of_rows = budget * x_top
    return 3.0 * (noise + range_of_rows**2 * math.log(2 * n))


def eg(noise: float, spread: float, n: int) -> float:
    r"""Bound the loss of EG.

    Parameters
    ----------
    noise : float
        Loss of the target, a distribution.
    spread : float
        Bound on the difference of two entries of a row.
    n : int
        Number of entries of a row.

    Returns
    -------
    float
        :math:`\frac{3}{2} (L_u + R^2 \ln n)`, at the step :math:`2 / (3 R^2)`.

    Examples
    --------
    >>> from noisylabels.filters.theory import eg
    >>> round(eg(1.0, 1.0, n=2), 3)
    2.54

    References
    ----------
    Kivinen and Warmuth, Exponentiated gradient versus gradient descent, 1997, c = 1.
    """
    penalty_of_start = spread**2 * math.log(n)
    return 1.5 * (noise + penalty_of_start)


def moving(noise: float, p: float, x_size: float, radius: float, path: float) -> float:
    r"""Bound the filtering error for a target that moves.

    Parameters
    ----------
    noise : float
        Loss of the moving target.
    p : float
        The exponent, at least 2.
    x_size : float
        Largest p-norm of a row.
    radius : float
        Largest norm of the target in the dual exponent, the radius of ``bounded_pnorm_lms``.
    path : float
        Length of the target's path in that norm.

    Returns
    -------
    float
        :math:`L_u + (p - 1) X_p^2 (U_q^2 + 2 U_q \sum_t \lVert u_{t+1} - u_t \rVert_q)`.

    Examples
    --------
    >>> from noisylabels.filters.theory import moving
    >>> moving(1.0, 2.0, 1.0, radius=1.0, path=0.5)
    3.0
    """
    drift = radius**2 + 2.0 * radius * path
    weight = (p - 1.0) * x_size**2
    return noise + weight * drift


def checked_ratio(loss: float, bound: float, quantity: str) -> float:
    """Divide a loss by its bound, and refuse a ratio that a theorem excludes.

    Parameters
    ----------
    loss : float
        The loss.
    bound : float
        Its bound.
    quantity : str
        Name of the loss, for the message.

    Returns
    -------
    float
        The ratio.

    Raises
    ------
    RuntimeError
        If the loss exceeds its bound by more than rounding.

    Examples
    --------
    >>> from noisylabels.filters.theory import checked_ratio
    >>> checked_ratio(1.0, 4.0, "LMS")
    0.25
    """
    if bound > 0:
        ratio = float(loss) / float(bound)
    else:
        ratio = float(loss > 0) * math.inf
    if not ratio <= 1.0 + TOLERANCE:
        fault = f"loss {loss:.10g} exceeds its bound {bound:.10g}"
        raise RuntimeError(f"{quantity}: {fault}; the code or the data is wrong")
    return ratio


def rls_gains(X: Floats) -> Floats:
    r"""Compute the gains of recursive least squares. Those of LMS are the step times the row.

    Parameters
    ----------
    X : ndarray of shape (T, n)
        Rows.

    Returns
    -------
    ndarray of shape (T, n)
        The gains.

    Examples
    --------
    >>> import numpy as np
    >>> from noisylabels.filters.theory import rls_gains
    >>> rls_gains(np.ones((2, 1))).round(3).tolist()
    [[0.5], [0.333]]

    Notes
    -----
    :math:`g_t = P_{t-1} x_t / (1 + x_t^\top P_{t-1} x_t)` and
    :math:`P_t = P_{t-1} - g_t x_t^\top P_{t-1}` with :math:`P_0 = I`.
    """
    P = np.eye(X.shape[1])
    gains = np.empty_like(X)
    for g, x in zip(gains, X, strict=True):
        moved = P @ x
        size = 1.0 + x @ P @ x
        g[:] = moved / size
        outer = np.outer(g, x @ P)
        P -= outer
    return gains


def transfer_matrix(X: Floats, gains: Floats, x_size: float) -> Floats:
    r"""Compute the matrix that turns target and noise into filtering errors.

    Parameters
    ----------
    X : ndarray of shape (T, n)
        Rows.
    gains : ndarray of shape (T, n)
        Gains of the filter, which is linear: :math:`w_t = w_{t-1} + g_t (y_t - \hat{y}_t)`.
    x_size : float
        Largest 2-norm of a row.

    Returns
    -------
    ndarray of shape (T, n + T)
        The matrix from :math:`(X_2 u, \nu_1, \ldots, \nu_T)` to :math:`u \cdot x_t - \hat{y}_t`.

    Examples
    --------
    >>> import numpy as np
    >>> from noisylabels.filters.theory import transfer_matrix
    >>> transfer_matrix(np.ones((2, 1)), np.ones((2, 1)), 1.0).tolist()
    [[1.0, 0.0, 0.0], [0.0, -1.0, 0.0]]

    Notes
    -----
    The error :math:`z = u - w` obeys :math:`z_t = z_{t-1} - g_t (x_t \cdot z_{t-1} + \nu_t)` with
    :math:`y_t = u \cdot x_t + \nu_t`. The worst ratio over every target and all noise is the square
    of the largest singular value.
    """
    T, n = X.shape
    start = np.eye(n) / x_size
    noise_part = np.zeros((n, T))
    Z = np.hstack([start, noise_part])
    M = np.empty((T, n + T))
    for t in range(T):
        M[t] = X[t] @ Z
        noisy = M[t].copy()
        noisy[n + t] += 1.0
        change = np.outer(gains[t], noisy)
        Z -= change
    return M


def worst_ratio(X: Floats, gains: Floats, x_size: float) -> float:
    """Compute the worst ratio of a linear filter over every target and all noise, for given rows.

    Parameters
    ----------
    X : ndarray of shape (T, n)
        Rows.
    gains : ndarray of shape (T, n)
        Gains of the filter.
    x_size : float
        Largest 2-norm of a row.

    Returns
    -------
    float
        The ratio: the squared spectral norm of the `transfer_matrix`.

    Examples
    --------
    >>> import numpy as np
    >>> from noisylabels.filters.theory import worst_ratio
    >>> round(worst_ratio(np.ones((2, 1)), np.ones((2, 1)), 1.0), 6)
    1.0
    """
    matrix = transfer_matrix(X, gains, x_size)
    largest_singular_value = float(np.linalg.norm(matrix, 2))
    return largest_singular_value**2


def worst_target(X: Floats, yhat: Floats, y: Floats, x_size: float) -> tuple[float, Floats]:
    r"""Find the target with the worst ratio for given rows, labels and predictions.

    Parameters
    ----------
    X : ndarray of shape (T, n)
        Rows.
    yhat : ndarray of shape (T,)
        Predictions.
    y : ndarray of shape (T,)
        Labels.
    x_size : float
        Largest 2-norm of a row.

    Returns
    -------
    rho : float
        The ratio.
    u : ndarray of shape (n,)
        A target that attains it.

    Examples
    --------
    >>> import numpy as np
    >>> from noisylabels.filters.theory import worst_target
    >>> rho, u = worst_target(np.ones((1, 1)), np.zeros(1), np.ones(1), 1.0)
    >>> round(rho, 3), u.round(3).tolist()
    (1.0, [1.0])

    Notes
    -----
    Both sums of the ratio are quadratic forms of :math:`(u, 1)`: with :math:`A = [X, -\hat{y}]` and
    :math:`B = [X, -y]`, :math:`A^\top A` and :math:`B^\top B + \mathrm{diag}(X_2^2 I, 0)`. The
    ratio is the largest eigenvalue of the pencil. The second form gets 1e-12 of its trace, because
    it is singular where a target of 0 fits the labels exactly.
    """
    n = X.shape[1]
    A = np.column_stack([X, -yhat])
    B = np.column_stack([X, -y])
    penalty_of_u = np.full(n, x_size**2)
    diagonal = np.append(penalty_of_u, 0.0)
    D = B.T @ B + np.diag(diagonal)
    ridge = 1e-12 * np.trace(D)
    identity = np.eye(n + 1)
    root = np.linalg.cholesky(D + ridge * identity)
    C = np.linalg.solve(root, A.T)
    ratios = C @ C.T
    values, vectors = np.linalg.eigh(ratios)
    worst = np.linalg.solve(root.T, vectors[:, -1])
    size_of_target = np.abs(worst).max()
    smallest = 1e-9 * size_of_target
    if abs(worst[-1]) < smallest:  # the bound is reached only in the limit of a long u
        worst[-1] = smallest
    u = worst[:-1] / worst[-1]
    largest_ratio = float(values[-1])
    return largest_ratio, u


def silent(
    n: int,
    T: int,
    x_size: float,
    p: float,
    *,
    clean: bool = False,
) -> tuple[Floats, Floats, Floats]:
    r"""Make data from which a filter learns nothing, because labels equal its predictions.

    Parameters
    ----------
    n : int
        Number of entries of a row.
    T : int
        Number of rows.
    x_size : float
        p-norm of the rows.
    p : float
        The exponent, above 1.
    clean : bool, default False
        Give the labels of the target instead of 0.

    Returns
    -------
    X : ndarray of shape (T, n)
        Rows, all the same.
    y : ndarray of shape (T,)
        Labels.
    u : ndarray of shape (n,)
        Target of norm 1 in the dual exponent.

    Examples
    --------
    >>> from noisylabels.filters.theory import silent
    >>> X, y, u = silent(2, 3, 1.0, 2.0)
    >>> y.tolist(), float((X @ u).round(6)[0])
    ([0.0, 0.0, 0.0], 1.0)

    Notes
    -----
    Every filter that starts at 0 predicts 0 for ever, with the ratio
    :math:`\rho = T / (T + p - 1)`. Against a filter that predicts anything, the adversary answers
    with the prediction and takes u or -u. So no filter has a worst ratio below 1. One clean row is
    the one-shot adversary: :math:`\rho = 1 / (p - 1)`.
    """
    q = dual(p)
    u = np.linspace(1.0, 2.0, n)
    u /= norm(u, q)
    x = link(u, q)
    X = np.repeat(x_size * x[None, :] / norm(x, p), T, axis=0)
    return X, X @ u if clean else np.zeros(T), u


def ratio(X: Floats, y: Floats, u: Floats, yhat: Floats, p: float, x_size: float) -> float:
    """Compute the ratio of filtering error to noise of one run.

    Parameters
    ----------
    X : ndarray of shape (T, n)
        Rows.
    y : ndarray of shape (T,)
        Labels.
    u : ndarray of shape (n,)
        Target.
    yhat : ndarray of shape (T,)
        Predictions.
    p : float
        The exponent, above 1.
    x_size : float
        Largest p-norm of a row.

    Returns
    -------
    float
        The ratio.

    Examples
    --------
    >>> import numpy as np
    >>> from noisylabels.filters.theory import ratio
    >>> ratio(np.ones((1, 1)), np.ones(1), np.ones(1), np.zeros(1), 2.0, 1.0)
    1.0
    """
    size_of_u = float(norm(u, dual(p)))
    weight = (p - 1.0) * (x_size * size_of_u) ** 2
    target = X @ u
    errors = target - yhat
    error = (errors**2).sum()
    label_errors = y - target
    noise = (label_errors**2).sum()
    return float(error / (noise + weight))


@compile_kernel(error_model="numpy")
def _rho(X: Floats, p: float, x_size: float, point: Floats) -> float:
    """Compute the ratio of p-norm LMS at a point (u, y), in the plainest form."""
    T, n = X.shape
    eta = 1.0 / ((p - 1.0) * x_size * x_size)
    q = p / (p - 1.0)
    theta = np.zeros(n)
    w = np.zeros(n)
    error = 0.0
    noise = 0.0
    size = 0.0
    for t in range(T):
        guess = 0.0
        target = 0.0
        for i in range(n):
            guess += w[i] * X[t, i]
            target += point[i] * X[t, i]
        error += (target - guess) ** 2
        label = point[n + t]
        noise += (label - target) ** 2
        largest = 0.0
        for i in range(n):
            step = eta * (label - guess) * X[t, i]
            theta[i] += step
            size_of_weight = abs(theta[i])
            largest = max(largest, size_of_weight)
        if largest > 0.0:
            total = 0.0
            exponent = (2.0 - p) / p
            for i in range(n):
                share = abs(theta[i]) / largest
                total += share**p
            for i in range(n):
                power = (abs(theta[i]) / largest) ** (p - 1.0)
                direction = np.sign(theta[i]) * largest
                w[i] = direction * power * total**exponent
    for i in range(n):
        size += abs(point[i]) ** q
    norm_of_point = size ** (2.0 / q)
    return error / (noise + norm_of_point / eta)


@compile_kernel(error_model="numpy")
def ascend(
    X: Floats,
    p: float,
    x_size: float,
    start: Floats,
    steps: int = 200,
) -> tuple[float, Floats, Floats]:
    """Search for the worst ratio of p-norm LMS over target and labels, by gradient ascent.

    Parameters
    ----------
    X : ndarray of shape (T, n)
        Rows.
    p : float
        The exponent, at least 2.
    x_size : float
        Largest p-norm of a row, which sets the step of LMS, see `rate`.
    start : ndarray of shape (n + T,)
        Target and labels where the search begins, together of norm 1.
    steps : int, default 200
        Number of steps.

    Returns
    -------
    rho : float
        The ratio found.
    u : ndarray of shape (n,)
        The target.
    y : ndarray of shape (T,)
        The labels.

    Notes
    -----
    The ratio does not change when target and labels are scaled, so each step is followed by a
    projection on the sphere. The gradient is a central difference. A step is taken only if the
    ratio grows; then the next is 1.5 times as long, else half.
    """
    n = X.shape[1]
    m = start.shape[0]
    point = start.copy()
    value = _rho(X, p, x_size, point)
    step = 0.3
    h = 1e-6
    gradient = np.empty(m)
    for _ in range(steps):
        for i in range(m):
            coordinate = point[i]
            point[i] = coordinate + h
            rho_above = _rho(X, p, x_size, point)
            point[i] = coordinate - h
            gradient[i] = (rho_above - _rho(X, p, x_size, point)) / (2.0 * h)
            point[i] = coordinate
        size = np.sqrt(np.sum(gradient * gradient))
        while size > 0.0 and step > 1e-9:
            trial = point + step / size * gradient
            trial /= np.sqrt(np.sum(trial * trial))
            trial_value = _rho(X, p, x_size, trial)
            if trial_value > value:
                put(point, trial)
                value = trial_value
                step *= 1.5
                break
            step *= 0.5
        if size == 0.0 or step <= 1e-9:
            break
    return value, point[:n], point[n:]
