"""IDX files (MNIST): two zero bytes, type, number of axes, sizes as big-endian uint32, then the values."""

import math
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from reproduction.data.readers.streams import MEND, open_bytes

_UINT8 = 8


def read(path: Path) -> NDArray[np.uint8]:
    """Array of unsigned bytes in an IDX file, e.g. (60000, 28, 28) images or (60000,) labels.

    Raises
    ------
    ValueError : another magic number, another value type, or a length that the header does not announce.
    """
    with open_bytes(path) as stream:
        raw = stream.read()
    if len(raw) < 4 or raw[:2] != b"\0\0" or raw[2] != _UINT8 or len(raw) < 4 + 4 * raw[3]:
        raise ValueError(f"{path.name}: not an IDX file of unsigned bytes (starts {raw[:4].hex()}); {MEND}")
    start = 4 + 4 * raw[3]
    shape = tuple(int(size) for size in np.frombuffer(raw[4:start], ">u4"))
    if math.prod(shape) != len(raw) - start:
        sizes = "x".join(map(str, shape))
        raise ValueError(f"{path.name}: header says {sizes}, file holds {len(raw) - start} values; {MEND}")
    return np.frombuffer(raw, np.uint8, offset=start).reshape(shape)
