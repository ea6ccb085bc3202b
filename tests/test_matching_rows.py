"""Rows, labels, weights and groups are matched by name where they have names."""

import numpy as np
import pandas as pd
import pytest

import noisylabels as nl

RNG = np.random.default_rng(0)
X = pd.DataFrame(RNG.normal(size=(60, 3)), columns=["a", "b", "c"])
Y = pd.Series((X["a"] > 0).astype(int))
SHUFFLED = RNG.permutation(60)
MODELS = [
    nl.RobustLogisticRegression(),
    nl.RobustSGDClassifier(random_state=0),
    nl.KernelLogisticRegression(),
    nl.CorrectedClassifier(),
    nl.NLMS(),
]


@pytest.mark.parametrize("model", MODELS, ids=lambda model: type(model).__name__)
def test_labels_in_another_order_are_refused(model):
    with pytest.raises(ValueError, match="X and y have the same index in another order"):
        model.fit(X, Y.iloc[SHUFFLED])


@pytest.mark.parametrize("model", MODELS[:-1], ids=lambda model: type(model).__name__)
def test_weights_in_another_order_are_refused(model):
    weights = pd.Series(1.0, index=SHUFFLED)
    with pytest.raises(ValueError, match="X and sample_weight have the same index in another"):
        model.fit(X, Y, sample_weight=weights)


def test_groups_in_another_order_are_refused():
    groups = pd.Series(np.arange(60), index=SHUFFLED)
    with pytest.raises(ValueError, match=r"X and groups have the same index in another order"):
        nl.CorrectedClassifier().fit(X, Y, groups=groups)


@pytest.mark.parametrize("model", [nl.CorrectedClassifier(), nl.RBoostClassifier(rounds=2)])
def test_trusted_labels_in_another_order_are_refused(model):
    with pytest.raises(ValueError, match="trusted have the same index in another order"):
        model.fit(X, Y, sample_trusted=Y.iloc[SHUFFLED])


@pytest.mark.parametrize("model", MODELS[:1], ids=lambda model: type(model).__name__)
def test_arrays_are_matched_by_position_and_shuffled_pairs_are_one(model):
    by_position = model.fit(X.to_numpy(), Y.iloc[SHUFFLED]).coef_  # as in scikit-learn
    together = model.fit(X.iloc[SHUFFLED], Y.iloc[SHUFFLED]).coef_
    assert not np.allclose(by_position, together)
