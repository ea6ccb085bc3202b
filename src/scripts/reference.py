"""Keep a finished full run as the reference of the repository, or say what of it has grown old."""

import argparse
import sys
from pathlib import Path

parser = argparse.ArgumentParser(prog="./run reference", description=__doc__)
parser.add_argument("names", nargs="*", help="papers or <paper>_<artifact>; by default all that is finished")
parser.add_argument("--run", type=Path, help="folder with results/full of the run; by default this checkout")
parser.add_argument("--check", action="store_true", help="make nothing; list what changed since it was made")
parser.add_argument(
    "--judge",
    action="store_true",
    help="judge what is kept again: margins, bounds, published values, wording",
)
arguments = parser.parse_args()

from reproduction.plan import configured, planned  # noqa: E402
from reproduction.reference import keeping  # noqa: E402  (a wrong command line should not wait for imports)

CHECKOUT = Path(__file__).resolve().parents[2]

try:
    plan = planned(CHECKOUT, configured(CHECKOUT, "full"))
    names = keeping.chosen(plan, arguments.names)
except ValueError as error:
    sys.exit(f"reference: {error}")
if arguments.check:
    report, failed = keeping.old(plan, names, CHECKOUT)
elif arguments.judge:
    report, failed = keeping.judged(plan, names, CHECKOUT), False
else:
    root = (arguments.run or CHECKOUT).resolve()
    report, failed = keeping.kept(plan, names, root, CHECKOUT, asked=bool(arguments.names))
print("\n".join(report))
sys.exit(failed)
