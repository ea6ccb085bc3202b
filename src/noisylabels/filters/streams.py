"""Filters and classifiers that learn one row at a time, as the models of river do."""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from noisylabels.filters.base import Filter
from noisylabels.validation import Floats, finite, shown


class StreamModel:
    """A filter or a classifier that learns and predicts one row of named values at a time.

    Its methods are those of the models of river, which need not be installed.

    Parameters
    ----------
    model : Filter or classifier with ``partial_fit``
        For example `NLMS`, `RobustSGDClassifier` or `PegasosClassifier`. A copy of it learns.
    classes : sequence, optional
        All classes of a classifier, because the first row has one only.

    Raises
    ------
    ValueError
        If the model has no ``partial_fit``, or is a classifier and ``classes`` are missing.

    Examples
    --------
    >>> from noisylabels import NLMS, StreamModel
    >>> model = StreamModel(NLMS(mu=1.0, eps=0.0))
    >>> model.predict_one({"rain": 2.0})
    0.0
    >>> model.learn_one({"rain": 2.0}, 4.0)
    >>> model.predict_one({"rain": 3.0})
    6.0
    >>> # A name that is missing counts as 0, a new one begins at 0.
    >>> model.learn_one({"snow": 1.0}, 0.5)
    >>> model.predict_one({"rain": 3.0, "snow": 2.0})
    7.0

    Notes
    -----
    `learn_many` equals `learn_one` row by row to the last bit. For classifiers that make an epoch
    of every call this holds where ``epoch_rows`` and ``eta0`` are given.
    """

    def __init__(self, model: Any, classes: Sequence[Any] | None = None) -> None:
        if isinstance(model, type):
            name = model.__name__
            raise ValueError(f"model: {name} is a class; give an instance: {name}()")
        if not hasattr(model, "partial_fit"):
            raise ValueError(
                f"model: {type(model).__name__} has no partial_fit, so it cannot learn row by row"
            )
        if not isinstance(model, Filter) and classes is None:
            problem = "a classifier needs all classes beforehand, the first row has one only"
            raise ValueError(f"classes: {problem}")
        self.model = model
        self.classes = classes
        self._learner = copy.deepcopy(model)
        # name of a value -> its column in the rows of the learner
        self._columns: dict[Any, int] = {}

    def learn_one(self, x: Mapping[Any, float], y: Any, **side: Any) -> None:
        """Learn from one row and its label.

        Parameters
        ----------
        x : mapping of names to numbers
            The row. A known name that is missing counts as 0; a new name is learned from now on.
        y : number or class
            The label.
        **side
            What ``partial_fit`` of the model needs in addition, such as ``v`` of `ORS`.

        Raises
        ------
        ValueError
            If there is a new name and the model cannot take a further column; if a value is not
            finite.
        """
        values = _values_of(x)
        columns = self._columns_with(x)
        row = np.zeros((1, len(columns)))
        row[0, [columns[name] for name in x]] = values
        self._learn(columns, row, [y], side)

    def learn_many(self, X: Any, y: Any, **side: Any) -> None:
        """Learn from the rows of a data frame, in order.

        Parameters
        ----------
        X : data frame of n rows
            Its columns are the names of `learn_one`.
        y : array-like of shape (n,)
            The labels.
        **side
            What ``partial_fit`` of the model needs in addition, such as ``v`` of `ORS`.

        Raises
        ------
        ValueError
            As `learn_one`.
        """
        columns = self._columns_with(X.columns)
        rows = np.zeros((len(X), len(columns)))
        places = [columns[name] for name in X.columns]
        rows[:, places] = X.to_numpy(dtype=float)
        self._learn(columns, rows, np.asarray(y), side)

    def predict_one(self, x: Mapping[Any, float]) -> Any:
        """Predict the target or the class of a row.

        Parameters
        ----------
        x : mapping of names to numbers
            The row. Names that were never learned are left out.

        Returns
        -------
        float or class
            Before the first row, 0 from a filter and None from a classifier.
        """
        if not self._columns:
            return 0.0 if isinstance(self._learner, Filter) else None
        prediction: Any = self._learner.predict(self._row(x))[0].item()
        return prediction

    def predict_proba_one(self, x: Mapping[Any, float]) -> dict[Any, float]:
        """Give the probability of each class.

        Parameters
        ----------
        x : mapping of names to numbers
            The row. Names that were never learned are left out.

        Returns
        -------
        dict
            Class to probability; equal ones before the first row.

        Raises
        ------
        NotImplementedError
            If the classifier has no probabilities.
        """
        if not hasattr(self._learner, "predict_proba"):
            raise NotImplementedError(f"{type(self.model).__name__} has no predict_proba")
        if not self._columns:
            classes = list(self.classes or [])
            return dict.fromkeys(classes, 1.0 / len(classes))
        row = self._row(x)
        probabilities = self._learner.predict_proba(row)[0].tolist()
        names = self._learner.classes_.tolist()
        return dict(zip(names, probabilities, strict=True))

    def _row(self, x: Mapping[Any, float]) -> Floats:
        row = np.zeros((1, len(self._columns)))
        for name, value in zip(x, _values_of(x), strict=True):
            if name in self._columns:
                row[0, self._columns[name]] = value
        return row

    def _columns_with(self, names: Any) -> dict[Any, int]:
        """The columns of the known names, then those of the new names."""
        columns = dict(self._columns)
        for name in names:
            columns.setdefault(name, len(columns))
        new = [name for name in columns if name not in self._columns]
        if self._columns and new and not hasattr(self._learner, "_grow"):
            problem = f"{type(self.model).__name__} cannot take further columns"
            learned = list(self._columns)
            raise ValueError(f"x: the names {new} are new, and {problem}; learned were {learned}")
        return columns

    def _learn(
        self,
        columns: dict[Any, int],
        rows: Floats,
        labels: Any,
        side: Mapping[str, Any],
    ) -> None:
        learner = self._learner
        if self._columns and len(columns) > len(self._columns):
            # a copy, so that an error below does not change the model
            learner = copy.deepcopy(learner)
            learner._grow(len(columns))
        if isinstance(learner, Filter):
            learner.partial_fit(rows, labels, **side)
        else:
            learner.partial_fit(rows, labels, classes=self.classes, **side)
        self._learner = learner
        self._columns = columns


