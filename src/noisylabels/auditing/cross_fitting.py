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

ROBUST = ("rMKLR", "robust logistic")
"""Classifiers of an audit that allow for flips."""
PLAIN = ("logistic", "forest", "gradient boosting")
"""Plain classifiers of an audit, for comparison."""
DEFAULT = "rMKLR"
LARGEST = 2000
"""Rows that rMKLR is trained on by default; of a larger table a stratified part is drawn."""
MANY = 5000
"""Number of rows above which an audit trains gradient boosting on all of them, cross-fitted once.
"""
FEW_GROUPS = 500
"""Number of groups below which folds are dealt by rows, which is slow for more groups."""


@dataclass(frozen=True)
class CrossFit:
    """Repeated cross-fits of n rows with K classes.

    p (R, n, K) : probability of each *observed* class.
    g (R, n, K) : probability of each *true* class, the same unless the model knows flips.
    omega (R, K, K) : the model's own flip matrix, mean over the folds, or NaN.
    """

    p: Array
    g: Array
    omega: Array

    @property
    def mean(self) -> Array:
        """Average p over the R cross-fits, to 12 decimals, so that equal rows stay equal."""
        return np.asarray(self.p.mean(axis=0).round(12))

    @property
    def predicted(self) -> Classes:
        """The class each cross-fit would give each row, (R, n)."""
        return np.asarray(self.g.argmax(axis=2))


def folds_for(y: Classes, groups: Groups | None = None) -> int:
    """Choose 5 folds, or 10 below 300 rows, and never more than the smallest class has members.

    Of rows in groups (n,), numbers from 0, groups are counted.
    """
    if groups is None:
        rows = len(y)
        members = np.bincount(y)
    else:
        rows = int(groups.max()) + 1
        members = groups_of_classes(y, groups)
    folds = 10 if rows < 300 else 5
    return min(folds, int(members.min()))


