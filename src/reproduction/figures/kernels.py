"""Kernel classifiers, crowds, images (Kaban and Bootkrajang, LABELNOISE 2017), and our figures beside them.

Tables hold our errors beside the published ones.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import pandas as pd

from noisylabels import statistics
from reproduction.figures import names, panels, style, tables
from reproduction.figures.names import KINDS, data_set, flips
from reproduction.protocols.settings import labels

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from reproduction.protocols import kernels

Errors: TypeAlias = "panels.Results[kernels.ErrorsSettings]"
HARM = ("independent 0", "independent 0.3", "negative_only 0.3")
"""Noise that the bar chart shows."""
_LOOKS = {"symmetric": ("blue", "s", ""), "asymmetric": ("vermillion", "^", "////")}
"""Colour, marker and hatch of a kind of noise."""


def _look(noise: str) -> tuple[str, str, str]:
    law, rate = noise.split()
    colour, marker, hatch = _LOOKS[KINDS[law]] if float(rate) else ("grey", "o", "")
    return style.COLOURS[colour], marker, hatch


@panels.figure
def noise_harm(results: Errors) -> Figure:
    """Bars: error of the reference with clean labels, 30 % symmetric and asymmetric flips, per data set."""
    from matplotlib.patches import Patch

    sets, methods = results.settings.datasets, results.settings.methods
    method = names.reference(methods)
    where = {"dataset": sets, "noise": list(HARM), "method": method, "metric": "error"}
    means = panels.mean_interval(results.select(**where), ["dataset", "noise"])
    look: style.Looks = {"height": 2.6, "bottom": 0.72, "width": style.WIDTH[3 if len(sets) > 5 else 1]}
    y_label = f"test error of {names.label(methods, method)} / %"
    figure, axes = panels.grid_of_panels([""], [""], x_label="", y_label=y_label, **look)
    ax, places, patches = axes[0, 0], np.arange(len(sets)), []
    bars = {"ecolor": "black", "elinewidth": 0.9, "capsize": 1.8}
    for i, noise in enumerate(HARM):
        colour, _, hatch = _look(noise)
        fill: style.Looks = {"facecolor": colour, "hatch": hatch, "edgecolor": "white", "linewidth": 0}
        rows = means.loc[[(name, noise) for name in sets]]
        ax.bar(places + 0.27 * (i - 1), rows["mean"], 0.27, yerr=rows["half_width"], error_kw=bars, **fill)
        patches.append(Patch(label=flips(noise), **fill))
    ax.set_xticks(places, list(map(data_set, sets)), rotation=30, ha="right", rotation_mode="anchor")
    ax.set_xlim(-0.6, len(sets) - 0.4)
    ax.set_ylim(0, _framed(means)[1])
    ax.grid(visible=False, axis="x")
    panels.shared_legend(figure, patches, handle=1.8)
    return figure


@panels.figure
def kernel_count(results: Errors) -> Figure:
    """Test error against the number S of kernels, a panel per data set, in the look of the reference."""
    settings = results.settings
    sizes = {label: len(method.parameters["widths"]) for label, method in settings.methods.items()}
    places = np.arange(len(sizes))
    figure, cells = _small_multiples(
        results, 5, "number of kernels S", "test error / %", metric="error", method=list(sizes)
    )
    for ax, rows in cells:
        means = panels.mean_interval(rows, ["method"]).loc[list(sizes)]
        panels.curve(ax, places, means["mean"], means["half_width"], names.reference(settings.methods))
        ax.set_xticks(places, [str(size) for size in sizes.values()])
        ax.set_ylim(_framed(means))
    return figure


@panels.figure
def stpmkl(results: panels.Results[kernels.FeaturesSettings]) -> Figure:
    """Test accuracy against the share of flipped labels, a panel per data set, a curve per method."""
    methods, noise = list(results.settings.methods), labels(results.settings.noise)
    rates = [100 * each.parameters["rate"] for each in results.settings.noise]
    where: dict[str, Any] = {"metric": "accuracy", "method": methods, "noise": noise}
    figure, cells = _small_multiples(results, 3, "flipped training labels / %", "test accuracy", **where)
    for ax, rows in cells:
        means = panels.mean_interval(rows, ["method", "noise"])
        for method in methods:
            values = means.loc[method].loc[noise]
            panels.curve(ax, rates, values["mean"], values["half_width"], method)
        ax.set_xticks(rates)
        ax.set_ylim(_framed(means, widest=0.05, least=0.04))
    panels.shared_legend(figure, panels.handles(methods))
    return figure


@panels.figure
def mkl_path(results: Errors) -> Figure:
    """Test error of variants of rMKLR, clean and with flips, a panel per data set."""
    variants, laws = list(results.settings.methods), labels(results.settings.noise)
    marks: dict[str, style.Looks] = {}
    for noise in laws:
        colour, marker, _ = _look(noise)
        look = {"color": colour, "marker": marker, "label": flips(noise), "markersize": 4.5}
        marks[noise] = look | {"linestyle": "none"}
    where = {"noise": laws, "metric": "error", "method": variants}
    figure, cells = _small_multiples(results, 3, "test error / %", "", left=1.35, gap=0.22, **where)
    for ax, rows in cells:
        means = panels.mean_interval(rows, ["noise", "method"])
        for i, noise in enumerate(laws):
            own = means.loc[noise].loc[variants]
            y = np.arange(len(variants)) + 0.22 * (i - (len(laws) - 1) / 2)
            bars: style.Looks = {"xerr": own["half_width"], "elinewidth": 1, "capsize": 2}
            ax.errorbar(own["mean"], y, **bars, **marks[noise])
        ax.set_yticks(range(len(variants)), [style.label(variant) for variant in variants])
        ax.tick_params(labelleft=ax.get_position().x0 == cells[0][0].get_position().x0)
        ax.set_ylim(len(variants) - 0.45, -0.55)
        ax.set_xlim(0, _framed(means)[1])
    panels.shared_legend(figure, [panels.plain_handle(**mark) for mark in marks.values()], handle=1.5)
    return figure


def _small_multiples(
    results: panels.Results[Any],
    columns: int,
    x_label: str,
    y_label: str,
    *,
    left: float = 0.66,
    gap: float = 0.5,
    **where: object,
) -> tuple[Figure, list[panels.Cell]]:
    """One panel per data set, its name above it; the lowest panel of each column labels the x axis.

    ``left``, ``gap``: room for the labels of the y axis beside the first and between the others, inches.
    ``where``: the rows that a panel shows.
    """
    from matplotlib.figure import Figure

    datasets = results.settings.datasets
    columns = min(columns, len(datasets))
    rows, width = math.ceil(len(datasets) / columns), style.WIDTH[min(columns, 3)]
    panel = (width - left - 0.12 - gap * (columns - 1)) / columns
    height, below, above = (2.1 if rows == 1 else 1.3), 0.46, 0.22
    step = height + 0.22 + above
    total = below + height + above + step * (rows - 1)
    figure, cells = Figure(figsize=(width, total)), []
    for k, name in enumerate(datasets):
        row, column = divmod(k, columns)
        box = (left + column * (panel + gap), below + (rows - 1 - row) * step, panel, height)
        ax = figure.add_axes(tuple(np.array(box) / (width, total, width, total)))
        ax.set_title(data_set(name))
        ax.set_xlabel(x_label if k + columns >= len(datasets) else "")
        ax.set_ylabel(y_label if column == 0 else "")
        cells.append((ax, results.select(dataset=name, **where)))
    return figure, cells


def _framed(means: pd.DataFrame, widest: float = 3.0, least: float = 2.0) -> tuple[float, float]:
    """Limits of an axis, ``least`` apart or more, with room for intervals up to ``widest``."""
    shown = means["half_width"].clip(upper=widest)
    low, high = float((means["mean"] - shown).min()), float((means["mean"] + shown).max())
    centre, half = (low + high) / 2, max(least / 2, 0.55 * (high - low))
    return centre - half, centre + half


P_VALUES = (
    "p unpaired: rank-sum test over all values, as the slides seem to have used; "
    "p paired: signed-rank test over the splits."
)


@panels.table
def klr_vs_rklr(results: Errors) -> pd.DataFrame:
    """Errors at 10 and 20 %: pooled over the kinds of noise, then symmetric and asymmetric alone."""
    return _noisy(results, (0.1, 0.2))


@panels.table
def klr_vs_rklr_high(results: Errors) -> pd.DataFrame:
    """Errors at 30 and 40 %."""
    return _noisy(results, (0.3, 0.4))


@panels.table
def rivals(results: Errors) -> pd.DataFrame:
    """Errors at 10 %."""
    return _noisy(results, (0.1,))


@panels.table
def rivals_high(results: Errors) -> pd.DataFrame:
    """Errors at 30 %."""
    return _noisy(results, (0.3,))


def _noisy(results: Errors, levels: tuple[float, ...]) -> pd.DataFrame:
    """A section per level and kind of noise, the pooled ones first; a level that was not run is left out."""
    present = [level for level in levels if f"independent {level:g}" in labels(results.settings.noise)]
    if not present:
        raise panels.RenderError(f"{results.artifact}: the settings name none of the noise rates {levels}")
    pooled = {f"{100 * level:g} % pooled": [f"{law} {level:g}" for law in KINDS] for level in present}
    single = {flips(noise): [noise] for pair in pooled.values() for noise in pair}
    sections = (pooled | single).items()
    rows = [{"flips": title} | row for title, noise in sections for row in _compared(results, noise)]
    return tables.noted(pd.DataFrame(rows).set_index("flips"), *_note(results), P_VALUES)


@panels.table
def cv_vs_mkl(results: Errors) -> pd.DataFrame:
    """Errors on clean labels."""
    rows = _compared(results, labels(results.settings.noise))
    return tables.noted(pd.DataFrame(rows), *_note(results), P_VALUES)


def _compared(results: Errors, noise: list[str]) -> Iterator[dict[str, str]]:
    """A row per data set: error of every method beside the printed one, and two p-values.

    The artifact's last method is tested against the best of the others.
    """
    methods = list(results.settings.methods)
    *others, last = methods
    for name in results.settings.datasets:
        chosen = results.select(dataset=name, noise=noise, metric="error", method=methods)
        values = chosen.set_index(["method", "repetition", "noise"])["value"]
        errors = {method: values[method] for method in methods}
        cells, row = tables.mean_sd_cells(errors), {"data set": data_set(name)}
        place: dict[str, Any] = {"dataset": name, "noise": noise if len(noise) > 1 else noise[0]}
        for method in methods:
            row[method] = cells[method]
            row[f"{method}, printed"] = tables.printed(results.published, **place, method=method)
        rival = min(others, key=lambda method: float(errors[method].mean()))
        if len(others) > 1:
            row[f"{names.method(last)} against"] = rival
        a, b = (errors[method].groupby("repetition").mean() for method in (last, rival))
        row["p unpaired"] = f"{statistics.mann_whitney(errors[last], errors[rival]):.2g}"
        row["p paired"] = f"{statistics.signed_rank(a, b.loc[a.index]):.2g}"
        yield row


@panels.table
def errors(results: Errors) -> pd.DataFrame:
    """Any methods on any noise: a section per data set, the mean error of every method."""
    methods, rows = list(results.settings.methods), []
    for name in results.settings.datasets:
        for noise in labels(results.settings.noise):
            where = {"dataset": name, "noise": noise, "metric": "error", "method": methods}
            values = results.select(**where).set_index(["method", "repetition"])["value"]
            cells = tables.mean_sd_cells({method: values[method] for method in methods})
            rows.append({"data set": data_set(name), "flips": flips(noise)} | cells)
    return tables.noted(pd.DataFrame(rows).set_index(["data set"]), *_note(results))


@panels.table
def cpu_time(results: panels.Results[kernels.TimingSettings]) -> pd.DataFrame:
    """CPU seconds, ours and printed, and their ratios, also that of the first method to the last."""
    methods = list(results.settings.methods)
    shown = {method: names.method(method) for method in methods}
    first, last, rows = methods[0], methods[-1], []
    for name in results.settings.datasets:
        times = results.select(dataset=name, metric="cpu_seconds", method=methods)
        seconds = times.groupby("method")["value"].agg(["mean", "std"])
        ours, printed, row = seconds["mean"], {}, {"data set": data_set(name)}
        for method in methods:
            text = tables.printed(results.published, dataset=name, method=method)
            printed[method] = float(text.partition(" ")[0] or "nan")
            places = max(0, 2 - math.floor(math.log10(ours[method])))
            row[f"{shown[method]} in s"] = tables.mean_sd(ours[method], seconds["std"][method], places)
            row[f"{shown[method]} in s, printed"] = text
        row[f"{shown[first]} / {shown[last]}"] = f"{ours[first] / ours[last]:.1f}"
        row["the same, printed"] = _ratio(printed[first], printed[last])
        row |= {f"{shown[m]}: printed / ours": _ratio(printed[m], ours[m]) for m in methods}
        rows.append(row)
    count = results.table["repetition"].nunique()
    return tables.noted(
        pd.DataFrame(rows),
        f"CPU seconds to train on one split, mean ± standard deviation over {count} splits;",
        "ratios are those of the means.",
        *names.notes(results.settings.methods),
        "Printed: Matlab on one 2.67 GHz Intel i5.",
        sources(results.table),
    )


def _ratio(a: float, b: float) -> str:
    if a != a:
        return ""
    return f"{a / b:.3g}" if a < 999.5 * b else f"{a / b:.0f}"


def _note(results: Errors) -> list[str]:
    """What the numbers are, how many splits, which runs were flagged, whose points they are."""
    table, methods = results.table, results.settings.methods
    flagged = table[(table["metric"] == "flagged") & table["method"].isin(list(methods))]
    groups = flagged.groupby("method", sort=False)["value"]
    runs = ", ".join(f"{names.method(str(m))} {int(v.sum())} of {len(v)}" for m, v in groups)
    return [
        splits(table, results.settings.datasets),
        f"Doubtful runs (collapsed, not converged, classes swapped): {runs}." if runs else "",
        sources(table),
        *names.notes(methods),
    ]


def splits(table: pd.DataFrame, datasets: list[str]) -> str:
    """What the numbers are, and over how many splits."""
    counts = table[table["metric"] == "error"].groupby("dataset")["repetition"].nunique()[datasets]
    most = int(counts.max())
    fewer = ", ".join(f"{data_set(str(name))} {n}" for name, n in counts.items() if n < most)
    over = f"{most} splits" + (f" ({fewer})" if fewer else "")
    return f"Test error in %, mean ± standard deviation over {over}; the lowest mean is bold."


def sources(table: pd.DataFrame) -> str:
    """Names the data sets that are not the genuine IDA files."""
    kinds = table.drop_duplicates("dataset").set_index("dataset")["source"]
    words = {"rebuilt": "rebuilt points and our own splits", "generated": "points drawn anew, our own splits"}
    named = {text: ", ".join(map(data_set, kinds[kinds == kind].index)) for kind, text in words.items()}
    found = "; ".join(f"{text} ({sets})" for text, sets in named.items() if sets)
    return f"Not the genuine IDA files: {found}." if found else ""


@panels.figure
def crowd(results: panels.Results[kernels.AnnotatorsSettings]) -> Figure:
    """Accuracy of labels and of predictions for new items against the number of annotators."""
    settings = results.settings
    dash: style.Looks = {"linestyle": style.DASHES["dash"], "linewidth": 1}
    titles = {"labels of the training items": "labelled items", "predictions for new items": "new items"}
    columns = [(title, {"metric": "accuracy", "setting": key}) for title, key in titles.items()]
    look: style.Looks = {"x_label": "annotators per item", "y_label": ["accuracy", ""], "height": 2.5}
    look["share_y"] = "none"
    figure, ((left, labelled), (right, new)) = panels.facets(results, [("", {})], columns, **look)
    vote = labelled["method"] == "majority vote"
    panels.learning_curves(left, labelled[~vote])
    panels.learning_curves(left, labelled[vote], zorder=4)  # rMKLR, often equal, would hide it
    panels.learning_curves(right, new)
    gold = results.select(metric="accuracy", setting="new items and gold labels")
    for method in settings.methods:
        mean = gold.loc[gold["method"] == method, "value"].mean()
        right.axhline(mean, color=style.colour(method), **dash)
    for ax in (left, right):
        ax.set_xticks(settings.annotators)
    entries = panels.handles(labelled["method"].unique())
    panels.shared_legend(figure, [*entries, panels.plain_handle("trained on gold labels", **dash)])
    return figure


@panels.table
def images(results: panels.Results[kernels.SearchSettings]) -> pd.DataFrame:
    """Test error per method beside the printed one, and how many of its first images are bikes."""
    methods, ranks, rows = list(results.settings.methods), results.settings.ranks, []
    values = results.select(metric="error", method=methods).set_index(["method", "repetition"])["value"]
    cells = tables.mean_sd_cells({method: values[method] for method in methods})
    for method in methods:
        found = results.select(metric="positive", method=method)["value"].mean()
        row = {"method": method, "error / %": cells[method]}
        row["printed"] = tables.printed(results.published, method=method)
        rows.append(row | {f"bikes among the first {ranks}": f"{ranks * found:.1f}"})
    noise = results.select(metric="noise_share")["value"].mean()
    splits = values.index.unique("repetition").size
    over = f"mean ± standard deviation over {splits} random splits" if splits > 1 else "of one random split"
    return tables.noted(
        pd.DataFrame(rows),
        f"Test error in %, {over}; the lowest {'mean' if splits > 1 else 'error'} is bold.",
        f"{noise:.1f} % of the training labels are wrong.",
    )


@panels.figure
def images_ranked(results: panels.Results[kernels.SearchSettings]) -> Figure:
    """The first images of every ranking as squares, a row per split, dark where it is a bike."""
    from matplotlib.colors import ListedColormap

    columns = [(style.label(m), {"metric": "positive", "method": m}) for m in results.settings.methods]
    look: style.Looks = {"x_label": "rank", "y_label": "splits", "height": 2.4}
    figure, cells = panels.facets(results, [("", {})], columns, **look)
    colours = {"something else": style.COLOURS["silver"], "bike": style.COLOURS["indigo"]}
    looks: style.Looks = {
        "cmap": ListedColormap(list(colours.values())),
        "edgecolors": "white",
        "linewidth": 0.6,
    }
    for ax, rows in cells:
        squares = rows.pivot_table(index="repetition", columns="x", values="value").to_numpy()
        ax.pcolormesh(squares, vmin=0, vmax=1, **looks)
        ax.set_title(f"{ax.get_title()}: {100 * squares.mean():.0f} % bikes")
        ax.grid(visible=False)
        ax.set_xlim(0, squares.shape[1])
        ax.set_ylim(len(squares), 0)
        ticks = [rank for rank in (1, 10, 20, 30, 40, 50) if rank <= squares.shape[1]]
        ax.set_xticks([rank - 0.5 for rank in ticks], [str(rank) for rank in ticks])
        ax.set_yticks([])
    square = {"marker": "s", "linestyle": "none", "markersize": 7}
    entries = [panels.plain_handle(name, color=colour, **square) for name, colour in colours.items()]
    panels.shared_legend(figure, entries[::-1])
    return figure
