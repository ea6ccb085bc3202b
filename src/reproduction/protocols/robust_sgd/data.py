"""The learning problems of the robust-SGD study: split, scaled to [0, 1], with noisy training labels."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from noisylabels.noise.flips import corrupt, parse
from noisylabels.seeding import Seeds
from reproduction.data.formats import unpack
from reproduction.protocols.splits import stratified_mask

SPARSE_BELOW = 0.25
"""Share of nonzero entries below which a matrix is stored as CSR."""


@dataclass(frozen=True)
class Problem:
    """X (n, d), dense or CSR, and labels of -1 and +1;
    ``noisy`` is what learners see, ``clean`` what is true."""

    X: Any
    clean: NDArray[np.int8]
    noisy: NDArray[np.int8]
    X_test: Any
    y_test: NDArray[np.int8]

    @property
    def labels(self) -> NDArray[np.float64]:
        """The noisy labels as floats, for the compiled learners."""
        return self.noisy.astype(np.float64)


SHARED = "data"
"""The repetition under whose name split and noise are drawn for all trials, which differ in shuffling."""


def clean_problem(
    data: Any, seeds: Seeds, *, official: bool, rows: int = 0, repetition: int | str = SHARED
) -> Problem:
    """The split and scaled problem of a prepared data set.

    official: use the set's own test part, else pool all rows and split them 4:1, classes in proportion.
    repetition: `SHARED`, or the trial for which all rows are pooled and split anew, as large as before.
    rows: keep that many training and test rows at most, classes in proportion; 0: all.

    Raises
    ------
    ValueError : no official test part, or a class that would be empty in one of the parts.
    """
    rng = seeds.generator(repetition, "split")
    train, labels = unpack(data.arrays)
    has_test, share = "y_test" in data.arrays, 0.8
    if official and not has_test:
        raise ValueError(f"data set {data.id} has no official test part; take it off `official`")
    if official and repetition == SHARED:
        test, test_labels = unpack(data.arrays, "test")
    else:
        if has_test:
            extra, extra_labels = unpack(data.arrays, "test")
            share = len(labels) / (len(labels) + len(extra_labels)) if official else share
            train, labels = _stack(train, extra), np.concatenate([labels, extra_labels])
        kept = stratified_mask(labels, share, rng)
        test, test_labels, train, labels = train[~kept], labels[~kept], train[kept], labels[kept]
    if rows:
        some = stratified_mask(labels, rows / len(labels), rng)
        train, labels = train[some], labels[some]
        some = stratified_mask(test_labels, rows / len(test_labels), rng)
        test, test_labels = test[some], test_labels[some]
    train, test = scaled(_stored(train), _stored(test))
    return Problem(train, labels, labels, test, test_labels)


def with_noise(problem: Problem, label: str, seeds: Seeds, repetition: int | str) -> Problem:
    """The problem with corrupted training labels; ``repetition`` is `SHARED` if all trials share the noise.

    Symmetric flips of more than one half are those of the complementary rate turned round: who keeps the
    label at 40 % is flipped at 60 %, so that the labels of the two are each other's opposite.
    """
    model, parameters = parse(label)
    if model == "symmetric" and parameters["rate"] > 0.5:
        kept = with_noise(problem, f"symmetric {1 - parameters['rate']:g}", seeds, repetition)
        return replace(problem, noisy=-kept.noisy)
    f = _reference(problem) if model == "far_outliers" else None
    noisy = corrupt(problem.clean, label, seeds.generator(repetition, f"noise {label}"), f)
    return replace(problem, noisy=noisy)


def _reference(problem: Problem) -> NDArray[np.float64]:
    """Decision values of a linear classifier that has seen the clean labels."""
    from noisylabels.classifiers.liblinear import LiblinearClassifier

    return LiblinearClassifier(1e-4).fit(problem.X, problem.clean).decision_function(problem.X)


def scaled(train: Any, test: Any) -> tuple[Any, Any]:
    """(x - min) / (max - min) per feature, min and max of the training rows; test rows may leave [0, 1].

    Constant features become 0. Sparse matrices are divided by max, and must have min = 0.

    Raises
    ------
    ValueError : a sparse matrix with negative training entries.
    """
    if isinstance(train, np.ndarray):
        low, high = train.min(axis=0), train.max(axis=0)
        factor = np.divide(1, high - low, out=np.zeros_like(low), where=high > low)
        return (train - low) * factor, (test - low) * factor
    if train.min() < 0:
        raise ValueError("sparse features must be >= 0 to be scaled by their maximum; store the data densely")
    high = np.asarray(train.max(axis=0).todense(), dtype=float).ravel()
    factor = np.divide(1, high, out=np.zeros_like(high), where=high > 0)
    return train.multiply(factor).tocsr(), test.multiply(factor).tocsr()


def _stored(X: Any) -> Any:
    """Dense, or CSR (float64) where few entries differ from 0."""
    from scipy.sparse import csr_matrix

    if isinstance(X, np.ndarray) and np.count_nonzero(X) >= SPARSE_BELOW * X.size:
        return X
    return csr_matrix(X, dtype=np.float64)


def _stack(first: Any, second: Any) -> Any:
    from scipy.sparse import vstack

    return (
        np.vstack([first, second]) if isinstance(first, np.ndarray) else vstack([first, second], format="csr")
    )
