"""Agreement of whole tables with the paper: distance, winners, order and controls.

The unit is the data set: cells of one set share its points, so that intervals come from means per
set, and take the sets of the table as a sample of such sets.
"""

from itertools import combinations
from math import inf

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from noisylabels.statistics import (
    Estimate,
    mean_se,
    outside,
    share_interval,
    t_interval,
    tost,
    welch,
)
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

COLUMNS = [
    *["paper", "artifact", "status", "metric", "noise", "method", "quantity", "control", "verdict"],
    *["estimate", "low", "high", "sets", "cells"],
]
LIMITS = "limits of agreement"
"""The quantity whose interval holds 95 % of the differences."""
LIMIT_IN_SD = 1.96
"""Standard deviations of a normal distribution from the mean to a limit of agreement."""
LABELS = ["dataset", "noise", "method", "metric"]
GROUP = ["metric", "noise", "method"]
NAMES_OF_CELLS = {
    "estimate": "ours",
    "published": "printed",
    "published_se": "se",
    "published_df": "df",
}
"""Column of the verdicts -> column of `cells_of`."""
Interval = tuple[float, float]


def agreement(verdicts: pd.DataFrame, scale: str = "full") -> pd.DataFrame:
    """Measure how well each artifact with at least two comparable published values agrees.

    Parameters
    ----------
    verdicts : DataFrame
        From `judge_files`.
    scale : str, default "full"
        At a reduced scale ``status`` is "ran": the values are ours and nothing is judged by them.

    Returns
    -------
    DataFrame
        Rows of `COLUMNS`. ``control`` and ``verdict`` count how many values would have this verdict
        with the control instead of ours.
    """
    rows = []
    status = "judged" if scale in JUDGED else "ran"
    for (paper, artifact), part in verdicts.groupby(["paper", "artifact"], sort=False):
        head = {"paper": paper, "artifact": artifact, "status": status}
        head |= {"control": "", "verdict": ""}
        for group, cells in _groups(cells_of(part)):
            rows += [head | group | row for row in _measures(cells)]
    return pd.DataFrame(rows, columns=COLUMNS)


def cells_of(verdicts: pd.DataFrame) -> pd.DataFrame:
    """List the comparable values with the data set, noise, method and metric of each.

    Columns: `LABELS`, ours, printed, ..., and ``line``, which is what a value shares with other
    methods. A mean over several sets is left out: it repeats the cells of its sets.
    """
    is_comparable = (verdicts["kind"] == PUBLISHED) & (verdicts["verdict"] != NOT_COMPARABLE)
    rows = verdicts[is_comparable]
    rows = rows[rows["estimate"].notna()].drop_duplicates("id")
    selectors = rows["where"].map(value)
    is_mean_over_sets = selectors.map(lambda selector: isinstance(selector.get("dataset"), list))
    is_single = ~is_mean_over_sets.astype(bool)
    rows = rows[is_single]
    texts = [_selector_as_text(selector) for selector in selectors[is_single]]
    of_method = {"method"}
    settings_by_method: dict[str, set[str]] = {}
    for text in texts:
        settings = settings_by_method.setdefault(text.get("method", ""), set())
        settings.add(text.get("setting", ""))
    if all(len(settings) == 1 for settings in settings_by_method.values()):
        of_method.add("setting")  # it says how the method was selected, and does not separate cells
    columns = {"line": [_line_of(text, of_method) for text in texts]}
    for label in LABELS:
        columns[label] = [text.get(label, "") for text in texts]
    cells = rows[[*NAMES_OF_CELLS, "margin", "constant_error", "verdict"]]
    cells = cells.rename(columns=NAMES_OF_CELLS)
    cells["df"] = cells["df"].fillna(inf)
    return cells.assign(**columns, gap=cells["ours"] - cells["printed"])


def _selector_as_text(selector: Content) -> dict[str, str]:
    texts = {}
    for column, entry in selector.items():
        texts[column] = "|".join(str(label) for label in listed(entry))
    return texts


def _line_of(selector: dict[str, str], of_method: set[str]) -> str:
    """Write the entries that a cell shares with those of other methods."""
    shared = [item for item in selector.items() if item[0] not in of_method]
    return repr(sorted(shared))


def _groups(cells: pd.DataFrame) -> list[tuple[dict[str, str], pd.DataFrame]]:
    """Group all cells of a metric, those of a method, of a noise, and of both; no group twice."""
    several = [column for column in ("noise", "method") if cells[column].nunique() > 1]
    groups: dict[tuple[str, ...], pd.DataFrame] = {}
    for size in range(len(several) + 1):
        for chosen in combinations(several, size):
            columns = ["metric", *chosen]
            for names, part in cells.groupby(columns):
                label_of = dict(zip(columns, map(str, names), strict=True))
                groups[tuple(label_of.get(column, "") for column in GROUP)] = part
    large_groups = []
    for labels, part in sorted(groups.items(), key=lambda item: item[0]):
        if len(part) > 1:
            large_groups.append((dict(zip(GROUP, labels, strict=True)), part))
    return large_groups


