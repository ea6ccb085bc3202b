"""Put the verdicts of all artifacts into one table: CSV for machines, a self-contained page for readers."""

import argparse
from pathlib import Path

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--inputs", nargs="*", default=[], help="tables of verdicts")
parser.add_argument("--names", nargs="*", default=[], help="paper/artifact of each table, in the same order")
parser.add_argument("--csv", required=True)
parser.add_argument("--html", type=Path, required=True)
arguments = parser.parse_args()
if len(arguments.inputs) != len(arguments.names):
    parser.error("--inputs and --names need the same number of entries")

from noisylabels.verdict_page import page  # noqa: E402  (a wrong command line should not wait for the imports)
from noisylabels.verdicts import collect, write_verdicts  # noqa: E402

verdicts = collect(dict(zip(arguments.names, arguments.inputs, strict=True)))
write_verdicts(verdicts, arguments.csv)
arguments.html.write_text(page(verdicts), encoding="utf-8", newline="\n")
