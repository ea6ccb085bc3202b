"""The rows of a result table that an artifact asks for, and the statistic of each.

A selector chooses rows by what its columns must equal: a scalar, one of a list, for ``x`` the ``last`` or
``first`` of each curve. A check pairs them and makes a statistic of each pair. A published value asks for one
group of rows, a check for a group for each entry of ``for_each`` and, in a trend, for each step of it.
"""

import csv
import difflib
import json
from collections.abc import Iterable, Mapping, Sequence
from functools import reduce
from itertools import pairwise
from math import inf
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from noisylabels.statistics import Estimate, pool_error, welch
from reproduction.judge.check_statistics import RATIO_OF_DIFFERENCES, ROUNDING, STATISTICS
from reproduction.judge.claims import (
    ENDS,
    INDEX,
    TRENDS,
    Asked,
    MissingRows,
    NeverTogether,
    VerdictError,
    listed,
    trend_of,
)
from reproduction.judge.outlying_runs import SEEN, Outlying, find_outlying_runs
from reproduction.run.points import CURVE, Curve, Points
from reproduction.run.results import COLUMNS as TABLE
from reproduction.spec.strict_yaml import Content

Groups = list[tuple[Content, pd.DataFrame]]


class Bound(NamedTuple):
    """``below``: v < high; ``above``: v > low; ``within``: low <= v <= high."""

    kind: str
    low: float
    high: float

    @classmethod
    def of(cls, check: Asked) -> "Bound":
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


# Rows


def prepare(table: pd.DataFrame) -> pd.DataFrame:
    """The table with labels as text, empty ones as "", and a column ``stand_in``: is the source a stand-in?

    Raises
    ------
    VerdictError : missing columns, two rows with the same index.
    """
    missing = [column for column in TABLE if column not in table.columns]
    if missing:
        raise VerdictError(f"the result table lacks the columns {missing}")
    labels = {column: _categories(table[column]) for column in INDEX if column not in ("repetition", "x")}
    rows = table[TABLE].assign(**labels)
    rows["stand_in"] = rows["source"].str.contains("stand-in", regex=False).astype(bool)
    double = rows.duplicated(INDEX)
    if double.any():
        raise VerdictError(f"the result table has two rows for {rows.loc[double, INDEX].iloc[0].to_dict()}")
    return rows


def _categories(column: pd.Series) -> pd.Series:
    """Text that is compared, grouped and sorted by its codes."""
    return column.astype(object).where(column.notna(), "").astype(str).astype("category")


def select(table: pd.DataFrame, selector: Asked) -> pd.DataFrame:
    """Rows of a prepared table that agree with the selector; every wanted value must occur.

    Raises
    ------
    VerdictError : an unknown column.
    MissingRows : a wanted value that the table does not have among the rows chosen so far.
    """
    if unknown := [column for column in selector if column not in INDEX]:
        known = ", ".join(INDEX)
        raise VerdictError(f"a selector names the unknown column {unknown[0]!r}; columns are {known}")
    rows, chosen = table, list[str]()
    for column in (c for c in INDEX if c in selector):
        if column == "x" and selector["x"] in ENDS:
            ends = rows.groupby(["dataset", "source", "noise", "setting", "method", "metric"])["x"]
            rows = rows[rows["x"] == ends.transform("max" if selector["x"] == "last" else "min")]
            continue
        masks = {str(wanted): _matches(rows[column], wanted) for wanted in listed(selector[column])}
        for wanted, mask in masks.items():
            if not mask.any():
                among = f" among the rows with {', '.join(chosen)}" if chosen else ""
                apart = column not in ("x", "repetition") and _matches(table[column], wanted).any()
                why = f"no row has {column} = {wanted}{among}; {_offer(rows[column], wanted)}"
                raise NeverTogether(why) if apart else MissingRows(why)
        rows = rows[np.logical_or.reduce(list(masks.values()))]
        chosen.append(f"{column} = {', '.join(masks)}")
    if rows.empty:
        raise MissingRows(f"no row agrees with {dict(selector)}")
    return rows.sort_values(INDEX)


def _matches(column: pd.Series, wanted: Any) -> pd.Series:
    if column.name in ("x", "repetition"):
        return (column - wanted).abs() <= ROUNDING * abs(wanted)
    return column == str(wanted)


def _offer(values: Iterable[Any], wanted: str) -> str:
    known = [f"{v:g}" if isinstance(v, float) else str(v) for v in sorted(set(values))]
    close = difflib.get_close_matches(wanted, known, n=3)
    few = known if len(known) <= 12 else [*known[:12], f"... ({len(known)} values)"]
    near = f"; did you mean {', '.join(close)}?" if close else ""
    return f"available: {', '.join(few) or 'nothing'}{near}"


