"""Additive label noise with a known variance per example, and labels corrupted in other ways.

y~_t = y_t + eps_t,  E eps_t = 0,  E eps_t^2 = v_t.
The variances come from `variances` or `hammer_variances`, the labels from `noisy_labels`;
`OTHER_LABELS` holds the corruptions that are not additive and Gaussian.
"""

from collections.abc import Callable
from itertools import accumulate

import numpy as np

from noisylabels.validation import Floats, choice, number, whole

RAMPS = {"constant": (1.0, 1.0), "decreasing": (1.0, 0.0), "increasing": (0.0, 1.0)}
"""First and last variance of the models without randomness, in units of the largest."""


def variances(model: str, n: int, M: float, rng: np.random.Generator) -> Floats:
    """Noise variances v_t in [0, M] of n rounds.

    "uniform": v_t ~ U[0, M];  "increasing": v_t = M (t-1)/(n-1);  "decreasing": the reverse;  "constant":
    v_t = M. The generator is used by "uniform" only.

    Raises ValueError : an unknown model, n < 2 or a negative M.
    Source: ORS paper, Section 4.
    """
    n, M = whole("n", n, 2), number("M", M, least=0)
    choice("model", model, (*RAMPS, "uniform"))
    if model == "uniform":
        return rng.uniform(0.0, M, n)
    first, last = RAMPS[model]
    return np.linspace(first * M, last * M, n)


def hammer_variances(
    n: int, rate: int, rng: np.random.Generator, *, floor: float = 1e-4, mean_blow: float = 4.0
) -> Floats:
    """Variance of hammer blows: v_t = floor + sum_j A_j exp(-(t - t_j) / (0.03 rate)) 1[t >= t_j].

    Blows start at 0.3 s, then follow after 0.5 s x U[0.8, 1.2]; A_j = mean_blow x U[0.5, 1.5].
    rate: in Hz.  Raises ValueError : n < 1 or rate < 1.
    Source: our interpretation of the ORS paper's "hammer noise" (Section 4, Fig. 5);
    the local variance is known exactly.
    """
    n, rate = whole("n", n, 1), whole("rate", rate, 1)
    blows = np.zeros(n)
    second = 0.3
    while (start := round(second * rate)) < n:
        blows[start] += mean_blow * rng.uniform(0.5, 1.5)
        second += 0.5 * rng.uniform(0.8, 1.2)
    decay = np.exp(-1.0 / (0.03 * rate))
    levels = accumulate(blows.tolist(), lambda level, blow: decay * level + blow)
    return floor + np.maximum(np.fromiter(levels, float, n), 0.0)


def noisy_labels(y: Floats, v: Floats, rngs: list[np.random.Generator]) -> Floats:
    """K noisy labels per round, y~_{t,k} = y_t + sqrt(v_t) g_{t,k} with g ~ N(0, 1);
    shape (n, K), one generator a column.
    """
    scale = np.sqrt(v)
    return np.column_stack([y + scale * rng.standard_normal(len(y)) for rng in rngs])


def _multiplicative(y: Floats, rng: np.random.Generator) -> tuple[Floats, Floats]:
    """y~ = y (1 + eps), eps ~ N(0, 1/4), so v_t = y_t^2 / 4."""
    return y * (1.0 + 0.5 * rng.standard_normal(len(y))), 0.25 * y**2


def _quantised(y: Floats, rng: np.random.Generator) -> tuple[Floats, Floats]:
    """y~ = 4 round(y / 4): a step of 4 has the variance 16/12 if y is spread over many steps."""
    return 4.0 * np.round(y / 4.0), np.full(len(y), 16.0 / 12.0)


def _clipped(y: Floats, rng: np.random.Generator) -> tuple[Floats, Floats]:
    """y~ = y cut at its 20 % and 80 % quantiles; v_t = (y~_t - y_t)^2, which only an oracle knows."""
    low, high = np.quantile(y, [0.2, 0.8])
    cut = np.clip(y, low, high)
    return cut, (cut - y) ** 2


def _heavy_tails(y: Floats, rng: np.random.Generator) -> tuple[Floats, Floats]:
    """y~ = y + eps, eps Student t with 3 degrees of freedom, scaled to variance 2.5."""
    return y + np.sqrt(2.5 / 3.0) * rng.standard_t(3, len(y)), np.full(len(y), 2.5)


def _gross(y: Floats, rng: np.random.Generator) -> tuple[Floats, Floats]:
    """5 % of the labels carry N(0, 50), the rest none; v_t = 2.5 for all: which ones are bad is not known."""
    hit = rng.uniform(size=len(y)) < 0.05
    return y + hit * np.sqrt(50.0) * rng.standard_normal(len(y)), np.full(len(y), 2.5)


def _biased(y: Floats, rng: np.random.Generator) -> tuple[Floats, Floats]:
    """y~ = y + 1 + eps, eps ~ N(0, 1.5): second moment 2.5 about y, mean not 0."""
    return y + 1.0 + np.sqrt(1.5) * rng.standard_normal(len(y)), np.full(len(y), 2.5)


OTHER_LABELS: dict[str, Callable[[Floats, np.random.Generator], tuple[Floats, Floats]]] = {
    "multiplicative": _multiplicative,
    "quantised": _quantised,
    "clipped": _clipped,
    "heavy tails": _heavy_tails,
    "gross errors": _gross,
    "biased": _biased,
}
"""name -> function (y, rng) -> (noisy labels, the variance given to the filter)."""
