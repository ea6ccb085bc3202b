"""Rows that a person reviews: drawn before the first answer, written, read back, and what follows from them.

`review` is called twice with the same arguments. The first call draws rows and writes ``review.csv`` with
an empty column ``true``, and beside it ``review_plan.json`` with the seed, the rows and their
probabilities. The second reads what was filled in. A row that is skipped, or added by the user, is no part
of an estimate.
"""

from __future__ import annotations

import csv
import hashlib
import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from noisylabels.auditing import intervals, report
from noisylabels.auditing.cross_fitting import Array, Classes
from noisylabels.auditing.intervals import Rate
from noisylabels.auditing.tables import exact, is_missing, visible
from noisylabels.statistics import share_interval
from noisylabels.validation import whole

if TYPE_CHECKING:
    import pandas as pd

    from noisylabels.auditing.audit import Audit

PLAN = "review_plan.json"
UNIFORM = 0.2
"""Share of the draws by doubt that every row gets alike: no weight is above 1 / 0.2."""
NEXT = 50
TAIL = 1 - intervals.LEVEL
NO_LIST = "Without reviewed rows no list can be said to be wrong to any share: --review draws them."
DESIGNS = ("chance", "doubt")
RUN = ("=", "+", "-", "@", "\t", "\r", "'")


def harmless(cell: object) -> object:
    """An apostrophe before a text that a spreadsheet would run as a formula, or that begins with one.

    A number stays as it is, with its sign.
    """
    if not (isinstance(cell, str) and cell.startswith(RUN)):
        return cell
    try:
        float(cell)
    except ValueError:
        return f"'{cell}"
    return cell


@dataclass(frozen=True)
class Review:
    """What is known from reviewed rows.

    reviewed, skipped, picked : rows drawn and answered, drawn and not answered, answered and not drawn.
    wrong : share of wrong labels among all.   plain : the same from the reviewed rows alone, without a model.
    left : upper limit of the share of wrong labels among those not reviewed.   after : expected width of
    ``wrong`` with 50 more rows.   flip_rates : true, observed, rate, low, high.   accuracies : method,
    accuracy, low, high, on true labels.   listed : rows of the longest list that is wrong as often as
    asked, or None. repaired : the table with the column ``<label> repaired``.   sheet : the content of
    review.csv.
    """

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
    sheet: pd.DataFrame
    path: Path

    @property
    def text(self) -> str:
        """The findings in plain words."""
        return "\n".join(_sentences(self))

    def __str__(self) -> str:
        return self.text


class Plan(NamedTuple):
    """Draws (n,) of rows, counted as in the audit's table, and their probabilities; least of any row."""

    by: str
    seed: int
    table: str
    draws: list[int]
    probabilities: list[float]
    least: float


