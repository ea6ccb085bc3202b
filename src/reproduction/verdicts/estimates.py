"""What a result table says where an artifact asks: estimates that no bound, margin or wording has touched.

A printed value asks for one group of rows. A check of a claim asks for a group for each entry of ``for_each``
and, in a trend, for each step of it. Verdicts are decided from these estimates alone (`judge`), so that they
can be decided again after the table is gone: ``estimates.csv`` keeps them.
"""

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import inf, nan
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from noisylabels.statistics import Estimate, mean_se, pool_error, welch
from reproduction.verdicts.names import (
    INDEX,
    RATIO_OF_DIFFERENCES,
    TRENDS,
    Check,
    MissingRows,
    VerdictError,
    trend_of,
)
from reproduction.verdicts.per_point_errors import CURVE, Curve, Points
from reproduction.verdicts.selection import (
    by_repetition,
    paired,
    prepare,
    select,
    statistic_rows,
    steps,
    varies,
)

COLUMNS = ["id", "check", "what", "group", "at", "kind", "repetitions", "left_out", "mean", "se", "df"]
COLUMNS += ["pool_se", "pool_df", "more", "stand_in", "missing"]
BOUNDED = ("below", "above", "within", "at_least")
"""Keys of a check that change its verdict, not its estimates."""

UNKNOWN = Estimate(nan, nan, 0)

At = dict[str, Any]
"""Columns and their values in the rows of a group; a step of a trend is a list of two values."""


@dataclass(frozen=True)
class Cell:
    """What the rows of one group say.

    kind : ``mean``, ``ratio``, ``every`` or ``relative_se``.   estimate : of the mean over the repetitions.
    pool : what the choice of the test points adds to it for new points, where they were kept.
    more : ``a`` and ``b`` by repetition of a ratio; of every row the extremes, where they are, how many rows.
    """

    at: At
    kind: str
    repetitions: int
    left_out: int = 0
    estimate: Estimate = UNKNOWN
    pool: Estimate | None = None
    more: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Measured:
    """Groups of cells of a printed value or a check; ``missing`` says which rows are not there.

    what : digest of what was measured.   stand_in : data sets that substitutes stand for.
    """

    what: str
    groups: Sequence[Sequence[Cell]] = ()
    stand_in: Sequence[str] = ()
    missing: str = ""


Estimates = dict[tuple[str, int], Measured]
"""(id, number of the check, 0 for a printed value) -> what was measured."""


def digest(what: Any) -> str:
    """Twelve hexadecimal digits of a value of JSON."""
    return hashlib.sha256(json.dumps(what, sort_keys=True).encode()).hexdigest()[:12]


def measured_part(check: Check) -> dict[str, Any]:
    """A check without its bound."""
    return {key: value for key, value in check.items() if key not in BOUNDED}


def bound_of(check: Check) -> dict[str, Any]:
    """The key and value of a check that bound its statistic; of a trend nothing."""
    return {key: check[key] for key in BOUNDED[:3] if key in check}


# Measuring


class _Source(NamedTuple):
    """A prepared table; beside it the curves that were tested point by point, and their index."""

    rows: pd.DataFrame
    curves: Sequence[Curve]
    names: pd.DataFrame | None


def measure(content: Mapping[str, Any], table: pd.DataFrame, points: Points | None = None) -> Estimates:
    """The estimates of all printed values and claims of an artifact.

    content : mapping with the optional lists ``published`` and ``claims``.   table : `results.COLUMNS`.

    Raises
    ------
    VerdictError : names the printed value or claim, and what cannot be measured. Missing rows are no error.
    """
    curves = list(points.curves.values()) if points else []
    source = _Source(prepare(table), curves, prepare(_index(points)) if points and curves else None)
    found: Estimates = {}
    for entry in content.get("published") or []:
        asked = {"where": entry["where"]}
        found[entry["id"], 0] = _measured(f"published {entry['id']}", _of_printed, source, asked)
    for claim in content.get("claims") or []:
        for number, check in enumerate(claim["checks"], start=1):
            place = f"claim {claim['id']}: check {number}"
            found[claim["id"], number] = _measured(place, _of_check, source, check)
    return found


def _measured(place: str, measure_one: Any, source: _Source, asked: Mapping[str, Any]) -> Measured:
    what = digest(measured_part(asked))
    try:
        groups, rows = measure_one(source, asked)
    except MissingRows as error:
        return Measured(what, missing=str(error))
    except VerdictError as error:
        raise type(error)(f"{place}: {error}") from None
    return Measured(what, groups, sorted(set(rows.loc[rows["stand_in"], "dataset"])))


def _of_printed(source: _Source, asked: Mapping[str, Any]) -> tuple[list[list[Cell]], pd.DataFrame]:
    chosen = select(source.rows, asked["where"])
    unnamed(chosen, {"repetition", *asked["where"]})
    return [[_mean({}, chosen)]], chosen


