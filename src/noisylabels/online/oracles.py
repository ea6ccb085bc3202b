"""Oracles: all that a learner may see of a round, fresh noisy copies of its instance and of its target.

Every call hands out another copy, the calls are counted, and no copy is handed out twice.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike

from noisylabels.noise.features import FeatureNoise, checked_covariance, real
from noisylabels.validation import Floats, as_array, number, of_class


class Round(NamedTuple):
    """One round: d, functions that return the next copy and raise IndexError when none is left, Sigma_t."""

    d: int
    instance: Callable[[], Floats]
    target: Callable[[], float]
    covariance: Floats | None = None


class Oracle:
    """for view in oracle: learner.partial_fit(view) -- one round at a time.

    rounds: an iterator of `Round`.
    `queries` and `target_queries` count the copies handed out in all rounds so far.
    """

    def __init__(self, rounds: Iterable[Round]) -> None:
        self._rounds = iter(rounds)
        self._now: Round | None = None
        self.queries = 0
        self.target_queries = 0
        self.round = 0

    def next_round(self) -> bool:
        """Go on to the next round; False if there is none. The copies that are left are lost."""
        self._now = next(self._rounds, None)
        self.round += self._now is not None
        return self._now is not None

    def __iter__(self) -> Iterator[Self]:
        while self.next_round():
            yield self

    @property
    def d(self) -> int:
        """Entries of the instance of this round; to know it costs no copy."""
        return self._current().d

    def instance(self) -> Floats:
        """A fresh copy x~ of the instance (d,). Raises ValueError: no copy is left, no round has begun."""
        x = self._copy(self._current().instance, "instance")
        self.queries += 1
        return x

    def target(self) -> float:
        """A fresh copy y~ of the target. Raises ValueError: no copy is left, no round has begun."""
        y = self._copy(self._current().target, "target")
        self.target_queries += 1
        return float(y)

    def covariance(self) -> Floats:
        """Sigma_t (d, d) of the noise on the instance. Raises ValueError: the oracle does not know it."""
        Sigma = self._current().covariance
        if Sigma is None:
            raise ValueError("covariance: this oracle does not know the covariance of its noise; give it one")
        return Sigma

    def _current(self) -> Round:
        if self._now is None:
            raise ValueError("oracle: no round has begun; call next_round(), or iterate over the oracle")
        return self._now

    def _copy(self, draw: Callable[[], Any], what: str) -> Any:
        try:
            return draw()
        except IndexError:
            raise ValueError(
                f"oracle: round {self.round} has no further independent copy of its {what}; "
                f"measure it again, or take a learner that needs fewer copies"
            ) from None


class StreamOracle(Oracle):
    """An iterator as an oracle: items (copies (m, d), targets) or (copies, targets, Sigma).

    targets: a number or (k,), each handed out once; `exact_targets`: they are free of noise, so the first one
    may be used any number of times.
    Raises ValueError, in the round concerned: wrong shape, not finite.
    """

    def __init__(self, items: Iterable[tuple[Any, ...]], *, exact_targets: bool = False) -> None:
        super().__init__(_given(item, exact_targets) for item in items)


class ArrayOracle(StreamOracle):
    """Repeated measurements: copies (T, m, d), targets (T,) or (T, k).

    covariance: of the noise of one measurement, (d, d) or (T, d, d), or None if unknown.
    Raises ValueError: wrong shape, not finite, lengths differ, covariance not symmetric or not positive
    semi-definite, complex numbers or objects.
    """

    def __init__(
        self, copies: ArrayLike, targets: ArrayLike, covariance: ArrayLike | None = None, *,
        exact_targets: bool = False,
    ) -> None:  # fmt: skip
        X = real("copies", copies, (None, None, None))
        y = real("targets", targets, (len(X),) if as_array("targets", targets).ndim == 1 else (len(X), None))
        Sigma = None if covariance is None else checked_covariance("covariance", covariance, X.shape[2])
        if Sigma is not None and Sigma.ndim == 3 and len(Sigma) != len(X):
            raise ValueError(f"covariance: has {len(Sigma)} rounds, the copies have {len(X)}")
        each = (None if Sigma is None else Sigma if Sigma.ndim == 2 else Sigma[t] for t in range(len(X)))
        super().__init__(zip(X, y, each, strict=True), exact_targets=exact_targets)


class SimulatedOracle(Oracle):
    """x~ = x_t + n_t and y~ = y_t + e_t from a clean sequence, any number of copies.

    X: (T, d).  y: (T,).  noise: law of n_t.  target_sd: standard deviation of the Gaussian e_t.
    The clean sequence lives in a closure: no attribute of the oracle leads to it.
    Raises ValueError: wrong shape, not finite, lengths or dimensions differ.
    """

    def __init__(
        self, X: ArrayLike, y: ArrayLike, noise: FeatureNoise, rng: np.random.Generator,
        target_sd: float = 0.0,
    ) -> None:  # fmt: skip
        of_class("noise", noise, FeatureNoise)
        of_class("rng", rng, np.random.Generator)
        target_sd = number("target_sd", target_sd, least=0)
        clean = real("X", X, (None, noise.d))
        target = real("y", y, (len(clean),))

        def round_(t: int) -> Round:
            def instance() -> Floats:
                return clean[t] + noise.draw(rng, np.array([t]))[0]

            def noisy_target() -> float:
                return float(target[t]) + (target_sd * rng.standard_normal() if target_sd else 0.0)

            return Round(noise.d, instance, noisy_target, noise.covariance(t))

        super().__init__(round_(t) for t in range(len(clean)))


def _given(item: tuple[Any, ...], exact_targets: bool) -> Round:
    copies = real("copies", item[0], (None, None), empty=True)
    targets = real("targets", np.atleast_1d(item[1]), (None,))
    Sigma = item[2] if len(item) > 2 else None
    if Sigma is not None:
        Sigma = checked_covariance("covariance", Sigma, copies.shape[1])
    instances = iter(copies)
    values = iter(targets)
    target = (lambda: targets[0]) if exact_targets else (lambda: _next(values))
    return Round(copies.shape[1], lambda: _next(instances), target, Sigma)


def _next(values: Iterator[Any]) -> Any:
    try:
        return next(values)
    except StopIteration:
        raise IndexError from None
