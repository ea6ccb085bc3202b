"""Compare a run with the archived results: which results agree, and how the environments differ."""

import argparse
import sys
from pathlib import Path

from noisylabels.command_line import name_program

parser = argparse.ArgumentParser(prog=f"{name_program()} compare", description=__doc__)
default = Path("results/full")
parser.add_argument("results", nargs="?", type=Path, default=default, help="results/<scale>")
results = parser.parse_args().results

# A wrong command line should not wait for imports.
from reproduction.judge import archived_run  # noqa: E402
from reproduction.plan.plan import configured, is_results_folder, planned  # noqa: E402
from reproduction.spec.artifact import SCALES  # noqa: E402

CHECKOUT = Path(__file__).resolve().parents[2]

folder = results.resolve()
if not folder.is_dir():
    parser.error(f"{results} does not exist; make it with ./run full")
if not is_results_folder(folder.name) or folder.parent.name != "results":
    scales = ", ".join(SCALES)
    parser.error(f"{results}: expected .../results/<scale>, the scales are {scales}")
try:
    plan = planned(CHECKOUT, configured(CHECKOUT, folder.name), every=True)
except ValueError as error:
    sys.exit(f"compare: {error}")
lines, differs = archived_run.report_differences(plan, folder.parents[1], CHECKOUT)
print("\n".join(lines))
sys.exit(differs)
