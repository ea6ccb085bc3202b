"""Prepared data sets: arrays with their digest in one .npz, the only data that jobs read.

`reproduction.data.prepare` writes these files, and the job of an experiment loads them
(`Job.read` of `reproduction.run.job`). Jobs import this module and the error that it raises, and
nothing else of the package. So no change of a download or of a loader makes an experiment run
again.
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
"""Member of an .npz with the description of its arrays."""
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


def read_only(array: NDArray[Any]) -> NDArray[Any]:
    """Make an array read-only, so that no method can spoil it for others."""
    array.flags.writeable = False
    return array


def find_target(y: NDArray[Any]) -> str:
    """Decide from its values whether ``y`` holds two classes, several, or real values."""
    if y.dtype.kind == "f" and bool((y % 1 != 0).any()):
        return "real"
    return "two classes" if len(np.unique(y)) <= 2 else "classes"


def array_digest(arrays: Mapping[str, NDArray[Any]]) -> str:
    """Compute the SHA-256 of arrays.

    Parameters
    ----------
    arrays : mapping
        Name -> array. Of each, in the order of the names, name, type, shape and values (in C order)
        count.

    Returns
    -------
    str
        The digest, 64 hex digits.
    """
    total = hashlib.sha256()
    for name in sorted(arrays):
        array = np.asarray(arrays[name], order="C")
        total.update(f"{name} {array.dtype.str} {arrays[name].shape}\n".encode())
        total.update(array.reshape(-1).view(np.uint8).data if array.size else b"")
    return total.hexdigest()


def load_prepared(path: Path | str) -> Dataset:
    """Load a prepared file, and check that its arrays have the stored digest.

    Parameters
    ----------
    path : Path or str
        The file.

    Returns
    -------
    Dataset
        The data set; its arrays cannot be changed.

    Raises
    ------
    FileNotFoundError
        If there is no such file.
    PermissionError
        If it may not be read.
    DataError
        If it is not a prepared file, or is damaged.
    """
    try:
        meta, arrays = read_npz(Path(path))
        dataset = Dataset(arrays=arrays, **meta)
        digest = array_digest(arrays)
        if digest != dataset.digest:
            raise ValueError(f"its arrays have digest {digest}, expected {dataset.digest}")
        for array in arrays.values():
            read_only(array)
        return dataset
    except FileNotFoundError:
        raise FileNotFoundError(f"{path} does not exist; prepare the data set first") from None
    except PermissionError:
        raise
    except Exception as error:  # a damaged archive or header can raise nearly anything
        reason = (" ".join(str(error).split()) or type(error).__name__)[:300]
        fault = f"is not a prepared data set or is damaged ({reason})"
        raise DataError(f"{path} {fault}; remove it and prepare again") from None


def write_npz(path: Path, meta: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> None:
    """Write arrays and a description into an .npz whose bytes depend only on its content.

    Raises
    ------
    ValueError
        If an array holds Python objects.
    """
    with zipfile.ZipFile(path, "w", zipfile.ZIP_STORED) as archive:
        for name in (META, *(f"{name}.npy" for name in sorted(arrays))):
            member = zipfile.ZipInfo(name, date_time=(1980, 1, 1, 0, 0, 0))
            member.create_system = 3
            member.external_attr = 0o644 << 16
            with archive.open(member, "w", force_zip64=name != META) as stream:
                if name == META:
                    stream.write(json.dumps(meta, indent=1, sort_keys=True).encode())
                else:
                    array = np.asarray(arrays[name.removesuffix(".npy")], order="C")
                    np.lib.format.write_array(stream, array, allow_pickle=False)


def read_npz(path: Path | IO[bytes]) -> tuple[dict[str, Any], Arrays]:
    """Read the description and the arrays of an .npz; a damaged one may raise any error."""
    # NumPy leaves a file that it opened itself open if the archive is damaged.
    opened = path.open("rb") if isinstance(path, Path) else contextlib.nullcontext(path)
    with opened as file, np.load(file, allow_pickle=False) as archive:
        arrays = {name: archive[name] for name in archive.files}
    return json.loads(arrays.pop(META)), arrays
