"""The method of the paper, and a data set with three classes."""

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.datasets import load_wine


class NearestMean(ClassifierMixin, BaseEstimator):
    """Predicts the class whose mean is nearest; replace it by the method, with its equation."""

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        self.means_ = np.array([X[y == label].mean(axis=0) for label in self.classes_])
        return self

    def predict_proba(self, X):
        distances = ((X[:, None] - self.means_) ** 2).sum(axis=2)
        weights = np.exp(distances.min(axis=1, keepdims=True) - distances)
        return weights / weights.sum(axis=1, keepdims=True)

    def predict(self, X):
        return self.classes_[self.predict_proba(X).argmax(axis=1)]


def wine(files):
    X, y = load_wine(return_X_y=True)
    return {"X": X, "y": y}
