"""Judge artifacts: their files and result tables in; verdicts and agreement out."""

import argparse
from pathlib import Path

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--artifacts", nargs="*", type=Path, required=True, help="<paper>/<artifact>.yaml files")
parser.add_argument("--tables", nargs="*", type=Path, required=True, help="result tables, in the same order")
parser.add_argument("--scale", required=True, help="full gives verdicts, any other scale says that it ran")
parser.add_argument("--data", nargs="*", type=Path, default=[], help="their prepared data sets (.npz)")
parser.add_argument("--csv", type=Path, required=True)
parser.add_argument("--agreement", type=Path, help="agreement of whole tables with the papers, as CSV")
parser.add_argument("--key", type=Path, help="what the plan asks for; with it a record is written")
parser.add_argument("--record", type=Path, help="for what the verdicts were made from")
given = parser.parse_args()
if len(given.tables) != len(given.artifacts):
    parser.error("--artifacts and --tables need the same number of files")

from reproduction.judge import agreement  # noqa: E402
from reproduction.judge.claims import VerdictError  # noqa: E402
from reproduction.judge.verdicts import judge_files, write  # noqa: E402
from reproduction.run import records  # noqa: E402
from reproduction.run.atomic_files import replacing  # noqa: E402  (a wrong command line should not wait)

try:
    with records.making(given.key, given.record) as made:
        verdicts = judge_files(given.artifacts, given.tables, given.scale, given.data)
        with replacing(given.csv) as part:
            write(verdicts, part)
        made.outputs = [given.csv]
        if given.agreement:
            with replacing(given.agreement) as part:
                write(agreement.agreement(verdicts, given.scale), part)
            made.outputs.append(given.agreement)
except VerdictError as error:
    parser.exit(1, f"{error}\n")
