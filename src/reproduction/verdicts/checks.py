"""One check of a claim: a statistic, a bound, and what the rows of a table say about it.

A check splits into groups (``for_each``), a group into cells (the steps of a trend; otherwise one). Every
cell has two p-values: ``hold`` (small: the bound is met) and ``contra`` (small: it is violated). A group
holds when all its cells hold, a check when all its groups hold, or ``at_least`` so many.
"""

from collections.abc import Mapping

import numpy as np
import pandas as pd

from noisylabels.statistics import at_least, mean_se, ratio_interval, t_above, t_interval
from reproduction.verdicts.cells import Bound, Cell, Result
from reproduction.verdicts.names import INDEX, RATIO_OF_DIFFERENCES, MissingRows, VerdictError
from reproduction.verdicts.selection import by_repetition, statistic_rows, steps, varies
from reproduction.verdicts.vocabulary import TRENDS, Check, place, trend_of, validate


def _guard(rows: pd.DataFrame, check: Check) -> None:
    """Never average over something the check does not name."""
    parts = [check.get(key, {}) for key in ("a", "b", "base", "where", *TRENDS)]
    named = {"repetition", *check.get("for_each", [])}.union(*(p for p in parts if isinstance(p, Mapping)))
    unnamed(rows, named)


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


def evaluate(table: pd.DataFrame, check: Check) -> Result:
    """Judge one check on a prepared table.

    Raises
    ------
    VerdictError : the check is malformed, or would average over a column that it does not name.
    MissingRows : the table lacks rows that it needs.
    """
    validate(check)
    trend = trend_of(check)
    where = {**check.get("where", {}), **(check[trend] if trend else {})}
    rows = statistic_rows(table, {**check, "where": where})
    if check.get("rows") != "every":
        _guard(rows, check)
    bound = Bound.of(check)
    groups = [_group(label, part, check, bound) for label, part in split(rows, check.get("for_each", []))]
    stand_in = tuple(sorted(set(rows.loc[rows["stand_in"], "dataset"])))
    return combine(groups, check.get("at_least", len(groups)), stand_in)


def split(rows: pd.DataFrame, columns: list[str]) -> list[tuple[str, pd.DataFrame]]:
    """(label, rows) of every group that the columns make; without columns all rows are one."""
    if not columns:
        return [("", rows)]
    groups = rows.groupby(columns, dropna=False, sort=True)
    return [(place(dict(zip(columns, key, strict=True))), part) for key, part in groups]


def _group(label: str, rows: pd.DataFrame, check: Check, bound: Bound) -> list[Cell]:
    trend = trend_of(check)
    parts = [(label, rows)]
    if trend:
        column, order = next(iter(check[trend].items()))
        order = order if trend == "increasing" else order[::-1]
        found = steps(rows, column, order, check.get("where", {}))
        parts = [(f"{label}, {step}" if label else step, part) for step, part in found]
    if check["statistic"] == "relative_se":
        return [_relative_se(name, part, bound) for name, part in parts]
    if check["statistic"] == RATIO_OF_DIFFERENCES:
        return [_ratio(name, part, bound) for name, part in parts]
    judge = _every if check.get("rows") == "every" else _mean
    return [judge(name, part, bound) for name, part in parts]


def _mean(label: str, rows: pd.DataFrame, bound: Bound) -> Cell:
    """Paired t-test over the repetitions."""
    values, left_out = by_repetition(rows)
    estimate = mean_se(values)
    remarks = [f"{left_out} incomplete repetitions left out"] if left_out else []
    if values.size == 1:
        remarks.append(f"one realisation, no test; it {'agrees' if bound.met(values[0]) else 'disagrees'}")
    elif estimate.se == 0:
        remarks.append(f"all {values.size} repetitions are equal: they count as one, compared without a test")
    return Cell(
        label,
        estimate.mean,
        t_interval(estimate),
        1 if estimate.se == 0 else values.size,
        bound.hold(estimate),
        bound.contra(estimate),
        float(bound.excess(estimate.mean)),
        tested=estimate.df > 0 and estimate.se > 0,
        remark="; ".join(remarks),
    )


