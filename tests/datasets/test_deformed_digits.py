"""Moved and deformed digits: what each change is where it is known in closed form; they are seeded."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from reproduction.data import deformed_digits
from reproduction.data.deformed_digits import COPIES, SIZE, affine, deformed, half_deformed, shifted

BLOB = np.zeros((1, 28, 28))
BLOB[0, 10:18, 10:18] = 200.0


def rng() -> np.random.Generator:
    return np.random.default_rng(0)


def test_a_move_is_one_of_nine_and_each_is_as_likely() -> None:
    """Where the blob goes: rows and columns by -1, 0 or 1; 900 moves, so about 100 of each."""
    images = np.repeat(BLOB, 900, axis=0)
    moves = deformed_digits.moved(images, rng())
    corners = np.array([np.argwhere(image > 0)[0] for image in moves]) - 10
    assert (moves.sum(axis=(1, 2)) == BLOB.sum()).all()  # nothing is lost inside the frame
    _, counts = np.unique(corners, axis=0, return_counts=True)
    assert len(counts) == 9
    assert counts.min() > 70


def test_what_leaves_the_frame_is_lost_and_what_enters_is_black() -> None:
    full = np.full((200, 28, 28), 255.0)
    sums = {int(image.sum()) // 255 for image in deformed_digits.moved(full, rng())}
    assert sums == {784, 27 * 28, 27 * 27}


def test_no_field_changes_nothing() -> None:
    still = np.zeros_like(BLOB)
    assert np.array_equal(deformed_digits.displaced(BLOB, still, still), BLOB)


def test_a_constant_field_moves_a_ramp_by_its_size() -> None:
    """x = 5 column + 3 row is moved exactly by first differences: x(c + 0.5, r - 0.2)."""
    row, column = np.indices((28, 28)).astype(float)
    image = (5 * column + 3 * row)[None]
    one = np.ones_like(image)
    expected = np.floor(np.clip(image + 5 * 0.5 - 3 * 0.2, 0, 255))
    assert np.array_equal(deformed_digits.displaced(image, 0.5 * one, -0.2 * one), expected)


def test_values_stay_bytes() -> None:
    field = 50 * np.ones_like(BLOB)
    values = deformed_digits.displaced(BLOB, field, -field)
    assert values.min() == 0
    assert values.max() == 255
    assert (values == np.rint(values)).all()


def test_fields_are_smooth_and_of_the_published_size() -> None:
    """A uniform value has variance 1/3; a Gaussian of s pixels keeps 1/(4 pi s^2) of it inside."""
    fields = deformed_digits.fields(rng(), SIZE)
    middle = fields[:, 12:16, 12:16]
    assert np.sqrt((middle**2).mean()) == pytest.approx(SIZE * np.sqrt(1 / 3 / (4 * np.pi * 16)), rel=0.02)
    neighbours = np.corrcoef(fields[:, 14, 14], fields[:, 14, 15])[0, 1]
    assert neighbours == pytest.approx(np.exp(-1 / (4 * 16)), abs=0.01)


def test_an_affine_map_moves_no_pixel_by_more_than_its_six_parameters() -> None:
    """A flat image stays flat inside: no map looks further out than 1 (shift) and 2 (matrix) pixels."""
    flat = np.full((50, 28, 28), 100.0)
    seen = deformed_digits.mapped(flat, rng())
    assert (seen[:, 3:-3, 3:-3] == 100).all()
    assert (
        len({image.tobytes() for image in deformed_digits.mapped(np.repeat(BLOB, 20, axis=0), rng())}) == 20
    )


@pytest.mark.parametrize("load", [shifted, deformed, half_deformed, affine])
def test_a_set_is_four_seeded_copies_with_the_labels_of_their_digits(
    load: Callable[..., dict[str, np.ndarray]], monkeypatch: pytest.MonkeyPatch
) -> None:
    y = np.repeat(np.array([-1, 1], np.int8), [20, 30])
    X = np.where(y > 0, 0.0, 128 / 255).astype(np.float32)[:, None] * np.ones((1, 784), np.float32)
    monkeypatch.setattr(deformed_digits, "mnist38", lambda files: {"X": X, "y": y})
    monkeypatch.setattr(deformed_digits, "POOL", 10)
    monkeypatch.setattr(deformed_digits, "COPIES", 2)
    first, again = load({"a": Path("a")}), load({"a": Path("a")})
    assert np.array_equal(first["X"], again["X"])
    assert np.array_equal(first["y"], np.tile(y, 2))
    assert first["X"].dtype == np.float32
    assert (first["X"][first["y"] > 0] == 0).all()
    assert (first["X"][first["y"] < 0] > 0).any(axis=1).all()
    assert COPIES == 4
