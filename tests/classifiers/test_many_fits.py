"""What all kernel methods that fit many columns of labels at once have in common."""

import numpy as np
import pytest
from problems import gram, noisy_columns, two_moons

from noisylabels.classifiers.kernel_fisher import RobustKernelFisherClassifier
from noisylabels.classifiers.kernel_logistic import (
    KernelLogisticRegression,
    RobustKernelLogisticRegression,
)
from noisylabels.classifiers.kernel_svm import KernelSVMClassifier
from noisylabels.classifiers.multi_kernel import RobustMultiKernelLogisticRegression
from noisylabels.classifiers.stpmkl_like import StPMKLLikeClassifier
from noisylabels.kernels.gaussian import squared_distances

ONE_KERNEL = [
    KernelLogisticRegression,
    RobustKernelLogisticRegression,
    KernelSVMClassifier,
    RobustKernelFisherClassifier,
]
GRID = [0.05, 1.0, 20.0]
each_class = pytest.mark.parametrize(
    "cls",
    [*ONE_KERNEL, RobustMultiKernelLogisticRegression, StPMKLLikeClassifier],
    ids=lambda cls: cls.name,
)
DEGENERATE = {
    "two points": (np.array([[0.0], [1.0]]), np.array([0, 1])),
    "all equal": (np.ones((12, 2)), np.arange(12) % 2),
    "duplicates": (np.repeat(np.arange(6.0), 4)[:, None], np.arange(24) % 2),
    "constant feature": (np.column_stack([np.arange(12.0), np.ones(12)]), np.repeat([0, 1], 6)),
    "one of a class": (np.arange(9.0)[:, None], (np.arange(9) == 4).astype(int)),
    "far apart": (1e34 * np.arange(8.0)[:, None], np.arange(8) % 2),
}


def fits(cls, X, out, labels, width=1.0):
    if cls in ONE_KERNEL:
        return cls.fit_many(gram(X, out, width), labels, GRID)
    distances = squared_distances(X)
    distances_out = squared_distances(out, X)
    return cls.fit_distances(distances, distances_out, labels, [width, 2 * width])


def singles(cls, width=1.0):
    """The estimators of the columns of `fits`."""
    if cls in ONE_KERNEL:
        return [cls(width, value) for value in GRID]
    return [cls([width, 2 * width])]


@pytest.fixture
def problem():
    """X (60, 2), points between them (20, 2), and two columns of noisy labels."""
    X, y = two_moons()
    X_out, _ = two_moons(20, 4)
    return X, X_out, noisy_columns(y)


@each_class
def test_they_are_the_single_fits_column_by_column(cls, problem):
    X, out, labels = problem
    together = fits(cls, X, out, labels)
    repeated = fits(cls, X, out, labels)
    assert together.scores.tobytes() == repeated.scores.tobytes()
    assert together.scores.shape == (2, len(singles(cls)), 20)
    alone = fits(cls, X, out, labels[:, [1]])
    np.testing.assert_allclose(alone.scores[0], together.scores[1], rtol=1e-6, atol=1e-8)
    for k in range(2):
        for model, f in zip(singles(cls), together.scores[k], strict=True):
            f_of_single = model.fit(X, labels[:, k]).decision_function(out)
            tolerance = 2e-2 * (1 + np.abs(f).max())
            np.testing.assert_allclose(f, f_of_single, atol=tolerance)


@each_class
def test_a_column_of_one_class_is_constant_and_flagged(cls, problem):
    X, out, labels = problem
    columns = np.column_stack([np.ones(60), np.zeros(60), labels[:, 0]])
    result = fits(cls, X, out, columns)
    assert (result.scores[0] > 0).all()
    assert (result.scores[1] < 0).all()
    assert result.flagged[:2].all()
    assert not result.flagged[2].all()
    assert np.isnan(result.omega01[:2]).all()


@each_class
def test_swapping_the_classes_mirrors_everything(cls, problem):
    X, out, labels = problem
    result = fits(cls, X, out, labels)
    mirror = fits(cls, X, out, 1 - labels)
    largest = np.abs(result.scores).max()
    np.testing.assert_allclose(result.scores, -mirror.scores, atol=1e-3 * largest)
    np.testing.assert_allclose(result.omega01, mirror.omega10, atol=1e-3)


@each_class
@pytest.mark.parametrize("case", DEGENERATE)
def test_degenerate_data_give_numbers(cls, case):
    X, y = DEGENERATE[case]
    for width in (2.0**-10, 1.0, 2.0**10):
        result = fits(cls, X, X + 0.3, y[:, None], width)
        assert np.isfinite(result.scores).all()
        model = singles(cls, width)[0].fit(X, y)
        assert np.isfinite(model.decision_function(X)).all()
        flip_matrix = getattr(model, "flip_matrix_", 0.0)
        assert np.isfinite(flip_matrix).all()
