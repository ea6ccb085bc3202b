"""Filters and classifiers as models of river: importing this module needs river."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from river import base

from noisylabels.classifiers.linear import RobustSGDClassifier
from noisylabels.filters.base import Filter
from noisylabels.filters.lms import NLMS
from noisylabels.filters.streams import StreamModel


class RiverRegressor(StreamModel, base.Regressor):
    """A filter as a regressor of river.

    Parameters
    ----------
    model : Filter
        A copy of it learns.

    Examples
    --------
    >>> from noisylabels import NLMS
    >>> from noisylabels.filters.river_models import RiverRegressor
    >>> RiverRegressor(NLMS()).predict_one({"rain": 2.0})
    0.0
    """

    def __init__(self, model: Filter) -> None:
        super().__init__(model)

    @classmethod
    def _unit_test_params(cls) -> Iterator[dict[str, Any]]:
        yield {"model": NLMS()}


class RiverClassifier(StreamModel, base.Classifier):  # type: ignore[misc]
    """A classifier with ``partial_fit`` as a classifier of river.

    Parameters
    ----------
    model : classifier
        A copy of it learns.
    classes : sequence
        All classes.

    Examples
    --------
    >>> from noisylabels import PegasosClassifier
    >>> from noisylabels.filters.river_models import RiverClassifier
    >>> model = RiverClassifier(PegasosClassifier(), ["dry", "wet"])
    >>> model.learn_one({"rain": 2.0}, "wet")
    >>> model.predict_one({"rain": 3.0})
    'wet'
    """

    def __init__(self, model: Any, classes: Sequence[Any] | None) -> None:
        super().__init__(model, classes)

    @property
    def _multiclass(self) -> bool:
        return len(self.classes or []) > 2

    @classmethod
    def _unit_test_params(cls) -> Iterator[dict[str, Any]]:
        yield {"model": RobustSGDClassifier("log"), "classes": [False, True]}
