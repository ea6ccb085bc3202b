"""Review by a person: which rows are drawn, how answers are read, and what they show.

`review` is called twice with the same arguments. The first call draws rows and writes
``review.csv`` with an empty column ``true``, and next to it ``review_plan.json`` with the seed, the
rows and the model's doubts about them. The second reads what was filled in. A row that is skipped,
or added by the user, is not part of an estimate. The file does not say what the model predicts, so
that the prediction cannot sway the reader.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from noisylabels.auditing import intervals
from noisylabels.auditing.audit import Audit, NumericAudit, percent
from noisylabels.auditing.columns import is_missing
from noisylabels.auditing.intervals import Rate
from noisylabels.auditing.tables import Table, exact, measured
from noisylabels.auditing.wording import write_number
from noisylabels.csv_text import SPREADSHEET, read_records
from noisylabels.safe_text import make_harmless_table, make_visible, undo_harmless
from noisylabels.statistics import share_interval
from noisylabels.validation import whole

if TYPE_CHECKING:
    import pandas as pd

PLAN = "review_plan.json"
NEXT = 50
TAIL = 1 - intervals.LEVEL
NEEDED = ("row", "key", "observed", "true")
"""Columns that review.csv must have."""
MOST_FLIPS_LISTED = 6
"""Number of flip rates up to which the findings list each of them."""
VERSION_1_COLUMNS = ("suggestion", "why")
"""Columns that version 1 wrote, and that would show what the model predicts."""
VERSION_1_REASONS = (
    "by rate: the model ",
    "by doubt: the model ",
    "by chance, as ",
    "chosen by you",
)
"""Beginnings of the reasons that version 1 wrote."""
NAMELESS = "no name"
"""Name in review.csv of a column whose name is empty."""
TO_FILL_IN = "only `true` is to be filled in"
NO_LIST = "Without reviewed rows no list can be said to be wrong to any share: --review draws them."
UNKNOWN = Rate(0.5, 0.0, 1.0)
"""A share about which nothing is known."""
DESIGNS = {"chance": None, "doubt": 0.5, "rate": 0.3}
"""Design of a review -> share of the draws that comes from rows that the model would label
otherwise.
"""


@dataclass(frozen=True)
class Review:
    """The findings of a review.

    Parameters
    ----------
    drawn, reviewed, skipped, picked : int
        Rows that were drawn, those of them with an answer and those without, and rows with an
        answer that were not drawn.
    wrong : Rate
        Share of wrong labels among all, with a 95 % confidence interval.
    plain : Rate
        The same with exact limits and without the model's scores.
    left : float
        Upper limit of the share of wrong labels among those that were not reviewed.
    after : float
        Expected width of the interval with 50 more rows.
    flip_rates : DataFrame
        Columns true, observed, rate, low and high.
    accuracies : DataFrame
        Columns method, accuracy, low and high, on true labels.
    precision : float or None
        The required precision of a list.
    listed : DataFrame or None
        Rows of the longest list of which at least this share is wrong.
    repaired : DataFrame
        The table with one more column, the repaired labels.
    changed : int
        Number of labels that differ there.
    unreviewed : int
        Number of labels that nobody has looked at.
    sheet : DataFrame
        Content of review.csv. It has nothing of what the model predicts.
    model_says : DataFrame
        Columns row, model_says and why, for each row of the sheet: what the model predicts, which
        may be the observed label, and how the row was chosen.
    path : Path
        Place of review.csv.
    copies : int
        Number of rows without an answer that are repaired like an equal row with the same label.

    Examples
    --------
    >>> import tempfile
    >>> import numpy as np
    >>> import noisylabels
    >>> y = np.arange(40) % 2
    >>> X = np.random.default_rng(0).normal(size=(40, 2)) + 4 * y[:, None]
    >>> found = noisylabels.audit(X, y, model="logistic", compare=False)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     first = noisylabels.review(found, f"{folder}/review.csv", rows=10)
    >>> first.text[:19]
    '10 rows were drawn:'
    """

    drawn: int
    reviewed: int
    skipped: int
    picked: int
    wrong: Rate
    plain: Rate
    left: float
    after: float
    flip_rates: pd.DataFrame
    accuracies: pd.DataFrame
    precision: float | None
    listed: pd.DataFrame | None
    repaired: pd.DataFrame
    changed: int
    unreviewed: int
    sheet: pd.DataFrame
    model_says: pd.DataFrame
    path: Path
    copies: int = 0

    @property
    def text(self) -> str:
        """The findings in plain words."""
        return "\n".join(_sentences(self))

    def __str__(self) -> str:
        return self.text


class Plan(NamedTuple):
    """The plan of a review, as ``review_plan.json`` holds it.

    Parameters
    ----------
    by : {"rate", "doubt", "chance"}
        How the rows were drawn.
    seed : int
        Seed of the draw.
    table : str
        Digest of the table's rows.
    draws : list of int
        Positions of the drawn rows in the audit's table, in the order of the draws.
    doubts : list of float
        The model's doubts about these rows at that time, with six decimals.
    """

    by: str
    seed: int
    table: str
    draws: list[int]
    doubts: list[float]


class Answers(NamedTuple):
    """The content of review.csv about rows of the audit's table.

    Parameters
    ----------
    true : dict
        The true label for each row with an answer.
    of_user : dict
        The columns that the user added, each with its cell for each row.
    rows : list of int
        Positions in the audit's table of all rows of the file, in its order.
    marks : dict
        The text in place of an answer, such as "?", for each row that has one.
    """

    true: dict[int, Any]
    of_user: dict[str, dict[int, str]]
    rows: list[int]
    marks: dict[int, str]


class _Part(NamedTuple):
    """What the reviewed rows of one stratum say about one cell of the flip matrix.

    share : of the stratum in all rows.   of_class, of_cell : shares of the stratum's rows in the
    class, and in the cell.   counted : rate with exact limits.   has_few : whether only these
    limits can be trusted.   factor : by which the error shrinks, because the stratum is finite.
    """

    share: float
    of_class: intervals.Powered
    of_cell: intervals.Powered
    counted: Rate
    has_few: bool
    factor: float


def review(
    found: Audit | NumericAudit,
    path: str | Path = "review.csv",
    rows: int = 100,
    *,
    by: str | None = None,
    random_state: int = 0,
    precision: float | None = None,
) -> Review:
    """Draw rows that a person should check and write them to a file, or read the answers in it.

    Parameters
    ----------
    found : Audit or NumericAudit
        The audit of the table.
    path : str or Path, default "review.csv"
        The file. Where it exists its answers are read.
    rows : int, default 100
        Number of rows. More rows than before are added to the file.
    by : {"rate", "doubt", "chance"}, optional
        How rows are drawn. By "rate" three in ten come from those that the model would label
        otherwise, which is best for the share of wrong labels. By "doubt" it is every second one,
        which is better for a list. With "chance" all rows have the same probability. By default
        rows are drawn as before; the first ones by doubt with a precision and by rate without.
    random_state : int, default 0
        Seed of the draw.
    precision : float, optional
        Lists as many rows as possible, of which at least this share is wrong with 95 % confidence.

    Returns
    -------
    Review
        What is known so far.

    Raises
    ------
    ValueError
        If an argument is out of range, if there is no such folder, if the file was changed where it
        must not be, or if it belongs to another table, model or seed.

    Examples
    --------
    >>> import tempfile
    >>> import numpy as np
    >>> import noisylabels
    >>> rng = np.random.default_rng(0)
    >>> true = np.arange(200) % 2
    >>> y = np.where(rng.random(200) < 0.1, 1 - true, true)
    >>> X = rng.normal(size=(200, 2)) + 4 * true[:, None]
    >>> found = noisylabels.audit(X, y, model="logistic", compare=False)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     first = noisylabels.review(found, f"{folder}/review.csv", rows=50)
    >>> first.drawn, first.reviewed
    (50, 0)
    """
    path = Path(path)
    N = len(found.table.labels)
    whole("rows", rows, 1, N)
    if not path.parent.is_dir():
        problem = f"{path.parent}: no such folder for {path.name}"
        raise ValueError(f"{problem}; make it, or name another place")
    if by not in (None, *DESIGNS):
        raise ValueError(f"by must be one of {', '.join(DESIGNS)}, got {by!r}")
    if precision is not None and not 0 < precision < 1:
        raise ValueError(f"precision must lie between 0 and 1, got {precision}")
    # rows drawn at random estimate the share of all rows, so that copies do not matter
    units = np.arange(N)
    doubted = found.doubted[units]
    earlier = recorded(path, found.table, by, random_state)
    plan, answers = earlier or (None, Answers({}, {}, [], {}))
    n = 0
    if plan:
        by = plan.by
        n = len(plan.draws)
    elif by is None:
        by = "rate" if precision is None else "doubt"
    drawn_units = drawn(doubted, max(rows, n), by, random_state)
    draws = [int(units[i]) for i in drawn_units]
    planned = path.with_name(PLAN)
    doubts = found.doubt[draws].round(6).tolist()
    if plan:
        has_same_draws = draws[:n] == plan.draws
        if not has_same_draws or not np.allclose(doubts[:n], plan.doubts, rtol=0, atol=2e-6):
            reason = "drawn with another model or other probabilities"
            raise ValueError(f"{planned}: {reason}; audit as before, or start a new folder")
    sheet = _sheet(found, draws, answers)
    if not set(draws) <= set(answers.rows):
        plan = Plan(by, random_state, _digest(found.table), draws, doubts)
        planned.write_text(json.dumps(plan._asdict()), encoding="utf-8")
        # the file is written whole before it replaces the old one
        new = path.with_name(path.name + ".new")
        written = make_harmless_table(sheet.astype(str))
        written.to_csv(new, index=False, lineterminator="\n", encoding="utf-8-sig")
        new.replace(path)
    if by == "chance":
        strata = [units]
    else:
        strata = [units[doubted], units[~doubted]]
    strata = [stratum for stratum in strata if len(stratum)]
    facts = {"precision": precision, "sheet": sheet, "path": path, "drawn": len(draws)}
    facts["model_says"] = _list_predictions(found, by, draws, answers)
    return _estimated(found, units, draws, answers.true, strata, facts)


def drawn(doubted: NDArray[np.bool_], rows: int, design: str, seed: int) -> list[int]:
    """Draw rows at random; a design mixes its two kinds of rows in fixed proportions.

    Parameters
    ----------
    doubted : ndarray of bool, shape (n,)
        Whether the model would label each row otherwise.
    rows : int
        Number of rows to draw.
    design : {"rate", "doubt", "chance"}
        Key of `DESIGNS`.
    seed : int
        Seed of the draw.

    Returns
    -------
    list of int
        Different positions in `doubted`, in the order of the draws. If the table has fewer than
        `rows` rows, all are drawn.

    Examples
    --------
    >>> import numpy as np
    >>> from noisylabels.auditing.review import drawn
    >>> doubted = np.array([True, True, False, False, False, False])
    >>> doubted[drawn(doubted, 4, "doubt", seed=0)].tolist()
    [True, False, True, False]
    """
    rng = np.random.default_rng([seed, 20])
    share = DESIGNS[design]
    if share is None:
        order = rng.permutation(len(doubted))
        return [int(i) for i in order[:rows]]
    halves = []
    turns = []
    for kind, share_of_kind in ((True, share), (False, 1 - share)):
        members = np.flatnonzero(doubted == kind)
        half = rng.permutation(members)
        halves.append(half)
        turns.append((np.arange(len(half)) + 0.5) / share_of_kind)
    order = np.argsort(np.concatenate(turns), kind="stable")
    shuffled = np.concatenate(halves)
    return [int(i) for i in shuffled[order[:rows]]]


def recorded(
    path: Path,
    table: Table,
    by: str | None = None,
    seed: int = 0,
) -> tuple[Plan, Answers] | None:
    """Read the plan and the answers of a review that was begun.

    Parameters
    ----------
    path : Path
        Place of review.csv. The plan is next to it.
    table : Table
        The audit's table.
    by : {"rate", "doubt", "chance"}, optional
        How the rows should have been drawn. By default any way is accepted.
    seed : int, default 0
        The seed that they should have been drawn with.

    Returns
    -------
    tuple of Plan and Answers, or None
        None if neither of the two files exists.

    Raises
    ------
    ValueError
        If one of the two files is gone or damaged, or if the rows were drawn in another way, with
        another seed or from another table.

    Examples
    --------
    >>> from pathlib import Path
    >>> from noisylabels.auditing.review import recorded
    >>> recorded(Path("no_such_folder/review.csv"), table=None) is None
    True
    """
    planned = path.with_name(PLAN)
    if not path.exists() and not planned.exists():
        return None
    for missing, present in ((path, planned), (planned, path)):
        if not missing.exists():
            advice = "restore it, or name a new place for the review"
            raise ValueError(f"{present} is there, but {missing} is not; {advice}")
    try:
        plan = Plan(**json.loads(planned.read_text(encoding="utf-8")))
    except (ValueError, TypeError):
        raise ValueError(f"{planned}: damaged; start a new folder, or put the file back") from None
    wanted = {"by": by or plan.by, "seed": seed, "table": _digest(table)}
    for key, value in wanted.items():
        planned_value = getattr(plan, key)
        if value != planned_value:
            difference = f"drawn with {key} {planned_value}, now {key} is {value}"
            raise ValueError(f"{planned}: {difference}; use the same as before, or a new folder")
    return plan, _read(path, table)


def _keys(table: Table) -> list[str]:
    """Digest the content of each row; the k keeps spreadsheets from reading a number."""
    columns = list(table.contents.values())
    keys = []
    for i in table.rows.tolist():
        line = "\x1f".join(str(column[i]) for column in columns)
        content = line.encode("utf-8", "replace")
        keys.append("k" + hashlib.sha256(content).hexdigest()[:12])
    return keys


def _digest(table: Table) -> str:
    keys = "".join(_keys(table))
    return hashlib.sha256(keys.encode()).hexdigest()[:16]


def _list_rows(draws: list[int], answers: Answers) -> list[int]:
    """List the rows of the file: those drawn, in their order, then those that the user added."""
    return list(dict.fromkeys([*draws, *answers.rows]))


def _list_predictions(
    result: Audit | NumericAudit, by: str, draws: list[int], answers: Answers
) -> pd.DataFrame:
    """Say for each row of the file what the model predicts, and why the row is in it."""
    import pandas as pd

    rows = _list_rows(draws, answers)
    doubted = result.doubted
    if isinstance(result, NumericAudit):
        predicted = result.expected
        usual = "the label is about as near to the model's number as is usual"
        reasons = (usual, "the label is far off")
    else:
        predicted = np.where(doubted, result.expected, result.table.labels)
        reasons = ("the model agrees", "the model would label it otherwise")
    why_drawn = []
    for i in draws:
        reason = reasons[int(doubted[i])]
        why_drawn.append(f"by {by}: {reason}")
    if by == "chance":
        why_drawn = ["by chance, as likely as any row"] * len(draws)
    n_chosen = len(rows) - len(draws)
    why_drawn += ["chosen by you"] * n_chosen
    columns = {"row": result.table.rows[rows], "model_says": predicted[rows], "why": why_drawn}
    return pd.DataFrame(columns)


def _sheet(result: Audit | NumericAudit, draws: list[int], answers: Answers) -> pd.DataFrame:
    """Write what a person needs to decide about each row, without the model's opinion."""
    import pandas as pd

    rows = _list_rows(draws, answers)
    keys = _keys(result.table)
    columns = {
        "row": result.table.rows[rows],
        "key": [keys[i] for i in rows],
        "observed": result.table.labels[rows],
        "true": [str(answers.true.get(i, answers.marks.get(i, ""))) for i in rows],
    }
    rows_of_file = result.table.rows[rows].tolist()
    shown = {}
    for name, heading in _headings(result.table).items():
        column = result.table.contents[name]
        shown[heading] = [make_visible(column[i]) for i in rows_of_file]
    of_user = {}
    for name, cells in answers.of_user.items():
        of_user[name] = [cells.get(i, "") for i in rows]
    return pd.DataFrame(columns | shown | of_user)


