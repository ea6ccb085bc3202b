"""Recordings that cannot be used are named with what to do; rooms have unit norm and one delay."""

import numpy as np
import pytest
import soundfile

from reproduction.data.loaders import audio

RNG = np.random.default_rng(1)
NOISE = 0.1 * RNG.standard_normal(8000)
WITH_NAN = np.where(np.arange(8000) == 77, np.nan, NOISE)
STEREO = np.tile(NOISE, (2, 1)).T


def wav(path, samples=NOISE, rate=16_000, subtype="DOUBLE"):
    soundfile.write(path, samples, rate, subtype=subtype)
    return path


def test_utterances_are_read_as_they_are_and_joined_in_the_order_of_their_names(tmp_path):
    arrays = audio.recording({"x": wav(tmp_path / "x.wav")})
    np.testing.assert_array_equal(arrays["signal"], NOISE)
    assert arrays["rate"] == 16_000
    files = {
        "b.wav": wav(tmp_path / "b.wav", NOISE[9:5009]),
        "a.wav": wav(tmp_path / "a.wav", NOISE[:5000]),
    }
    signal = audio.speech(files)["signal"]
    np.testing.assert_array_equal(signal, np.concatenate([NOISE[:5000], NOISE[9:5009]]))


@pytest.mark.parametrize(
    ("samples", "rate", "message"),
    [
        (NOISE[:0], 16_000, r"x\.wav: the recording is empty"),
        (NOISE[:100], 16_000, r"x\.wav: 0\.00625 s are too short, at least 0\.25 s are needed"),
        (np.full(8000, 0.5), 16_000, r"x\.wav: the recording is silent \(all samples are equal\)"),
        (WITH_NAN, 16_000, r"x\.wav: sample 77 is not a finite number"),
        (np.tile(NOISE, 2), 44_100,
         r"x\.wav: expects 16000 Hz, file has 44100; resample with `sox x\.wav -r 16000 out\.wav`"),
        (STEREO, 16_000, r"x\.wav: expects one channel, file has 2; mix it down to mono"),
    ],
)  # fmt: skip
def test_a_recording_that_cannot_be_used_is_named_with_the_reason(samples, rate, message, tmp_path):
    with pytest.raises(ValueError, match=message) as caught:
        audio.recording({"x": wav(tmp_path / "x.wav", samples, rate)})
    assert "\n" not in str(caught.value)


def test_what_is_no_audio_is_refused(tmp_path):
    (tmp_path / "x.wav").write_bytes(b"RIFF, or is it?")
    for name in ("x.wav", "none.wav"):
        with pytest.raises(ValueError, match=rf"{name}: not a readable audio file"):
            audio.recording({"x": tmp_path / name})


def header_length(content, name, order):
    """The place of the length of the samples in a file's content, and the length."""
    start = content.index(name) + 4
    return start, int.from_bytes(content[start : start + 4], order)


CONTAINERS = {
    "WAV": (b"data", "little", "PCM_16"),
    "AIFF": (b"SSND", "big", "PCM_16"),
    "WAV of floats": (b"data", "little", "FLOAT"),
    "WAV of bytes": (b"data", "little", "PCM_U8"),
}


@pytest.mark.parametrize("container", CONTAINERS)
@pytest.mark.parametrize("share", [0.5, 0.9, 1.0])
def test_a_recording_that_is_cut_short_is_refused_with_both_numbers(container, share, tmp_path):
    name, order, subtype = CONTAINERS[container]
    path = tmp_path / "x.wav"
    soundfile.write(path, NOISE, 16_000, subtype=subtype, format=container.split()[0])
    content = path.read_bytes()
    start, length = header_length(content, name, order)
    assert len(audio.read(path)[0]) == 8000
    end = start + 4 + int(share * length) - 1
    path.write_bytes(content[:end])
    numbers = f"its header promises {length} bytes of samples, the file has {end - start - 4}"
    with pytest.raises(
        ValueError, match=rf"x\.wav: the recording is not complete: {numbers}; copy or export"
    ):
        audio.read(path)