def varies(rows: pd.DataFrame, columns: Iterable[str]) -> list[str]:
    """Those of the columns that have more than one value."""

    def constant(column: pd.Series) -> bool:
        coded = isinstance(column.dtype, pd.CategoricalDtype)
        values = column.cat.codes.to_numpy() if coded else column.to_numpy()
        return bool((values == values[0]).all() or column.isna().all())

    return [column for column in columns if not constant(rows[column])]


def unnamed(rows: pd.DataFrame, named: set[str]) -> None:
    """Reject rows that differ in a column which the selectors do not name.

    Raises
    ------
    VerdictError : names the column and the values found.
    """
    for column in varies(rows, [column for column in INDEX if column not in named]):
        if column == "source" and (rows.groupby("dataset")["source"].nunique() == 1).all():
            continue
        raise VerdictError(f"{_differing(rows, column)}, which is not named; name it in where or for_each")


def _differing(rows: pd.DataFrame, column: str) -> str:
    return f"the rows differ in {column} ({', '.join(map(str, sorted(rows[column].unique())[:6]))})"


# Pairs, and the statistic of each


def statistic_rows(table: pd.DataFrame, check: Asked) -> pd.DataFrame:
    """Rows of `INDEX` + value + stand_in: the statistic of the check for every row (value) or pair (others).

    A ratio of differences has value = a - base, and divisor = b - base beside it.

    Raises
    ------
    VerdictError, MissingRows : see `select` and `paired`.
    """
    statistic, where = check["statistic"], check.get("where", {})
    if statistic == RATIO_OF_DIFFERENCES:
        over, under = (
            statistic_rows(table, {**check, "statistic": "difference", "a": check[side], "b": check["base"]})
            for side in ("a", "b")
        )
        pairs = _merged(over, under, _keys({*check["a"], *check["b"], *check["base"]}, where))
        return pairs.assign(value=pairs["value_a"], divisor=pairs["value_b"])
    spread = _deviation if check.get("of") == "deviation" else lambda rows: rows
    a = spread(select(table, {**where, **check.get("a", {})}))
    if not STATISTICS[statistic].is_paired:
        return a
    if check["b"] == "x":
        return a.assign(value=_compare(statistic, a["value"], a["x"]))
    pairs = paired(a, spread(select(table, {**where, **check["b"]})), check)
    return pairs.assign(value=_compare(statistic, pairs["value_a"], pairs["value_b"]))


def _deviation(rows: pd.DataFrame) -> pd.DataFrame:
    """|value - median over the repetitions|: its means compare spreads (Brown and Forsythe 1974)."""
    curves = rows.groupby([column for column in INDEX if column != "repetition"], dropna=False)["value"]
    return rows.assign(value=(rows["value"] - curves.transform("median")).abs())


def _compare(statistic: str, a: pd.Series, b: pd.Series) -> Any:
    """Apply a statistic of pairs. Raises VerdictError: what the statistic needs of its values."""
    compare = STATISTICS[statistic].compare
    if compare is None:
        raise VerdictError(f"{statistic} does not compare pairs")
    try:
        return compare(a, b)
    except ValueError as error:
        raise VerdictError(f"{statistic} {error}") from None


def paired(a: pd.DataFrame, b: pd.DataFrame, check: Asked) -> pd.DataFrame:
    """The pairs of a check from the rows that its selectors chose: `INDEX`, value_a, value_b, stand_in.

    Raises
    ------
    VerdictError : a column that one side names varies on the other; several rows on both sides of a pair.
    MissingRows : a row without partner.
    """
    where, free = check.get("where", {}), {*check["a"], *check["b"]}
    for side, rows in (("a", a), ("b", b)):
        for column in varies(rows, sorted(free - set(check[side]) - set(where))):
            remedy = "which the other side names; name it too"
            raise VerdictError(f"{side}: {_differing(rows, column)}, {remedy}")
    return _merged(a, b, _keys(free, where))


def _keys(free: set[str], where: Asked) -> list[str]:
    """Columns on which two rows must agree to be a pair: all but the ``free`` ones."""
    loose = free | ({"source"} if "dataset" in free else set()) | ({"x"} if where.get("x") in ENDS else set())
    return [column for column in INDEX if column not in loose]


