"""Filters and classifiers that learn one row at a time, as river's models do."""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from noisylabels.filters.base import Filter, named_row


class StreamModel:
    """river's learn_one, predict_one, predict_proba_one and learn_many for a model that has ``partial_fit``.

    model : a `Filter`, or a classifier such as `RobustSGDClassifier` and `PegasosClassifier`; a copy learns.
    classes : all classes of a classifier, because the first row has one only.

    Rows x are {name: value}, with the same names throughout. Before the first row a filter predicts 0 and a
    classifier None. `learn_many` equals `learn_one` row by row to the last bit, for classifiers that make an
    epoch of every call where ``epoch_rows`` and ``eta0`` are given. See `to_river`.
    """

    def __init__(self, model: Any, classes: Sequence[Any] | None = None) -> None:
        if not hasattr(model, "partial_fit"):
            raise ValueError(
                f"model: {type(model).__name__} has no partial_fit, so it cannot learn row by row"
            )
        if not isinstance(model, Filter) and classes is None:
            raise ValueError("classes: a classifier needs all classes beforehand, the first row has one only")
        self.model, self.classes = model, classes
        self._learner, self._names = copy.deepcopy(model), tuple[Any, ...]()

    def learn_one(self, x: Mapping[Any, float], y: Any, **side: Any) -> None:
        """Learn from a row and its label; side : what ``partial_fit`` takes beside, as v of `ORS`."""
        self._names, row = named_row(x, self._names)
        self._learn(row[np.newaxis], [y], **side)

    def learn_many(self, X: Any, y: Any, **side: Any) -> None:
        """Learn from the rows of a data frame, in order."""
        names = self._names or tuple(X.columns)
        if set(names) != set(X.columns):
            raise ValueError(f"X: has the columns {list(X.columns)}, learned were {list(names)}")
        self._learn(X[list(names)].to_numpy(dtype=float), np.asarray(y), **side)
        self._names = names

    def predict_one(self, x: Mapping[Any, float]) -> Any:
        """The prediction of a filter, or the class."""
        if isinstance(self._learner, Filter):
            return float(self._learner.predict(named_row(x, self._names)[1]))
        return self._learner.predict(self._row(x))[0].item() if self._names else None

    def predict_proba_one(self, x: Mapping[Any, float]) -> dict[Any, float]:
        """The probability of each class, where the classifier has it; {} before the first row."""
        if not self._names:
            return {}
        p = self._learner.predict_proba(self._row(x))[0]
        return dict(zip(self._learner.classes_.tolist(), p.tolist(), strict=True))

    def _row(self, x: Mapping[Any, float]) -> Any:
        return named_row(x, self._names)[1][np.newaxis]

    def _learn(self, X: Any, y: Any, **side: Any) -> None:
        classes = {} if isinstance(self._learner, Filter) else {"classes": self.classes}
        self._learner.partial_fit(X, y, **classes, **side)


def to_river(model: Any, classes: Sequence[Any] | None = None) -> Any:
    """A `StreamModel` that is also a Regressor or Classifier of river, for its pipelines and evaluations.

    Raises ImportError : river is not installed; `StreamModel` has the same methods without it.
    """
    from river import base  # type: ignore[import-not-found]

    kind = base.Regressor if isinstance(model, Filter) else base.Classifier
    return type("StreamModel", (StreamModel, kind), {})(model, classes)
