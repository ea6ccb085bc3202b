"""Wilcoxon's tests against SciPy's, with and without ties."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from noisylabels.rank_tests import mann_whitney, signed_rank

few = st.lists(st.integers(-4, 4), min_size=1, max_size=30)  # with ties


@given(few, few)
def test_mann_whitney_is_scipys_asymptotic_form(x, y):
    if len(set(x + y)) == 1:
        assert mann_whitney(x, y) == 1
    else:
        assert mann_whitney(x, y) == pytest.approx(stats.mannwhitneyu(x, y, method="asymptotic").pvalue)


@pytest.mark.parametrize("n", [2, 6, 13, 14, 50, 80])
def test_signed_rank_with_ties_is_scipys(n):
    difference = np.random.default_rng(n).choice([-2, -1, 1, 2, 3, 4], n)
    assert signed_rank(difference, np.zeros(n)) == pytest.approx(stats.wilcoxon(difference).pvalue)


@pytest.mark.parametrize("n", [1, 2, 9, 30, 50, 51, 80])
def test_signed_rank_without_ties_is_scipys(n):
    rng = np.random.default_rng(n)
    x = rng.normal(size=n)
    y = x + rng.normal(0.4, 1, size=n)
    assert signed_rank(x, y) == pytest.approx(stats.wilcoxon(x, y).pvalue)


def test_signed_rank_ignores_equal_pairs_and_wants_pairs():
    assert signed_rank([1, 4, 3, 3], [2, 2, 0, 3]) == pytest.approx(signed_rank([1, 4, 3], [2, 2, 0]))
    assert signed_rank(range(9), range(1, 10)) < 0.01
    with pytest.raises(ValueError, match="paired"):
        signed_rank([1, 2], [1])
