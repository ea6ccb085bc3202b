"""What boosters share: checked input, staged scores, members that are linear or trees."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from noisylabels.bases.features import bounded
from noisylabels.bases.labels import two_classes
from noisylabels.bases.random_state import generator
from noisylabels.solvers import weighted_logistic
from noisylabels.solvers.additive import Loss, additive
from noisylabels.validation import choice, number, whole

Array = NDArray[np.float64]

BASES = ("logistic", "robust_logistic")
WEIGHTINGS = ("resample", "reweight")
START = 0.2  # both flip rates of a robust base at its start

LeafValues = Callable[[Any, NDArray[np.intp], Array], Array]


class BoostingClassifier(ClassifierMixin, BaseEstimator):
    """H(x) = sum_t alpha_t h_t(x);  classes_[1] if H(x) >= 0, else classes_[0]."""

    rounds: int
    classes_: NDArray[Any]
    members_: Any
    steps_: Array

    def decision_function(self, X: Any) -> Array:
        """H(x) per row of X (n, d); ValueError: not fitted, other features."""
        check_is_fitted(self)
        return self._scores(bounded(validate_data(self, X, reset=False, dtype=np.float64)))

    def predict(self, X: Any) -> NDArray[Any]:
        """The class of each row of X (n, d); H(x) = 0 counts as the second class."""
        positive = self.decision_function(X) >= 0
        return self.classes_[positive.astype(np.intp)]

    def staged_decision_function(self, X: Any) -> Iterator[Array]:
        """H(x) per row of X (n, d) after 1, 2, ... rounds."""
        check_is_fitted(self)
        yield from self._staged(bounded(validate_data(self, X, reset=False, dtype=np.float64)))

    def staged_predict(self, X: Any) -> Iterator[NDArray[Any]]:
        """The class of each row of X (n, d) after 1, 2, ... rounds."""
        for H in self.staged_decision_function(X):
            yield self.classes_[(H >= 0).astype(np.intp)]

    def _staged(self, X: Array) -> Iterator[Array]:
        H = np.zeros(len(X))
        for member, alpha in zip(self.members_, self.steps_, strict=True):
            H = H + alpha * self._outputs(member, X)
            yield H

    def _scores(self, X: Array) -> Array:
        H = np.zeros(len(X))
        for member, alpha in zip(self.members_, self.steps_, strict=True):
            H += alpha * self._outputs(member, X)
        return H

    def _outputs(self, member: Any, X: Array) -> Array:
        """h(x) of one member per row of X (n, d)."""
        raise NotImplementedError

    def _checked(self, X: Any, y: ArrayLike) -> tuple[Array, Array]:
        """X as floats (n, d) and the labels as -1.0 and +1.0; sets classes_."""
        whole("rounds", self.rounds, 1)
        X, y = validate_data(self, X, y, dtype=np.float64)
        self.classes_ = two_classes(y)
        return bounded(X), np.where(y == self.classes_[1], 1.0, -1.0)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags


class LinearBoostingClassifier(BoostingClassifier):
    """Members are the rows (b_t, w_t) of members_ (T, 1 + d), h_t(x) = +1 if b_t + x.w_t >= 0, else -1."""

    base: str
    weighting: str
    lam: float
    newton_steps: int
    random_state: Any
    log_losses_: Array

    def _outputs(self, member: Array, X: Array) -> Array:
        return np.where(X @ member[1:] + member[0] >= 0, 1.0, -1.0)

    def _boost(self, X: Array, loss: Loss, after: Callable[[Array, Any, float], None] | None = None) -> None:
        """Run the additive loop on X (n, d); sets members_, steps_, log_losses_."""
        expansion = additive(loss, self._learner(X), len(X), self.rounds, after)
        self.members_ = np.array(expansion.members).reshape(-1, 1 + X.shape[1])
        self.steps_, self.log_losses_ = expansion.steps, expansion.log_losses

    def _learner(self, X: Array) -> Callable[[Array, Array], tuple[Array, Array]]:
        """Fits a member to weights (n,) and labels (n,); ValueError: wrong parameters."""
        choice("base", self.base, BASES)
        choice("weighting", self.weighting, WEIGHTINGS)
        lam, steps = number("lam", self.lam, above=0), whole("newton_steps", self.newton_steps, 1)
        n, r = len(X), 1 + X.shape[1]
        ZT = np.ones((r, n))
        ZT[1:] = X.T
        rng = generator(self.random_state)
        robust, resample = self.base == "robust_logistic", self.weighting == "resample"

        def learn(weights: Array, labels: Array) -> tuple[Array, Array]:
            if resample:
                a = weighted_logistic.draws(weights, rng.standard_exponential(n + 1))
            else:
                a = weights * (n / weights.sum())
            theta = rng.standard_normal(r) if robust else np.zeros(r)
            omega = np.full(2, START if robust else 0.0)
            weighted_logistic.fit(ZT, labels, a, theta, lam, omega, robust, steps)
            return theta, weighted_logistic.decisions(ZT, theta)

        return learn


class TreeBoostingClassifier(BoostingClassifier):
    """Members are regression trees (scikit-learn), least squares to weights and labels of -1 and +1."""

    splits: int
    random_state: Any
    log_losses_: Array

    def _outputs(self, member: Any, X: Array) -> Array:
        tree, values = member
        return np.asarray(values[tree.apply(X.astype(np.float32))])

    def _boost(self, X: Array, loss: Loss, leaf_values: LeafValues) -> None:
        """Run the additive loop on X (n, d); sets members_, steps_, log_losses_.

        leaf_values(tree, leaf of each point, weights) : the value of each node. A member is a tree and these.
        """
        from sklearn.tree import DecisionTreeRegressor

        splits = whole("splits", self.splits, 1)
        rng = generator(self.random_state)
        coarse = X.astype(np.float32)

        def learn(weights: Array, labels: Array) -> tuple[Any, Array]:
            grower = DecisionTreeRegressor(max_leaf_nodes=splits + 1, random_state=int(rng.integers(2**31)))
            tree = grower.fit(coarse, labels, sample_weight=weights / weights.sum(), check_input=False).tree_
            leaves = tree.apply(coarse)
            values = leaf_values(tree, leaves, weights)
            return (tree, values), values[leaves]

        expansion = additive(loss, learn, len(X), self.rounds)
        self.members_, self.steps_ = expansion.members, expansion.steps
        self.log_losses_ = expansion.log_losses
