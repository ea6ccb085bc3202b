"""Labels as a binary classifier gets them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.multiclass import check_classification_targets, type_of_target


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
