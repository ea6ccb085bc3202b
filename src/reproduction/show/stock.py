"""Figures and tables of any result table, for an artifact without a custom drawing."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from noisylabels import statistics
from reproduction.show import names, panels, tables
from reproduction.show.names import data_set, flips
from reproduction.spec.settings import labels

if TYPE_CHECKING:
    from matplotlib.figure import Figure


SECTIONS = ["dataset", "noise", "setting"]
"""Columns of a result table that name what a method was tried on."""


@panels.figure
def curves(results: panels.Results[Any]) -> Figure:
    """Mean value against x with a 95 % band, a curve for each method.

    A row for each metric, a column for each data set, noise and setting. Metrics without an x are left
    out, and named below. An axis is logarithmic where `is_logarithmic` says so of its numbers, or
    ``scale: log`` of the metric in names.yaml; ``scale: linear`` keeps it linear.
    """
    everything = _joined(results)
    table = everything[everything["x"].notna()]
    if table.empty:
        what = "no metric has an x, so there is no curve"
        raise panels.RenderError(f"{results.artifact}: {what}; use stock:last_values")
    columns = {}
    for _, part in table.groupby([ARTIFACT, *SECTIONS], sort=False):
        columns[_name(table, part)] = part
    metrics = list(table["metric"].unique())
    called = [names.metric(metric, results.protocol) for metric in metrics]
    rows = called if len(metrics) > 1 else [""]
    y_label = "" if len(metrics) > 1 else called[0]
    x_label = names.x_axis(metrics[0], results.protocol)
    figure, axes = panels.grid_of_panels(rows, list(columns), x_label=x_label, y_label=y_label)
    for j, part in enumerate(columns.values()):
        for i, metric in enumerate(metrics):
            panels.learning_curves(axes[i, j], part[part["metric"] == metric])
            axes[i, j].set_yscale(_scale_of(metric, table, results))
            if is_logarithmic(table["x"]) and _is_even_in_logarithm(table["x"]):
                axes[i, j].set_xscale("log")
    panels.shared_legend(figure, panels.handles(table["method"].unique()))
    left_out = [metric for metric in everything["metric"].unique() if metric not in metrics]
    if left_out:
        listed = ", ".join(names.metric(metric, results.protocol) for metric in left_out)
        panels.add_room(figure, below=0.2)
        note = f"without an x, and not drawn: {listed}"
        figure.text(0.995, 0.01, note, ha="right", va="bottom", fontsize=8, style="italic")
    return figure


DECADES = 3.0
"""Powers of ten that numbers span at least if their axis is logarithmic."""


def is_logarithmic(numbers: pd.Series) -> bool:
    """Whether all numbers are above 0 and span so many decades that a linear axis would hide most."""
    lowest = numbers.min()
    return bool(lowest > 0 and numbers.max() / lowest >= 10**DECADES)


def _is_even_in_logarithm(x: pd.Series) -> bool:
    """Whether the steps of x are nearer to equal factors than to equal differences."""
    places = np.unique(x)
    differences = np.diff(places)
    factors = np.diff(np.log(places))
    return bool(factors.std() / factors.mean() < differences.std() / differences.mean())


def _scale_of(metric: str, table: pd.DataFrame, results: panels.Results[Any]) -> str:
    """Choose the scale of the axis of a metric.

    Raises RenderError : a logarithm is needed, and a mean has none.
    """
    rows = table[table["metric"] == metric]
    means = rows.groupby([ARTIFACT, *SECTIONS, "method", "x"], dropna=False, observed=True)["value"].mean()
    asked = names.scale(metric, results.protocol)
    if asked == "log" and means.min() <= 0:
        place = f"names.yaml: metrics.{metric}.scale: log, and the lowest mean is {means.min():g}"
        raise panels.RenderError(f"{results.artifact}: {place}; write scale: linear")
    return asked or ("log" if is_logarithmic(means) else "linear")


ARTIFACT = "artifact"
"""Column of `_joined`: which table a row is of."""


def _joined(results: panels.Results[Any]) -> pd.DataFrame:
    """All tables in one."""
    tables_with_names = [table.assign(artifact=name) for name, table in results.tables.items()]
    return pd.concat(tables_with_names, ignore_index=True)


@panels.table
def last_values(results: panels.Results[Any]) -> pd.DataFrame:
    """Mean ± standard error at the last x of every method.

    A section for each data set, noise and setting; the best is bold where it is known which is better.
    """
    lines = []
    directions = []
    for table in results.tables.values():
        for keys, part in table.groupby([*SECTIONS, "metric"], sort=False):
            dataset, noise, setting, metric = map(str, keys)
            last = part[part["x"].fillna(0) == part["x"].fillna(0).max()]
            order = list(last["method"].unique())
            values = last.pivot(index="method", columns="repetition", values="value").loc[order]
            better = names.better(metric, results.protocol)
            directions.append(better)
            line = {"dataset": data_set(dataset), "noise": noise, "setting": names.setting(setting)}
            line["metric"] = names.metric(metric, results.protocol)
            lines.append(line | tables.mean_se_cells(values, better=better))
    frame = pd.DataFrame(lines).fillna("").set_index([*SECTIONS, "metric"])
    return tables.noted(frame, f"Mean ± standard error over the repetitions{_bold(directions)}.")


def _bold(directions: list[str | None]) -> str:
    """What bold means in a table whose metrics are better in these directions."""
    found = set(directions)
    if found == {None}:
        return ""
    if found == {"lower"}:
        return "; the lowest mean is bold"
    if found == {"higher"}:
        return "; the highest mean is bold"
    return "; the best mean is bold where the metric says which is better"


def _name(table: pd.DataFrame, part: pd.DataFrame) -> str:
    """What tells a part apart from the rest of the table, as readers know it."""
    readers: dict[str, Callable[[str], str]] = {
        ARTIFACT: str,
        "dataset": names.data_set,
        "noise": names.noise,
        "setting": names.setting,
    }
    words = []
    for column, read in readers.items():
        if table[column].nunique() > 1:
            words.append(read(part[column].iloc[0]))
    return ", ".join(words)


@panels.table
def errors(results: panels.Results[Any]) -> pd.DataFrame:
    """Any methods on any noise: a section per data set, the mean error of every method."""
    results = main_selection(results)
    rows = []
    for name, noise in product(results.settings.datasets, labels(results.settings.noise)):
        methods = _run_on(results.settings.methods, noise)
        chosen = results.select(dataset=name, noise=noise, metric="error", method=methods)
        cells = dict.fromkeys(results.settings.methods, "")
        cells |= tables.mean_sd_cells(chosen, methods)
        rows.append({"data set": data_set(name), "flips": flips(noise)} | cells)
    return tables.noted(pd.DataFrame(rows).set_index(["data set"]), *error_notes(results))


def main_selection(results: panels.Results[Any]) -> panels.Results[Any]:
    """The results without the rows of further kinds of selection (`also`) of a method."""
    table = results.table
    is_further = pd.Series(False, index=table.index)
    for method in results.settings.methods:
        _, *further = results.settings.settings_of(method) or [""]
        is_further |= (table["method"] == method) & table["setting"].isin(further)
    return replace(results, tables={results.artifact: table[~is_further]})


def _run_on(methods: Mapping[str, Any], noise: str) -> list[str]:
    """The methods that are run on a noise."""
    run = []
    for label, method in methods.items():
        wanted = getattr(method, "noise", None)
        if wanted is None or noise in labels(wanted):
            run.append(label)
    return run


@panels.table
def ranked(results: panels.Results[Any]) -> pd.DataFrame:
    """Of one data set a row for every method, a column for every noise; bold is what may be the best.

    m is told from b, whose mean is lowest, if mean(e_m - e_b) - t_{1 - 0.025/k} se > 0 for k others: in 95 %
    of such tables the best method is bold. The first sentence below says it of the first noise.
    """
    results = main_selection(results)
    methods, columns, answer = results.settings.methods, {}, ""
    for noise in labels(results.settings.noise):
        rows = results.select(noise=noise, metric="error", method=_run_on(methods, noise))
        errors = rows.pivot(index="repetition", columns="method", values="value")
        best, *others = errors.mean().sort_values(kind="stable").index
        gaps, equal = {}, [best]
        for method in others:
            gap = statistics.mean_se(errors[method] - errors[best])
            low, high = statistics.t_interval(gap, 1 - 0.05 / len(others))
            gaps[method] = f"{names.label(methods, method)} (+{gap.mean:.2f} [{low:.2f}, {high:.2f}])"
            if not low > 0:  # it may be the best, too
                equal.append(method)
        columns[flips(noise)] = {
            method: tables.mean_sd(errors[method].mean(), errors[method].std(), bold=method in equal)
            for method in (best, *others)
        }
        if not answer:
            near = ", ".join(gaps[method] for method in equal[1:]) or f"none, the next is {gaps[others[0]]}"
            least = f"With {flips(noise)}, {names.label(methods, best)} has the lowest error"
            answer = f"{least}; not significantly different from it (95 %): {near}."
    frame = (
        pd.DataFrame(columns)
        .fillna("")
        .rename(index={method: names.label(methods, method) for method in methods})
    )
    count = results.table["repetition"].nunique()
    return tables.noted(
        frame.rename_axis("method").reset_index(),
        f"{answer} Test error in %, mean ± standard deviation over {count} splits.",
        "Bold: not significantly different from the lowest mean of its column; t-intervals of the paired",
        "differences, 95 % for all of a column together.",
        *error_notes(results)[1:],
    )


def error_notes(results: panels.Results[Any]) -> list[str]:
    """What the numbers are, how many splits, which runs were flagged, whose points they are."""
    table, methods = results.table, results.settings.methods
    flagged = table[(table["metric"] == "flagged") & table["method"].isin(list(methods))]
    groups = flagged.groupby("method", sort=False)["value"]
    runs = ", ".join(f"{names.label(methods, str(m))} {int(v.sum())} of {len(v)}" for m, v in groups)
    return [
        note_splits(table, results.settings.datasets),
        f"Doubtful runs (collapsed, not converged, classes swapped): {runs}." if runs else "",
        note_sources(table),
        *names.notes(methods),
    ]


def note_splits(table: pd.DataFrame, datasets: list[str]) -> str:
    """What the numbers are, and over how many splits."""
    counts = table[table["metric"] == "error"].groupby("dataset")["repetition"].nunique()[datasets]
    most = int(counts.max())
    fewer = ", ".join(f"{data_set(str(name))} {n}" for name, n in counts.items() if n < most)
    over = f"{most} splits" + (f" ({fewer})" if fewer else "")
    return f"Test error in %, mean ± standard deviation over {over}; the lowest mean is bold."


def note_sources(table: pd.DataFrame) -> str:
    """Names the data sets that are not the genuine IDA files."""
    kinds = table.drop_duplicates("dataset").set_index("dataset")["source"]
    words = {"rebuilt": "rebuilt points and our own splits", "generated": "points drawn again, our splits"}
    named = {text: ", ".join(map(data_set, kinds[kinds == kind].index)) for kind, text in words.items()}
    found = "; ".join(f"{text} ({sets})" for text, sets in named.items() if sets)
    return f"Not the genuine IDA files: {found}." if found else ""
