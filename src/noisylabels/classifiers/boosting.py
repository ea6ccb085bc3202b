"""Boosters of linear members or small trees, for labels that are clean or flipped.

The exponential loss with flipped labels is a exp(-s H) + b exp(s H). With gamma = (gamma01,
gamma10), the rates of the flips 0 -> 1 and 1 -> 0, a point labelled +1 costs (1 - gamma01) exp(-H)
+ gamma01 exp(H), and one labelled -1 costs (1 - gamma10) exp(H) + gamma10 exp(-H). gamma = 0 is
AdaBoost's loss.

Source: Kabán and Bootkrajang, LABELNOISE 2017, eq. (11)-(15). The step of (15) has a closed form.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar, Literal, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from noisylabels.classifiers.base import (
    DecisionClassifier,
    Repeated,
    TrueLabelPosterior,
    check_rows,
    features_of,
    refuse_trusted_twice,
    rows_at,
    trusted_rows,
)
from noisylabels.compilation import compile_kernel
from noisylabels.fixed_order.exp_and_log import LARGEST, exp_of_negative
from noisylabels.noise import flip_matrix as flips
from noisylabels.seeding import generator
from noisylabels.solvers import weighted_logistic
from noisylabels.solvers.regression_tree import RegressionTree, grow_tree, sort_columns
from noisylabels.validation import (
    Floats,
    choice,
    flag,
    number,
    numbers,
    refuse_other_index,
    shown,
    whole,
)

Base = Literal["logistic", "robust_logistic"]
LossWeights = Literal["convex", "likelihood"]
NegativeWeights = Literal["flip", "clip"]
Weighting = Literal["resample", "reweight"]
START = 0.2  # starting value of both flip rates of a robust base
LARGEST_RATE = 0.49
GUARD = 1e-12
"""Share of the total weight that is added to both sides of the exact step, so that |alpha| <= 13.9.
"""
STILL = 1e-3  # gamma has converged when it moves by less in the last round


def mixture(
    s: ArrayLike,
    gamma: tuple[float, float],
    loss_weights: str = "convex",
) -> tuple[Floats, Floats]:
    r"""Compute the weights of both terms of the loss from the flip rates.

    Parameters
    ----------
    s : array_like of shape (n,)
        Labels, -1 and +1.
    gamma : pair of float
        Rates of the flips from the first to the second class and back, each in [0, 0.5).
    loss_weights : {"convex", "likelihood"}, default "convex"
        How the rates weigh the terms, see Notes.

    Returns
    -------
    a : ndarray of shape (n,)
        Weight of the term for a label that is right.
    b : ndarray of shape (n,)
        Weight of the term for one that was flipped.

    Raises
    ------
    ValueError
        If there are not two rates, one is outside [0, 0.5), or the name is unknown.

    Examples
    --------
    >>> from noisylabels.classifiers.boosting import mixture
    >>> a, b = mixture([1, -1], (0.25, 0.125))
    >>> a.tolist(), b.tolist()
    ([0.75, 0.875], [0.25, 0.125])
    >>> a, b = mixture([1, -1], (0.25, 0.125), "likelihood")
    >>> a.tolist(), b.tolist()
    ([0.875, 0.75], [0.25, 0.125])

    Notes
    -----
    With "convex", as the paper draws it, :math:`(a, b)` is :math:`(1 - \gamma_{01}, \gamma_{01})`
    for :math:`s = 1` and :math:`(1 - \gamma_{10}, \gamma_{10})` for :math:`s = -1`. With
    "likelihood" they are the probabilities of the label s if s is the true class, and if the other
    class is, :math:`(1 - \gamma_{10}, \gamma_{01})` and :math:`(1 - \gamma_{01}, \gamma_{10})`.
    Both are the same for symmetric noise.
    """
    choice("loss_weights", loss_weights, get_args(LossWeights))
    rates = numbers("gamma", gamma, least=0.0, below=0.5)
    if len(rates) != 2:
        rule = "must be the two flip rates (gamma01, gamma10)"
        raise ValueError(f"gamma: {rule}, got {shown(gamma)}")
    rate01, rate10 = rates
    positive = np.asarray(s) > 0
    b = np.where(positive, rate01, rate10)
    if loss_weights == "convex":
        a = 1.0 - b
    else:
        a = np.where(positive, 1.0 - rate10, 1.0 - rate01)
    return a, b


def exponential_loss(H: ArrayLike, s: ArrayLike, gamma: tuple[float, float]) -> Floats:
    """Compute the exponential loss of each row under flips, as the paper draws it.

    Parameters
    ----------
    H : array_like of shape (n,)
        Decision values.
    s : array_like of shape (n,)
        Labels, -1 and +1.
    gamma : pair of float
        Flip rates, see `mixture`.

    Returns
    -------
    ndarray of shape (n,)
        The losses.

    Raises
    ------
    ValueError
        If there are not two rates, or one is outside [0, 0.5).

    Examples
    --------
    >>> from noisylabels.classifiers.boosting import exponential_loss
    >>> exponential_loss([0.0, 1.0], [1, 1], (0.25, 0.0)).round(3).tolist()
    [1.0, 0.955]

    Notes
    -----
    It is :math:`a e^{-s H} + b e^{s H}` with the weights "convex" of `mixture`.
    """
    a, b = mixture(s, gamma)
    scores = np.asarray(H, dtype=float)
    margin = np.asarray(s) * scores
    loss_if_right = a * np.exp(-margin)
    return np.asarray(loss_if_right + b * np.exp(margin))


class FlippedExponential:
    r"""The exponential loss of n rows under flips, for the loop that adds members.

    Parameters
    ----------
    s : ndarray of shape (n,)
        Labels, -1.0 and +1.0.
    gamma : pair of float, default (0.0, 0.0)
        Flip rates, see `mixture`.
    loss_weights : {"convex", "likelihood"}, default "convex"
        How the rates weigh the terms, see `mixture`.
    negative_weights : {"flip", "clip"}, default "flip"
        What `weigh` does with a weight below 0: use the opposite label with the size of the weight,
        or set it to 0.

    Raises
    ------
    ValueError
        If there are not two rates, one is outside [0, 0.5), or a name is unknown.

    Examples
    --------
    >>> import numpy as np
    >>> from noisylabels.classifiers.boosting import FlippedExponential
    >>> loss = FlippedExponential(np.array([1.0, 1.0, -1.0]), gamma=(0.25, 0.25))
    >>> weights, labels = loss.weigh(np.array([0.0, 2.0, 0.0]))
    >>> labels.tolist()  # the weight of the second row is below 0
    [1.0, -1.0, -1.0]

    Notes
    -----
    The loss is :math:`J(H) = \sum_i a_i e^{-s_i H_i} + b_i e^{s_i H_i}`, and the weight of a row is
    :math:`a_i e^{-s_i H_i} - b_i e^{s_i H_i}`. It is below 0 where the ensemble is surer than the
    noise allows.

    References
    ----------
    Kabán and Bootkrajang (2017), LABELNOISE, eq. (11) to (15).
    """

    def __init__(
        self,
        s: Floats,
        gamma: tuple[float, float] = (0.0, 0.0),
        loss_weights: str = "convex",
        negative_weights: str = "flip",
    ) -> None:
        choice("negative_weights", negative_weights, get_args(NegativeWeights))
        self.s = s
        self.loss_weights = loss_weights
        self.clip = negative_weights == "clip"
        self.assume(gamma)

    def assume(self, gamma: tuple[float, float]) -> None:
        """Go on with other flip rates.

        Parameters
        ----------
        gamma : pair of float
            Flip rates, see `mixture`.

        Raises
        ------
        ValueError
            If there are not two rates, or one is outside [0, 0.5).
        """
        self.a, self.b = mixture(self.s, gamma, self.loss_weights)

    def weigh(self, H: Floats) -> tuple[Floats, Floats]:
        """Compute what the next member learns from: weights of the rows, and labels.

        Parameters
        ----------
        H : ndarray of shape (n,)
            Decision values so far.

        Returns
        -------
        weights : ndarray of shape (n,)
            Sizes of the weights, up to a common factor.
        labels : ndarray of shape (n,)
            Labels, -1.0 and +1.0; the opposite one where the weight is below 0.
        """
        _, self._wa, self._wb = _terms(H, self.s, self.a, self.b)
        w = self._wa - self._wb
        pseudo_labels = np.where(w >= 0.0, self.s, -self.s)
        if self.clip:
            return np.maximum(w, 0.0), pseudo_labels
        return np.abs(w), pseudo_labels

    def step(self, h: Floats) -> float:
        r"""Find the best step along the decisions of a member, after a call of `weigh`.

        Parameters
        ----------
        h : ndarray of shape (n,)
            Decisions of the member, -1.0 and +1.0.

        Returns
        -------
        float
            The step.

        Notes
        -----
        :math:`\alpha = \tfrac12 \log(A / D)` minimises :math:`J(H + \alpha h) = A e^{-\alpha} + D
        e^\alpha`, where A adds up the terms that agree with the decisions, and D the others. A
        share of 1e-12 of both is added to each, so that the step stays finite.
        """
        agree, disagree = _agreement(self.s, h, self._wa, self._wb)
        guard = GUARD * (agree + disagree)
        odds = (agree + guard) / (disagree + guard)
        return 0.5 * math.log(odds)

    def log_value(self, H: Floats) -> float:
        """Compute the logarithm of the mean loss.

        Parameters
        ----------
        H : ndarray of shape (n,)
            Decision values.

        Returns
        -------
        float
            The logarithm.
        """
        shift, wa, wb = _terms(H, self.s, self.a, self.b)
        total = wa.sum() + wb.sum()
        log_mean = math.log(total / len(H))
        return float(shift + log_mean)


@compile_kernel(error_model="numpy")
def _terms(H: Floats, s: Floats, a: Floats, b: Floats) -> tuple[float, Floats, Floats]:
    """Compute the largest exponent M, and the weights w^a and w^b divided by exp(M)."""
    wa = np.empty_like(H)
    wb = np.empty_like(H)
    largest = -np.inf
    for i in range(len(H)):
        margin = s[i] * H[i]
        if a[i] > 0.0:
            largest = max(largest, -margin)
        if b[i] > 0.0:
            largest = max(largest, margin)
    for i in range(len(H)):
        margin = s[i] * H[i]
        smallest = max(-margin - largest, -LARGEST)
        exponent_a = min(0.0, smallest)
        wa[i] = a[i] * exp_of_negative(exponent_a)
        smallest = max(margin - largest, -LARGEST)
        exponent_b = min(0.0, smallest)
        wb[i] = b[i] * exp_of_negative(exponent_b)
    return largest, wa, wb


@compile_kernel(error_model="numpy")
def _agreement(s: Floats, h: Floats, wa: Floats, wb: Floats) -> tuple[float, float]:
    """Add up the weights that agree with the decisions h, and those that disagree."""
    agree = disagree = 0.0
    for i in range(len(s)):
        is_same = s[i] == h[i]
        if is_same:
            agree += wa[i]
            disagree += wb[i]
        else:
            agree += wb[i]
            disagree += wa[i]
    return agree, disagree


Learn = Callable[[Floats, Floats], tuple[Any, Floats]]
After = Callable[[Floats, Any, float], None]


class BoostingClassifier(Repeated, DecisionClassifier):
    r"""Base of boosters, which add up decisions of members.

    Parameters
    ----------
    class_weight : dict or "balanced", optional
        Weights of the classes, see `noisylabels.classifiers.base.Weighted`.

    Attributes
    ----------
    members_ : list or ndarray
        The T members.
    steps_ : ndarray of shape (T,)
        Weight of each member in the sum.
    log_losses_ : ndarray of shape (T,)
        Logarithm of the mean exponential loss after each round.
    classes_ : ndarray of shape (2,)

    Examples
    --------
    >>> from noisylabels import AdaBoostClassifier
    >>> X, y = [[0.0], [1.0], [2.0], [3.0]], [0, 0, 1, 1]
    >>> booster = AdaBoostClassifier(rounds=3, random_state=0).fit(X, y)
    >>> len(list(booster.staged_predict(X)))
    3

    Notes
    -----
    The decision value is :math:`H(x) = \sum_t \alpha_t h_t(x)`, and :math:`H \ge 0` means the
    second class. Its probability is :math:`\sigma(2 H(x))`, as half the log-odds minimise the mean
    of :math:`e^{-s H}`. Many rounds drive it towards 0 and 1;
    `sklearn.calibration.CalibratedClassifierCV` calibrates it.

    References
    ----------
    Friedman, Hastie and Tibshirani (2000), Additive logistic regression, Annals of Statistics 28,
    Lemma 1.
    """

    ZERO_IS_SECOND: ClassVar[bool] = True
    LINK: ClassVar[float] = 2.0
    LINE_SEARCH: ClassVar[bool] = True  # without a line search every alpha_t is 1

    rounds: int
    members_: Any
    steps_: Floats
    log_losses_: Floats

    def decision_function(self, X: Any) -> Floats:
        """Compute the decision value of each row.

        Parameters
        ----------
        X : array_like of shape (n, d)
            Samples.

        Returns
        -------
        ndarray of shape (n,)
            The values; at least 0 means the second class.
        """
        X = features_of(self, X)
        inputs = self._inputs(X)
        terms = zip(self.members_, self.steps_, strict=True)
        zeros = np.zeros(len(X))
        outputs = (alpha * self._outputs(member, inputs) for member, alpha in terms)
        return sum(outputs, zeros)

    def staged_decision_function(self, X: Any) -> Iterator[Floats]:
        """Yield the decision values of all rows after 1, 2, ... rounds.

        Parameters
        ----------
        X : array_like of shape (n, d)
            Samples.

        Yields
        ------
        ndarray of shape (n,)
            The values after one more round.
        """
        X = features_of(self, X)
        inputs = self._inputs(X)
        H = np.zeros(len(X))
        for member, alpha in zip(self.members_, self.steps_, strict=True):
            H = H + alpha * self._outputs(member, inputs)
            yield H

    def staged_predict(self, X: Any) -> Iterator[NDArray[Any]]:
        """Yield the classes of all rows after 1, 2, ... rounds.

        Parameters
        ----------
        X : array_like of shape (n, d)
            Samples.

        Yields
        ------
        ndarray of shape (n,)
            The classes after one more round.
        """
        for H in self.staged_decision_function(X):
            yield self.classes_[(H >= 0).astype(np.intp)]

    def _inputs(self, X: Floats) -> Any:
        """Convert the rows X (n, d) into the form that members read."""
        return X

    def _outputs(self, member: Any, inputs: Any) -> Floats:
        """Compute the decision of one member for each row."""
        raise NotImplementedError

    def _checked(
        self,
        X: Any,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
    ) -> tuple[Floats, Floats]:
        """Check X and y, repeat rows by weights, and code labels as -1.0 and +1.0."""
        whole("rounds", self.rounds, 1)
        X, labels, _ = self._examples(X, y, sample_weight)
        return X, np.where(labels, 1.0, -1.0)

    def _add(self, loss: FlippedExponential, learn: Learn, after: After | None = None) -> None:
        """Add members to H = 0 (n,), at most `rounds`; sets members_, steps_, log_losses_.

        learn(weights, labels) : a fitted member and its outputs (n,).
        after(H, member, alpha) : called at the end of each round, may change the loss.
        Ends early when no point has a weight.
        """
        H = np.zeros_like(loss.s)
        members: list[Any] = []
        steps: list[float] = []
        log_losses: list[float] = []
        for _ in range(self.rounds):
            weights, labels = loss.weigh(H)
            if not weights.any():
                break
            member, h = learn(weights, labels)
            alpha = loss.step(h) if self.LINE_SEARCH else 1.0
            H += alpha * h
            members.append(member)
            steps.append(alpha)
            log_losses.append(loss.log_value(H))
            if after is not None:
                after(H, member, alpha)
        self.members_ = members
        self.steps_ = np.array(steps)
        self.log_losses_ = np.array(log_losses)


@dataclass(eq=False, repr=False)
class AdaBoostClassifier(BoostingClassifier):
    r"""AdaBoost over linear members, fitted by logistic regression.

    Parameters
    ----------
    base : {"logistic", "robust_logistic"}, default "logistic"
        The robust base starts at random and learns flip rates in every round.
    class_weight : dict or "balanced", optional
        Weights of the classes, see `noisylabels.classifiers.base.Weighted`.
    rounds : int, default 100
        Number of members, at most.
    weighting : {"resample", "reweight"}, default "resample"
        Fit a member to n rows drawn from the weights, or to the weights themselves.
    lam : float, default 1e-3
        Penalty of a member's weights, above 0, where the weights of the rows sum to n; the bias is
        free.
    newton_steps : int, default 15
        Newton steps for a member, at most.
    random_state : int or numpy.random.Generator, optional
        Seed of the draws and starts.

    Attributes
    ----------
    members_ : ndarray of shape (T, 1 + d)
        Bias and weights of each member.
    steps_ : ndarray of shape (T,)
        Weight of each member in the sum.
    log_losses_ : ndarray of shape (T,)
        Logarithm of the mean exponential loss after each round.
    classes_ : ndarray of shape (2,)

    Raises
    ------
    ValueError
        If labels are not of two classes, features are NaN or infinite, or a parameter is out of
        range.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from noisylabels import AdaBoostClassifier
    >>> X, y = make_moons(200, noise=0.2, random_state=0)
    >>> model = AdaBoostClassifier(rounds=20, random_state=0).fit(X, y)
    >>> bool(model.score(X, y) > 0.8)
    True

    Notes
    -----
    The decision value is :math:`H(x) = \sum_t \alpha_t h_t(x)` with :math:`h_t(x) =
    \mathrm{sign}(b_t + x \cdot w_t)` and :math:`\alpha_t = \tfrac12 \log((1 - e_t) / e_t)`, where
    :math:`e_t` is the weighted error of :math:`h_t`.

    References
    ----------
    Freund and Schapire (1997), A decision-theoretic generalization of on-line learning and an
    application to boosting, Journal of Computer and System Sciences 55.

    Kabán and Bootkrajang (2017), LABELNOISE: the bases.
    """

    name = "adaboost"

    base: Base = "logistic"
    _: KW_ONLY
    rounds: int = 100
    weighting: Weighting = "resample"
    lam: float = 1e-3
    newton_steps: int = 15
    random_state: Any = None

    def fit(
        self,
        X: Any,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
    ) -> AdaBoostClassifier:
        """Boost on samples and labels.

        Parameters
        ----------
        X : array_like of shape (n, d)
            Samples.
        y : array_like of shape (n,)
            Labels of two classes.
        sample_weight : array_like of shape (n,), optional
            Weights of the samples, at least 0, see `noisylabels.classifiers.base.Weighted`.

        Returns
        -------
        AdaBoostClassifier
            The classifier.
        """
        X, s = self._checked(X, y, sample_weight)
        self._boost(X, FlippedExponential(s))
        return self

    def _outputs(self, member: Floats, inputs: Floats) -> Floats:
        scores = inputs @ member[1:] + member[0]
        return np.where(scores >= 0, 1.0, -1.0)

    def _boost(self, X: Floats, loss: FlippedExponential, after: After | None = None) -> None:
        """Add logistic members as `_add` does, after a check of the parameters."""
        choice("base", self.base, get_args(Base))
        choice("weighting", self.weighting, get_args(Weighting))
        lam = number("lam", self.lam, above=0)
        steps = whole("newton_steps", self.newton_steps, 1)
        n = len(X)
        r = 1 + X.shape[1]
        ZT = np.ones((r, n))
        ZT[1:] = X.T
        rng = generator(self.random_state)
        robust = self.base == "robust_logistic"
        resample = self.weighting == "resample"

        def learn(weights: Floats, labels: Floats) -> tuple[Floats, Floats]:
            if resample:
                exponentials = rng.standard_exponential(n + 1)
                a = weighted_logistic.draws(weights, exponentials)
            else:
                normaliser = n / weights.sum()
                a = weights * normaliser
            theta = rng.standard_normal(r) if robust else np.zeros(r)
            omega = np.full(2, START if robust else 0.0)
            weighted_logistic.fit(ZT, labels, a, theta, lam, omega, robust, steps)
            return theta, weighted_logistic.decisions(ZT, theta)

        self._add(loss, learn, after)
        self.members_ = np.array(self.members_).reshape(-1, r)


@dataclass(eq=False, repr=False)
class RBoostClassifier(TrueLabelPosterior, AdaBoostClassifier):
    r"""Boosting of linear members that allows for flipped labels, with flip rates given or learned.

    Parameters
    ----------
    base : {"logistic", "robust_logistic"}, default "logistic"
        The robust base starts at random and learns flip rates in every round.
    class_weight : dict or "balanced", optional
        Weights of the classes, see `noisylabels.classifiers.base.Weighted`.
    rounds : int, default 100
        Number of members, at most.
    weighting : {"resample", "reweight"}, default "resample"
        Fit a member to n rows drawn from the weights, or to the weights themselves.
    lam : float, default 1e-3
        Penalty of a member's weights, above 0, where the weights of the rows sum to n; the bias is
        free.
    newton_steps : int, default 15
        Newton steps for a member, at most.
    random_state : int or numpy.random.Generator, optional
        Seed of the draws and starts.
    gamma : pair of float, default (0.2, 0.2)
        Rates of the flips from the first to the second class and back, each in [0, 0.5).
    learn_gamma : bool, default True
        Estimate the rates again after every round from calibrated scores; gamma is then only the
        start. Scores that are calibrated on the flipped labels themselves explain the flips, and
        the rates fall towards 0. Give the rates where they are known, or trusted rows to `fit`.
    loss_weights : {"convex", "likelihood"}, default "convex"
        How the rates weigh the two exponential terms, see Notes.
    negative_weights : {"flip", "clip"}, default "flip"
        A row that the ensemble is too sure of has a weight below 0. "flip" teaches the next member
        its opposite label, "clip" leaves it out of that round.

    Attributes
    ----------
    members_, steps_, log_losses_, classes_
        As in `AdaBoostClassifier`; the losses are those at the rates of the round.
    flip_matrix_ : ndarray of shape (2, 2)
        Probability of each observed class, given the true one (rows).
    gamma_path_ : ndarray of shape (T, 2)
        Both rates after each round.
    calibration_ : tuple of float
        A and B of :math:`P(y = 1 | x) = 1 / (1 + \exp(A H + B))`, which `true_label_posterior` goes
        by.
    converged_ : bool
        Whether gamma was given, or moved by less than 1e-3 in the last round.
    flags_ : tuple of str
        ``calibration``: trusted labels of one class, or scores that fall with the class; ``bound``:
        a learned rate is held at 0.49; ``no_weight``: no row had a weight, and the rounds ended.
    flagged_ : bool
        Whether there is a flag.

    Raises
    ------
    ValueError
        If labels are not of two classes, features are NaN or infinite, a parameter is out of range,
        or trusted rows have other features or classes.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from noisylabels import RBoostClassifier
    >>> X, y = make_moons(200, noise=0.2, random_state=0)
    >>> model = RBoostClassifier(gamma=(0.1, 0.1), learn_gamma=False, rounds=20, random_state=0)
    >>> model = model.fit(X, y)
    >>> bool(model.score(X, y) > 0.8)
    True

    Notes
    -----
    The fit minimises :math:`\sum_i a_i e^{-s_i H_i} + b_i e^{s_i H_i}`. With "convex" :math:`(a,
    b)` is :math:`(1 - \gamma_{01}, \gamma_{01})` for the second class and :math:`(1 - \gamma_{10},
    \gamma_{10})` for the first. With "likelihood" it is :math:`(1 - \gamma_{10}, \gamma_{01})` and
    :math:`(1 - \gamma_{01}, \gamma_{10})`.

    References
    ----------
    Bootkrajang and Kabán (2013), Boosting in the presence of label noise, UAI.

    Kabán and Bootkrajang (2017), LABELNOISE, eq. (11) to (22).
    """

    name = "rboost"

    _: KW_ONLY
    gamma: tuple[float, float] = (0.2, 0.2)
    learn_gamma: bool = True
    loss_weights: LossWeights = "convex"
    negative_weights: NegativeWeights = "flip"

    def fit(
        self,
        X: Any,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        *,
        trusted: tuple[Any, ArrayLike] | None = None,
        sample_trusted: ArrayLike | None = None,
    ) -> RBoostClassifier:
        """Boost on samples and observed labels.

        Parameters
        ----------
        X : array_like of shape (n, d)
            Samples.
        y : array_like of shape (n,)
            Observed labels of two classes.
        sample_weight : array_like of shape (n,), optional
            Weights of the samples, at least 0, see `noisylabels.classifiers.base.Weighted`.
        trusted : pair (X, y), optional
            A few samples with verified labels, on which the scores are calibrated. Without them
            they are calibrated on the training rows and their observed labels.
        sample_trusted : array_like of shape (n,), optional
            Verified labels of the rows of X, with gaps (NaN, None) where there are none, in place
            of ``trusted``. ``set_fit_request`` routes it.

        Returns
        -------
        RBoostClassifier
            The classifier.
        """
        flag("learn_gamma", self.learn_gamma)
        if not (trusted is None or (isinstance(trusted, tuple | list) and len(trusted) == 2)):
            raise ValueError(f"trusted: must be a pair (X, y) or None, got {shown(trusted)}")
        refuse_trusted_twice(trusted, sample_trusted)
        if hasattr(X, "loc"):
            refuse_other_index(X, y, sample_trusted=sample_trusted)
        table = X
        X, s = self._checked(X, y, sample_weight)
        if sample_trusted is not None:
            n_rows = len(np.asarray(y))
            trusted_at, true = trusted_rows(sample_trusted, self.classes_, n_rows)
            if not len(trusted_at):
                raise ValueError("sample_trusted: no row has a trusted label; give some, or None")
            if not hasattr(table, "iloc"):
                table = np.asarray(table)
            trusted = rows_at(table, trusted_at), self.classes_[true]
        if trusted is None:
            points = X
            labels = s
        else:
            points, labels = self._trusted(*trusted)
        loss = FlippedExponential(s, self.gamma, self.loss_weights, self.negative_weights)
        gamma01, gamma10 = self.gamma
        omega = flips.from_rates(float(gamma01), float(gamma10))
        observed = (s > 0).astype(float)
        self.calibration_ = (-1.0, 0.0)
        self.converged_ = True
        path: list[tuple[float, float]] = []
        scores = np.zeros(len(labels))

        def after(H: Floats, member: Floats, alpha: float) -> None:
            """Calibrate the scores, then set the rates from posteriors of training points, each at
            most 0.49.
            """
            nonlocal omega, scores
            if trusted is None:
                scores = H
            else:
                scores = scores + alpha * self._outputs(member, points)
            if not self.learn_gamma:
                return
            A, B = self.calibration_ = weighted_logistic.platt(scores, labels)
            log_odds = -(A * H + B)
            q = flips.posterior(log_odds, observed, omega)
            estimate = flips.updated(q, observed, omega)
            change = np.abs(estimate - omega).max()
            self.converged_ = bool(change < STILL)
            rate01 = min(float(estimate[0, 1]), LARGEST_RATE)
            rate10 = min(float(estimate[1, 0]), LARGEST_RATE)
            path.append((rate01, rate10))
            omega = flips.from_rates(*path[-1])
            loss.assume(path[-1])

        self._boost(X, loss, after)
        if not self.learn_gamma:
            self.calibration_ = weighted_logistic.platt(scores, labels)
        given_rates = (float(gamma01), float(gamma10))
        self.gamma_path_ = np.array(path or [given_rates] * len(self.steps_))
        self.flip_matrix_ = omega
        has_one_class = abs(labels.sum()) == len(labels)
        self._flag(
            calibration=has_one_class or self.calibration_[0] > 0,
            bound=bool(path) and max(path[-1]) >= LARGEST_RATE,
            no_weight=len(self.steps_) < self.rounds,
        )
        return self

    def _log_odds(self, X: Any) -> Floats:
        H = self.decision_function(X)
        A, B = self.calibration_
        return -(A * H + B)

    def _trusted(self, X: Any, y: ArrayLike) -> tuple[Floats, Floats]:
        """Return the trusted points and their labels as -1.0 and +1.0."""
        X, y = check_rows(self, X, y, dtype=np.float64, reset=False)
        are_known = np.isin(y, self.classes_)
        if not are_known.all():
            names = self.classes_.tolist()
            raise ValueError(f"trusted labels must be of the classes {names}, as in y")
        is_second = y == self.classes_[1]
        return X, np.where(is_second, 1.0, -1.0)


@dataclass(eq=False, repr=False)
class GentleBoostClassifier(BoostingClassifier):
    r"""GentleBoost over small regression trees.

    Parameters
    ----------
    class_weight : dict or "balanced", optional
        Weights of the classes, see `noisylabels.classifiers.base.Weighted`.
    rounds : int, default 100
        Number of members, at most.
    splits : int, default 3
        Splits of each tree, at most.
    random_state : int or numpy.random.Generator, optional
        Seed of which of two equally good splits a tree takes.

    Attributes
    ----------
    members_ : list
        Trees (`noisylabels.solvers.regression_tree.RegressionTree`), each with the values of its
        nodes.
    steps_ : ndarray of shape (T,)
        Ones.
    log_losses_ : ndarray of shape (T,)
        Logarithm of the mean exponential loss after each round.
    classes_ : ndarray of shape (2,)

    Raises
    ------
    ValueError
        If labels are not of two classes, features are NaN or infinite, or a parameter is out of
        range.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from noisylabels import GentleBoostClassifier
    >>> X, y = make_moons(200, noise=0.2, random_state=0)
    >>> model = GentleBoostClassifier(rounds=20, random_state=0).fit(X, y)
    >>> bool(model.score(X, y) > 0.95)
    True

    Notes
    -----
    The decision value is :math:`H = \sum_t g_t`, where :math:`g_t` is the regression tree that fits
    :math:`s_i = \pm 1` by least squares with the weights :math:`e^{-s_i H_i}`.

    References
    ----------
    Friedman, Hastie and Tibshirani (2000), Additive logistic regression, Annals of Statistics 28,
    algorithm 4.
    """

    name = "gentle_boost"
    LINE_SEARCH: ClassVar[bool] = False

    _: KW_ONLY
    rounds: int = 100
    splits: int = 3
    random_state: Any = None

    def fit(
        self,
        X: Any,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
    ) -> GentleBoostClassifier:
        """Boost on samples and labels.

        Parameters
        ----------
        X : array_like of shape (n, d)
            Samples.
        y : array_like of shape (n,)
            Labels of two classes.
        sample_weight : array_like of shape (n,), optional
            Weights of the samples, at least 0, see `noisylabels.classifiers.base.Weighted`.

        Returns
        -------
        GentleBoostClassifier
            The classifier.
        """
        X, s = self._checked(X, y, sample_weight)
        splits = whole("splits", self.splits, 1)
        rng = generator(self.random_state)
        columns = sort_columns(X)

        def learn(weights: Floats, labels: Floats) -> tuple[Any, Floats]:
            visited = rng.permutation(X.shape[1])
            normalised = weights / weights.sum()
            tree = grow_tree(columns, labels, normalised, splits, visited)
            leaves = tree.apply(columns.values)
            values = self._leaf_values(tree, leaves, weights, s)
            return (tree, values), values[leaves]

        self._add(FlippedExponential(s), learn)
        return self

    def _inputs(self, X: Floats) -> NDArray[np.float32]:
        return np.ascontiguousarray(X.T, dtype=np.float32)

    def _outputs(
        self,
        member: tuple[RegressionTree, Floats],
        inputs: NDArray[np.float32],
    ) -> Floats:
        tree, values = member
        return values[tree.apply(inputs)]

    def _leaf_values(
        self, tree: RegressionTree, leaves: NDArray[np.int32], weights: Floats, s: Floats
    ) -> Floats:
        """Compute the value of each node of a tree from the weights and labels of the points."""
        return tree.value.copy()


class ModestBoostClassifier(GentleBoostClassifier):
    r"""Modest AdaBoost over small trees, which learns less where it is already sure.

    Parameters
    ----------
    class_weight : dict or "balanced", optional
        Weights of the classes, see `noisylabels.classifiers.base.Weighted`.
    rounds : int, default 100
        Number of members, at most.
    splits : int, default 3
        Splits of each tree, at most.
    random_state : int or numpy.random.Generator, optional
        Seed of which of two equally good splits a tree takes.

    Attributes
    ----------
    members_ : list
        Trees (`noisylabels.solvers.regression_tree.RegressionTree`), each with the values of its
        nodes.
    steps_ : ndarray of shape (T,)
        Ones.
    log_losses_ : ndarray of shape (T,)
        Logarithm of the mean exponential loss after each round.
    classes_ : ndarray of shape (2,)

    Raises
    ------
    ValueError
        If labels are not of two classes, features are NaN or infinite, or a parameter is out of
        range.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from noisylabels import ModestBoostClassifier
    >>> X, y = make_moons(200, noise=0.2, random_state=0)
    >>> model = ModestBoostClassifier(rounds=20, random_state=0).fit(X, y)
    >>> bool(model.score(X, y) > 0.8)
    True

    Notes
    -----
    The decision value is :math:`H = \sum_t \sum_l v_l 1(x \in \text{leaf } l)` with :math:`v_l =
    P_l (1 - P'_l) - N_l (1 - N'_l)`. :math:`P_l` and :math:`N_l` are the weights of the positive
    and negative rows in the leaf, :math:`P'_l` and :math:`N'_l` the same with inverse weights. A
    leaf where :math:`v_l` and :math:`P_l - N_l` disagree in sign is left out. A later copy of the
    authors' toolbox divides H by :math:`\sum_j |H_j|`; its weights hardly move, and every round
    grows the same tree.

    References
    ----------
    Vezhnevets and Vezhnevets (2005), Modest AdaBoost, GraphiCon; version 0.2 of the authors'
    toolbox.
    """

    name = "modest_boost"

    def _leaf_values(
        self, tree: RegressionTree, leaves: NDArray[np.int32], weights: Floats, s: Floats
    ) -> Floats:
        # the smallest weight keeps the inverse finite
        weights = np.maximum(weights / weights.sum(), 1e-280)
        inverse = 1.0 / weights
        inverse /= inverse.sum()

        def mass(points: NDArray[np.bool_], a: Floats) -> Floats:
            masses = np.where(points, a, 0.0)
            return np.bincount(leaves, masses, len(tree.value)).astype(float)

        is_positive = s > 0
        is_negative = s < 0
        P = mass(is_positive, weights)
        N = mass(is_negative, weights)
        if not (P.any() and N.any()):  # one class has no weight left
            return P - N
        inverse_of_positive = mass(is_positive, inverse)
        inverse_of_negative = mass(is_negative, inverse)
        v = P * (1.0 - inverse_of_positive) - N * (1.0 - inverse_of_negative)
        has_sign_of_mass = np.sign(v) == np.sign(P - N)
        return np.where(has_sign_of_mass, v, 0.0)
