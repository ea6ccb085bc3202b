"""Review by a person: which rows are drawn, how answers are read, and what they show.

`review` is called twice with the same arguments. The first call draws rows and writes ``review.csv`` with
an empty column ``true``, and next to it ``review_plan.json`` with the seed, the rows and the model's doubts
about them. The second reads what was filled in. A row that is skipped, or added by the user, is not part of
an estimate. The file does not say what the model predicts, so that the prediction cannot sway the reader.
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
from noisylabels.csv_text import SPREADSHEET, read_records
from noisylabels.safe_text import make_harmless_table, make_visible, undo_harmless
from noisylabels.statistics import share_interval
from noisylabels.validation import whole

if TYPE_CHECKING:
    import pandas as pd

PLAN = "review_plan.json"
NEXT = 50
TAIL = 1 - intervals.LEVEL
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

    Attributes
    ----------
    drawn, reviewed, skipped, picked : int
        Rows that were drawn, those of them with an answer and those without, and rows with an answer that
        were not drawn.
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
        Columns row, model_says and why, for each row of the sheet: what the model predicts, which may be the
        observed label, and how the row was chosen.
    path : Path
        Place of review.csv.
    copies : int
        Number of rows without an answer that are repaired like an equal row with the same label.
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
    """The plan of a review: rows in the order of the draws, and the model's doubts at that time."""

    by: str
    seed: int
    table: str
    draws: list[int]
    doubts: list[float]


class Answers(NamedTuple):
    """The content of review.csv about rows of the audit's table.

    true : class by row, where it was filled in.   own : columns that the user added, cell by row.   there :
    all rows of the file.
    """

    true: dict[int, Any]
    own: dict[str, dict[int, str]]
    there: list[int]


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
        How rows are drawn. By "rate" three in ten come from those that the model would label otherwise, which
        is best for the share of wrong labels. By "doubt" it is every second one, which is better for a list.
        With "chance" all rows have the same probability. By default rows are drawn as before; the first ones
        by doubt with a precision and by rate without.
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
        If an argument is out of range, if there is no such folder, if the file was changed where it must not
        be, or if it belongs to another table, model or seed.

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
        raise ValueError(f"{path.parent}: no such folder for {path.name}; make it, or name another place")
    if by not in (None, *DESIGNS):
        raise ValueError(f"by must be one of {', '.join(DESIGNS)}, got {by!r}")
    if precision is not None and not 0 < precision < 1:
        raise ValueError(f"precision must lie between 0 and 1, got {precision}")
    # rows drawn at random estimate the share of all rows, so that copies do not matter
    units = np.arange(N)
    doubted = found.doubted[units]
    before = recorded(path, found.table, by, random_state)
    plan, answers = before or (None, Answers({}, {}, []))
    if plan:
        by = plan.by
    else:
        by = by or ("rate" if precision is None else "doubt")
    n = len(plan.draws) if plan else 0
    draws = [int(units[i]) for i in drawn(doubted, max(rows, n), by, random_state)]
    planned = path.with_name(PLAN)
    doubts = found.doubt[draws].round(6).tolist()
    same = plan and draws[:n] == plan.draws and np.allclose(doubts[:n], plan.doubts, rtol=0, atol=2e-6)
    if plan and not same:
        how = "drawn with another model or other probabilities; audit as before, or start a new folder"
        raise ValueError(f"{planned}: {how}")
    sheet = _sheet(found, draws, answers)
    if not set(draws) <= set(answers.there):
        plan = Plan(by, random_state, _digest(found.table), draws, doubts)
        planned.write_text(json.dumps(plan._asdict()), encoding="utf-8")
        # the file is written whole before it replaces the old one
        new = path.with_name(path.name + ".new")
        make_harmless_table(sheet.astype(str)).to_csv(
            new, index=False, lineterminator="\n", encoding="utf-8-sig"
        )
        new.replace(path)
    if by == "chance":
        strata = [units]
    else:
        strata = [units[doubted], units[~doubted]]
    return _estimated(found, units, draws, answers.true, [each for each in strata if len(each)], {
        "precision": precision, "sheet": sheet, "path": path, "drawn": len(draws),
        "model_says": _list_predictions(found, by, draws, answers),
    })  # fmt: skip


