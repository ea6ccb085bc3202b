"""Turn the raw files of a data set into one prepared .npz file."""

import argparse
import sys
from pathlib import Path

parser = argparse.ArgumentParser(description=__doc__)
raw_help = "folder of raw files and their source.json"
parser.add_argument("--raw", type=Path, required=True, help=raw_help)
parser.add_argument("--out", type=Path, required=True, help="the .npz file to write")
key_help = "what the plan requests, as JSON; with it a record is written"
parser.add_argument("--key", type=Path, help=key_help)
parser.add_argument("--record", type=Path, help="for what the file was made from")
options = parser.parse_args()

# A wrong command line should not wait for imports.
from reproduction.data.prepare import prepare, write_prepared  # noqa: E402
from reproduction.run import records  # noqa: E402

try:
    with records.making(options.key, options.record) as result:
        dataset = prepare(options.raw)
        write_prepared(dataset, options.out)
        result.outputs = [options.out]
except (ValueError, OSError) as error:
    sys.exit(f"error: {error}")
shapes = [f"{name} {array.shape}" for name, array in sorted(dataset.arrays.items())]
for note in dataset.arrays.get("notes", ()):
    print(f"{dataset.id}: {note}")
origin = f"{dataset.id} from {dataset.source} ({dataset.variant})"
print(f"{origin}: {', '.join(shapes)}; digest {dataset.digest}")
