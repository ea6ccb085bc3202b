"""Estimates: the rows of a result table that an artifact needs, and the statistic of each.

A selector chooses rows by what its columns must equal: a scalar, one of a list, for ``x`` the
``last`` or ``first`` of each curve. A check pairs them and makes a statistic of each pair. A
published value needs one group of rows, a check for a group for each entry of ``for_each`` and,
in a trend, for each step of it.
"""

import csv
import difflib
import json
from collections.abc import Iterable, Mapping, Sequence
from functools import reduce
from itertools import chain, pairwise
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
"""Groups of rows, each with the columns and values that its rows share."""
CURVE_IN_TABLE = ["dataset", "source", "noise", "setting", "method", "metric"]
"""The columns of a curve along x."""
MAX_OFFERED = 12
"""Largest number of available values in a message."""
MAX_DIFFERING = 6
"""Largest number of differing values in a message."""


class Bound(NamedTuple):
    """The bound of a check: below, above or within limits."""

    kind: str
    low: float
    high: float

    @classmethod
    def from_check(cls, check: Asked) -> "Bound":
        """The bound of a check; the steps of a trend must be above 0, and a loss is above 0."""
        if "within" in check:
            return cls("within", *map(float, check["within"]))
        if "at_most" in check:
            return cls("below", -inf, 0.0)
        if "below" in check:
            return cls("below", -inf, float(check["below"]))
        return cls("above", float(check.get("above", 0.0)), inf)

    def excess(self, values: Any) -> Any:
        """Compute how far values lie beyond the bound (negative: inside)."""
        return np.maximum(self.low - values, values - self.high)

    def met(self, values: Any) -> Any:
        """Decide for each value whether it meets the bound."""
        if self.kind == "within":
            return self.excess(values) <= 0
        return self.excess(values) < 0


# Rows


def prepare(table: pd.DataFrame) -> pd.DataFrame:
    """Turn labels into text, and add the column ``stand_in``: whether the source is a stand-in.

    Raises
    ------
    VerdictError
        Missing columns, or two rows with the same index.
    """
    missing = [column for column in TABLE if column not in table.columns]
    if missing:
        raise VerdictError(f"the result table lacks the columns {missing}")
    labels = {}
    for column in INDEX:
        if column not in ("repetition", "x"):
            labels[column] = _categories(table[column])
    rows = table[TABLE].assign(**labels)
    rows["stand_in"] = rows["source"].str.contains("stand-in", regex=False).astype(bool)
    is_double = rows.duplicated(INDEX)
    if is_double.any():
        first = rows.loc[is_double, INDEX].iloc[0].to_dict()
        raise VerdictError(f"the result table has two rows for {first}")
    return rows


def _categories(column: pd.Series) -> pd.Series:
    """Convert texts to codes, by which they are compared, grouped and sorted."""
    return column.astype(object).where(column.notna(), "").astype(str).astype("category")


def select(table: pd.DataFrame, selector: Asked) -> pd.DataFrame:
    """Choose the rows of a prepared table that agree with the selector.

    Raises
    ------
    VerdictError
        An unknown column.
    MissingRows
        A wanted value that the table does not have among the rows chosen so far.
    """
    if unknown := [column for column in selector if column not in INDEX]:
        columns = ", ".join(INDEX)
        problem = f"a selector names the unknown column {unknown[0]!r}"
        raise VerdictError(f"{problem}; columns are {columns}")
    rows = table
    conditions = list[str]()
    for column in INDEX:
        if column not in selector:
            continue
        if column == "x" and selector["x"] in ENDS:
            curves = rows.groupby(CURVE_IN_TABLE)["x"]
            end = curves.transform("max" if selector["x"] == "last" else "min")
            rows = rows[rows["x"] == end]
            continue
        masks = {}
        for wanted in listed(selector[column]):
            mask = _matches(rows[column], wanted)
            if not mask.any():
                raise _missing(table, rows, column, wanted, conditions)
            masks[str(wanted)] = mask
        rows = rows[np.logical_or.reduce(list(masks.values()))]
        conditions.append(f"{column} = {', '.join(masks)}")
    if rows.empty:
        raise MissingRows(f"no row agrees with {dict(selector)}")
    return rows.sort_values(INDEX)


