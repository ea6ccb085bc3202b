"""Mutated raw, prepared and packed data: an error of the one type, or exactly the old content."""

import shutil
import tempfile
import warnings
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from mutations import mutation

from reproduction.data.errors import DataError
from reproduction.data.fetch import RECORD, write_record
from reproduction.data.prepare import prepare, write_prepared
from reproduction.data.prepared import Dataset, array_digest, load_prepared
from reproduction.data.registry import RawFile, sha256_of
from reproduction.data.transport import Network, SourceError, obtain

Check = Callable[[], Any]
"""Reads the data again; what it gives must not depend on a mutation that it does not refuse."""


def raw(folder: Path) -> tuple[list[Path], Check, type[Exception]]:
    """A raw file and its record, as `prepare` reads them."""
    path = folder / "haberman.data"
    lines = [f"{i},{i % 7},{i % 5},{2 if i < 81 else 1}\n" for i in range(306)]
    path.write_text("".join(lines), encoding="utf-8")
    record = {"id": "haberman", "source": "official", "variant": "canonical"}
    record["loader"] = "uci:haberman"
    record |= {"shape": {"rows": 306}, "prepared_sha256": "", "prepared_decimals": None}
    record |= {"isolated": False, "unverified": []}
    write_record(folder, record | {"files": {path.name: sha256_of(path)}})
    return [path, folder / RECORD], lambda: _describe(prepare(folder)), DataError


def prepared(folder: Path) -> tuple[list[Path], Check, type[Exception]]:
    """A prepared file, as jobs read it."""
    arrays = {"X": np.arange(60.0).reshape(20, 3), "y": np.tile(np.array([-1, 1], np.int8), 10)}
    path = folder / "toy.npz"
    write_prepared(Dataset("toy", "official", "canonical", arrays, array_digest(arrays)), path)
    return [path], lambda: _describe(load_prepared(path)), DataError


def _describe(prepared: Dataset) -> tuple[str, ...]:
    return (
        prepared.id,
        prepared.source,
        prepared.variant,
        prepared.digest,
        array_digest(prepared.arrays),
    )


def _archive(folder: Path, kind: str) -> tuple[list[Path], Check, type[Exception]]:
    """A member of an archive in a mirror, as `fetch` unpacks it."""
    mirror = folder / "mirror"
    (mirror / "in").mkdir(parents=True)
    body, second_file = mirror / "in/x", mirror / "in/y"
    body.write_bytes(b"1,2,3\n" * 100)
    second_file.write_bytes(b"other")
    path = Path(shutil.make_archive(str(mirror / "a"), kind, mirror, "in"))
    size = body.stat().st_size
    sha256 = sha256_of(body)
    file = RawFile(name="x", sha256=sha256, bytes=size, path=path.name, member="in/x")

    def check() -> bytes:
        obtain(file, folder, Network(str(mirror), offline=True))
        return (folder / "x").read_bytes()

    return [path], check, SourceError


CHECKS: dict[str, Callable[[Path], tuple[list[Path], Check, type[Exception]]]] = {
    "raw": raw,
    "prepared": prepared,
    "packed zip": lambda folder: _archive(folder, "zip"),
    "packed tar": lambda folder: _archive(folder, "gztar"),
}


def silent_changes(kind: str, count: int, start: int = 0) -> dict[str, Any]:
    """Count the mutations that were refused, did no harm, or changed the content silently."""
    outcomes: Counter[str] = Counter(refused=0, harmless=0, silent=0)
    other_errors: list[str] = []
    with tempfile.TemporaryDirectory() as name, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        paths, check, refusal = CHECKS[kind](Path(name))
        good = check()
        contents = {path: path.read_bytes() for path in paths}
        for number in range(start, start + count):
            path = paths[number % len(paths)]
            path.write_bytes(mutation(contents[path], number))
            try:
                outcomes["harmless" if check() == good else "silent"] += 1
            except refusal:
                outcomes["refused"] += 1
            except Exception as error:
                other_errors.append(f"{number}: {error!r}")
            path.write_bytes(contents[path])
    return {**outcomes, "other errors": other_errors}