def drawn(doubted: NDArray[np.bool_], rows: int, by: str, seed: int) -> list[int]:
    """Draw the first rows in random order; by a design, both kinds of rows take turns."""
    rng = np.random.default_rng([seed, 20])
    share = DESIGNS[by]
    if share is None:
        return [int(i) for i in rng.permutation(len(doubted))[:rows]]
    halves = [rng.permutation(np.flatnonzero(doubted == kind)) for kind in (True, False)]
    turns = [(np.arange(len(half)) + 0.5) / c for half, c in zip(halves, (share, 1 - share), strict=True)]
    order = np.argsort(np.concatenate(turns), kind="stable")
    return [int(i) for i in np.concatenate(halves)[order[:rows]]]


def recorded(path: Path, table: Table, by: str | None = None, seed: int = 0) -> tuple[Plan, Answers] | None:
    """Read the plan and the answers of a review that was begun; None without one.

    Raises ValueError : one of the two files is gone or damaged, or another way to draw, seed or table.
    """
    planned = path.with_name(PLAN)
    if not path.exists() and not planned.exists():
        return None
    for gone, there in ((path, planned), (planned, path)):
        if not gone.exists():
            how = "restore it, or name a new place for the review"
            raise ValueError(f"{there} is there, but {gone} is not; {how}")
    try:
        plan = Plan(**json.loads(planned.read_text(encoding="utf-8")))
    except (ValueError, TypeError):
        raise ValueError(f"{planned}: damaged; start a new folder, or put the file back") from None
    for key, now in (("by", by or plan.by), ("seed", seed), ("table", _digest(table))):
        if now != (was := getattr(plan, key)):
            how = f"drawn with {key} {was}, now {key} is {now}; use the same as before, or a new folder"
            raise ValueError(f"{planned}: {how}")
    return plan, _read(path, table)


def _keys(table: Table) -> list[str]:
    """Digest the content of each row; the k keeps spreadsheets from reading a number."""
    columns = list(table.contents.values())
    lines = ("\x1f".join(str(column[i]) for column in columns) for i in table.rows.tolist())
    return ["k" + hashlib.sha256(line.encode("utf-8", "replace")).hexdigest()[:12] for line in lines]


def _digest(table: Table) -> str:
    return hashlib.sha256("".join(_keys(table)).encode()).hexdigest()[:16]


def _list_rows(draws: list[int], answers: Answers) -> list[int]:
    """List the rows of the file: those drawn, in their order, then those that the user added."""
    return list(dict.fromkeys([*draws, *answers.there]))


def _list_predictions(
    found: Audit | NumericAudit, by: str, draws: list[int], answers: Answers
) -> pd.DataFrame:
    """Say for each row of the file what the model predicts, and why the row is in it."""
    import pandas as pd

    rows = _list_rows(draws, answers)
    doubted = found.doubted
    if isinstance(found, NumericAudit):
        predicted = found.expected
        reasons = ("the label is about as near to the model's number as is usual", "the label is far off")
    else:
        predicted = np.where(doubted, found.expected, found.table.labels)
        reasons = ("the model agrees", "the model would label it otherwise")
    why = [f"by {by}: {reasons[int(doubted[i])]}" for i in draws]
    if by == "chance":
        why = ["by chance, as likely as any row"] * len(draws)
    why += ["chosen by you"] * (len(rows) - len(draws))
    columns = {"row": found.table.rows[rows], "model_says": predicted[rows], "why": why}
    return pd.DataFrame(columns)


def _sheet(found: Audit | NumericAudit, draws: list[int], answers: Answers) -> pd.DataFrame:
    """Write what a person needs to decide about each row, without the model's opinion."""
    import pandas as pd

    at = _list_rows(draws, answers)
    keys = _keys(found.table)
    first = {
        "row": found.table.rows[at],
        "key": [keys[i] for i in at],
        "observed": found.table.labels[at],
        "true": [str(answers.true.get(i, "")) for i in at],
    }
    shown = {}
    for name, column in found.table.contents.items():
        if name != found.table.label:
            named = f"{name} (table)" if name in first else name
            shown[named] = [make_visible(column[i]) for i in found.table.rows[at].tolist()]
    own = {name: [cells.get(i, "") for i in at] for name, cells in answers.own.items() if name not in shown}
    return pd.DataFrame(first | shown | own)