def _headings(table: Table) -> dict[str, str]:
    """Choose for each column of the table, but its label, the name that it has in review.csv."""
    # review.csv is read without the blanks around names, and every column needs a name
    names = {name: name.strip() or NAMELESS for name in table.contents if name != table.label}
    plain_names = set(names.values()) - set(NEEDED)
    unavailable = set(NEEDED)
    headings: dict[str, str] = {}
    for name, plain_name in names.items():
        heading = plain_name
        while heading in unavailable or (heading != plain_name and heading in plain_names):
            heading = f"{heading} (table)"
        unavailable.add(heading)
        headings[name] = heading
    return headings


def _has_version_1_columns(header: list[str], rows: list[list[str]]) -> bool:
    """Decide whether version 1 wrote the columns `VERSION_1_COLUMNS`, not the user."""
    if not set(VERSION_1_COLUMNS) <= set(header):
        return False
    place = header.index("why")
    reasons = [undo_harmless(row[place]) for row in rows if row[place]]
    return bool(reasons) and all(reason.startswith(VERSION_1_REASONS) for reason in reasons)


def _read(path: Path, table: Table) -> Answers:
    """Read the answers as spreadsheets save them, with any separator, number format and encoding.

    Rows are matched by number and key, in any order. What a model says, in a file of version 1, is
    not read.
    """
    same_rows = f"delete it and {PLAN} to draw the same rows again"
    how_to_restart = f"{same_rows}, or put back what you had saved"
    if not path.read_bytes().strip():
        raise ValueError(f"{path}: no rows; {how_to_restart}")
    records = read_records(path, str(path), SPREADSHEET, fill_short_rows=True)
    header = [undo_harmless(name) for name in records.header]
    if not any(any(row) for row in records.rows):
        raise ValueError(f"{path}: no rows under the header; {how_to_restart}")
    for name in NEEDED:
        if name not in header:
            raise ValueError(f"{path}: the column {name!r} is gone; restore it, {TO_FILL_IN}")
    not_of_user = {*NEEDED, *_headings(table).values()}
    if _has_version_1_columns(header, records.rows):
        not_of_user.update(VERSION_1_COLUMNS)
    of_user: dict[str, dict[int, str]] = {}
    for name in header:
        if name not in not_of_user:
            of_user[name] = {}
    keys = _keys(table)
    positions = {int(row): i for i, row in enumerate(table.rows)}
    classes = {str(value): value for value in np.unique(table.labels)}
    is_numeric = measured(table.labels)
    answers = Answers({}, of_user, [], {})
    for number, fields in zip(records.lines, records.rows, strict=True):
        if not any(fields):
            continue
        plain_fields = map(undo_harmless, fields)
        row = dict(zip(header, plain_fields, strict=True))
        line = f"{path}, line {number}"
        position = _find_row(row, positions, keys, line)
        _refuse_changed_label(row, str(table.labels[position]), line)
        answers.rows.append(position)
        for name, cells in answers.of_user.items():
            _add_cell(cells, position, name, row[name], line)
        true = row["true"]
        is_empty = is_missing(true) and (true not in classes or not true)
        if is_empty:
            _add_cell(answers.marks, position, "true", true, line)
            continue
        if is_numeric:
            classes = _read_number(true)
        fault = ""
        try:
            value = _find_class(true, classes)
        except ValueError as error:
            fault = str(error)
        else:
            if answers.true.setdefault(position, value) != value:
                fault = "is answered twice, differently"
        if fault:
            raise ValueError(f"{line}: the true label {fault}; correct it, or leave it empty")
    return answers


