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
    """Repeated cross-fits of the rows of a table.

    Parameters
    ----------
    p : ndarray of shape (R, n, K)
        Probabilities of each observed class, of R cross-fits of n rows with K classes.
    g : ndarray of shape (R, n, K)
        Probabilities of each true class, the same as p unless the model knows flips.
    omega : ndarray of shape (R, K, K)
        The flip matrix of the model, the mean over the folds, or NaN.

    Examples
    --------
    >>> import numpy as np
    >>> from noisylabels.auditing.cross_fitting import CrossFit
    >>> p = np.array([[[0.75, 0.25]], [[0.25, 0.75]]])
    >>> CrossFit(p, p, np.full((2, 2, 2), np.nan)).mean.tolist()
    [[0.5, 0.5]]
    """

    p: Array
    g: Array
    omega: Array

    @property
    def mean(self) -> Array:
        """Mean of p over the cross-fits (n, K), to 12 decimals, so that equal rows stay equal."""
        return np.asarray(self.p.mean(axis=0).round(12))

    @property
    def predicted(self) -> Classes:
        """The class that each cross-fit gives each row, (R, n)."""
        return np.asarray(self.g.argmax(axis=2))


def folds_for(y: Classes, groups: Groups | None = None) -> int:
    """Choose the number of folds.

    Parameters
    ----------
    y : ndarray of int, shape (n,)
        The class of each row, a number from 0.
    groups : ndarray of int, shape (n,), optional
        The group of each row, numbers from 0. Groups are then counted in place of rows.

    Returns
    -------
    int
        5, or 10 below 300 rows, and never more than the smallest class has rows.

    Examples
    --------
    >>> import numpy as np
    >>> from noisylabels.auditing.cross_fitting import folds_for
    >>> folds_for(np.repeat([0, 1], 200)), folds_for(np.repeat([0, 1], [4, 90]))
    (5, 4)
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
    """Count the groups in which each class occurs.

    Parameters
    ----------
    y : ndarray of int, shape (n,)
        The class of each row, a number from 0.
    groups : ndarray of int, shape (n,)
        The group of each row, numbers from 0.

    Returns
    -------
    ndarray of int, shape (K,)
        The counts.

    Examples
    --------
    >>> import numpy as np
    >>> from noisylabels.auditing.cross_fitting import groups_of_classes
    >>> groups_of_classes(np.array([0, 0, 1, 0]), np.array([0, 0, 1, 1])).tolist()
    [2, 1]
    """
    number_of_groups = int(groups.max()) + 1
    cells = y.astype(np.int64) * number_of_groups + groups
    occurring = np.unique(cells)
    n_classes = int(y.max()) + 1
    return np.bincount(occurring // number_of_groups, minlength=n_classes)


def split_folds(
    y: Classes, folds: int, seed: int, groups: Groups | None = None
) -> Iterator[tuple[Classes, Classes]]:
    """Yield rows to train on and rows held out, classes in proportion; a group is never in both.

    Parameters
    ----------
    y : ndarray of int, shape (n,)
        The class of each row, a number from 0.
    folds : int
        Number of folds.
    seed : int
        Seed of the shuffling.
    groups : ndarray of int, shape (n,), optional
        The group of each row, numbers from 0.

    Yields
    ------
    train : ndarray of int
        Rows to train on.
    held : ndarray of int
        Rows held out.

    Raises
    ------
    ValueError
        If a class would be missing among the rows to train on.

    Examples
    --------
    >>> import numpy as np
    >>> from noisylabels.auditing.cross_fitting import split_folds
    >>> y = np.array([0, 0, 1, 1])
    >>> [len(held) for train, held in split_folds(y, 2, seed=0)]
    [2, 2]

    Notes
    -----
    Up to 500 groups, which are often large, are dealt so that the folds are about equally large.
    With more groups, the folds are stratified by the class that `rarest_class` gives each group.
    Folds that hold out no row are left out.
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
    """Find for each group the class of its rows that occurs in the fewest groups.

    Parameters
    ----------
    y : ndarray of int, shape (n,)
        The class of each row, a number from 0.
    groups : ndarray of int, shape (n,)
        The group of each row, numbers from 0.

    Returns
    -------
    ndarray of int, shape (number of groups,)
        The classes; of equally rare ones the first.

    Examples
    --------
    >>> import numpy as np
    >>> from noisylabels.auditing.cross_fitting import rarest_class
    >>> rarest_class(np.array([0, 0, 1, 0]), np.array([0, 0, 1, 1])).tolist()
    [0, 1]
    """
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
    """Cross-fit a classifier with ``predict_proba`` on folds with the classes in proportion.

    Parameters
    ----------
    X : ndarray of shape (n, d)
        Features.
    y : ndarray of int, shape (n,)
        The class of each row, 0 to K - 1.
    model : classifier
        A classifier of scikit-learn. A binary one with more than two classes is trained one class
        against the rest, and its probabilities are normalised.
    random_state : int, default 0
        Seed of the folds and of the rows that are drawn.
    repetitions : int, default 3
        Number of cross-fits.
    folds : int, optional
        Number of folds, by default that of `folds_for`.
    most_rows : int, optional
        Largest number of rows that a model is trained on, approximately; by default all.
    text : sparse matrix of shape (n, D), optional
        Words of texts, see `with_words`.
    groups : ndarray of int, shape (n,), optional
        The group of each row, numbers from 0. No group is both trained on and judged.
    say : callable, optional
        Gets a sentence after each fold if there are more than 5000 rows.

    Returns
    -------
    CrossFit
        The probabilities.

    Raises
    ------
    ValueError
        If the model has no ``predict_proba``, there are no repetitions, or a class has fewer than
        two rows or groups.

    Examples
    --------
    >>> import numpy as np
    >>> from noisylabels.auditing.cross_fitting import cross_fitted
    >>> from sklearn.linear_model import LogisticRegression
    >>> X = np.linspace(-1, 1, 40)[:, np.newaxis]
    >>> fit = cross_fitted(X, np.repeat([0, 1], 20), LogisticRegression(), repetitions=2)
    >>> fit.p.shape
    (2, 40, 2)

    Notes
    -----
    Folds and parts drawn do not depend on the names of the classes.
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
    """Select the groups of some rows, and number them from 0 again.

    Parameters
    ----------
    groups : ndarray of int, shape (n,) or None
        The group of each row; None if each row is alone.
    rows : ndarray of int, shape (m,)
        The rows.

    Returns
    -------
    ndarray of int, shape (m,), or None
        The groups of these rows; None if each row is alone.

    Examples
    --------
    >>> import numpy as np
    >>> from noisylabels.auditing.cross_fitting import numbered
    >>> numbered(np.array([0, 1, 2, 2]), np.array([0, 2, 3])).tolist()
    [0, 1, 1]
    """
    if groups is None:
        return None
    return np.unique(groups[rows], return_inverse=True)[1]


def drawn(y: Classes, rows: NDArray[Any], most_rows: int, rng: np.random.Generator) -> NDArray[Any]:
    """Draw about a given number of rows at most, classes in proportion, at least two of each.

    Parameters
    ----------
    y : ndarray of int, shape (n,)
        The class of each row of the table.
    rows : ndarray of int, shape (m,)
        The rows to draw from.
    most_rows : int
        Largest number of rows to draw, approximately. If there are not more, all are returned.
    rng : numpy.random.Generator
        Draws the rows.

    Returns
    -------
    ndarray of int
        The rows, sorted if some were drawn.

    Examples
    --------
    >>> import numpy as np
    >>> from noisylabels.auditing.cross_fitting import drawn
    >>> y = np.repeat([0, 1], [80, 20])
    >>> rows = drawn(y, np.arange(100), 10, np.random.default_rng(0))
    >>> np.bincount(y[rows]).tolist()
    [8, 2]
    """
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
    r"""Add to both tables the log-probability of each class by logistic regression on the words.

    Those of the rows trained on are cross-fitted among themselves, so that none knows its own
    label.

    Parameters
    ----------
    X : ndarray of shape (n, d)
        Features of the rows to train on.
    text : sparse matrix of shape (n, D)
        Their words.
    y : ndarray of int, shape (n,)
        Their classes, 0 to K - 1.
    X_held : ndarray of shape (m, d)
        Features of the rows held out.
    text_held : sparse matrix of shape (m, D)
        Their words.
    groups : ndarray of int, shape (n,), optional
        The group of each row to train on, numbers from 0. A group is in one fold.

    Returns
    -------
    with_inner : ndarray of shape (n, d + K)
        The table to train on with the added columns.
    with_outer : ndarray of shape (m, d + K)
        The table held out with the added columns.

    Examples
    --------
    >>> import numpy as np
    >>> from noisylabels.auditing.cross_fitting import with_words
    >>> from scipy.sparse import csr_matrix
    >>> y = np.repeat([0, 1], 10)
    >>> words = csr_matrix(np.eye(2)[y])
    >>> _, held = with_words(np.zeros((20, 1)), words, y, np.zeros((2, 1)), words[[0, 10]])
    >>> held[:, 1:].argmax(axis=1).tolist()
    [0, 1]

    Notes
    -----
    The columns are :math:`\log(p + 10^{-6})`.
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
    """Train a copy of a classifier, and predict held-out rows.

    Parameters
    ----------
    model : classifier
        The classifier, which stays as it is. A binary one with more than two classes is trained one
        class against the rest.
    X : ndarray of shape (n, d)
        Features of the rows to train on.
    y : ndarray of int, shape (n,)
        Their classes, 0 to K - 1, each of which occurs.
    X_held : ndarray of shape (m, d)
        Features of the rows held out.
    K : int
        Number of classes.

    Returns
    -------
    p : ndarray of shape (m, K)
        Probabilities of the observed classes of the rows held out.
    g : ndarray of shape (m, K)
        Probabilities of their true classes.
    omega : ndarray of shape (K, K)
        The flip matrix of the model, or NaN.

    Examples
    --------
    >>> import numpy as np
    >>> from noisylabels.auditing.cross_fitting import fitted
    >>> from sklearn.linear_model import LogisticRegression
    >>> X = np.linspace(-1, 1, 20)[:, np.newaxis]
    >>> y = np.repeat([0, 1], 10)
    >>> p, g, omega = fitted(LogisticRegression(), X, y, np.array([[-1.0], [1.0]]), K=2)
    >>> p.argmax(axis=1).tolist()
    [0, 1]
    """
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
    r"""Predict observed labels and true classes by a fitted model.

    Parameters
    ----------
    model : classifier
        A fitted classifier or pipeline. If it has a ``flip_matrix_``, it predicts the true classes.
    X : ndarray of shape (n, d)
        Features.

    Returns
    -------
    p : ndarray of shape (n, K)
        Probabilities of the observed classes.
    g : ndarray of shape (n, K)
        Probabilities of the true classes, the same as p without a flip matrix.
    omega : ndarray of shape (K, K)
        The flip matrix, rows are true classes, or NaN.

    Examples
    --------
    >>> import numpy as np
    >>> from noisylabels.auditing.cross_fitting import probabilities
    >>> from sklearn.linear_model import LogisticRegression
    >>> X = np.array([[-1.0], [1.0]])
    >>> p, g, omega = probabilities(LogisticRegression().fit(X, [0, 1]), X)
    >>> p is g, np.isnan(omega).all().item()
    (True, True)

    Notes
    -----
    With a flip matrix :math:`\Omega` the first is :math:`p = g\,\Omega`.
    """
    g = np.asarray(model.predict_proba(X), dtype=float)
    classifier = model[-1] if hasattr(model, "steps") else model
    omega = getattr(classifier, "flip_matrix_", None)
    if omega is None:
        K = g.shape[1]
        return g, g, np.full((K, K), np.nan)
    return g @ omega, g, np.asarray(omega)


