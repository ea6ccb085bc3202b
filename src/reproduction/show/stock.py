"""Figures and tables for any result table, for artifacts without a drawing of their own."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from itertools import product
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pandas as pd

from noisylabels import statistics
from reproduction.show import names, panels, tables
from reproduction.show.names import data_set, flips
from reproduction.spec.settings import labels

if TYPE_CHECKING:
    from matplotlib.figure import Figure


SECTIONS = ["dataset", "noise", "setting"]
"""Columns of a result table that name what a method was run on."""


@panels.figure
def curves(results: panels.Results[Any]) -> Figure:
    """Draw the mean value against x with a 95 % band, a curve for each method.

    A row for each metric, a column for each data set, noise and setting. Metrics without an x are
    left out, and named below. An axis is logarithmic where `is_logarithmic` says so of its numbers,
    or ``scale: log`` of the metric in names.yaml; ``scale: linear`` keeps it linear.
    """
    joined = _join_tables(results)
    table = joined[joined["x"].notna()]
    if table.empty:
        problem = "no metric has an x, so there is no curve"
        raise panels.RenderError(f"{results.artifact}: {problem}; use stock:last_values")
    columns = {}
    for _, part in table.groupby([ARTIFACT, *SECTIONS], sort=False):
        columns[_name(table, part)] = part
    metrics = list(table["metric"].unique())
    rows = [names.metric(metric, results.protocol) for metric in metrics]
    y_label = ""
    if len(metrics) == 1:
        y_label = rows[0]
        rows = [""]
    x_label = names.x_axis(metrics[0], results.protocol)
    figure, axes = panels.grid_of_panels(rows, list(columns), x_label=x_label, y_label=y_label)
    has_logarithmic_x = is_logarithmic(table["x"]) and _is_even_in_logarithm(table["x"])
    for j, part in enumerate(columns.values()):
        for i, metric in enumerate(metrics):
            ax = axes[i, j]
            panels.learning_curves(ax, part[part["metric"] == metric])
            ax.set_yscale(_choose_scale(metric, table, results))
            if has_logarithmic_x:
                ax.set_xscale("log")
    panels.shared_legend(figure, panels.handles(table["method"].unique()))
    left_out = [metric for metric in joined["metric"].unique() if metric not in metrics]
    if left_out:
        listed = ", ".join(names.metric(metric, results.protocol) for metric in left_out)
        panels.add_room(figure, below=0.2)
        note = f"without an x, and not drawn: {listed}"
        figure.text(0.995, 0.01, note, ha="right", va="bottom", fontsize=8, style="italic")
    return figure


DECADES = 3.0
"""Powers of ten that numbers span at least if their axis is logarithmic."""


def is_logarithmic(numbers: pd.Series) -> bool:
    """Are all numbers above 0, and would a linear axis hide most of their decades?"""
    lowest = numbers.min()
    if not lowest > 0:
        return False
    return bool(numbers.max() / lowest >= 10**DECADES)


def _is_even_in_logarithm(x: pd.Series) -> bool:
    """Are the steps of x nearer to equal factors than to equal differences?"""
    positions = np.unique(x)
    differences = np.diff(positions)
    factors = np.diff(np.log(positions))
    spread_of_factors = factors.std() / factors.mean()
    spread_of_differences = differences.std() / differences.mean()
    return bool(spread_of_factors < spread_of_differences)


def _choose_scale(metric: str, table: pd.DataFrame, results: panels.Results[Any]) -> str:
    """Choose the scale of the axis of a metric.

    Raises RenderError: a logarithm is needed, and a mean has none.
    """
    rows = table[table["metric"] == metric]
    points = rows.groupby([ARTIFACT, *SECTIONS, "method", "x"], dropna=False, observed=True)
    means = points["value"].mean()
    scale = names.scale(metric, results.protocol)
    if scale == "log" and means.min() <= 0:
        problem = f"names.yaml: metrics.{metric}.scale: log, and the lowest mean is {means.min():g}"
        raise panels.RenderError(f"{results.artifact}: {problem}; write scale: linear")
    if scale:
        return scale
    return "log" if is_logarithmic(means) else "linear"


ARTIFACT = "artifact"
"""Column of `_join_tables`: which table a row is of."""


def _join_tables(results: panels.Results[Any]) -> pd.DataFrame:
    """Join all tables in one."""
    tables_with_names = [table.assign(artifact=name) for name, table in results.tables.items()]
    return pd.concat(tables_with_names, ignore_index=True)


@panels.table
def last_values(results: panels.Results[Any]) -> pd.DataFrame:
    """Write mean ± standard error at the last x of every method.

    A section for each data set, noise and setting; the best is bold where it is known which is
    better.
    """
    lines = []
    directions = []
    for table in results.tables.values():
        for keys, part in table.groupby([*SECTIONS, "metric"], sort=False):
            dataset, noise, setting, metric = map(str, keys)
            x = part["x"].fillna(0)
            rows_at_end = part[x == x.max()]
            order = list(rows_at_end["method"].unique())
            by_method = rows_at_end.pivot(index="method", columns="repetition", values="value")
            better = names.better(metric, results.protocol)
            directions.append(better)
            sections = {
                "dataset": data_set(dataset),
                "noise": noise,
                "setting": names.setting(setting),
                "metric": names.metric(metric, results.protocol),
            }
            cells = tables.mean_se_cells(by_method.loc[order], better=better)
            lines.append(sections | cells)
    frame = pd.DataFrame(lines).fillna("").set_index([*SECTIONS, "metric"])
    note = f"Mean ± standard error over the repetitions{_describe_bold(directions)}."
    return tables.noted(frame, note)


def _describe_bold(directions: list[str | None]) -> str:
    """Write what bold means in a table whose metrics are better in these directions."""
    distinct = set(directions)
    if distinct == {None}:
        return ""
    if distinct == {"lower"}:
        return "; the lowest mean is bold"
    if distinct == {"higher"}:
        return "; the highest mean is bold"
    return "; the best mean is bold where the metric says which is better"


def _name(table: pd.DataFrame, part: pd.DataFrame) -> str:
    """Name a part by what differs in the table, in the words of readers."""
    name_of: dict[str, Callable[[str], str]] = {
        ARTIFACT: str,
        "dataset": names.data_set,
        "noise": names.noise,
        "setting": names.setting,
    }
    words = []
    for column, name in name_of.items():
        if table[column].nunique() > 1:
            words.append(name(part[column].iloc[0]))
    return ", ".join(words)


@panels.table
def errors(results: panels.Results[Any]) -> pd.DataFrame:
    """Write the mean error of every method, a section for each data set, a row for each noise."""
    results = main_selection(results)
    settings = results.settings
    rows = []
    for name, noise in product(settings.datasets, labels(settings.noise)):
        methods = _select_methods_on(settings.methods, noise)
        errors = results.select(dataset=name, noise=noise, metric="error", method=methods)
        row = {"data set": data_set(name), "flips": flips(noise)}
        row |= dict.fromkeys(settings.methods, "")
        rows.append(row | tables.mean_sd_cells(errors, methods))
    frame = pd.DataFrame(rows).set_index(["data set"])
    return tables.noted(frame, *error_notes(results))


def main_selection(results: panels.Results[Any]) -> panels.Results[Any]:
    """Leave out the rows of further kinds of selection (`also`) of a method."""
    table = results.table
    is_further = pd.Series(False, index=table.index)
    for method in results.settings.methods:
        _, *further = results.settings.settings_of(method) or [""]
        has_further_setting = table["setting"].isin(further)
        is_further |= (table["method"] == method) & has_further_setting
    return replace(results, tables={results.artifact: table[~is_further]})


def _select_methods_on(methods: Mapping[str, Any], noise: str) -> list[str]:
    """Select the methods that run on a noise: those that list it, and those that list no noise."""
    selected = []
    for label, method in methods.items():
        noises = getattr(method, "noise", None)
        if noises is None or noise in labels(noises):
            selected.append(label)
    return selected


@panels.table
def ranked(results: panels.Results[Any]) -> pd.DataFrame:
    """Write a row for every method and a column for every noise of one data set.

    Bold is what may be the best: in 95 % of such tables the best method is bold. The first sentence
    below the table says of the first noise which methods these are.

    Notes
    -----
    A method m is significantly worse than b, whose mean is lowest, if
    mean(e_m - e_b) - t_{1 - 0.025/k} se > 0, with k methods other than b.
    """
    results = main_selection(results)
    methods = results.settings.methods
    columns = {}
    answer = ""
    for noise in labels(results.settings.noise):
        methods_on_noise = _select_methods_on(methods, noise)
        rows = results.select(noise=noise, metric="error", method=methods_on_noise)
        errors = rows.pivot(index="repetition", columns="method", values="value")
        gaps = _compare_with_best(errors)
        columns[flips(noise)] = _write_ranked_cells(errors, gaps)
        if not answer:
            answer = _describe_best(gaps, flips(noise), methods)
    label_of = {method: names.label(methods, method) for method in methods}
    frame = pd.DataFrame(columns).fillna("").rename(index=label_of)
    count = results.table["repetition"].nunique()
    return tables.noted(
        frame.rename_axis("method").reset_index(),
        f"{answer} Test error in %, mean ± standard deviation over {count} splits.",
        "Bold: not significantly different from the lowest mean of its column; t-intervals of the",
        "paired differences, 95 % for all of a column together.",
        *error_notes(results)[1:],
    )


class _Gap(NamedTuple):
    """Mean error of a method above that of the best one, with its interval."""

    mean: float
    low: float
    high: float

    @property
    def is_equal(self) -> bool:
        """May the method be the best one, too?"""
        return not self.low > 0


def _compare_with_best(errors: pd.DataFrame) -> dict[str, _Gap]:
    """Compare each method with the one whose mean is lowest, which comes first and has no gap."""
    best, *other_methods = errors.mean().sort_values(kind="stable").index
    gaps = {best: _Gap(0.0, 0.0, 0.0)}
    for method in other_methods:
        gap = statistics.mean_se(errors[method] - errors[best])
        low, high = statistics.t_interval(gap, 1 - 0.05 / len(other_methods))
        gaps[method] = _Gap(gap.mean, low, high)
    return gaps


def _write_ranked_cells(errors: pd.DataFrame, gaps: Mapping[str, _Gap]) -> dict[str, str]:
    cells = {}
    for method, gap in gaps.items():
        values = errors[method]
        cells[method] = tables.mean_sd(values.mean(), values.std(), bold=gap.is_equal)
    return cells


def _describe_best(gaps: Mapping[str, _Gap], noise: str, methods: Mapping[str, Any]) -> str:
    """Write which method has the lowest error, and which are not significantly different."""
    best, *other_methods = gaps
    texts = {}
    for method in other_methods:
        gap = gaps[method]
        interval = f"[{gap.low:.2f}, {gap.high:.2f}]"
        texts[method] = f"{names.label(methods, method)} (+{gap.mean:.2f} {interval})"
    equal = ", ".join(texts[method] for method in other_methods if gaps[method].is_equal)
    if not equal:
        equal = f"none, the next is {texts[other_methods[0]]}"
    lowest = f"With {noise}, {names.label(methods, best)} has the lowest error"
    return f"{lowest}; not significantly different from it (95 %): {equal}."


def error_notes(results: panels.Results[Any]) -> list[str]:
    """Write what the numbers are, the splits, the flagged runs and the origin of the points."""
    table = results.table
    methods = results.settings.methods
    is_flag = (table["metric"] == "flagged") & table["method"].isin(list(methods))
    counts = []
    for method, flags in table[is_flag].groupby("method", sort=False)["value"]:
        name = names.label(methods, str(method))
        counts.append(f"{name} {int(flags.sum())} of {len(flags)}")
    doubtful = ""
    if counts:
        kinds = "collapsed, not converged, classes swapped"
        doubtful = f"Doubtful runs ({kinds}): {', '.join(counts)}."
    splits = note_splits(table, results.settings.datasets)
    return [splits, doubtful, note_sources(table), *names.notes(methods)]


def note_splits(table: pd.DataFrame, datasets: list[str]) -> str:
    """Write what the numbers are, and over how many splits."""
    errors = table[table["metric"] == "error"]
    counts = errors.groupby("dataset")["repetition"].nunique()[datasets]
    largest = int(counts.max())
    fewer = []
    for name, n_splits in counts.items():
        if n_splits < largest:
            fewer.append(f"{data_set(str(name))} {n_splits}")
    splits = f"{largest} splits"
    if fewer:
        splits += f" ({', '.join(fewer)})"
    return f"Test error in %, mean ± standard deviation over {splits}; the lowest mean is bold."


SUBSTITUTES = {
    "rebuilt": "rebuilt points and our own splits",
    "generated": "points drawn again, our splits",
}
"""Source of a data set -> what it has in place of the genuine files."""


def note_sources(table: pd.DataFrame) -> str:
    """Name the data sets that are not the genuine IDA files."""
    source_of = table.drop_duplicates("dataset").set_index("dataset")["source"]
    notes = []
    for source, text in SUBSTITUTES.items():
        datasets = source_of.index[source_of == source]
        if len(datasets):
            notes.append(f"{text} ({', '.join(map(data_set, datasets))})")
    return f"Not the genuine IDA files: {'; '.join(notes)}." if notes else ""
