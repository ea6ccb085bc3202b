"""Flip probability and bound minimiser (Kaban and Bootkrajang, LABELNOISE 2017)."""

import math
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from noisylabels import statistics
from reproduction.figures import names, panels, style, tables

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure


_SHADES = ("orange", "vermillion", "pink", "wine", "indigo", "blue", "teal")
"""Colours of the curves of f_k, from small k to large."""
_TERMS = {
    "bound": ("bound", "black", "-", "s"),
    "risk": ("flips", "vermillion", "-", "o"),
    "complexity": ("complexity", "orange", (0, (5, 1.6)), "^"),
    "error": ("test error", "blue", "-", "D"),
}
"""Metric -> name, colour, dash and marker."""


@panels.figure
def flip_probability(results: panels.Results[Any]) -> "Figure":
    """f_k against the angle with simulations, and against the margin with its two exponential bounds."""
    artifact, table, settings = results.artifact, results.table, results.settings_of
    own = settings[artifact]
    titles = ["against the angle", "against the margin"]
    figure, axes = panels.grid_of_panels(
        [""],
        titles,
        x_label="",
        y_label=["flip probability", "the same, log scale"],
        height=2.5,
        share_y="none",
    )
    left, right = axes[0]
    entries = []
    for number, k in enumerate(own["ks"]):
        colour = style.COLOURS[_SHADES[number % len(_SHADES)]]
        rows = panels.select(table, artifact, method=f"k={k}")
        f = _column(rows, "formula", "f")
        left.plot(f.index / np.pi, f, color=colour)
        entries.append(panels.plain_handle(f"k = {k}", color=colour))
        if k in own["simulated"]:
            for entry, face in (("gaussian", colour), ("rademacher", "white")):
                share = _column(rows, entry, "share")
                looks = {"linestyle": "none", "marker": "o", "markersize": 4.5}
                left.plot(share.index / np.pi, share, color=colour, markerfacecolor=face, **looks)
            _against_margin(right, rows, f, colour)
    left.set_xlabel("angle / \N{GREEK SMALL LETTER PI}")
    right.set_xlabel("margin: cosine of the angle")
    right.set_yscale("log")
    right.set_ylim(1e-8, 2)
    right.set_xlim(0, 1)
    entries += panels.full_and_hollow("simulated, Gaussian", "Rademacher")
    dashes = {"bound exp(-k margin² / 2)": style.DASHES["dash"], "exp(-k margin² / 8)": style.DASHES["dot"]}
    entries += [panels.plain_handle(label, linestyle=dash) for label, dash in dashes.items()]
    panels.shared_legend(figure, entries, handle=2.2)
    return figure


def _against_margin(ax: Any, rows: "pd.DataFrame", f: "pd.Series", colour: str) -> None:
    ahead = f.index < np.pi / 2 - 1e-9
    margin = np.cos(f.index[ahead])
    ax.plot(margin, np.maximum(f[ahead], 1e-12), color=colour)
    for metric, dash in (("gaussian_slack", "dash"), ("sub_gaussian_slack", "dot")):
        bound = _column(rows, "formula", metric) + f
        ax.plot(margin, bound[ahead], color=colour, linestyle=style.DASHES[dash], linewidth=1.1)


def _column(rows: "pd.DataFrame", setting: str, metric: str) -> "pd.Series":
    """Mean over the repetitions, by x."""
    chosen = rows[(rows["setting"] == setting) & (rows["metric"] == metric)]
    means: pd.Series = chosen.groupby("x")["value"].mean()
    return means


