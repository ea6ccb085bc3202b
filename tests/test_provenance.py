"""What provenance says of the data: digests of the files, and which variant of each set they hold."""

import hashlib
import json
from pathlib import Path

import numpy as np

from reproduction import provenance
from reproduction.data.prepare import Dataset, array_digest, write_prepared


def test_every_data_set_is_recorded_with_its_variant(tmp_path: Path) -> None:
    table, points = tmp_path / "table.csv", tmp_path / "points.npz"
    table.write_bytes(b"method,value\n")
    points.write_bytes(b"PK")
    files = []
    for name, variant, file in (
        ("ida_ringnorm", "rebuilt", "ida_ringnorm"),
        ("german", "canonical", "german.packaged"),
    ):
        arrays = {"X": np.zeros((2, 1))}
        files.append(tmp_path / f"{file}.npz")
        write_prepared(Dataset(name, "mirror", variant, arrays, array_digest(arrays)), files[-1])
    provenance.write('{"settings": {}}', {}, files, table, points, tmp_path / "provenance.json")
    record = json.loads((tmp_path / "provenance.json").read_text())
    assert record["data_variant"] == {"ida_ringnorm": "rebuilt", "german": "canonical"}
    assert record["data_sha256"]["german.packaged.npz"] == hashlib.sha256(files[1].read_bytes()).hexdigest()
    assert record["points_sha256"] == hashlib.sha256(b"PK").hexdigest()