def _merged(a: pd.DataFrame, b: pd.DataFrame, keys: list[str]) -> pd.DataFrame:
    """`paired` rows that agree on ``keys``; others are of the side that has several, else of a."""
    if a.duplicated(keys).any() and b.duplicated(keys).any():
        raise VerdictError(f"a and b both select several rows per pair; rows are paired by {', '.join(keys)}")
    kept = [*INDEX, "value", "stand_in"]
    pairs = a[kept].merge(b[kept], how="outer", on=keys, suffixes=("_a", "_b"), indicator="side")
    lonely = pairs[pairs["side"] != "both"]
    if not lonely.empty:
        side, other = ("a", "b") if lonely["side"].iloc[0] == "left_only" else ("b", "a")
        first = f"the first is in {side} and {other} lacks it: { {key: lonely[key].iloc[0] for key in keys} }"
        raise MissingRows(f"{len(lonely)} rows have no partner; {first}")
    for column in set(INDEX) - set(keys):
        pairs[column] = pairs[f"{column}_b" if pairs[f"{column}_b"].nunique() > 1 else f"{column}_a"]
    pairs["stand_in"] = pairs["stand_in_a"] | pairs["stand_in_b"]
    return pairs[[*INDEX, "value_a", "value_b", "stand_in"]].sort_values(keys)


def steps(rows: pd.DataFrame, check: Asked, trend: str) -> list[tuple[Content, pd.DataFrame]]:
    """({column: [previous, next]}, rows) of the differences ``next - previous`` along a trend.

    They are taken in the increasing direction. Raises MissingRows : a value without rows or partner.
    """
    column, order = next(iter(check[trend].items()))
    found = []
    for step in pairwise(order if trend == "increasing" else order[::-1]):
        before, after = (rows[_matches(rows[column], wanted)] for wanted in step)
        pairs = _merged(after, before, _keys({column}, check.get("where", {})))
        value = _compare("difference", pairs["value_a"], pairs["value_b"])
        found.append(({column: list(step)}, pairs.assign(value=value)))
    return found


def cells_of(rows: pd.DataFrame, check: Asked) -> list[tuple[Content, pd.DataFrame]]:
    """What must all pass for a group to pass: (columns and values, rows) of each.

    The steps of a trend, the entries of ``all_of``, or the whole group.
    """
    trend = trend_of(check)
    return steps(rows, check, trend) if trend else split(rows, check.get("all_of", []))


def by_repetition(rows: pd.DataFrame) -> tuple[np.ndarray, int]:
    """(values, left out): mean over the rows of each repetition, and how many incomplete ones were left out.

    The rows are sorted by `INDEX`, so that their order in the table does not touch the last digit.

    Raises
    ------
    MissingRows : no repetition has all rows.
    """
    varying = varies(rows, [column for column in INDEX if column != "repetition"])
    curves = len(rows[varying].drop_duplicates()) if varying else 1
    _, repetition, sizes = np.unique(rows["repetition"], return_inverse=True, return_counts=True)
    complete = sizes == curves
    if not complete.any():
        raise MissingRows(
            f"no repetition has all {curves} rows that are averaged; compare them with for_each"
        )
    means = np.bincount(repetition, weights=rows["value"].to_numpy()) / sizes
    return means[complete], int((~complete).sum())


def split(rows: pd.DataFrame, columns: list[str]) -> list[tuple[Content, pd.DataFrame]]:
    """(columns and values, rows) of every group that the columns make; without columns all rows are one."""
    if not columns:
        return [({}, rows)]
    groups = rows.groupby(columns, dropna=False, sort=True)
    return [(place_of(dict(zip(columns, key, strict=True))), part) for key, part in groups]


def place_of(values: Asked) -> Content:
    """Values of some columns as JSON has them, without empty numbers."""
    plain = {key: value.item() if isinstance(value, np.generic) else value for key, value in values.items()}
    return {key: value for key, value in plain.items() if value == value}  # NaN: nothing


# Where it is measured


