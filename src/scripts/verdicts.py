"""Judge artifacts: their files and result tables in; verdicts and agreement out."""

import argparse
from pathlib import Path

parser = argparse.ArgumentParser(description=__doc__)
tables_help = "result tables, in the order of the artifacts that the key names"
parser.add_argument("--tables", nargs="*", type=Path, required=True, help=tables_help)
scale_help = "full gives verdicts, any other scale says that it ran"
parser.add_argument("--scale", required=True, help=scale_help)
data_help = "their prepared data sets (.npz)"
parser.add_argument("--data", nargs="*", type=Path, default=[], help=data_help)
parser.add_argument("--csv", type=Path, required=True)
agreement_help = "agreement of whole tables with the papers, as CSV"
parser.add_argument("--agreement", type=Path, help=agreement_help)
parser.add_argument("--key", type=Path, required=True, help="what the plan requests, as JSON")
record_help = "for what the verdicts were made from"
parser.add_argument("--record", type=Path, required=True, help=record_help)
options = parser.parse_args()

# A wrong command line should not wait for imports.
from reproduction.judge import agreement  # noqa: E402
from reproduction.judge.claims import VerdictError  # noqa: E402
from reproduction.judge.verdicts import judge_files, write  # noqa: E402
from reproduction.run import records  # noqa: E402
from reproduction.run.atomic_files import replacing  # noqa: E402

try:
    with records.making(options.key, options.record) as result:
        artifacts = [Path(file) for file in result.context["artifacts"]]
        verdicts = judge_files(artifacts, options.tables, options.scale, options.data)
        with replacing(options.csv) as part:
            write(verdicts, part)
        result.outputs = [options.csv]
        if options.agreement:
            with replacing(options.agreement) as part:
                write(agreement.agreement(verdicts, options.scale), part)
            result.outputs.append(options.agreement)
except VerdictError as error:
    parser.exit(1, f"{error}\n")