def _of_check(source: _Source, check: Check) -> tuple[list[list[Cell]], pd.DataFrame]:
    trend = trend_of(check)
    where = {**check.get("where", {}), **(check[trend] if trend else {})}
    rows = statistic_rows(source.rows, {**check, "where": where})
    if check.get("rows") != "every":
        _guard(rows, check)
    groups = split(rows, check.get("for_each", []))
    added = _pools(source, check, groups)
    cells = []
    for number, (at, part) in enumerate(groups):
        parts = [(at, part)]
        if trend:
            column, order = next(iter(check[trend].items()))
            ordered = order if trend == "increasing" else order[::-1]
            found = steps(part, column, ordered, check.get("where", {}))
            parts = [(at | {column: step}, of_step) for step, of_step in found]
        cells.append([_cell(name, of_name, check, added[number]) for name, of_name in parts])
    return cells, rows


def _guard(rows: pd.DataFrame, check: Check) -> None:
    """Never average over something the check does not name."""
    parts = [check.get(key, {}) for key in ("a", "b", "base", "where", *TRENDS)]
    unnamed(
        rows, {"repetition", *check.get("for_each", [])}.union(*(p for p in parts if isinstance(p, Mapping)))
    )


def unnamed(rows: pd.DataFrame, named: set[str]) -> None:
    """Reject rows that differ in a column which the selectors do not name.

    Raises
    ------
    VerdictError : names the column and the values found.
    """
    for column in varies(rows, [column for column in INDEX if column not in named]):
        if column == "source" and (rows.groupby("dataset")["source"].nunique() == 1).all():
            continue
        found = ", ".join(map(str, sorted(rows[column].unique())[:6]))
        raise VerdictError(
            f"the rows differ in {column} ({found}), which is not named; name it in where or for_each"
        )


def split(rows: pd.DataFrame, columns: list[str]) -> list[tuple[At, pd.DataFrame]]:
    """(columns and values, rows) of every group that the columns make; without columns all rows are one."""
    if not columns:
        return [({}, rows)]
    groups = rows.groupby(columns, dropna=False, sort=True)
    return [(_place(dict(zip(columns, key, strict=True))), part) for key, part in groups]


def _place(values: Mapping[str, Any]) -> At:
    """Values of some columns as JSON has them, without empty numbers."""
    plain = {key: value.item() if isinstance(value, np.generic) else value for key, value in values.items()}
    return {key: value for key, value in plain.items() if value == value}  # NaN: nothing


def _cell(at: At, rows: pd.DataFrame, check: Check, pool: Estimate | None) -> Cell:
    if check["statistic"] == RATIO_OF_DIFFERENCES:
        a, left_out = by_repetition(rows)
        b, _ = by_repetition(rows.assign(value=rows["divisor"]))
        return Cell(at, "ratio", a.size, left_out, more={"a": a.tolist(), "b": b.tolist()})
    if check["statistic"] != "relative_se" and check.get("rows") == "every":
        return _every(at, rows, check)
    cell = _mean(at, rows, pool)
    return replace(cell, kind="relative_se") if check["statistic"] == "relative_se" else cell


def _mean(at: At, rows: pd.DataFrame, pool: Estimate | None = None) -> Cell:
    values, left_out = by_repetition(rows)
    return Cell(at, "mean", values.size, left_out, mean_se(values), pool)


def _every(at: At, rows: pd.DataFrame, check: Check) -> Cell:
    """The smallest and the largest value, and how many rows violate the bound that is asked now."""
    values, varying = rows["value"].to_numpy(), varies(rows, INDEX)
    more: dict[str, Any] = {"rows": int(values.size)}
    for name, number in (("low", int(np.argmin(values))), ("high", int(np.argmax(values)))):
        more[name] = float(values[number])
        more[f"{name}_at"] = _place({column: rows[column].iloc[number] for column in varying})
    more |= {"violating": int((~Bound.of(check).met(values)).sum()), "bound": bound_of(check)}
    return Cell(at, "every", int(rows["repetition"].nunique()), more=more)


@dataclass(frozen=True)
class Bound:
    """``below``: v < high; ``above``: v > low; ``within``: low <= v <= high."""

    kind: str
    low: float
    high: float

    @classmethod
    def of(cls, check: Check) -> "Bound":
        """The bound of a check; the steps of a trend must be above 0."""
        if "within" in check:
            return cls("within", *map(float, check["within"]))
        if "below" in check:
            return cls("below", -inf, float(check["below"]))
        return cls("above", float(check.get("above", 0.0)), inf)

    def excess(self, values: Any) -> Any:
        """How far values lie beyond the bound (negative: inside)."""
        return np.maximum(self.low - values, values - self.high)

    def met(self, values: Any) -> Any:
        """Does each value meet the bound?"""
        return self.excess(values) <= 0 if self.kind == "within" else self.excess(values) < 0