class Source(NamedTuple):
    """A prepared table; beside it the curves that were tested point by point, and their index."""

    rows: pd.DataFrame
    curves: Sequence[Curve]
    names: pd.DataFrame | None
    outlying: dict[str, Outlying]

    def find_outlying(self, asked: Asked) -> Outlying:
        """The outlying runs of the method of a selector, whatever the data set and noise."""
        where = {column: asked[column] for column in ("setting", "method", "metric", "x") if column in asked}
        key = as_json(where)
        if key not in self.outlying:
            rows = select(self.rows, where) if where else self.rows
            self.outlying[key] = find_outlying_runs(rows)
        return self.outlying[key]

    def skewed(self, asked: Asked) -> str:
        """What is known of outlying runs of a method: ``far``, ``few`` runs to see one, or "".

        Equal runs of a method without chance are not few.
        """
        found = self.find_outlying(asked)
        if found.is_far.any():
            return "far"
        return "few" if found.vary and len(found.is_far) < SEEN else ""

    @classmethod
    def of(cls, table: pd.DataFrame, points: Points | None = None) -> "Source":
        """table : `results.COLUMNS`. Raises VerdictError : see `prepare`."""
        curves = points.curves if points else {}
        index = pd.DataFrame(list(map(Points.columns, curves)), columns=CURVE)
        index = index.assign(repetition=0, value=np.arange(len(curves)), x=index["x"].astype(float))
        rows = prepare(table).reset_index(drop=True)
        return cls(rows, list(curves.values()), prepare(index) if curves else None, {})


def grouped(source: Source, check: Asked) -> tuple[pd.DataFrame, Groups]:
    """All rows of a check, and its groups: columns and values that their rows share, and these rows.

    Raises
    ------
    VerdictError, MissingRows : see `statistic_rows`; rows of a mean that differ where nothing names it.
    """
    trend, each = trend_of(check), check.get("for_each", [])
    also = check.get("all_of", [])
    where = {**check.get("where", {}), **(check[trend] if trend else {})}
    rows = statistic_rows(source.rows, {**check, "where": where})
    if check.get("rows") != "every":  # never average over something that the check does not name
        parts = [check.get(key, {}) for key in ("a", "b", "base", "where", *TRENDS)]
        selectors = [part for part in parts if isinstance(part, Mapping)]
        unnamed(rows, {"repetition", *each, *also}.union(*selectors))
    return rows, split(rows, each)


def substituted(rows: pd.DataFrame) -> list[str]:
    """The data sets of the rows that substitutes stand for."""
    return sorted(set(rows.loc[rows["stand_in"], "dataset"]))


# For new points of the same law


def pools(source: Source, check: Asked, groups: Groups) -> Sequence[Estimate]:
    """For each group what the choice of the pool adds to the error of its mean; empty where it is not known.

    It is for mean differences of errors that jobs kept point by point, tested on the same points.
    """
    plain = check["statistic"] == "difference" and check.get("b") != "x" and trend_of(check) is None
    plain = plain and check.get("rows", "mean") == "mean" and "of" not in check and "all_of" not in check
    if source.names is not None and plain:
        try:
            where = check.get("where", {})
            a, b = (select(source.names, {**where, **check[side]}) for side in ("a", "b"))
            pairs = split(paired(a, b, check), check.get("for_each", []))
            if [at for at, _ in pairs] == [at for at, _ in groups]:
                return [_added(part, source.curves) for _, part in pairs]
        except MissingRows:  # an error that is not kept point by point
            pass
    return []


def _added(pairs: pd.DataFrame, curves: Sequence[Curve]) -> Estimate:
    """0 with the error that the pools add to the mean over some pairs; pools are independent."""
    parts = []
    for _, rows in pairs.groupby(["dataset", "source"], observed=True):
        numbers = rows[["value_a", "value_b"]].to_numpy(int)
        added = _of_pool([(curves[a], curves[b]) for a, b in numbers])
        parts.append(added._replace(se=added.se * len(rows) / len(pairs)))
    return reduce(welch, parts, Estimate(0.0, 0.0, inf))


def _of_pool(pairs: Sequence[tuple[Curve, Curve]]) -> Estimate:
    """`pool_error` of d_i = 100 mean(errors of a - errors of b) / m_i, the mean over some pairs of a pool."""
    tests, pool = pairs[0][0].tests, pairs[0][0].pool
    if not all(np.array_equal(curve.tests, tests) for pair in pairs for curve in pair):
        raise MissingRows("the points were not tested alike")
    errors = np.mean([a.errors.astype(float) - b.errors for a, b in pairs], axis=0)
    seen = tests > 0
    return pool_error(100.0 * errors[seen] / tests[seen], tests[seen], pool)


# As a cell of a file


def as_json(value: Any) -> str:
    """A mapping or list as a cell of a table, "" if it is empty."""
    return json.dumps(value, ensure_ascii=False) if value else ""


def value(cell: Any) -> Any:
    """A cell that holds JSON; an empty mapping if it is empty."""
    return json.loads(cell) if isinstance(cell, str) and cell else {}


def rows_of(file: Path) -> list[dict[str, str]]:
    """Rows of a table of text; without a file: empty."""
    if not file.is_file():
        return []
    with file.open(encoding="utf-8", newline="") as lines:
        return list(csv.DictReader(lines))
