"""Result tables with known truth, for the tests of the verdicts."""

import numpy as np
import pandas as pd

from reproduction.run.results import COLUMNS

DEFAULTS = {"dataset": "synthetic", "source": "synthetic", "noise": "", "setting": "", "x": np.nan}


def curve(values, **labels):
    """One row per repetition."""
    return [
        DEFAULTS | {"method": "ours", "metric": "error"} | labels | {"repetition": r, "value": float(v)}
        for r, v in enumerate(values)
    ]


def table(*curves):
    """The tidy table of several curves."""
    return pd.DataFrame([row for rows in curves for row in rows], columns=COLUMNS)


def noisy_mean(rng, mean, n=20, relative=0.02):
    """n values around a mean."""
    return mean * (1 + relative * rng.standard_normal(n))
