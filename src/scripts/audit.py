"""Audit the labels of a table: how noisy they are, which look wrong, which method to trust."""

import argparse
import shlex
import sys
from pathlib import Path

parser = argparse.ArgumentParser(prog="./run audit", description=__doc__)
parser.add_argument(
    "file",
    type=Path,
    help="a table: .csv or .tsv with a header line, .npz with X and y, or .parquet (which needs pyarrow)",
)
parser.add_argument("--label", default="y", help="the column with the labels in doubt (default: y)")
parser.add_argument(
    "--columns", default="", help="what to learn from, separated by commas (default: all others)"
)
parser.add_argument("--trusted", help="a column with verified labels, empty where there is none")
parser.add_argument("--out", type=Path, help="folder for the results (default: <name of the file>_audit)")
parser.add_argument(
    "--rows", type=int, default=2000, help="rows a model is trained on at most (default: 2000)"
)
parser.add_argument("--seed", type=int, default=0, help="of every random number (default: 0)")
arguments = parser.parse_args()

from noisylabels.auditing import tables  # noqa: E402  (a wrong command line should not wait for imports)
from noisylabels.auditing.audit import LARGEST_SEED, of_table  # noqa: E402
from reproduction.site import audit_page  # noqa: E402


def say(sentence: str) -> None:
    print(f"audit: {sentence} ...", file=sys.stderr, flush=True)


file = arguments.file.expanduser()
out = arguments.out or Path(f"{file.stem}_audit")
columns = [name.strip() for name in arguments.columns.split(",") if name.strip()]
try:
    if arguments.rows < tables.FEWEST_ROWS:
        raise ValueError(f"--rows must be at least {tables.FEWEST_ROWS}, got {arguments.rows}")
    if not 0 <= arguments.seed <= LARGEST_SEED:
        raise ValueError(f"--seed must lie in 0..{LARGEST_SEED}, got {arguments.seed}")
    if out.exists() and not out.is_dir():
        raise ValueError(f"--out: {out} is a file; name a folder")
    table = tables.read(file, arguments.label, columns=columns, trusted=arguments.trusted)
    try:
        out.mkdir(parents=True, exist_ok=True)  # before the minutes that the audit takes
    except OSError as error:
        raise ValueError(f"--out: {out} cannot be made ({error.strerror}); name another folder") from None
    found = of_table(table, most_rows=arguments.rows, random_state=arguments.seed, say=say)
except (ValueError, OSError) as error:
    sys.exit(f"audit: {error}")
command = shlex.join(["./run", "audit", *sys.argv[1:]])
audit_page.write(found, out, f"{file.name}: the labels in {arguments.label!r}", command)
print(found.text)
print(f"\nLook:   {out / 'index.html'}")