def _missing(
    table: pd.DataFrame, rows: pd.DataFrame, column: str, wanted: Any, conditions: Sequence[str]
) -> MissingRows:
    """Make the error for a wanted value that none of the chosen rows has."""
    scope = f" among the rows with {', '.join(conditions)}" if conditions else ""
    offer = _offer(rows[column], str(wanted))
    problem = f"no row has {column} = {wanted}{scope}; {offer}"
    is_label = column not in ("x", "repetition")
    if is_label and _matches(table[column], wanted).any():
        return NeverTogether(problem)
    return MissingRows(problem)


def _matches(column: pd.Series, wanted: Any) -> pd.Series:
    if column.name in ("x", "repetition"):
        return (column - wanted).abs() <= ROUNDING * abs(wanted)
    return column == str(wanted)


def _offer(values: Iterable[Any], wanted: str) -> str:
    """List the available values for a message, and those that are spelt like the wanted one."""
    available = []
    for entry in sorted(set(values)):
        available.append(f"{entry:g}" if isinstance(entry, float) else str(entry))
    offer = "available: " + (", ".join(available[:MAX_OFFERED]) or "nothing")
    if len(available) > MAX_OFFERED:
        offer += f", ... ({len(available)} values)"
    if similar := difflib.get_close_matches(wanted, available, n=3):
        offer += f"; did you mean {', '.join(similar)}?"
    return offer


def varies(rows: pd.DataFrame, columns: Iterable[str]) -> list[str]:
    """List those of the columns that have more than one value."""
    return [column for column in columns if not _is_constant(rows[column])]


def _is_constant(column: pd.Series) -> bool:
    if isinstance(column.dtype, pd.CategoricalDtype):
        values = column.cat.codes.to_numpy()
    else:
        values = column.to_numpy()
    return bool((values == values[0]).all() or column.isna().all())


def unnamed(rows: pd.DataFrame, named: set[str]) -> None:
    """Reject rows that differ in a column which the selectors do not name.

    Raises
    ------
    VerdictError
        Names the column and the values found.
    """
    for column in varies(rows, [column for column in INDEX if column not in named]):
        if column == "source" and (rows.groupby("dataset")["source"].nunique() == 1).all():
            continue
        problem = f"{_differing(rows, column)}, which is not named"
        raise VerdictError(f"{problem}; name it in where or for_each")


def _differing(rows: pd.DataFrame, column: str) -> str:
    values = map(str, sorted(rows[column].unique())[:MAX_DIFFERING])
    return f"the rows differ in {column} ({', '.join(values)})"


# Pairs, and the statistic of each


def statistic_rows(table: pd.DataFrame, check: Asked) -> pd.DataFrame:
    """Compute the statistic of a check for every row, or for every pair of rows.

    Returns
    -------
    DataFrame
        Rows of `INDEX`, value and stand_in. A ratio of differences has value = a - base, and
        divisor = b - base next to it.

    Raises
    ------
    VerdictError, MissingRows
        See `select` and `paired`.
    """
    statistic = check["statistic"]
    conditions = check.get("where", {})
    if statistic == RATIO_OF_DIFFERENCES:
        difference = {**check, "statistic": "difference", "b": check["base"]}
        dividends = statistic_rows(table, {**difference, "a": check["a"]})
        divisors = statistic_rows(table, {**difference, "a": check["b"]})
        keys = _keys({*check["a"], *check["b"], *check["base"]}, conditions)
        pairs = _merged(dividends, divisors, keys)
        return pairs.assign(value=pairs["value_a"], divisor=pairs["value_b"])
    a = _rows_of_side(table, check, check.get("a", {}))
    if not STATISTICS[statistic].is_paired:
        return a
    if check["b"] == "x":
        return a.assign(value=_compare(statistic, a["value"], a["x"]))
    b = _rows_of_side(table, check, check["b"])
    pairs = paired(a, b, check)
    return pairs.assign(value=_compare(statistic, pairs["value_a"], pairs["value_b"]))


def _rows_of_side(table: pd.DataFrame, check: Asked, selector: Asked) -> pd.DataFrame:
    """Select the rows of a side of a check: their values, or the deviations of these."""
    rows = select(table, {**check.get("where", {}), **selector})
    return _deviation(rows) if check.get("of") == "deviation" else rows