def _values_of(x: Mapping[Any, float]) -> Floats:
    """The values of a row; a ValueError names the first feature that is not a finite number."""
    for name, value in x.items():
        try:
            finite("x", [value], (1,))
        except ValueError:
            problem = f"feature {name!r} must be a finite number, got {shown(value)}"
            raise ValueError(f"x: {problem}") from None
    return finite("x", list(x.values()), (None,))


def to_river(model: Any, classes: Sequence[Any] | None = None) -> Any:
    """Turn a filter or a classifier into a model of river, for its pipelines and evaluations.

    Parameters
    ----------
    model : Filter or classifier with ``partial_fit``
        See `StreamModel`.
    classes : sequence, optional
        All classes of a classifier.

    Returns
    -------
    river.base.Regressor or river.base.Classifier
        A `StreamModel` that is also a model of river.

    Raises
    ------
    ImportError
        If river is not installed. `StreamModel` has the same methods without it.

    Examples
    --------
    >>> from noisylabels import NLMS, to_river  # doctest: +SKIP
    >>> from river import preprocessing
    >>> pipeline = preprocessing.StandardScaler() | to_river(NLMS(mu=0.5))  # doctest: +SKIP
    """
    from noisylabels.filters.river_models import RiverClassifier, RiverRegressor

    if isinstance(model, Filter):
        return RiverRegressor(model)
    return RiverClassifier(model, classes)
