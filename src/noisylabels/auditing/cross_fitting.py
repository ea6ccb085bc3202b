"""Out-of-sample probabilities of the observed labels, by classifiers trained on the other rows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Classes = NDArray[np.intp]

ROBUST, PLAIN = ("rMKLR", "robust logistic"), ("logistic", "forest", "gradient boosting")
DEFAULT = "rMKLR"
"""The classifiers of an audit: those that know of flips, and plain ones beside them."""
LARGEST, MANY = 2000, 5000
"""Rows that rMKLR is trained on, by default: of more, a stratified part is drawn. Above 5000 rows an audit
takes gradient boosting on all of them instead, cross-fitted once."""


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


def folds_for(y: Classes) -> int:
    """5, or 10 below 300 rows, and never more than the smallest class has members."""
    return min(10 if len(y) < 300 else 5, int(np.bincount(y).min()))


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
    say: Callable[[str], None] = lambda sentence: None,
) -> CrossFit:
    """Stratified cross-fitting of ``model``, a scikit-learn classifier with ``predict_proba``.

    X (n, d); y (n,) classes 0..K-1. Folds and parts drawn do not depend on the names of the classes. A binary
    model with K > 2 classes is trained one class against the rest; its probabilities are normalised.
    most_rows : trained on at most, None: all.   text : sparse (n, D), see `with_words`.

    Raises ValueError : a model without ``predict_proba``, a class with fewer than two rows, no repetitions.
    """
    from sklearn.model_selection import StratifiedKFold

    if not hasattr(model, "predict_proba"):
        how = "wrap it in sklearn's CalibratedClassifierCV"
        raise ValueError(f"{type(model).__name__} has no predict_proba; {how}")
    if repetitions < 1:
        raise ValueError(f"repetitions of the cross-fitting must be at least 1, got {repetitions}")
    K, folds = int(y.max()) + 1, folds or folds_for(y)
    if folds < 2:
        raise ValueError("a class with a single row cannot be cross-fitted; delete or merge it")
    p, g = np.empty((repetitions, len(y), K)), np.empty((repetitions, len(y), K))
    omega = np.empty((repetitions, folds, K, K))
    for r in range(repetitions):
        rng = np.random.default_rng([random_state, r])
        cut = StratifiedKFold(folds, shuffle=True, random_state=int(rng.integers(2**31)))
        for fold, (train, held) in enumerate(cut.split(X, y)):
            part = drawn(y, train, most_rows or len(y), rng)
            known, new = X[part], X[held]
            if text is not None:
                known, new = with_words(known, text[part], y[part], new, text[held])
            p[r, held], g[r, held], omega[r, fold] = fitted(model, known, y[part], new, K)
            if len(y) > MANY:
                say(f"fold {fold + 1} of {folds}, round {r + 1} of {repetitions}")
    return CrossFit(p, g, omega.mean(axis=1))


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


def with_words(X: Array, text: Any, y: Classes, X_held: Array, text_held: Any) -> tuple[Array, Array]:
    """Both tables with the log-probabilities that logistic regression on the words gives each class.

    Those of the rows trained on are cross-fitted among themselves, so that none knows its own label.
    """
    from sklearn.linear_model import LogisticRegression
    from sklearn.model_selection import cross_val_predict

    linear = LogisticRegression(C=10.0, max_iter=1000)
    inner = cross_val_predict(linear, text, y, cv=min(5, int(np.bincount(y).min())), method="predict_proba")
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
        raise ValueError(f"model: {wanted!r} is none of {', '.join(names)}, best, and no package:Class")
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