def _add_cell(cells: dict[int, str], position: int, name: str, cell: str, line: str) -> None:
    """Add a cell of the user for a row, which may be in the file twice."""
    earlier = cells.get(position, "")
    if earlier and cell and cell != earlier:
        problem = f"this row is there twice, with {earlier!r} and {cell!r} in {name!r}"
        raise ValueError(f"{line}: {problem}; keep one of the two lines")
    cells[position] = cell or earlier


def _find_row(row: dict[str, str], places: dict[int, int], keys: list[str], line: str) -> int:
    """Find the row of the audit's table that a line of the file is about."""
    position = None
    if row["row"].isdecimal():
        position = places.get(int(row["row"]))
    if position is None or row.get("key") not in ("", None, keys[position]):
        problem = f"row {row['row']!r} with this key is not in the table"
        raise ValueError(f"{line}: {problem}; restore the line")
    return position


def _refuse_changed_label(row: dict[str, str], observed: str, line: str) -> None:
    written = row.get("observed", "")
    if written and not _are_same(written.casefold(), observed.casefold()):
        change = f"was {observed!r} and is {written!r}"
        raise ValueError(f"{line}: column 'observed' {change}; restore it, {TO_FILL_IN}")


def _read_number(text: str) -> dict[str, Any]:
    """Read a number, which may have a decimal comma, as the only class that fits the text."""
    number = exact(text.replace(",", "."))
    if number is None:
        return {}
    value = float(number)
    return {text: int(value) if value.is_integer() else value}