def _read(path: Path, table: Table) -> Answers:
    """Read the answers as spreadsheets save them, with any separator, number format and encoding.

    Rows are matched by number and key, in any order; what the model says is not read.
    """
    how = f"delete it and {PLAN} to draw the same rows again, or put back what you had saved"
    if not path.read_bytes().strip():
        raise ValueError(f"{path}: no rows; {how}")
    records = read_records(path, str(path), SPREADSHEET, fill_short_rows=True)
    filled = [(line, row) for line, row in zip(records.lines, records.rows, strict=True) if any(row)]
    header = [undo_harmless(name) for name in records.header]
    if not filled:
        raise ValueError(f"{path}: no rows under the header; {how}")
    needed, only = ("row", "key", "observed", "true"), "only `true` is to be filled in"
    if missing := [name for name in needed if name not in header]:
        raise ValueError(f"{path}: the column {missing[0]!r} is gone; restore it, {only}")
    known = (*needed, "suggestion", "why", *table.contents, *(f"{name} (table)" for name in needed))
    keys = _keys(table)
    places = {int(row): i for i, row in enumerate(table.rows)}
    classes = {str(value): value for value in np.unique(table.labels)}
    answers = Answers({}, {name: {} for name in header if name and name not in known}, [])
    for number, fields in filled:
        row = dict(zip(header, map(undo_harmless, fields), strict=True))
        at = f"{path}, line {number}"
        if row["row"].isdecimal():
            place = places.get(int(row["row"]))
        else:
            place = None
        if place is None or row.get("key") not in ("", None, keys[place]):
            raise ValueError(f"{at}: row {row['row']!r} with this key is not in the table; restore the line")
        was = str(table.labels[place])
        now = row.get("observed", "")
        if now and not _same(now.casefold(), was.casefold()):
            raise ValueError(f"{at}: column 'observed' was {was!r} and is {now!r}; restore it, {only}")
        answers.there.append(place)
        for name, cells in answers.own.items():
            cells[place] = row.get(name, "")
        true = row.get("true", "")
        if is_missing(true) and (true not in classes or not true):
            continue
        if measured(table.labels):
            exactly = exact(true.replace(",", "."))
            value = float(exactly or 0)
            if exactly is None:
                classes = {}
            else:
                classes = {true: int(value) if value.is_integer() else value}
        told = [value for text, value in classes.items() if _same(true, text)]
        told = told or [value for text, value in classes.items() if true.casefold() == text.casefold()]
        among = f"not one of {', '.join(classes)}" if classes else "not a number"
        if len(told) == 1:
            wrong = ""
        else:
            wrong = f"is {true!r}, {among}"
        if not wrong and answers.true.setdefault(place, told[0]) != told[0]:
            wrong = "is answered twice, differently"
        if wrong:
            raise ValueError(f"{at}: the true label {wrong}; correct it, or leave it empty")
    return answers


def _same(now: str, was: str) -> bool:
    """Compare texts, or numbers in the forms of spreadsheets, such as 1,50 and 1.5."""
    number = exact(now.replace(",", "."))
    return now in (undo_harmless(was), was.strip()) or (number is not None and number == exact(was))


