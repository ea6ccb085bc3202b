"""Kernel classifiers, crowds, images (Kaban and Bootkrajang, LABELNOISE 2017), and our figures beside them.

Tables hold our errors beside the published ones.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from noisylabels import statistics as rank_tests
from reproduction.figures import names, panels, style, tables
from reproduction.figures.names import KINDS, data_set, flips
from reproduction.protocols.settings import labels

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D

    from reproduction.protocols.crowd import AnnotatorsSettings
    from reproduction.protocols.images import SearchSettings
    from reproduction.protocols.kernels import ErrorsSettings, FeaturesSettings, TimingSettings

Errors: TypeAlias = "panels.Results[ErrorsSettings]"
HARM = ("independent 0", "independent 0.3", "negative_only 0.3")
"""Noise that the bar chart shows."""
_COLOURS = {"clean": "grey", "symmetric": "blue", "asymmetric": "vermillion"}
_MARKERS = {"clean": "o", "symmetric": "s", "asymmetric": "^"}
_HATCHES = {"clean": "", "symmetric": "", "asymmetric": "////"}


def _kind(noise: str) -> str:
    law, rate = noise.split()
    return KINDS[law] if float(rate) else "clean"


@panels.figure
def noise_harm(results: Errors) -> Figure:
    """Bars: error of the reference with clean labels, 30 % symmetric and asymmetric flips, per data set."""
    sets, methods = results.settings.datasets, results.settings.methods
    method = names.reference(methods)
    where = {"dataset": sets, "noise": list(HARM), "method": method, "metric": "error"}
    means = panels.mean_interval(results.select(**where), ["dataset", "noise"])
    width = style.WIDTH[3] if len(sets) > 5 else style.WIDTH[1]
    figure, axes = panels.grid_of_panels(
        [""],
        [""],
        x_label="",
        y_label=f"test error of {names.label(methods, method)} / %",
        height=2.6,
        width=width,
        bottom=0.72,
    )
    ax = axes[0, 0]
    places = np.arange(len(sets))
    bars = {"ecolor": "black", "elinewidth": 0.9, "capsize": 1.8}
    for i, noise in enumerate(HARM):
        rows = means.loc[[(name, noise) for name in sets]]
        x = places + 0.27 * (i - 1)
        ax.bar(x, rows["mean"], 0.27, yerr=rows["half_width"], error_kw=bars, **_fill(noise))
    ax.set_xticks(places, list(map(data_set, sets)), rotation=30, ha="right", rotation_mode="anchor")
    ax.set_xlim(-0.6, len(sets) - 0.4)
    ax.set_ylim(0, _framed(means)[1])
    ax.grid(visible=False, axis="x")
    panels.shared_legend(figure, [_patch(noise) for noise in HARM], handle=1.8)
    return figure


def _fill(noise: str) -> style.Looks:
    kind = _kind(noise)
    colour = style.COLOURS[_COLOURS[kind]]
    return {"facecolor": colour, "hatch": _HATCHES[kind], "edgecolor": "white", "linewidth": 0}


def _patch(noise: str) -> Any:
    from matplotlib.patches import Patch

    return Patch(label=flips(noise), **_fill(noise))


@panels.figure
def kernel_count(results: Errors) -> Figure:
    """Test error against the number S of kernels, a panel per data set, in the look of the reference."""
    settings = results.settings
    sizes = {label: len(method.parameters["widths"]) for label, method in settings.methods.items()}
    figure, axes = _small_multiples(settings.datasets, 5, "number of kernels S", "test error / %")
    places = np.arange(len(sizes))
    for ax, name in zip(axes, settings.datasets, strict=True):
        rows = results.select(dataset=name, metric="error", method=list(sizes))
        means = panels.mean_interval(rows, ["method"]).loc[list(sizes)]
        panels.curve(ax, places, means["mean"], means["half_width"], names.reference(settings.methods))
        ax.set_xticks(places, [str(size) for size in sizes.values()])
        ax.set_ylim(_framed(means))
    return figure


@panels.figure
def stpmkl(results: panels.Results[FeaturesSettings]) -> Figure:
    """Test accuracy against the share of flipped labels, a panel per data set, a curve per method."""
    settings = results.settings
    noise = labels(settings.noise)
    rates = [100 * each.parameters["rate"] for each in settings.noise]
    figure, axes = _small_multiples(settings.datasets, 3, "flipped training labels / %", "test accuracy")
    for ax, name in zip(axes, settings.datasets, strict=True):
        where = {"dataset": name, "metric": "accuracy", "method": list(settings.methods), "noise": noise}
        means = panels.mean_interval(results.select(**where), ["method", "noise"])
        for method in settings.methods:
            values = means.loc[method].loc[noise]
            panels.curve(ax, rates, values["mean"], values["half_width"], method)
        ax.set_xticks(rates)
        ax.set_ylim(_framed(means, widest=0.05, least=0.04))
    panels.shared_legend(figure, panels.handles(settings.methods))
    return figure


@panels.figure
def mkl_path(results: Errors) -> Figure:
    """Test error of variants of rMKLR, clean and with flips, a panel per data set."""
    settings = results.settings
    variants, laws = list(settings.methods), labels(settings.noise)
    figure, axes = _small_multiples(settings.datasets, 3, "test error / %", "", left=1.35, gap=0.22)
    for ax, name in zip(axes, settings.datasets, strict=True):
        rows = results.select(dataset=name, noise=laws, metric="error", method=variants)
        means = panels.mean_interval(rows, ["noise", "method"])
        for i, noise in enumerate(laws):
            own_means = means.loc[noise].loc[variants]
            y = np.arange(len(variants)) + 0.22 * (i - (len(laws) - 1) / 2)
            bars: style.Looks = {"xerr": own_means["half_width"], "elinewidth": 1, "capsize": 2}
            ax.errorbar(own_means["mean"], y, **bars, **_mark(noise))
        ax.set_yticks(range(len(variants)), [style.label(variant) for variant in variants])
        ax.tick_params(labelleft=ax.get_position().x0 == axes[0].get_position().x0)
        ax.set_ylim(len(variants) - 0.45, -0.55)
        ax.set_xlim(0, _framed(means)[1])
    panels.shared_legend(figure, [panels.plain_handle(**_mark(noise)) for noise in laws], handle=1.5)
    return figure


def _mark(noise: str) -> style.Looks:
    """Look of one value at a noise level."""
    kind = _kind(noise)
    looks = {"color": style.COLOURS[_COLOURS[kind]], "marker": _MARKERS[kind], "label": flips(noise)}
    return looks | {"markersize": 4.5, "linestyle": "none"}


def _small_multiples(
    datasets: list[str], columns: int, x_label: str, y_label: str, *, left: float = 0.66, gap: float = 0.5
) -> tuple[Figure, list[Axes]]:
    """One panel per data set, its name above it; the lowest panel of each column labels the x axis.

    ``left``, ``gap``: room for the labels of the y axis beside the first and between the others, inches.
    """
    from matplotlib.figure import Figure

    columns = min(columns, len(datasets))
    rows = math.ceil(len(datasets) / columns)
    width = style.WIDTH[min(columns, 3)]
    panel = (width - left - 0.12 - gap * (columns - 1)) / columns
    height, below, above = (2.1 if rows == 1 else 1.3), 0.46, 0.22
    step = height + 0.22 + above
    total = below + height + above + step * (rows - 1)
    figure = Figure(figsize=(width, total))
    shown: list[Axes] = []
    for k, name in enumerate(datasets):
        row, column = divmod(k, columns)
        box = (left + column * (panel + gap), below + (rows - 1 - row) * step, panel, height)
        ax = figure.add_axes(tuple(np.array(box) / (width, total, width, total)))
        ax.set_title(data_set(name))
        ax.set_xlabel(x_label if k + columns >= len(datasets) else "")
        ax.set_ylabel(y_label if column == 0 else "")
        shown.append(ax)
    return figure, shown


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


@panels.table
def cv_vs_mkl(results: Errors) -> pd.DataFrame:
    """Errors on clean labels."""
    import pandas as pd

    settings = results.settings
    frame = pd.DataFrame([_compared(results, name, labels(settings.noise)) for name in settings.datasets])
    frame.attrs["note"] = f"{_note(results)} {P_VALUES}"
    return frame


@panels.table
def errors(results: Errors) -> pd.DataFrame:
    """Any methods on any noise: a section per data set, the mean error of every method."""
    import pandas as pd

    settings = results.settings
    methods = list(settings.methods)
    rows = []
    for name in settings.datasets:
        for noise in labels(settings.noise):
            where = {"dataset": name, "noise": noise, "metric": "error", "method": methods}
            values = results.select(**where).set_index(["method", "repetition"])["value"]
            cells = tables.mean_sd_cells({method: values[method] for method in methods})
            rows.append({"data set": data_set(name), "flips": flips(noise)} | cells)
    frame = pd.DataFrame(rows).set_index(["data set"])
    frame.attrs["note"] = _note(results)
    return frame


@panels.table
def cpu_time(results: panels.Results[TimingSettings]) -> pd.DataFrame:
    """CPU seconds, ours and printed, and their ratios, also that of the first method to the last."""
    import pandas as pd

    settings = results.settings
    methods = list(settings.methods)
    first, last = methods[0], methods[-1]
    shown = {method: names.method(method) for method in methods}
    rows = []
    for name in settings.datasets:
        times = results.select(dataset=name, metric="cpu_seconds", method=methods)
        seconds = times.groupby("method")["value"].agg(["mean", "std"])
        printed = {method: _printed_mean(results, dataset=name, method=method) for method in methods}
        row = {"data set": data_set(name)}
        for method in methods:
            mean, spread = map(float, seconds.loc[method])
            places = max(0, 2 - math.floor(math.log10(mean)))
            row[f"{shown[method]} in s"] = tables.mean_sd(mean, spread, places)
            row[f"{shown[method]} in s, printed"] = tables.printed(
                results.published, dataset=name, method=method
            )
        ours = seconds["mean"]
        row[f"{shown[first]} / {shown[last]}"] = f"{ours[first] / ours[last]:.1f}"
        row["the same, printed"] = _ratio(printed[first], printed[last])
        row |= {f"{shown[m]}: printed / ours": _ratio(printed[m], ours[m]) for m in methods}
        rows.append(row)
    frame = pd.DataFrame(rows)
    count = results.table["repetition"].nunique()
    parts = [
        f"CPU seconds to train on one split, mean ± standard deviation over {count} splits;",
        "ratios are those of the means.",
        *names.notes(settings.methods),
        "Printed: Matlab on one 2.67 GHz Intel i5.",
        sources(results.table),
    ]
    frame.attrs["note"] = " ".join(filter(None, parts))
    return frame


def _noisy(results: Errors, levels: tuple[float, ...]) -> pd.DataFrame:
    """A section per level and kind of noise, the pooled ones first; a level that was not run is left out."""
    import pandas as pd

    settings = results.settings
    present = [level for level in levels if f"independent {level:g}" in labels(settings.noise)]
    if not present:
        raise panels.RenderError(f"{results.artifact}: the settings name none of the noise rates {levels}")
    pooled = {f"{100 * level:g} % pooled": [f"{law} {level:g}" for law in KINDS] for level in present}
    single = {flips(noise): [noise] for pair in pooled.values() for noise in pair}
    rows = [
        {"flips": title} | _compared(results, name, noise)
        for title, noise in (pooled | single).items()
        for name in settings.datasets
    ]
    frame = pd.DataFrame(rows).set_index("flips")
    frame.attrs["note"] = f"{_note(results)} {P_VALUES}"
    return frame


def _compared(results: Errors, name: str, noise: list[str]) -> dict[str, str]:
    """One row: error of every method beside the printed one, and two p-values.

    The artifact's last method is tested against the best of the others.
    """
    methods = list(results.settings.methods)
    chosen = results.select(dataset=name, noise=noise, metric="error", method=methods)
    values = chosen.set_index(["method", "repetition", "noise"])["value"]
    errors = {method: values[method] for method in methods}
    cells, row = tables.mean_sd_cells(errors), {"data set": data_set(name)}
    for method in methods:
        row[method] = cells[method]
        place: dict[str, Any] = {
            "dataset": name,
            "noise": noise if len(noise) > 1 else noise[0],
            "method": method,
        }
        row[f"{method}, printed"] = tables.printed(results.published, **place)
    *others, last = methods
    rival = min(others, key=lambda method: float(errors[method].mean()))
    if len(others) > 1:
        row[f"{names.method(last)} against"] = rival
    a, b = (errors[method].groupby("repetition").mean() for method in (last, rival))
    row["p unpaired"] = f"{rank_tests.mann_whitney(errors[last], errors[rival]):.2g}"
    row["p paired"] = f"{rank_tests.signed_rank(a, b.loc[a.index]):.2g}"
    return row


def _printed_mean(results: panels.Results[TimingSettings], **where: Any) -> float:
    text = tables.printed(results.published, **where)
    return float(text.partition(" ")[0]) if text else float("nan")


def _ratio(a: float, b: float) -> str:
    if a != a:
        return ""
    return f"{a / b:.3g}" if a < 999.5 * b else f"{a / b:.0f}"


def splits(table: pd.DataFrame, datasets: list[str]) -> str:
    """What the numbers are, and over how many splits."""
    counts = table[table["metric"] == "error"].groupby("dataset")["repetition"].nunique()[datasets]
    most = int(counts.max())
    fewer = [f"{data_set(str(name))} {n}" for name, n in counts.items() if n < most]
    over = f"{most} splits" + (f" ({', '.join(fewer)})" if fewer else "")
    return f"Test error in %, mean ± standard deviation over {over}; the lowest mean is bold."


def _note(results: Errors) -> str:
    """What the numbers are, how many splits, which runs were flagged, whose points they are."""
    table, methods = results.table, results.settings.methods
    flagged = table[(table["metric"] == "flagged") & table["method"].isin(list(methods))]
    runs = [
        f"{names.method(str(m))} {int(v.sum())} of {len(v)}"
        for m, v in flagged.groupby("method", sort=False)["value"]
    ]
    parts = [
        splits(table, results.settings.datasets),
        f"Doubtful runs (collapsed, not converged, classes swapped): {', '.join(runs)}." if runs else "",
        sources(table),
        *names.notes(methods),
    ]
    return " ".join(filter(None, parts))


def sources(table: pd.DataFrame) -> str:
    """Names the data sets that are not the genuine IDA files."""
    kinds = table.drop_duplicates("dataset").set_index("dataset")["source"]
    words = {"rebuilt": "rebuilt points and our own splits", "generated": "points drawn anew, our own splits"}
    found = []
    for kind, text in words.items():
        if names := [data_set(str(name)) for name in kinds[kinds == kind].index]:
            found.append(f"{text} ({', '.join(names)})")
    return f"Not the genuine IDA files: {'; '.join(found)}." if found else ""


@panels.figure
def crowd(results: panels.Results[AnnotatorsSettings]) -> Figure:
    """Accuracy of labels and of predictions for new items against the number of annotators."""
    artifact, settings = results.artifact, results.settings
    titles = ["labels of the training items", "predictions for new items"]
    figure, axes = panels.grid_of_panels(
        [""], titles, x_label="annotators per item", y_label=["accuracy", ""], height=2.5, share_y="none"
    )
    rows = results.select(metric="accuracy")
    labelled = panels.select(rows, artifact, setting="labelled items")
    vote = labelled["method"] == "majority vote"
    panels.learning_curves(axes[0, 0], labelled[~vote])
    panels.learning_curves(axes[0, 0], labelled[vote], zorder=4)  # rMKLR, often equal, would hide it
    panels.learning_curves(axes[0, 1], panels.select(rows, artifact, setting="new items"))
    gold = panels.select(rows, artifact, setting="new items and gold labels")
    for method in settings.methods:
        mean = gold.loc[gold["method"] == method, "value"].mean()
        axes[0, 1].axhline(mean, color=style.colour(method), linestyle=style.DASHES["dash"], linewidth=1)
    for ax in axes[0]:
        ax.set_xticks(settings.annotators)
    reference = panels.plain_handle("trained on gold labels", linestyle=style.DASHES["dash"], linewidth=1)
    panels.shared_legend(figure, [*panels.handles(labelled["method"].unique()), reference])
    return figure


@panels.table
def images(results: panels.Results[SearchSettings]) -> pd.DataFrame:
    """Test error per method beside the printed one, and how many of its first images are bikes."""
    import pandas as pd

    settings = results.settings
    errors = results.select(metric="error", method=list(settings.methods))
    values = errors.set_index(["method", "repetition"])["value"]
    cells = tables.mean_sd_cells({method: values[method] for method in settings.methods})
    rows = []
    for method in settings.methods:
        found = results.select(metric="positive", method=method)["value"].mean()
        row = {"method": method, "error / %": cells[method]}
        row["printed"] = tables.printed(results.published, method=method)
        rows.append(row | {f"bikes among the first {settings.ranks}": f"{settings.ranks * found:.1f}"})
    frame = pd.DataFrame(rows)
    noise = results.select(metric="noise_share")["value"].mean()
    splits = values.index.unique("repetition").size
    over = f"mean ± standard deviation over {splits} random splits" if splits > 1 else "of one random split"
    frame.attrs["note"] = (
        f"Test error in %, {over}; the lowest {'mean' if splits > 1 else 'error'} is bold. "
        f"{noise:.1f} % of the training labels are wrong."
    )
    return frame


@panels.figure
def images_ranked(results: panels.Results[SearchSettings]) -> Figure:
    """The first images of every ranking as squares, a row per split, dark where it is a bike."""
    from matplotlib.colors import ListedColormap

    methods = list(results.settings.methods)
    figure, axes = panels.grid_of_panels([""], methods, x_label="rank", y_label="splits", height=2.4)
    colours = ListedColormap([style.COLOURS["silver"], style.COLOURS["indigo"]])
    for ax, method in zip(axes[0], methods, strict=True):
        rows = results.select(metric="positive", method=method)
        squares = rows.pivot_table(index="repetition", columns="x", values="value").to_numpy()
        edges = {"edgecolors": "white", "linewidth": 0.6}
        ax.pcolormesh(squares, cmap=colours, vmin=0, vmax=1, **edges)
        ax.set_title(f"{style.label(method)}: {100 * squares.mean():.0f} % bikes")
        ax.grid(visible=False)
        ax.set_xlim(0, squares.shape[1])
        ax.set_ylim(len(squares), 0)
        ticks = [rank for rank in (1, 10, 20, 30, 40, 50) if rank <= squares.shape[1]]
        ax.set_xticks([rank - 0.5 for rank in ticks], [str(rank) for rank in ticks])
        ax.set_yticks([])
    panels.shared_legend(figure, [_square(colours(1), "bike"), _square(colours(0), "something else")])
    return figure


def _square(colour: object, label: str) -> Line2D:
    return panels.plain_handle(label, color=colour, marker="s", linestyle="none", markersize=7)