def _find_class(text: str, classes: dict[str, Any]) -> Any:
    """Find the class that a text names, if need be without regard to its case."""
    values = [value for name, value in classes.items() if _are_same(text, name)]
    if not values:
        values = [value for name, value in classes.items() if text.casefold() == name.casefold()]
    if len(values) != 1:
        among = f"not one of {', '.join(classes)}" if classes else "not a number"
        raise ValueError(f"is {text!r}, {among}")
    return values[0]


def _are_same(text: str, name: str) -> bool:
    """Compare texts, or numbers in the forms of spreadsheets, such as 1,50 and 1.5."""
    if text in (undo_harmless(name), name.strip()):
        return True
    number = exact(text.replace(",", "."))
    return number is not None and number == exact(name)


def _estimated(
    result: Audit | NumericAudit,
    units: NDArray[np.intp],
    draws: list[int],
    answers: dict[int, Any],
    strata: list[NDArray[np.intp]],
    facts: dict[str, Any],
) -> Review:
    labels = result.table.labels
    N = len(units)
    rows = np.array([i for i in draws if i in answers], dtype=np.intp)
    true = np.array([answers[int(i)] for i in rows], dtype=object)
    sampled = [(np.isin(rows, stratum), stratum) for stratum in strata]
    shares = [len(stratum) / N for stratum in strata]

    def share(score: NDArray[np.float64], compared: NDArray[Any]) -> Rate:
        """Estimate the share of rows whose true label differs from the compared one."""
        if not len(rows):
            return UNKNOWN
        differs = (true != compared[rows]).astype(float)
        if len(sampled) == 1:
            mean_score = score[units].mean()
            return intervals.rate(differs, score[rows], mean_score, N, intervals.mid)
        parts = [(differs[reviewed], len(stratum)) for reviewed, stratum in sampled]
        return intervals.stratified(parts, shares)

    w = (true != labels[rows]).astype(float)
    n = len(rows)
    wrong = share(result.doubt, labels)

    def plain(tail: float) -> Rate:
        if not len(rows):
            return UNKNOWN
        parts = []
        for reviewed, stratum in sampled:
            parts.append(intervals.counted(w[reviewed], len(stratum), tail))
        return intervals.combined(parts, shares)

    repaired = labels.astype(object)
    true_of_row = _answered(result, answers)
    answered_rows = list(true_of_row)
    repaired[answered_rows] = list(true_of_row.values())
    changed = np.flatnonzero(repaired != labels)
    accuracies = []
    rates = list[list[Any]]()
    if not isinstance(result, NumericAudit):
        for method, predicted in result.predictions.items():
            p = result.probabilities[np.arange(len(labels)), predicted]
            rate = share(1.0 - p, result.classes[predicted])
            accuracies.append([method, 1 - rate.value, 1 - rate.high, 1 - rate.low])
        fewest_reviewed = min(int(reviewed.sum()) for reviewed, _ in sampled)
        if fewest_reviewed > 2:
            rates = _flip_rates(true, rows, sampled, result)
    most_wrong = N * plain(TAIL).high
    unknown = N - int(np.isin(units, answered_rows).sum())
    repaired_wrong = np.isin(units, changed).sum()
    wrong_at_most = max(0.0, most_wrong - repaired_wrong)
    narrower = float("nan")
    if n:
        narrower = (n / (n + NEXT)) ** 0.5
    if len(strata) == 1 and n < N:
        narrower *= intervals.finite(n + NEXT, N) / intervals.finite(n, N)
    listed = None
    if facts["precision"] is not None:
        listed = _longest_list(result, units, rows, w, facts["precision"], len(strata[0]))
    import pandas as pd

    return Review(
        reviewed=n,
        skipped=len(draws) - n,
        picked=len(answers) - n,
        wrong=wrong,
        plain=plain(TAIL / 2),
        left=min(1.0, wrong_at_most / max(unknown, 1)),
        after=wrong.width * narrower,
        flip_rates=pd.DataFrame(rates, columns=["true", "observed", "rate", "low", "high"]),
        accuracies=pd.DataFrame(accuracies, columns=["method", "accuracy", "low", "high"]),
        listed=listed,
        repaired=_repair(result, repaired, changed),
        changed=len(changed),
        unreviewed=len(labels) - len(true_of_row),
        copies=len(true_of_row) - len(answers),
        **facts,
    )


