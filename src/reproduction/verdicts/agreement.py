"""Agreement of whole tables with the paper: how far, who wins, in which order, what the margin can tell.

The unit is the data set: cells of one set share its points, so that intervals come from means per set.
A table says little about other data sets than its own; the intervals take its sets for a sample of such sets.
"""

from collections import defaultdict
from collections.abc import Callable, Mapping
from itertools import combinations, pairwise
from math import inf, log, nan
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from noisylabels.statistics import Estimate, mean_se, outside, share_interval, t_interval, tost, welch
from reproduction.verdicts.checks import ALPHA
from reproduction.verdicts.names import CELL, NOT_COMPARABLE
from reproduction.verdicts.per_point_errors import CURVE
from reproduction.verdicts.sentences import value

COLUMNS = ["paper", "artifact", "status", "metric", "noise", "method", "quantity", "control", "state"]
COLUMNS += ["estimate", "low", "high", "sets", "cells"]
LIMITS = "limits of agreement"
"""The quantity whose interval holds 95 % of the differences."""
LABELS = ("dataset", "noise", "method", "metric")
Rows = list[dict[str, Any]]


class Cell(NamedTuple):
    """A published value beside ours; ``row`` is what it shares with the other methods of its line."""

    row: tuple[str, ...]
    dataset: str
    noise: str
    method: str
    metric: str
    ours: float
    published: Estimate
    margin: float
    state: str
    constant: float = nan


def agreement(verdicts: pd.DataFrame, scale: str = "full") -> pd.DataFrame:
    """Rows of `COLUMNS` for every artifact with at least two comparable published values.

    verdicts : from `judge_files`.
    ``status`` is "ran" at a reduced scale, where the values are ours and nothing is judged by them.
    ``control`` and ``state``: how many values would be in this state if the control stood for ours.
    """
    rows: Rows = []
    status = "judged" if scale == "full" else "ran"
    for (paper, artifact), mine in verdicts.groupby(["paper", "artifact"], sort=False):
        head = {"paper": paper, "artifact": artifact, "status": status, "control": "", "state": ""}
        for group, cells in _groups(cells_of(mine)):
            rows += [head | group | row for row in _measures(cells)]
    return pd.DataFrame(rows, columns=COLUMNS)


def cells_of(verdicts: pd.DataFrame) -> list[Cell]:
    """The comparable values. A mean over several sets is none: it repeats the cells of its sets."""
    cells = []
    for row in verdicts[verdicts["kind"] == "published"].drop_duplicates("id").to_dict("records"):
        where = value(row["where"])
        if row["verdict"] == NOT_COMPARABLE or np.isnan(row["estimate"]):
            continue
        if isinstance(where.get("dataset"), list):
            continue
        text = {key: "|".join(map(str, v)) if isinstance(v, list) else str(v) for key, v in where.items()}
        line = tuple(f"{key}={entry}" for key, entry in sorted(text.items()) if key != "method")
        df = inf if np.isnan(row["published_df"]) else row["published_df"]
        published = Estimate(row["published"], row["published_se"], df)
        dataset, noise, method, metric = [text.get(column, "") for column in LABELS]
        ours, margin, state = row["estimate"], row["margin"], row["verdict"]
        constant = row["constant_error"]
        cells.append(Cell(line, dataset, noise, method, metric, ours, published, margin, state, constant))
    return cells


def _groups(cells: list[Cell]) -> list[tuple[dict[str, str], list[Cell]]]:
    """All cells of a metric, those of each method, of each noise, and of each of both; none twice."""
    groups: dict[tuple[str, str, str], list[Cell]] = defaultdict(list)
    several = {field: len({getattr(cell, field) for cell in cells}) > 1 for field in ("noise", "method")}
    for cell in cells:
        for noise in dict.fromkeys(["", cell.noise if several["noise"] else ""]):
            for method in dict.fromkeys(["", cell.method if several["method"] else ""]):
                groups[cell.metric, noise, method].append(cell)
    names = ("metric", "noise", "method")
    found = sorted(groups.items(), key=lambda item: item[0])
    return [(dict(zip(names, key, strict=True)), part) for key, part in found if len(part) > 1]


