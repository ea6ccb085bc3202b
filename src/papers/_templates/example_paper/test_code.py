import numpy as np
from example.code import NearestMean


def test_two_groups_far_apart_are_told_apart():
    X = np.r_[np.zeros((5, 2)), np.full((5, 2), 9.0)]
    y = np.repeat([0, 1], 5)
    assert (NearestMean(shrinkage=0.1).fit(X, y).predict(X) == y).all()