# For new points of the same law


def _pools(source: _Source, check: Check, groups: Sequence[tuple[At, pd.DataFrame]]) -> list[Estimate | None]:
    """For each group what the choice of the pool adds to the error of its mean, where that is known.

    It is for mean differences of errors that jobs kept point by point, tested on the same points.
    """
    nothing: list[Estimate | None] = [None] * len(groups)
    plain = check["statistic"] == "difference" and check.get("b") != "x" and trend_of(check) is None
    if source.names is None or not plain or check.get("rows", "mean") != "mean" or "of" in check:
        return nothing
    where, columns = check.get("where", {}), check.get("for_each", [])
    try:
        a, b = (select(source.names, {**where, **check[side]}) for side in ("a", "b"))
        pairs = split(paired(a, b, check), columns)
        if [at for at, _ in pairs] != [at for at, _ in groups]:
            return nothing
        return [_added(part, source.curves) for _, part in pairs]
    except MissingRows:  # an error that is not kept point by point
        return nothing


def _index(points: Points) -> pd.DataFrame:
    """One row for each curve, as in a result table; the value is its number."""
    frame = pd.DataFrame(list(map(Points.columns, points.curves)), columns=CURVE)
    return frame.assign(repetition=0, value=np.arange(len(frame)), x=frame["x"].astype(float))


def _added(pairs: pd.DataFrame, curves: Sequence[Curve]) -> Estimate:
    """0 with the error that the pools add to the mean over some pairs; pools are independent."""
    total = Estimate(0.0, 0.0, inf)
    for _, of_pool in pairs.groupby(["dataset", "source"], observed=True):
        own = _of_pool([(curves[int(a)], curves[int(b)]) for a, b in of_pool[["value_a", "value_b"]].values])
        total = welch(total, own._replace(se=own.se * len(of_pool) / len(pairs)))
    return total


def _of_pool(pairs: Sequence[tuple[Curve, Curve]]) -> Estimate:
    """`pool_error` of d_i = 100 mean(errors of a - errors of b) / m_i, the mean over some pairs of a pool."""
    tests, pool = pairs[0][0].tests, pairs[0][0].pool
    if not all(np.array_equal(curve.tests, tests) for pair in pairs for curve in pair):
        raise MissingRows("the points were not tested alike")
    errors = np.mean([a.errors.astype(float) - b.errors for a, b in pairs], axis=0)
    seen = tests > 0
    return pool_error(100.0 * errors[seen] / tests[seen], tests[seen], pool)


# As a file


def frame_of(estimates: Estimates) -> pd.DataFrame:
    """Rows of `COLUMNS`, one for each cell; lists and mappings as JSON."""
    rows = []
    for (name, number), found in estimates.items():
        head = {"id": name, "check": number, "what": found.what, "missing": found.missing}
        head["stand_in"] = json.dumps(list(found.stand_in)) if found.stand_in else ""
        cells = [(i, cell) for i, group in enumerate(found.groups) for cell in group]
        rows += [head | {"group": i} | _row(cell) for i, cell in cells] or [head]
    return pd.DataFrame(rows, columns=COLUMNS)


def _row(cell: Cell) -> dict[str, Any]:
    row = {"kind": cell.kind, "repetitions": cell.repetitions, "left_out": cell.left_out}
    row |= dict(zip(("mean", "se", "df"), cell.estimate, strict=True))
    if cell.pool:
        row |= {"pool_se": cell.pool.se, "pool_df": cell.pool.df}
    return row | {
        key: json.dumps(value) if value else "" for key, value in (("at", cell.at), ("more", cell.more))
    }


def of_rows(rows: Iterable[Mapping[str, str]]) -> Estimates:
    """The estimates of one artifact from the rows of their file, which are text."""
    found: Estimates = {}
    groups: dict[tuple[str, int], dict[str, list[Cell]]] = {}
    for row in rows:
        key = row["id"], int(row["check"])
        of_key = groups.setdefault(key, {})
        if row["kind"]:
            of_key.setdefault(row["group"], []).append(_cell_of(row))
        substitutes = json.loads(row["stand_in"] or "[]")
        found[key] = Measured(row["what"], list(of_key.values()), substitutes, row["missing"])
    return found


def _cell_of(row: Mapping[str, str]) -> Cell:
    mean, se, df = (float(row[key] or "nan") for key in ("mean", "se", "df"))
    pool = Estimate(0.0, float(row["pool_se"] or "nan"), float(row["pool_df"])) if row["pool_df"] else None
    at, more = (json.loads(row[key] or "{}") for key in ("at", "more"))
    repetitions, left_out = (int(float(row[key])) for key in ("repetitions", "left_out"))
    return Cell(at, row["kind"], repetitions, left_out, Estimate(mean, se, df), pool, more)