def _longest_list(
    result: Audit | NumericAudit,
    units: NDArray[np.intp],
    rows: NDArray[np.intp],
    w: NDArray[np.float64],
    precision: float,
    doubted: int,
) -> pd.DataFrame:
    """List the most rows of which at least the wanted share is wrong.

    If rows were drawn by doubt, the ranking begins with the ``doubted`` rows.
    """
    places = np.argsort(np.searchsorted(result.table.rows, result.ranking["row"]))
    places_of_units = np.sort(places[units])
    ranked = result.ranking.iloc[places_of_units]
    rank = np.searchsorted(places_of_units, places[rows])
    length = intervals.longest(w, rank, precision, TAIL, doubted)
    return ranked.head(length)


def _repair(
    result: Audit | NumericAudit,
    repaired: NDArray[Any],
    changed: NDArray[np.intp],
) -> pd.DataFrame:
    """Add the repaired labels to the columns of the table."""
    import pandas as pd

    table = pd.DataFrame({name: list(column) for name, column in result.table.contents.items()})
    name = f"{result.table.label} repaired"
    while name in table:
        name += " again"
    column = table[result.table.label].astype(object).to_numpy(copy=True)
    column[result.table.rows[changed]] = repaired[changed]
    table[name] = column
    return table


def _answered(result: Audit | NumericAudit, answers: dict[int, Any]) -> dict[int, Any]:
    """Copy the answers to rows that are equal and have the same label."""
    true_of_row: dict[int, Any] = {}
    equal = result.copies.equal
    labels = result.table.labels
    if len(np.unique(equal)) < len(equal):
        for row, true in answers.items():
            has_same_row = equal == equal[row]
            has_same_label = labels == labels[row]
            copies = np.flatnonzero(has_same_row & has_same_label)
            true_of_row |= dict.fromkeys(copies.tolist(), true)
    return true_of_row | answers