def _deviation(rows: pd.DataFrame) -> pd.DataFrame:
    """Compute |value - median over the repetitions|.

    The means of this compare spreads (Brown and Forsythe 1974).
    """
    columns = [column for column in INDEX if column != "repetition"]
    curves = rows.groupby(columns, dropna=False)["value"]
    return rows.assign(value=(rows["value"] - curves.transform("median")).abs())


def _compare(statistic: str, a: pd.Series, b: pd.Series) -> Any:
    """Apply a statistic of pairs. Raises VerdictError: the values are not what it needs."""
    compare = STATISTICS[statistic].compare
    if compare is None:
        raise VerdictError(f"{statistic} does not compare pairs")
    try:
        return compare(a, b)
    except ValueError as error:
        raise VerdictError(f"{statistic} {error}") from None


def paired(a: pd.DataFrame, b: pd.DataFrame, check: Asked) -> pd.DataFrame:
    """Pair the rows that the selectors of a check chose.

    Returns
    -------
    DataFrame
        `INDEX`, value_a, value_b, stand_in.

    Raises
    ------
    VerdictError
        A column that one side names varies on the other; several rows on both sides of a pair.
    MissingRows
        A row without partner.
    """
    conditions = check.get("where", {})
    free = {*check["a"], *check["b"]}
    for side, rows in (("a", a), ("b", b)):
        for column in varies(rows, sorted(free - set(check[side]) - set(conditions))):
            remedy = "which the other side names; name it too"
            raise VerdictError(f"{side}: {_differing(rows, column)}, {remedy}")
    return _merged(a, b, _keys(free, conditions))


def _keys(free: set[str], conditions: Asked) -> list[str]:
    """List the columns on which two rows must agree to be a pair: all but the ``free`` ones."""
    free = set(free)
    if "dataset" in free:
        free.add("source")
    if conditions.get("x") in ENDS:
        free.add("x")
    return [column for column in INDEX if column not in free]


def _merged(a: pd.DataFrame, b: pd.DataFrame, keys: list[str]) -> pd.DataFrame:
    """Pair the rows that agree on ``keys``.

    The other columns are those of the side that has several of their values, else of a.
    """
    if a.duplicated(keys).any() and b.duplicated(keys).any():
        problem = "a and b both select several rows per pair"
        raise VerdictError(f"{problem}; rows are paired by {', '.join(keys)}")
    columns = [*INDEX, "value", "stand_in"]
    suffixes = ("_a", "_b")
    pairs = a[columns].merge(
        b[columns],
        how="outer",
        on=keys,
        suffixes=suffixes,
        indicator="side",
    )
    lonely = pairs[pairs["side"] != "both"]
    if not lonely.empty:
        raise _without_partner(lonely, keys)
    for column in set(INDEX) - set(keys):
        suffix = "_b" if pairs[f"{column}_b"].nunique() > 1 else "_a"
        pairs[column] = pairs[column + suffix]
    pairs["stand_in"] = pairs["stand_in_a"] | pairs["stand_in_b"]
    return pairs[[*INDEX, "value_a", "value_b", "stand_in"]].sort_values(keys)


def _without_partner(lonely: pd.DataFrame, keys: list[str]) -> MissingRows:
    """Make the error for rows of one side that the other side lacks."""
    first = {key: lonely[key].iloc[0] for key in keys}
    if lonely["side"].iloc[0] == "left_only":
        sides = "the first is in a and b lacks it"
    else:
        sides = "the first is in b and a lacks it"
    return MissingRows(f"{len(lonely)} rows have no partner; {sides}: {first}")


def steps(rows: pd.DataFrame, check: Asked, trend: str) -> Groups:
    """Compute the differences ``next - previous`` along a trend, in the increasing direction.

    Returns
    -------
    list
        ({column: [previous, next]}, rows) of each step.

    Raises
    ------
    MissingRows
        A value without rows or partner.
    """
    column, order = next(iter(check[trend].items()))
    keys = _keys({column}, check.get("where", {}))
    groups = []
    for start, end in pairwise(order if trend == "increasing" else order[::-1]):
        rows_at_start = rows[_matches(rows[column], start)]
        rows_at_end = rows[_matches(rows[column], end)]
        pairs = _merged(rows_at_end, rows_at_start, keys)
        change = _compare("difference", pairs["value_a"], pairs["value_b"])
        groups.append(({column: [start, end]}, pairs.assign(value=change)))
    return groups