def review(
    found: Audit,
    path: str | Path = "review.csv",
    rows: int = 100,
    *,
    by: str = "chance",
    random_state: int = 0,
    precision: float | None = None,
) -> Review:
    """Draw ``rows`` and write them to ``path``, or read the answers in it; more rows than before are added.

    by : "chance", all rows alike, the best for rates; "doubt", rows that the model is unsure of more often
    (probability 0.2 / N + 0.8 times the share of sqrt(p_y (1 - p_y))), the better for a list; some come
    twice. precision : asks for the longest list of which at least this share is wrong, with 95 % confidence.

    Raises ValueError : an argument, a file that was changed in other columns than ``true``, or that belongs
    to another table, in one line.
    """
    path, N = Path(path), len(found.table.labels)
    whole("rows", rows, 1, N)
    if by not in DESIGNS:
        raise ValueError(f"by must be one of {', '.join(DESIGNS)}, got {by!r}")
    if precision is not None and not 0 < precision < 1:
        raise ValueError(f"precision must lie between 0 and 1, got {precision}")
    observed = np.searchsorted(found.classes, found.table.labels)
    doubt = 1.0 - found.probabilities[np.arange(N), observed]
    keys = _keys(found)
    digest = hashlib.sha256("".join(keys).encode()).hexdigest()[:16]
    planned = path.with_name(PLAN)
    if path.exists() != planned.exists():
        there, gone = (path, planned) if path.exists() else (planned, path)
        raise ValueError(
            f"{there} is there, but {gone} is not; restore it, or name a new place for the review"
        )
    plan, answers, repeated = drawn(doubt, rows, by, random_state, digest), dict[int, Any](), path.exists()
    if repeated:
        try:
            before = Plan(**json.loads(planned.read_text(encoding="utf-8")))
        except (ValueError, TypeError):
            raise ValueError(f"{planned}: damaged; start a new folder, or put the file back") from None
        plan = _extended(before, plan, planned)
    sheet = _sheet(found, plan, keys, observed)
    if repeated:
        answers = _read(path, sheet, found, keys)
    sheet["true"] = [str(answers.get(i, "")) for i in dict.fromkeys(plan.draws)]
    if not repeated or len(set(plan.draws)) > _count(path):
        planned.write_text(json.dumps(plan._asdict()), encoding="utf-8")
        added = [i for i in answers if i not in set(plan.draws)]
        _write(path, sheet, [[found.table.rows[i], str(answers[i])] for i in added])
    return _estimated(found, plan, answers, observed, precision, sheet, path)


def drawn(doubt: Array, rows: int, by: str, seed: int, table: str) -> Plan:
    """The first ``rows`` draws of this seed: by chance without replacement, by doubt with it."""
    N, rng = len(doubt), np.random.default_rng([seed, 20])
    if by == "chance":
        return Plan(by, seed, table, rng.permutation(N)[:rows].tolist(), [1.0 / N] * rows, 1.0 / N)
    spread = np.sqrt(doubt * (1.0 - doubt)) + 1e-9
    chances = UNIFORM / N + (1 - UNIFORM) * spread / spread.sum()
    draws = np.searchsorted(np.cumsum(chances)[:-1], rng.random(rows), side="right")
    return Plan(by, seed, table, draws.tolist(), chances[draws].tolist(), UNIFORM / N)


def _extended(old: Plan, new: Plan, path: Path) -> Plan:
    """The draws of ``old``, and of ``new`` what goes beyond them."""
    for key, is_, was in zip(("by", "seed", "table"), new[:3], old[:3], strict=True):
        if is_ != was:
            raise ValueError(
                f"{path}: drawn with {key} {was}, now {key} is {is_}; use the same as before, or a new folder"
            )
    n = len(old.draws)
    more = len(new.draws) > n
    if more and (new.draws[:n] != old.draws or not np.allclose(new.probabilities[:n], old.probabilities)):
        raise ValueError(f"{path}: another model draws other rows; audit as before, or start a new folder")
    return new if more else old


def _keys(found: Audit) -> list[str]:
    """A digest of what each row of the table says; the k keeps spreadsheets from reading a number."""
    columns = [found.table.contents[name] for name in found.table.contents]
    lines = ("\x1f".join(str(column[i]) for column in columns) for i in found.table.rows.tolist())
    return ["k" + hashlib.sha256(line.encode("utf-8", "replace")).hexdigest()[:12] for line in lines]


def _sheet(found: Audit, plan: Plan, keys: list[str], observed: Classes) -> pd.DataFrame:
    """What a person needs to decide, a line for each row drawn, in the order of the draws."""
    import pandas as pd

    unique = list(dict.fromkeys(plan.draws))
    rest = found.probabilities.copy()
    rest[np.arange(len(rest)), observed] = -1
    why = {"chance": "by chance, as likely as any row", "doubt": "by doubt, with probability {:.2g} a draw"}
    chances = dict(zip(plan.draws, plan.probabilities, strict=True))
    first = {
        "row": found.table.rows[unique],
        "key": [keys[i] for i in unique],
        "observed": found.classes[observed[unique]],
        "suggestion": found.classes[rest.argmax(axis=1)[unique]],
        "why": [why[plan.by].format(chances[i]) for i in unique],
        "true": "",
    }
    shown = {
        name if name not in first else f"{name} (table)": [
            visible(column[i]) for i in found.table.rows[unique].tolist()
        ]
        for name, column in found.table.contents.items()
        if name != found.table.label
    }
    return pd.DataFrame(first | shown)


