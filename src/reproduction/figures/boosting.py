"""Boosting, bounds, flip probability (Kaban and Bootkrajang, LABELNOISE 2017), and figures of ours."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from noisylabels import statistics
from reproduction.figures import names, panels, style, tables
from reproduction.figures.kernels import splits
from reproduction.figures.names import KINDS, data_set, flips
from reproduction.protocols import boosting
from reproduction.protocols.settings import Noise, labels

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

    from reproduction.protocols import bounds

Errors: TypeAlias = "panels.Results[boosting.ErrorsSettings]"
_NOISES = ("-", ":", (0, (5, 1.6)))
"""Dashes of the first, second and third noise in a panel."""


@panels.figure
def error_curves(results: Errors) -> Figure:
    """Training and test error against the rounds, a column per data set, a dash per noise."""
    artifact, drawn = results.artifact, results.drawn
    metrics = {"train_error": "training", "test_error": "test"}
    figure, axes = _rounds(results.settings.datasets, list(metrics.values()), "error / %")
    for (i, j), rows in _cells(results, list(metrics)):
        for noise, dash in zip(drawn["noise"], _NOISES, strict=False):
            own = panels.select(rows, artifact, noise=noise, method=drawn["methods"])
            panels.learning_curves(axes[i, j], own, linestyle=dash)
    for ax in axes[:, 0]:
        ax.set_ylim(bottom=0)
    noises = [
        panels.plain_handle(flips(noise), linestyle=dash)
        for noise, dash in zip(drawn["noise"], _NOISES, strict=False)
    ]
    panels.shared_legend(figure, panels.handles(drawn["methods"], linestyle="-") + noises)
    return figure


@panels.figure
def learned_rates(results: Errors) -> Figure:
    """Both learned flip rates against the rounds, a column per data set; grey: the truth."""
    artifact, drawn = results.artifact, results.drawn
    (noise,) = drawn["noise"]
    truth = boosting.flip_rates(Noise.parse(noise))
    metrics = {"gamma01": "0 observed as 1", "gamma10": "1 observed as 0"}
    figure, axes = _rounds(results.settings.datasets, list(metrics.values()), "learned flip rate")
    for (i, j), rows in _cells(results, list(metrics)):
        own = panels.select(rows, artifact, noise=noise, method=drawn["methods"])
        axes[i, j].axhline(truth[i], color=style.COLOURS["grey"], linewidth=1.2)
        panels.learning_curves(axes[i, j], own)
        axes[i, j].set_ylim(-0.02, 0.37)
    grey = panels.plain_handle("truth", linewidth=1.2)
    panels.shared_legend(figure, [*panels.handles(drawn["methods"]), grey])
    return figure


@panels.figure
def test_curves(results: Errors) -> Figure:
    """Test error against the rounds, a row per noise, a column per data set."""
    drawn, sets = results.drawn, results.settings.datasets
    figure, axes = _rounds(sets, [flips(noise) for noise in drawn["noise"]], "test error / %", height=1.6)
    for i, noise in enumerate(drawn["noise"]):
        for j, name in enumerate(sets):
            where = {"dataset": name, "noise": noise, "metric": "test_error", "method": drawn["methods"]}
            panels.learning_curves(axes[i, j], results.select(**where))
    panels.shared_legend(figure, panels.handles(drawn["methods"]))
    return figure


@panels.figure
def trusted(results: panels.Results[boosting.CalibrationSettings]) -> Figure:
    """Test error, and distance of the flip rates to the truth, against the number of trusted labels."""
    settings = results.settings
    y_labels = {"error": "test error / %", "gamma_error": "distance of flip rates"}
    columns = [data_set(name) for name in settings.datasets]
    label = "trusted labels for the calibration"
    figure, axes = panels.grid_of_panels([""] * 2, columns, x_label=label, y_label="", height=1.9)
    for (i, j), rows in _cells(results, list(y_labels)):
        shown = panels.select(rows, results.artifact, noise=labels(settings.noise))
        panels.learning_curves(axes[i, j], shown)
        axes[i, j].set_xticks(settings.trusted)
        axes[i, 0].set_ylabel(y_labels[list(y_labels)[i]])
    axes[1, 0].set_ylim(bottom=0)
    panels.shared_legend(figure, panels.handles(settings.methods))
    return figure


@panels.figure
def loss(results: panels.Results[boosting.LossSettings]) -> Figure:
    """Loss against the score for both observed labels."""
    methods, signs = list(results.settings.gammas), ["label +1", "label -1"]
    titles = [f"observed {sign}".replace("-", "\N{MINUS SIGN}") for sign in signs]
    figure, axes = panels.grid_of_panels([""], titles, x_label="score H", y_label="loss", height=2.2)
    for ax, sign in zip(axes[0], signs, strict=True):
        for method in methods:
            rows = results.select(setting=sign, method=method).sort_values("x")
            panels.curve(ax, rows["x"], rows["value"], 0 * rows["value"], method)
        ax.set_ylim(0, 6)
    panels.shared_legend(figure, panels.handles(methods))
    return figure


def _rounds(sets: list[str], rows: list[str], y_label: str, height: float = 1.9) -> tuple[Figure, Any]:
    """Panels over the rounds, a column per data set."""
    from matplotlib.ticker import MaxNLocator

    columns = [data_set(name) for name in sets]
    figure, axes = panels.grid_of_panels(rows, columns, x_label="round", y_label=y_label, height=height)
    for ax in axes.flat:
        ax.xaxis.set_major_locator(MaxNLocator(nbins=5, integer=True))
    return figure, axes


def _cells(
    results: panels.Results[Any], metrics: list[str]
) -> Iterator[tuple[tuple[int, int], pd.DataFrame]]:
    """((row, column), rows of the table) of every metric and data set."""
    for i, metric in enumerate(metrics):
        for j, name in enumerate(results.settings.datasets):
            yield (i, j), results.select(dataset=name, metric=metric)


ALL = "all: means"


@panels.table
def symmetric(results: Errors) -> pd.DataFrame:
    """Errors with symmetric flips."""
    return _errors(results, "symmetric")


@panels.table
def asymmetric(results: Errors) -> pd.DataFrame:
    """Errors with flips of one class."""
    return _errors(results, "asymmetric")


@panels.table
def half(results: Errors) -> pd.DataFrame:
    """Errors of the first artifact with symmetric flips, beside those printed for the second one."""
    return _errors(results, "symmetric")


def _errors(results: Errors, kind: str) -> pd.DataFrame:
    """A section per data set with the rows ours and printed, a column per method; last the means.

    ``kind``: symmetric or asymmetric flips, one noise label of each artifact. The printed values are those
    of the last artifact, the only one in a table without `uses`. The row of means has the mean of the means
    and the mean of the standard deviations, as on the slides.
    """
    import pandas as pd

    last = list(results.tables)[-1]
    methods, sets = list(results.settings.methods), results.settings.datasets
    noise, printed_noise = (
        next(each.label for each in settings.noise if KINDS[each.model] == kind)
        for settings in (results.settings, results.settings_of[last])
    )
    errors = results.select(dataset=sets, noise=noise, metric="error", method=methods)
    values = errors.groupby(["dataset", "method"])["value"]
    mean: Any = values.mean().unstack()
    spread: Any = values.std().unstack()
    mean.loc[ALL], spread.loc[ALL] = mean.loc[sets].mean(), spread.loc[sets].mean()
    rows = []
    for name in [*sets, ALL]:
        best = tables.lowest(mean.loc[name, methods])
        ours = {m: tables.mean_sd(mean.loc[name, m], spread.loc[name, m], bold=m in best) for m in methods}
        place: dict[str, Any] = {"dataset": sets if name == ALL else name, "noise": printed_noise}
        printed = {m: tables.printed(results.published_of.get(last, []), method=m, **place) for m in methods}
        title = {"data set": data_set(name)}
        rows += [title | {"error": "ours"} | ours, title | {"error": "printed"} | printed]
    frame = pd.DataFrame(rows).set_index("data set")
    notes = [splits(results.table, sets), _rates(results.table, noise, methods), _not_genuine(results.table)]
    frame.attrs["note"] = " ".join(filter(None, notes))
    return frame


def _not_genuine(table: pd.DataFrame) -> str:
    kinds = table.drop_duplicates("dataset").set_index("dataset")["source"]
    names = [f"{data_set(str(name))} ({kind})" for name, kind in kinds.items() if kind != "genuine"]
    return f"Not the genuine IDA files: {', '.join(names)}." if names else ""


def _rates(table: pd.DataFrame, noise: str, methods: list[str]) -> str:
    """The flip rates that were learned, means over everything."""
    rows: Any = table[(table["noise"] == noise) & table["metric"].isin(["gamma01", "gamma10"])]
    if rows.empty:
        return ""
    means = rows.groupby(["method", "metric"])["value"].mean()
    found = [
        f"{names.method(m)} {means[m, 'gamma01']:.2f} and {means[m, 'gamma10']:.2f}"
        for m in methods
        if (m, "gamma01") in means
    ]
    return f"Learned flip rates (0 to 1 and 1 to 0, means over the sets): {', '.join(found)}."


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
def flip_probability(results: panels.Results[bounds.FlipProbabilitySettings]) -> Figure:
    """f_k against the angle with simulations, and against the margin with its two exponential bounds."""
    settings = results.settings
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
    for number, k in enumerate(settings.ks):
        colour = style.COLOURS[_SHADES[number % len(_SHADES)]]
        rows = results.select(method=f"k={k}")
        f = _column(rows, "formula", "f")
        left.plot(f.index / np.pi, f, color=colour)
        entries.append(panels.plain_handle(f"k = {k}", color=colour))
        if k in settings.simulated:
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


def _against_margin(ax: Any, rows: pd.DataFrame, f: pd.Series, colour: str) -> None:
    ahead = f.index < np.pi / 2 - 1e-9
    margin = np.cos(f.index[ahead])
    ax.plot(margin, np.maximum(f[ahead], 1e-12), color=colour)
    for metric, dash in (("gaussian_slack", "dash"), ("sub_gaussian_slack", "dot")):
        bound = _column(rows, "formula", metric) + f
        ax.plot(margin, bound[ahead], color=colour, linestyle=style.DASHES[dash], linewidth=1.1)


def _column(rows: pd.DataFrame, setting: str, metric: str) -> pd.Series:
    """Mean over the repetitions, by x."""
    chosen = rows[(rows["setting"] == setting) & (rows["metric"] == metric)]
    means: pd.Series = chosen.groupby("x")["value"].mean()
    return means


@panels.figure
def bound_against_k(results: panels.Results[bounds.AgainstKSettings]) -> Figure:
    """The bound, its terms and the test error against k, a panel per data set."""
    sets = results.settings.datasets
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
            rows = results.select(dataset=name, metric=metric)
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
def bound_table(results: panels.Results[bounds.ErrorsSettings]) -> pd.DataFrame:
    """Mean error and standard deviation per data set, ours beside the printed; marks: paired t-tests."""
    import pandas as pd

    settings = results.settings
    first, *others = settings.methods
    errors = results.select(dataset=settings.datasets, metric="error", method=list(settings.methods))
    values = errors.set_index(["dataset", "method", "repetition"])["value"].sort_index()
    pairs = [(name, method) for name in settings.datasets for method in others]
    marks = _marks({pair: values[pair] - values[pair[0], first] for pair in pairs})
    rows = []
    for name in settings.datasets:
        best = tables.lowest(values[name].groupby("method").mean())
        ours = {"data set": name.replace("_", " "), "error": "ours"}
        printed = ours | {"error": "printed"}
        for method in settings.methods:
            own = values[name, method]
            mark = marks.get((name, method), "")
            ours[method] = tables.mean_sd(own.mean(), own.std(), 3, mark, method in best)
            printed[method] = tables.printed(results.published, 3, dataset=name, method=method)
        rows += [ours, printed]
    made = pd.DataFrame(rows).set_index("data set")
    made.attrs["note"] = (
        "Share of wrong test labels, mean ± standard deviation over "
        f"{values.index.unique('repetition').size} random halves; the lowest mean is bold. "
        f"(+), (-): the error is significantly above or below that of {names.method(first)}, paired t-test, "
        f"5 % after Holm over the {len(pairs)} comparisons."
    )
    return made


def _marks(differences: Mapping[tuple[str, str], pd.Series]) -> dict[tuple[str, str], str]:
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
