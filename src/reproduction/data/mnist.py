"""MNIST digits 3 against 8, from the IDX files or from the pickle of a package."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from reproduction.data.checks import supervised
from reproduction.data.files import Files, named
from reproduction.data.matrices import pack
from reproduction.data.readers import idx
from reproduction.data.readers.streams import MEND

Images = tuple[NDArray[np.uint8], NDArray[Any]]


def mnist38(files: Files) -> dict[str, NDArray[Any]]:
    """Digits 3 (+1) and 8 (-1), 784 float32 pixels in [0, 1]: 11982 training and 1984 test images.

    Raises
    ------
    ValueError : images and labels do not belong together,
        or other numbers of threes and eights than MNIST has.
    """
    if "mnist.pkl.gz" in files:
        train, test = _from_pickle(files)
    else:
        train, test = (
            (
                idx.read(named(files, f"{part}-images-idx3-ubyte")),
                idx.read(named(files, f"{part}-labels-idx1-ubyte")),
            )
            for part in ("train", "t10k")
        )
    return _pair("mnist38", train, {-1: 5851, 1: 6131}) | _pair("mnist38", test, {-1: 974, 1: 1010}, "test")


def _pair(name: str, images: Images, classes: dict[int, int], part: str = "") -> dict[str, NDArray[Any]]:
    pixels, digits = images
    if digits.ndim != 1 or len(pixels) != len(digits):
        raise ValueError(f"{name}: {len(pixels)} images, {len(digits)} labels; {MEND}")
    chosen = np.isin(digits, [3, 8])
    X = pixels[chosen].reshape(int(chosen.sum()), -1).astype(np.float32) / np.float32(255)
    y = np.where(digits[chosen] == 3, 1, -1).astype(np.int8)
    return pack(*supervised(name, X, y, 784, classes), part)


def _from_pickle(files: Files) -> tuple[Images, Images]:
    """Training (with validation) and test images of ``mnist.pkl.gz``; its pixels are multiples of 1/256."""
    from reproduction.data.pickles import load_numpy_pickle

    parts = load_numpy_pickle(files["mnist.pkl.gz"])
    try:
        (x1, y1), (x2, y2), (x3, y3) = parts
        images = [np.asarray(x) * 256 for x in (np.concatenate([x1, x2]), x3)]
    except (TypeError, ValueError) as error:
        raise ValueError(f"mnist.pkl.gz: not three pairs of images and labels ({error}); {MEND}") from error
    for pixels in images:
        if not (pixels == np.rint(pixels)).all() or pixels.min() < 0 or pixels.max() > 255:
            raise ValueError(f"mnist.pkl.gz: a pixel is not one of 0/256 ... 255/256; {MEND}")
    train, test = (pixels.astype(np.uint8) for pixels in images)
    return (train, np.concatenate([y1, y2])), (test, np.asarray(y3))