def _write(path: Path, sheet: pd.DataFrame, added: list[list[Any]]) -> None:
    """Beside the old file first, then in its place."""
    new = path.with_name(path.name + ".new")
    width, at = len(sheet.columns), list(sheet.columns).index("true")
    with new.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(sheet.columns)
        writer.writerows([[harmless(str(cell)) for cell in row] for row in sheet.itertuples(index=False)])
        for row, true in added:
            writer.writerow([row, *[""] * (at - 1), harmless(true), *[""] * (width - at - 1)])
    new.replace(path)


def _lines(path: Path) -> list[list[str]]:
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            text = file.read()
    except UnicodeDecodeError:
        raise ValueError(f"{path}: not UTF-8 text; save it as CSV in UTF-8") from None
    mark = max(",;\t", key=text.partition("\n")[0].count)
    return [line for line in csv.reader(text.splitlines(keepends=True), delimiter=mark) if any(line)]


def _count(path: Path) -> int:
    """Rows of the file that were drawn: those with a key."""
    header, *lines = _lines(path)
    return sum(bool(line[header.index("key")]) for line in lines)


def _read(path: Path, sheet: pd.DataFrame, found: Audit, keys: list[str]) -> dict[int, Any]:
    """The true class by row of the audit's table. Rows are matched by key, in any order.

    Raises ValueError : a changed cell, a row that is not there or there twice, a label that is no class.
    """
    header, *lines = _lines(path) or [[]]
    if missing := [name for name in sheet.columns if name not in header]:
        raise ValueError(
            f"{path}: the column {missing[0]!r} is gone; restore it, only `true` is to be filled in"
        )
    cells = sheet.astype(str).itertuples(index=False)
    written = {str(row.key): dict(zip(sheet.columns, row, strict=True)) for row in cells}
    places = {int(row): i for i, row in enumerate(found.table.rows)}
    classes, answers = {str(value): value for value in found.classes}, dict[int, Any]()
    for number, line in enumerate(lines, start=2):
        at, row = f"{path}, line {number}", dict(zip(header, map(_plain, line), strict=False))
        place = places.get(int(row["row"])) if row.get("row", "").isdecimal() else None
        if place is None or (row["key"] and row["key"] != keys[place]):
            raise ValueError(
                f"{at}: row {row.get('row')!r} with this key is not in the table; restore the line"
            )
        for name, was in written.get(row["key"], {}).items():
            if name != "true" and not _same(row.get(name, ""), was):
                change = f"column {name!r} was {was!r} and is {row.get(name, '')!r}"
                raise ValueError(f"{at}: {change}; restore it, only `true` is to be filled in")
        if is_missing(row["true"]):
            continue
        true = [value for text, value in classes.items() if _same(row["true"], text)]
        if len(true) != 1 or answers.setdefault(place, true[0]) != true[0]:
            known = ", ".join(classes)
            wrong = (
                "is answered twice, differently"
                if len(true) == 1
                else f"is {row['true']!r}, not one of {known}"
            )
            raise ValueError(f"{at}: the true label {wrong}; correct it, or leave it empty")
    return answers


def _plain(cell: str) -> str:
    return cell.strip().removeprefix("'")


def _same(now: str, was: str) -> bool:
    """Equal as texts, or as numbers, which spreadsheets write in their own way."""
    number = exact(now)
    return now == _plain(was) or now == was.strip() or (number is not None and number == exact(was))


