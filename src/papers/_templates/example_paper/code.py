"""The method and the protocol of the paper."""

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin

from reproduction.spec.protocol import protocol
from reproduction.spec.settings import MethodsOnSplits


class NearestMean(ClassifierMixin, BaseEstimator):
    """Predicts the class whose mean is nearest, with means shrunk towards the middle."""

    def __init__(self, shrinkage=0.0):
        self.shrinkage = shrinkage

    def fit(self, X, y):
        """Compute the means of the rows of each class."""
        self.classes_ = np.unique(y)
        means = np.array([X[y == c].mean(axis=0) for c in self.classes_])
        self.means_ = means + self.shrinkage * (X.mean(axis=0) - means)
        return self

    def predict(self, X):
        """Predict the class of the nearest mean."""
        distances = ((X[:, None] - self.means_) ** 2).sum(axis=2)
        return self.classes_[distances.argmin(axis=1)]


@protocol(MethodsOnSplits, labels=("error",))
def errors(settings, loop):
    """Measure the test error in % of every method, trained on flipped labels."""
    for repetition, split, observed, _, method in loop.fits(settings, settings.methods):
        model = repetition.build(method).fit(split.X, observed)
        yield repetition.row("error", split.scored(model.predict(split.X_test)))
