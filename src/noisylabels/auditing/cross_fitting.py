"""Out-of-sample probabilities of the observed labels, by classifiers trained on the other rows."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Classes = NDArray[np.intp]
Groups = NDArray[np.intp]

ROBUST, PLAIN = ("rMKLR", "robust logistic"), ("logistic", "forest", "gradient boosting")
DEFAULT = "rMKLR"
"""The classifiers of an audit: those that know of flips, and plain ones."""
LARGEST, MANY = 2000, 5000
"""Rows that rMKLR is trained on, by default: of more, a stratified part is drawn. Above 5000 rows an audit
takes gradient boosting on all of them instead, cross-fitted once."""


FEW_GROUPS = 500
"""Below so many groups folds are dealt by rows, which is slow for more."""


@dataclass(frozen=True)
class CrossFit:
    """R cross-fits of n rows with K classes.

    p (R, n, K) : probability of each *observed* class.   g (R, n, K) : of each *true* class, the same unless
    the model knows flips.   omega (R, K, K) : the model's own flip matrix, mean over the folds, or NaN.
    """

    p: Array
    g: Array
    omega: Array

    @property
    def mean(self) -> Array:
        """p averaged over the R cross-fits, (n, K); to 12 decimals, so that equal rows stay equal."""
        return np.asarray(self.p.mean(axis=0).round(12))

    @property
    def predicted(self) -> Classes:
        """The class each cross-fit would give each row, (R, n)."""
        return np.asarray(self.g.argmax(axis=2))


def folds_for(y: Classes, groups: Groups | None = None) -> int:
    """5, or 10 below 300 rows, and never more than the smallest class has members.

    Of rows in groups (n,), numbers from 0, groups are counted.
    """
    if groups is None:
        rows, members = len(y), np.bincount(y)
    else:
        rows, members = int(groups.max()) + 1, groups_of_classes(y, groups)
    return min(10 if rows < 300 else 5, int(members.min()))


def groups_of_classes(y: Classes, groups: Groups) -> Classes:
    """In how many groups each class occurs, (K,)."""
    occurring = np.unique(y.astype(np.int64) * (int(groups.max()) + 1) + groups)
    return np.bincount(occurring // (int(groups.max()) + 1), minlength=int(y.max()) + 1)


def split_folds(
    y: Classes, folds: int, seed: int, groups: Groups | None = None
) -> Iterator[tuple[Classes, Classes]]:
    """Rows to train on and rows held out, classes in proportion; a group is never in both.

    A group goes with the class of its rows that is in the fewest groups. Few groups, which are often large,
    are dealt so that folds have about as many rows.

    Raises
    ------
    ValueError
        If a class would be missing among the rows to train on.
    """
    from sklearn.model_selection import StratifiedGroupKFold, StratifiedKFold

    if groups is None:
        cut = StratifiedKFold(folds, shuffle=True, random_state=seed)
        yield from cut.split(np.zeros(len(y)), y)
        return
    if groups.max() < FEW_GROUPS:
        dealt = StratifiedGroupKFold(folds, shuffle=True, random_state=seed)
        parts = list(dealt.split(np.zeros(len(y)), y, groups))
    else:
        kind = rarest_class(y, groups)
        cut = StratifiedKFold(folds, shuffle=True, random_state=seed)
        parts = []
        for _, held in cut.split(np.zeros(len(kind)), kind):
            inside = np.zeros(len(kind), dtype=bool)
            inside[held] = True
            parts.append((np.flatnonzero(~inside[groups]), np.flatnonzero(inside[groups])))
    classes = len(np.unique(y))
    for train, held in parts:
        if len(np.unique(y[train])) < classes:
            lacking = "a class occurs in so few groups that some folds have none of it to train on"
            raise ValueError(f"{lacking}; merge it with another class, or give smaller groups")
        if len(held):
            yield train, held


def rarest_class(y: Classes, groups: Groups) -> Classes:
    """For each group the class of its rows that occurs in the fewest groups, (groups,)."""
    rarest_first = np.argsort(groups_of_classes(y, groups), kind="stable")
    rank = np.empty_like(rarest_first)
    rank[rarest_first] = np.arange(len(rarest_first))
    least = np.full(int(groups.max()) + 1, len(rank))
    np.minimum.at(least, groups, rank[y])
    return np.asarray(rarest_first[least])


def cross_fitted(
    X: Array,
    y: Classes,
    model: Any,
    *,
    random_state: int = 0,
    repetitions: int = 3,
    folds: int | None = None,
    most_rows: int | None = None,
    text: Any = None,
    groups: Groups | None = None,
    say: Callable[[str], None] = lambda sentence: None,
) -> CrossFit:
    """Stratified cross-fitting of ``model``, a scikit-learn classifier with ``predict_proba``.

    X (n, d); y (n,) classes 0..K-1. Folds and parts drawn do not depend on the names of the classes. A binary
    model with K > 2 classes is trained one class against the rest; its probabilities are normalised.
    most_rows : trained on at most, None: all.   text : sparse (n, D), see `with_words`.   groups (n,) : the
    group of each row, numbers from 0; no group is both trained on and judged.

    Raises ValueError : a model without ``predict_proba``, a class with fewer than two rows or groups, no
    repetitions.
    """
    if not hasattr(model, "predict_proba"):
        how = "wrap it in sklearn's CalibratedClassifierCV"
        raise ValueError(f"{type(model).__name__} has no predict_proba; {how}")
    if repetitions < 1:
        raise ValueError(f"repetitions of the cross-fitting must be at least 1, got {repetitions}")
    K, folds = int(y.max()) + 1, folds or folds_for(y, groups)
    if folds < 2:
        single = "a single row" if groups is None else "rows of a single group (copies count as one)"
        raise ValueError(f"a class with {single} cannot be cross-fitted; delete or merge it")
    p, g = np.empty((repetitions, len(y), K)), np.empty((repetitions, len(y), K))
    omega = np.full((repetitions, folds, K, K), np.nan)
    for r in range(repetitions):
        rng = np.random.default_rng([random_state, r])
        cut = split_folds(y, folds, int(rng.integers(2**31)), groups)
        for fold, (train, held) in enumerate(cut):
            part = drawn(y, train, most_rows or len(y), rng)
            known, new = X[part], X[held]
            if text is not None:
                known, new = with_words(known, text[part], y[part], new, text[held], numbered(groups, part))
            p[r, held], g[r, held], omega[r, fold] = fitted(model, known, y[part], new, K)
            if len(y) > MANY:
                say(f"fold {fold + 1} of {folds}, round {r + 1} of {repetitions}")
    return CrossFit(p, g, omega.mean(axis=1))


def numbered(groups: Groups | None, rows: Classes) -> Groups | None:
    """The groups of some rows, numbered from 0 again."""
    return None if groups is None else np.unique(groups[rows], return_inverse=True)[1]


def drawn(y: Classes, rows: NDArray[Any], most: int, rng: np.random.Generator) -> NDArray[Any]:
    """At most about ``most`` of the rows, at random, classes in proportion and two of each at least."""
    if len(rows) <= most:
        return rows
    shuffled = rng.permutation(rows)
    kept = []
    for label in np.unique(y[rows]):
        members = shuffled[y[shuffled] == label]
        kept.append(members[: max(2, round(most / len(rows) * len(members)))])
    return np.sort(np.concatenate(kept))


def with_words(
    X: Array, text: Any, y: Classes, X_held: Array, text_held: Any, groups: Groups | None = None
) -> tuple[Array, Array]:
    """Both tables with the log-probabilities that logistic regression on the words gives each class.

    Those of the rows trained on are cross-fitted among themselves, so that none knows its own label.
    """
    from sklearn.linear_model import LogisticRegression
    from sklearn.model_selection import cross_val_predict

    linear = LogisticRegression(C=10.0, max_iter=1000)
    inside: Any
    if groups is None:
        inside = min(5, int(np.bincount(y).min()))
    else:
        inside = list(split_folds(y, max(2, min(5, folds_for(y, groups))), 0, groups))
    inner = cross_val_predict(linear, text, y, cv=inside, method="predict_proba")
    outer = linear.fit(text, y).predict_proba(text_held)
    return np.hstack([X, np.log(inner + 1e-6)]), np.hstack([X_held, np.log(outer + 1e-6)])


def fitted(model: Any, X: Array, y: Classes, X_held: Array, K: int) -> tuple[Array, Array, Array]:
    """p and g (m, K) of the rows X_held (m, d), and the model's flip matrix, NaN without one."""
    from sklearn.base import clone
    from sklearn.utils import get_tags

    tags = get_tags(model).classifier_tags
    if K == 2 or tags is None or tags.multi_class:
        return probabilities(clone(model).fit(X, y), X_held)
    parts = [probabilities(clone(model).fit(X, (y == k).astype(np.intp)), X_held) for k in range(K)]
    p, g = (np.column_stack([part[which][:, 1] for part in parts]) for which in (0, 1))
    return normalised(p), normalised(g), np.full((K, K), np.nan)