def cells_of(rows: pd.DataFrame, check: Asked) -> Groups:
    """Split a group into the parts that must all pass, each with its columns, values and rows.

    These are the steps of a trend, the entries of ``all_of``, or the whole group.
    """
    trend = trend_of(check)
    if trend:
        return steps(rows, check, trend)
    return split(rows, check.get("all_of", []))


def by_repetition(rows: pd.DataFrame) -> tuple[np.ndarray, int]:
    """Average the rows of each repetition, and count the incomplete ones that are left out.

    The rows are sorted by `INDEX`, so that their order in the table does not touch the last digit.

    Returns
    -------
    tuple
        The means, and the number of repetitions left out.

    Raises
    ------
    MissingRows
        No repetition has all rows.
    """
    varying = varies(rows, [column for column in INDEX if column != "repetition"])
    n_curves = len(rows[varying].drop_duplicates()) if varying else 1
    _, repetition, sizes = np.unique(rows["repetition"], return_inverse=True, return_counts=True)
    is_complete = sizes == n_curves
    if not is_complete.any():
        problem = f"no repetition has all {n_curves} rows that are averaged"
        raise MissingRows(f"{problem}; compare them with for_each")
    means = np.bincount(repetition, weights=rows["value"].to_numpy()) / sizes
    return means[is_complete], int((~is_complete).sum())


def split(rows: pd.DataFrame, columns: list[str]) -> Groups:
    """Split the rows into the groups that the columns make; without columns all rows are one."""
    if not columns:
        return [({}, rows)]
    groups = []
    for key, part in rows.groupby(columns, dropna=False, sort=True):
        groups.append((place_of(dict(zip(columns, key, strict=True))), part))
    return groups


def place_of(values: Asked) -> Content:
    """Write values of some columns as JSON has them, without empty numbers."""
    labels: Content = {}
    for column, label in values.items():
        plain = label.item() if isinstance(label, np.generic) else label
        if plain == plain:  # NaN: nothing
            labels[column] = plain
    return labels


# Where it is measured


class Source(NamedTuple):
    """A prepared table, with an index of the curves that were tested point by point.

    ``outlying`` keeps the outlying runs that were looked for before.
    """

    rows: pd.DataFrame
    curves: Sequence[Curve]
    names: pd.DataFrame | None
    outlying: dict[str, Outlying]

    def find_outlying(self, selector: Asked) -> Outlying:
        """Find the outlying runs of the method of a selector, whatever the data set and noise."""
        columns = ("setting", "method", "metric", "x")
        of_method = {column: selector[column] for column in columns if column in selector}
        key = as_json(of_method)
        if key not in self.outlying:
            rows = select(self.rows, of_method) if of_method else self.rows
            self.outlying[key] = find_outlying_runs(rows)
        return self.outlying[key]

    def skewed(self, selector: Asked) -> str:
        """Say what is known of outlying runs of a method: ``far``, ``few`` runs to see one, or "".

        Equal runs of a method without chance are not few.
        """
        runs = self.find_outlying(selector)
        if runs.is_far.any():
            return "far"
        return "few" if runs.vary and len(runs.is_far) < SEEN else ""

    @classmethod
    def from_table(cls, table: pd.DataFrame, points: Points | None = None) -> "Source":
        """Prepare a table of `results.COLUMNS`.

        Raises
        ------
        VerdictError
            See `prepare`.
        """
        rows = prepare(table).reset_index(drop=True)
        curves = points.curves if points else {}
        if not curves:
            return cls(rows, [], None, {})
        index = pd.DataFrame(list(map(Points.columns, curves)), columns=CURVE)
        x = index["x"].astype(float)
        index = index.assign(repetition=0, value=np.arange(len(curves)), x=x)
        return cls(rows, list(curves.values()), prepare(index), {})


def grouped(source: Source, check: Asked) -> tuple[pd.DataFrame, Groups]:
    """Compute the statistic of all rows of a check, and split them into its groups.

    Raises
    ------
    VerdictError, MissingRows
        See `statistic_rows` and `_leave_out`; or rows of a mean differ where nothing names it.
    """
    trend = trend_of(check)
    columns = check.get("for_each", [])
    conditions = {**check.get("where", {}), **(check[trend] if trend else {})}
    rows = statistic_rows(source.rows, {**check, "where": conditions})
    rows = _leave_out(rows, check)
    if check.get("rows") != "every":  # never average over something that the check does not name
        named = {"repetition", *columns, *check.get("all_of", [])}
        for key in ("a", "b", "base", "where", *TRENDS):
            if isinstance(check.get(key), Mapping):
                named.update(check[key])
        unnamed(rows, named)
    return rows, split(rows, columns)


