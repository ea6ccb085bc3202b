"""Raw files -> one prepared file per data set: arrays of a known shape, with their digest,
in a byte-stable .npz.
"""

import hashlib
import importlib
import json
import os
import zipfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

META = "meta.json"
"""Member of the .npz with id, source, variant and digest, beside the arrays."""

Arrays = dict[str, NDArray[Any]]


@dataclass(frozen=True)
class Dataset:
    """A prepared data set.

    ``source`` says where it came from (official, mirror, package, generated, local, stand-in), ``variant``
    which content it is where sources differ, ``digest`` is the SHA-256 of names, types, shapes and values
    of the arrays.
    """

    id: str
    source: str
    variant: str
    arrays: Arrays
    digest: str


def prepare(raw: Path) -> Dataset:
    """The data set whose raw files lie in ``raw``, as its ``source.json`` describes them.

    Raises
    ------
    FileNotFoundError : there is no ``source.json``; fetch first.
    ValueError : the loader refuses a file, or the arrays do not have the registered shape or digest.
    """
    record_file = raw / "source.json"
    if not record_file.is_file():
        raise FileNotFoundError(f"{record_file} is missing; fetch the data set first")
    record = json.loads(record_file.read_text(encoding="utf-8"))
    loader = find_loader(record["loader"])
    try:
        loaded = loader({file: raw / file for file in record["files"]}, **record.get("options", {}))
        arrays = {name: np.asarray(array) for name, array in loaded.items()}
        check_shape(record["id"], record["source"], arrays, record["shape"])
    except ValueError as error:
        if not record["unverified"]:
            raise
        names = ", ".join(record["unverified"])
        raise ValueError(
            f"{error}; the hash of {names} was not known beforehand: if the download went wrong, "
            f"remove {raw} and fetch again"
        ) from None
    digest = array_digest(arrays)
    expected = record["prepared_sha256"]
    if expected and digest != expected:
        raise ValueError(
            f"{record['id']}: the prepared arrays of variant {record['variant']} have digest {digest}, "
            f"expected {expected}; the loader {record['loader']} or a library below it behaves differently"
        )
    return Dataset(record["id"], record["source"], record["variant"], arrays, digest)


def find_loader(spec: str) -> Callable[..., Arrays]:
    """``"uci:german"`` -> noisylabels.datasets.uci.german; ValueError if there is no such function."""
    module_name, _, function_name = spec.partition(":")
    try:
        module = importlib.import_module(f"noisylabels.datasets.{module_name}")
    except ModuleNotFoundError as error:
        raise ValueError(f"loader {spec}: {error}; mend `loader` in the registry") from None
    function = getattr(module, function_name, None)
    if not callable(function):
        raise ValueError(f"loader {spec}: no function {function_name} in {module.__file__}")
    loader: Callable[..., Arrays] = function
    return loader


def check_shape(dataset: str, source: str, arrays: Arrays, shape: Mapping[str, Any]) -> None:
    """ValueError if rows, columns, classes, samples or rate are not what the registry says."""
    found: dict[str, Any] = {}
    if "signal" in arrays:
        found = {"samples": len(arrays["signal"]), "rate": int(arrays["rate"])}
    else:
        if "y" in arrays:
            labels, counts = np.unique(arrays["y"], return_counts=True)
            found["rows"] = len(arrays["y"])
            found["classes"] = {str(label): int(n) for label, n in zip(labels.tolist(), counts, strict=True)}
        if "X" in arrays:
            found |= {"rows": len(arrays["X"])}
            found |= {"columns": arrays["X"].shape[1]} if arrays["X"].ndim == 2 else {}
        elif "shape" in arrays:
            found |= {"rows": int(arrays["shape"][0]), "columns": int(arrays["shape"][1])}
    for key, expected in shape.items():
        wanted = {str(label): n for label, n in expected.items()} if key == "classes" else expected
        if found.get(key) != wanted:
            raise ValueError(
                f"{dataset} from source {source}: {key} is {found.get(key, 'missing')}, expected {wanted}; "
                "the file is not the data set that the registry describes"
            )


def array_digest(arrays: Mapping[str, NDArray[Any]]) -> str:
    """SHA-256 of the arrays: for each, in the order of the names, name, type, shape and values (C order)."""
    total = hashlib.sha256()
    for name in sorted(arrays):
        array = np.asarray(arrays[name], order="C")
        total.update(f"{name} {array.dtype.str} {arrays[name].shape}\n".encode())
        total.update(array.reshape(-1).view(np.uint8).data if array.size else b"")
    return total.hexdigest()


def write_prepared(dataset: Dataset, path: Path) -> None:
    """The data set as an .npz whose bytes depend on its content only (no times, no compression); atomic."""
    meta = {name: getattr(dataset, name) for name in ("id", "source", "variant", "digest")}
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        with zipfile.ZipFile(part, "w", zipfile.ZIP_STORED) as archive:
            with archive.open(_member(META), "w") as stream:
                stream.write(json.dumps(meta, indent=1, sort_keys=True).encode())
            for name in sorted(dataset.arrays):
                with archive.open(_member(f"{name}.npy"), "w", force_zip64=True) as stream:
                    np.lib.format.write_array(
                        stream, np.asarray(dataset.arrays[name], order="C"), allow_pickle=False
                    )
        os.replace(part, path)
    finally:
        part.unlink(missing_ok=True)


def load_prepared(path: Path | str) -> Dataset:
    """The data set in a prepared file.

    Raises
    ------
    FileNotFoundError : no such file.
    ValueError : not a prepared file, or damaged.
    """
    try:
        with zipfile.ZipFile(path) as archive:
            meta = json.loads(archive.read(META))
            arrays = {
                name.removesuffix(".npy"): _read_array(archive, name)
                for name in archive.namelist()
                if name != META
            }
            return Dataset(meta["id"], meta["source"], meta["variant"], arrays, meta["digest"])
    except FileNotFoundError:
        raise FileNotFoundError(f"{path} does not exist; prepare the data set first") from None
    except (zipfile.BadZipFile, KeyError, ValueError, EOFError) as error:
        raise ValueError(
            f"{path} is not a prepared data set or is damaged ({error}); remove it and prepare again"
        ) from None


def load(dataset: str, folder: Path | str = "data/prepared") -> Dataset:
    """The prepared data set ``dataset`` (an id, with its pin if it has one) in ``folder``."""
    return load_prepared(Path(folder) / f"{dataset}.npz")


def _read_array(archive: zipfile.ZipFile, name: str) -> NDArray[Any]:
    with archive.open(name) as stream:
        array: NDArray[Any] = np.lib.format.read_array(stream, allow_pickle=False)
        return array


def _member(name: str) -> zipfile.ZipInfo:
    info = zipfile.ZipInfo(name, date_time=(1980, 1, 1, 0, 0, 0))
    info.create_system = 3
    info.external_attr = 0o644 << 16
    return info