def _estimated(
    found: Audit | NumericAudit,
    units: NDArray[np.intp],
    draws: list[int],
    answers: dict[int, Any],
    strata: list[NDArray[np.intp]],
    about: dict[str, Any],
) -> Review:
    import pandas as pd

    labels = found.table.labels
    N = len(units)
    rows = np.array([i for i in draws if i in answers], dtype=np.intp)
    true = np.array([answers[int(i)] for i in rows], dtype=object)
    sampled = [(np.isin(rows, stratum), stratum) for stratum in strata]
    shares = [len(stratum) / N for stratum in strata]

    def share(score: NDArray[np.float64], given: NDArray[Any]) -> Rate:
        """Estimate the share of rows whose true label differs from the given one."""
        if not len(rows):
            return UNKNOWN
        wrong = (true != given[rows]).astype(float)
        if len(sampled) == 1:
            return intervals.rate(wrong, score[rows], score[units].mean(), N, intervals.mid)
        return intervals.stratified([(wrong[at], len(all_)) for at, all_ in sampled], shares)

    w = (true != labels[rows]).astype(float)
    n = len(rows)
    wrong = share(found.doubt, labels)

    def plain(tail: float) -> Rate:
        if not len(rows):
            return UNKNOWN
        return intervals.combined([intervals.counted(w[at], len(all_), tail) for at, all_ in sampled], shares)

    repaired = labels.astype(object)
    known = _answered(found, answers)
    repaired[list(known)] = list(known.values())
    changed = np.flatnonzero(repaired != labels)
    accuracies = []
    rates = list[list[Any]]()
    if not isinstance(found, NumericAudit):
        for method, guessed in found.predictions.items():
            p = found.probabilities[np.arange(len(labels)), guessed]
            rate = share(1.0 - p, found.classes[guessed])
            accuracies.append([method, 1 - rate.value, 1 - rate.high, 1 - rate.low])
        if min(int(at.sum()) for at, _ in sampled) > 2:
            rates = _flip_rates(true, rows, sampled, found)
    most_wrong = N * plain(TAIL).high
    unknown = N - int(np.isin(units, list(known)).sum())
    if n:
        ahead = (n / (n + NEXT)) ** 0.5
    else:
        ahead = float("nan")
    if len(strata) == 1 and n < N:
        ahead *= intervals.finite(n + NEXT, N) / intervals.finite(n, N)
    listed = None
    precision = about["precision"]
    if precision is not None:
        places = np.argsort(np.searchsorted(found.table.rows, found.ranking["row"]))
        ranked = found.ranking.iloc[np.sort(places[units])]
        rank = np.searchsorted(np.sort(places[units]), places[rows])
        # drawn by doubt: the ranking begins with the rows that the model doubts
        most = len(strata[0])
        listed = ranked.head(intervals.longest(w, rank, precision, TAIL, most))
    table = pd.DataFrame({name: list(column) for name, column in found.table.contents.items()})
    name = f"{found.table.label} repaired"
    while name in table:
        name += " again"
    column = table[found.table.label].astype(object).to_numpy(copy=True)
    column[found.table.rows[changed]] = repaired[changed]
    table[name] = column
    return Review(
        reviewed=n,
        skipped=len(draws) - n,
        picked=len(answers) - n,
        wrong=wrong,
        plain=plain(TAIL / 2),
        left=min(1.0, max(0.0, most_wrong - np.isin(units, changed).sum()) / max(unknown, 1)),
        after=wrong.width * ahead,
        flip_rates=pd.DataFrame(rates, columns=["true", "observed", "rate", "low", "high"]),
        accuracies=pd.DataFrame(accuracies, columns=["method", "accuracy", "low", "high"]),
        listed=listed,
        repaired=table,
        changed=len(changed),
        unreviewed=len(labels) - len(known),
        copies=len(known) - len(answers),
        **about,
    )


def _answered(found: Audit | NumericAudit, answers: dict[int, Any]) -> dict[int, Any]:
    """Copy the answers to rows that are equal and have the same label."""
    known: dict[int, Any] = {}
    equal = found.copies.equal
    labels = found.table.labels
    if len(np.unique(equal)) < len(equal):
        for row, true in answers.items():
            same = (equal == equal[row]) & (labels == labels[row])
            known |= dict.fromkeys(np.flatnonzero(same).tolist(), true)
    return known | answers


