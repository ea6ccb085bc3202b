"""Every expectation that the algorithms rest on, at 100,000 samples, within 4.5 standard errors."""

import numpy as np

from noisylabels.online.identities import Identity, measured


def test_every_identity_holds_and_the_list_is_long():
    rows = measured(np.random.default_rng(20_110_101), 100_000)
    wrong = [(row.quantity, row.predicted, row.measured, row.z) for row in rows if not abs(row.z) < 4.5]
    assert not wrong
    assert len(rows) >= 45
    assert len({row.quantity for row in rows}) == len(rows)


def test_a_wrong_prediction_is_seen():
    assert abs(Identity("x", 1.0, 1.1, 0.01).z) > 4.5
    assert Identity("x", 1.0, 1.0, 0.0).z == 0.0
    assert Identity("x", 1.0, 1.1, 0.0).z == np.inf
