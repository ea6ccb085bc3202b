"""Digits that are moved and deformed: shares of moves, size of fields, and seeds."""

from pathlib import Path

import numpy as np
import pytest

from robust_sgd import deformed

SIDE = 28
"""Rows and columns of a digit, in pixels."""
WHITE = 255
BLOB = np.zeros((1, SIDE, SIDE))
BLOB[0, 10:18, 10:18] = 200.0


@pytest.fixture
def rng():
    return np.random.default_rng(0)


def test_a_move_is_one_of_nine_and_each_is_as_likely(rng):
    """Of 900 moves of a blob by -1, 0 or 1 pixel, about 100 are of each kind."""
    images = np.repeat(BLOB, 900, axis=0)
    moved = deformed.moved(images, rng)
    sums = moved.sum(axis=(1, 2))
    assert (sums == BLOB.sum()).all()  # nothing is lost inside the frame
    corners = []
    for image in moved:
        lit_pixels = np.argwhere(image > 0)
        corners.append(lit_pixels[0])
    _, counts = np.unique(corners, axis=0, return_counts=True)
    assert len(counts) == 9
    assert counts.min() > 70


def test_a_move_loses_what_leaves_the_frame_and_what_enters_is_black(rng):
    full = np.full((200, SIDE, SIDE), float(WHITE))
    moved = deformed.moved(full, rng)
    white_pixels = {int(image.sum()) // WHITE for image in moved}
    not_moved = SIDE * SIDE
    moved_along_one_axis = (SIDE - 1) * SIDE
    moved_along_both_axes = (SIDE - 1) * (SIDE - 1)
    assert white_pixels == {not_moved, moved_along_one_axis, moved_along_both_axes}


def test_a_constant_field_moves_a_ramp_by_its_size():
    """First differences move the image x = 5 column + 3 row exactly."""
    _, row, column = np.indices(BLOB.shape)
    ramp = 5.0 * column + 3.0 * row
    field = np.ones_like(ramp)
    displaced = deformed.displaced(ramp, 0.5 * field, -0.2 * field)
    shifted = ramp + 5 * 0.5 - 3 * 0.2
    expected = np.floor(np.clip(shifted, 0, WHITE))
    assert np.array_equal(displaced, expected)


def test_the_values_of_a_displaced_image_stay_bytes():
    field = np.ones_like(BLOB)
    values = deformed.displaced(BLOB, 50 * field, -50 * field)
    assert values.min() == 0
    assert values.max() == WHITE
    rounded = np.rint(values)
    assert np.array_equal(values, rounded)


SQUARED_WIDTH = 16
"""Of the Gaussian that smooths a field, in squared pixels."""


def test_fields_have_the_published_size(rng):
    """A uniform value has variance 1/3, of which smoothing by s pixels keeps 1/(4 pi s^2)."""
    fields = deformed.fields(rng, deformed.SIZE)
    middle = fields[:, 12:16, 12:16]
    share_kept = 1 / (4 * np.pi * SQUARED_WIDTH)
    variance = 1 / 3 * share_kept
    expected = deformed.SIZE * np.sqrt(variance)
    mean_square = np.mean(middle**2)
    assert np.sqrt(mean_square) == pytest.approx(expected, rel=0.02)


def test_fields_are_as_smooth_as_their_gaussian(rng):
    fields = deformed.fields(rng, deformed.SIZE)
    left = fields[:, 14, 14]
    right = fields[:, 14, 15]
    correlation = np.corrcoef(left, right)[0, 1]
    expected = np.exp(-1 / (4 * SQUARED_WIDTH))
    assert correlation == pytest.approx(expected, abs=0.01)


def test_an_affine_map_moves_no_pixel_by_more_than_its_six_parameters(rng):
    """A flat image stays flat inside, as no map reaches further out than 3 pixels."""
    flat = np.full((50, SIDE, SIDE), 100.0)
    mapped = deformed.mapped(flat, rng)
    inside = mapped[:, 3:-3, 3:-3]
    assert (inside == 100).all()


def test_affine_maps_differ_from_image_to_image(rng):
    blobs = np.repeat(BLOB, 20, axis=0)
    mapped = deformed.mapped(blobs, rng)
    different = {image.tobytes() for image in mapped}
    assert len(different) == 20


@pytest.mark.parametrize(
    "load", [deformed.shifted, deformed.deformed, deformed.half_deformed, deformed.affine]
)
def test_a_set_is_seeded_copies_with_the_labels_of_their_digits(load, monkeypatch):
    y = np.repeat(np.array([-1, 1], np.int8), [20, 30])
    shades = np.where(y > 0, 0.0, 128 / WHITE).astype(np.float32)
    digits = np.repeat(shades[:, None], SIDE * SIDE, axis=1)
    monkeypatch.setattr(deformed, "mnist38", lambda files: {"X": digits, "y": y})
    monkeypatch.setattr(deformed, "POOL", 10)
    monkeypatch.setattr(deformed, "COPIES", 2)
    files = {"a": Path("a")}
    first_load = load(files)
    second_load = load(files)
    X = first_load["X"]
    labels = first_load["y"]
    assert np.array_equal(X, second_load["X"])
    assert np.array_equal(labels, np.tile(y, 2))
    assert X.dtype == np.float32
    black = X[labels > 0]
    assert (black == 0).all()
    grey = X[labels < 0]
    has_grey_pixels = (grey > 0).any(axis=1)
    assert has_grey_pixels.all()
