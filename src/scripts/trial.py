"""The papers' classifiers on your own table: errors with its labels, and with more flipped."""

import argparse
import csv
import json
import os
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from noisylabels.command_line import name_program

program = f"{name_program()} try"
parser = argparse.ArgumentParser(prog=program, description=__doc__, allow_abbrev=False)
formats = "a table: .csv or .tsv with a header line, .npz with X and y, or .parquet (needs pyarrow)"
parser.add_argument("file", type=Path, help=formats)
parser.add_argument("--label", default="y", help="the column with the classes (default: y)")
columns = "columns to learn from, separated by commas (default: all others)"
parser.add_argument("--columns", default="", help=columns)
positive_help = "with more than two classes: the class to compare with all others"
parser.add_argument("--positive", help=positive_help)
splits_help = "random splits into training and test rows"
parser.add_argument("--splits", type=int, default=20, help=splits_help)
parser.add_argument("--rows", type=int, default=1000, help="rows drawn at most (default: 1000)")
out_help = "folder for the results (default: <name of the file>_try)"
parser.add_argument("--out", type=Path, help=out_help)
options = parser.parse_args()

import numpy as np  # noqa: E402  (a wrong command line should not wait for imports)

from noisylabels.auditing import tables  # noqa: E402
from noisylabels.output_folder import claim_output_folder  # noqa: E402
from noisylabels.safe_text import make_visible  # noqa: E402
from reproduction.paths import CHECKOUT  # noqa: E402
from reproduction.run.command_line import TYPED_IN  # noqa: E402

if TYPE_CHECKING:
    from numpy.typing import NDArray

TEMPLATE = CHECKOUT / "src/papers/_templates/own_table"
WORKFLOW_OPTIONS = [
    "--snakefile",
    f"{CHECKOUT}/Snakefile",
    "--profile",
    f"{CHECKOUT}/workflow/profiles/default",
    "--logger",
    "console",
    "--cores",
    "all",
    "--configfile",
    "config.yaml",
]


def main() -> None:
    """Write a project of one paper with one table next to the results, and start its run."""
    file: Path = options.file.expanduser()
    listed = next(csv.reader([options.columns]))
    columns = [name.strip() for name in listed if name.strip()]
    if options.splits < 2 or options.rows < tables.FEWEST_ROWS:
        raise ValueError(f"--splits must be at least 2, --rows at least {tables.FEWEST_ROWS}")
    table = tables.read(file, options.label, columns=columns, words=False)
    positive = choose_positive(file.name, table.labels)
    y = np.where(table.labels.astype(str) == positive, 1, -1)
    order = np.random.default_rng(0).permutation(len(y))
    drawn = np.sort(order[: options.rows])
    column = f"{file.name}: column {options.label!r}, {positive!r} against the others"
    tables.check_classes(y[drawn], column)
    name = re.sub(r"[^a-z0-9]+", "_", f"my_{file.stem.lower()}").strip("_")
    out = (options.out or Path(f"{file.stem}_try")).expanduser().absolute()
    claim_output_folder(out, "trial", [file])
    paper = out / "papers" / name
    paper.mkdir(parents=True, exist_ok=True)
    np.savez(out / "table.npz", X=table.X[drawn], y=y[drawn])
    rows = f"{len(y)} rows"
    if len(drawn) < len(y):
        rows = f"{len(drawn)} of {len(y)} rows, drawn at random"
    words = {
        "SET": name,
        "SPLITS": str(options.splits),
        "TABLE": str(out / "table.npz"),
        "PAPER": str(paper),
        "ABOUT": "; ".join([rows, *table.notes]),
        "SHOWN": make_visible(f"{file.name}: {options.label} = {positive}"),
    }
    for target in (paper / "TITLE", paper / "names.yaml", paper / "errors.yaml"):
        fill_template(target, words)
    fill_template(out / "config.yaml", words)
    print(f"try: {rows}, {options.splits} splits: minutes ...", file=sys.stderr, flush=True)
    run(name, out)
    print(Path("figures/full", name, "errors.md").read_text(encoding="utf-8"))
    reference = "Errors are measured against the labels as given"
    print(f"{reference}, so labels that are wrong count as errors too.")
    print("The page also judges three sentences about modelling flips on this table.")
    print(f"Look:   {out}/site/full/index.html")


def choose_positive(name: str, labels: "NDArray[Any]") -> str:
    """Choose the class to compare with all others: of two the last, of more the one that is named.

    Raises ValueError: it is not a class, or none of several is named.
    """
    classes = [str(label) for label in np.unique(labels)]
    positive = options.positive or classes[-1]
    is_ambiguous = len(classes) > 2 and not options.positive
    if positive not in classes or is_ambiguous:
        choices = ", ".join(map(make_visible, classes))
        remedy = f"name the class to compare with all others: --positive, one of {choices}"
        raise ValueError(f"{name}: {remedy}")
    return str(positive)


def fill_template(target: Path, words: dict[str, str]) -> None:
    """Write a file of the template with words for its placeholders; in YAML they are quoted."""
    text = (TEMPLATE / target.name).read_text(encoding="utf-8")
    replacements = dict(words)
    if target.suffix:
        for placeholder, word in words.items():
            replacements[placeholder] = json.dumps(word)[1:-1]
    parts = re.split(f"({'|'.join(words)})", text)
    filled = [replacements.get(part, part) for part in parts]
    target.write_text("".join(filled), encoding="utf-8")


def run(target: str, out: Path) -> None:
    """Run a target of the project in its folder; end with its status if it fails."""
    os.environ[TYPED_IN] = os.getcwd()
    os.chdir(out)
    start = [sys.executable, "-P", str(CHECKOUT / "src/scripts/start.py"), "--as-typed"]
    command = [*start, *WORKFLOW_OPTIONS, "--", target]
    status = os.spawnv(os.P_WAIT, sys.executable, command)
    if status:
        sys.exit(status)


try:
    main()
except (ValueError, OSError) as error:
    hint = " (--label names the column with the classes)" if "no column 'y'" in str(error) else ""
    sys.exit(f"try: {error}{hint}")
except KeyboardInterrupt:
    sys.exit("try: stopped; finished jobs are kept, run the same command to continue")
