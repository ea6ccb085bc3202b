"""The digits 3 and 8 of MNIST, moved and deformed as MNIST8M was made of MNIST; and two controls.

x' = floor(clip(x + f_x t_x + f_y t_y, 0, 255)), then moved by -1, 0 or 1 pixel each way. t_x and t_y are the
derivatives of the image x by its columns and rows (the tangent vectors), f_x and f_y smooth random fields of
displacements in pixels, two of a pool of 1522.

That form, the size of the pool and the nine moves are those of the program that generates MNIST8M. Its fields
are a file of 5 MB that we could not have; ours are drawn as in Simard, Steinkraus and Platt (2003): uniform
in [-1, 1], smoothed by a Gaussian of 4 pixels, times 34 (root mean square 1.3 pixels).

Sources: Loosli, Canu, Bottou, Training invariant support vector machines using selective sampling, in Large
Scale Kernel Machines, 2007, and their program InfiMNIST; Simard, Steinkraus, Platt, ICDAR 2003.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from noisylabels.seeding import Seeds
from reproduction.data.checks import supervised
from reproduction.data.files import Files
from reproduction.data.matrices import pack
from reproduction.data.mnist import mnist38

Images = NDArray[np.float64]
"""(n, 28, 28), values 0..255."""

COPIES = 4
"""Images made of each training image; MNIST8M has 134."""

POOL = 1522
SMOOTHING = 4.0
SIZE = 34.0


def shifted(files: Files) -> dict[str, NDArray[Any]]:
    """Four copies of each training image, moved by -1, 0 or 1 pixel each way, and nothing else."""
    return _made(files, "shifted", moved)


def deformed(files: Files) -> dict[str, NDArray[Any]]:
    """Four copies of each training image, deformed by random fields and moved, as in MNIST8M."""
    return _made(files, "deformed", lambda images, rng: moved(_by_fields(images, rng, SIZE), rng))


def half_deformed(files: Files) -> dict[str, NDArray[Any]]:
    """As `deformed`, with fields of half the size."""
    return _made(files, "half deformed", lambda images, rng: moved(_by_fields(images, rng, SIZE / 2), rng))


def affine(files: Files) -> dict[str, NDArray[Any]]:
    """Four copies of each training image, each mapped by a random affine map (see `mapped`)."""
    return _made(files, "affine", mapped)


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


def _by_fields(images: Images, rng: np.random.Generator, size: float) -> Images:
    pool = fields(rng, size)
    first, second = rng.integers(POOL, size=(2, len(images)))
    return displaced(images, pool[first], pool[second])


def _made(
    files: Files, name: str, change: Callable[[Images, np.random.Generator], Images]
) -> dict[str, NDArray[Any]]:
    """Changed copies of the training images, float32 in [0, 1], and their labels; no test part."""
    digits = mnist38(files)
    images = np.rint(digits["X"].astype(float) * 255).reshape(-1, 28, 28)
    seeds = Seeds(0, "deformed-digits", "mnist38")
    copies = [change(images, seeds.generator(copy, name)).astype(np.uint8) for copy in range(COPIES)]
    X = np.concatenate(copies).reshape(-1, 784).astype(np.float32) / np.float32(255)
    y = np.tile(digits["y"], COPIES)
    return pack(*supervised(f"mnist38 {name}", X, y, 784, {-1: None, 1: None}, len(y)))
