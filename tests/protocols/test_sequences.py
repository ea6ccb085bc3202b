"""The labelled sequences are what the ORS paper describes."""

import numpy as np
import pytest

from noisylabels.seeding import Seeds
from reproduction.protocols.ors.sequences import CHANNEL, equalizer, regression, speech_filter

SEEDS = Seeds(3, "test")
SIZES = {"T": 4000, "d": 5, "M": 5.0, "process_noise": 0.01}


def test_regression_is_linear_up_to_its_process_noise():
    sequence = regression(SEEDS, 0, **SIZES)
    _, residual, *_ = np.linalg.lstsq(sequence.x, sequence.y, rcond=None)
    assert residual[0] / (4000 - 5) == pytest.approx(0.01, rel=0.1)
    assert sequence.labels.shape == (4000, 2)


def test_label_noise_has_the_told_variance_and_columns_are_independent():
    sequence = regression(SEEDS, 0, **SIZES)
    g = (sequence.labels - sequence.y[:, None]) / np.sqrt(sequence.v)[:, None]
    assert g.std(0) == pytest.approx([1, 1], abs=0.05)
    assert abs(np.corrcoef(g.T)[0, 1]) < 0.07


def test_more_labels_and_other_variances_leave_the_inputs_alone():
    few = regression(SEEDS, 0, **SIZES)
    many = regression(SEEDS, 0, **SIZES, labels=4, variance_model="increasing")
    assert np.array_equal(few.x, many.x)
    assert np.array_equal(few.y, many.y)
    assert not np.array_equal(few.v, many.v)


def test_a_new_target_in_every_repetition():
    targets = [
        np.linalg.lstsq(s.x, s.y, rcond=None)[0] for s in (regression(SEEDS, r, **SIZES) for r in (0, 1))
    ]
    assert np.linalg.norm(targets[0] - targets[1]) > 0.5


def test_channel_values():
    printed = [1, 0.6366, 0, -0.2122, 0, 0.1273, 0, -0.0909, 0, 0.0707]
    assert pytest.approx(printed, abs=5e-5) == CHANNEL
    assert np.abs(np.roots(CHANNEL)).max() == pytest.approx(0.816, abs=1e-3)


def test_the_equaliser_sees_the_filtered_source_newest_first():
    sequence = equalizer(SEEDS, 0, T=3000, d=20, M=1.0, channel_noise=0.0)
    assert isinstance(sequence.x, np.ndarray)
    expected = sum(CHANNEL[k] * sequence.y[100 - k] for k in range(10))
    assert sequence.x[100, 0] == pytest.approx(expected)
    assert sequence.x[101, 1] == sequence.x[100, 0]


def test_the_wiener_equaliser_reaches_the_known_error():
    sequence = equalizer(SEEDS, 0, T=40_000, d=20, M=1.0, channel_noise=4e-4)
    w = np.linalg.lstsq(sequence.x, sequence.y, rcond=None)[0]
    assert np.mean((sequence.x @ w - sequence.y) ** 2) == pytest.approx(6.8e-4, rel=0.05)


def speech(**changes):
    rng = np.random.default_rng(0)
    room = np.zeros(32)
    room[5] = 1.0
    options = {"speech": 3 + 2 * rng.standard_normal(8000), "room": room, "rate": 8000, "d": 32, "delay": 5}
    return speech_filter(SEEDS, 0, channel_noise=0.0, **(options | changes))


def test_speech_is_standardised_and_the_delay_aligns_the_direct_path():
    sequence = speech()
    assert (sequence.y.mean(), sequence.y.std()) == pytest.approx((0, 1))
    newest = sequence.x.rows(1000, 1001)[0, 0]
    assert newest == pytest.approx(sequence.y[1000])


def test_the_tuning_part_is_the_beginning_of_the_signal():
    whole, part = speech(), speech(fraction=0.2)
    assert len(part) == 1600
    assert np.array_equal(part.y, whole.y[:1600])
    assert np.array_equal(part.x.rows(0, 1600), whole.x.rows(0, 1600))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"speech": np.ones(100)}, "speech: the signal is silent"),
        ({"fraction": 0.0}, r"fraction must lie in \(0, 1\], got 0"),
        ({"d": 9000}, "signal: 8000 samples are fewer than the filter's d = 9000 taps"),
    ],
)
def test_unusable_speech_is_refused(changes, message):
    with pytest.raises(ValueError, match=message):
        speech(**changes)