def probabilities(model: Any, X: Array) -> tuple[Array, Array, Array]:
    """p = g Omega, g and Omega of a fitted model; p = g and NaN if it knows no flips."""
    g = np.asarray(model.predict_proba(X), dtype=float)
    omega = getattr(model[-1] if hasattr(model, "steps") else model, "flip_matrix_", None)
    if omega is None:
        return g, g, np.full((g.shape[1], g.shape[1]), np.nan)
    return g @ omega, g, np.asarray(omega)


def normalised(p: Array) -> Array:
    """Rows divided by their sums; a row of zeros becomes uniform."""
    total = p.sum(axis=1, keepdims=True)
    return np.where(total > 0, p / np.where(total > 0, total, 1.0), 1.0 / p.shape[1])


def chosen(wanted: Any, random_state: int = 0) -> tuple[str, Any]:
    """The name and the classifier: one of ours by name, ``package:Class``, or a classifier as it is.

    Raises ValueError : a name or a class that is not there, or that cannot be built without arguments.
    """
    if not isinstance(wanted, str):
        if isinstance(wanted, type) or not hasattr(wanted, "fit"):
            example = "a classifier such as LogisticRegression() or a name such as 'forest'"
            raise ValueError(f"model must be {example}, got {wanted!r}")
        return type(wanted).__name__, wanted
    names = {name.lower().replace(" ", "_"): name for name in (*ROBUST, *PLAIN)}
    if name := names.get(wanted.lower().replace(" ", "_")):
        return name, model_of(name, random_state)
    package, colon, member = wanted.partition(":")
    if not colon:
        raise ValueError(f"model: {wanted!r} is not one of {', '.join(names)}, best, and not package:Class")
    import importlib

    try:
        return member, getattr(importlib.import_module(package), member)()
    except (ImportError, AttributeError, TypeError, ValueError) as error:
        raise ValueError(f"model {wanted!r}: {error}; give package:Class, built without arguments") from None


def model_of(name: str, random_state: int = 0) -> Any:
    """A model of `ROBUST` or `PLAIN` behind a scaling of the features, not tuned on labels in doubt."""
    from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    import noisylabels

    models: dict[str, Callable[[], Any]] = {  # ours are imported, with Numba, if asked for
        "rMKLR": lambda: noisylabels.RobustMultiKernelLogisticRegression(),
        "robust logistic": lambda: noisylabels.RobustLogisticRegression(lam=0.5),
        "logistic": lambda: LogisticRegression(max_iter=1000),  # the penalty of the robust one
        "forest": lambda: RandomForestClassifier(random_state=random_state),
        "gradient boosting": lambda: HistGradientBoostingClassifier(random_state=random_state),
    }
    if name == "gradient boosting":  # whose bins a scaling does not move
        return models[name]()
    return make_pipeline(StandardScaler(), models[name]())
