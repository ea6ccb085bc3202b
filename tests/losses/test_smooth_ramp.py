"""Smooth ramp presets and fits."""

import numpy as np
import pytest

from noisylabels.losses import margin as losses
from noisylabels.losses.smooth_ramp import PRESETS, fit_smooth_ramp, preset_smooth_ramp


def distance(loss, s, criterion):
    z = np.linspace(-30, 30, 600_001)
    gap = np.abs(loss.value(z) - losses.ramp(s).value(z))
    return {"l2": (gap**2).sum(), "l1": gap.sum(), "sup": gap.max()}[criterion]


@pytest.mark.parametrize(("criterion", "k"), [("l2", 5.3011), ("l1", 5.36), ("sup", 5.648), ("slope", 4.0)])
@pytest.mark.parametrize("s", [-0.7, -2.0])
def test_fit_has_the_known_constant(s, criterion, k):
    _, alpha, beta = fit_smooth_ramp(s, criterion).parameters
    assert alpha * (1 - s) == pytest.approx(k, abs=5e-3)
    assert beta == pytest.approx(-(1 + s) / 2)


@pytest.mark.parametrize("criterion", ["l2", "l1", "sup"])
def test_fit_is_a_minimum_in_both_parameters(criterion):
    s = -1.0
    fitted = fit_smooth_ramp(s, criterion)
    best = distance(fitted, s, criterion)
    _, alpha, beta = fitted.parameters
    for factor, shift in ((1.03, 0.0), (0.97, 0.0), (1.0, 0.03), (1.0, -0.03)):
        assert distance(losses.smooth_ramp(s, alpha * factor, beta + shift), s, criterion) > best


def test_only_the_first_preset_rounds_the_l2_fit():
    fits = {s: fit_smooth_ramp(s).parameters[1:] for s in PRESETS}
    assert [round(fits[s][0], 3) for s in PRESETS] == [3.118, 2.651, 1.767]
    assert PRESETS[-0.7] == (round(fits[-0.7][0]), round(fits[-0.7][1], 2))
    assert PRESETS[-1.0][0] != round(fits[-1.0][0])


def test_presets_and_errors():
    assert preset_smooth_ramp(-1.0) == losses.smooth_ramp()
    with pytest.raises(ValueError, match=r"no smooth ramp for s = -0\.5, only for -0\.7, -1\.0, -2\.0"):
        preset_smooth_ramp(-0.5)
    with pytest.raises(ValueError, match="unknown criterion 'l3'; known: l2, l1, sup, slope"):
        fit_smooth_ramp(-1.0, "l3")
