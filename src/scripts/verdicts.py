"""Judge artifacts: their files and result tables in, one table of verdicts and its page for readers out."""

import argparse
from pathlib import Path

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--artifacts", nargs="*", type=Path, required=True, help="<paper>/<artifact>.yaml files")
parser.add_argument("--tables", nargs="*", type=Path, required=True, help="result tables, in the same order")
parser.add_argument("--scale", required=True, help="full gives verdicts, any other scale says that it ran")
parser.add_argument("--data", nargs="*", type=Path, default=[], help="their prepared data sets (.npz)")
parser.add_argument("--csv", type=Path, required=True)
parser.add_argument("--agreement", type=Path, help="agreement of whole tables with print, as CSV")
parser.add_argument("--html", type=Path, help="page for browsers")
parser.add_argument("--md", type=Path, help="page for repositories")
arguments = parser.parse_args()
if len(arguments.artifacts) != len(arguments.tables):
    parser.error("--artifacts and --tables need the same number of files")

from reproduction.atomic import replacing  # noqa: E402
from reproduction.verdicts.agreement import agreement  # noqa: E402
from reproduction.verdicts.judge import judge_files, write_verdicts  # noqa: E402
from reproduction.verdicts.names import VerdictError  # noqa: E402  (a wrong command line should not wait for imports)
from reproduction.verdicts.page import markdown, page  # noqa: E402

try:
    verdicts = judge_files(arguments.artifacts, arguments.tables, arguments.scale)
    agreed = agreement(arguments.artifacts, verdicts, arguments.data, arguments.scale)
except VerdictError as error:
    parser.exit(1, f"{error}\n")
with replacing(arguments.csv) as part:
    write_verdicts(verdicts, part)
if arguments.agreement:
    with replacing(arguments.agreement) as part:
        write_verdicts(agreed, part)
if arguments.html:
    with replacing(arguments.html) as part:
        part.write_text(page(verdicts, agreed), encoding="utf-8", newline="\n")
if arguments.md:
    with replacing(arguments.md) as part:
        part.write_text(markdown(verdicts, agreed), encoding="utf-8", newline="\n")
