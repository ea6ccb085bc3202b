"""Compare a run with the reference: how equal each result is, and what differs in where it was made."""

import argparse
import sys
from pathlib import Path

parser = argparse.ArgumentParser(prog="./run compare", description=__doc__)
parser.add_argument("results", nargs="?", type=Path, default=Path("results/full"), help="results/<scale>")
given = parser.parse_args().results

from reproduction.judge import archived_run  # noqa: E402
from reproduction.plan.plan import configured, is_results_folder, planned  # noqa: E402
from reproduction.spec.artifact import SCALES  # noqa: E402  (a wrong command line should not wait for imports)

checkout, folder = Path(__file__).resolve().parents[2], given.resolve()
if not folder.is_dir():
    parser.error(f"{given} is not there; a full run makes results/full: ./run full")
if not is_results_folder(folder.name) or folder.parent.name != "results":
    parser.error(f"{given}: expected .../results/<scale>, the scales are {', '.join(SCALES)}")
try:
    plan = planned(checkout, configured(checkout, folder.name), every=True)
except ValueError as error:
    sys.exit(f"compare: {error}")
lines, differs = archived_run.report(plan, folder.parents[1], checkout)
print("\n".join(lines))
sys.exit(differs)
