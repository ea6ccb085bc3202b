"""Another online learner of the paper."""

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin


class Perceptron(ClassifierMixin, BaseEstimator):
    """The perceptron: w += y x where y w.x <= 0; replace it by the learner of the paper."""

    def partial_fit(self, X, y, classes=None):
        """Learn from rows X (n, d) and their labels y (n,), one after the other."""
        if not hasattr(self, "w_"):
            self.classes_ = np.asarray([0, 1] if classes is None else classes)
            self.w_ = np.zeros(X.shape[1])
        for x, sign in zip(X, np.where(y == self.classes_[1], 1, -1), strict=True):
            if sign * (self.w_ @ x) <= 0:
                self.w_ = self.w_ + sign * x
        return self

    def predict(self, X):
        """Predict a label for each row."""
        return self.classes_[(X @ self.w_ > 0).astype(int)]