def _flip_rates(
    labels: NDArray[Any],
    rows: NDArray[np.intp],
    sampled: list[tuple[NDArray[np.bool_], NDArray[np.intp]]],
    result: Audit,
) -> list[list[Any]]:
    """Estimate the flip matrix from reviewed rows.

    omega_jk = theta_jk / theta_j, each prediction-powered, by the delta method.

    Where fewer than 5 rows of a stratum are, or are not, in the cell: Clopper and Pearson's limits,
    combined with the strata's shares of theta_j, if they are wider.
    """
    from scipy.special import stdtrit

    observed = result.observed
    true = np.searchsorted(result.classes, labels.astype(result.classes.dtype))
    K = len(result.classes)
    p = result.probabilities
    table = []
    N = sum(len(stratum) for _, stratum in sampled)
    quantile = float(stdtrit(len(rows) - 2, 1 - TAIL / 2))
    for j, k in np.ndindex(K, K):
        true_class = result.classes[j]
        observed_class = result.classes[k]
        is_of_class = (true == j).astype(float)
        score = np.where(observed == k, p[:, j], 0.0)
        is_in_cell = np.where(observed[rows] == k, is_of_class, 0.0)
        parts = []
        for reviewed, stratum in sampled:
            reviewed_rows = rows[reviewed]
            p_of_reviewed = p[reviewed_rows, j]
            mean_p = p[stratum, j].mean()
            of_class = intervals.powered(is_of_class[reviewed], p_of_reviewed, mean_p)
            mean_score = score[stratum].mean()
            of_cell = intervals.powered(is_in_cell[reviewed], score[reviewed_rows], mean_score)
            hits = int(is_in_cell[reviewed].sum())
            members = int(is_of_class[reviewed].sum())
            counted = UNKNOWN
            if members:
                low, high = share_interval(hits, members)
                counted = Rate(hits / members, low, high)
            has_few = min(hits, members - hits) < intervals.FEW
            factor = intervals.finite(reviewed.sum(), len(stratum))
            parts.append(_Part(len(stratum) / N, of_class, of_cell, counted, has_few, factor))
        share_of_class = sum(part.share * part.of_class.value for part in parts)
        if not is_of_class.any() or share_of_class <= 0:
            table.append([true_class, observed_class, float("nan"), 0.0, 1.0])
            continue
        rate = _rate_of_cell(parts, share_of_class, quantile)
        table.append([true_class, observed_class, *rate])
    return table


