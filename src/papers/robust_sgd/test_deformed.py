"""Digits that are moved and deformed: shares of moves, size of fields, and seeds."""

from pathlib import Path

import numpy as np
import pytest

from robust_sgd import deformed

BLOB = np.zeros((1, 28, 28))
BLOB[0, 10:18, 10:18] = 200.0


def test_a_move_is_one_of_nine_and_each_is_as_likely():
    """Of 900 moves of a blob by -1, 0 or 1 pixel, about 100 are of each kind."""
    images = np.repeat(BLOB, 900, axis=0)
    moves = deformed.moved(images, np.random.default_rng(0))
    sums = moves.sum(axis=(1, 2))
    assert (sums == BLOB.sum()).all()  # nothing is lost inside the frame
    corners = []
    for image in moves:
        lit_pixels = np.argwhere(image > 0)
        corners.append(lit_pixels[0])
    _, counts = np.unique(corners, axis=0, return_counts=True)
    assert len(counts) == 9
    assert counts.min() > 70


def test_a_move_loses_what_leaves_the_frame_and_what_enters_is_black():
    full = np.full((200, 28, 28), 255.0)
    moves = deformed.moved(full, np.random.default_rng(0))
    counts = {int(image.sum()) // 255 for image in moves}
    assert counts == {784, 27 * 28, 27 * 27}


def test_a_constant_field_moves_a_ramp_by_its_size_and_values_stay_bytes():
    """First differences move the image x = 5 column + 3 row exactly."""
    row, column = np.indices((1, 28, 28)).astype(float)[1:]
    image = 5 * column + 3 * row
    field = np.ones_like(image)
    shifted = image + 5 * 0.5 - 3 * 0.2
    expected = np.floor(np.clip(shifted, 0, 255))
    displaced = deformed.displaced(image, 0.5 * field, -0.2 * field)
    assert np.array_equal(displaced, expected)
    values = deformed.displaced(BLOB, 50 * field, -50 * field)
    assert values.min() == 0
    assert values.max() == 255
    rounded = np.rint(values)
    assert np.array_equal(values, rounded)


def test_fields_are_smooth_and_of_the_published_size():
    """A uniform value has variance 1/3, of which smoothing by s pixels keeps 1/(4 pi s^2)."""
    fields = deformed.fields(np.random.default_rng(0), deformed.SIZE)
    middle = fields[:, 12:16, 12:16]
    squared_width = 16
    variance = 1 / 3 / (4 * np.pi * squared_width)
    expected = deformed.SIZE * np.sqrt(variance)
    measured = np.sqrt((middle**2).mean())
    assert measured == pytest.approx(expected, rel=0.02)
    left = fields[:, 14, 14]
    right = fields[:, 14, 15]
    correlation = np.corrcoef(left, right)[0, 1]
    expected_correlation = np.exp(-1 / (4 * squared_width))
    assert correlation == pytest.approx(expected_correlation, abs=0.01)


def test_an_affine_map_moves_no_pixel_by_more_than_its_six_parameters():
    """A flat image stays flat inside, as no map reaches further out than 3 pixels."""
    flat = np.full((50, 28, 28), 100.0)
    mapped = deformed.mapped(flat, np.random.default_rng(0))
    assert (mapped[:, 3:-3, 3:-3] == 100).all()
    blobs = np.repeat(BLOB, 20, axis=0)
    mapped_blobs = deformed.mapped(blobs, np.random.default_rng(1))
    different = {image.tobytes() for image in mapped_blobs}
    assert len(different) == 20


@pytest.mark.parametrize(
    "load", [deformed.shifted, deformed.deformed, deformed.half_deformed, deformed.affine]
)
def test_a_set_is_four_seeded_copies_with_the_labels_of_their_digits(load, monkeypatch):
    y = np.repeat(np.array([-1, 1], np.int8), [20, 30])
    shades = np.where(y > 0, 0.0, 128 / 255).astype(np.float32)
    X = np.repeat(shades[:, None], 784, axis=1)
    monkeypatch.setattr(deformed, "mnist38", lambda files: {"X": X, "y": y})
    monkeypatch.setattr(deformed, "POOL", 10)
    monkeypatch.setattr(deformed, "COPIES", 2)
    first = load({"a": Path("a")})
    second_load = load({"a": Path("a")})
    assert np.array_equal(first["X"], second_load["X"])
    assert np.array_equal(first["y"], np.tile(y, 2))
    assert first["X"].dtype == np.float32
    black = first["X"][first["y"] > 0]
    assert (black == 0).all()
    grey = first["X"][first["y"] < 0]
    assert (grey > 0).any(axis=1).all()
