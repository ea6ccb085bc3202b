"""The command `audit`: how noisy the labels of a table are, which look wrong, which method to trust."""

import argparse
import csv
import shlex
import sys
from collections.abc import Sequence
from pathlib import Path

SUMMARY = "Audit the labels of a table: how noisy they are, which look wrong, which method to trust."


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of an audit to a parser."""
    add = parser.add_argument
    formats = "a table: .csv or .tsv with a header line, .npz with X and y, or .parquet (which needs pyarrow)"
    add("file", type=Path, help=formats)
    add("--label", default="y", help="the column with the labels in doubt (default: y)")
    learn = "what to learn from, separated by commas (default: all others); quoted as in a CSV"
    add("--columns", default="", help=learn)
    add("--trusted", help="a column with verified labels, empty where there is none")
    grouped = "a column of patients, videos or sites: rows of one count as one, and it is not learned from"
    add("--groups", metavar="COLUMN", help=grouped)
    add("--out", type=Path, help="folder for the results (default: <name of the file>_audit)")
    add("--rows", type=int, help="rows a model is trained on at most (default: all; 2000 for rmklr)")
    models = "rmklr, robust_logistic, logistic, forest, gradient_boosting, best or package:Class"
    add("--model", help=f"{models} (default: rmklr, above 5000 rows gradient_boosting)")
    add("--probabilities", type=Path, help="a CSV: a column for each class, in place of a model")
    draw = "rows to draw into review.csv; the same call again reads your answers in its column `true`"
    add("--review", type=int, metavar="ROWS", help=draw)
    by = "draw rows by rate (the default), by doubt (for --precision, its default there) or by chance"
    add("--by", choices=("rate", "doubt", "chance"), help=by)
    longest = "ask for the longest list of which at least this share is wrong, with 95 %% confidence"
    add("--precision", type=float, help=longest)
    add("--seed", type=int, default=0, help="of every random number (default: 0)")


def run(given: argparse.Namespace, command: Sequence[str], words: Sequence[str]) -> None:
    """Audit a table as the options say; print what was found and write its page.

    command, words : what was typed, which the page repeats.

    Raises SystemExit: one line that says what cannot be done.
    """
    # a wrong command line should not wait for imports
    from noisylabels.auditing import page, tables
    from noisylabels.auditing.audit import LARGEST_SEED, of_probabilities, of_table
    from noisylabels.auditing.copies import groups_of
    from noisylabels.auditing.review import NO_LIST, recorded, review
    from noisylabels.auditing.summary import summarise
    from noisylabels.output_folder import claim_output_folder
    from noisylabels.safe_text import make_visible

    for stream in (sys.stdout, sys.stderr):
        stream.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]  # a terminal may not be UTF-8
    try:
        file = given.file.expanduser()
        out = given.out or Path(f"{file.stem}_audit")
        columns = [name.strip() for name in next(csv.reader([given.columns])) if name.strip()]
        if given.rows is not None and given.rows < tables.FEWEST_ROWS:
            raise ValueError(f"--rows must be at least {tables.FEWEST_ROWS}, got {given.rows}")
        if not 0 <= given.seed <= LARGEST_SEED:
            raise ValueError(f"--seed must lie in 0..{LARGEST_SEED}, got {given.seed}")
        if given.precision is not None and not 0 < given.precision < 1:
            raise ValueError(f"--precision must lie between 0 and 1, got {given.precision}")
        ours = given.probabilities is None
        check = tables.check_labels if ours else tables.check_classes
        options = {"columns": columns, "trusted": given.trusted, "groups": given.groups, "check": check}
        table = tables.read(file, given.label, learn=ours, **options)
        groups = None
        if given.groups is not None:
            groups = groups_of(list(table.contents[given.groups]), len(table.contents[given.label]))[
                table.rows
            ]
        if given.review is not None and not 1 <= given.review <= len(table.labels):
            raise ValueError(
                f"--review must be between 1 and {len(table.labels)}, the number of labels, "
                f"got {given.review}"
            )
        probabilities = None if ours else tables.probabilities(given.probabilities.expanduser(), table)
        if given.review is not None:  # what is wrong with the answers is said before the minutes of the audit
            recorded(out / "review.csv", table, given.by, given.seed)
        inputs = [file] if ours else [file, given.probabilities.expanduser()]
        claim_output_folder(out, "audit", inputs)
        if probabilities is None:
            options = {"most_rows": given.rows, "random_state": given.seed, "say": say}
            found = of_table(table, given.model, groups=groups, **options)
        else:
            found = of_probabilities(table, probabilities, groups=groups)
        shown = make_visible(str(out))
        reviewed = None
        if given.review is not None:
            options = {"by": given.by, "random_state": given.seed, "precision": given.precision}
            reviewed = review(found, out / "review.csv", given.review, **options)
        print(summarise(found, reviewed, given.precision, f"{shown}/"), flush=True)
        command = shlex.join([*command, *words])
        title, made = map(make_visible, (f"{file.name}: the labels in {given.label!r}", command))
        remark = "" if given.precision is None else NO_LIST
        written = page.write_audit(found, out, title, made, reviewed, remark)
    except (ValueError, OSError, RuntimeError) as error:
        sys.exit(f"audit: {error}")
    except MemoryError as error:
        why = f" ({error})" if str(error) else ""
        remedy = "name fewer columns, or give fewer rows"
        sys.exit(f"audit: the memory is not enough for this table{why}; {remedy}")
    except KeyboardInterrupt:
        sys.exit("audit: stopped; nothing of it is kept")
    if found.notes:
        print(f"Notes:  {len(found.notes)} on the table, at the end of {shown}/{page.REPORT}.")
    print(f"Files:  {', '.join(written)} in {shown}.")
    print(f"Look:   {shown}/index.html")


def say(sentence: str) -> None:
    """Tell what takes time."""
    print(f"audit: {sentence} ...", file=sys.stderr, flush=True)
