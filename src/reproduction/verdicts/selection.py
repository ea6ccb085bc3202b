"""Choose rows of a result table, pair them, and turn each pair into one statistic.

A selector is a mapping from columns of the tidy table to what they must equal: a scalar, a list (any of), or
for ``x`` the words ``last`` and ``first`` (the end or the start of every curve).
"""

import difflib
from collections.abc import Iterable, Mapping
from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd

from reproduction.results import COLUMNS
from reproduction.verdicts.names import (
    ENDS,
    INDEX,
    PAIRED,
    RATIO_OF_DIFFERENCES,
    MissingRows,
    VerdictError,
    listed,
)

Selector = Mapping[str, Any]

ROUNDING = 1e-9
"""Relative difference that counts as none: tables keep ten digits."""


def prepare(table: pd.DataFrame) -> pd.DataFrame:
    """The table with labels as text, empty ones as "", and a column ``stand_in``: is the source a stand-in?

    Raises
    ------
    VerdictError : missing columns, two rows with the same index.
    """
    missing = [column for column in COLUMNS if column not in table.columns]
    if missing:
        raise VerdictError(f"the result table lacks the columns {missing}")
    labels = {column: _label(table[column]) for column in INDEX if column not in ("repetition", "x")}
    rows = table[COLUMNS].assign(**labels)
    rows["stand_in"] = rows["source"].str.contains("stand-in", regex=False).astype(bool)
    double = rows.duplicated(INDEX)
    if double.any():
        raise VerdictError(f"the result table has two rows for {rows.loc[double, INDEX].iloc[0].to_dict()}")
    return rows


def _label(column: pd.Series) -> pd.Series:
    """Text as categories: compared, grouped and sorted by their codes."""
    return column.astype(object).where(column.notna(), "").astype(str).astype("category")


def _matches(column: pd.Series, wanted: Any) -> pd.Series:
    if column.name in ("x", "repetition"):
        return (column - wanted).abs() <= ROUNDING * abs(wanted)
    return column == str(wanted)


def varies(rows: pd.DataFrame, columns: Iterable[str]) -> list[str]:
    """Those of the columns that have more than one value."""

    def constant(column: pd.Series) -> bool:
        values = (
            column.cat.codes.to_numpy()
            if isinstance(column.dtype, pd.CategoricalDtype)
            else column.to_numpy()
        )
        return bool((values == values[0]).all() or column.isna().all())

    return [column for column in columns if not constant(rows[column])]


def _offer(values: Iterable[Any], wanted: Any) -> str:
    known = [f"{v:g}" if isinstance(v, float) else str(v) for v in sorted(set(values))]
    close = difflib.get_close_matches(str(wanted), known, n=3)
    shown = known if len(known) <= 12 else [*known[:12], f"... ({len(known)} values)"]
    return f"available: {', '.join(shown) or 'nothing'}" + (
        f"; did you mean {', '.join(close)}?" if close else ""
    )


def select(table: pd.DataFrame, selector: Selector) -> pd.DataFrame:
    """Rows of a prepared table that agree with the selector; every wanted value must occur.

    Raises
    ------
    VerdictError : an unknown column.
    MissingRows : a wanted value that the table does not have among the rows chosen so far.
    """
    unknown = [column for column in selector if column not in INDEX]
    if unknown:
        raise VerdictError(
            f"a selector names the unknown column {unknown[0]!r}; columns are {', '.join(INDEX)}"
        )
    rows = table
    chosen: list[str] = []
    for column in (c for c in INDEX if c in selector):
        if column == "x" and selector["x"] in ENDS:
            rows = _end_of_curves(rows, selector["x"])
            continue
        masks = {str(wanted): _matches(rows[column], wanted) for wanted in listed(selector[column])}
        for wanted, mask in masks.items():
            if not mask.any():
                among = f" among the rows with {', '.join(chosen)}" if chosen else ""
                raise MissingRows(f"no row has {column} = {wanted}{among}; {_offer(rows[column], wanted)}")
        rows = rows[np.logical_or.reduce(list(masks.values()))]
        chosen.append(f"{column} = {', '.join(masks)}")
    if rows.empty:
        raise MissingRows(f"no row agrees with {dict(selector)}")
    return rows.sort_values(INDEX)


def _end_of_curves(rows: pd.DataFrame, end: str) -> pd.DataFrame:
    curves = [column for column in INDEX if column not in ("repetition", "x")]
    ends = rows.groupby(curves)["x"]
    return rows[rows["x"] == (ends.transform("max") if end == "last" else ends.transform("min"))]


def _deviation(rows: pd.DataFrame) -> pd.DataFrame:
    """|value - median over the repetitions|: its means compare spreads (Brown and Forsythe 1974)."""
    curves = rows.groupby([column for column in INDEX if column != "repetition"], dropna=False)["value"]
    return rows.assign(value=(rows["value"] - curves.transform("median")).abs())


def pair_keys(free: set[str], where: Selector) -> list[str]:
    """Columns on which two rows must agree to be a pair: all but the ``free`` ones."""
    loose = set(free)
    if "dataset" in free:
        loose.add("source")
    if where.get("x") in ENDS:
        loose.add("x")
    return [column for column in INDEX if column not in loose]


