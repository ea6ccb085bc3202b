"""Bring the raw files of a data set into a folder, from the first source that has them."""

import argparse
import json
import os
import sys
from pathlib import Path
from typing import Any

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--dataset", required=True, metavar="ID", help="id, or id.source, or id.variant")
parser.add_argument("--registry", type=Path, required=True, help="config/datasets.yaml")
parser.add_argument("--out", type=Path, required=True, help="folder of the raw files, data/raw/ID")
mirror_help = "folder or URL of a mirror (default: the variable NOISYLABELS_MIRROR)"
parser.add_argument("--mirror", default=os.environ.get("NOISYLABELS_MIRROR", ""), help=mirror_help)
parser.add_argument("--source", default="", help="use this source or variant only")
parser.add_argument("--offline", action="store_true", help="never use the network")
local_help = 'your own file instead, or \'{"file": FILE, "label": COLUMN}\''
parser.add_argument("--local", metavar="FILE", help=local_help)
parser.add_argument("--key", type=Path, help="what the plan asks for, as JSON; with it a record is written")
given = parser.parse_args()

from reproduction.data.fetch import FetchError, fetch, fetch_local  # noqa: E402
from reproduction.data.registry import load_registry  # noqa: E402
from reproduction.data.transport import Network, StorageError  # noqa: E402
from reproduction.run import records  # noqa: E402


def bring() -> dict[str, Any]:
    """Have the files in the folder; what is known of them."""
    registry = load_registry(given.registry)
    if given.local:
        own = json.loads(given.local) if given.local.startswith("{") else given.local
        return fetch_local(dataset, registry, given.out, own)
    memory = given.out.parent / ".cache" / "unreachable.json"
    return fetch(dataset, registry, given.out, Network(given.mirror, given.offline, memory))


dataset = f"{given.dataset.partition('.')[0]}.{given.source}" if given.source else given.dataset
try:
    with records.making(given.key, given.out / records.RECORD) as made:
        found = bring()
        made.outputs = [given.out / name for name in ("source.json", *found["files"])]
except (FetchError, StorageError, ValueError, OSError) as error:
    if not sys.stdout.isatty():  # the log of a job, whose last line is shown as the cause
        lines = str(error).partition("\nWhat helps")[0].splitlines()
        print(f"{error}\nerror: {'; '.join(line.strip() for line in lines)}")
    sys.exit(f"error: {error}")
size = sum((given.out / name).stat().st_size for name in found["files"])
where = f"{found['id']} from {found['source']} ({found['variant']})"
print(f"{where}: {len(found['files'])} files, {size} bytes")
