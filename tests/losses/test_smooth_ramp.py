"""The presets of the smooth ramp, and how they compare with the smooth ramp nearest to the ramp."""

import numpy as np
import pytest
from scipy.optimize import minimize_scalar

from noisylabels.losses.margin import PRESETS, Ramp, SmoothRamp


def nearest(s):
    """alpha, beta of least integrated square: beta puts the centre on the ramp's, by symmetry."""
    z, beta = np.linspace(-30, 30, 120_001), -(1 + s) / 2

    def distance(k):
        return ((SmoothRamp(s, k / (1 - s), beta).value(z) - Ramp(s).value(z)) ** 2).sum()

    k = minimize_scalar(distance, bounds=(3.0, 8.0), method="bounded").x
    return k / (1 - s), beta


def test_the_steepness_scales_with_the_width_of_the_ramp():
    assert [nearest(s)[0] * (1 - s) for s in PRESETS] == pytest.approx([5.3011] * 3, abs=1e-3)


def test_only_the_first_preset_rounds_the_nearest_SmoothRamp():
    fits = {s: nearest(s) for s in PRESETS}
    assert [round(fits[s][0], 3) for s in PRESETS] == [3.118, 2.651, 1.767]
    assert PRESETS[-0.7] == (round(fits[-0.7][0]), round(fits[-0.7][1], 2))
    assert PRESETS[-1.0][0] != round(fits[-1.0][0])


@pytest.mark.parametrize("s", PRESETS)
def test_without_alpha_and_beta_the_preset_is_taken(s):
    assert SmoothRamp(s) == SmoothRamp(s, *PRESETS[s])
    assert SmoothRamp(int(s) if s == int(s) else s).parameters == (s, *PRESETS[s])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((-0.5,), r"presets for s = -0\.7, -1\.0, -2\.0 only; for s = -0\.5 give alpha and beta"),
        ((-1.0, 2.0), "give both alpha and beta, or neither; got 2.0 and None"),
        ((0.5,), "s, the margin where the ramp becomes flat, must be <= 0"),
        ((-1.0, 0.0, 0.0), "alpha, the steepness of the smooth ramp, must be > 0"),
    ],
)
def test_mistakes_are_named(arguments, message):
    with pytest.raises(ValueError, match=message):
        SmoothRamp(*arguments)