@panels.figure
def against_k(results: panels.Results[Any]) -> "Figure":
    """The bound, its terms and the test error against k, a panel per data set."""
    artifact, table, settings = results.artifact, results.table, results.settings_of
    sets = settings[artifact]["datasets"]
    columns = min(3, len(sets))
    lines = math.ceil(len(sets) / columns)
    figure, axes = panels.grid_of_panels(
        [""] * lines,
        [" "] * columns,
        x_label="k",
        y_label="error, bound",
        height=1.7,
        width=style.WIDTH[columns],
        between=0.5,
        share_y="all",
    )
    for ax, name in zip(axes.flat, sets, strict=False):
        ax.set_title(name.replace("_", " "))
        for metric, (_, colour, dash, marker) in _TERMS.items():
            rows = panels.select(table, artifact, dataset=name, metric=metric)
            means = panels.mean_interval(rows, ["x"]).sort_index()
            looks = {"color": style.COLOURS[colour], "linestyle": dash, "marker": marker, "zorder": 2.5}
            panels.curve(ax, means.index, means["mean"], means["half_width"], metric, **looks)
    for ax in axes.flat[len(sets) :]:
        ax.set_visible(False)
    axes[0, 0].set_ylim(0, 1.6)
    panels.log_axis(axes[0, 0].xaxis)
    for ax in axes.flat:
        panels.log_axis(ax.xaxis)
    entries = [
        panels.plain_handle(name, color=style.COLOURS[colour], linestyle=dash, marker=marker)
        for name, colour, dash, marker in _TERMS.values()
    ]
    panels.shared_legend(figure, entries)
    return figure


@panels.table
def table(results: panels.Results[Any]) -> "pd.DataFrame":
    """Mean error and standard deviation per data set, ours beside the printed; marks: paired t-tests."""
    import pandas as pd

    artifact, frame, settings = results.artifact, results.table, results.settings_of
    own = settings[artifact]
    first, *others = own["methods"]
    where = {"dataset": own["datasets"], "metric": "error", "method": list(own["methods"])}
    values = panels.select(frame, artifact, **where).set_index(["dataset", "method", "repetition"])["value"]
    values = values.sort_index()
    pairs = [(name, method) for name in own["datasets"] for method in others]
    marks = _marks({pair: values[pair] - values[pair[0], first] for pair in pairs})
    rows = []
    for name in own["datasets"]:
        best = tables.lowest(values[name].groupby("method").mean())
        ours = {"data set": name.replace("_", " "), "error": "ours"}
        printed = ours | {"error": "printed"}
        for method in own["methods"]:
            errors = values[name, method]
            spread = f" ± {errors.std():.3f}" if len(errors) > 1 else ""
            text = f"{errors.mean():.3f}{spread}{marks.get((name, method), '')}"
            ours[method] = f"**{text}**" if method in best else text
            printed[method] = _printed(own["published"], dataset=name, method=method)
        rows += [ours, printed]
    made = pd.DataFrame(rows).set_index("data set")
    made.attrs["note"] = (
        "Share of wrong test labels, mean ± standard deviation over "
        f"{values.index.unique('repetition').size} random halves; the lowest mean is bold. "
        f"(+), (-): the error is significantly above or below that of {names.method(first)}, paired t-test, "
        f"5 % after Holm over the {len(pairs)} comparisons."
    )
    return made


def _marks(differences: Mapping[tuple[str, str], "pd.Series"]) -> dict[tuple[str, str], str]:
    """(+) where the mean of the differences is significantly above 0, (-) where it is below."""
    if min(len(values) for values in differences.values()) < 2:
        return {}
    estimates = {pair: statistics.mean_se(values) for pair, values in differences.items()}
    two_sided = [min(1.0, 2 * min(statistics.t_above(e), statistics.t_below(e))) for e in estimates.values()]
    adjusted = statistics.holm(two_sided)
    return {
        pair: " (+)" if estimate.mean > 0 else " (-)"
        for (pair, estimate), p in zip(estimates.items(), adjusted, strict=True)
        if p < 0.05
    }


def _printed(published: Iterable[Mapping[str, Any]], **where: str) -> str:
    for entry in published:
        if all(entry["where"].get(column) == value for column, value in where.items()):
            return f"{entry['value']:.3f} ± {entry['sd']:.3f}"
    return ""
