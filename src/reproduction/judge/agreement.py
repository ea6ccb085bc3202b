"""Agreement of whole tables with the paper: distance, winners, order, what the margin can distinguish.

The unit is the data set: cells of one set share its points, so that intervals come from means per set, and
take the sets of the table as a sample of such sets.
"""

from itertools import combinations, product
from math import inf

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from noisylabels.statistics import Estimate, mean_se, outside, share_interval, t_interval, tost, welch
from reproduction.judge.claims import JUDGED, listed
from reproduction.judge.estimates import value
from reproduction.judge.verdicts import ALPHA, NO_INTERVAL
from reproduction.spec.strict_yaml import Content
from reproduction.spec.verdict_words import (
    INCONCLUSIVE,
    NOT_COMPARABLE,
    NOT_REPRODUCED,
    OF_A_VALUE,
    PUBLISHED,
    REPRODUCED,
)

COLUMNS = ["paper", "artifact", "status", "metric", "noise", "method", "quantity", "control", "verdict"]
COLUMNS += ["estimate", "low", "high", "sets", "cells"]
LIMITS = "limits of agreement"
"""The quantity whose interval holds 95 % of the differences."""
LABELS = ["dataset", "noise", "method", "metric"]
GROUP = ["metric", "noise", "method"]
Interval = tuple[float, float]


def agreement(verdicts: pd.DataFrame, scale: str = "full") -> pd.DataFrame:
    """Rows of `COLUMNS` for every artifact with at least two comparable published values.

    verdicts : from `judge_files`.
    ``status`` is "ran" at a reduced scale, where the values are ours and nothing is judged by them.
    ``control`` and ``verdict``: how many values would have this verdict with the control in our place.
    """
    rows = []
    status = "judged" if scale in JUDGED else "ran"
    for (paper, artifact), part in verdicts.groupby(["paper", "artifact"], sort=False):
        head = {"paper": paper, "artifact": artifact, "status": status, "control": "", "verdict": ""}
        for group, cells in _groups(cells_of(part)):
            rows += [head | group | row for row in _measures(cells)]
    return pd.DataFrame(rows, columns=COLUMNS)


def cells_of(verdicts: pd.DataFrame) -> pd.DataFrame:
    """The comparable values: `LABELS`, ours, printed, ..., ``line`` is what it shares with other methods.

    A mean over several sets is left out: it repeats the cells of its sets.
    """
    rows = verdicts[(verdicts["kind"] == PUBLISHED) & (verdicts["verdict"] != NOT_COMPARABLE)]
    rows = rows[rows["estimate"].notna()].drop_duplicates("id")
    where = rows["where"].map(value)
    single = ~where.map(lambda selector: isinstance(selector.get("dataset"), list)).astype(bool)
    rows, where = rows[single], where[single]
    texts = [{key: "|".join(map(str, listed(entry))) for key, entry in each.items()} for each in where]
    labels = {column: [text.get(column, "") for text in texts] for column in LABELS}
    lines = [repr(sorted((key, entry) for key, entry in text.items() if key != "method")) for text in texts]
    names = {"estimate": "ours", "published": "printed", "published_se": "se", "published_df": "df"}
    cells = rows[[*names, "margin", "constant_error", "verdict"]].rename(columns=names)
    cells["df"] = cells["df"].fillna(inf)
    return cells.assign(**labels, line=lines, gap=cells["ours"] - cells["printed"])


def _groups(cells: pd.DataFrame) -> list[tuple[dict[str, str], pd.DataFrame]]:
    """All cells of a metric, those of each method, of each noise, and of each of both; none twice."""
    found: dict[tuple[str, ...], pd.DataFrame] = {}
    several = [column for column in ("noise", "method") if cells[column].nunique() > 1]
    for by_noise, by_method in product((False, True), repeat=2):
        columns = [c for c, asked in (("noise", by_noise), ("method", by_method)) if asked and c in several]
        for names, part in cells.groupby(["metric", *columns]):
            place = dict(zip(["metric", *columns], map(str, names), strict=True))
            found[tuple(place.get(column, "") for column in GROUP)] = part
    parts = [(key, part) for key, part in sorted(found.items(), key=lambda item: item[0]) if len(part) > 1]
    return [(dict(zip(GROUP, key, strict=True)), part) for key, part in parts]


