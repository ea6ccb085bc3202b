"""Figures on boosting, bounds and flip probability, of the slides and our own."""

from __future__ import annotations

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
    from matplotlib.figure import Figure

Errors: TypeAlias = "panels.Results[boosting.BoostersSettings]"
_NOISES = ("-", ":", style.DASHES["dash"])
"""Dashes for the first, second and third noise in a panel."""


@panels.figure
def error_curves(results: Errors) -> Figure:
    """Draw training and test error against the rounds, a column per data set, a dash per noise."""
    drawn, metrics = results.drawn, [("training", "train_error"), ("test", "test_error")]
    dashes = dict(zip(drawn["noise"], _NOISES, strict=False))
    rows = [(name, {"metric": metric, "method": drawn["methods"]}) for name, metric in metrics]
    figure, cells = _over_rounds(results, rows, "error / %")
    for ax, own in cells:
        for noise, dash in dashes.items():
            panels.learning_curves(ax, panels.select(own, results.artifact, noise=noise), linestyle=dash)
        ax.set_ylim(bottom=0)
    noises = [panels.plain_handle(flips(noise), linestyle=dash) for noise, dash in dashes.items()]
    return panels.shared_legend(figure, panels.handles(drawn["methods"], linestyle="-") + noises)


@panels.figure
def learned_rates(results: Errors) -> Figure:
    """Draw both learned flip rates against the rounds, a column per data set; grey is the truth."""
    (noise,), methods = results.drawn["noise"], results.drawn["methods"]
    truth = dict(zip(("gamma01", "gamma10"), boosting.flip_rates(Noise.parse(noise)), strict=True))
    rates = [
        (f"{title}, truth {rate:g}", {"noise": noise, "method": methods, "metric": metric})
        for title, (metric, rate) in zip(("0 seen as 1", "1 seen as 0"), truth.items(), strict=True)
    ]
    figure, cells = _over_rounds(results, rates, "learned flip rate", share_y="row")
    for ax, rows in cells:
        ax.axhline(truth[rows["metric"].iloc[0]], color=style.COLOURS["grey"], linewidth=1.2)
        panels.learning_curves(ax, rows)
    for ax, _ in cells:  # shared axes are set after all curves of a row
        ax.set_ylim(bottom=-0.01)
    entries = [*panels.handles(methods), panels.plain_handle("truth", linewidth=1.2)]
    return panels.shared_legend(figure, entries)


@panels.figure
def test_curves(results: Errors) -> Figure:
    """Draw the test error against the rounds, a row per noise, a column per data set."""
    drawn = results.drawn
    where = {"metric": "test_error", "method": drawn["methods"]}
    noises = [(flips(noise), where | {"noise": noise}) for noise in drawn["noise"]]
    options: style.Looks = {"height": 1.6, "legend": panels.handles(drawn["methods"])}
    figure, cells = _over_rounds(results, noises, "test error / %", **options)
    for ax, _ in cells:
        ax.set_ylim(bottom=0)
    return figure


@panels.figure
def trusted(results: panels.Results[boosting.CalibrationSettings]) -> Figure:
    """Draw test error and error of the flip rates against the number of trusted labels."""
    settings = results.settings
    where = {"noise": labels(results.settings.noise)}
    metrics = [("", where | {"metric": metric}) for metric in ("error", "gamma_error")]
    look: style.Looks = {"height": 1.9, "legend": panels.handles(settings.methods)}
    look["x_label"] = "trusted labels for the calibration"
    figure, cells = panels.facets(results, metrics, _sets(settings.datasets), **look)
    for ax, _ in cells:
        ax.set_xticks(settings.trusted)
    below = cells[len(settings.datasets)][0]
    cells[0][0].set_ylabel("test error / %")
    below.set(ylabel="distance of flip rates", ylim=(0, None))
    return figure


