"""Write into pages what they quote: tables of keys, and numbers of the archived run."""

import argparse
import runpy
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
COSTS = ROOT / "workflow/recorded/jobs.csv"

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--schemas", type=Path, metavar="FOLDER", help="write JSON Schemas for editors")
costs_help = "record what the jobs of a run took, for requests to a cluster; the last folder counts"
parser.add_argument("--costs", type=Path, nargs="+", metavar="logs/SCALE", help=costs_help)
parser.add_argument("--read", nargs="+", help=argparse.SUPPRESS)
options = parser.parse_args()
if options.read:
    problem = "docs/read.csv is gone; put a mark before a number that must follow the results"
    parser.exit(2, f"--read: {problem} (docs/verdicts.md)\n")

from reproduction.plan import costs  # noqa: E402
from reproduction.run.atomic_files import replacing  # noqa: E402
from reproduction.show import style  # noqa: E402
from reproduction.show.verdict_bars import draw_archived_verdicts  # noqa: E402
from reproduction.spec import key_tables  # noqa: E402

if options.schemas:
    key_tables.write_schemas(options.schemas)
elif options.costs:
    rows = costs.gathered(options.costs)
    if rows.empty:
        folders = ", ".join(map(str, options.costs))
        sys.exit(f"costs: no *.time.tsv in {folders}; logs/<scale> of a run has some")
    recorded = costs.updated(COSTS, rows)
    with replacing(COSTS) as part:
        recorded.to_csv(part, index=False, columns=costs.COLUMNS, lineterminator="\n")
    print(f"{rows['jobs'].sum()} jobs of {rows['artifact'].nunique()} artifacts")
else:
    keys = ROOT / "config/README.md"
    pages = {keys: key_tables.fill_blocks(keys.read_text(encoding="utf-8"))}
    pages[ROOT / "config/schema.json"] = key_tables.format_config_schema()
    answers = runpy.run_path(str(ROOT / "docs/_ext/answers.py"))
    for page in answers["quoting_pages"]():
        text = pages[page] if page in pages else page.read_text(encoding="utf-8")
        pages[page] = answers["filled"](text)
    for page, text in pages.items():
        page.write_text(text, encoding="utf-8", newline="\n")
    style.save(draw_archived_verdicts(ROOT), [ROOT / "docs/verdicts_by_paper.svg"])
