"""Random numbers of estimators and crowds, from whatever scikit-learn takes as ``random_state``."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from noisylabels.validation import shown


def generator(random_state: Any) -> np.random.Generator:
    """A NumPy Generator from one, from a seed, or from what scikit-learn takes as ``random_state``."""
    if isinstance(random_state, np.random.Generator):
        return random_state
    try:
        state = check_random_state(random_state)
    except ValueError:
        rule = "must be None, a whole number >= 0, a NumPy Generator or a RandomState"
        raise ValueError(f"random_state: {rule}, got {shown(random_state)}") from None
    return np.random.default_rng(state.randint(2**31 - 1))
