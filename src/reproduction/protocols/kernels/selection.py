"""The choice of kernel width and parameter by cross-validation.

The lowest number of wrong labels wins; ties:
the lowest log-loss sum_i log(1 + exp(-s_i f(x_i))), then the widest kernel, then the largest parameter.
If the labels judged on have one class only, the log-loss alone decides.

Source: Kaban and Bootkrajang, LABELNOISE 2017; the rules for ties are ours.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from noisylabels.kernels.gaussian import Gram, rate, rbf, useful_widths
from reproduction.protocols.kernels.data import Array, Labels
from reproduction.protocols.kernels.methods import Method
from reproduction.protocols.kernels.validation import Fold


class Choice(NamedTuple):
    """A width and a value of the parameter."""

    width: float
    parameter: float


class Judged(NamedTuple):
    """A candidate with its wrong labels and its log-loss per column of the method, (L,) each."""

    point: Choice
    wrong: NDArray[np.int64]
    loss: Array


def select(
    methods: Iterable[Method], D: Array, noisy: Labels, folds: list[Fold], parametrisation: str
) -> dict[str, dict[int, Choice]]:
    """Every method's choice for its columns of ``noisy`` (n, L); D (n, n) are squared distances.

    Each kernel matrix and its basis serve all methods, noise conditions and values of the parameter.
    """
    methods = list(methods)
    tried: dict[str, list[Judged]] = {m.label: [] for m in methods}
    for width, users in _by_width(methods, D, parametrisation):
        for label, candidates in _judged(users, rbf(D, width, parametrisation), width, noisy, folds).items():
            tried[label] += candidates
    labels = np.concatenate([fold.labels for fold in folds])
    both = (labels.min(axis=0) == 0) & (labels.max(axis=0) == 1)
    return {
        m.label: {
            k: _best(tried[m.label], at, bool(both[k]), parametrisation)
            for at, k in enumerate(m.columns(noisy))
        }
        for m in methods
    }


def _by_width(methods: list[Method], D: Array, parametrisation: str) -> Iterator[tuple[float, list[Method]]]:
    """Every useful width and the methods that try it."""
    wanted = {m.label: set(useful_widths(D, m.widths, parametrisation)) for m in methods}
    for width in sorted(set().union(*wanted.values())):
        yield width, [m for m in methods if width in wanted[m.label]]


def _judged(
    methods: list[Method], K: Array, width: float, noisy: Labels, folds: list[Fold]
) -> dict[str, list[Judged]]:
    """Every value of the parameter of every method on one kernel matrix K (n, n)."""
    wrong = {m.label: np.zeros((len(m.columns(noisy)), len(m.grid)), dtype=np.int64) for m in methods}
    loss = {m.label: np.zeros((len(m.columns(noisy)), len(m.grid))) for m in methods}
    for fold in folds:
        gram = Gram(K[np.ix_(fold.train, fold.train)], K[np.ix_(fold.held, fold.train)])
        observed = noisy[fold.train]
        for m in methods:
            own = observed[:, m.columns(noisy)]
            scores = m.spec.cls.fit_many(gram, own, m.grid, **m.spec.parameters).scores
            for at, k in enumerate(m.columns(noisy)):
                f, truth = scores[at], fold.labels[:, k]
                wrong[m.label][at] += ((f > 0) != truth).sum(axis=1)
                loss[m.label][at] += np.logaddexp(0.0, (1 - 2 * truth) * f).sum(axis=1)
    return {
        m.label: [
            Judged(Choice(float(width), float(value)), wrong[m.label][:, g], loss[m.label][:, g])
            for g, value in enumerate(m.grid)
        ]
        for m in methods
    }


def _best(candidates: list[Judged], k: int, both: bool, parametrisation: str) -> Choice:
    """The winner for column k of the method; ``both`` : the labels judged on have two classes."""

    def rank(tried: Judged) -> tuple[int, float, float, float]:
        wrong = int(tried.wrong[k]) if both else 0
        return wrong, tried.loss[k], rate(tried.point.width, parametrisation), -tried.point.parameter

    return min(candidates, key=rank).point
