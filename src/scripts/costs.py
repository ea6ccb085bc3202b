"""Record what the jobs of a run took, in the table that a cluster is asked by; other rows stay."""

import argparse
import csv
import sys
from pathlib import Path

from reproduction.atomic import replacing
from reproduction.costs import COLUMNS, gathered, updated

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument(
    "logs", nargs="+", type=Path, help="such as logs/full; of a job in several the last counts"
)
parser.add_argument("--out", type=Path, default=Path("workflow/recorded/jobs.csv"))
arguments = parser.parse_args()

rows = gathered(arguments.logs)
if not rows:
    sys.exit(f"costs: no *.time.tsv in {', '.join(map(str, arguments.logs))}; logs/<scale> of a run has some")
table = updated(arguments.out, rows)
with replacing(arguments.out) as part, part.open("w", encoding="utf-8", newline="") as lines:
    writer = csv.DictWriter(lines, COLUMNS, lineterminator="\n")
    writer.writeheader()
    writer.writerows(table)
print(f"{sum(int(row['jobs']) for row in rows)} jobs of {len({row['artifact'] for row in rows})} artifacts")
