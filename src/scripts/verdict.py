"""Judge artifacts: artifact files and their result tables in, as many tables of verdicts out."""

import argparse
from pathlib import Path

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument(
    "--artifact", nargs="+", type=Path, required=True, help="YAML or JSON with published, claims"
)
parser.add_argument("--table", nargs="+", required=True, help="tidy result tables, in the same order")
parser.add_argument("--scale", required=True, help="full gives verdicts, any other scale says that it ran")
parser.add_argument("--out", nargs="+", required=True, help="tables of verdicts, in the same order")
arguments = parser.parse_args()
if not len(arguments.artifact) == len(arguments.table) == len(arguments.out):
    parser.error("--artifact, --table and --out need the same number of files")

import yaml  # noqa: E402  (a wrong command line should not wait for the imports)

from noisylabels.results import read_table  # noqa: E402
from noisylabels.selection import VerdictError  # noqa: E402
from noisylabels.verdicts import judge, write_verdicts  # noqa: E402

for artifact, table, out in zip(arguments.artifact, arguments.table, arguments.out, strict=True):
    content = yaml.safe_load(artifact.read_text(encoding="utf-8"))
    try:
        write_verdicts(judge(content, read_table(table), arguments.scale), out)
    except VerdictError as error:
        parser.exit(1, f"{artifact}: {error}\n")