def _leave_out(rows: pd.DataFrame, check: Asked) -> pd.DataFrame:
    """Leave out the groups that a check names under ``without``.

    Raises
    ------
    MissingRows
        No row is in such a group, or none is left.
    """
    for selector in check.get("without", []):
        is_left_out = pd.Series(True, index=rows.index)
        for column, wanted in selector.items():
            matches = [_matches(rows[column], label) for label in listed(wanted)]
            is_left_out &= np.logical_or.reduce(matches)
        if not is_left_out.any():
            raise MissingRows(f"without: no row agrees with {dict(selector)}")
        rows = rows[~is_left_out]
    if rows.empty:
        raise MissingRows(f"without: leaves out every row: {check['without']}")
    return rows


def substituted(rows: pd.DataFrame) -> list[str]:
    """List the data sets of the rows that substitutes stand for."""
    return sorted(set(rows.loc[rows["stand_in"], "dataset"]))


# For new points of the same distribution


def pools(source: Source, check: Asked, groups: Groups) -> Sequence[Estimate]:
    """Compute for each group what the choice of the pool adds to the error of its mean.

    It is for mean differences of errors that jobs kept point by point, tested on the same points;
    empty where it is not known.
    """
    if source.names is None or not _is_plain_difference(check):
        return []
    conditions = check.get("where", {})
    try:
        a = select(source.names, {**conditions, **check["a"]})
        b = select(source.names, {**conditions, **check["b"]})
        pairs = split(_leave_out(paired(a, b, check), check), check.get("for_each", []))
        if [labels for labels, _ in pairs] != [labels for labels, _ in groups]:
            return []
        return [_added(part, source.curves) for _, part in pairs]
    except MissingRows:  # its errors are not kept point by point
        return []


def _is_plain_difference(check: Asked) -> bool:
    """Decide whether a check is about the mean difference of two sides, group by group."""
    if check["statistic"] != "difference" or check.get("b") == "x":
        return False
    if trend_of(check) is not None or check.get("rows", "mean") != "mean":
        return False
    return "of" not in check and "all_of" not in check


def _added(pairs: pd.DataFrame, curves: Sequence[Curve]) -> Estimate:
    """Estimate 0 with the error that the pools, which are independent, add to a mean over pairs."""
    parts = []
    for _, rows in pairs.groupby(["dataset", "source"], observed=True):
        numbers = rows[["value_a", "value_b"]].to_numpy(int)
        of_pool = _of_pool([(curves[a], curves[b]) for a, b in numbers])
        parts.append(of_pool._replace(se=of_pool.se * len(rows) / len(pairs)))
    return reduce(welch, parts, Estimate(0.0, 0.0, inf))


def _of_pool(pairs: Sequence[tuple[Curve, Curve]]) -> Estimate:
    """Estimate the mean over some pairs of a pool, with the error from its choice.

    It is `pool_error` of d_i = 100 mean(errors of a - errors of b) / m_i.
    """
    tests = pairs[0][0].tests
    pool = pairs[0][0].pool
    for curve in chain.from_iterable(pairs):
        if not np.array_equal(curve.tests, tests):
            raise MissingRows("the points were not tested alike")
    errors = np.mean([a.errors.astype(float) - b.errors for a, b in pairs], axis=0)
    is_tested = tests > 0
    shares = 100.0 * errors[is_tested] / tests[is_tested]
    return pool_error(shares, tests[is_tested], pool)


# As a cell of a file


def as_json(value: Any) -> str:
    """Write a mapping or list as a cell of a table, "" if it is empty."""
    return json.dumps(value, ensure_ascii=False) if value else ""


def value(cell: Any) -> Any:
    """Read a cell that holds JSON; an empty mapping if it is empty."""
    return json.loads(cell) if isinstance(cell, str) and cell else {}


def rows_of(file: Path) -> list[dict[str, str]]:
    """Read the rows of a table of text; without a file there are none."""
    if not file.is_file():
        return []
    with file.open(encoding="utf-8", newline="") as lines:
        return list(csv.DictReader(lines))
