"""Labels and weights of examples as classifiers get them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.multiclass import check_classification_targets, type_of_target
from sklearn.utils.validation import _check_sample_weight


def two_classes(y: Any, classes: Any = None) -> NDArray[Any]:
    """The two sorted classes of y (or of ``classes``).

    Raises
    ------
    ValueError : not a classification target, or not exactly two classes.
    """
    check_classification_targets(y)
    found = np.unique(y if classes is None else np.asarray(classes))
    if len(found) > 2:
        kind = type_of_target(found, input_name="y")
        raise ValueError(f"Only binary classification is supported. The type of the target is {kind}.")
    if len(found) < 2:
        raise ValueError(f"the labels must have two classes, got one class only: {found.tolist()}")
    if classes is not None and not np.isin(y, found).all():
        raise ValueError(f"y has labels outside classes = {found.tolist()}")
    return found


def classes_of(y: Any) -> NDArray[Any]:
    """The sorted classes of y, two or more; ValueError: not a classification target, one class only."""
    check_classification_targets(y)
    found = np.unique(y)
    return found if len(found) > 2 else two_classes(y)


def example_weights(X: Any, y: Any, sample_weight: ArrayLike | None) -> NDArray[np.float64] | None:
    """The weights of examples with the observed labels y, (n,); None if they are not given.

    Raises ValueError : weights < 0 or not finite, a class without an example of weight > 0.
    """
    if sample_weight is None:
        return None
    weights = _check_sample_weight(sample_weight, X, dtype=np.float64, ensure_non_negative=True)
    if len(np.unique(y[weights > 0])) < max(2, len(np.unique(y))):
        raise ValueError(
            "sample_weight leaves one class only: some example of each class needs a weight > 0"
            if len(np.unique(y)) == 2
            else "the weights leave a class without examples: each class needs one with a weight > 0"
        )
    return weights
