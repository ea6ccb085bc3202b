"""The command `audit`: how noisy labels are, which look wrong, which method to trust.

`noisylabels.command_line` hands the words of the command over as they are. `tables.read` reads the
table, `audit.of_table` audits it, and `page.write_audit` writes the files.
"""

import argparse
import csv
import shlex
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

QUESTIONS = "how noisy they are, which look wrong, which method to trust"
SUMMARY = f"Audit the labels of a table: {QUESTIONS}."


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of an audit to a parser.

    Parameters
    ----------
    parser : argparse.ArgumentParser
        The parser of the command.

    Examples
    --------
    >>> import argparse
    >>> from noisylabels.auditing.command import add_arguments
    >>> parser = argparse.ArgumentParser()
    >>> add_arguments(parser)
    >>> parser.parse_args(["beans.csv", "--label", "colour"]).label
    'colour'
    """
    add = parser.add_argument
    text_formats = ".csv or .tsv with a header line"
    other_formats = ".npz with X and y, or .parquet (which needs pyarrow)"
    add("file", type=Path, help=f"a table: {text_formats}, {other_formats}")
    add("--label", default="y", help="the column with the labels in doubt (default: y)")
    features = "what to learn from, separated by commas (default: all others); quoted as in a CSV"
    add("--columns", default="", help=features)
    add("--trusted", help="a column with verified labels, empty where there is none")
    groups = "rows of one count as one, and it is not learned from"
    add("--groups", metavar="COLUMN", help=f"a column of patients, videos or sites: {groups}")
    add("--out", type=Path, help="folder for the results (default: <name of the file>_audit)")
    rows = "rows a model is trained on at most (default: all; 2000 for rmklr)"
    add("--rows", type=int, help=rows)
    models = "rmklr, robust_logistic, logistic, forest, gradient_boosting, best or package:Class"
    add("--model", help=f"{models} (default: rmklr, above 5000 rows gradient_boosting)")
    table = "a CSV: a column for each class, in place of a model"
    add("--probabilities", type=Path, help=table)
    answers = "the same call again reads your answers in its column `true`"
    review = f"rows to draw into review.csv; {answers}"
    add("--review", type=int, metavar="ROWS", help=review)
    orders = "by rate (the default), by doubt (for --precision, its default there) or by chance"
    add("--by", choices=("rate", "doubt", "chance"), help=f"draw rows {orders}")
    share = "of which at least this share is wrong, with 95 %% confidence"
    add("--precision", type=float, help=f"ask for the longest list {share}")
    add("--seed", type=int, default=0, help="of every random number (default: 0)")


def run(options: argparse.Namespace, command: Sequence[str], words: Sequence[str]) -> None:
    """Audit a table as the options say; print what was found and write its page.

    Parameters
    ----------
    options : argparse.Namespace
        The options of `add_arguments`.
    command, words : sequence of str
        What was typed, which the page repeats.

    Raises
    ------
    SystemExit
        With one line that says what cannot be done.

    Examples
    --------
    >>> import argparse
    >>> from noisylabels.auditing.command import add_arguments, run
    >>> parser = argparse.ArgumentParser()
    >>> add_arguments(parser)
    >>> options = parser.parse_args(["missing.csv"])
    >>> run(options, ["noisylabels", "audit"], ["missing.csv"])  # doctest: +SKIP
    Traceback (most recent call last):
    ...
    SystemExit: audit: missing.csv: no such file
    """
    for stream in (sys.stdout, sys.stderr):
        # A terminal may not be UTF-8.
        stream.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]
    try:
        _run(options, command, words)
    except (ValueError, OSError, RuntimeError) as error:
        sys.exit(f"audit: {error}")
    except MemoryError as error:
        reason = f" ({error})" if str(error) else ""
        advice = "name fewer columns, or give fewer rows"
        sys.exit(f"audit: the memory is not enough for this table{reason}; {advice}")
    except KeyboardInterrupt:
        sys.exit("audit: stopped; nothing of it is kept")


def _run(options: argparse.Namespace, command: Sequence[str], words: Sequence[str]) -> None:
    # A wrong command line is reported before the slow imports.
    from noisylabels.auditing import page, tables
    from noisylabels.auditing.audit import of_probabilities, of_table
    from noisylabels.auditing.copies import groups_of
    from noisylabels.auditing.review import NO_LIST, recorded, review
    from noisylabels.auditing.summary import summarise
    from noisylabels.output_folder import claim_output_folder
    from noisylabels.safe_text import make_visible

    file = options.file.expanduser()
    out = options.out or Path(f"{file.stem}_audit")
    columns = [name.strip() for name in next(csv.reader([options.columns])) if name.strip()]
    _check_numbers(options)
    has_model = options.probabilities is None
    _refuse_unused_options(options)
    table = tables.read(
        file,
        options.label,
        columns=columns,
        trusted=options.trusted,
        groups=options.groups,
        check=tables.check_labels if has_model else tables.check_classes,
        learn=has_model,
    )
    groups = None
    if options.groups is not None:
        names = list(table.contents[options.groups])
        rows_of_file = len(table.contents[options.label])
        groups = groups_of(names, rows_of_file)[table.rows]
    _refuse_few_rows(options, table.labels)
    if options.review is not None and not 1 <= options.review <= len(table.labels):
        allowed = f"between 1 and {len(table.labels)}, the number of labels"
        raise ValueError(f"--review must be {allowed}, got {options.review}")
    inputs = [file]
    probabilities = None
    if not has_model:
        probabilities_file = options.probabilities.expanduser()
        probabilities = tables.probabilities(probabilities_file, table)
        inputs.append(probabilities_file)
    # wrong answers are reported before the audit, which takes minutes
    if options.review is not None:
        recorded(out / "review.csv", table, options.by, options.seed)
    claim_output_folder(out, "audit", inputs)
    if probabilities is None:
        result = of_table(
            table,
            options.model,
            groups=groups,
            most_rows=options.rows,
            random_state=options.seed,
            say=say,
        )
    else:
        result = of_probabilities(table, probabilities, groups=groups)
    shown = make_visible(str(out))
    reviewed = None
    if options.review is not None:
        reviewed = review(
            result,
            out / "review.csv",
            options.review,
            by=options.by,
            random_state=options.seed,
            precision=options.precision,
        )
    print(summarise(result, reviewed, options.precision, f"{shown}/"), flush=True)
    title = make_visible(f"{file.name}: the labels in {options.label!r}")
    command_line = make_visible(shlex.join([*command, *words]))
    remark = "" if options.precision is None else NO_LIST
    files = page.write_audit(result, out, title, command_line, reviewed, remark)
    if result.notes:
        report = f"{shown}/{page.REPORT}"
        print(f"Notes:  {len(result.notes)} on the table, at the end of {report}.")
    print(f"Files:  {', '.join(files)} in {shown}.")
    print(f"Look:   {shown}/index.html")


def _check_numbers(options: argparse.Namespace) -> None:
    """Refuse numbers among the options that are out of range."""
    from noisylabels.auditing.audit import LARGEST_SEED
    from noisylabels.auditing.tables import FEWEST_ROWS

    if options.rows is not None and options.rows < FEWEST_ROWS:
        raise ValueError(f"--rows must be at least {FEWEST_ROWS}, got {options.rows}")
    if not 0 <= options.seed <= LARGEST_SEED:
        raise ValueError(f"--seed must lie in 0..{LARGEST_SEED}, got {options.seed}")
    if options.precision is not None and not 0 < options.precision < 1:
        raise ValueError(f"--precision must lie between 0 and 1, got {options.precision}")


def _refuse_unused_options(options: argparse.Namespace) -> None:
    """Refuse `--by` without `--review`, and what trains a model with `--probabilities`."""
    from noisylabels.auditing.audit import refuse_unused

    if options.review is None:
        refuse_unused("without --review", {"--by": options.by is not None})
    if options.probabilities is not None:
        is_set = {"--model": options.model is not None, "--rows": options.rows is not None}
        if options.review is None:
            is_set["--seed"] = options.seed != 0
        refuse_unused("with --probabilities, as no model is trained", is_set)


def _refuse_few_rows(options: argparse.Namespace, labels: Any) -> None:
    """Refuse fewer rows than all for a model of measurements, which is trained on all."""
    from noisylabels.auditing.audit import refuse_unused
    from noisylabels.auditing.tables import measured

    if options.rows is not None and measured(labels):
        refuse_unused("for measurements", {"--rows": options.rows < len(labels)})


def say(sentence: str) -> None:
    """Announce on standard error the steps that take time.

    Parameters
    ----------
    sentence : str
        What is done.

    Examples
    --------
    >>> from noisylabels.auditing.command import say
    >>> say("training")
    """
    print(f"audit: {sentence} ...", file=sys.stderr, flush=True)
