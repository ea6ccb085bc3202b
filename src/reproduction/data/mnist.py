"""MNIST digits 3 against 8, as they are, moved and deformed as MNIST8M was made of MNIST, and two controls.

x' = floor(clip(x + f_x t_x + f_y t_y, 0, 255)), then moved by -1, 0 or 1 pixel each way. t_x and t_y are the
derivatives of the image x by its columns and rows (the tangent vectors), f_x and f_y smooth random fields of
displacements in pixels, two of a pool of 1522.

That form, the size of the pool and the nine moves are those of the program that generates MNIST8M. Its fields
are a file of 5 MB that we could not have; ours are drawn as in Simard, Steinkraus and Platt (2003): uniform
in [-1, 1], smoothed by a Gaussian of 4 pixels, times 34 (root mean square 1.3 pixels).

Sources: Loosli, Canu, Bottou, Training invariant support vector machines using selective sampling, in Large
Scale Kernel Machines, 2007, and their program InfiMNIST; Simard, Steinkraus, Platt, ICDAR 2003.
"""

import gzip
import math
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from noisylabels.seeding import Seeds
from reproduction.data.formats import Arrays, Files, pack

Images = NDArray[np.float64]
"""(n, 28, 28), values 0..255."""

Digits = tuple[NDArray[np.uint8], NDArray[Any]]
Change = Callable[[Images, np.random.Generator], Images]

ALLOWED = {
    ("numpy.core.multiarray", "_reconstruct"),
    ("numpy", "ndarray"),
    ("numpy", "dtype"),
    ("_codecs", "encode"),
}
"""All that a pickled array needs."""


def mnist38(files: Files) -> Arrays:
    """Digits 3 (+1) and 8 (-1), 784 float32 pixels in [0, 1]: 11982 training and 1984 test images."""
    if "mnist.pkl.gz" in files:
        train, test = _from_pickle(files["mnist.pkl.gz"])
    else:
        train, test = (
            (_idx(files[f"{part}-images-idx3-ubyte"]), _idx(files[f"{part}-labels-idx1-ubyte"]))
            for part in ("train", "t10k")
        )
    return _pair(*train) | _pair(*test, "test")


def _pair(pixels: NDArray[np.uint8], digits: NDArray[Any], part: str = "") -> Arrays:
    chosen = np.isin(digits, [3, 8])
    X = pixels[chosen].reshape(int(chosen.sum()), -1).astype(np.float32) / np.float32(255)
    return pack(X, np.where(digits[chosen] == 3, 1, -1), part)


def _idx(path: Path) -> NDArray[np.uint8]:
    """Bytes of an IDX file: two zero bytes, type, number of axes, sizes as big-endian uint32, the values."""
    raw = path.read_bytes()
    start = 4 + 4 * raw[3]
    shape = tuple(int(size) for size in np.frombuffer(raw[4:start], ">u4"))
    if raw[:3] != b"\0\0\x08" or math.prod(shape) != len(raw) - start:
        raise ValueError(f"{path.name}: not an IDX file of {'x'.join(map(str, shape))} unsigned bytes")
    return np.frombuffer(raw, np.uint8, offset=start).reshape(shape)


class _ArraysOnly(pickle.Unpickler):
    def find_class(self, module: str, name: str) -> Any:
        if (module, name) not in ALLOWED:
            raise ValueError(f"the pickle asks for {module}.{name}, which is not part of an array; refused")
        return super().find_class(module.replace("numpy.core", "numpy._core"), name)


def _from_pickle(path: Path) -> tuple[Digits, Digits]:
    """Training (with validation) and test images of ``mnist.pkl.gz``; its pixels are multiples of 1/256."""
    with gzip.open(path) as stream:
        (x1, y1), (x2, y2), (x3, y3) = _ArraysOnly(stream, encoding="latin1").load()
    train, test = ((np.asarray(x) * 256).astype(np.uint8) for x in (np.concatenate([x1, x2]), x3))
    return (train, np.concatenate([y1, y2])), (test, np.asarray(y3))


COPIES = 4
"""Images made of each training image; MNIST8M has 134."""

POOL = 1522
SMOOTHING = 4.0
SIZE = 34.0


def moved(images: Images, rng: np.random.Generator) -> Images:
    """Each image moved by -1, 0 or 1 pixel along rows and columns, nine moves alike; what enters is 0."""
    padded = np.pad(images, ((0, 0), (1, 1), (1, 1)))
    rows, columns = rng.integers(3, size=(2, len(images), 1)) + np.arange(images.shape[1])
    return padded[np.arange(len(images))[:, None, None], rows[:, :, None], columns[:, None, :]]


def displaced(images: Images, f_x: Images, f_y: Images) -> Images:
    """floor(clip(x + f_x t_x + f_y t_y, 0, 255)): every image, to first order, displaced by a field.

    t_x and t_y are central differences. f_x, f_y : (n, 28, 28), pixels.
    """
    t_y, t_x = np.gradient(images, axis=(1, 2))
    return np.floor(np.clip(images + f_x * t_x + f_y * t_y, 0, 255))


def mapped(images: Images, rng: np.random.Generator) -> Images:
    """Each image seen through z -> z + b + M z / 13.5, z from the centre, interpolated between four pixels.

    The six entries of b and M are uniform in [-1, 1]: each moves no pixel by more than one.
    """
    from scipy.ndimage import map_coordinates

    n, side = len(images), images.shape[1]
    middle = (side - 1) / 2
    grid = np.indices((side, side)).reshape(2, -1) - middle
    shift, matrix = rng.uniform(-1, 1, (n, 2, 1)), rng.uniform(-1, 1, (n, 2, 2))
    places = grid + shift + matrix @ grid / middle + middle
    seen = [map_coordinates(image, place, order=1) for image, place in zip(images, places, strict=True)]
    return np.rint(np.reshape(seen, images.shape))


def fields(rng: np.random.Generator, size: float) -> Images:
    """(1522, 28, 28) values uniform in [-1, 1], smoothed by a Gaussian of 4 pixels, times ``size``."""
    from scipy.ndimage import gaussian_filter

    noise = rng.uniform(-1, 1, (POOL, 28, 28))
    return size * np.asarray(gaussian_filter(noise, (0, SMOOTHING, SMOOTHING), mode="constant"))


def _by_fields(size: float) -> Change:
    """Each image displaced by two fields of the pool, one for each axis, and moved."""

    def change(images: Images, rng: np.random.Generator) -> Images:
        pool = fields(rng, size)
        first, second = rng.integers(POOL, size=(2, len(images)))
        return moved(displaced(images, pool[first], pool[second]), rng)

    return change


def _loader(name: str, change: Change) -> Callable[[Files], Arrays]:
    """Changed copies of the training images, float32 in [0, 1], and their labels; no test part."""

    def load(files: Files) -> Arrays:
        digits = mnist38(files)
        images = np.rint(digits["X"].astype(float) * 255).reshape(-1, 28, 28)
        seeds = Seeds(0, "deformed-digits", "mnist38")
        copies = [change(images, seeds.generator(copy, name)).astype(np.uint8) for copy in range(COPIES)]
        X = np.concatenate(copies).reshape(-1, 784).astype(np.float32) / np.float32(255)
        return pack(X, np.tile(digits["y"], COPIES))

    return load


shifted = _loader("shifted", moved)
deformed = _loader("deformed", _by_fields(SIZE))  # as in MNIST8M
half_deformed = _loader("half deformed", _by_fields(SIZE / 2))
affine = _loader("affine", mapped)
