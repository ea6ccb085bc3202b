"""MNIST's digits 3 and 8, moved and deformed in the way of MNIST8M, and two controls.

x' = floor(clip(x + f_x t_x + f_y t_y, 0, 255)), then moved by -1, 0 or 1 pixel each way. t_x and
t_y are the derivatives of the image x by its columns and rows (the tangent vectors), f_x and f_y
smooth random fields of displacements in pixels, two of a pool of 1522.

That form, the size of the pool and the nine moves are those of the program that generates MNIST8M.
Its fields are a file of 5 MB that we do not have; we draw them as in Simard, Steinkraus and
Platt (2003): uniform in [-1, 1], smoothed by a Gaussian of 4 pixels, times 34 (root mean square 1.3
pixels).

Sources: Loosli, Canu, Bottou, Training invariant support vector machines using selective sampling,
in Large Scale Kernel Machines, 2007, and their program InfiMNIST; Simard, Steinkraus, Platt, ICDAR
2003.
"""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import gaussian_filter, map_coordinates

from noisylabels.seeding import Seeds
from reproduction.data.loaders.formats import Arrays, Files, pack
from reproduction.data.loaders.libsvm import mnist38

Images = NDArray[np.float64]
"""Images (n, 28, 28) with values 0..255."""
Change = Callable[[Images, np.random.Generator], Images]

COPIES = 4
"""Number of images made of each training image (134 in MNIST8M)."""
POOL = 1522
"""Number of fields in the pool."""
SMOOTHING = 4.0
"""Standard deviation in pixels of the Gaussian that smooths a field."""
SIZE = 34.0
"""Size of a smoothed field, in pixels."""


def moved(images: Images, rng: np.random.Generator) -> Images:
    """Move each image by -1, 0 or 1 pixel along rows and columns, with black at the edge."""
    padded = np.pad(images, ((0, 0), (1, 1), (1, 1)))
    rows, columns = rng.integers(3, size=(2, len(images), 1)) + np.arange(images.shape[1])
    return padded[np.arange(len(images))[:, None, None], rows[:, :, None], columns[:, None, :]]


def displaced(images: Images, f_x: Images, f_y: Images) -> Images:
    """Displace every image by a field, to first order.

    t_x and t_y are central differences. f_x, f_y : (n, 28, 28), pixels.
    """
    t_y, t_x = np.gradient(images, axis=(1, 2))
    return np.floor(np.clip(images + f_x * t_x + f_y * t_y, 0, 255))


def mapped(images: Images, rng: np.random.Generator) -> Images:
    """Map each image by a random affine map, with values between four pixels.

    The six entries of b and M are uniform in [-1, 1]: each moves no pixel by more than one.
    """

    n = len(images)
    side = images.shape[1]
    middle = (side - 1) / 2
    grid = np.indices((side, side)).reshape(2, -1) - middle
    shift = rng.uniform(-1, 1, (n, 2, 1))
    matrix = rng.uniform(-1, 1, (n, 2, 2))
    places = grid + shift + matrix @ grid / middle + middle
    warped = []
    for image, coordinates in zip(images, places, strict=True):
        warped.append(map_coordinates(image, coordinates, order=1))
    return np.rint(np.reshape(warped, images.shape))


def fields(rng: np.random.Generator, size: float) -> Images:
    """Draw a pool of random fields, smoothed by a Gaussian."""

    noise = rng.uniform(-1, 1, (POOL, 28, 28))
    return size * np.asarray(gaussian_filter(noise, (0, SMOOTHING, SMOOTHING), mode="constant"))


def _by_fields(size: float) -> Change:
    """Displace each image by two fields of the pool, one for each axis, and move it."""

    def change(images: Images, rng: np.random.Generator) -> Images:
        pool = fields(rng, size)
        first, second = rng.integers(POOL, size=(2, len(images)))
        return moved(displaced(images, pool[first], pool[second]), rng)

    return change


def _deformed(name: str, change: Change) -> Callable[[Files], Arrays]:
    """Make changed copies of the training images in [0, 1], with labels and no test part."""

    def load(files: Files) -> Arrays:
        digits = mnist38(files)
        images = np.rint(digits["X"].astype(float) * 255).reshape(-1, 28, 28)
        seeds = Seeds(0, "deformed-digits", "mnist38")
        copies = []
        for copy in range(COPIES):
            changed = change(images, seeds.generator(copy, name))
            copies.append(changed.astype(np.uint8))
        X = np.concatenate(copies).reshape(-1, 784).astype(np.float32) / np.float32(255)
        return pack(X, np.tile(digits["y"], COPIES))

    return load


shifted = _deformed("shifted", moved)
deformed = _deformed("deformed", _by_fields(SIZE))  # like the copies in MNIST8M
half_deformed = _deformed("half deformed", _by_fields(SIZE / 2))
affine = _deformed("affine", mapped)
