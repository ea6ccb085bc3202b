"""Arrays and a description in one uncompressed .npz: the same bytes each time, read without trust."""

import io
import json
import math
import os
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

META = "meta.json"
"""Member of the .npz with the description, beside the arrays."""

BLOCK = 1 << 20
Arrays = dict[str, NDArray[Any]]


def write(path: Path, meta: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> None:
    """An .npz whose bytes depend on its content only (no times, no compression).

    Raises
    ------
    ValueError : an array of objects.
    """
    with zipfile.ZipFile(path, "w", zipfile.ZIP_STORED) as archive:
        with archive.open(_member(META), "w") as stream:
            stream.write(json.dumps(meta, indent=1, sort_keys=True).encode())
        for name in sorted(arrays):
            with archive.open(_member(f"{name}.npy"), "w", force_zip64=True) as stream:
                np.lib.format.write_array(stream, np.asarray(arrays[name], order="C"), allow_pickle=False)


def read(path: Path) -> tuple[dict[str, Any], Arrays]:
    """Description and arrays of such a file; never more memory than twice its length.

    A member that is compressed, announces more than the file holds, stands there twice or is no array of
    plain values is refused before it is read. What is damaged in another way may raise nearly anything.
    """
    with path.open("rb") as file, zipfile.ZipFile(file) as archive:
        members = {info.filename: info for info in archive.infolist()}
        if len(members) != len(archive.infolist()):
            raise ValueError("a member stands there twice")
        if any(info.compress_type != zipfile.ZIP_STORED for info in members.values()):
            raise ValueError("a member is compressed")
        if sum(info.file_size for info in members.values()) > os.fstat(file.fileno()).st_size:
            raise ValueError("the members announce more than the file holds")
        meta = json.loads(bytes(_content(archive, members.pop(META))))
        return meta, {_name(info): _array(_content(archive, info)) for info in members.values()}


def _name(info: zipfile.ZipInfo) -> str:
    if not info.filename.endswith(".npy"):
        raise ValueError(f"member {info.filename} is no array")
    return info.filename.removesuffix(".npy")


def _content(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> bytearray:
    """The bytes of a member; read to the end, so that their checksum is compared."""
    content, count = bytearray(info.file_size), 0
    with archive.open(info) as stream:
        while block := stream.read(BLOCK):
            content[count : count + len(block)] = block
            count += len(block)
    if count != info.file_size:
        raise ValueError(f"member {info.filename} holds {count} bytes, expected {info.file_size}")
    return content


def _array(content: bytearray) -> NDArray[Any]:
    """The array in the bytes of an .npy file, over the same memory."""
    start = io.BytesIO(content[:BLOCK])
    version = np.lib.format.read_magic(start)
    if version != (1, 0):
        raise ValueError(f"array format {version}, expected (1, 0)")
    shape, fortran, dtype = np.lib.format.read_array_header_1_0(start)
    if dtype.hasobject:
        raise ValueError("an array of objects")
    if math.prod(shape) * dtype.itemsize != len(content) - start.tell():
        raise ValueError(f"an array of {shape} {dtype} in {len(content) - start.tell()} bytes")
    values: NDArray[Any] = np.ndarray(
        shape, dtype, content, offset=start.tell(), order="F" if fortran else "C"
    )
    return values


def _member(name: str) -> zipfile.ZipInfo:
    info = zipfile.ZipInfo(name, date_time=(1980, 1, 1, 0, 0, 0))
    info.create_system = 3
    info.external_attr = 0o644 << 16
    return info