@panels.figure
def loss(results: panels.Results[boosting.LossSettings]) -> Figure:
    """Draw the loss against the score for both observed labels."""
    signs = {"observed label +1": "label +1", "observed label \N{MINUS SIGN}1": "label -1"}
    columns = [(title, {"setting": sign}) for title, sign in signs.items()]
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
    results: Errors, rows: Sequence[tuple[str, Mapping[str, Any]]], y_label: str, **options: Any
) -> tuple[Figure, list[panels.Cell]]:
    """Make panels over the rounds, a column per data set."""
    from matplotlib.ticker import MaxNLocator

    look: style.Looks = {"x_label": "round", "y_label": y_label, "height": 1.9, "share_y": "none"}
    figure, cells = panels.facets(results, rows, _sets(results.settings.datasets), **(look | options))
    for ax, _ in cells:
        ax.xaxis.set_major_locator(MaxNLocator(nbins=5, integer=True))
    return figure, cells


ALL = "all: means"


def _errors(kind: str) -> Callable[[Errors], pd.DataFrame]:
    """List our errors and the published ones by data set, a column per method, with means.

    ``kind``: symmetric or asymmetric flips, one noise label of each artifact. Published values are those of
    the last artifact, the only one in a table without `uses`. The row of means has the mean of the means and
    the mean of the standard deviations, as on the slides.
    """

    def draw(results: Errors) -> pd.DataFrame:
        last = list(results.tables)[-1]
        methods = list(results.settings.methods)
        sets = results.settings.datasets
        table = results.table
        noise, printed_noise = (
            next(each.label for each in settings.noise if KINDS[each.model] == kind)
            for settings in (results.settings, results.settings_of[last])
        )
        errors = results.select(dataset=sets, noise=noise, metric="error", method=methods)
        values: Any = errors.groupby(["dataset", "method"])["value"].agg(["mean", "std"])
        values = pd.concat([values, pd.concat({ALL: values.loc[sets].groupby("method").mean()})])
        where = {name: {"dataset": name, "noise": printed_noise} for name in sets}
        where[ALL] = {"dataset": sets, "noise": printed_noise}
        frame = _beside_printed(values, where, methods, results.published_of.get(last, []), 2, {})
        kinds = table.drop_duplicates("dataset").set_index("dataset")["source"]
        # Python 3.12 and later would lose the outer `kind` if the comprehension bound that name (gh-121377).
        made = [f"{data_set(str(name))} ({source})" for name, source in kinds.items() if source != "genuine"]
        rates = table[(table["noise"] == noise) & table["metric"].isin(["gamma01", "gamma10"])]
        means: Any = rates.pivot_table(index="method", columns="metric", values="value")
        learned = ", ".join(
            f"{names.method(m)} {means.loc[m, 'gamma01']:.2f} and {means.loc[m, 'gamma10']:.2f}"
            for m in methods
            if m in means.index
        )
        return tables.noted(
            frame,
            note_splits(table, sets),
            f"Learned flip rates (0 to 1 and 1 to 0, means over the sets): {learned}." if learned else "",
            f"Not the genuine IDA files: {', '.join(made)}." if made else "",
        )

    return panels.table(draw)


symmetric = _errors("symmetric")
asymmetric = _errors("asymmetric")


