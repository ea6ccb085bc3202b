"""The order of the classes of a user's classifier."""

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin

from reproduction.run.method_check import check_class_order, check_classifiers
from reproduction.spec.settings import Method

HERE = __name__.rpartition(".")[2]


class Nearest(ClassifierMixin, BaseEstimator):
    """The class whose mean is nearest, and weights of all classes."""

    def fit(self, X, y):
        """Keep the means."""
        self.classes_ = self.order(np.unique(y))
        self.means_ = np.array([X[y == label].mean(axis=0) for label in self.classes_])
        return self

    @staticmethod
    def order(classes):
        """Choose the order of the classes."""
        return classes

    def predict_proba(self, X):
        """Weigh the classes, in the order of `classes_`."""
        weights = np.exp(-((X[:, None] - self.means_) ** 2).sum(axis=2)) + 1e-12
        return weights / weights.sum(axis=1, keepdims=True)

    def predict(self, X):
        """Predict the most probable class."""
        return self.classes_[self.predict_proba(X).argmax(axis=1)]


class Descending(Nearest):
    """Right in itself, with its classes in descending order."""

    @staticmethod
    def order(classes):
        """Turn them round."""
        return classes[::-1]


class WithoutClasses(Descending):
    """Does not say what its classes are."""

    def fit(self, X, y):
        """Keep the means under other names."""
        super().fit(X, y)
        self.known_ = self.classes_
        del self.classes_
        return self

    def predict(self, X):
        """Predict the most probable class."""
        return self.known_[self.predict_proba(X).argmax(axis=1)]


def method(cls):
    return Method(method=f"{HERE}:{cls.__name__}")


@pytest.mark.parametrize("classes", [2, 3])
def test_classes_in_descending_order_are_a_fault_once(classes):
    (fault,), remarks = check_classifiers({"mine": method(Descending)}, classes)
    assert fault.startswith("mine: classes_ is [1, 0], not in ascending order; sort them")
    assert remarks == []


def test_ascending_classes_and_real_values_are_not_doubted():
    assert check_classifiers({"mine": method(Nearest)}, 3) == ([], [])
    assert check_classifiers({"mine": method(Descending)}, 0) == ([], [])
    svm = Method(method="sklearn.svm:SVC")
    assert check_classifiers({"svm": svm}, 2) == ([], [])


def test_a_method_without_classes_or_that_fails_is_passed_over():
    assert check_class_order(method(WithoutClasses)) == ""
    assert check_class_order(Method(method="sklearn.svm:SVC", parameters={"C": -1.0})) == ""
