"""Turn the raw files of a data set into one prepared .npz file."""

import argparse
import sys
from pathlib import Path

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--raw", type=Path, required=True, help="folder of raw files and their source.json")
parser.add_argument("--out", type=Path, required=True, help="the .npz file to write")
parser.add_argument("--key", type=Path, help="what the plan asks for, as JSON; with it a record is written")
parser.add_argument("--record", type=Path, help="for what the file was made from")
given = parser.parse_args()

from reproduction.data.prepare import prepare, write_prepared  # noqa: E402
from reproduction.run import records  # noqa: E402  (a wrong command line should not wait for imports)

try:
    with records.making(given.key, given.record) as made:
        dataset = prepare(given.raw)
        write_prepared(dataset, given.out)
        made.outputs = [given.out]
except (ValueError, OSError) as error:
    sys.exit(f"error: {error}")
shapes = ", ".join(f"{name} {array.shape}" for name, array in sorted(dataset.arrays.items()))
for note in dataset.arrays.get("notes", ()):
    print(f"{dataset.id}: {note}")
print(f"{dataset.id} from {dataset.source} ({dataset.variant}): {shapes}; digest {dataset.digest}")
