"""Result tables with known truth, for the tests of the verdicts."""

import itertools

import numpy as np
import pandas as pd

from reproduction.run.results import COLUMNS

DEFAULTS = {"dataset": "synthetic", "source": "synthetic", "noise": "", "setting": "", "x": np.nan}


def curve(values, **labels):
    """Make one row for each repetition."""
    row = DEFAULTS | {"method": "ours", "metric": "error"} | labels
    rows = []
    for repetition, value in enumerate(values):
        rows.append(row | {"repetition": repetition, "value": float(value)})
    return rows


def table(*curves):
    """Join several curves in a result table."""
    return pd.DataFrame(list(itertools.chain(*curves)), columns=COLUMNS)


def noisy_mean(rng, mean, n=20, relative=0.02):
    """n values around a mean."""
    return mean * (1 + relative * rng.standard_normal(n))