def merge_pairs(a: pd.DataFrame, b: pd.DataFrame, keys: list[str]) -> pd.DataFrame:
    """One row per pair (a, b) that agrees on ``keys``, columns suffixed ``_a`` and ``_b``.

    Raises
    ------
    VerdictError : several rows on both sides of a pair.
    MissingRows : a row without partner.
    """
    if a.duplicated(keys).any() and b.duplicated(keys).any():
        raise VerdictError(f"a and b both select several rows per pair; rows are paired by {', '.join(keys)}")
    pairs = a.merge(b, how="outer", on=keys, suffixes=("_a", "_b"), indicator="side")
    lonely = pairs[pairs["side"] != "both"]
    if not lonely.empty:
        side, other = ("a", "b") if lonely["side"].iloc[0] == "left_only" else ("b", "a")
        row = {key: lonely[key].iloc[0] for key in keys}
        raise MissingRows(
            f"{len(lonely)} rows have no partner; the first is in {side} and {other} lacks it: {row}"
        )
    return pairs.sort_values(keys)


def _combine(statistic: str, a: pd.Series, b: pd.Series) -> Any:
    same = np.isclose(a, b, rtol=ROUNDING, atol=0)
    if statistic == "difference":
        return np.where(same, 0.0, a - b)
    if (b == 0).any() or (statistic == "log_ratio" and not ((a > 0) & (b > 0)).all()):
        need = "positive values" if statistic == "log_ratio" else "a divisor that is not 0"
        raise VerdictError(f"{statistic} needs {need}")
    ratio = np.where(same, 1.0, a / b)
    return np.log(ratio) if statistic == "log_ratio" else ratio


def _fixed(side: str, rows: pd.DataFrame, columns: list[str]) -> None:
    """A column that one side names must not vary unnoticed on the other."""
    for column in varies(rows, columns):
        known = ", ".join(map(str, sorted(rows[column].unique())[:6]))
        raise VerdictError(
            f"{side}: the rows differ in {column} ({known}), which the other side names; name it too"
        )


def statistic_rows(table: pd.DataFrame, check: Mapping[str, Any]) -> pd.DataFrame:
    """Rows of `INDEX` + value + stand_in: the statistic of the check for every row (value) or pair (others).

    A column in which a and b differ keeps the value of the side that has several, else that of a.
    A ratio of differences has value = a - base, and divisor = b - base beside it.

    Raises
    ------
    VerdictError, MissingRows : see `select` and `merge_pairs`.
    """
    where = check.get("where", {})
    spread = _deviation if check.get("of") == "deviation" else lambda rows: rows
    a = spread(select(table, {**where, **check.get("a", {})}))
    if check["statistic"] not in PAIRED:
        return a
    if check["b"] == "x":
        return a.assign(value=_combine(check["statistic"], a["value"], a["x"]))
    if check["statistic"] == RATIO_OF_DIFFERENCES:
        return _with_divisor(table, check)
    pairs = paired(a, spread(select(table, {**where, **check["b"]})), check)
    pairs["value"] = _combine(check["statistic"], pairs["value_a"], pairs["value_b"])
    return pairs[[*INDEX, "value", "stand_in"]]


def paired(a: pd.DataFrame, b: pd.DataFrame, check: Mapping[str, Any]) -> pd.DataFrame:
    """The pairs of a check from the rows that its selectors chose: `INDEX`, value_a, value_b, stand_in.

    Raises
    ------
    VerdictError, MissingRows : see `merge_pairs`.
    """
    where = check.get("where", {})
    free = set(check["a"]) | set(check["b"])
    for side, rows in (("a", a), ("b", b)):
        _fixed(side, rows, sorted(free - set(check[side]) - set(where)))
    keys = pair_keys(free, where)
    pairs = merge_pairs(a, b, keys)
    pairs["stand_in"] = pairs["stand_in_a"] | pairs["stand_in_b"]
    for column in set(INDEX) - set(keys):
        pairs[column] = pairs[f"{column}_b" if pairs[f"{column}_b"].nunique() > 1 else f"{column}_a"]
    return pairs[[*INDEX, "value_a", "value_b", "stand_in"]]


def _with_divisor(table: pd.DataFrame, check: Mapping[str, Any]) -> pd.DataFrame:
    """Rows with value = a - base and divisor = b - base, for every pair of pairs."""
    named = {*check["a"], *check["b"], *check["base"]}
    over, under = (
        statistic_rows(table, {**check, "statistic": "difference", "a": check[side], "b": check["base"]})
        for side in ("a", "b")
    )
    keys = pair_keys(named, check.get("where", {}))
    pairs = merge_pairs(over, under, keys)
    for column in {*INDEX, "value"} - set(keys):
        pairs[column] = pairs[f"{column}_a"]
    rows = pairs.assign(divisor=pairs["value_b"], stand_in=pairs["stand_in_a"] | pairs["stand_in_b"])
    return rows[[*INDEX, "value", "divisor", "stand_in"]]


def steps(
    rows: pd.DataFrame, column: str, order: list[Any], where: Selector
) -> list[tuple[list[Any], pd.DataFrame]]:
    """([previous, next], rows) of the differences ``next - previous`` along the ordered values of a column.

    Raises
    ------
    MissingRows : a value without rows, a row without partner.
    """
    keys = pair_keys({column}, where)
    found = []
    for previous, following in pairwise(order):
        after, before = (rows[_matches(rows[column], wanted)] for wanted in (following, previous))
        pairs = merge_pairs(after, before, keys)
        pairs["value"] = _combine("difference", pairs["value_a"], pairs["value_b"])
        pairs["stand_in"] = pairs["stand_in_a"] | pairs["stand_in_b"]
        for loose in set(INDEX) - set(keys):
            pairs[loose] = pairs[f"{loose}_a"]
        found.append(([previous, following], pairs[[*INDEX, "value", "stand_in"]]))
    return found


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