def _measures(cells: list[Cell]) -> Rows:
    def row(quantity: str, estimate: float, interval: tuple[float, float], n: int) -> dict[str, Any]:
        low, high = interval
        sets = len({cell.dataset for cell in cells})
        figures = {"quantity": quantity, "estimate": estimate, "low": low, "high": high}
        return figures | {"sets": sets, "cells": n}

    gaps = np.array([cell.ours - cell.published.mean for cell in cells])
    half = 1.96 * float(gaps.std(ddof=1))
    none = (np.nan, np.nan)
    rows = [
        row("mean difference", *_over_sets(cells, lambda c: c.ours - c.published.mean), len(cells)),
        row("mean absolute difference", float(np.abs(gaps).mean()), none, len(cells)),
        row(LIMITS, gaps.mean(), (gaps.mean() - half, gaps.mean() + half), len(cells)),
    ]
    if all(cell.ours > 0 and cell.published.mean > 0 for cell in cells):
        mean, interval = _over_sets(cells, lambda c: log(c.ours / c.published.mean))
        rows.append(row("mean ratio", float(np.exp(mean)), tuple(np.exp(interval)), len(cells)))
    for quantity, part in (("same winner", _winners(cells)), ("same order", _orders(cells))):
        if part:
            rows.append(row(quantity, *_share(part), sum(map(len, part.values()))))
    for who, guesses in _controls(cells).items():
        for state in CELL:
            count = sum(guess == state for guess in guesses)
            rows.append(row("count", count, none, len(guesses)) | {"control": who, "state": state})
    return rows


def _over_sets(cells: list[Cell], measure: Callable[[Cell], float]) -> tuple[float, tuple[float, float]]:
    """Mean of the means per data set, and its t-interval over the sets."""
    by_set: dict[str, list[float]] = defaultdict(list)
    for cell in cells:
        by_set[cell.dataset].append(measure(cell))
    estimate = mean_se([float(np.mean(values)) for values in by_set.values()])
    return estimate.mean, t_interval(estimate)


def _lines(cells: list[Cell]) -> list[list[Cell]]:
    """Cells that differ in the method only, two at least."""
    lines: dict[tuple[str, ...], list[Cell]] = defaultdict(list)
    for cell in cells:
        lines[cell.row].append(cell)
    return [line for line in lines.values() if len(line) > 1]


def _winners(cells: list[Cell]) -> dict[str, list[float]]:
    """Data set -> for each of its lines: is our lowest value of a method that is lowest in the paper?"""
    found: dict[str, list[float]] = defaultdict(list)
    for line in _lines(cells):
        best = min(line, key=lambda cell: cell.ours)
        lowest = min(cell.published.mean for cell in line)
        found[best.dataset].append(float(best.published.mean == lowest))
    return found


def _orders(cells: list[Cell]) -> dict[str, list[float]]:
    """Data set -> for each pair of methods that the paper orders: do ours have this order?"""
    found: dict[str, list[float]] = defaultdict(list)
    for line in _lines(cells):
        for a, b in combinations(line, 2):
            published, ours = a.published.mean - b.published.mean, a.ours - b.ours
            if published != 0:
                found[a.dataset].append(float(published * ours > 0))
    return found


def _share(by_set: Mapping[str, list[float]]) -> tuple[float, tuple[float, float]]:
    """Mean share, with a t-interval over data sets; Clopper's and Pearson's where all sets have the same."""
    shares = np.array([np.mean(values) for values in by_set.values()])
    estimate = mean_se(shares)
    if estimate.df > 0 and estimate.se == 0:
        return estimate.mean, share_interval(round(estimate.mean * shares.size), shares.size)
    low, high = t_interval(estimate)
    return estimate.mean, (max(low, 0.0), min(high, 1.0))


def state(gap: Estimate, margin: float) -> str:
    """inside, undecided or outside by the two tests of a published value."""
    if tost(gap, -margin, margin) < ALPHA:
        return CELL[0]
    return CELL[2] if outside(gap, -margin, margin) < ALPHA else CELL[1]


