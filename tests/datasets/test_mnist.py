"""Threes against eights, from IDX files or from the pickle of a package: the same arrays."""

import struct
from pathlib import Path

import numpy as np
import pytest

from reproduction.data import mnist

COUNTS = {"train": (5851, 6131, 18), "t10k": (974, 1010, 16)}  # eights, threes, others


def images(part: str) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(len(part))
    digits = rng.permutation(np.repeat(np.array([8, 3, 5], np.uint8), COUNTS[part]))
    pixels = rng.integers(0, 256, (len(digits), 28, 28), dtype=np.uint8)
    return pixels, digits


def idx_files(folder: Path) -> dict[str, Path]:
    for part in COUNTS:
        for array, name in zip(images(part), ("images-idx3", "labels-idx1"), strict=True):
            header = bytes([0, 0, 8, array.ndim]) + struct.pack(f">{array.ndim}I", *array.shape)
            (folder / f"{part}-{name}-ubyte").write_bytes(header + array.tobytes())
    return {path.name: path for path in folder.iterdir()}


def test_threes_and_eights_are_chosen_and_scaled(tmp_path: Path) -> None:
    arrays = mnist.mnist38(idx_files(tmp_path))
    for part, suffix in (("train", ""), ("t10k", "_test")):
        pixels, digits = images(part)
        chosen = digits != 5
        assert np.array_equal(np.rint(arrays[f"X{suffix}"] * 255), pixels[chosen].reshape(-1, 784))
        assert np.array_equal(arrays[f"y{suffix}"], np.where(digits[chosen] == 3, 1, -1))
    assert arrays["X"].dtype == np.float32
    assert arrays["X"].max() == 1


def test_the_pickle_gives_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pickles = pytest.importorskip("reproduction.data.pickles")
    (x, y), (x3, y3) = images("train"), images("t10k")
    flat, flat3 = ((pixels.reshape(-1, 784) / np.float32(256)).astype(np.float32) for pixels in (x, x3))
    parts = ((flat[:9000], y[:9000]), (flat[9000:], y[9000:]), (flat3, y3))
    monkeypatch.setattr(pickles, "load_numpy_pickle", lambda path: parts)
    one = mnist.mnist38({"mnist.pkl.gz": tmp_path})
    two = mnist.mnist38(idx_files(tmp_path))
    assert all(np.array_equal(one[key], two[key]) for key in two)
    monkeypatch.setattr(pickles, "load_numpy_pickle", lambda path: parts[:2])
    with pytest.raises(ValueError, match="not three pairs"):
        mnist.mnist38({"mnist.pkl.gz": tmp_path})
    monkeypatch.setattr(pickles, "load_numpy_pickle", lambda path: (parts[0], parts[1], (flat3 + 1e-3, y3)))
    with pytest.raises(ValueError, match="a pixel is not one of"):
        mnist.mnist38({"mnist.pkl.gz": tmp_path})


def test_images_and_labels_of_different_length_are_refused(tmp_path: Path) -> None:
    files = idx_files(tmp_path)
    files["train-labels-idx1-ubyte"] = files["t10k-labels-idx1-ubyte"]
    with pytest.raises(ValueError, match="12000 images, 2000 labels"):
        mnist.mnist38(files)


def test_other_counts_than_those_of_mnist_are_refused(tmp_path: Path) -> None:
    files = idx_files(tmp_path)
    for name in ("images-idx3-ubyte", "labels-idx1-ubyte"):
        files[f"train-{name}"] = files[f"t10k-{name}"]
    with pytest.raises(ValueError, match="mnist38: 1984x784 values"):
        mnist.mnist38(files)
