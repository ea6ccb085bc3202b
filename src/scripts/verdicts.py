"""Judge artifacts: their files and result tables in; verdicts and agreement out.

With --seeds the tables are of one artifact and of these root seeds; out comes what differs between them.
"""

import argparse
from pathlib import Path

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--artifacts", nargs="*", type=Path, required=True, help="<paper>/<artifact>.yaml files")
parser.add_argument("--tables", nargs="*", type=Path, required=True, help="result tables, in the same order")
parser.add_argument("--scale", required=True, help="full gives verdicts, any other scale says that it ran")
parser.add_argument("--data", nargs="*", type=Path, default=[], help="their prepared data sets (.npz)")
parser.add_argument("--seeds", nargs="*", type=int, default=[], help="of the tables; the drawn run first")
parser.add_argument("--csv", type=Path, required=True)
parser.add_argument("--agreement", type=Path, help="agreement of whole tables with the papers, as CSV")
parser.add_argument("--spread", type=Path, help="means over the seeds, as CSV")
parser.add_argument("--html", type=Path, help="these and the verdicts, for the page of the artifact")
given = parser.parse_args()
if len(given.tables) != len(given.seeds or given.artifacts):
    parser.error("--artifacts and --tables need the same number of files")

from reproduction.judge import agreement  # noqa: E402
from reproduction.judge.claims import VerdictError  # noqa: E402
from reproduction.judge.verdicts import judge_files, write  # noqa: E402
from reproduction.run.atomic_files import replacing  # noqa: E402
from reproduction.run.results import read_table  # noqa: E402  (a wrong command line should not wait)

tables = dict(zip(given.seeds, given.tables, strict=False))
try:
    if given.seeds:
        judged = {seed: judge_files(given.artifacts, [table], given.scale) for seed, table in tables.items()}
        verdicts = agreement.shared(judged)
        spread = agreement.over_seeds({seed: read_table(table) for seed, table in tables.items()})
    else:
        verdicts = judge_files(given.artifacts, given.tables, given.scale, given.data)
except VerdictError as error:
    parser.exit(1, f"{error}\n")
with replacing(given.csv) as part:
    write(verdicts, part)
if given.agreement:
    with replacing(given.agreement) as part:
        write(agreement.agreement(verdicts, given.scale), part)
if given.seeds:
    with replacing(given.spread) as part:
        write(spread, part)
    pages = [t.to_html(index=False, border=0) for t in (verdicts, agreement.shown(spread)) if len(t)]
    with replacing(given.html) as part:
        part.write_text("\n".join(pages) + "\n", encoding="utf-8", newline="\n")