def _rate_of_cell(parts: list[_Part], share_of_class: float, quantile: float) -> Rate:
    """Divide the share of a cell by that of its class, with limits by the delta method."""
    share_of_cell = sum(part.share * part.of_cell.value for part in parts)
    value = min(max(share_of_cell / share_of_class, 0.0), 1.0)
    unseen = intervals.UNSEEN / share_of_class**2
    square = 0.0
    for part in parts:
        residuals = (part.of_cell.residuals - value * part.of_class.residuals) / share_of_class
        error = intervals.Powered(value, residuals, 1.0).error(unseen)
        square += (part.share * error * part.factor) ** 2
    half = quantile * square**0.5
    low = max(value - half, 0.0)
    high = min(value + half, 1.0)
    if any(part.has_few for part in parts):
        weights = np.array([max(part.share * part.of_class.value, 0.0) for part in parts])
        exact_rates = [part.counted for part in parts]
        exact_rate = intervals.combined(exact_rates, weights / weights.sum())
        if exact_rate.width > high - low:
            low = exact_rate.low
            high = exact_rate.high
    return Rate(min(max(value, low), high), low, high)


def _sentences(result: Review) -> list[str]:
    def between(low: float, high: float) -> str:
        return f"{percent(low)} to {percent(high)}"

    sentences = []
    wrong = result.wrong
    if not result.reviewed:
        begin = write_number(result.drawn, "row was drawn", "rows were drawn")
        sentences.append(
            f"{begin}: fill in the column `true` of {result.path} and give the same command again. "
            "The order is that of the draws, so you may stop early."
        )
    else:
        confidence = f"95 % confidence: {between(*wrong[1:])}"
        exact_limits = f"exact limits, without scores: {between(*result.plain[1:])}"
        at_most = percent(result.left)
        sentences += [
            f"{percent(wrong.value)} of the labels are wrong ({confidence}), from "
            f"{write_number(result.reviewed, 'reviewed row', 'reviewed rows')}; {exact_limits}.",
            f"Of the labels not reviewed at most {at_most} are wrong, with 95 % confidence.",
        ]
        if result.unreviewed >= NEXT:
            sentences.append(f"{describe_gain(result)}.")
        is_flip = result.flip_rates["true"] != result.flip_rates["observed"]
        flips = result.flip_rates[is_flip].dropna()
        listed_flips = flips.to_numpy().tolist() if len(flips) <= MOST_FLIPS_LISTED else []
        for true, observed, rate, low, high in listed_flips:
            share = f"{percent(rate)} of class {true} ({between(low, high)})"
            sentences.append(f"{true} labelled {observed}: {share}.")
        for method, right, low, high in result.accuracies.to_numpy().tolist():
            share = f"{percent(right)} of the true labels ({between(low, high)})"
            sentences.append(f"{method} is right for {share}.")
        if result.skipped:
            singular = "row drawn has no answer and is not part of this"
            plural = "rows drawn have no answer and are not part of this"
            unanswered = write_number(result.skipped, singular, plural)
            sentences.append(
                f"{unanswered}: the figures hold if whether a row was answered has nothing to do "
                "with its label being wrong."
            )
    if result.copies:
        singular = "more row is equal to an answered one, label included: its answer repairs it"
        plural = "more rows are equal to an answered one, label included: its answer repairs them"
        sentences.append(f"{write_number(result.copies, singular, plural)}.")
    if result.picked:
        singular = "row you chose yourself is repaired, and not part of the estimates"
        plural = "rows you chose yourself are repaired, and not part of the estimates"
        sentences.append(f"{write_number(result.picked, singular, plural)}.")
    if result.precision is not None:
        sentences.append(_describe_list(result))
    return sentences


