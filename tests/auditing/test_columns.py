"""Copies of rows with other labels, columns that say the label, and parts of dates."""

import numpy as np
import pandas as pd
import pytest

import noisylabels
from noisylabels.auditing import columns, flip_rates, tables


@pytest.mark.parametrize("d", [1, 2, 8])
def test_copies_with_other_labels_are_found_and_no_others(d):
    rng = np.random.default_rng(d)
    X, y = rng.standard_normal((400, d)), rng.integers(0, 3, 400)
    copies = np.vstack([X[:6], X[6:12] * (1 + 1e-6)])
    equal, near = flip_rates.conflicts(
        np.vstack([X, copies]), None, np.concatenate([y, (y[:10] + 1) % 3, y[10:12]])
    )
    assert [pair.tolist() for pair in equal] == [[i, 400 + i] for i in range(6)]
    assert {tuple(pair.tolist()) for pair in near} >= {(i, 400 + i) for i in range(6, 10)}
    assert len(near) <= 5
    assert len(flip_rates.conflicts(X, None, y)[1]) <= 1


@pytest.fixture(scope="module")
def dated():
    """Labels that follow the day of the week, a tenth of them flipped; dates over five years."""
    rng = np.random.default_rng(0)
    day = pd.Timestamp("2020-01-01") + pd.to_timedelta(rng.integers(0, 1800, 600), "D")
    kind = (day.day_of_week >= 5) != (rng.random(600) < 0.1)
    return pd.DataFrame({"day": day, "size": rng.standard_normal(600)}), kind.astype(int)


def test_parts_of_dates_stay_only_where_they_help(dated):
    X, y = dated
    kept = columns.with_calendar(tables.of_arrays(X, y), y)
    assert kept.names == ["day", "size", "day weekday cos", "day weekday sin"]
    assert "the weekday of day makes unseen labels likelier" in kept.notes[-1]
    coins = np.random.default_rng(1).permutation(y)
    assert columns.with_calendar(tables.of_arrays(X, coins), coins).names == ["day", "size"]


def test_a_column_made_from_the_label_is_named_and_one_that_predicts_it_well_is_not(dated):
    X, y = dated
    detail = [f"{'AB'[label]}{i % 3}" for i, label in enumerate(y)]
    good = y + 0.3 * np.random.default_rng(0).standard_normal(600)  # 95 %
    found = noisylabels.audit(X.assign(detail=detail, good=good), y, model="logistic", compare=False)
    assert next(note for note in found.notes if "alone" in note).startswith("column 'detail' alone predicts")
    assert sum("alone" in note for note in found.notes) == 1
