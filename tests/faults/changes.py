"""Mutated raw, prepared and packed data: an error of the one type, or exactly the content that it was."""

import io
import tarfile
import tempfile
import warnings
import zipfile
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from mutations import mutation

from reproduction.data.fetch import RECORD, write_record
from reproduction.data.prepare import Dataset, array_digest, load_prepared, prepare, write_prepared
from reproduction.data.registry import RawFile, sha256_of
from reproduction.data.transport import DataError, Network, SourceError, obtain

Check = Callable[[], Any]
"""Reads the data again; what it gives must not depend on a mutation that it does not refuse."""


def raw(folder: Path) -> tuple[list[Path], Check, type[Exception]]:
    """A raw file and its record, as `prepare` reads them."""
    path = folder / "haberman.data"
    path.write_text("".join(f"{i},{i % 7},{i % 5},{1 + (i < 81)}\n" for i in range(306)), encoding="utf-8")
    record = {"id": "haberman", "source": "official", "variant": "canonical", "loader": "uci:haberman"}
    record |= {"shape": {"rows": 306}, "prepared_sha256": "", "prepared_decimals": None}
    record |= {"isolated": False, "unverified": []}
    write_record(folder, record | {"files": {path.name: sha256_of(path)}})

    def check() -> tuple[str, ...]:
        found = prepare(folder)
        return found.id, found.source, found.variant, found.digest

    return [path, folder / RECORD], check, DataError


def prepared(folder: Path) -> tuple[list[Path], Check, type[Exception]]:
    """A prepared file, as jobs read it."""
    arrays = {"X": np.arange(60.0).reshape(20, 3), "y": np.tile(np.array([-1, 1], np.int8), 10)}
    path = folder / "toy.npz"
    write_prepared(Dataset("toy", "official", "canonical", arrays, array_digest(arrays)), path)

    def check() -> tuple[str, ...]:
        found = load_prepared(path)
        return found.id, found.source, found.variant, found.digest, array_digest(found.arrays)

    return [path], check, DataError


def _archive(folder: Path, kind: str) -> tuple[list[Path], Check, type[Exception]]:
    """A member of an archive in a mirror, as `fetch` unpacks it."""
    body, path = b"1,2,3\n" * 100, folder / f"mirror/a.{kind}"
    path.parent.mkdir()
    if kind == "zip":
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as packed:
            packed.writestr("in/x", body)
            packed.writestr("in/y", b"other")
    else:
        with tarfile.open(path, "w:gz") as packed_tar:
            for name, content in (("in/x", body), ("in/y", b"other")):
                info = tarfile.TarInfo(name)
                info.size = len(content)
                packed_tar.addfile(info, io.BytesIO(content))
    (folder / "body").write_bytes(body)
    file = RawFile(
        name="x", sha256=sha256_of(folder / "body"), bytes=len(body), path=path.name, member="in/x"
    )
    mirror = Network(str(path.parent), offline=True)

    def check() -> bytes:
        obtain(file, folder, mirror)
        return (folder / "x").read_bytes()

    return [path], check, SourceError


CHECKS: dict[str, Callable[[Path], tuple[list[Path], Check, type[Exception]]]] = {
    "raw": raw,
    "prepared": prepared,
    "packed zip": lambda folder: _archive(folder, "zip"),
    "packed tar": lambda folder: _archive(folder, "tgz"),
}


def silent_changes(kind: str, count: int, start: int = 0) -> dict[str, Any]:
    """How many of `count` mutations were refused, did no harm, changed the content without a word."""
    outcomes: Counter[str] = Counter(refused=0, harmless=0, silent=0)
    others: list[str] = []
    with tempfile.TemporaryDirectory() as name, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        paths, check, refusal = CHECKS[kind](Path(name))
        good, contents = check(), {path: path.read_bytes() for path in paths}
        for number in range(start, start + count):
            path = paths[number % len(paths)]
            path.write_bytes(mutation(contents[path], number))
            try:
                outcomes["harmless" if check() == good else "silent"] += 1
            except refusal:
                outcomes["refused"] += 1
            except Exception as error:
                others.append(f"{number}: {error!r}")
            path.write_bytes(contents[path])
    return {**outcomes, "other errors": others}
