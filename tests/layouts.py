"""One array in every form that users hand over: results must not differ in a bit."""

import numpy as np


def _strided(a):
    wide = np.full([2 * size for size in a.shape], np.nan)
    wide[tuple(slice(None, None, 2) for _ in a.shape)] = a
    return wide[tuple(slice(None, None, 2) for _ in a.shape)]


def _read_only(a):
    copied = a.copy()
    copied.flags.writeable = False
    return copied


def shift_by_one_byte(array):
    """Copy an array to an address that is no multiple of its item size."""
    memory = np.frombuffer(b"\0" + array.tobytes(), np.uint8)
    return memory[1:].view(array.dtype).reshape(array.shape)


LAYOUTS = {
    "a list": lambda a: a.tolist(),
    "columns in a row": np.asfortranarray,
    "every second entry": _strided,
    "backwards": lambda a: a[::-1].copy()[::-1],
    "read only": _read_only,
    "big-endian": lambda a: a.astype(">f8"),
    "whole numbers": lambda a: a.astype(np.int32),
    "single precision": lambda a: a.astype(np.float32),
    "objects": lambda a: a.astype(object),
    "unaligned": shift_by_one_byte,
}
"""Name -> an array of whole numbers in that form; single precision and integers hold it exactly."""


def check_layouts(compute, arrays, refused=()):
    """Check that `compute(*arrays)` has the same bytes for every layout, and changes no array."""
    expected = [np.asarray(result).tobytes() for result in compute(*arrays)]
    for name, lay in LAYOUTS.items():
        if name in refused:
            continue
        inputs = [lay(array) for array in arrays]
        before = [np.asarray(array, dtype=float).copy() for array in inputs]
        results = [np.asarray(result).tobytes() for result in compute(*inputs)]
        assert results == expected, name
        for array, values in zip(inputs, before, strict=True):
            is_unchanged = np.array_equal(np.asarray(array, dtype=float), values)
            assert is_unchanged, f"{name}: an input was changed"
