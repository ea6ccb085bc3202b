"""The public checks: what keeps a contract passes, and each way to break one is named."""

import numpy as np
import pytest

from noisylabels import NLMS, RobustLogisticRegression, TwoCopy
from noisylabels.checks import (
    check_classifier,
    check_filter,
    check_online_learner,
    check_words_of_flips,
)


class Prophet(NLMS):
    """It looks at the label before it predicts."""

    def run(self, X, y, **side):
        return super().run(X, y, **side) + 0.1 * np.asarray(y)


class Forgetful(NLMS):
    """Each call of partial_fit starts again."""

    def partial_fit(self, X, y, **side):
        self._start(np.shape(X)[1])
        self.run(X, y, **side)
        return self


class Backwards(NLMS):
    """It takes the oldest sample of a window for the newest."""

    def _turn(self, rows):
        pass


class Careless(NLMS):
    """It learns although the labels have a gap."""

    def run(self, X, y, **side):
        labels = np.nan_to_num(np.asarray(y, dtype=float))
        return super().run(X, labels, **side)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (Prophet(), "a prediction depends on the label of its own row or a later one"),
        (Forgetful(), "after several calls of partial_fit are not those of one fit"),
        (Backwards(), "the weights after a sliding window are not those after its rows"),
        (Careless(), "bad y must raise a ValueError that begins with 'y: ', got no error"),
    ],
)
def test_a_filter_that_breaks_its_contract_is_told_how(wrong, message):
    with pytest.raises(AssertionError, match=message):
        check_filter(wrong)


def test_a_filter_that_keeps_its_contract_is_left_as_it_was():
    candidate = NLMS(0.5).fit(np.eye(3), [1.0, 2.0, 3.0])
    weights = candidate.w.copy()
    check_filter(candidate)
    assert np.array_equal(candidate.w, weights)


class Eager(TwoCopy):
    """It predicts 1 before it has learned anything."""

    def predict(self, X):
        return super().predict(X) + 1.0


class Restless(TwoCopy):
    """partial_fit learns each round twice."""

    def partial_fit(self, oracle):
        return super().partial_fit(oracle).partial_fit_again(oracle)

    def partial_fit_again(self, oracle):
        return super().partial_fit(oracle)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (Eager(0.1), "predicts something else than 0 before its first round"),
        (Restless(0.1), "partial_fit of every round gives another hypothesis than fit"),
    ],
)
def test_a_learner_that_breaks_its_contract_is_told_how(wrong, message):
    with pytest.raises(AssertionError, match=message):
        check_online_learner(wrong)


class HalfTold(RobustLogisticRegression):
    """It says which rows are flipped, but not how often."""

    def fit(self, X, y, sample_weight=None):
        super().fit(X, y, sample_weight)
        del self.flip_matrix_
        return self


class Stubborn(RobustLogisticRegression):
    """It changes a parameter in fit, which scikit-learn forbids."""

    def fit(self, X, y, sample_weight=None):
        self.max_iter = 7
        return super().fit(X, y, sample_weight)


def test_a_classifier_that_breaks_a_contract_is_told_how():
    with pytest.raises(AssertionError, match="who has true_label_posterior must have flip_matrix_"):
        check_words_of_flips(HalfTold())
    with pytest.raises(AssertionError, match="Stubborn"):
        check_classifier(Stubborn())