def _estimated(
    found: Audit,
    plan: Plan,
    answers: dict[int, Any],
    observed: Classes,
    precision: float | None,
    sheet: pd.DataFrame,
    path: Path,
) -> Review:
    import pandas as pd

    N, p = len(observed), found.probabilities
    kept = [k for k, i in enumerate(plan.draws) if i in answers]
    rows = np.array([plan.draws[k] for k in kept], dtype=np.intp)
    weights = 1.0 / (N * np.array([plan.probabilities[k] for k in kept])) if kept else np.empty(0)
    weights = np.ones(len(rows)) if plan.by == "chance" else weights
    top = 1.0 if plan.by == "chance" else 1.0 / (N * plan.least)
    true = np.array([np.searchsorted(found.classes, answers[i]) for i in rows.tolist()], dtype=np.intp)

    def share(predicted: Classes) -> Rate:
        """Of the rows whose true class is another one."""
        score = 1.0 - p[np.arange(N), predicted]
        wrong = (true != predicted[rows]).astype(float)
        return intervals.rate(wrong, score[rows], float(score.mean()), weights, N, top)

    w, n = (true != observed[rows]).astype(float), len(rows)
    wrong = share(observed)
    errors = {name: share(predicted) for name, predicted in found.predictions.items()}
    accuracies = [[name, 1 - rate.value, 1 - rate.high, 1 - rate.low] for name, rate in errors.items()]
    repaired, fixed = observed.copy(), np.array(list(answers), dtype=np.intp)
    repaired[fixed] = (
        np.searchsorted(found.classes, np.array([answers[i] for i in fixed.tolist()])) if n else 0
    )
    most = N * intervals.counted(w, weights, N, top, TAIL).high
    most = max(0.0, most - np.count_nonzero(repaired != observed))
    rates = _flip_rates(w, true, observed, rows, p, weights, top, found) if n > 2 else np.empty((0, 5))
    ahead = (n / (n + NEXT)) ** 0.5 if n else float("nan")
    if plan.by == "chance" and n < N:
        ahead *= intervals.finite(n + NEXT, N) / intervals.finite(n, N)
    listed = None
    if precision is not None:
        rank = {int(row): place for place, row in enumerate(found.ranking["row"])}
        places = np.array([rank[int(row)] for row in found.table.rows[rows]], dtype=np.intp)
        listed = found.ranking.head(intervals.longest(w, places, weights, top, precision, TAIL))
    table = pd.DataFrame({name: list(column) for name, column in found.table.contents.items()})
    name = f"{found.table.label} repaired"
    while name in table:
        name += " again"
    changed = np.flatnonzero(repaired != observed)
    labels = table[found.table.label].astype(object).to_numpy(copy=True)
    labels[found.table.rows[changed]] = found.classes[repaired[changed]].astype(object)
    table[name] = labels
    return Review(
        reviewed=len(set(rows.tolist())),
        skipped=len(set(plan.draws) - set(answers)),
        picked=len(set(answers) - set(plan.draws)),
        wrong=wrong,
        plain=intervals.counted(w, weights, N, top),
        left=min(1.0, most / (N - len(answers))) if len(answers) < N else 0.0,
        after=wrong.width * ahead,
        flip_rates=pd.DataFrame(rates, columns=["true", "observed", "rate", "low", "high"]),
        accuracies=pd.DataFrame(accuracies, columns=["method", "accuracy", "low", "high"]),
        precision=precision,
        listed=listed,
        repaired=table,
        sheet=sheet,
        path=path,
    )


