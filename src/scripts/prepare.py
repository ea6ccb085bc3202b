"""Turn the raw files of a data set into one prepared .npz file."""

import argparse
import sys
from contextlib import nullcontext
from pathlib import Path

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--raw", type=Path, required=True, help="folder of raw files and their source.json")
parser.add_argument("--out", type=Path, required=True, help="the .npz file to write")
parser.add_argument("--code", help="digest and roots of the code of this job")
given = parser.parse_args()

from reproduction.data.prepare import prepare, write_prepared  # noqa: E402
from reproduction.plan import code_digest  # noqa: E402  (a wrong command line should not wait for imports)

try:
    with code_digest.unchanged(given.code) if given.code else nullcontext():
        dataset = prepare(given.raw)
        write_prepared(dataset, given.out)
except (ValueError, OSError) as error:
    sys.exit(f"error: {error}")
shapes = ", ".join(f"{name} {array.shape}" for name, array in sorted(dataset.arrays.items()))
for note in dataset.arrays.get("notes", ()):
    print(f"{dataset.id}: {note}")
print(f"{dataset.id} from {dataset.source} ({dataset.variant}): {shapes}; digest {dataset.digest}")
