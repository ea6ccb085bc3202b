"""Labels that are flipped at random: models that flip them, simulated crowds, and the flip matrix of fits.

The models are of binary classification: which of the labels y in {-1, +1} are wrong. `independent`,
`negative_only` and `positive_only` flip each label by its own coin; the other models flip an exact number of
labels, so that the realised rate is the nominal one. All return a new array. Test labels are never passed
through here. What the labels of a crowd say is found by `noisylabels.crowds`.

The flip matrix is Omega = (omega_jk), omega_jk = P(observed k | true j).
P~_n^k = sum_j omega_jk s_j(f_n), s the softmax of K decision values F (n, K); for two classes also of one
f (n,), s_1 = sigma(f). Rows of Omega are true classes and sum to one. Class names are taken to be right where
omega_01 + omega_10 < 1, and for K > 2 where each omega_jj is the largest entry of its row and of its column.

Source: Han, Tsang, Chen, ECML PKDD 2016, Section 5.1 (symmetric); class-conditional: Natarajan et al., NIPS
2013; flips by coins and Omega, eq. (1)-(6): Kabán and Bootkrajang, LABELNOISE 2017; for K > 2 Bootkrajang and
Kabán, ECML PKDD 2012, Section 3.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import expit, log_expit

from noisylabels.validation import Array, Floats, finite, number, whole

Labels = NDArray[np.int8]
REDRAWS = 10
"""How often coins are tossed again when all flipped labels are of one class."""


def _check_classes(y: Labels) -> None:
    if not np.isin(y, (-1, 1)).all():
        raise ValueError(f"labels must be -1 or +1, got {np.unique(y)[:5].tolist()}")


def _share(rate: float, n: int, name: str = "rate") -> int:
    """round(rate n); ValueError: a rate outside [0, 1]."""
    return round(number(name, rate, least=0, most=1) * n)


def _flipped(y: Labels, chosen: NDArray[Any]) -> Labels:
    noisy = y.copy()
    noisy[chosen] *= -1
    return noisy


def symmetric(y: Labels, rng: np.random.Generator, *, rate: float) -> Labels:
    """round(rate n) labels, drawn without replacement, are flipped; beyond 1/2 noise outweighs the labels."""
    return _flipped(y, rng.choice(len(y), _share(rate, len(y)), replace=False))


def compound(y: Labels, rng: np.random.Generator, *, rate: float, times: int) -> Labels:
    """`symmetric` applied ``times`` times over: the effective rate is (1 - (1 - 2 rate)^times) / 2 <= 1/2."""
    for _ in range(whole("times", times, 1)):
        y = symmetric(y, rng, rate=rate)
    return y


def uniform(y: Labels, rng: np.random.Generator, *, rate: float) -> Labels:
    """round(rate n) labels are replaced by fair coins: an effective rate of about rate / 2."""
    noisy = y.copy()
    chosen = rng.choice(len(y), _share(rate, len(y)), replace=False)
    noisy[chosen] = np.where(rng.random(len(chosen)) < 0.5, 1, -1)
    return noisy


def class_conditional(y: Labels, rng: np.random.Generator, *, positive: float, negative: float) -> Labels:
    """round(positive n+) of the labels +1 and round(negative n-) of the labels -1 are flipped."""
    noisy = y.copy()
    for label, rate, name in ((1, positive, "positive"), (-1, negative, "negative")):
        members = np.flatnonzero(y == label)
        noisy[rng.choice(members, _share(rate, len(members), name), replace=False)] *= -1
    return noisy


def _coins(y: Labels, rng: np.random.Generator, positive: float, negative: float) -> Labels:
    """Each label +1 is flipped with probability ``positive``, each label -1 with ``negative``."""
    for _ in range(1 + REDRAWS):
        noisy = _flipped(y, rng.random(len(y)) < np.where(y > 0, positive, negative))
        if len(np.unique(noisy)) == 2:
            return noisy
    raise ValueError(
        f"{len(y)} labels of which {np.count_nonzero(y > 0)} are +1 were of one class after flips with "
        f"probability {positive:g} (+1) and {negative:g} (-1), {1 + REDRAWS} times; lower the rate"
    )


def independent(y: Labels, rng: np.random.Generator, *, rate: float) -> Labels:
    """P(y~ != y) = rate < 1/2 for every label, independently; drawn again while one class is left."""
    rate = number("rate", rate, least=0, below=0.5)
    return _coins(y, rng, rate, rate)


def negative_only(y: Labels, rng: np.random.Generator, *, rate: float) -> Labels:
    """omega_01 = P(y~ = +1 | y = -1) = rate < 1, omega_10 = 0; drawn again while one class is left."""
    return _coins(y, rng, 0.0, number("rate", rate, least=0, below=1))


def positive_only(y: Labels, rng: np.random.Generator, *, rate: float) -> Labels:
    """omega_10 = P(y~ = -1 | y = +1) = rate < 1, omega_01 = 0; drawn again while one class is left."""
    return _coins(y, rng, number("rate", rate, least=0, below=1), 0.0)


def far_outliers(y: Labels, rng: np.random.Generator, *, rate: float, f: Floats) -> Labels:
    """The round(rate n) labels with the largest |f| are flipped, f (n,) a good classifier's decision values.

    These are the points of which Theorem 2 speaks: far from the boundary, on the wrong side. No randomness.
    """
    farthest = np.argsort(-np.abs(f), kind="stable")
    return _flipped(y, farthest[: _share(rate, len(y))])


MODELS: dict[str, Callable[..., Labels]] = {
    model.__name__: model
    for model in (
        symmetric, compound, uniform, class_conditional, independent, negative_only, positive_only,
        far_outliers,
    )
}  # fmt: skip


def numbers(model: str) -> list[str]:
    """The names of the numbers that follow the model in a label, in order."""
    return [name for name in inspect.signature(MODELS[model]).parameters if name not in ("y", "rng", "f")]


def parse(label: str) -> tuple[str, dict[str, float]]:
    """``"compound 0.2 3"`` -> ("compound", {"rate": 0.2, "times": 3}): the model, then its numbers in order.

    Raises ValueError : an unknown model, something that is not a number, too few or too many numbers.
    """
    model, *given = label.split()
    if model not in MODELS:
        raise ValueError(f"noise {label!r}: unknown model {model!r}; known: {', '.join(MODELS)}")
    names = numbers(model)
    try:
        pairs = list(zip(names, given, strict=False))
        values = {name: int(text) if name == "times" else float(text) for name, text in pairs}
    except ValueError as error:
        raise ValueError(f"noise {label!r}: {error}") from None
    if len(names) != len(given):
        raise ValueError(f"noise {label!r}: {model} takes {' and '.join(names)}, got {len(given)} numbers")
    return model, values


def corrupt(y: Labels, label: str, rng: np.random.Generator, f: Floats | None = None) -> Labels:
    """Labels y (n,) of -1 and +1 after the noise that ``label`` names (see `parse`); f: see `far_outliers`.

    Raises ValueError : a label that cannot be parsed, other classes than -1 and +1, a rate outside [0, 1].
    """
    model, parameters = parse(label)
    _check_classes(y)
    return MODELS[model](y, rng, **parameters, **({} if f is None else {"f": f}))


@dataclass(frozen=True)
class Crowd:
    """One entry per label: item, worker and response of -1 and +1, (L,) each; the workers' accuracy (W,)."""

    item: NDArray[np.int32]
    worker: NDArray[np.int32]
    response: Labels
    accuracy: Floats


