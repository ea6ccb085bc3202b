"""One array in every form that users hand over: what is computed from it must not differ in a bit."""

import numpy as np


def _strided(a):
    wide = np.full([2 * size for size in a.shape], np.nan)
    wide[tuple(slice(None, None, 2) for _ in a.shape)] = a
    return wide[tuple(slice(None, None, 2) for _ in a.shape)]


def _read_only(a):
    kept = a.copy()
    kept.flags.writeable = False
    return kept


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
    "unaligned": lambda a: np.frombuffer(b"\0" + a.tobytes(), np.uint8)[1:].view(a.dtype).reshape(a.shape),
}
"""Name -> a whole-numbered float array in that form; single precision and integers hold it exactly."""


def check_layouts(compute, arrays, refused=()):
    """`compute(*arrays)` has the same bytes for every layout but those refused, and changes no array."""
    expected = [np.asarray(each).tobytes() for each in compute(*arrays)]
    for name, lay in LAYOUTS.items():
        if name in refused:
            continue
        given = [lay(array) for array in arrays]
        before = [np.asarray(array, dtype=float).copy() for array in given]
        found = [np.asarray(each).tobytes() for each in compute(*given)]
        assert found == expected, name
        for array, kept in zip(given, before, strict=True):
            assert np.array_equal(np.asarray(array, dtype=float), kept), f"{name}: an input was changed"