@panels.table
def grid(results: Errors) -> pd.DataFrame:
    """Measure the mean distance of our errors to the published ones by noise and rounds.

    *chosen on*: AdaBoost/LR on all sets and all methods on Image; the lowest of the symmetric rows is bold.
    Then the mean over all other cells, and each method without Image.
    """
    printed = {
        (KINDS[e["where"]["noise"].split()[0]], e["where"]["dataset"], e["where"]["method"]): e["value"]
        for e in results.published_of["boosters"] if isinstance(e["where"]["dataset"], str)
    }  # fmt: skip
    methods = list(results.settings.methods)
    cells = ["noise", "x", "dataset", "method"]
    means = results.select(metric="error", method=methods).groupby(cells, sort=False)["value"].mean()
    far = means.reset_index(name="far")
    kinds = far["noise"].str.split().str[0].map(KINDS)
    keys = zip(kinds, far["dataset"], far["method"], strict=True)
    far["far"] = (far["far"] - [printed.get(key, np.nan) for key in keys]).abs()
    image = far["dataset"] == "ida_image"
    choosing, by = (far["method"] == methods[0]) | image, ["noise", "x"]
    parts = {"chosen on": far[choosing], "all others": far[~choosing]}
    made = pd.DataFrame({title: part.groupby(by, sort=False)["far"].mean() for title, part in parts.items()})
    made = made.join(far[~image].pivot_table(index=by, columns="method", values="far")[methods])
    symmetric = [KINDS[noise.split()[0]] == "symmetric" for noise, _ in made.index]
    chosen: Any = made["chosen on"][symmetric].idxmin()
    text = made.map("{:.2f}".format)
    text.loc[[chosen]] = "**" + text.loc[[chosen]] + "**"
    text.index = pd.MultiIndex.from_tuples([(flips(n), f"{x:g}") for n, x in text.index])
    text.index.names = ["flips", "rounds"]
    return tables.noted(text.reset_index("rounds"), note_splits(results.table, results.settings.datasets))


def _beside_printed(
    values: pd.DataFrame, places: Mapping[str, Mapping[str, object]], methods: list[str],
    published: Sequence[Any], digits: int, marks: Mapping[tuple[str, str], str],
) -> pd.DataFrame:  # fmt: skip
    """List our errors and the published ones by data set; the lowest of our means is bold.

    values : columns mean and std by data set and method.   places : data set -> where the published ones are.
    marks : what to write behind the values of a data set and method.
    """
    rows = []
    for name, place in places.items():
        own: Any = values.loc[name]
        best = tables.lowest(own.loc[methods, "mean"])
        ours, printed = {}, {}
        for m in methods:
            mean = own.loc[m, "mean"]
            sd = own.loc[m, "std"]
            mark = marks.get((name, m), "")
            ours[m] = tables.mean_sd(mean, sd, digits, mark, m in best)
            printed[m] = tables.printed(published, digits, method=m, **place)
        rows += [{"data set": data_set(name), "error": "ours"} | ours]
        rows += [{"data set": data_set(name), "error": "published"} | printed]
    return pd.DataFrame(rows).set_index("data set")


_SHADES = ("orange", "vermillion", "pink", "wine", "indigo", "blue", "teal")
"""Colours of the curves of f_k, from small k to large."""


@panels.figure
def flip_probability(results: panels.Results[boosting.FlipProbabilitySettings]) -> Figure:
    """Draw f_k against the angle with simulations, and against the margin with its two bounds."""
    settings = results.settings
    look: style.Looks = {"y_label": ["flip probability", "flip probability"], "height": 2.5}
    look["x_label"] = ["angle / \N{GREEK SMALL LETTER PI}", "margin: cosine of the angle"]
    figure, (left, right) = panels.side_by_side(["against the angle", "against the margin"], **look)
    entries = []
    for number, k in enumerate(settings.ks):
        colour = style.COLOURS[_SHADES[number % len(_SHADES)]]
        means = results.select(method=f"k={k}").groupby(["setting", "metric", "x"])["value"].mean()
        f = means["formula", "f"]
        left.plot(f.index / np.pi, f, color=colour)
        entries.append(panels.plain_handle(f"k = {k}", color=colour))
        if k in settings.simulated:
            for entry, face in (("gaussian", colour), ("rademacher", "white")):
                share = means[entry, "share"]
                looks = {"linestyle": "none", "marker": "o", "markersize": 4.5}
                left.plot(share.index / np.pi, share, color=colour, markerfacecolor=face, **looks)
            ahead = f.index < np.pi / 2 - 1e-9
            margin = np.cos(f.index[ahead])
            right.plot(margin, np.maximum(f[ahead], 1e-12), color=colour)
            for metric, dash in (("gaussian_slack", "dash"), ("sub_gaussian_slack", "dot")):
                bound = (means["formula", metric] + f)[ahead]
                right.plot(margin, bound, color=colour, linestyle=style.DASHES[dash], linewidth=1.1)
    right.set(yscale="log", ylim=(1e-4, 1.5), xlim=(0, 1))
    entries += panels.full_and_hollow("simulated, Gaussian", "Rademacher")
    entries.append(panels.plain_handle("bound exp(-k margin² / 2)", linestyle=style.DASHES["dash"]))
    entries.append(panels.plain_handle("exp(-k margin² / 8)", linestyle=style.DASHES["dot"]))
    return panels.shared_legend(figure, entries, handle=2.2)


