import numpy as np
from example.code import SignLMS


def test_a_clean_line_is_learned():
    X = np.ones((2000, 1))
    y = 3.0 * X[:, 0]
    model = SignLMS(mu=0.01).fit(X, y)
    np.testing.assert_allclose(model.w, [3.0], atol=0.02)