def _measures(cells: pd.DataFrame) -> list[Content]:
    sets = cells["dataset"].nunique()

    def row(quantity: str, estimate: float, interval: Interval, n: int) -> Content:
        figures = {"quantity": quantity, "estimate": estimate, "low": interval[0], "high": interval[1]}
        return figures | {"sets": sets, "cells": n}

    gap, n = cells["gap"], len(cells)
    mean, half = gap.mean(), 1.96 * gap.std()
    rows = [
        row("mean difference", *over_sets(cells, gap), n),
        row("mean absolute difference", gap.abs().mean(), NO_INTERVAL, n),
        row(LIMITS, mean, (mean - half, mean + half), n),
    ]
    if (cells[["ours", "printed"]] > 0).all(axis=None):
        ratio, interval = over_sets(cells, (cells["ours"] / cells["printed"]).map(np.log))
        rows.append(row("mean ratio", float(np.exp(ratio)), tuple(np.exp(interval)), n))
    lines = [line for _, line in cells.groupby("line", sort=False) if len(line) > 1]
    for quantity, part in (("same winner", _winners(lines)), ("same order", orders(lines))):
        if len(part):
            rows.append(row(quantity, *share(part), len(part)))
    for who, verdicts in _controls(cells, lines).items():
        for verdict in OF_A_VALUE:
            count = row("count", verdicts.count(verdict), NO_INTERVAL, len(verdicts))
            rows.append(count | {"control": who, "verdict": verdict})
    return rows


def over_sets(cells: pd.DataFrame, values: pd.Series) -> tuple[float, Interval]:
    """Mean of the means per data set, and its t-interval over the sets."""
    estimate = mean_se(values.groupby(cells["dataset"], sort=False).mean())
    return estimate.mean, t_interval(estimate)


def _winners(lines: list[pd.DataFrame]) -> pd.Series:
    """For each line, by data set: is our lowest value of a method that is lowest in the paper?"""
    best = [line.iloc[int(line["ours"].to_numpy().argmin())] for line in lines]
    won = [cell["printed"] == line["printed"].min() for cell, line in zip(best, lines, strict=True)]
    return pd.Series(won, [cell["dataset"] for cell in best], dtype=float)


def orders(lines: list[pd.DataFrame]) -> pd.Series:
    """For each pair of methods of a line that the paper orders, by data set: do ours have this order?"""
    found: list[tuple[str, bool]] = []
    for line in lines:
        cells = zip(line["dataset"], line["printed"].to_numpy(), line["ours"].to_numpy(), strict=True)
        for (dataset, theirs, ours), (_, other_theirs, other_ours) in combinations(cells, 2):
            if theirs != other_theirs:
                found.append((dataset, bool((theirs - other_theirs) * (ours - other_ours) > 0)))
    return pd.Series([same for _, same in found], [dataset for dataset, _ in found], dtype=float)


def share(found: pd.Series) -> tuple[float, Interval]:
    """Mean share, with a t-interval over data sets; Clopper's and Pearson's where all sets have the same."""
    shares = found.groupby(level=0, sort=False).mean()
    estimate = mean_se(shares)
    if estimate.df > 0 and estimate.se == 0:
        return estimate.mean, share_interval(round(estimate.mean * shares.size), shares.size)
    low, high = t_interval(estimate)
    return estimate.mean, (max(low, 0.0), min(high, 1.0))


def _controls(cells: pd.DataFrame, lines: list[pd.DataFrame]) -> dict[str, list[str]]:
    """Verdicts on our values, and on three that know nothing of ours or of the method, in their place.

    A classifier that always names the larger class (for errors in percent or shares); the mean of the
    published column; the published value of the next method of the line (the last one has the one before it).
    """
    found: dict[str, list[str]] = {}
    if cells["verdict"].isin(OF_A_VALUE).all():
        found["ours"] = list(cells["verdict"])
    known = cells[cells["constant_error"].notna() & (cells["metric"] == "error")]
    if len(known):
        percent = 100.0 if (cells["printed"] > 1).any() else 1.0
        found["constant classifier"] = _instead(known, percent * known["constant_error"])
    found["mean of the column"] = _instead(cells, cells.groupby(GROUP)["printed"].transform("mean"))
    if lines:
        others = pd.concat([line.iloc[[*range(1, len(line)), -2]] for line in lines])
        theirs = (others[column] for column in ("printed", "se", "df"))
        found["neighbouring method"] = _instead(pd.concat(lines), *theirs)
    return found


def _instead(cells: pd.DataFrame, means: ArrayLike, se: ArrayLike = 0.0, df: ArrayLike = inf) -> list[str]:
    """Verdicts by the two tests of a published value, with other values in place of ours."""
    others = map(Estimate, *np.broadcast_arrays(means, se, df))
    printed = map(Estimate, cells["printed"], cells["se"], cells["df"])
    gaps = map(welch, others, printed)
    return [_verdict(gap, margin) for gap, margin in zip(gaps, cells["margin"], strict=True)]


def _verdict(gap: Estimate, margin: float) -> str:
    if tost(gap, -margin, margin) < ALPHA:
        return REPRODUCED
    return NOT_REPRODUCED if outside(gap, -margin, margin) < ALPHA else INCONCLUSIVE
