"""Oracles hand out fresh noisy copies of samples and targets; `OnlineLearner` learns from them.

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
    """What an oracle can hand out in one round.

    Attributes
    ----------
    d : int
        Number of entries of the sample.
    instances : iterator of ndarray of shape (d,)
        Copies of the sample.
    targets : iterator of float
        Copies of the target.
    covariance : ndarray of shape (d, d) or None
        Covariance of the noise on the sample, if it is known.
    """

    d: int
    instances: Iterator[Floats]
    targets: Iterator[float]
    covariance: Floats | None = None


class Oracle:
    """A source of noisy copies, one round after the other.

    Iterate over it: ``for view in oracle: learner.partial_fit(view)``.

    Parameters
    ----------
    rounds : iterable of Round
        The rounds.

    Attributes
    ----------
    queries : int
        Copies of samples handed out in all rounds so far.
    target_queries : int
        Copies of targets handed out in all rounds so far.
    round : int
        Number of the present round, from 1.

    Examples
    --------
    >>> from noisylabels.online.oracles import ArrayOracle
    >>> oracle = ArrayOracle([[[1.0], [1.2]]], [3.0])
    >>> for view in oracle:
    ...     view.instance().tolist(), view.target()
    ([1.0], 3.0)
    >>> oracle.queries
    1
    """

    def __init__(self, rounds: Iterable[Round]) -> None:
        self._rounds = iter(rounds)
        self._current_round: Round | None = None
        self.queries = 0
        self.target_queries = 0
        self.round = 0

    def next_round(self) -> bool:
        """Go on to the next round. Copies that were not handed out are lost.

        Returns
        -------
        bool
            False if there are no more rounds.
        """
        self._current_round = next(self._rounds, None)
        if self._current_round is None:
            return False
        self.round += 1
        return True

    def __iter__(self) -> Iterator[Self]:
        while self.next_round():
            yield self

    @property
    def d(self) -> int:
        """Number of entries of the sample of this round; to ask for it costs no copy."""
        return self._current().d

    def instance(self) -> Floats:
        """Hand out a fresh copy of the sample.

        Returns
        -------
        ndarray of shape (d,)
            The copy.

        Raises
        ------
        ValueError
            If all copies have been handed out, or no round has begun.
        """
        x: Floats = self._copy(self._current().instances, "instance")
        self.queries += 1
        return x

    def target(self) -> float:
        """Hand out a fresh copy of the target.

        Returns
        -------
        float
            The copy.

        Raises
        ------
        ValueError
            If all copies have been handed out, or no round has begun.
        """
        y = float(self._copy(self._current().targets, "target"))
        self.target_queries += 1
        return y

    def covariance(self) -> Floats:
        """Return the covariance of the noise on the sample.

        Returns
        -------
        ndarray of shape (d, d)
            The covariance.

        Raises
        ------
        ValueError
            If the oracle does not know it.
        """
        Sigma = self._current().covariance
        if Sigma is None:
            fault = "this oracle does not know the covariance of its noise"
            raise ValueError(f"covariance: {fault}; give it one")
        return Sigma

    def _current(self) -> Round:
        if self._current_round is None:
            advice = "call next_round(), or iterate over the oracle"
            raise ValueError(f"oracle: no round has begun; {advice}")
        return self._current_round

    def _copy(self, copies: Iterator[Any], kind: str) -> Any:
        for copy in copies:
            return copy
        fault = f"round {self.round} has no further independent copy of its {kind}"
        advice = "measure it again, or take a learner that needs fewer copies"
        raise ValueError(f"oracle: {fault}; {advice}")


class StreamOracle(Oracle):
    """An oracle of rounds that arrive one by one.

    Parameters
    ----------
    items : iterable of tuple
        For each round (copies, targets) or (copies, targets, covariance): copies of shape (m, d),
        and a target or several, each handed out once.
    exact_targets : bool, default False
        The targets are free of noise, so the first one may be used any number of times.

    Raises
    ------
    ValueError
        In the round concerned, if a shape is wrong or a value is not finite.

    Examples
    --------
    >>> from noisylabels.online.oracles import StreamOracle
    >>> oracle = StreamOracle(iter([([[1.0, 2.0]], 3.0)]), exact_targets=True)
    >>> oracle.next_round(), oracle.target(), oracle.target()
    (True, 3.0, 3.0)
    """

    def __init__(self, items: Iterable[tuple[Any, ...]], *, exact_targets: bool = False) -> None:
        def make_round(X: ArrayLike, y: ArrayLike, Sigma: ArrayLike | None = None) -> Round:
            copies = real("copies", X, (None, None), empty=True)
            targets = real("targets", np.atleast_1d(y), (None,))
            d = copies.shape[1]
            if Sigma is not None:
                Sigma = checked_covariance("covariance", Sigma, d)
            handed_out = repeat(targets[0]) if exact_targets else iter(targets)
            return Round(d, iter(copies), handed_out, Sigma)

        super().__init__(make_round(*item[:3]) for item in items)


class ArrayOracle(StreamOracle):
    """An oracle of repeated measurements in arrays.

    Parameters
    ----------
    copies : array_like of shape (n_rounds, m, d)
        Measurements of each sample.
    targets : array_like of shape (n_rounds,) or (n_rounds, k)
        One or several measurements of each target.
    covariance : array_like of shape (d, d) or (n_rounds, d, d), optional
        Covariance of the noise of one measurement, if it is known.
    exact_targets : bool, default False
        The targets are free of noise, so the first one may be used any number of times.

    Raises
    ------
    ValueError
        If a shape is wrong, a value is not a finite real number, or a covariance is not symmetric
        or not positive semi-definite.

    Examples
    --------
    >>> import numpy as np
    >>> from noisylabels import TwoCopy
    >>> from noisylabels.online.oracles import ArrayOracle
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(3000, 1, 2))
    >>> oracle = ArrayOracle(X + 0.5 * rng.normal(size=(3000, 2, 2)), X[:, 0] @ [0.6, -0.3])
    >>> TwoCopy(eta=0.01).fit(oracle).predict([1.0, 0.0]) > 0.5
    True
    """

    def __init__(
        self,
        copies: ArrayLike,
        targets: ArrayLike,
        covariance: ArrayLike | None = None,
        *,
        exact_targets: bool = False,
    ) -> None:
        X = real("copies", copies, (None, None, None))
        n_rounds = len(X)
        is_vector = as_array("targets", targets).ndim == 1
        y = real("targets", targets, (n_rounds,) if is_vector else (n_rounds, None))
        covariances: Iterable[Floats | None] = repeat(None, n_rounds)
        if covariance is not None:
            Sigma = checked_covariance("covariance", covariance, X.shape[2])
            if Sigma.ndim == 3 and len(Sigma) != n_rounds:
                fault = f"has {len(Sigma)} rounds, the copies have {n_rounds}"
                raise ValueError(f"covariance: {fault}")
            covariances = Sigma if Sigma.ndim == 3 else repeat(Sigma, n_rounds)
        super().__init__(zip(X, y, covariances, strict=True), exact_targets=exact_targets)


class SimulatedOracle(Oracle):
    """An oracle that adds noise to a clean sequence, with any number of copies.

    No attribute of the oracle leads to the clean sequence, so that no learner can see it.

    Parameters
    ----------
    X : array_like of shape (n_rounds, d)
        Clean samples.
    y : array_like of shape (n_rounds,)
        Clean targets.
    noise : FeatureNoise
        Distribution of the noise on the samples.
    rng : numpy.random.Generator
        Source of the draws.
    target_sd : float, default 0.0
        Standard deviation of the Gaussian noise on the targets.

    Raises
    ------
    ValueError
        If a shape is wrong or a value is not finite.

    Examples
    --------
    >>> import numpy as np
    >>> from noisylabels.noise.additive import FeatureNoise
    >>> from noisylabels.online.oracles import SimulatedOracle
    >>> noise = FeatureNoise(variances=[0.0, 0.0])
    >>> oracle = SimulatedOracle([[1.0, 2.0]], [3.0], noise, np.random.default_rng(0))
    >>> oracle.next_round(), oracle.instance().tolist(), oracle.instance().tolist()
    (True, [1.0, 2.0], [1.0, 2.0])
    """

    def __init__(
        self,
        X: ArrayLike,
        y: ArrayLike,
        noise: FeatureNoise,
        rng: np.random.Generator,
        target_sd: float = 0.0,
    ) -> None:
        of_class("noise", noise, FeatureNoise)
        of_class("rng", rng, np.random.Generator)
        target_sd = number("target_sd", target_sd, least=0)
        clean = real("X", X, (None, noise.d))
        target = real("y", y, (len(clean),))

        def copies_of_sample(t: int) -> Iterator[Floats]:
            while True:
                yield clean[t] + noise.draw(rng, np.array([t]))[0]

        def copies_of_target(t: int) -> Iterator[float]:
            while True:
                yield target[t] + (target_sd * rng.standard_normal() if target_sd else 0)

        def make_round(t: int) -> Round:
            return Round(noise.d, copies_of_sample(t), copies_of_target(t), noise.covariance(t))

        super().__init__(make_round(t) for t in range(len(clean)))


class OnlineLearner:
    """A learner that predicts in every round, then learns from noisy copies.

    A subclass sets `name`, its name in experiments, keeps each parameter of ``__init__`` under its
    own name, and implements ``_start``, ``_values`` and ``_learn``.

    Examples
    --------
    >>> from noisylabels import OracleOGD
    >>> from noisylabels.online.oracles import ArrayOracle, OnlineLearner
    >>> learner = OracleOGD(eta=0.25)
    >>> isinstance(learner, OnlineLearner)
    True
    >>> learner.predict([1.0, 0.0])
    0.0
    >>> learner.fit(ArrayOracle([[[1.0, 0.0]]], [1.0])).predict([1.0, 0.0])
    0.5
    """

    name: ClassVar[str]
    _d: int | None = None

    def predict(self, X: ArrayLike) -> Any:
        """Predict with the present hypothesis, which is 0 before the first round.

        Parameters
        ----------
        X : array_like of shape (d,) or (n, d)
            A sample or several.

        Returns
        -------
        float or ndarray of shape (n,)
            The predictions.
        """
        is_vector = as_array("X", X).ndim < 2
        samples = real("X", X, (None,) if is_vector else (None, None))
        rows = np.atleast_2d(samples)
        if self._d not in (None, rows.shape[1]):
            raise ValueError(f"X: rows have {rows.shape[1]} entries, the learner has {self._d}")
        if self._d is None:
            values = np.zeros(len(rows))
        else:
            values = self._values(rows)
        return float(values[0]) if samples.ndim == 1 else values

    def partial_fit(self, oracle: Oracle) -> Self:
        """Learn from the present round of an oracle.

        Parameters
        ----------
        oracle : Oracle
            The oracle.

        Returns
        -------
        OnlineLearner
            The learner itself.

        Raises
        ------
        ValueError
            If there are too few copies, samples have another number of entries than before, a value
            is not finite, or the hypothesis diverges.
        """
        self._learn(of_class("oracle", oracle, Oracle))
        return self

    def fit(self, oracle: Oracle) -> Self:
        """Reset the learner and train it on the remaining rounds of an oracle.

        Parameters
        ----------
        oracle : Oracle
            The oracle.

        Returns
        -------
        OnlineLearner
            The learner itself.
        """
        of_class("oracle", oracle, Oracle)
        self._d = None
        for view in oracle:
            self._learn(view)
        return self

    def _copy(self, oracle: Oracle) -> Floats:
        """Ask for a copy of the sample; the first one starts the learner."""
        x = real("instance", oracle.instance(), (None,))
        self._ready(len(x))
        return x

    def _ready(self, d: int) -> None:
        if self._d is None:
            self._d = d
            self._start(d)
        elif d != self._d:
            fault = f"has {d} entries, the learner has {self._d}"
            raise ValueError(f"instance: {fault}; use fit to restart")

    def _check(self, *values: Floats) -> None:
        """Refuse to go on after values that are not finite."""
        for value in values:
            if not np.isfinite(value).all():
                advice = "take a smaller step eta or scale the instances"
                raise ValueError(f"{self.name}: diverged; {advice}")

    def _start(self, d: int) -> None:
        raise NotImplementedError

    def _values(self, X: Floats) -> Floats:
        raise NotImplementedError

    def _learn(self, oracle: Oracle) -> None:
        raise NotImplementedError
