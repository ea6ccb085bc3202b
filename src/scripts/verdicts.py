"""Judge artifacts: their files and result tables in; verdicts and agreement out."""

import argparse
from pathlib import Path

parser = argparse.ArgumentParser(description=__doc__)
artifacts_help = "<paper>/<artifact>.yaml files"
parser.add_argument("--artifacts", nargs="*", type=Path, required=True, help=artifacts_help)
tables_help = "result tables, in the same order"
parser.add_argument("--tables", nargs="*", type=Path, required=True, help=tables_help)
scale_help = "full gives verdicts, any other scale says that it ran"
parser.add_argument("--scale", required=True, help=scale_help)
data_help = "their prepared data sets (.npz)"
parser.add_argument("--data", nargs="*", type=Path, default=[], help=data_help)
parser.add_argument("--csv", type=Path, required=True)
agreement_help = "agreement of whole tables with the papers, as CSV"
parser.add_argument("--agreement", type=Path, help=agreement_help)
key_help = "what the plan requests; with it a record is written"
parser.add_argument("--key", type=Path, help=key_help)
parser.add_argument("--record", type=Path, help="for what the verdicts were made from")
options = parser.parse_args()
if len(options.tables) != len(options.artifacts):
    parser.error("--artifacts and --tables need the same number of files")

# A wrong command line should not wait for imports.
from reproduction.judge import agreement  # noqa: E402
from reproduction.judge.claims import VerdictError  # noqa: E402
from reproduction.judge.verdicts import judge_files, write  # noqa: E402
from reproduction.run import records  # noqa: E402
from reproduction.run.atomic_files import replacing  # noqa: E402

try:
    with records.making(options.key, options.record) as result:
        verdicts = judge_files(options.artifacts, options.tables, options.scale, options.data)
        with replacing(options.csv) as part:
            write(verdicts, part)
        result.outputs = [options.csv]
        if options.agreement:
            with replacing(options.agreement) as part:
                write(agreement.agreement(verdicts, options.scale), part)
            result.outputs.append(options.agreement)
except VerdictError as error:
    parser.exit(1, f"{error}\n")
