"""Judge artifacts: their files and result tables in; verdicts, their estimates and agreement out."""

import argparse
from pathlib import Path

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--artifacts", nargs="*", type=Path, required=True, help="<paper>/<artifact>.yaml files")
parser.add_argument("--tables", nargs="*", type=Path, required=True, help="result tables, in the same order")
parser.add_argument("--scale", required=True, help="full gives verdicts, any other scale says that it ran")
parser.add_argument("--data", nargs="*", type=Path, default=[], help="their prepared data sets (.npz)")
parser.add_argument("--csv", type=Path, required=True)
parser.add_argument("--estimates", type=Path, help="CSV from which the verdicts can be decided again")
parser.add_argument("--agreement", type=Path, help="agreement of whole tables with the papers, as CSV")
arguments = parser.parse_args()
if len(arguments.artifacts) != len(arguments.tables):
    parser.error("--artifacts and --tables need the same number of files")

from reproduction.atomic import replacing  # noqa: E402
from reproduction.verdicts.agreement import agreement  # noqa: E402
from reproduction.verdicts.judge import judge_files, write  # noqa: E402
from reproduction.verdicts.names import VerdictError  # noqa: E402  (a wrong command line should not wait for imports)

try:
    judged = judge_files(arguments.artifacts, arguments.tables, arguments.scale, arguments.data)
except VerdictError as error:
    parser.exit(1, f"{error}\n")
with replacing(arguments.csv) as part:
    write(judged.verdicts, part)
if arguments.estimates:
    with replacing(arguments.estimates) as part:
        write(judged.estimates, part, digits=None)
if arguments.agreement:
    with replacing(arguments.agreement) as part:
        write(agreement(judged.verdicts, arguments.scale), part)
