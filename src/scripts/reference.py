"""Archive a finished full run, or list the archived results that are out of date."""

import argparse
import os
import sys
from collections.abc import Callable, Sequence
from multiprocessing import get_context
from pathlib import Path

from noisylabels.command_line import name_program

parser = argparse.ArgumentParser(prog=f"{name_program()} reference", description=__doc__)
names_help = "papers or <paper>_<result>; by default all that are finished"
parser.add_argument("names", nargs="*", help=names_help)
run_help = "folder with results/full of the run; by default this checkout"
parser.add_argument("--run", type=Path, help=run_help)
check_help = "change nothing; list what changed since the run"
parser.add_argument("--check", action="store_true", help=check_help)
judge_help = "judge the archived results again, after a change of tolerances, values or words"
parser.add_argument("--judge", action="store_true", help=judge_help)
draw_help = "draw the archived figures and tables again, after a change of what draws them"
parser.add_argument("--draw", action="store_true", help=draw_help)
options = parser.parse_args()

# A wrong command line should not wait for imports.
from reproduction.judge import archived_run  # noqa: E402
from reproduction.plan.plan import configured, planned  # noqa: E402
from reproduction.show.archived_figures import draw_again  # noqa: E402

CHECKOUT = Path(__file__).resolve().parents[2]
Report = tuple[list[str], bool]
"""Lines, and whether something failed."""


def check_result(name: str) -> Report:
    """List what changed since the run of one result."""
    return archived_run.find_outdated(plan, [name], CHECKOUT)


def judge_result(name: str) -> Report:
    """Judge one result again."""
    return archived_run.judge_again(plan, [name], CHECKOUT), False


def report_on_all_cores(work: Callable[[str], Report], names: Sequence[str]) -> Report:
    """Join the reports on all results.

    A line that names no result says that nothing changed. It stays only if every result says so.
    """
    cores = len(os.sched_getaffinity(0))
    with get_context("fork").Pool(cores) as pool:  # the copies of this process have the plan
        reports = pool.map(work, names, chunksize=1)
    lines = []
    remarks = []
    has_failed = False
    for name, (lines_of_one, failed_one) in zip(names, reports, strict=True):
        has_failed |= failed_one
        for line in lines_of_one:
            if line.startswith(f"{name}: "):
                lines.append(line)
            else:
                remarks.append(line)
    return lines or [*dict.fromkeys(remarks)], has_failed


try:
    plan = planned(CHECKOUT, configured(CHECKOUT, "full"), every=True)
    names = archived_run.select_results(plan, options.names)
except ValueError as error:
    sys.exit(f"reference: {error}")
if (options.judge or options.draw) and not options.names:
    names = [*plan.artifacts]  # also what cannot run here
failed = False
if options.check:
    report, failed = report_on_all_cores(check_result, names)
elif options.draw:
    report = list(draw_again(plan, names, CHECKOUT))
elif options.judge:
    report, failed = report_on_all_cores(judge_result, names)
else:
    root = (options.run or CHECKOUT).resolve()
    is_choice = bool(options.names)
    report, failed = archived_run.archive_results(plan, names, root, CHECKOUT, requested=is_choice)
print("\n".join(report))
sys.exit(failed)
