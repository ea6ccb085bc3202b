"""Record what the jobs of a run took, in the table that a cluster is asked by; other artifacts' rows stay."""

import argparse
import sys
from pathlib import Path

from reproduction import costs
from reproduction.atomic import replacing

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument(
    "logs", nargs="+", type=Path, help="such as logs/full; of a job in several the last counts"
)
parser.add_argument("--out", type=Path, default=Path("workflow/recorded/jobs.csv"))
arguments = parser.parse_args()

rows = costs.gathered(arguments.logs)
if rows.empty:
    sys.exit(f"costs: no *.time.tsv in {', '.join(map(str, arguments.logs))}; logs/<scale> of a run has some")
with replacing(arguments.out) as part:
    costs.updated(arguments.out, rows).to_csv(part, index=False, columns=costs.COLUMNS, lineterminator="\n")
print(f"{rows['jobs'].sum()} jobs of {rows['artifact'].nunique()} artifacts")
