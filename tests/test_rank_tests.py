"""Wilcoxon's tests: exact counts by hand, ties, equal pairs."""

from itertools import product

import numpy as np
import pytest

from noisylabels.statistics import mann_whitney, signed_rank


def test_mann_whitney_is_symmetric_and_sees_a_shift():
    x, y = np.arange(10.0), np.arange(10.0) + 6
    assert mann_whitney(x, y) == pytest.approx(mann_whitney(y, x))
    assert mann_whitney(x, y) < 0.01
    assert mann_whitney(x, x) == pytest.approx(1)


@pytest.mark.parametrize("n", [1, 2, 5, 9])
def test_signed_rank_counts_all_signs(n):
    rng = np.random.default_rng(n)
    difference = rng.normal(0.4, 1, n)
    ranks = np.argsort(np.argsort(np.abs(difference))) + 1
    sums = np.array([ranks[np.array(signs, dtype=bool)].sum() for signs in product([0, 1], repeat=n)])
    observed = ranks[difference > 0].sum()
    tail = min((sums <= observed).mean(), (sums >= observed).mean())
    assert signed_rank(difference, np.zeros(n)) == pytest.approx(min(1, 2 * tail))


def test_signed_rank_ignores_equal_pairs_and_wants_pairs():
    assert signed_rank([1, 4, 3, 3], [2, 2, 0, 3]) == pytest.approx(signed_rank([1, 4, 3], [2, 2, 0]))
    assert signed_rank([1, 2], [1, 2]) == 1
    assert signed_rank(range(9), range(1, 10)) < 0.01
    with pytest.raises(ValueError, match="paired"):
        signed_rank([1, 2], [1])
