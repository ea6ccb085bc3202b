"""The papers' classifiers on your own table: errors with the labels as given and with more flipped."""

import argparse
import csv
import json
import os
import re
import sys
from pathlib import Path

from noisylabels.command_line import name_program

parser = argparse.ArgumentParser(prog=f"{name_program()} try", description=__doc__, allow_abbrev=False)
formats = "a table: .csv or .tsv with a header line, .npz with X and y, or .parquet (needs pyarrow)"
parser.add_argument("file", type=Path, help=formats)
parser.add_argument("--label", default="y", help="the column with the classes (default: y)")
columns = "columns to learn from, separated by commas (default: all others)"
parser.add_argument("--columns", default="", help=columns)
parser.add_argument("--positive", help="with more than two classes: the class to compare with all others")
parser.add_argument("--splits", type=int, default=20, help="random splits into training and test rows")
parser.add_argument("--rows", type=int, default=1000, help="rows drawn at most (default: 1000)")
parser.add_argument("--out", type=Path, help="folder for the results (default: <name of the file>_try)")
given = parser.parse_args()

import numpy as np  # noqa: E402  (a wrong command line should not wait for imports)

from noisylabels.auditing import tables  # noqa: E402
from noisylabels.output_folder import claim_output_folder  # noqa: E402
from noisylabels.safe_text import make_visible  # noqa: E402
from reproduction.paths import CHECKOUT  # noqa: E402
from reproduction.run.command_line import TYPED_IN  # noqa: E402

OWN = CHECKOUT / "src/papers/_templates/own_table"


def main() -> None:
    """Write a project of one paper with one table next to the results, and start its run."""
    file: Path = given.file.expanduser()
    columns = [name.strip() for name in next(csv.reader([given.columns])) if name.strip()]
    if given.splits < 2 or given.rows < tables.FEWEST_ROWS:
        raise ValueError(f"--splits must be at least 2, --rows at least {tables.FEWEST_ROWS}")
    table = tables.read(file, given.label, columns=columns, words=False)
    classes = [str(each) for each in np.unique(table.labels)]
    positive = given.positive or classes[-1]
    if positive not in classes or (len(classes) > 2 and not given.positive):
        known = ", ".join(map(make_visible, classes))
        remedy = f"name the class to compare with all others: --positive, one of {known}"
        raise ValueError(f"{file.name}: {remedy}")
    y = np.where(table.labels.astype(str) == positive, 1, -1)
    kept = np.sort(np.random.default_rng(0).permutation(len(y))[: given.rows])
    tables.check_classes(y[kept], f"{file.name}: column {given.label!r}, {positive!r} against the others")
    name = re.sub(r"[^a-z0-9]+", "_", f"my_{file.stem.lower()}").strip("_")
    out = (given.out or Path(f"{file.stem}_try")).expanduser().absolute()
    claim_output_folder(out, "trial", [file])
    paper = out / "papers" / name
    paper.mkdir(parents=True, exist_ok=True)
    np.savez(out / "table.npz", X=table.X[kept], y=y[kept])
    drawn = f"{len(kept)} of {len(y)} rows, drawn at random" if len(kept) < len(y) else f"{len(y)} rows"
    words = {"SET": name, "SPLITS": str(given.splits), "TABLE": str(out / "table.npz")}
    words |= {"PAPER": str(paper), "ABOUT": "; ".join([drawn, *table.notes])}
    words["SHOWN"] = make_visible(f"{file.name}: {given.label} = {positive}")
    for target in (paper / "TITLE", paper / "names.yaml", paper / "errors.yaml", out / "config.yaml"):
        text = (OWN / target.name).read_text(encoding="utf-8")
        inside = {word: json.dumps(words[word])[1:-1] for word in words} if target.suffix else words
        parts = re.split(f"({'|'.join(words)})", text)
        target.write_text("".join(inside.get(part, part) for part in parts), encoding="utf-8")
    os.environ[TYPED_IN] = os.getcwd()
    os.chdir(out)
    workflow = ["--snakefile", f"{CHECKOUT}/Snakefile", "--profile", f"{CHECKOUT}/workflow/profiles/default"]
    command = [*workflow, "--logger", "console", "--cores", "all", "--configfile", "config.yaml", "--", name]
    print(f"try: {drawn}, {given.splits} splits: minutes ...", file=sys.stderr, flush=True)
    start = [sys.executable, "-P", str(CHECKOUT / "src/scripts/start.py"), "--as-typed", *command]
    status = os.spawnv(os.P_WAIT, sys.executable, start)
    if status:
        sys.exit(status)
    print(Path("figures/full", name, "errors.md").read_text(encoding="utf-8"))
    print("Errors are measured against the labels as given, so labels that are wrong count as errors too.")
    print("The page also judges three sentences about modelling flips on this table.")
    print(f"Look:   {out}/site/full/index.html")


try:
    main()
except (ValueError, OSError) as error:
    hint = " (--label names the column with the classes)" if "no column 'y'" in str(error) else ""
    sys.exit(f"try: {error}{hint}")
except KeyboardInterrupt:
    sys.exit("try: stopped; finished jobs are kept, run the same command to continue")
