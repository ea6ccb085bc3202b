"""Theory of learning from noisy copies: unbiased estimates of analytic functions, and bounds on the regret.

theta = gamma_n p^(n+1) / (p-1) X_1 ... X_n with P(n) = (p-1) / p^(n+1):  E theta = sum_n gamma_n (E X)^n =
f(E X). A round of Algorithm 4 asks for N_0 + N_1 + ... + N_M copies: the stored feature, and M features in
the gradient length, M geometric. The law of that number depends on p alone.

Reg_T = E sum_t l(<w_t, x_t>, y_t) - min_w sum_t l(<w, x_t>, y_t), both on clean data, for gradient descent
with unbiased gradient estimates, one function per constant.
B_w bounds the squared norm of w; B_x, B_y bound E ||x~_t||^2 and E y~_t^2 in every round;
G bounds the second moment of the gradient estimate. Constants are ours: complete, valid, perhaps not those of
the paper. At the end, what no learner with a single copy can do.
Source: Cesa-Bianchi, Shalev-Shwartz, Shamir 2011, Lemma 1, Theorems 1 to 3 and 5 to 9; exact second moments
and the law of the number of copies are ours.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from noisylabels.kernels.tensor import TensorKernel
from noisylabels.losses.analytic import DIFFERENCE, MARGIN_LESS_ONE, AnalyticLoss, log_second_moment
from noisylabels.noise.additive import checked_covariance
from noisylabels.validation import Floats, number, real, whole


def mean_queries(p: float, *, gaussian: bool = False) -> float:
    """p / (p-1)^2 for a dot-product kernel, three times that for the Gaussian kernel."""
    p = number("p", p, above=1)
    return (3.0 if gaussian else 1.0) * p / (p - 1.0) ** 2


def pmf(p: float, highest: int, *, gaussian: bool = False) -> Floats:
    """P(total = k), k = 0..highest: (highest + 1,).

    Dot product: (1 - rho) rho^k, rho = p / (p^2 - p + 1).
    Gaussian: with q = (p-1)/p, g(z) = q / (1 - z/p), H(z) = g(z^2) g(z), the series of H(z) q / (1 - H(z)/p).
    """
    p = number("p", p, above=1)
    if highest < 0:
        raise ValueError(f"highest: must be at least 0, got {highest}")
    if not gaussian:
        rho = p / (p * p - p + 1.0)
        return (1.0 - rho) * rho ** np.arange(highest + 1.0)
    H = _one_estimate(p, highest)
    total = np.empty(highest + 1)
    for k in range(highest + 1):  # F (1 - H/p) = q H
        total[k] = ((p - 1.0) / p * H[k] + (H[1 : k + 1] @ total[k - 1 :: -1][:k]) / p) / (1.0 - H[0] / p)
    return total


def _one_estimate(p: float, highest: int) -> Floats:
    """P(2 n_1 + n_2 = k) for independent geometric n_1, n_2: k = 0..highest."""
    q = (p - 1.0) / p
    k = np.arange(highest + 1)
    single = q * p ** -k.astype(float)
    double = np.where(k % 2 == 0, q * p ** -(k / 2.0), 0.0)
    return np.convolve(single, double)[: highest + 1]


MANY_QUERIES = 1.05  # below this p a round of Algorithm 4 takes more than 400 queries


def checked_p(p: float) -> float:
    """p as a float. Raises ValueError: p <= 1 or not finite. Warns: p < 1.05."""
    p = number("p", p, above=1)
    if p < MANY_QUERIES:
        warnings.warn(f"p = {p:g}: a round takes about {p / (p - 1) ** 2:.0f} queries", stacklevel=3)
    return p


def degrees(rng: np.random.Generator, p: float, size: int) -> NDArray[np.int64]:
    """n = floor(log U / -log p), U uniform on (0, 1]: P(n) = (p-1) / p^(n+1); (size,)."""
    U = 1.0 - rng.random(size)
    return np.floor(np.log(U) / -math.log(p)).astype(np.int64)


def largest_degree(p: float) -> int:
    """No draw of `degrees` is larger: U >= 2^-53."""
    return int(53.0 * math.log(2.0) / math.log(p)) + 1


def log_inverse_probabilities(p: float, highest: int) -> Floats:
    """log(p^(n+1) / (p-1)) for n = 0..highest."""
    return np.arange(1.0, highest + 2.0) * math.log(p) - math.log(p - 1.0)


def estimates(
    coefficients: ArrayLike, p: float, draw: Callable[[np.random.Generator, int], ArrayLike],
    rng: np.random.Generator, size: int,
) -> tuple[Floats, NDArray[np.int64]]:  # fmt: skip
    """`size` independent theta and their numbers of copies n; draw(rng, m) gives m copies of X (m,).

    coefficients: gamma_0.., 0 beyond the last.
    """
    gamma = real("coefficients", coefficients, (None,))
    n = degrees(rng, p, size)
    theta = np.where(n < len(gamma), gamma[np.minimum(n, len(gamma) - 1)], 0.0)
    theta *= np.exp((n + 1.0) * math.log(p) - math.log(p - 1.0))
    for k in range(int(n.max(initial=0))):
        rows = np.flatnonzero(n > k)
        theta[rows] *= np.asarray(draw(rng, len(rows)), dtype=float)
    return np.asarray(theta, dtype=float), n


def second_moment(coefficients: ArrayLike, p: float, EX2: float) -> float:
    """E theta^2 = p/(p-1) sum_n gamma_n^2 (p E X^2)^n, exactly."""
    gamma = real("coefficients", coefficients, (None,))
    return p / (p - 1.0) * float((gamma**2 * (p * EX2) ** np.arange(len(gamma))).sum())


def second_moment_bound(coefficients: ArrayLike, p: float, EX2: float) -> float:
    """E theta^2 <= p/(p-1) f_+(sqrt(p E X^2))^2,  f_+(r) = sum_n |gamma_n| r^n."""
    gamma = np.abs(real("coefficients", coefficients, (None,)))
    return p / (p - 1.0) * float((gamma * math.sqrt(p * EX2) ** np.arange(len(gamma))).sum()) ** 2


def feature_moment(kernel: TensorKernel, p: float, B_x: float, m_2: float | None = None) -> float:
    """E ||Psi~||^2 of the estimated feature, E ||x~||^2 = B_x; with B_x a bound, a bound too.

    Dot product: p/(p-1) Q(p B_x).  Gaussian: (p/(p-1))^2 I_0(2 sqrt(p m_2) / sigma2) exp(2 p B_x / sigma2),
    m_2 = E <x~, x~'>^2 for two copies, at most B_x^2, which is taken if m_2 is not given.
    Raises ValueError: p <= 1.
    """
    from scipy.special import i0

    p = number("p", p, above=1)
    if kernel.sigma2 is None:
        return p / (p - 1.0) * float(kernel.Q(np.asarray(p * B_x)))
    m_2 = B_x**2 if m_2 is None else m_2
    bessel = float(i0(2.0 * math.sqrt(p * m_2) / kernel.sigma2))
    return (p / (p - 1.0)) ** 2 * bessel * math.exp(2.0 * p * B_x / kernel.sigma2)


def feature_moment_bound(kernel: TensorKernel, p: float, B_x: float) -> float:
    """B_psi of the theorems: `feature_moment`; Gaussian: (p/(p-1))^2 exp(2 (sqrt p + p) B_x / sigma2)."""
    if kernel.sigma2 is None:
        return feature_moment(kernel, p, B_x)
    p = number("p", p, above=1)
    return (p / (p - 1.0)) ** 2 * math.exp(2.0 * (math.sqrt(p) + p) * B_x / kernel.sigma2)


def regret(B_w: float, G: float, T: int, eta: float | None = None) -> float:
    """B_w / (2 eta) + eta G T / 2 for every eta > 0; sqrt(B_w G T) at the best one, which is the default.

    A step m times the best costs the factor (m + 1/m) / 2.
    """
    if eta is None:
        return math.sqrt(B_w * G * T)
    return B_w / (2.0 * number("eta", eta, above=0)) + eta * G * T / 2.0


def best_step(B_w: float, G: float, T: int) -> float:
    """eta = sqrt(B_w / (G T)). Raises ValueError: B_w or G not positive and finite, T not whole or < 1."""
    return best_step_of_log(B_w, math.log(number("G", G, above=0)), T)


def best_step_of_log(B_w: float, log_G: float, T: int) -> float:
    """`best_step` where G itself would overflow: exp((log B_w - log G - log T) / 2)."""
    return math.exp(0.5 * (math.log(number("B_w", B_w, above=0)) - log_G - math.log(whole("T", T, 1))))


def two_copy_moment(B_w: float, B_x: float, B_y: float) -> float:
    """G_1 = 4 B_x (sqrt(B_w B_x) + sqrt(B_y))^2, two copies of the instance (Theorem 1)."""
    return 4.0 * B_x * (math.sqrt(B_w * B_x) + math.sqrt(B_y)) ** 2


def known_covariance_moment(B_w: float, M_4: float, B_x: float, B_y: float, B_Sigma: float) -> float:
    """G_2 = 4 (sqrt(B_w M_4) + sqrt(B_y B_x) + B_Sigma sqrt(B_w))^2, one copy, known covariance (Theorem 2).

    M_4 bounds E ||x~_t||^4, see `gaussian_fourth_moment`; B_Sigma the largest eigenvalue of Sigma_t.
    """
    return 4.0 * (math.sqrt(B_w * M_4) + math.sqrt(B_y * B_x) + B_Sigma * math.sqrt(B_w)) ** 2


def gaussian_fourth_moment(X: ArrayLike, covariance: ArrayLike) -> Floats:
    """E ||x + n||^4 = (||x||^2 + tr S)^2 + 2 tr S^2 + 4 x.S x for n ~ N(0, S); X: (n, d) -> (n,)."""
    S = checked_covariance("covariance", covariance)
    rows = real("X", X, (None, len(S)))
    second = (rows**2).sum(1) + np.trace(S)
    return second**2 + 2.0 * np.trace(S @ S) + 4.0 * np.einsum("ti,ij,tj->t", rows, S, rows)


def surrogate_moment(ball: float, diagonal: float, B_y: float) -> float:
    """G_3 = 4 C (sqrt(C B~) + sqrt(B_y))^2 with B~ = `ball`, C = `diagonal` = k~(x, x) (Theorem 3).

    For a radial kernel C is D_0 (Theorem 5: G_5).
    """
    return 4.0 * diagonal * (math.sqrt(diagonal * ball) + math.sqrt(B_y)) ** 2


def surrogate_ball(B_w: float, alpha: float, domination: float) -> float:
    """B~ = 2 C B_w / (1 - cos alpha): holds every w~ whose w has ||w||^2 <= B_w and angle >= alpha (Lemma 8).

    domination: C of k~ <= C k; C_max for a radial kernel.
    Raises ValueError: alpha not in (0, pi].
    """
    if not 0.0 < alpha <= math.pi:
        raise ValueError(f"alpha: the angle must be in (0, pi], got {alpha:g}")
    return 2.0 * domination * B_w / (1.0 - math.cos(alpha))


def angle(gamma: ArrayLike, K: ArrayLike) -> float:
    """alpha_w in [0, pi] between the positive and the negative part of w = sum_j gamma_j Psi(c_j); K: (n, n).

    pi if one of the parts is 0.
    """
    weights = real("gamma", gamma, (None,))
    matrix = real("K", K, (len(weights), len(weights)))
    plus, minus = np.maximum(weights, 0.0), np.maximum(-weights, 0.0)
    a, b = plus @ matrix @ plus, minus @ matrix @ minus
    if a <= 0.0 or b <= 0.0:
        return math.pi
    return math.acos(min(1.0, max(-1.0, float(plus @ matrix @ minus) / math.sqrt(a * b))))


def log_gradient_moment(
    loss: AnalyticLoss, p: float, B_w: float, B_psi: float, *, B_y: float = 1.0, tight: bool = False
) -> float:
    """log nu, nu = p/(p-1) l'_+(sqrt(p) R)^2 B_psi bounds E ||g~ Psi~||^2 (Theorems 6, 7).

    R: sqrt(E X_j^2) <= R for the factors of the gradient length (Lemma 4), sqrt(B_w B_psi), plus B_y >= |y|
    for regression, plus 1 for the argument y a - 1.  B_psi bounds E ||Psi~||^2.
    tight: p/(p-1) sum_n gamma_n^2 (p R^2)^n B_psi instead, at most that.
    Raises ValueError: p <= 1; l'_+ infinite at sqrt(p) R.
    """
    p = number("p", p, above=1)
    shift = {DIFFERENCE: B_y, MARGIN_LESS_ONE: 1.0}.get(loss.kind, 0.0)
    r = math.sqrt(p) * (math.sqrt(B_w * B_psi) + shift)
    inner = log_second_moment(loss, r) if tight else 2.0 * loss.log_majorant(r)
    if not math.isfinite(inner):
        raise ValueError(
            f"loss: l'_+ of the {loss.name} loss is infinite at sqrt(p) R = {r:g}; take a smaller ball"
        )
    return math.log(p / (p - 1.0)) + inner + math.log(B_psi)


# Two worlds that one copy per round cannot distinguish. A: x is 3 or -1 with probability 1/2 each, no noise.
# B: x = 1 always, and the noise makes it 3 or -1. The one observed copy has the same law in both, y = 1, but
# F_A(w) = (l(3w) + l(-w)) / 2 and F_B(w) = l(w) have different minimisers. The numbers are ours.
POINTS = (3.0, -1.0)
"""The support of the observed copy in both worlds; its mean is 1."""


class Worlds(NamedTuple):
    """argmin F_A, argmin F_B, min_w max(F_A(w) - min F_A, F_B(w) - min F_B), and the w that attains it."""

    best_A: float
    best_B: float
    unavoidable: float
    compromise: float


def worlds(loss: Callable[[Floats], Floats], radius: float = 3.0, points: int = 600_001) -> Worlds:
    """The constants for l(a, 1) = loss(a), convex, on |w| <= radius, by a grid of `points` values of w.

    By Jensen's inequality the time-averaged regret of any single-copy learner is, in expectation,
    at least `unavoidable` in the worse world.
    """
    w = np.linspace(-radius, radius, points)
    F_A, F_B = 0.5 * (loss(3.0 * w) + loss(-w)), loss(w)
    worse = np.maximum(F_A - F_A.min(), F_B - F_B.min())
    at = int(worse.argmin())
    return Worlds(float(w[F_A.argmin()]), float(w[F_B.argmin()]), float(worse[at]), float(w[at]))


def copies(rng: np.random.Generator, T: int) -> Floats:
    """The observed copies (T, 1), each 3 or -1: in world A they are the clean instances too."""
    return np.where(rng.random(T) < 0.5, POINTS[0], POINTS[1])[:, None]


def scored_on_noise(w: ArrayLike, v: float) -> float:
    """||w||^2 v / (1 + v): excess loss per round of the best fixed predictor when noisy inputs are scored.

    x_t = w / ||w||, y_t = ||w||, isotropic noise of variance v: nobody does better, even knowing w.
    """
    return float(np.square(np.asarray(w, dtype=float)).sum()) * v / (1.0 + v)
