"""Training and test rows of a data set: drawn, standardised, and dealt to folds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from reproduction.data.prepared import read_only
from reproduction.run.points import Scored
from reproduction.run.results import Row as Row
from reproduction.spec.noise_kinds import Target

Floats = NDArray[np.float64]
Labels = NDArray[np.int8]
Indices = NDArray[np.int64]


@dataclass(frozen=True)
class Split:
    """One standardised split of a data set; labels are 0 and 1, or 0 to K - 1 for K classes.

    Its arrays cannot be changed.
    X (n, d), X_test (m, d); clean (n,) and truth (m,): true labels, or real values, of the
    training and of the test rows.
    train (n,), test (m,) : numbers of the rows in the data set.
    """

    X: Floats
    X_test: Floats
    clean: NDArray[Any]
    truth: NDArray[Any]
    train: Indices
    test: Indices

    def checked(self, predicted: ArrayLike) -> NDArray[Any]:
        """Predict the labels (m,) of the test rows, and check them."""
        return check_predicted(predicted, len(self.X_test), self.clean)

    def scored(self, predicted: NDArray[Any]) -> Scored:
        """Mark the test rows whose ``predicted`` labels (m,) are wrong, as points of the pool.

        Raises ValueError : it is not one label for each test row, or one that no training row has,
        such as NaN, or -1 of 0 and 1.
        """
        predicted = self.checked(predicted)
        return Scored(self.test, predicted != self.truth, len(self.clean) + len(self.truth))

    @classmethod
    def of(
        cls,
        arrays: Mapping[str, Any],
        train: Indices,
        test: Indices,
        target: Target = "two classes",
    ) -> Split:
        """Select the rows ``train`` and ``test`` of X (N, d) and of the targets y (N,)."""
        y = read_target(arrays["y"], target)
        X, X_test = standardised(arrays["X"][train], arrays["X"][test])
        parts = (X, X_test, y[train], y[test], train.copy(), test.copy())
        return cls(*map(read_only, parts))


def check_predicted(
    answers: ArrayLike,
    count: int,
    known_labels: NDArray[Any] | None = None,
) -> NDArray[Any]:
    """Return the predicted labels of a given number of rows as an array.

    known_labels : labels that may be predicted; 0 and 1 if not given.
    Raises ValueError : it is not one label for each row, or another label.
    """
    predicted = check_count(answers, count)
    labels = np.array([0, 1]) if known_labels is None else np.unique(known_labels)
    is_known = np.isin(predicted, labels)
    if not is_known.all():
        names = ", ".join(map(str, labels))
        raise ValueError(f"the method predicts {predicted[~is_known][0]}; the labels are {names}")
    return predicted


def check_count(predicted: ArrayLike, count: int) -> NDArray[Any]:
    """Return the predictions of a method as an array with one value for each row."""
    values = np.asarray(predicted)
    if values.shape != (count,):
        expected = f"({count},) is expected, one label for each row"
        raise ValueError(f"the predicted labels have the shape {values.shape}; {expected}")
    return values


def read_target(y: NDArray[Any], target: Target) -> NDArray[Any]:
    """Write two classes as 0 and 1, K classes as numbers from 0; real values do not change."""
    if target == "two classes":
        values = np.unique(y)
        if len(values) > 2 or (len(values) == 2 and (values > 0).sum() != 1):
            names = ", ".join(map(str, values[:4])) + (", ..." if len(values) > 4 else "")
            rule = "two classes are -1 and 1, or 0 and 1"
            raise ValueError(f"y has {len(values)} values ({names}); {rule}")
        return zero_one(y)
    if target == "classes":
        return np.unique(y, return_inverse=True)[1].astype(np.int64)
    return np.asarray(y, dtype=float)


def zero_one(signs: NDArray[Any]) -> Labels:
    """Write labels as 1 where they are positive, else as 0."""
    return (signs > 0).astype(np.int8)


def standardised(train: Floats, test: Floats) -> tuple[Floats, Floats]:
    """Standardise each feature by the training rows; constant features become 0."""
    mean = train.mean(axis=0)
    std = train.std(axis=0)
    # the std of a constant feature may be rounded above 0
    varies = train.max(axis=0) > train.min(axis=0)
    factor = np.divide(1.0, std, out=np.zeros_like(std), where=varies)
    return (train - mean) * factor, (test - mean) * factor


def random_split(
    y: NDArray[Any], test: float, stratified: bool, rng: np.random.Generator
) -> tuple[Indices, Indices]:
    """Draw ascending rows for training and for the test, of which at least one is for the test.

    stratified : the same share of every class.
    Raises ValueError : no row, or none of a class, would be left on one of the sides.
    """
    held = stratified_mask(y if stratified else np.zeros(len(y)), test, rng)
    return np.flatnonzero(~held), np.flatnonzero(held)


def stratified_mask(y: NDArray[Any], share: float, rng: np.random.Generator) -> NDArray[np.bool_]:
    """Choose a share of the members of every class, at least one, as a mask.

    Raises ValueError : a class would be empty on one of the sides.
    """
    mask = np.full(len(y), share >= 1)
    for label in np.unique(y) if share < 1 else ():
        members = rng.permutation(np.flatnonzero(y == label))
        count = max(1, round(share * len(members)))
        if count == len(members):
            reason = "none would be left for the other part"
            raise ValueError(f"class {label} has {count} rows only: {reason}")
        mask[members[:count]] = True
    return mask


def random_folds(n: int, count: int, rng: np.random.Generator) -> Indices:
    """Deal n rows to folds at random; their sizes differ by at most one.

    Raises ValueError : fewer rows than folds.
    """
    if n < count:
        raise ValueError(f"{n} rows cannot make {count} folds; lower the setting folds")
    return stratified_folds(np.zeros(n), count, rng)


def stratified_folds(y: NDArray[Any], count: int, rng: np.random.Generator) -> Indices:
    """Deal the rows of each class to folds at random, so that every fold has its share.

    Raises ValueError : a class with fewer rows than folds.
    """
    fold = np.empty(len(y), dtype=np.int64)
    for label in np.unique(y):
        members = rng.permutation(np.flatnonzero(y == label))
        if len(members) < count:
            problem = f"class {label} has {len(members)} rows, fewer than the {count} folds"
            raise ValueError(f"{problem}; lower the setting folds")
        fold[members] = np.arange(len(members)) % count
    return fold