def _flip_rates(
    w: Array,
    true: Classes,
    observed: Classes,
    rows: NDArray[np.intp],
    p: Array,
    weights: Array,
    top: float,
    found: Audit,
) -> list[list[Any]]:
    """omega_jk = theta_jk / theta_j, each prediction-powered, by the delta method; few rows: see `rate`."""
    from scipy.special import stdtrit

    N, n, K, table = len(observed), len(rows), len(found.classes), []
    for j in range(K):
        base = (true == j).astype(float)
        whole_ = intervals.powered(base, p[rows, j], float(p[:, j].mean()), weights)
        for k in range(K):
            cell, score = base * (observed[rows] == k), p[:, j] * (observed == k)
            part = intervals.powered(cell, score[rows], float(score.mean()), weights)
            hits, members = int(cell.sum()), int(base.sum())
            value = (
                min(max(part.value / whole_.value, 0.0), 1.0)
                if whole_.value > 0 and members
                else float("nan")
            )
            limits = (0.0, 1.0)
            if members:
                ratio = (part.residuals - value * whole_.residuals) / max(whole_.value, 1e-9)
                unseen = intervals.UNSEEN * float(np.mean(weights**2)) / max(whole_.value, 1e-9) ** 2
                error = intervals.Powered(value, ratio, 1.0).error(unseen)
                half = (
                    float(stdtrit(n - 2, 1 - TAIL / 2))
                    * error
                    * (intervals.finite(n, N) if top == 1 else 1.0)
                )
                limits = max(value - half, 0.0), min(value + half, 1.0)
                if min(hits, members - hits) < intervals.FEW:
                    sure = share_interval(hits, members)
                    if top > 1.0:
                        v = weights * base
                        up, down = (
                            intervals.largest_share(v * x, v, top, TAIL / 2) for x in (cell, 1 - cell)
                        )
                        sure = (max(0.0, 1 - down), min(1.0, up))
                    limits = sure if sure[1] - sure[0] > limits[1] - limits[0] else limits
            value = min(max(value, limits[0]), limits[1])
            table.append([found.classes[j], found.classes[k], value, *limits])
    return table


def _sentences(found: Review) -> list[str]:
    percent = report.percent
    drawn_rows = len(found.sheet)
    told = []
    if not found.reviewed:
        told.append(
            f"{drawn_rows} rows were drawn: fill in the column `true` of {found.path} and give the same "
            "command again. The order is that of the draws, so you may stop early."
        )
    else:
        told += [
            f"{percent(found.wrong.value)} of the labels are wrong (95 % confidence: "
            f"{percent(found.wrong.low)} to {percent(found.wrong.high)}), from {found.reviewed} reviewed "
            f"rows; without the model: {percent(found.plain.low)} to {percent(found.plain.high)}.",
            f"Of the labels not reviewed at most {percent(found.left)} are wrong, with 95 % confidence.",
            f"{NEXT} more rows would narrow the interval from {percent(found.wrong.width)} to about "
            f"{percent(found.after)} of the labels.",
        ]
        off = found.flip_rates[found.flip_rates["true"] != found.flip_rates["observed"]].dropna()
        for row in off.to_dict("records"):
            between = f"{percent(row['low'])} to {percent(row['high'])}"
            share = f"{percent(row['rate'])} of class {row['true']} ({between})"
            told += [f"{row['true']} labelled {row['observed']}: {share}."] * bool(len(off) <= 6)
        for row in found.accuracies.to_dict("records"):
            told.append(
                f"{row['method']} is right for {percent(row['accuracy'])} of the true labels "
                f"({percent(row['low'])} to {percent(row['high'])})."
            )
        if found.skipped:
            told.append(
                f"{found.skipped} rows drawn have no answer and are no part of this: the figures hold if "
                "whether a row was answered has nothing to do with its label being wrong."
            )
        if found.picked:
            told.append(f"{found.picked} rows you chose yourself are repaired, and no part of the estimates.")
    if found.precision is not None and found.listed is not None:
        share = percent(found.precision)
        if not found.reviewed:
            told.append(NO_LIST)
        elif len(found.listed):
            told.append(
                f"Of the first {len(found.listed)} labels of the ranking at least {share} are wrong, with "
                "95 % confidence; they were ranked before the review."
            )
        else:
            told.append(
                f"No list can be shown to be at least {share} wrong with these rows. Draw more, or by doubt "
                "(`--by doubt`)."
            )
    return told
