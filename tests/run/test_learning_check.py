"""Classes in the wrong order, and labels of other rows, are found; what is right is not doubted."""

from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.datasets import load_breast_cancer, load_diabetes, load_wine
from sklearn.linear_model import LogisticRegression

from noisylabels import NLMS
from reproduction.run import label_check, learning_check
from reproduction.spec.settings import Method

HERE = __name__


class Right(LogisticRegression):
    """As it should be."""


class ReversedProbabilities(LogisticRegression):
    """Columns in the order of falling classes."""

    def predict_proba(self, X):
        """Columns reversed."""
        return super().predict_proba(X)[:, ::-1]


class ReversedScores(LogisticRegression):
    """Scores of the other class."""

    def decision_function(self, X):
        """The sign reversed."""
        return -super().decision_function(X)

    def predict(self, X):
        """Right, as of the class above."""
        return self.classes_[self.predict_proba(X).argmax(axis=1)]

    def predict_proba(self, X):
        """Right, from scores that are."""
        scores = LogisticRegression.decision_function(self, X)
        if scores.ndim == 1:
            scores = np.column_stack([-scores, scores])
        weights = np.exp(scores - scores.max(axis=1, keepdims=True))
        return weights / weights.sum(axis=1, keepdims=True)


class ReversedLabels(LogisticRegression):
    """Predicts another class in place of each."""

    def predict(self, X):
        """The class before."""
        return np.roll(self.classes_, 1)[super().predict_proba(X).argmax(axis=1)]


class Cautious(LogisticRegression):
    """Predicts the second class only where it is nearly certain: its labels are not the argmax."""

    def predict(self, X):
        """The threshold is not one half."""
        return self.classes_[(super().predict_proba(X)[:, 1] > 0.999).astype(int)]


class MostFrequent(ClassifierMixin, BaseEstimator):
    """A baseline that ignores X."""

    def fit(self, X, y):
        """The most frequent label."""
        values, counts = np.unique(y, return_counts=True)
        self.classes_ = values
        self.most_ = values[counts.argmax()]
        return self

    def predict(self, X):
        """The same for each row."""
        return np.full(len(X), self.most_)


class OfImages(LogisticRegression):
    """Takes pictures only."""

    def fit(self, X, y):
        """A picture has 28 times 28 points."""
        return super().fit(X.reshape(-1, 28, 28)[:, 0], y)


def find_faults(cls, classes, **keys):
    method = Method(method=f"{HERE}:{cls.__name__}", **keys)
    return learning_check.check_methods({"mine": method}, classes)


@pytest.mark.parametrize("classes", [2, 3, 10])
@pytest.mark.parametrize(
    ("cls", "output"),
    [
        (ReversedProbabilities, "predict_proba"),
        (ReversedScores, "decision_function"),
        (ReversedLabels, "predict is"),
    ],
)
def test_classes_in_another_order_are_a_fault(cls, output, classes):
    (fault,), _ = find_faults(cls, classes)
    assert fault.startswith("mine: ")
    assert output in fault
    assert "\n" not in fault


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("cls", [Right, OfImages])
def test_a_method_that_is_right_or_needs_other_data_is_not_doubted(cls, classes):
    assert find_faults(cls, classes) == ([], [])


def test_a_threshold_other_than_one_half_is_not_a_fault():
    assert find_faults(Cautious, 2)[0] == []


def test_a_baseline_that_learns_nothing_is_a_remark_unless_it_is_said_to_be_one():
    faults, (remark,) = find_faults(MostFrequent, 2)
    assert faults == []
    assert "mine: learns little from 2 clean groups far apart: 50 % of the rows" in remark
    assert find_faults(MostFrequent, 2, role="control") == ([], [])


def job_of(cls, targets=("two classes",)):
    method = Method(method=f"{HERE}:{cls.__name__}")
    settings = SimpleNamespace(select_methods=lambda: {"mine": method})
    return SimpleNamespace(settings=settings, protocol=SimpleNamespace(targets=targets), data={})


def test_a_job_with_such_a_method_is_refused_and_one_of_real_values_is_not():
    with pytest.raises(ValueError, match=r"^settings\.methods\.mine: predict is right"):
        learning_check.refuse_wrong_methods(job_of(ReversedLabels))
    learning_check.refuse_wrong_methods(job_of(Right))
    learning_check.refuse_wrong_methods(job_of(ReversedLabels, ("real",)))


def shuffled(load):
    X, y = load(return_X_y=True)
    order = np.random.default_rng(0).permutation(len(y))
    return X[order], y[order]


SETS = [
    (load_wine, "classes"),
    pytest.param(load_breast_cancer, "binary", marks=pytest.mark.nightly),
    (load_diabetes, "regression"),
]


@pytest.mark.parametrize(("load", "task"), SETS)
def test_nothing_is_said_of_labels_that_are_those_of_their_rows(load, task):
    X, y = shuffled(load)
    assert label_check.describe_labels({"X": X, "y": y}, task) == ""


@pytest.mark.parametrize(("load", "task"), SETS)
@pytest.mark.parametrize(("rows", "way"), [(1, "up"), (-1, "down")])
def test_labels_that_are_shifted_by_a_row_are_named_with_the_way_back(load, task, rows, way):
    X, y = shuffled(load)
    doubt = label_check.describe_labels({"X": X, "y": np.roll(y, rows)}, task)
    assert "trees predict y from X no better than chance" in doubt
    assert f"moved {way} by one row" in doubt


def test_labels_in_random_order_are_doubted_and_those_of_a_test_part_too():
    X, y = shuffled(load_wine)
    wrong = np.random.default_rng(1).permutation(y)
    doubt = label_check.describe_labels({"X": X, "y": wrong}, "classes")
    assert doubt.endswith("are their rows in the same order?")
    arrays = {"X": X, "y": y, "X_test": X, "y_test": wrong}
    assert "y_test from X_test" in label_check.describe_labels(arrays, "classes")


def test_nothing_is_said_where_it_is_not_known():
    X, y = shuffled(load_wine)
    assert label_check.describe_labels({"X": X, "y": y}, "crowd") == ""
    assert label_check.describe_labels({"X": X[:12], "y": np.arange(12) % 3}, "classes") == ""
    assert label_check.describe_labels({"y": y}, "classes") == ""


class SeesTheLabel(NLMS):
    """Adds a tenth of the label to each prediction."""

    def run(self, X, y, **options):
        """Look at the label."""
        return super().run(X, y, **options) + 0.1 * np.asarray(y)


def test_a_filter_that_sees_a_label_first_is_refused_and_told_how():
    methods = {"late": Method(method=f"{HERE}:SeesTheLabel", parameters={"mu": 0.5})}
    faults, remarks = learning_check.check_filters(methods)
    assert faults == ["late: a prediction depends on the label of its own row or a later one"]
    assert remarks == []
    methods["late"] = Method(method="nlms", parameters={"mu": 0.5})
    assert learning_check.check_filters(methods) == ([], [])
