"""Flipped labels of binary classification: which of the labels y in {-1, +1} are wrong.

`independent`, `negative_only` and `positive_only` flip each label by its own coin; the other models flip
an exact number of labels, so that the realised rate is the nominal one. All return a new array. Test labels
are never passed through here.

Source: Han, Tsang, Chen, ECML PKDD 2016, Section 5.1 (symmetric); class-conditional: Natarajan et al., NIPS
2013; flips by coins: Kabán and Bootkrajang, LABELNOISE 2017.
"""

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from noisylabels.validation import number, whole

Labels = NDArray[np.int8]
REDRAWS = 10
"""How often coins are tossed again when all flipped labels are of one class."""


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


def far_outliers(y: Labels, rng: np.random.Generator, *, rate: float, f: NDArray[np.float64]) -> Labels:
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


def corrupt(y: Labels, label: str, rng: np.random.Generator, f: NDArray[np.float64] | None = None) -> Labels:
    """Labels y (n,) of -1 and +1 after the noise that ``label`` names (see `parse`); f: see `far_outliers`.

    Raises ValueError : a label that cannot be parsed, other classes than -1 and +1, a rate outside [0, 1].
    """
    model, parameters = parse(label)
    if not np.isin(y, (-1, 1)).all():
        raise ValueError(f"labels must be -1 or +1, got {np.unique(y)[:5].tolist()}")
    return MODELS[model](y, rng, **parameters, **({} if f is None else {"f": f}))