@pytest.mark.parametrize("length", [0, 0x7FFFF000, 0xFFFFFFFF])
def test_a_length_that_a_stream_could_not_know_is_no_cut(length, tmp_path):
    path = wav(tmp_path / "x.wav", subtype="PCM_16")
    content = path.read_bytes()
    start, _ = header_length(content, b"data", "little")
    path.write_bytes(content[:start] + length.to_bytes(4, "little") + content[start + 4 :])
    if length:
        assert len(audio.read(path)[0]) == 8000
    else:
        with pytest.raises(ValueError, match="promises 0 bytes of samples, the file has 16000"):
            audio.read(path)


def test_samples_in_another_unit_are_refused_and_loud_ones_are_not(tmp_path):
    assert audio.recording({"x": wav(tmp_path / "x.wav", 20 * NOISE)})["signal"].max() > 4
    message = r"has samples up to \d+.*, but full scale is 1; divide by the full"
    with pytest.raises(ValueError, match=message):
        audio.recording({"x": wav(tmp_path / "x.wav", 32768 * NOISE)})


# rooms


def image_sum(taps, reflection):
    """Sum a windowed sinc for each image of the source, in a plain loop over the rooms."""
    rate, c, half = 16_000, 343.0, 20
    size = np.array(audio.SIZE)
    source = np.array(audio.SOURCE)
    microphone = np.array(audio.MICROPHONE)
    direct = round(float(np.linalg.norm(source - microphone)) * rate / c)
    h = np.zeros(direct + taps + 100)
    for room in np.ndindex(15, 15, 15):
        cell = np.array(room) - 7
        in_its_room = np.where(cell % 2 == 0, source, size - source)
        image = in_its_room + cell * size
        distance = float(np.linalg.norm(image - microphone))
        delay = distance * rate / c
        k = np.arange(int(delay) - half, int(delay) + half + 1)
        inside = (k >= 0) & (k < len(h))
        window = 0.5 + 0.5 * np.cos(np.pi * (k - delay) / (half + 0.5))
        loudness = reflection ** np.abs(cell).sum() / distance
        pulse = loudness * np.sinc(k - delay) * window
        h[k[inside]] += pulse[inside]
    h = np.concatenate([np.zeros(5), h])[direct : direct + taps]
    return h / np.linalg.norm(h)


def test_the_simulated_room_is_the_sum_of_its_images_and_leaves_the_library_alone():
    from pyroomacoustics import constants

    names = ("frac_delay_length", "rir_hpf_enable", "num_threads")
    before = [constants.get(name) for name in names]
    h = audio.simulated(taps=300)
    assert float(h @ image_sum(300, 0.75)) > 0.999  # of unit norm; its sinc is from a table
    assert [constants.get(name) for name in names] == before
    assert before[0] != audio.FRACTIONAL_DELAY


def test_every_room_has_unit_norm_and_its_direct_path_at_tap_5():
    recording = np.concatenate([np.zeros(700), audio.simulated(taps=4000)])
    resampled = audio.resample(recording, 16_000, 44_100)
    rooms = [
        audio.simulated(),
        audio.simulated(taps=128, reflection=0.0),
        audio.recorded(resampled, 44_100),
        audio.recorded(recording, 16_000),
    ]
    for h in rooms:
        assert np.linalg.norm(h) == pytest.approx(1.0)
        assert np.argmax(np.abs(h)) == audio.DIRECT
    filled_with_zeros = audio.recorded(recording[:800], 16_000, taps=2000)
    assert len(filled_with_zeros) == 2000


def test_a_recorded_room_that_is_simulated_is_the_simulated_room():
    late = np.concatenate([np.zeros(99), audio.simulated(taps=2000)])
    room = audio.recorded(late, 16_000, taps=500)
    np.testing.assert_allclose(room, audio.simulated(taps=500), atol=1e-12)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: audio.simulated(taps=5), "taps must be more than 5"),
        (lambda: audio.simulated(reflection=1.0), r"reflection must be in \[0, 1\), got 1\.0"),
        (lambda: audio.recorded(NOISE, 0), "rate must be at least 1 Hz, got 0"),
        (
            lambda: audio.recorded(np.zeros(9), 16_000),
            "non-empty, finite signal that is not silent",
        ),
        (lambda: audio.recorded(np.array([np.nan]), 16_000), "non-empty, finite signal"),
    ],
)
def test_a_bad_argument_is_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()