def _measures(cells: pd.DataFrame) -> list[Content]:
    """Make the rows of one group of cells."""
    n_sets = cells["dataset"].nunique()

    def row(quantity: str, estimate: float, interval: Interval, n_cells: int) -> Content:
        low, high = interval
        figures: Content = {"quantity": quantity, "estimate": estimate, "low": low, "high": high}
        return figures | {"sets": n_sets, "cells": n_cells}

    gap = cells["gap"]
    n_cells = len(cells)
    mean = gap.mean()
    half_width = LIMIT_IN_SD * gap.std()
    rows = [
        row("mean difference", *over_sets(cells, gap), n_cells),
        row("mean absolute difference", gap.abs().mean(), NO_INTERVAL, n_cells),
        row(LIMITS, mean, (mean - half_width, mean + half_width), n_cells),
    ]
    if (cells[["ours", "printed"]] > 0).all(axis=None):
        log_ratios = (cells["ours"] / cells["printed"]).map(np.log)
        log_ratio, interval = over_sets(cells, log_ratios)
        ratio = float(np.exp(log_ratio))
        rows.append(row("mean ratio", ratio, tuple(np.exp(interval)), n_cells))
    lines = [line for _, line in cells.groupby("line", sort=False) if len(line) > 1]
    comparisons = {"same winner": _winners(lines), "same order": orders(lines)}
    for quantity, is_same in comparisons.items():
        if len(is_same):
            rows.append(row(quantity, *share(is_same), len(is_same)))
    for control, verdicts in _controls(cells, lines).items():
        for verdict in OF_A_VALUE:
            count = row("count", verdicts.count(verdict), NO_INTERVAL, len(verdicts))
            rows.append(count | {"control": control, "verdict": verdict})
    return rows


def over_sets(cells: pd.DataFrame, values: pd.Series) -> tuple[float, Interval]:
    """Average the means per data set, with a t-interval over the sets."""
    estimate = mean_se(values.groupby(cells["dataset"], sort=False).mean())
    return estimate.mean, t_interval(estimate)


def _winners(lines: list[pd.DataFrame]) -> pd.Series:
    """Mark, by data set, the lines where our lowest method is also lowest in the paper."""
    datasets = []
    is_same = []
    for line in lines:
        our_best = line.iloc[int(line["ours"].to_numpy().argmin())]
        datasets.append(our_best["dataset"])
        is_same.append(our_best["printed"] == line["printed"].min())
    return pd.Series(is_same, datasets, dtype=float)


def orders(lines: list[pd.DataFrame]) -> pd.Series:
    """Decide for each pair of methods of a line whether our values have the paper's order.

    The index is the data set. Pairs whose published values are equal are left out.
    """
    datasets = []
    is_same = []
    for line in lines:
        dataset = line["dataset"].to_list()
        printed = line["printed"].to_numpy()
        ours = line["ours"].to_numpy()
        for i, j in combinations(range(len(line)), 2):
            if printed[i] != printed[j]:
                datasets.append(dataset[i])
                gap_printed = printed[i] - printed[j]
                gap_ours = ours[i] - ours[j]
                is_same.append(bool(gap_printed * gap_ours > 0))
    return pd.Series(is_same, datasets, dtype=float)


def share(is_same: pd.Series) -> tuple[float, Interval]:
    """Average the shares of the data sets, with a t-interval over the sets.

    Where all sets have the same share the interval is Clopper's and Pearson's.
    """
    shares = is_same.groupby(level=0, sort=False).mean()
    estimate = mean_se(shares)
    if estimate.df > 0 and estimate.se == 0:
        n_same = round(estimate.mean * shares.size)
        return estimate.mean, share_interval(n_same, shares.size)
    low, high = t_interval(estimate)
    return estimate.mean, (max(low, 0.0), min(high, 1.0))


def _controls(cells: pd.DataFrame, lines: list[pd.DataFrame]) -> dict[str, list[str]]:
    """Judge our values, and in their place three that know neither our results nor the method.

    A classifier that always names the larger class (for errors in percent or shares); the mean of
    the published column; the published value of the next method of the line (for the last method,
    that of the one before it).
    """
    verdicts: dict[str, list[str]] = {}
    if cells["verdict"].isin(OF_A_VALUE).all():
        verdicts["ours"] = list(cells["verdict"])
    is_error = cells["metric"] == "error"
    errors = cells[cells["constant_error"].notna() & is_error]
    if len(errors):
        unit = 100.0 if (cells["printed"] > 1).any() else 1.0
        verdicts["constant classifier"] = _judge_instead(errors, unit * errors["constant_error"])
    column_means = cells.groupby(GROUP)["printed"].transform("mean")
    verdicts["mean of the column"] = _judge_instead(cells, column_means)
    if lines:
        # The next method of each line; for the last one, the one before it.
        neighbours_of_lines = []
        for line in lines:
            positions = [*range(1, len(line)), -2]
            neighbours_of_lines.append(line.iloc[positions])
        neighbours = pd.concat(neighbours_of_lines)
        verdicts["neighbouring method"] = _judge_instead(
            pd.concat(lines), neighbours["printed"], neighbours["se"], neighbours["df"]
        )
    return verdicts


def _judge_instead(
    cells: pd.DataFrame, means: ArrayLike, se: ArrayLike = 0.0, df: ArrayLike = inf
) -> list[str]:
    """Apply the two tests of a published value to other values in place of ours."""
    instead = map(Estimate, *np.broadcast_arrays(means, se, df))
    printed = map(Estimate, cells["printed"], cells["se"], cells["df"])
    gaps = map(welch, instead, printed)
    return [_verdict(gap, margin) for gap, margin in zip(gaps, cells["margin"], strict=True)]


def _verdict(gap: Estimate, margin: float) -> str:
    if tost(gap, -margin, margin) < ALPHA:
        return REPRODUCED
    if outside(gap, -margin, margin) < ALPHA:
        return NOT_REPRODUCED
    return INCONCLUSIVE
