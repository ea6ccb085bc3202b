"""Threes against eights from IDX files or a pickle; moved and deformed digits, where known in closed form."""

import gzip
import pickle
import struct
from pathlib import Path

import numpy as np
import pytest

from reproduction.data import libsvm as mnist

COUNTS = {"train": (58, 61, 18), "t10k": (9, 10, 16)}  # eights, threes, others


def images(part):
    rng = np.random.default_rng(len(part))
    digits = rng.permutation(np.repeat(np.array([8, 3, 5], np.uint8), COUNTS[part]))
    pixels = rng.integers(0, 256, (len(digits), 28, 28), dtype=np.uint8)
    return pixels, digits


def idx_files(folder):
    for part in COUNTS:
        for array, name in zip(images(part), ("images-idx3", "labels-idx1"), strict=True):
            header = bytes([0, 0, 8, array.ndim]) + struct.pack(f">{array.ndim}I", *array.shape)
            (folder / f"{part}-{name}-ubyte").write_bytes(header + array.tobytes())
    return {path.name: path for path in folder.iterdir()}


def test_threes_and_eights_are_chosen_and_scaled(tmp_path):
    arrays = mnist.mnist38(idx_files(tmp_path))
    for part, suffix in (("train", ""), ("t10k", "_test")):
        pixels, digits = images(part)
        chosen = digits != 5
        assert np.array_equal(np.rint(arrays[f"X{suffix}"] * 255), pixels[chosen].reshape(-1, 784))
        assert np.array_equal(arrays[f"y{suffix}"], np.where(digits[chosen] == 3, 1, -1))
    assert (arrays["X"].dtype, arrays["X"].max()) == (np.float32, 1)


def test_the_pickle_gives_the_same_and_holds_nothing_but_arrays(tmp_path):
    (x, y), (x3, y3) = images("train"), images("t10k")
    flat, flat3 = ((pixels.reshape(-1, 784) / np.float32(256)).astype(np.float32) for pixels in (x, x3))
    parts = ((flat[:90], y[:90]), (flat[90:], y[90:]), (flat3, y3))
    two = mnist.mnist38(idx_files(tmp_path))
    path = tmp_path / "mnist.pkl.gz"
    path.write_bytes(gzip.compress(pickle.dumps(parts, protocol=2).replace(b"numpy._core", b"numpy.core"), 1))
    one = mnist.mnist38({path.name: path})
    assert all(np.array_equal(one[key], two[key]) for key in two)
    path.write_bytes(gzip.compress(pickle.dumps((print, 1))))
    with pytest.raises(ValueError, match=r"asks for builtins\.print, which is not part of an array"):
        mnist.mnist38({path.name: path})


# deformed digits

BLOB = np.zeros((1, 28, 28))
BLOB[0, 10:18, 10:18] = 200.0


def rng():
    return np.random.default_rng(0)


def test_a_move_is_one_of_nine_and_each_is_as_likely():
    """Where the blob goes: rows and columns by -1, 0 or 1; 900 moves, so about 100 of each."""
    images = np.repeat(BLOB, 900, axis=0)
    moves = mnist.moved(images, rng())
    corners = np.array([np.argwhere(image > 0)[0] for image in moves]) - 10
    assert (moves.sum(axis=(1, 2)) == BLOB.sum()).all()  # nothing is lost inside the frame
    _, counts = np.unique(corners, axis=0, return_counts=True)
    assert len(counts) == 9
    assert counts.min() > 70


def test_what_leaves_the_frame_is_lost_and_what_enters_is_black():
    full = np.full((200, 28, 28), 255.0)
    sums = {int(image.sum()) // 255 for image in mnist.moved(full, rng())}
    assert sums == {784, 27 * 28, 27 * 27}


def test_a_constant_field_moves_a_ramp_by_its_size():
    """x = 5 column + 3 row is moved exactly by first differences: x(c + 0.5, r - 0.2)."""
    row, column = np.indices((28, 28)).astype(float)
    image = (5 * column + 3 * row)[None]
    one = np.ones_like(image)
    expected = np.floor(np.clip(image + 5 * 0.5 - 3 * 0.2, 0, 255))
    assert np.array_equal(mnist.displaced(image, 0.5 * one, -0.2 * one), expected)


def test_values_stay_bytes():
    field = 50 * np.ones_like(BLOB)
    values = mnist.displaced(BLOB, field, -field)
    assert (values.min(), values.max()) == (0, 255)
    assert (values == np.rint(values)).all()


def test_fields_are_smooth_and_of_the_published_size():
    """A uniform value has variance 1/3; a Gaussian of s pixels keeps 1/(4 pi s^2) of it inside."""
    fields = mnist.fields(rng(), mnist.SIZE)
    middle = fields[:, 12:16, 12:16]
    expected = mnist.SIZE * np.sqrt(1 / 3 / (4 * np.pi * 16))
    assert np.sqrt((middle**2).mean()) == pytest.approx(expected, rel=0.02)
    neighbours = np.corrcoef(fields[:, 14, 14], fields[:, 14, 15])[0, 1]
    assert neighbours == pytest.approx(np.exp(-1 / (4 * 16)), abs=0.01)


def test_an_affine_map_moves_no_pixel_by_more_than_its_six_parameters():
    """A flat image stays flat inside: no map looks further out than 1 (shift) and 2 (matrix) pixels."""
    flat = np.full((50, 28, 28), 100.0)
    seen = mnist.mapped(flat, rng())
    assert (seen[:, 3:-3, 3:-3] == 100).all()
    assert len({image.tobytes() for image in mnist.mapped(np.repeat(BLOB, 20, axis=0), rng())}) == 20


@pytest.mark.parametrize("load", [mnist.shifted, mnist.deformed, mnist.half_deformed, mnist.affine])
def test_a_set_is_four_seeded_copies_with_the_labels_of_their_digits(load, monkeypatch):
    y = np.repeat(np.array([-1, 1], np.int8), [20, 30])
    X = np.where(y > 0, 0.0, 128 / 255).astype(np.float32)[:, None] * np.ones((1, 784), np.float32)
    monkeypatch.setattr(mnist, "mnist38", lambda files: {"X": X, "y": y})
    monkeypatch.setattr(mnist, "POOL", 10)
    monkeypatch.setattr(mnist, "COPIES", 2)
    first, again = load({"a": Path("a")}), load({"a": Path("a")})
    assert np.array_equal(first["X"], again["X"])
    assert np.array_equal(first["y"], np.tile(y, 2))
    assert first["X"].dtype == np.float32
    assert (first["X"][first["y"] > 0] == 0).all()
    assert (first["X"][first["y"] < 0] > 0).any(axis=1).all()
