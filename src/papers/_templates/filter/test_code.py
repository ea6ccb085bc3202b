import numpy as np
from example.code import SignLMS


def test_a_clean_line_is_learned():
    model = SignLMS(mu=0.01).fit(np.ones((2000, 1)), np.full(2000, 3.0))
    np.testing.assert_allclose(model.w, [3.0], atol=0.02)
