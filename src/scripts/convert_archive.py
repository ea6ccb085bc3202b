"""Convert the archived results of version 1, with a provenance.json each, to records; once.

The digests of the old files are checked first. What was never observed is marked unknown.
"""

import hashlib
import json
import lzma
import sys
from pathlib import Path
from typing import Any

from reproduction.run import records

CHECKED = {"table_sha256": "table.csv", "points_sha256": "points.npz"}
DECIDES = {*CHECKED, "data_sha256", "code"}


def check(folder: Path, name: str, expected: str) -> None:
    """End with one line if an archived file does not have the digest of its record."""
    parts = [folder / f"{name}.xz"]
    if not parts[0].is_file():
        parts = sorted(folder.glob(f"{name}.*.xz"), key=lambda part: int(part.suffixes[-2][1:]))
    if not parts:
        return
    content = lzma.decompress(b"".join(part.read_bytes() for part in parts))
    if hashlib.sha256(content).hexdigest() != expected:
        sys.exit(f"convert: {parts[0]} is not the file that its provenance.json records")


def convert(old: dict[str, Any]) -> records.Record:
    """Write what a provenance of version 1 says as a record."""
    data = {f"data/prepared/{name}": digest for name, digest in old.get("data_sha256", {}).items()}
    requested: Any = records.UNKNOWN
    if "settings" in old:
        requested = {"settings": old["settings"], "seed": old["seed"]}
    outputs = {name: old[key] for key, name in CHECKED.items() if key in old}
    informs = {key: value for key, value in old.items() if key not in DECIDES}
    decides = {"asked": requested, "inputs": data, "read": records.UNKNOWN}
    return {"format": records.FORMAT, "decides": decides, "outputs": outputs, "informs": informs}


folders = sorted(file.parent for file in Path("results/reference").glob("*/*/provenance.json"))
for folder in folders:
    provenance = json.loads((folder / "provenance.json").read_bytes())
    for key, name in CHECKED.items():
        if key in provenance:
            check(folder, name, provenance[key])
    text = json.dumps(convert(provenance), indent=1, sort_keys=True)
    (folder / records.RECORD).write_text(text + "\n", encoding="utf-8")
    (folder / "provenance.json").unlink()
print(f"{len(folders)} archived results converted")
