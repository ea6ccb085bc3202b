"""Check a paper in seconds: its files first, then one repetition of each experiment."""

import argparse
import json
import sys
import time
from pathlib import Path

from noisylabels.command_line import name_program
from reproduction.judge import paper_check

parser = argparse.ArgumentParser(prog=f"{name_program()} check", description=__doc__)
parser.add_argument("paper", help="the folder of a paper, or one of its artifacts (.yaml)")
parser.add_argument("--read", action="store_true", help="only read the files")
# Of a run, which asks for its artifacts before their jobs start.
parser.add_argument("--before-run", nargs="+", type=Path, default=[], help=argparse.SUPPRESS)


def main() -> None:
    """Print a line for every fault, and what was run."""
    options = parser.parse_args()
    if options.before_run:
        answer = paper_check.try_before_run(options.before_run, options.paper)
        print(json.dumps(answer))
        return
    start = time.perf_counter()
    try:
        folder, stem = paper_check.find_folder(options.paper)
    except ValueError as error:
        sys.exit(f"check: {error}")
    report = paper_check.read_paper(folder, stem)
    seconds = time.perf_counter() - start
    count = len(report.artifacts)
    if not report.faults:
        print(f"{folder}: {count} figures and tables read in {seconds:.1f} s", flush=True)
        if not options.read:
            paper_check.run_paper(folder, report)
    for remark in report.remarks:
        print(remark)
    for fault in report.faults:
        print(fault, file=sys.stderr)
    if report.faults:
        plural = "fault" if len(report.faults) == 1 else "faults"
        sys.exit(f"check: {len(report.faults)} {plural}; correct the lines above, and check again")


main()
