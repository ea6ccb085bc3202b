import numpy as np
from example.code import SignLMS


def test_a_clean_line_is_learned():
    assert abs(SignLMS(mu=0.01).fit(np.ones((2000, 1)), np.full(2000, 3.0)).w[0] - 3) < 0.02