_TERMS: dict[str, style.Looks] = {
    metric: {
        "label": label,
        "color": style.COLOURS[colour],
        "linestyle": style.DASHES[dash],
        "marker": marker,
    }
    for metric, label, colour, dash, marker in (
        ("bound", "bound", "black", "solid", "s"),
        ("risk", "flips", "vermillion", "solid", "o"),
        ("complexity", "complexity", "orange", "dash", "^"),
        ("error", "test error", "blue", "solid", "D"),
    )
}


@panels.figure
def bound_against_k(results: panels.Results[boosting.BoundsSettings]) -> Figure:
    """Draw the bound, its terms and the test error against k, a panel per data set."""
    sets = results.settings.datasets
    look: style.Looks = {"x_label": "k", "y_label": "error, bound", "height": 1.7, "between": 0.5}
    figure, axes = panels.wrapped(len(sets), 3, share_y="all", **look)
    for ax, name in zip(axes, sets, strict=True):
        ax.set_title(name.replace("_", " "))
        for metric, own in _TERMS.items():
            panels.mean_curve(ax, results.select(dataset=name, metric=metric), metric, zorder=2.5, **own)
    axes[0].set_ylim(0, 1.6)
    panels.log_axis(*(ax.xaxis for ax in axes))
    return panels.shared_legend(figure, [panels.plain_handle(**own) for own in _TERMS.values()])


@panels.table
def bound_table(results: panels.Results[boosting.MinimisersSettings]) -> pd.DataFrame:
    """List our errors and the published ones by data set, with deviations and paired t-tests."""
    settings = results.settings
    first, *others = settings.methods
    errors = results.select(dataset=settings.datasets, metric="error", method=list(settings.methods))
    values = errors.set_index(["dataset", "method", "repetition"])["value"].sort_index()
    pairs = [(name, method) for name in settings.datasets for method in others]
    marks = _marks({pair: values[pair] - values[pair[0], first] for pair in pairs})
    spread: Any = values.groupby(level=["dataset", "method"]).agg(["mean", "std"])
    places = {name: {"dataset": name} for name in settings.datasets}
    made = _beside_printed(spread, places, list(settings.methods), results.published, 3, marks)
    return tables.noted(
        made,
        "Share of wrong test labels, mean ± standard deviation over "
        f"{values.index.unique('repetition').size} random halves; the lowest mean is bold. "
        f"(+), (-): the error is significantly above or below that of {names.method(first)}, paired t-test, "
        f"5 % after Holm over the {len(pairs)} comparisons.",
    )


def _marks(differences: Mapping[tuple[str, str], pd.Series]) -> dict[tuple[str, str], str]:
    """Mark by (+) or (-) where the mean difference is significantly above or below 0."""
    if min(len(values) for values in differences.values()) < 2:
        return {}
    estimates = {pair: statistics.mean_se(values) for pair, values in differences.items()}
    two_sided = [min(1.0, 2 * min(statistics.t_above(e), statistics.t_below(e))) for e in estimates.values()]
    adjusted = zip(estimates.items(), statistics.holm(two_sided), strict=True)
    return {pair: " (+)" if each.mean > 0 else " (-)" for (pair, each), p in adjusted if p < 0.05}
