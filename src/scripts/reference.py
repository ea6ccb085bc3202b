"""Keep a finished full run as the reference of the repository, or say what of it has grown old."""

import argparse
import sys
from pathlib import Path

parser = argparse.ArgumentParser(prog="./run reference", description=__doc__)
parser.add_argument("names", nargs="*", help="papers or <paper>_<artifact>; by default all that is finished")
parser.add_argument("--run", type=Path, help="folder with results/full of the run; by default this checkout")
parser.add_argument("--check", action="store_true", help="make nothing; list what changed since it was made")
again = "judge what is kept again: margins, bounds, published values, wording"
parser.add_argument("--judge", action="store_true", help=again)
given = parser.parse_args()

from reproduction.judge import archived_run  # noqa: E402
from reproduction.plan.plan import configured, planned  # noqa: E402  (a wrong command line should not wait for imports)

CHECKOUT = Path(__file__).resolve().parents[2]

try:
    plan = planned(CHECKOUT, configured(CHECKOUT, "full"), every=True)
    names = archived_run.chosen(plan, given.names)
except ValueError as error:
    sys.exit(f"reference: {error}")
if given.check:
    report, failed = archived_run.old(plan, names, CHECKOUT)
elif given.judge:
    everything = names if given.names else [*plan.artifacts]  # also what cannot run here
    report, failed = archived_run.judge_again(plan, everything, CHECKOUT), False
else:
    root = (given.run or CHECKOUT).resolve()
    report, failed = archived_run.keep_all(plan, names, root, CHECKOUT, asked=bool(given.names))
print("\n".join(report))
sys.exit(failed)
