"""Figures on boosting, bounds and flip probability, of the slides and our own."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import pandas as pd

from kernel_boost import boosting
from noisylabels import statistics
from reproduction.show import names, panels, style, tables
from reproduction.show.names import KINDS, data_set, flips
from reproduction.show.stock import note_splits
from reproduction.spec.settings import Noise, labels

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Errors: TypeAlias = "panels.Results[boosting.BoostersSettings]"
_NOISES = ("-", ":", style.DASHES["dash"])
"""Dashes for the first, second and third noise in a panel."""


@panels.figure
def error_curves(results: Errors) -> Figure:
    """Draw training and test error against the rounds, a column per data set, a dash per noise."""
    methods = results.drawn["methods"]
    noises = results.drawn["noise"]
    dashes = dict(zip(noises, _NOISES, strict=False))
    rows = [
        ("training", {"metric": "train_error", "method": methods}),
        ("test", {"metric": "test_error", "method": methods}),
    ]
    figure, cells = _over_rounds(results, rows, "error / %")
    for ax, values in cells:
        for noise, dash in dashes.items():
            of_noise = panels.select(values, results.artifact, noise=noise)
            panels.learning_curves(ax, of_noise, linestyle=dash)
        ax.set_ylim(bottom=0)
    handles = panels.handles(methods, linestyle="-")
    for noise, dash in dashes.items():
        handles.append(panels.plain_handle(flips(noise), linestyle=dash))
    return panels.shared_legend(figure, handles)


@panels.figure
def learned_rates(results: Errors) -> Figure:
    """Draw both learned flip rates against the rounds, a column per data set; grey is the truth."""
    methods = results.drawn["methods"]
    (noise,) = results.drawn["noise"]
    rate01, rate10 = boosting.flip_rates(Noise.parse(noise))
    truth = {"gamma01": rate01, "gamma10": rate10}
    shown = {"noise": noise, "method": methods}
    rates = [
        (f"0 seen as 1, truth {rate01:g}", shown | {"metric": "gamma01"}),
        (f"1 seen as 0, truth {rate10:g}", shown | {"metric": "gamma10"}),
    ]
    figure, cells = _over_rounds(results, rates, "learned flip rate", share_y="row")
    for ax, rows in cells:
        metric = rows["metric"].iloc[0]
        ax.axhline(truth[metric], color=style.COLOURS["grey"], linewidth=1.2)
        panels.learning_curves(ax, rows)
    for ax, _ in cells:  # shared axes are set after all curves of a row
        ax.set_ylim(bottom=-0.01)
    handles = panels.handles(methods)
    handles.append(panels.plain_handle("truth", linewidth=1.2))
    return panels.shared_legend(figure, handles)


@panels.figure
def test_curves(results: Errors) -> Figure:
    """Draw the test error against the rounds, a row per noise, a column per data set."""
    methods = results.drawn["methods"]
    rows = []
    for noise in results.drawn["noise"]:
        selected = {"metric": "test_error", "method": methods, "noise": noise}
        rows.append((flips(noise), selected))
    legend = panels.handles(methods)
    figure, cells = _over_rounds(results, rows, "test error / %", height=1.6, legend=legend)
    for ax, _ in cells:
        ax.set_ylim(bottom=0)
    return figure


@panels.figure
def trusted(results: panels.Results[boosting.CalibrationSettings]) -> Figure:
    """Draw test error and error of the flip rates against the number of trusted labels."""
    settings = results.settings
    noise = labels(settings.noise)
    rows = [("", {"noise": noise, "metric": metric}) for metric in ("error", "gamma_error")]
    columns = _sets(settings.datasets)
    legend = panels.handles(settings.methods)
    look: style.Looks = {"x_label": "trusted labels for the calibration", "height": 1.9}
    figure, cells = panels.facets(results, rows, columns, legend=legend, **look)
    for ax, _ in cells:
        ax.set_xticks(settings.trusted)
    first_of_errors, _ = cells[0]
    first_of_rates, _ = cells[len(settings.datasets)]
    first_of_errors.set_ylabel("test error / %")
    first_of_rates.set(ylabel="distance of flip rates", ylim=(0, None))
    return figure


@panels.figure
def loss(results: panels.Results[boosting.LossSettings]) -> Figure:
    """Draw the loss against the score for both observed labels."""
    columns = [
        ("observed label +1", {"setting": "label +1"}),
        ("observed label \N{MINUS SIGN}1", {"setting": "label -1"}),
    ]
    look: style.Looks = {"x_label": "score H", "y_label": "loss", "height": 2.2}
    legend = panels.handles(results.settings.gammas)
    figure, cells = panels.facets(results, [("", {})], columns, legend=legend, **look)
    for ax, _ in cells:
        ax.set_ylim(0, 6)
    return figure


def _sets(datasets: list[str]) -> list[tuple[str, dict[str, str]]]:
    """Make a column of panels for each data set."""
    return [(data_set(name), {"dataset": name}) for name in datasets]


def _over_rounds(
    results: Errors,
    rows: Sequence[tuple[str, Mapping[str, Any]]],
    y_label: str,
    **options: Any,
) -> tuple[Figure, list[panels.Cell]]:
    """Make panels over the rounds, a column per data set."""
    from matplotlib.ticker import MaxNLocator

    columns = _sets(results.settings.datasets)
    look: style.Looks = {"x_label": "round", "y_label": y_label, "height": 1.9, "share_y": "none"}
    look |= options
    figure, cells = panels.facets(results, rows, columns, **look)
    for ax, _ in cells:
        locator = MaxNLocator(nbins=5, integer=True)
        ax.xaxis.set_major_locator(locator)
    return figure, cells


ALL = "all: means"


def _errors(kind: str) -> Callable[[Errors], pd.DataFrame]:
    """List our errors and the published ones by data set, a column per method, with means.

    ``kind``: symmetric or asymmetric flips, one noise label of each artifact. Published values are
    those of the last artifact, the only one in a table without `uses`. The row of means has the
    mean of the means and the mean of the standard deviations, as on the slides.
    """

    def draw(results: Errors) -> pd.DataFrame:
        last = list(results.tables)[-1]
        methods = list(results.settings.methods)
        sets = results.settings.datasets
        noise = _find_noise(results.settings, kind)
        published_noise = _find_noise(results.settings_of[last], kind)
        values = _summarise_errors(results, noise)
        cells: dict[str, dict[str, object]] = {}
        for name in sets:
            cells[name] = {"dataset": name, "noise": published_noise}
        cells[ALL] = {"dataset": sets, "noise": published_noise}
        published = results.published_of.get(last, [])
        frame = _next_to_published(values, cells, methods, published, 2, {})
        return tables.noted(
            frame,
            note_splits(results.table, sets),
            _note_learned_rates(results.table, noise, methods),
            _note_other_sources(results.table),
        )

    return panels.table(draw)


def _find_noise(settings: boosting.BoostersSettings, kind: str) -> str:
    """Return the label of the first noise of a kind."""
    return next(noise.label for noise in settings.noise if KINDS[noise.model] == kind)


def _summarise_errors(results: Errors, noise: str) -> pd.DataFrame:
    """Compute mean and std of the errors by data set and method, and their means over the sets."""
    settings = results.settings
    sets = settings.datasets
    methods = list(settings.methods)
    errors = results.select(dataset=sets, noise=noise, metric="error", method=methods)
    groups = errors.groupby(["dataset", "method"])["value"]
    values: Any = groups.agg(["mean", "std"])
    means = values.loc[sets].groupby("method").mean()
    return pd.concat([values, pd.concat({ALL: means})])


def _note_other_sources(table: pd.DataFrame) -> str:
    """List the data sets that are not the genuine ones, with their sources."""
    sources = table.drop_duplicates("dataset").set_index("dataset")["source"]
    replaced = []
    for name, source in sources.items():
        if source != "genuine":
            replaced.append(f"{data_set(str(name))} ({source})")
    return f"Not the genuine IDA files: {', '.join(replaced)}." if replaced else ""


def _note_learned_rates(table: pd.DataFrame, noise: str, methods: list[str]) -> str:
    """List the mean learned flip rates of the methods that learn them."""
    is_rate = table["metric"].isin(["gamma01", "gamma10"])
    rates = table[(table["noise"] == noise) & is_rate]
    means: Any = rates.pivot_table(index="method", columns="metric", values="value")
    learned = []
    for method in methods:
        if method in means.index:
            rate01 = means.loc[method, "gamma01"]
            rate10 = means.loc[method, "gamma10"]
            learned.append(f"{names.method(method)} {rate01:.2f} and {rate10:.2f}")
    if not learned:
        return ""
    return f"Learned flip rates (0 to 1 and 1 to 0, means over the sets): {', '.join(learned)}."


symmetric = _errors("symmetric")
asymmetric = _errors("asymmetric")


@panels.table
def grid(results: Errors) -> pd.DataFrame:
    """Measure the mean distance of our errors to the published ones by noise and rounds.

    *chosen on*: AdaBoost/LR on all sets and all methods on Image; the lowest of the symmetric rows
    is bold. Then the mean over all other cells, and each method without Image.
    """
    methods = list(results.settings.methods)
    distances = _measure_distances(results, methods)
    groups = ["noise", "x"]
    is_image = distances["dataset"] == "ida_image"
    is_choosing = (distances["method"] == methods[0]) | is_image
    columns = {}
    parts = {"chosen on": distances[is_choosing], "all others": distances[~is_choosing]}
    for title, part in parts.items():
        columns[title] = part.groupby(groups, sort=False)["distance"].mean()
    means = pd.DataFrame(columns)
    without_image = distances[~is_image]
    by_method = without_image.pivot_table(index=groups, columns="method", values="distance")
    means = means.join(by_method[methods])
    frame = _write_distances(means)
    return tables.noted(frame, note_splits(results.table, results.settings.datasets))


def _measure_distances(results: Errors, methods: list[str]) -> pd.DataFrame:
    """Measure the distance of each mean error to the published one, nan where there is none."""
    published = _list_published(results.published_of["boosters"])
    columns = ["noise", "x", "dataset", "method"]
    errors = results.select(metric="error", method=methods)
    means = errors.groupby(columns, sort=False)["value"].mean()
    distances = means.reset_index(name="distance")
    kinds = distances["noise"].map(_kind)
    cells = zip(kinds, distances["dataset"], distances["method"], strict=True)
    published_errors = [published.get(cell, np.nan) for cell in cells]
    distances["distance"] = (distances["distance"] - published_errors).abs()
    return distances


def _list_published(entries: Sequence[Any]) -> dict[tuple[str, str, str], float]:
    """Map kind of flips, data set and method to the published error of this one data set."""
    published = {}
    for entry in entries:
        cell = entry["where"]
        name = cell["dataset"]
        is_of_one_set = isinstance(name, str)
        if is_of_one_set:
            kind = _kind(cell["noise"])
            published[kind, name, cell["method"]] = entry["value"]
    return published


def _kind(noise: str) -> str:
    """Return the kind of flips of a noise label."""
    law = noise.split()[0]
    return KINDS[law]


def _write_distances(means: pd.DataFrame) -> pd.DataFrame:
    """Write the distances as text, the row that the choice takes in bold."""
    is_symmetric = [_kind(noise) == "symmetric" for noise, _ in means.index]
    nearest: Any = means["chosen on"][is_symmetric].idxmin()
    text = means.map("{:.2f}".format)
    text.loc[[nearest]] = "**" + text.loc[[nearest]] + "**"
    keys = [(flips(noise), f"{rounds:g}") for noise, rounds in text.index]
    text.index = pd.MultiIndex.from_tuples(keys)
    text.index.names = ["flips", "rounds"]
    return text.reset_index("rounds")


def _next_to_published(
    values: pd.DataFrame,
    cells: Mapping[str, Mapping[str, object]],
    methods: list[str],
    published: Sequence[Any],
    digits: int,
    signs: Mapping[tuple[str, str], str],
) -> pd.DataFrame:
    """List our errors and the published ones by data set; the lowest of our means is bold.

    values : columns mean and std by data set and method.
    cells : data set -> the columns of its published values.
    signs : what to write behind the values of a data set and method.
    """
    rows = []
    for name, cell in cells.items():
        of_set: Any = values.loc[name]
        best = tables.lowest(of_set.loc[methods, "mean"])
        title = data_set(name)
        ours = {"data set": title, "error": "ours"}
        theirs = {"data set": title, "error": "published"}
        for method in methods:
            mean, sd = of_set.loc[method, ["mean", "std"]]
            sign = signs.get((name, method), "")
            ours[method] = tables.mean_sd(mean, sd, digits, sign, method in best)
            theirs[method] = tables.printed(published, digits, method=method, **cell)
        rows.append(ours)
        rows.append(theirs)
    return pd.DataFrame(rows).set_index("data set")


_SHADES = ("orange", "vermillion", "pink", "wine", "indigo", "blue", "teal")
"""Colours of the curves of f_k, from small k to large."""
_DOT: style.Looks = {"linestyle": "none", "marker": "o", "markersize": 4.5}
"""Look of a simulated probability."""


@panels.figure
def flip_probability(results: panels.Results[boosting.FlipProbabilitySettings]) -> Figure:
    """Draw f_k against the angle with simulations, and against the margin with its two bounds."""
    settings = results.settings
    titles = ["against the angle", "against the margin"]
    x_labels = ["angle / \N{GREEK SMALL LETTER PI}", "margin: cosine of the angle"]
    y_labels = ["flip probability", "flip probability"]
    figure, axes = panels.side_by_side(titles, x_label=x_labels, y_label=y_labels, height=2.5)
    left, right = axes
    handles = []
    for k, shade in zip(settings.ks, itertools.cycle(_SHADES), strict=False):
        colour = style.COLOURS[shade]
        rows = results.select(method=f"k={k}")
        means = rows.groupby(["setting", "metric", "x"])["value"].mean()
        f = means["formula", "f"]
        left.plot(f.index / np.pi, f, color=colour)
        handles.append(panels.plain_handle(f"k = {k}", color=colour))
        if k in settings.simulated:
            _draw_simulations(left, means, colour)
            _draw_against_margin(right, means, colour)
    right.set(yscale="log", ylim=(1e-4, 1.5), xlim=(0, 1))
    handles += panels.full_and_hollow("simulated, Gaussian", "Rademacher")
    for name, dash in _BOUNDS.values():
        handles.append(panels.plain_handle(name, linestyle=style.DASHES[dash]))
    return panels.shared_legend(figure, handles, handle=2.2)


_BOUNDS = {
    "gaussian_slack": ("bound exp(-k margin² / 2)", "dash"),
    "sub_gaussian_slack": ("exp(-k margin² / 8)", "dot"),
}
"""Metric of the slack of a bound of f_k -> name and dash of the bound."""


def _draw_simulations(ax: Axes, means: pd.Series, colour: str) -> None:
    """Draw simulated probabilities against the angle, hollow for Rademacher entries."""
    for entry, face in (("gaussian", colour), ("rademacher", "white")):
        share = means[entry, "share"]
        ax.plot(share.index / np.pi, share, color=colour, markerfacecolor=face, **_DOT)


def _draw_against_margin(ax: Axes, means: pd.Series, colour: str) -> None:
    """Draw f_k and its two bounds against the margin, where the angle is below a right one."""
    of_formula = means["formula"]
    f = of_formula["f"]
    is_acute = f.index < np.pi / 2 - 1e-9
    margin = np.cos(f.index[is_acute])
    positive = np.maximum(f[is_acute], 1e-12)
    ax.plot(margin, positive, color=colour)
    for metric, (_, dash) in _BOUNDS.items():
        bound = of_formula[metric] + f
        look: style.Looks = {"linestyle": style.DASHES[dash], "linewidth": 1.1}
        ax.plot(margin, bound[is_acute], color=colour, **look)


def _term(label: str, colour: str, dash: str, marker: str) -> style.Looks:
    return {
        "label": label,
        "color": style.COLOURS[colour],
        "linestyle": style.DASHES[dash],
        "marker": marker,
    }


_TERMS = {
    "bound": _term("bound", "black", "solid", "s"),
    "risk": _term("flips", "vermillion", "solid", "o"),
    "complexity": _term("complexity", "orange", "dash", "^"),
    "error": _term("test error", "blue", "solid", "D"),
}
"""Metric -> its look."""


@panels.figure
def bound_against_k(results: panels.Results[boosting.BoundsSettings]) -> Figure:
    """Draw the bound, its terms and the test error against k, a panel per data set."""
    sets = results.settings.datasets
    labels_of_axes: style.Looks = {"x_label": "k", "y_label": "error, bound"}
    size: style.Looks = {"height": 1.7, "between": 0.5}
    figure, axes = panels.wrapped(len(sets), 3, share_y="all", **labels_of_axes, **size)
    for ax, name in zip(axes, sets, strict=True):
        ax.set_title(name.replace("_", " "))
        for metric, look in _TERMS.items():
            rows = results.select(dataset=name, metric=metric)
            panels.mean_curve(ax, rows, metric, zorder=2.5, **look)
    axes[0].set_ylim(0, 1.6)
    x_axes = [ax.xaxis for ax in axes]
    panels.log_axis(*x_axes)
    handles = [panels.plain_handle(**look) for look in _TERMS.values()]
    return panels.shared_legend(figure, handles)


@panels.table
def bound_table(results: panels.Results[boosting.MinimisersSettings]) -> pd.DataFrame:
    """List our errors and the published ones by data set, with deviations and paired t-tests."""
    settings = results.settings
    methods = list(settings.methods)
    first, *other_methods = methods
    errors = results.select(dataset=settings.datasets, metric="error", method=methods)
    index = ["dataset", "method", "repetition"]
    values = errors.set_index(index)["value"].sort_index()
    differences = {}
    for name, method in itertools.product(settings.datasets, other_methods):
        differences[name, method] = values[name, method] - values[name, first]
    signs = _mark_significant(differences)
    spread: Any = values.groupby(level=["dataset", "method"]).agg(["mean", "std"])
    cells = {name: {"dataset": name} for name in settings.datasets}
    frame = _next_to_published(spread, cells, methods, results.published, 3, signs)
    halves = values.index.unique("repetition").size
    return tables.noted(
        frame,
        "Share of wrong test labels, mean ± standard deviation over "
        f"{halves} random halves; the lowest mean is bold. "
        f"(+), (-): the error is significantly above or below that of {names.method(first)}, "
        f"paired t-test, 5 % after Holm over the {len(differences)} comparisons.",
    )


def _mark_significant(
    differences: Mapping[tuple[str, str], pd.Series],
) -> dict[tuple[str, str], str]:
    """Mark by (+) or (-) where the mean difference is significantly above or below 0."""
    fewest = min(len(values) for values in differences.values())
    if fewest < 2:
        return {}
    estimates = {pair: statistics.mean_se(values) for pair, values in differences.items()}
    two_sided = [_two_sided(estimate) for estimate in estimates.values()]
    adjusted = statistics.holm(two_sided)
    signs = {}
    for (pair, estimate), p in zip(estimates.items(), adjusted, strict=True):
        if p < 0.05:
            signs[pair] = " (+)" if estimate.mean > 0 else " (-)"
    return signs


def _two_sided(estimate: statistics.Estimate) -> float:
    """Compute the p-value of the two-sided t-test against 0."""
    p_above = statistics.t_above(estimate)
    p_below = statistics.t_below(estimate)
    return min(1.0, 2 * min(p_above, p_below))