def _ratio(label: str, rows: pd.DataFrame, bound: Bound) -> Cell:
    """Ratio of two mean differences, tested as Fieller does: nothing is divided by a single repetition."""
    a, left_out = by_repetition(rows)
    b, _ = by_repetition(rows.assign(value=rows["divisor"]))
    ratio = float(a.mean() / b.mean()) if b.mean() != 0 else np.nan
    remarks = [f"{left_out} incomplete repetitions left out"] if left_out else []
    if t_above(mean_se(b)) >= 0.05:
        remarks.append("the divisor is not shown to be above 0")
    excess = float(bound.excess(ratio)) if ratio == ratio else np.inf
    return Cell(
        label,
        ratio,
        ratio_interval(a, b),
        a.size,
        bound.hold_ratio(a, b),
        bound.contra_ratio(a, b),
        excess,
        tested=a.size > 1,
        remark="; ".join(remarks),
    )


def _every(label: str, rows: pd.DataFrame, bound: Bound) -> Cell:
    """Every single row must meet the bound; the worst one is named."""
    values = rows["value"].to_numpy()
    worst = int(np.argmax(bound.excess(values)))
    wrong = int((~bound.met(values)).sum())
    at = place({column: rows[column].iloc[worst] for column in varies(rows, INDEX)})
    count = (
        f"{wrong} of {values.size} rows violate it"
        if wrong
        else f"{values.size} of {values.size} rows meet it"
    )
    return Cell(
        label,
        float(values[worst]),
        (np.nan, np.nan),
        rows["repetition"].nunique(),
        float(wrong > 0),
        float(wrong == 0),
        float(bound.excess(values[worst])),
        remark=f"{count}, worst at {at}" if at else count,
    )


def _relative_se(label: str, rows: pd.DataFrame, bound: Bound) -> Cell:
    """se/|m| over the repetitions, compared as it stands."""
    values, _ = by_repetition(rows)
    estimate = mean_se(values)
    if estimate.df == 0 or estimate.mean == 0:
        why = "one realisation has no standard error" if estimate.df == 0 else "the mean is 0"
        return Cell(label, np.nan, (np.nan, np.nan), values.size, 1.0, 1.0, np.inf, remark=why)
    ratio = estimate.se / abs(estimate.mean)
    met = bool(bound.met(ratio))
    excess = float(bound.excess(ratio))
    return Cell(label, ratio, (np.nan, np.nan), values.size, float(not met), float(met), excess)


def combine(groups: list[list[Cell]], k: int, stand_in: tuple[str, ...]) -> Result:
    """Intersection-union within a group, "at least k" across groups; mirrored for the contradiction."""
    m = len(groups)
    if k > m:
        raise MissingRows(f"at_least: {k} asked, but there are only {m} groups")
    weakest = [max(cells, key=lambda c: (c.hold, c.excess)) for cells in groups]
    accused = [min(cells, key=lambda c: (c.contra, -c.excess)) for cells in groups]
    blame = [min(1.0, len(cells) * cell.contra) for cells, cell in zip(groups, accused, strict=True)]
    ranked = sorted(range(m), key=lambda i: (weakest[i].hold, weakest[i].excess))
    charged = sorted(range(m), key=lambda i: (blame[i], -accused[i].excess))
    return Result(
        hold=at_least([cell.hold for cell in weakest], k),
        contra=at_least(blame, m - k + 1),
        weakest=weakest[ranked[k - 1]],
        accused=accused[charged[m - k]],
        group_holds=tuple(cell.hold for cell in weakest),
        asked=k,
        tested=any(cell.tested for cells in groups for cell in cells),
        stand_in=stand_in,
    )