def groups_of_classes(y: Classes, groups: Groups) -> Classes:
    """Count the groups in which each class occurs, (K,)."""
    number_of_groups = int(groups.max()) + 1
    cells = y.astype(np.int64) * number_of_groups + groups
    occurring = np.unique(cells)
    n_classes = int(y.max()) + 1
    return np.bincount(occurring // number_of_groups, minlength=n_classes)


def split_folds(
    y: Classes, folds: int, seed: int, groups: Groups | None = None
) -> Iterator[tuple[Classes, Classes]]:
    """Yield rows to train on and rows held out, classes in proportion; a group is never in both.

    A group goes with the class of its rows that is in the fewest groups. Few groups, which are
    often large, are dealt so that folds have about as many rows.

    Raises
    ------
    ValueError
        If a class would be missing among the rows to train on.
    """
    from sklearn.model_selection import StratifiedGroupKFold, StratifiedKFold

    if groups is None:
        splitter = StratifiedKFold(folds, shuffle=True, random_state=seed)
        yield from splitter.split(np.zeros(len(y)), y)
        return
    if groups.max() < FEW_GROUPS:
        group_splitter = StratifiedGroupKFold(folds, shuffle=True, random_state=seed)
        parts = list(group_splitter.split(np.zeros(len(y)), y, groups))
    else:
        class_of_group = rarest_class(y, groups)
        splitter = StratifiedKFold(folds, shuffle=True, random_state=seed)
        parts = []
        for _, held_groups in splitter.split(np.zeros(len(class_of_group)), class_of_group):
            is_held = np.zeros(len(class_of_group), dtype=bool)
            is_held[held_groups] = True
            row_is_held = is_held[groups]
            parts.append((np.flatnonzero(~row_is_held), np.flatnonzero(row_is_held)))
    classes = len(np.unique(y))
    for train, held in parts:
        if len(np.unique(y[train])) < classes:
            problem = "a class occurs in so few groups that some folds have none of it to train on"
            raise ValueError(f"{problem}; merge it with another class, or give smaller groups")
        if len(held):
            yield train, held


def rarest_class(y: Classes, groups: Groups) -> Classes:
    """Find for each group the class of its rows that occurs in the fewest groups."""
    counts = groups_of_classes(y, groups)
    rarest_first = np.argsort(counts, kind="stable")
    rank = np.empty_like(rarest_first)
    rank[rarest_first] = np.arange(len(rarest_first))
    n_groups = int(groups.max()) + 1
    smallest_rank = np.full(n_groups, len(rank))
    np.minimum.at(smallest_rank, groups, rank[y])
    return np.asarray(rarest_first[smallest_rank])


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
    """Cross-fit a scikit-learn classifier with ``predict_proba``, stratified.

    X (n, d); y (n,) classes 0..K-1. Folds and parts drawn do not depend on the names of the
    classes. A binary model with K > 2 classes is trained one class against the rest; its
    probabilities are normalised.
    most_rows : trained on at most, None: all.   text : sparse (n, D), see `with_words`.
    groups (n,) : the group of each row, numbers from 0; no group is both trained on and judged.

    Raises ValueError : a model without ``predict_proba``, a class with fewer than two rows or
    groups, no repetitions.
    """
    if not hasattr(model, "predict_proba"):
        advice = "wrap it in sklearn's CalibratedClassifierCV"
        raise ValueError(f"{type(model).__name__} has no predict_proba; {advice}")
    if repetitions < 1:
        raise ValueError(f"repetitions of the cross-fitting must be at least 1, got {repetitions}")
    K = int(y.max()) + 1
    folds = folds or folds_for(y, groups)
    if folds < 2:
        single = "a single row"
        if groups is not None:
            single = "rows of a single group (copies count as one)"
        raise ValueError(f"a class with {single} cannot be cross-fitted; delete or merge it")
    p = np.empty((repetitions, len(y), K))
    g = np.empty((repetitions, len(y), K))
    omega = np.full((repetitions, folds, K, K), np.nan)
    for r in range(repetitions):
        rng = np.random.default_rng([random_state, r])
        splits = split_folds(y, folds, int(rng.integers(2**31)), groups)
        for fold, (trainable, held) in enumerate(splits):
            train = drawn(y, trainable, most_rows or len(y), rng)
            X_train = X[train]
            X_held = X[held]
            if text is not None:
                groups_of_train = numbered(groups, train)
                X_train, X_held = with_words(
                    X_train, text[train], y[train], X_held, text[held], groups_of_train
                )
            p[r, held], g[r, held], omega[r, fold] = fitted(model, X_train, y[train], X_held, K)
            if len(y) > MANY:
                say(f"fold {fold + 1} of {folds}, round {r + 1} of {repetitions}")
    return CrossFit(p, g, omega.mean(axis=1))


def numbered(groups: Groups | None, rows: Classes) -> Groups | None:
    """Select the groups of some rows, and number them from 0 again."""
    if groups is None:
        return None
    return np.unique(groups[rows], return_inverse=True)[1]


def drawn(y: Classes, rows: NDArray[Any], most_rows: int, rng: np.random.Generator) -> NDArray[Any]:
    """Draw at most about ``most_rows`` rows, classes in proportion, at least two of each."""
    if len(rows) <= most_rows:
        return rows
    shuffled = rng.permutation(rows)
    parts = []
    for label in np.unique(y[rows]):
        members = shuffled[y[shuffled] == label]
        share = most_rows / len(rows)
        wanted = max(2, round(share * len(members)))
        parts.append(members[:wanted])
    return np.sort(np.concatenate(parts))


def with_words(
    X: Array,
    text: Any,
    y: Classes,
    X_held: Array,
    text_held: Any,
    groups: Groups | None = None,
) -> tuple[Array, Array]:
    """Add to both tables the log-probability of each class by logistic regression on the words.

    Those of the rows trained on are cross-fitted among themselves, so that none knows its own
    label.
    """
    from sklearn.linear_model import LogisticRegression
    from sklearn.model_selection import cross_val_predict

    linear = LogisticRegression(C=10.0, max_iter=1000)
    inside: Any
    if groups is None:
        inside = min(5, int(np.bincount(y).min()))
    else:
        folds = max(2, min(5, folds_for(y, groups)))
        inside = list(split_folds(y, folds, 0, groups))
    inner = cross_val_predict(linear, text, y, cv=inside, method="predict_proba")
    outer = linear.fit(text, y).predict_proba(text_held)
    with_inner = np.hstack([X, np.log(inner + 1e-6)])
    with_outer = np.hstack([X_held, np.log(outer + 1e-6)])
    return with_inner, with_outer


def fitted(model: Any, X: Array, y: Classes, X_held: Array, K: int) -> tuple[Array, Array, Array]:
    """Predict p and g (m, K) of held-out rows; return them and the flip matrix, or NaN."""
    from sklearn.base import clone
    from sklearn.utils import get_tags

    tags = get_tags(model).classifier_tags
    if K == 2 or tags is None or tags.multi_class:
        model_of_all = clone(model)
        return probabilities(model_of_all.fit(X, y), X_held)
    p = np.empty((len(X_held), K))
    g = np.empty((len(X_held), K))
    for k in range(K):
        is_class = (y == k).astype(np.intp)
        binary = clone(model).fit(X, is_class)
        p_binary, g_binary, _ = probabilities(binary, X_held)
        p[:, k] = p_binary[:, 1]
        g[:, k] = g_binary[:, 1]
    unknown = np.full((K, K), np.nan)
    return normalised(p), normalised(g), unknown


def probabilities(model: Any, X: Array) -> tuple[Array, Array, Array]:
    """Predict labels p = g Omega and true classes g of a fitted model."""
    g = np.asarray(model.predict_proba(X), dtype=float)
    classifier = model[-1] if hasattr(model, "steps") else model
    omega = getattr(classifier, "flip_matrix_", None)
    if omega is None:
        K = g.shape[1]
        return g, g, np.full((K, K), np.nan)
    return g @ omega, g, np.asarray(omega)


def normalised(p: Array) -> Array:
    """Divide rows by their sums; a row of zeros becomes uniform."""
    total = p.sum(axis=1, keepdims=True)
    is_positive = total > 0
    divisor = np.where(is_positive, total, 1.0)
    return np.where(is_positive, p / divisor, 1.0 / p.shape[1])


def chosen(wanted: Any, random_state: int = 0) -> tuple[str, Any]:
    """Return the name and the classifier that a user chose.

    One of this library by name, ``package:Class``, or any classifier as it is.

    Raises ValueError : a name or a class that is not there, or that cannot be built without
    arguments.
    """
    if not isinstance(wanted, str):
        if isinstance(wanted, type) or not hasattr(wanted, "fit"):
            example = "a classifier such as LogisticRegression() or a name such as 'forest'"
            raise ValueError(f"model must be {example}, got {wanted!r}")
        return type(wanted).__name__, wanted
    names = {name.lower().replace(" ", "_"): name for name in (*ROBUST, *PLAIN)}
    simple_name = wanted.lower().replace(" ", "_")
    if name := names.get(simple_name):
        return name, model_of(name, random_state)
    package, colon, member = wanted.partition(":")
    if not colon:
        listed = ", ".join(names)
        raise ValueError(f"model: {wanted!r} is not one of {listed}, best, and not package:Class")
    import importlib

    try:
        module = importlib.import_module(package)
        return member, getattr(module, member)()
    except (ImportError, AttributeError, TypeError, ValueError) as error:
        advice = "give package:Class, built without arguments"
        raise ValueError(f"model {wanted!r}: {error}; {advice}") from None


def model_of(name: str, random_state: int = 0) -> Any:
    """Build a model of `ROBUST` or `PLAIN` behind a scaling of features, without tuning."""
    from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    import noisylabels

    # classifiers of this library load Numba, so they are imported only when named
    models: dict[str, Callable[[], Any]] = {
        "rMKLR": lambda: noisylabels.RobustMultiKernelLogisticRegression(),
        "robust logistic": lambda: noisylabels.RobustLogisticRegression(lam=0.5),
        # this is the penalty of the robust logistic regression
        "logistic": lambda: LogisticRegression(max_iter=1000),
        "forest": lambda: RandomForestClassifier(random_state=random_state),
        "gradient boosting": lambda: HistGradientBoostingClassifier(random_state=random_state),
    }
    if name == "gradient boosting":  # scaling does not change the bins of gradient boosting
        return models[name]()
    return make_pipeline(StandardScaler(), models[name]())
