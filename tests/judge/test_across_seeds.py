"""The spread over root seeds: what it estimates, and how verdicts of several seeds are told."""

import numpy as np
import pandas as pd
import pytest

from reproduction.judge import agreement as spread
from reproduction.run.results import COLUMNS, DEFAULTS


def table(values, **columns):
    """One row per repetition."""
    row = DEFAULTS | {"method": "ours", "metric": "error"} | columns
    rows = [row | {"repetition": number, "value": value} for number, value in enumerate(values)]
    return pd.DataFrame(rows)[COLUMNS]


def test_means_of_seeds_are_compared_and_their_repetitions_promise_the_same_error():
    rng = np.random.default_rng(1)
    (row,) = spread.over_seeds({seed: table(rng.normal(3, 2, 25)) for seed in range(400)}).itertuples()
    assert row.seeds == 400
    assert row.mean == pytest.approx(3, abs=0.1)
    assert row.sd == pytest.approx(2 / 5, rel=0.1)
    assert row.se == pytest.approx(2 / 5, rel=0.02)
    assert row.low < 3 < row.high


def test_repetitions_that_share_their_luck_show_in_the_spread():
    rng = np.random.default_rng(2)
    shared = {seed: table(rng.normal(0, 1) + rng.normal(0, 0.1, 20)) for seed in range(50)}
    (row,) = spread.over_seeds(shared).itertuples()
    assert row.sd > 10 * row.se


def test_a_value_by_hand_and_the_last_point_of_a_curve():
    first = pd.concat([table([1, 3], x=10), table([5, 7], x=20)])
    second = pd.concat([table([2, 4], x=10), table([9, 9], x=20)])
    found = spread.over_seeds({1: first, 2: second})
    assert found[["mean", "low", "high"]].to_numpy().tolist() == [[2.5, 2, 3], [7.5, 6, 9]]
    assert found["sd"].tolist() == pytest.approx([0.5**0.5, 4.5**0.5])
    assert found["se"].tolist() == pytest.approx([1, 0.5**0.5])
    shown = spread.shown(found)
    assert shown["mean"].tolist() == ["7.5"]
    assert shown["between"].tolist() == ["6 to 9"]


def test_one_seed_has_no_spread():
    with pytest.raises(ValueError, match="needs two seeds or more, here is 1"):
        spread.over_seeds({1: table([1])})


def test_verdicts_are_counted_by_the_one_of_the_first_seed():
    def judged(*verdicts):
        ids = ["C1", "C2"][: len(verdicts)]
        return pd.DataFrame({"id": ids, "kind": "ours", "statement": "s", "verdict": verdicts})

    found = spread.shared({7: judged("reproduced", "reproduced"), 8: judged("reproduced", "inconclusive")})
    assert found[["same", "seeds"]].to_numpy().tolist() == [[2, 2], [1, 2]]
    assert found["verdicts"].tolist() == ["7: reproduced; 8: reproduced", "7: reproduced; 8: inconclusive"]
