"""The online learner of the paper, and its protocol: it predicts each row before its label."""

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin

from reproduction.spec.protocol import protocol
from reproduction.spec.settings import MethodsOnSplits


class Perceptron(ClassifierMixin, BaseEstimator):
    """The perceptron: w += y x where y w.x <= 0; replace it by the learner of the paper."""

    def partial_fit(self, X, y, classes=None):
        if not hasattr(self, "w_"):
            self.classes_ = np.asarray([0, 1] if classes is None else classes)
            self.w_ = np.zeros(X.shape[1])
        for x, sign in zip(X, np.where(y == self.classes_[1], 1, -1), strict=True):
            if sign * (self.w_ @ x) <= 0:
                self.w_ = self.w_ + sign * x
        return self

    def predict(self, X):
        return self.classes_[(X @ self.w_ > 0).astype(int)]


@protocol(MethodsOnSplits, labels=("test_error",))
def progress(settings, loop):
    """Measure the test error in % against the number of rounds t, with one training row each."""
    for repetition, split, observed, _, method in loop.fits(settings, settings.methods):
        model = method.build()
        points = []
        for rows in np.array_split(np.arange(len(observed)), 10):
            model.partial_fit(split.X[rows], observed[rows], classes=[0, 1])
            wrong = model.predict(split.X_test) != split.truth
            points.append((rows[-1] + 1, 100 * wrong.mean()))
        yield from repetition.curve("test_error", points)
