"""Compare an experiment over root seeds: its result tables in, the spread of means and verdicts out."""

import argparse
from pathlib import Path

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--artifact", type=Path, required=True, help="<paper>/<artifact>.yaml")
parser.add_argument("--seeds", type=int, nargs="+", required=True, help="that of the drawn run first")
parser.add_argument("--tables", type=Path, nargs="+", required=True, help="result tables, in the same order")
parser.add_argument("--scale", required=True)
parser.add_argument("--spread", type=Path, required=True, help="CSV")
parser.add_argument("--verdicts", type=Path, required=True, help="CSV")
parser.add_argument("--html", type=Path, required=True, help="both, for the page of the artifact")
arguments = parser.parse_args()

from reproduction.atomic import replacing  # noqa: E402  (a wrong command line should not wait for imports)
from reproduction.results import read_table  # noqa: E402
from reproduction.verdicts import agreement  # noqa: E402
from reproduction.verdicts.judge import judge_files, write  # noqa: E402

tables = dict(zip(arguments.seeds, arguments.tables, strict=True))
found = agreement.over_seeds({seed: read_table(table) for seed, table in tables.items()})
judged = {seed: judge_files([arguments.artifact], [table], arguments.scale) for seed, table in tables.items()}
agreed = agreement.shared({seed: each.verdicts for seed, each in judged.items()})
with replacing(arguments.spread) as part:
    write(found, part)
with replacing(arguments.verdicts) as part:
    write(agreed, part)
with replacing(arguments.html) as part:
    tables_shown = filter(len, (agreed, agreement.shown(found)))
    shown = [table.to_html(index=False, border=0) for table in tables_shown]
    part.write_text("\n".join(shown) + "\n", encoding="utf-8", newline="\n")
