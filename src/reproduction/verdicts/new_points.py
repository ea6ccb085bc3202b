"""Claims for new points of the same law: their checks, with what the choice of the pool adds to the error.

Splits of one pool, or shuffles before one test set, tell what happens on these points. For points not yet
seen, the variance over the splits and that over the points are added (`statistics.pool_error`).
Offered for mean differences of errors that jobs have kept point by point, tested on the same points.
"""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from noisylabels.statistics import Estimate, for_new_points, holm, mean_se, pool_error, t_interval, welch
from reproduction.points import CURVE, Curve, Points
from reproduction.verdicts.cells import Bound, Cell, Result
from reproduction.verdicts.checks import combine, split
from reproduction.verdicts.findings import ALPHA, with_interval
from reproduction.verdicts.names import CLAIM, MissingRows
from reproduction.verdicts.selection import by_repetition, paired, prepare, select, statistic_rows
from reproduction.verdicts.vocabulary import Check, trend_of


class Judged(NamedTuple):
    """A claim for new points: both p-values, and the cells that decide them."""

    hold: float
    contra: float
    weakest: Cell
    accused: Cell


def beside(
    verdicts: pd.DataFrame,
    claims: Sequence[Mapping[str, Any]],
    table: pd.DataFrame,
    points: Points,
    scale: str,
) -> pd.DataFrame:
    """The verdicts of an artifact with the column ``new_points``, and the figures behind it in the evidence.

    Holm's correction is over the claims that can be judged for new points; a claim can be if all of its
    checks can, and if it is comparable.
    """
    judged = _judged(verdicts, claims, table, points)
    hold, contra = (holm([getattr(each, name) for each in judged.values()]) for name in ("hold", "contra"))
    words, sentences = {}, {}
    for (name, each), p, q in zip(judged.items(), hold, contra, strict=True):
        word = CLAIM[0] if p < ALPHA else CLAIM[2] if q < ALPHA else CLAIM[1]
        cell = each.accused if word == CLAIM[2] else each.weakest
        figure = with_interval(cell.estimate, cell.interval) + (f" at {cell.label}" if cell.label else "")
        says = f"{word}, p = {q if word == CLAIM[2] else p:.2g}; " if scale == "full" else ""
        words[name] = word if scale == "full" else "ran"
        sentences[name] = f"; for new points: {says}{figure}"
    ids = [str(name) for name in verdicts["id"]]
    told = [text + sentences.get(name, "") for text, name in zip(verdicts["evidence"], ids, strict=True)]
    return verdicts.assign(evidence=told, new_points=[words.get(name, "") for name in ids])


def _judged(
    verdicts: pd.DataFrame, claims: Sequence[Mapping[str, Any]], table: pd.DataFrame, points: Points
) -> dict[str, Judged]:
    """The claims that can be judged, by id."""
    comparable = set(verdicts.loc[verdicts["verdict"] != "not comparable", "id"])
    offered = [claim for claim in claims if claim["id"] in comparable and all(map(_offered, claim["checks"]))]
    if not offered or not points.curves:
        return {}
    rows, curves, index = prepare(table), list(points.curves.values()), prepare(_index(points))
    judged = {}
    for claim in offered:
        try:
            results = [evaluate(rows, index, curves, check) for check in claim["checks"]]
        except MissingRows:  # an error that is not kept point by point
            continue
        weak = max(results, key=lambda result: result.hold)
        blamed = min(results, key=lambda result: result.contra)
        contra = min(1.0, len(results) * blamed.contra)
        judged[claim["id"]] = Judged(weak.hold, contra, weak.weakest, blamed.accused)
    return judged


def _offered(check: Check) -> bool:
    """Is it a mean difference of two selections?"""
    plain = check["statistic"] == "difference" and check["b"] != "x" and trend_of(check) is None
    return plain and check.get("rows", "mean") == "mean" and "of" not in check


def _index(points: Points) -> pd.DataFrame:
    """One row for each curve, as in a result table; the value is its number."""
    frame = pd.DataFrame(list(map(Points.columns, points.curves)), columns=CURVE)
    return frame.assign(repetition=0, value=np.arange(len(frame)), x=frame["x"].astype(float))


def evaluate(rows: pd.DataFrame, index: pd.DataFrame, curves: Sequence[Curve], check: Check) -> Result:
    """One check for new points, on a prepared table and the prepared index of the curves.

    Raises
    ------
    MissingRows : errors that are not kept point by point, or were found on different points.
    """
    where, columns = check.get("where", {}), check.get("for_each", [])
    a, b = (select(index, {**where, **check[side]}) for side in ("a", "b"))
    added = {label: _added(part, curves) for label, part in split(paired(a, b, check), columns)}
    groups = split(statistic_rows(rows, check), columns)
    if set(added) != {label for label, _ in groups}:
        raise MissingRows("some groups have no points")
    bound = Bound.of(check)
    cells = [[_cell(label, part, bound, added[label])] for label, part in groups]
    return combine(cells, check.get("at_least", len(cells)), ())


def _cell(label: str, rows: pd.DataFrame, bound: Bound, added: Estimate) -> Cell:
    values, _ = by_repetition(rows)
    estimate = for_new_points(mean_se(values), added)
    return Cell(
        label,
        estimate.mean,
        t_interval(estimate),
        values.size,
        bound.hold(estimate),
        bound.contra(estimate),
        float(bound.excess(estimate.mean)),
        tested=estimate.df > 0,
    )


def _added(pairs: pd.DataFrame, curves: Sequence[Curve]) -> Estimate:
    """0 with the error that the pools add to the mean over some pairs; pools are independent."""
    total = Estimate(0.0, 0.0, np.inf)
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