def _flip_rates(
    labels: NDArray[Any],
    rows: NDArray[np.intp],
    sampled: list[tuple[NDArray[np.bool_], NDArray[np.intp]]],
    found: Audit,
) -> list[list[Any]]:
    """Estimate the flip matrix from reviewed rows.

    omega_jk = theta_jk / theta_j, each prediction-powered, by the delta method.

    Where fewer than 5 rows of a stratum are, or are not, in the cell: Clopper and Pearson's limits, combined
    with the strata's shares of theta_j, if they are wider.
    """
    from scipy.special import stdtrit

    observed = found.observed
    true = np.searchsorted(found.classes, labels.astype(found.classes.dtype))
    K = len(found.classes)
    p = found.probabilities
    table = []
    N = sum(len(all_) for _, all_ in sampled)
    quantile = float(stdtrit(len(rows) - 2, 1 - TAIL / 2))
    for j, k in np.ndindex(K, K):
        base = (true == j).astype(float)
        score = np.where(observed == k, p[:, j], 0.0)
        cell = np.where(observed[rows] == k, base, 0.0)
        parts = []
        for at, all_ in sampled:
            of_class = intervals.powered(base[at], p[rows[at], j], p[all_, j].mean())
            of_cell = intervals.powered(cell[at], score[rows[at]], score[all_].mean())
            hits = int(cell[at].sum())
            members = int(base[at].sum())
            if members:
                alone = (hits / members, *share_interval(hits, members))
            else:
                alone = (0.5, 0.0, 1.0)
            few = min(hits, members - hits) < intervals.FEW
            factor = intervals.finite(at.sum(), len(all_))
            parts.append((len(all_) / N, of_class, of_cell, Rate(*alone), few, factor))
        whole_ = sum(c * of_class.value for c, of_class, *_ in parts)
        if not base.any() or whole_ <= 0:
            table.append([found.classes[j], found.classes[k], float("nan"), 0.0, 1.0])
            continue
        value = min(max(sum(c * of_cell.value for c, _, of_cell, *_ in parts) / whole_, 0.0), 1.0)
        square = 0.0
        for c, of_class, of_cell, _, _, factor in parts:
            residuals = (of_cell.residuals - value * of_class.residuals) / whole_
            error = intervals.Powered(value, residuals, 1.0).error(intervals.UNSEEN / whole_**2)
            square += (c * error * factor) ** 2
        half = quantile * square**0.5
        limits = max(value - half, 0.0), min(value + half, 1.0)
        if any(few for *_, few, _ in parts):
            weights = np.array([max(c * of_class.value, 0.0) for c, of_class, *_ in parts])
            sure = intervals.combined([alone for *_, alone, _, _ in parts], weights / weights.sum())
            if sure.width > limits[1] - limits[0]:
                limits = (sure.low, sure.high)
        table.append([found.classes[j], found.classes[k], min(max(value, limits[0]), limits[1]), *limits])
    return table


def _sentences(found: Review) -> list[str]:
    def between(low: float, high: float) -> str:
        return f"{percent(low)} to {percent(high)}"

    sentences = []
    wrong = found.wrong
    if not found.reviewed:
        sentences.append(
            f"{found.drawn} rows were drawn: fill in the column `true` of {found.path} and give the same "
            "command again. The order is that of the draws, so you may stop early."
        )
    else:
        sentences += [
            f"{percent(wrong.value)} of the labels are wrong (95 % confidence: {between(*wrong[1:])}), from "
            f"{found.reviewed} reviewed rows; exact limits, without scores: {between(*found.plain[1:])}.",
            f"Of the labels not reviewed at most {percent(found.left)} are wrong, with 95 % confidence.",
        ]
        if found.unreviewed >= NEXT:
            sentences.append(f"{describe_gain(found)}.")
        off = found.flip_rates[found.flip_rates["true"] != found.flip_rates["observed"]].dropna()
        for true, observed, rate, low, high in off.to_numpy().tolist() if len(off) <= 6 else ():
            share = f"{percent(rate)} of class {true} ({between(low, high)})"
            sentences.append(f"{true} labelled {observed}: {share}.")
        for method, right, low, high in found.accuracies.to_numpy().tolist():
            share = f"{percent(right)} of the true labels ({between(low, high)})"
            sentences.append(f"{method} is right for {share}.")
        if found.skipped:
            sentences.append(
                f"{found.skipped} rows drawn have no answer and are not part of this: the figures hold if "
                "whether a row was answered has nothing to do with its label being wrong."
            )
    if found.copies:
        sentences.append(
            f"{found.copies} more rows are equal to an answered one, label included: its answer repairs them."
        )
    if found.picked:
        sentences.append(
            f"{found.picked} rows you chose yourself are repaired, and no part of the estimates."
        )
    if found.precision is not None:
        sentences.append(_describe_list(found))
    return sentences


def describe_gain(found: Review) -> str:
    """Say how much narrower the interval would be with more rows.

    Parameters
    ----------
    found : Review
        What reviewed rows say.

    Returns
    -------
    str
        A sentence without its full stop.
    """
    now = f"{100 * found.wrong.width:.1f}"
    later = f"{100 * found.after:.1f}"
    return f"{NEXT} more rows would narrow the interval from {now} to about {later} percentage points"


def _describe_list(found: Review) -> str:
    """Say what is known of the list that the user wants."""
    if not found.reviewed or found.listed is None:
        return NO_LIST
    share = percent(found.precision or 0.0)
    if len(found.listed):
        return (
            f"Of the first {len(found.listed)} labels of the ranking at least {share} are wrong, with "
            "95 % confidence; they were ranked before the review."
        )
    return (
        f"No list can be shown to be at least {share} wrong with these rows. Draw more, or by doubt "
        "in a new folder (`--by doubt --out`)."
    )
