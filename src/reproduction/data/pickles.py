"""Pickles from elsewhere: arrays, and no code."""

import gzip
import io
import pickle
import zlib
from pathlib import Path
from typing import Any

BLOCK = 1 << 20

# four functions are all that a pickled array needs; whatever else a pickle names is refused
_ALLOWED = {
    ("numpy.core.multiarray", "_reconstruct"),
    ("numpy._core.multiarray", "_reconstruct"),
    ("numpy", "ndarray"),
    ("numpy", "dtype"),
    ("_codecs", "encode"),
}


class _ArraysOnly(pickle.Unpickler):
    def find_class(self, module: str, name: str) -> Any:
        if (module, name) not in _ALLOWED:
            raise pickle.UnpicklingError(
                f"the pickle asks for {module}.{name}, which is not part of an array; refused"
            )
        return super().find_class(module.replace("numpy.core", "numpy._core"), name)


def load_numpy_pickle(path: Path, largest: int = 1 << 30) -> Any:
    """Arrays (in tuples, lists, dicts) from a pickle, gzipped or not, of Python 2 or 3;
    no other object is made.

    Raises
    ------
    ValueError : a global other than those an array needs, a damaged pickle, or more than ``largest`` bytes.
    """
    with path.open("rb") as raw:
        magic = raw.read(2)
    try:
        with gzip.open(path) if magic == b"\x1f\x8b" else path.open("rb") as stream:
            content = io.BytesIO()
            while block := stream.read(BLOCK):
                content.write(block)
                if content.tell() > largest:
                    raise ValueError(f"{path}: the pickle unpacks to more than {largest} bytes; refused")
    except (EOFError, zlib.error, OSError) as error:
        raise ValueError(f"{path}: damaged ({error})") from None
    content.seek(0)
    try:
        return _ArraysOnly(content, encoding="latin1").load()
    except Exception as error:  # a damaged pickle may fail in any way at all
        raise ValueError(f"{path}: not a pickle of arrays, or damaged ({error})") from None
