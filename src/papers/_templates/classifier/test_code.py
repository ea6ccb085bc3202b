import numpy as np
from example.code import NearestMean


def test_two_groups_far_apart_are_told_apart():
    X = np.repeat([[0.0], [9.0]], 5, axis=0)
    y = np.repeat([0, 1], 5)
    model = NearestMean().fit(X, y)
    assert (model.predict(X) == y).all()
