"""Archive a finished full run, or list the archived results that are out of date."""

import argparse
import sys
from pathlib import Path

parser = argparse.ArgumentParser(prog="./run reference", description=__doc__)
parser.add_argument("names", nargs="*", help="papers or <paper>_<result>; by default all that are finished")
parser.add_argument("--run", type=Path, help="folder with results/full of the run; by default this checkout")
parser.add_argument("--check", action="store_true", help="change nothing; list what changed since the run")
again = "judge the archived results again, after a change of tolerances, published values or words"
drawn = "draw the archived figures and tables again, after a change of what draws them"
parser.add_argument("--judge", action="store_true", help=again)
parser.add_argument("--draw", action="store_true", help=drawn)
given = parser.parse_args()

from reproduction.judge import archived_run  # noqa: E402
from reproduction.plan.plan import configured, planned  # noqa: E402  (a wrong command line should not wait for imports)
from reproduction.show.archived_figures import draw_again  # noqa: E402

CHECKOUT = Path(__file__).resolve().parents[2]

try:
    plan = planned(CHECKOUT, configured(CHECKOUT, "full"), every=True)
    names = archived_run.chosen(plan, given.names)
except ValueError as error:
    sys.exit(f"reference: {error}")
if given.check:
    report, failed = archived_run.old(plan, names, CHECKOUT)
elif given.draw:
    everything = names if given.names else [*plan.artifacts]
    report, failed = list(draw_again(plan, everything, CHECKOUT)), False
elif given.judge:
    everything = names if given.names else [*plan.artifacts]  # also what cannot run here
    report, failed = archived_run.judge_again(plan, everything, CHECKOUT), False
else:
    root = (given.run or CHECKOUT).resolve()
    report, failed = archived_run.keep_all(plan, names, root, CHECKOUT, asked=bool(given.names))
print("\n".join(report))
sys.exit(failed)
