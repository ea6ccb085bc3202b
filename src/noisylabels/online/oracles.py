"""Oracles hand out fresh noisy copies of every round's instance and target; `OnlineLearner` learns from them.

Every call hands out another copy, the calls are counted, and no copy is handed out twice.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import repeat
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike

from noisylabels.noise.additive import FeatureNoise, checked_covariance
from noisylabels.validation import Floats, as_array, number, of_class, real


class Round(NamedTuple):
    """One round: d, iterators over copies of the instance (d,) and of the target, and Sigma_t, if known."""

    d: int
    instances: Iterator[Floats]
    targets: Iterator[float]
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
        x: Floats = self._copy(self._current().instances, "instance")
        self.queries += 1
        return x

    def target(self) -> float:
        """A fresh copy y~ of the target. Raises ValueError: no copy is left, no round has begun."""
        y = float(self._copy(self._current().targets, "target"))
        self.target_queries += 1
        return y

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

    def _copy(self, copies: Iterator[Any], what: str) -> Any:
        for copy in copies:
            return copy
        none_left = f"round {self.round} has no further independent copy of its {what}"
        raise ValueError(f"oracle: {none_left}; measure it again, or take a learner that needs fewer copies")


class StreamOracle(Oracle):
    """An iterator as an oracle: items (copies (m, d), targets) or (copies, targets, Sigma).

    targets: a number or (k,), each handed out once; `exact_targets`: they are free of noise, so the first one
    may be used any number of times.
    Raises ValueError, in the round concerned: wrong shape, not finite.
    """

    def __init__(self, items: Iterable[tuple[Any, ...]], *, exact_targets: bool = False) -> None:
        def round_(X: ArrayLike, y: ArrayLike, Sigma: ArrayLike | None = None) -> Round:
            copies = real("copies", X, (None, None), empty=True)
            targets = real("targets", np.atleast_1d(y), (None,))
            if Sigma is not None:
                Sigma = checked_covariance("covariance", Sigma, copies.shape[1])
            return Round(
                copies.shape[1], iter(copies), repeat(targets[0]) if exact_targets else iter(targets), Sigma
            )

        super().__init__(round_(*item[:3]) for item in items)


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
        Sigma: Iterable[Floats | None] = repeat(None, len(X))
        if covariance is not None:
            checked = checked_covariance("covariance", covariance, X.shape[2])
            if checked.ndim == 3 and len(checked) != len(X):
                raise ValueError(f"covariance: has {len(checked)} rounds, the copies have {len(X)}")
            Sigma = checked if checked.ndim == 3 else repeat(checked, len(X))
        super().__init__(zip(X, y, Sigma, strict=True), exact_targets=exact_targets)


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
            instances = (clean[t] + noise.draw(rng, np.array([t]))[0] for _ in repeat(None))
            targets = (
                target[t] + (target_sd * rng.standard_normal() if target_sd else 0) for _ in repeat(None)
            )
            return Round(noise.d, instances, targets, noise.covariance(t))

        super().__init__(round_(t) for t in range(len(clean)))


class OnlineLearner:
    """f_1 = 0; round t: predict with f_t, then f_{t+1} from fresh noisy copies of (x_t, y_t).

    A subclass sets `name`, its name in experiments, keeps each parameter of ``__init__`` under its own name,
    and implements `_start`, `_values` and `_learn`.
    """

    name: ClassVar[str]
    _d: int | None = None

    def predict(self, X: ArrayLike) -> Any:
        """f(x) of the present hypothesis; 0 before the first round. X: (d,) -> float; (n, d) -> (n,)."""
        rows = real("X", X, (None,) if as_array("X", X).ndim < 2 else (None, None))
        flat = np.atleast_2d(rows)
        if self._d not in (None, flat.shape[1]):
            raise ValueError(f"X: rows have {flat.shape[1]} entries, the learner has {self._d}")
        values = np.zeros(len(flat)) if self._d is None else self._values(flat)
        return float(values[0]) if rows.ndim == 1 else values

    def partial_fit(self, oracle: Oracle) -> Self:
        """Learn from the present round of `oracle`.

        Raises ValueError: too few independent copies, another dimension than before, not finite, divergence.
        """
        self._learn(of_class("oracle", oracle, Oracle))
        return self

    def fit(self, oracle: Oracle) -> Self:
        """Forget everything, then learn from all rounds that `oracle` has left."""
        of_class("oracle", oracle, Oracle)
        self._d = None
        for view in oracle:
            self._learn(view)
        return self

    def _copy(self, oracle: Oracle) -> Floats:
        """A fresh copy of the instance (d,); the first one ever starts the learner."""
        x = real("instance", oracle.instance(), (None,))
        self._ready(len(x))
        return x

    def _ready(self, d: int) -> None:
        if self._d is None:
            self._d = d
            self._start(d)
        elif d != self._d:
            raise ValueError(f"instance: has {d} entries, the learner has {self._d}; use fit to restart")

    def _check(self, *values: Floats) -> None:
        """ValueError unless all values are finite."""
        if not all(np.isfinite(each).all() for each in values):
            raise ValueError(f"{self.name}: diverged; take a smaller step eta or scale the instances")

    def _start(self, d: int) -> None:
        raise NotImplementedError

    def _values(self, X: Floats) -> Floats:
        raise NotImplementedError

    def _learn(self, oracle: Oracle) -> None:
        raise NotImplementedError