def _controls(cells: list[Cell]) -> dict[str, list[str]]:
    """States of our values, and of three that know nothing of ours or of the method, in their place.

    A classifier that always names the larger class (for errors in percent or shares); the mean of the
    published column; the published value of the next method of the line (the last one has the one before it).
    """
    found: dict[str, list[str]] = {}
    if all(cell.state in CELL for cell in cells):
        found["ours"] = [cell.state for cell in cells]
    known = [cell for cell in cells if not np.isnan(cell.constant) and cell.metric == "error"]
    percent = 100.0 if any(cell.published.mean > 1 for cell in cells) else 1.0
    if known:
        found["constant classifier"] = [
            _instead(cell, Estimate(percent * cell.constant, 0.0, inf)) for cell in known
        ]
    columns: dict[tuple[str, str, str], list[float]] = defaultdict(list)
    for cell in cells:
        columns[cell.metric, cell.noise, cell.method].append(cell.published.mean)
    means = {column: Estimate(float(np.mean(values)), 0.0, inf) for column, values in columns.items()}
    found["mean of the column"] = [_instead(c, means[c.metric, c.noise, c.method]) for c in cells]
    neighbours = [pair for line in _lines(cells) for pair in [*pairwise(line), (line[-1], line[-2])]]
    if neighbours:
        found["neighbouring method"] = [_instead(cell, other.published) for cell, other in neighbours]
    return found


def _instead(cell: Cell, other: Estimate) -> str:
    return state(welch(other, cell.published), cell.margin)


# The same experiment with several root seeds: how far its means and its verdicts depend on the seed


def over_seeds(tables: Mapping[int, pd.DataFrame]) -> pd.DataFrame:
    """sd = sqrt(sum_s (m_s - m)^2 / (S - 1)), m_s the mean over repetitions with seed s, m that of all m_s.

    Columns `CURVE`, then the number of seeds, m, sd, the lowest and the highest m_s, and ``se``,
    the standard error that the repetitions of one seed promise, sqrt(mean_s var_s / R_s).
    If repetitions are independent, sd and se estimate the same;
    a larger sd says that the error bars of one run are too short.

    tables : seed -> result table (`results.COLUMNS`).
    Raises ValueError : fewer than two tables.
    """
    if len(tables) < 2:
        raise ValueError(f"a spread needs two seeds or more, here is {len(tables)}")
    parts = []
    for seed, table in tables.items():
        grouped = table.groupby(CURVE, dropna=False, sort=False, as_index=False)
        found = grouped["value"].agg(["mean", "var", "size"])
        parts.append(found.assign(seed=seed, error=found["var"] / found["size"]))
    every = pd.concat(parts, ignore_index=True).groupby(CURVE, dropna=False, sort=False)
    how = {"mean": "mean", "sd": "std", "low": "min", "high": "max"}
    spread = every.agg(seeds=("seed", "size"), **{name: ("mean", function) for name, function in how.items()})
    return spread.assign(se=np.sqrt(every["error"].mean())).reset_index()


def shown(spread: pd.DataFrame) -> pd.DataFrame:
    """The rows for a page, of every curve its last point only, with figures to read."""
    curves = [key for key in CURVE if key != "x"]
    ends = spread.sort_values("x", kind="stable").drop_duplicates(curves, keep="last").sort_index()
    names = [key for key in curves if ends[key].nunique() > 1] or ["method"]
    figures = {key: ends[key].map("{:.4g}".format) for key in ("mean", "sd", "se")}
    between = ends["low"].map("{:.4g}".format) + " to " + ends["high"].map("{:.4g}".format)
    titles = {"mean": "mean", "sd": "sd over seeds", "se": "standard error of one run"}
    columns = {name: ends[name] for name in names} | {titles[key]: figures[key] for key in titles}
    return pd.DataFrame(columns | {"between": between})


def shared(verdicts: Mapping[int, pd.DataFrame]) -> pd.DataFrame:
    """Claims and published values: the verdict with the first seed, how many seeds share it, and all of them.

    verdicts : seed -> what `verdicts.judge` gives, the first seed first.
    """
    first = next(iter(verdicts.values()))
    rows = []
    for number, row in enumerate(first.itertuples(index=False)):
        found = {seed: table.iloc[number]["verdict"] for seed, table in verdicts.items()}
        same = sum(verdict == row.verdict for verdict in found.values())
        every = "; ".join(f"{seed}: {verdict}" for seed, verdict in found.items())
        rows.append((row.id, row.kind, row.statement, row.verdict, same, len(found), every))
    return pd.DataFrame(rows, columns=["id", "kind", "statement", "verdict", "same", "seeds", "verdicts"])
