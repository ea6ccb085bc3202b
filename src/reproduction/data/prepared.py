"""Prepared data sets: arrays with their digest in one .npz, which is all that jobs read of the data.

Jobs import this module and the error that it raises, and nothing else of the package, so that no change
of a download or of a loader makes an experiment run again.
"""

import contextlib
import hashlib
import json
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from reproduction.data.errors import DataError

META = "meta.json"
"""Member of an .npz with the description, beside the arrays."""
Arrays = dict[str, NDArray[Any]]


@dataclass(frozen=True)
class Dataset:
    """A prepared data set: ``source`` says where it came from, ``variant`` which content it is.

    ``digest`` is the SHA-256 of names, types, shapes and values of the arrays, see `array_digest`.
    """

    id: str
    source: str
    variant: str
    arrays: Arrays
    digest: str


def array_digest(arrays: Mapping[str, NDArray[Any]]) -> str:
    """SHA-256 of the arrays: for each, in the order of the names, name, type, shape and values (C order)."""
    total = hashlib.sha256()
    for name in sorted(arrays):
        array = np.asarray(arrays[name], order="C")
        total.update(f"{name} {array.dtype.str} {arrays[name].shape}\n".encode())
        total.update(array.reshape(-1).view(np.uint8).data if array.size else b"")
    return total.hexdigest()


def load_prepared(path: Path | str) -> Dataset:
    """The data set in a prepared file, if its arrays have the digest that was stored with them.

    Raises FileNotFoundError, PermissionError; DataError : not a prepared file, or damaged in whatever way.
    """
    try:
        meta, arrays = read_npz(Path(path))
        found, dataset = array_digest(arrays), Dataset(arrays=arrays, **meta)
        if found != dataset.digest:
            raise ValueError(f"its arrays have digest {found}, expected {dataset.digest}")
        return dataset
    except FileNotFoundError:
        raise FileNotFoundError(f"{path} does not exist; prepare the data set first") from None
    except PermissionError:
        raise
    except Exception as error:  # a damaged archive or header can raise nearly anything
        reason = (" ".join(str(error).split()) or type(error).__name__)[:300]
        what = f"is not a prepared data set or is damaged ({reason}); remove it and prepare again"
        raise DataError(f"{path} {what}") from None


def write_npz(path: Path, meta: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> None:
    """Arrays and a description in an .npz whose bytes depend on content only; ValueError: objects."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_STORED) as archive:
        for name in (META, *(f"{name}.npy" for name in sorted(arrays))):
            member = zipfile.ZipInfo(name, date_time=(1980, 1, 1, 0, 0, 0))
            member.create_system, member.external_attr = 3, 0o644 << 16
            with archive.open(member, "w", force_zip64=name != META) as stream:
                if name == META:
                    stream.write(json.dumps(meta, indent=1, sort_keys=True).encode())
                else:
                    array = np.asarray(arrays[name.removesuffix(".npy")], order="C")
                    np.lib.format.write_array(stream, array, allow_pickle=False)


def read_npz(path: Path | IO[bytes]) -> tuple[dict[str, Any], Arrays]:
    """Description and arrays of such a file. A damaged one may raise nearly anything."""
    # NumPy leaves a file that it opened itself open if the archive is damaged.
    opened = path.open("rb") if isinstance(path, Path) else contextlib.nullcontext(path)
    with opened as file, np.load(file, allow_pickle=False) as archive:
        arrays = {name: archive[name] for name in archive.files}
    return json.loads(arrays.pop(META)), arrays