def simulate(
    y: Labels, rng: np.random.Generator, *, workers: int = 164, per_item: int = 10,
    beta: tuple[float, float] = (6.0, 2.0), spammers: float = 0.05,
) -> Crowd:  # fmt: skip
    """Labels of items with the true labels y (n,), -1 and +1: each item goes to per_item different workers.

    Each worker is right with a probability drawn from Beta(*beta); round(spammers workers) of them, the
    spammers, with probability 1/2.
    Raises ValueError : per_item not in 1..workers, a share outside [0, 1], labels other than -1 and +1.
    """
    whole("per_item", per_item, 1, workers)
    number("spammers", spammers, least=0, most=1)
    _check_classes(y)
    accuracy = rng.beta(*beta, size=workers)
    accuracy[rng.choice(workers, round(spammers * workers), replace=False)] = 0.5
    worker = np.argsort(rng.random((len(y), workers)), axis=1)[:, :per_item].ravel().astype(np.int32)
    item = np.repeat(np.arange(len(y), dtype=np.int32), per_item)
    right = rng.random(len(item)) < accuracy[worker]
    response = np.where(right, y[item], -y[item]).astype(np.int8)
    return Crowd(item, worker, response, accuracy)


def subset(item: NDArray[np.int32], m: int, rng: np.random.Generator) -> NDArray[np.intp]:
    """Sorted positions of m labels of each item, drawn without replacement; all of an item that has fewer.

    From the same state of rng, the labels for m are among those for m + 1. Raises ValueError : m < 1.
    """
    whole("m", m, 1)
    shuffled = rng.permutation(len(item))
    order = shuffled[np.argsort(item[shuffled], kind="stable")]
    items = item[order]
    first = np.flatnonzero(np.r_[True, items[1:] != items[:-1]]) if len(items) else np.zeros(0, np.intp)
    place = np.arange(len(items)) - np.repeat(first, np.diff(np.r_[first, len(items)]))
    return np.sort(order[place < m])


# The flip matrix

FLIPPED = 0.2  # 1 - omega_jj where fits begin
SMALLEST_MASS = 1e-12  # a class with fewer examples than this keeps its row
PROJECTED = 0.49  # both flip rates after the two classes have changed names


def start(K: int) -> Floats:
    """omega_jj = 0.8, the rest of each row in equal parts."""
    return np.where(np.eye(K, dtype=bool), 1.0 - FLIPPED, FLIPPED / (K - 1))