def describe_gain(result: Review) -> str:
    """Say how much narrower the interval would be with more rows.

    Parameters
    ----------
    result : Review
        What reviewed rows say.

    Returns
    -------
    str
        A sentence without its full stop.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> from noisylabels.auditing.intervals import Rate
    >>> from noisylabels.auditing.review import describe_gain
    >>> describe_gain(SimpleNamespace(wrong=Rate(0.1, 0.05, 0.15), after=0.08))
    '50 more rows would narrow the interval from 10.0 to about 8.0 percentage points'
    """
    now = f"{100 * result.wrong.width:.1f}"
    later = f"{100 * result.after:.1f}"
    change = f"from {now} to about {later} percentage points"
    return f"{NEXT} more rows would narrow the interval {change}"


def _describe_list(result: Review) -> str:
    """Say what is known of the list that the user wants."""
    if not result.reviewed or result.listed is None:
        return NO_LIST
    share = percent(result.precision or 0.0)
    if len(result.listed):
        return (
            f"Of the first {len(result.listed)} labels of the ranking at least {share} are wrong, "
            "with 95 % confidence; they were ranked before the review."
        )
    return (
        f"No list can be shown to be at least {share} wrong with these rows. Draw more, or by "
        "doubt in a new folder (`--by doubt --out`)."
    )