def normalised(p: Array) -> Array:
    """Divide rows by their sums; a row of zeros becomes uniform.

    Parameters
    ----------
    p : ndarray of shape (n, K)
        Numbers of at least 0.

    Returns
    -------
    ndarray of shape (n, K)
        Rows that sum to 1.

    Examples
    --------
    >>> import numpy as np
    >>> from noisylabels.auditing.cross_fitting import normalised
    >>> normalised(np.array([[1.0, 3.0], [0.0, 0.0]])).tolist()
    [[0.25, 0.75], [0.5, 0.5]]
    """
    total = p.sum(axis=1, keepdims=True)
    is_positive = total > 0
    divisor = np.where(is_positive, total, 1.0)
    return np.where(is_positive, p / divisor, 1.0 / p.shape[1])


def chosen(wanted: Any, random_state: int = 0) -> tuple[str, Any]:
    """Return the name and the classifier that a user chose.

    Parameters
    ----------
    wanted : str or classifier
        One of this library by its name, ``package:Class``, or any classifier, which is returned as
        it is.
    random_state : int, default 0
        Seed of a classifier given by its name.

    Returns
    -------
    name : str
        The name.
    model : classifier
        The classifier.

    Raises
    ------
    ValueError
        If the name or the class does not exist, the class cannot be built without arguments, or the
        object has no ``fit``.

    Examples
    --------
    >>> from noisylabels.auditing.cross_fitting import chosen
    >>> chosen("Gradient_Boosting")[0]
    'gradient boosting'
    >>> chosen("sklearn.naive_bayes:GaussianNB")
    ('GaussianNB', GaussianNB())
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
    """Build a model of `ROBUST` or `PLAIN`, without tuning.

    Parameters
    ----------
    name : str
        The name of the model.
    random_state : int, default 0
        Seed of forest and gradient boosting; the others have none.

    Returns
    -------
    classifier
        The model, behind a scaling of features unless it is gradient boosting.

    Examples
    --------
    >>> from noisylabels.auditing.cross_fitting import model_of
    >>> list(model_of("logistic").named_steps)
    ['standardscaler', 'logisticregression']
    """
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
