"""Audit the labels of a table: how noisy they are, which look wrong, which method to trust."""

import argparse
import csv
import shlex
import sys
from pathlib import Path

parser = argparse.ArgumentParser(prog="./run audit", description=__doc__)
formats = "a table: .csv or .tsv with a header line, .npz with X and y, or .parquet (which needs pyarrow)"
parser.add_argument("file", type=Path, help=formats)
parser.add_argument("--label", default="y", help="the column with the labels in doubt (default: y)")
columns_help = "what to learn from, separated by commas (default: all others); quoted as in a CSV"
parser.add_argument("--columns", default="", help=columns_help)
parser.add_argument("--trusted", help="a column with verified labels, empty where there is none")
parser.add_argument("--out", type=Path, help="folder for the results (default: <name of the file>_audit)")
rows_help = "rows a model is trained on at most (default: 2000)"
parser.add_argument("--rows", type=int, default=2000, help=rows_help)
parser.add_argument("--seed", type=int, default=0, help="of every random number (default: 0)")
given = parser.parse_args()

from noisylabels.auditing import tables  # noqa: E402  (a wrong command line should not wait for imports)
from noisylabels.auditing.audit import LARGEST_SEED, of_table  # noqa: E402
from reproduction.site import audit_page  # noqa: E402


def say(sentence: str) -> None:
    print(f"audit: {sentence} ...", file=sys.stderr, flush=True)


for stream in (sys.stdout, sys.stderr):
    stream.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]  # a terminal may not be UTF-8
try:
    file = given.file.expanduser()
    out = given.out or Path(f"{file.stem}_audit")
    columns = [name.strip() for name in next(csv.reader([given.columns])) if name.strip()]
    if given.rows < tables.FEWEST_ROWS:
        raise ValueError(f"--rows must be at least {tables.FEWEST_ROWS}, got {given.rows}")
    if not 0 <= given.seed <= LARGEST_SEED:
        raise ValueError(f"--seed must lie in 0..{LARGEST_SEED}, got {given.seed}")
    table = tables.read(file, given.label, columns=columns, trusted=given.trusted)
    audit_page.claim(out, file)  # before the minutes that the audit takes
    found = of_table(table, most_rows=given.rows, random_state=given.seed, say=say)
    print(found.text)
    command = shlex.join(["./run", "audit", *sys.argv[1:]])
    audit_page.write(
        found, out, *map(tables.visible, (f"{file.name}: the labels in {given.label!r}", command))
    )
except (ValueError, OSError, RuntimeError) as error:
    sys.exit(f"audit: {error}")
except KeyboardInterrupt:
    sys.exit("audit: stopped; nothing of it is kept")
print(f"\nLook:   {out / 'index.html'}")