START = start(2)
"""Where fits of two classes begin."""


def from_rates(omega01: float, omega10: float) -> Floats:
    """[[1 - omega01, omega01], [omega10, 1 - omega10]]."""
    return np.array([[1.0 - omega01, omega01], [omega10, 1.0 - omega10]])


def checked(omega: ArrayLike, K: int = 2) -> Floats:
    """Omega as (K, K) floats; for K > 2, `START` means `start` (K).

    Raises ValueError : not (K, K), entries outside [0, 1], rows that do not sum to 1, permuted class names.
    """
    matrix = finite("omega", omega, (2, 2) if K == 2 else (None, None)).copy()
    if K > 2 and matrix.shape == (2, 2) and np.array_equal(matrix, START):
        return start(K)
    if matrix.shape != (K, K):
        wrong = f"flip matrix of {K} classes must have shape ({K}, {K}), got {matrix.shape}"
    elif not (np.all(matrix >= 0) and np.allclose(matrix.sum(axis=1), 1.0)):
        wrong = f"flip matrix must have entries >= 0 and rows that sum to 1, got {matrix.tolist()}"
    elif not permuted(matrix):
        return matrix
    elif K == 2:
        rule = "flip rates omega_01 + omega_10 must be less than 1, else the classes change names"
        wrong = f"{rule}; got {matrix[0, 1]:g} + {matrix[1, 0]:g}"
    else:
        rule = "diagonal of the flip matrix must hold the largest entry of each row and column"
        wrong = f"{rule}, else the classes change names; got {matrix.tolist()}"
    raise ValueError(f"omega: the {wrong}")


def log_sum(F: Floats) -> Floats:
    """log sum_j exp F_nj of F (n, K): (n, 1). Quick where the columns of F are contiguous."""
    top = F.max(axis=1, keepdims=True)
    return np.asarray(top + np.log(np.exp(F - top).sum(axis=1, keepdims=True)))


def expected(f: Floats, labels: Array, omega: Floats, norm: Floats | None = None) -> tuple[Floats, Floats]:
    """`log_likelihood` and `posterior` at once; norm: `log_sum` of f (n, K), if it is known."""
    with np.errstate(divide="ignore"):  # -inf where Omega has a zero
        log_omega = np.log(omega)[:, np.asarray(labels).astype(np.intp)]
    if f.ndim == 1:
        zero, one = log_omega[0] + log_expit(-f), log_omega[1] + log_expit(f)
        return np.logaddexp(zero, one), np.asarray(expit(one - zero))
    joint = f + log_omega.T
    total = log_sum(joint)
    return (total - (log_sum(f) if norm is None else norm))[:, 0], np.exp(joint - total)


def log_likelihood(f: Floats, labels: Array, omega: Floats) -> Floats:
    """log P~_n of the observed labels (n,), 0..K-1, at decision values f (n,) or (n, K): (n,)."""
    return expected(f, labels, omega)[0]


def posterior(f: Floats, labels: Array, omega: Floats) -> Floats:
    """q_nj = P(y_n = j | x_n, y~_n) = omega_j,y~ s_j / P~ (n, K), computed in logs; of f (n,), q_n1 (n,)."""
    return expected(f, labels, omega)[1]


def updated(q: Floats, labels: Array, omega: Floats, weights: Floats | None = None) -> Floats:
    """omega_jk = sum_n a_n q_nj 1(y~_n = k) / sum_n a_n q_nj for q (n, K), or (n,), which is q_n1.

    One such update never decreases the likelihood. weights a (n,): of the examples. A row without mass is
    left as it is.
    """
    if q.ndim == 2:
        share = q if weights is None else q * weights[:, np.newaxis]
        counts = share.T @ np.eye(q.shape[1])[labels]
        mass = counts.sum(axis=1, keepdims=True)
        enough = mass > SMALLEST_MASS
        return np.where(enough, counts / np.where(enough, mass, 1.0), omega)
    a = np.ones_like(q) if weights is None else weights
    one = np.asarray(labels) == 1
    result = omega.copy()
    for true, part in ((0, a * (1.0 - q)), (1, a * q)):
        total = part.sum()
        if total > SMALLEST_MASS:
            flipped = min(part[one != bool(true)].sum() / total, 1.0)
            result[true, [true, 1 - true]] = 1.0 - flipped, flipped
    return result


def permuted(omega: Floats) -> bool:
    """Whether class names have changed places, see the top of this page."""
    if len(omega) == 2:
        return bool(omega[0, 1] + omega[1, 0] >= 1.0)
    diagonal = np.diag(omega)
    return bool((diagonal < omega.max(axis=1)).any() or (diagonal < omega.max(axis=0)).any())


def projected(K: int = 2) -> Floats:
    """Omega after a permutation of the names: 0.98 / K off the diagonal, almost no information."""
    off = 2.0 * PROJECTED / K
    return np.where(np.eye(K, dtype=bool), 1.0 - (K - 1) * off, off)
