"""Figures on kernel classifiers, crowds and images, of the slides and our own.

Tables hold our errors next to the published ones.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import pandas as pd
import scipy

from noisylabels import statistics
from reproduction.judge.estimates import Source
from reproduction.judge.outlying_runs import SEEN
from reproduction.show import names, panels, style, tables
from reproduction.show.names import KINDS, data_set, flips
from reproduction.show.stock import error_notes, note_sources
from reproduction.spec.settings import labels
from reproduction.spec.verdict_words import (
    INCONCLUSIVE,
    NOT_REPRODUCED,
    OF_A_VALUE,
    REPRODUCED,
    look_up,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from kernel_boost import kernels
    from reproduction.run.stock import ErrorsSettings

Errors: TypeAlias = "panels.Results[ErrorsSettings]"
HARM = ("independent 0", "independent 0.3", "negative_only 0.3")
"""The noise whose harm is drawn."""
_LOOKS = {"symmetric": ("blue", "s"), "asymmetric": ("vermillion", "^")}
"""Colour and marker of each kind of noise."""


def _marks(noises: Iterable[str]) -> dict[str, style.Looks]:
    """Choose colour, marker and label of the dots of each noise."""
    marks: dict[str, style.Looks] = {}
    for noise in noises:
        law, rate = noise.split()
        colour, marker = _LOOKS[KINDS[law]] if float(rate) else ("grey", "o")
        marks[noise] = {"color": style.COLOURS[colour], "marker": marker, "label": flips(noise)}
        marks[noise] |= {"markersize": 4.5, "linestyle": "none"}
    return marks


@panels.figure
def noise_harm(results: Errors) -> Figure:
    """Draw the error of the reference with clean labels and 30 % flips, the most harm on top."""
    sets = results.settings.datasets
    methods = results.settings.methods
    marks = _marks(HARM)
    method = names.reference(methods)
    where = {"dataset": sets, "noise": list(HARM), "method": method, "metric": "error"}
    means = panels.mean_interval(results.select(**where), ["dataset", "noise"])
    mean = means["mean"].unstack()
    mean = mean.loc[(mean.max(axis=1) - mean[HARM[0]]).sort_values().index]
    look: style.Looks = {"height": 0.26 * len(sets) + 0.2, "left": 1.2, "width": style.WIDTH[2]}
    x_label = f"test error of {names.label(methods, method)} / %"
    places = range(len(sets))
    figure, (ax,) = panels.side_by_side([""], x_label=x_label, **look)
    ax.hlines(places, mean.min(axis=1), mean.max(axis=1), color=style.COLOURS["silver"], zorder=1.5)
    for noise, mark in marks.items():
        own = means.xs(noise, level="noise").loc[mean.index]
        ax.errorbar(own["mean"], places, xerr=own["half_width"], elinewidth=1, capsize=2, **mark)
    ax.set_yticks(places, list(map(data_set, mean.index)))
    ax.set_xlim(left=0)
    return panels.shared_legend(figure, [panels.plain_handle(**mark) for mark in marks.values()], handle=1.5)


@panels.figure
def kernel_count(results: Errors) -> Figure:
    """Draw the test error with S kernels less that of the reference, a panel per data set."""
    settings = results.settings
    reference = names.reference(results.settings.methods)
    sizes = {label: len(method.parameters["widths"]) for label, method in settings.methods.items()}
    places = np.arange(len(sizes))
    where = {"metric": "error", "method": list(sizes)}
    look: style.Looks = {"y_label": "change / % points", "share_y": "all"}
    figure, cells = _small_multiples(results, 5, where, x_label="number of kernels S", **look)
    for ax, rows in cells:
        base = rows[rows["method"] == reference].set_index("repetition")["value"]
        change = rows.assign(value=rows["value"] - rows["repetition"].map(base))
        means = panels.mean_interval(change, ["method"]).loc[list(sizes)]
        panels.curve(ax, places, means["mean"], means["half_width"], reference)
        ax.set_xticks(places, [str(size) for size in sizes.values()])
        ax.axhline(0, color="black", linewidth=0.8)
    return figure


@panels.figure
def stpmkl(results: panels.Results[kernels.FeaturesSettings]) -> Figure:
    """Draw test accuracy against the share of flipped labels, a panel per data set."""
    methods = list(results.settings.methods)
    noise = labels(results.settings.noise)
    rates = [100 * each.parameters["rate"] for each in results.settings.noise]
    look: style.Looks = {"x_label": "flipped training labels / %", "y_label": "test accuracy"}
    where = {"metric": "accuracy", "method": methods, "noise": noise}
    figure, cells = _small_multiples(results, 3, where, **look)
    for ax, rows in cells:
        means = panels.mean_interval(rows, ["method", "noise"])
        for method in methods:
            values = means.loc[method].loc[noise]
            panels.curve(ax, rates, values["mean"], values["half_width"], method)
        ax.set_xticks(rates)
    return panels.shared_legend(figure, panels.handles(methods))


@panels.figure
def mkl_path(results: Errors) -> Figure:
    """Draw the test error of variants of rMKLR, clean and with flips, a panel per data set."""
    rounds = {v: float(v[2:]) if v.startswith("T=") else math.inf for v in results.settings.methods}
    variants = sorted(rounds, key=lambda variant: rounds[variant])
    marks = _marks(labels(results.settings.noise))
    where = {"noise": list(marks), "metric": "error", "method": variants}
    look: style.Looks = {"x_label": "test error / %", "share_y": "all", "left": 1.6}
    figure, cells = _small_multiples(results, 3, where, **look)
    for ax, rows in cells:
        means = panels.mean_interval(rows, ["noise", "method"])
        for i, (noise, mark) in enumerate(marks.items()):
            own = means.loc[noise].loc[variants]
            y = np.arange(len(variants)) + 0.22 * (i - (len(marks) - 1) / 2)
            ax.errorbar(own["mean"], y, xerr=own["half_width"], elinewidth=1, capsize=2, **mark)
        ax.set_yticks(range(len(variants)), [style.label(variant) for variant in variants])
        ax.set_ylim(len(variants) - 0.45, -0.55)
    return panels.shared_legend(figure, [panels.plain_handle(**mark) for mark in marks.values()], handle=1.5)


def _small_multiples(
    results: panels.Results[Any], columns: int, where: Mapping[str, object], **options: Any
) -> tuple[Figure, list[panels.Cell]]:
    """Make one panel per data set, with its name above it, and return its rows with it."""
    datasets = results.settings.datasets
    look: style.Looks = {"share_y": "none", "share_x": False, "between": 0.56} | options
    look["height"] = 2.1 if len(datasets) <= columns else 1.3
    figure, axes = panels.wrapped(len(datasets), columns, **look)
    for ax, name in zip(axes, datasets, strict=True):
        ax.set_title(data_set(name))
    return figure, [(ax, results.select(dataset=n, **where)) for ax, n in zip(axes, datasets, strict=True)]


P_VALUES = (
    "p unpaired: rank-sum test over all values, as the slides seem to have used; "
    "p paired: signed-rank test over the splits."
)


def _of_this_table(results: Errors) -> Errors:
    """Select the methods that the paper's table has, or all without published values.

    One run serves several tables: the published values tell which methods, and which selection.
    """
    settings = results.settings
    selections: dict[str, str | None] = dict.fromkeys(settings.methods)
    for entries in results.published_of.values():
        wheres = [entry["where"] for entry in entries if "method" in entry["where"]]
        printed = {where["method"]: where.get("setting") for where in wheres}
        if printed.keys() & settings.methods.keys():
            selections = {key: printed[key] for key in settings.methods if key in printed}
            break
    parts = []
    for method, selection in selections.items():
        wanted = selection or settings.settings_of(method)[0]
        is_wanted = (results.table["method"] == method) & (results.table["setting"] == wanted)
        parts.append(results.table[is_wanted])
    methods = {method: settings.methods[method] for method in selections}
    name = results.artifact
    narrowed = settings.model_copy(update={"methods": methods})
    return replace(
        results,
        tables={name: pd.concat(parts, ignore_index=True)},
        settings_of={name: narrowed},
    )


def _noisy(*levels: float) -> Callable[[Errors], pd.DataFrame]:
    """List errors at some noise rates, as far as they were run.

    A section per rate and kind of noise, those that pool both kinds first.
    """

    def draw(all_results: Errors) -> pd.DataFrame:
        results = _of_this_table(all_results)
        run = labels(results.settings.noise)
        present = [level for level in levels if f"independent {level:g}" in run]
        if not present:
            said = f"the settings name none of the noise rates {levels}"
            raise panels.RenderError(f"{results.artifact}: {said}")
        pooled = {f"{_level(level)} pooled": [f"{law} {level:g}" for law in KINDS] for level in present}
        single = {flips(noise): [noise] for pair in pooled.values() for noise in pair}
        sections = (pooled | single).items()
        rows = [{"flips": title} | row for title, noise in sections for row in _compared(results, noise)]
        return tables.noted(pd.DataFrame(rows).set_index("flips"), *error_notes(results), P_VALUES)

    return panels.table(draw)


klr_vs_rklr = _noisy(0.1, 0.2)
klr_vs_rklr_high = _noisy(0.3, 0.4)
rivals = _noisy(0.1)
rivals_high = _noisy(0.3)


@panels.table
def cv_vs_mkl(all_results: Errors) -> pd.DataFrame:
    """List errors on clean labels."""
    results = _of_this_table(all_results)
    noise = "independent 0"
    clean = results.table[results.table["noise"] == noise]
    results = replace(results, tables={results.artifact: clean})
    rows = _compared(results, [noise])
    return tables.noted(pd.DataFrame(rows), *error_notes(results), P_VALUES)


def _compared(results: Errors, noise: list[str]) -> Iterator[dict[str, str]]:
    """List the error of every method next to the published one, and two p-values, by data set.

    The artifact's last method is tested against the best of the others.
    """
    methods = list(results.settings.methods)
    published = list(itertools.chain.from_iterable(results.published_of.values()))
    *others, last = methods
    for name in results.settings.datasets:
        chosen = results.select(dataset=name, noise=noise, metric="error", method=methods)
        values = chosen.set_index(["method", "repetition", "noise"])["value"]
        errors = {method: values[method] for method in methods}
        cells = tables.mean_sd_cells(chosen, methods)
        row = {"data set": data_set(name)}
        where: dict[str, Any] = {"dataset": name, "noise": noise if len(noise) > 1 else noise[0]}
        for method in methods:
            row[method] = cells[method]
            row[f"{method}, published"] = tables.printed(published, method=method, **where)
        rival = min(others, key=lambda method: float(errors[method].mean()))
        if len(others) > 1:
            row[f"{names.method(last)} against"] = rival
        a, b = (errors[method].groupby("repetition").mean() for method in (last, rival))
        unpaired = scipy.stats.mannwhitneyu(errors[last], errors[rival], method="asymptotic")
        row["p unpaired"] = f"{unpaired.pvalue:.2g}"
        row["p paired"] = f"{statistics.signed_rank(a, b.loc[a.index]):.2g}"
        yield row


@panels.table
def cpu_time(results: panels.Results[kernels.TimingSettings]) -> pd.DataFrame:
    """List CPU seconds, ours and published, and their ratios."""
    shown = {method: names.method(method) for method in results.settings.methods}
    methods = list(shown)
    rows = []
    first, last = methods[0], methods[-1]
    for name in results.settings.datasets:
        times = results.select(dataset=name, metric="cpu_seconds", method=methods)
        seconds = times.groupby("method")["value"].agg(["mean", "std"])
        ours = seconds["mean"]
        printed = {}
        row = {"data set": data_set(name)}
        for method in methods:
            text = tables.printed(results.published, dataset=name, method=method)
            printed[method] = float(text.partition(" ")[0] or "nan")
            places = max(0, 2 - math.floor(math.log10(ours[method])))
            row[f"{shown[method]} in s"] = tables.mean_sd(ours[method], seconds["std"][method], places)
            row[f"{shown[method]} in s, published"] = text
        row[f"{shown[first]} / {shown[last]}"] = f"{ours[first] / ours[last]:.1f}"
        row["the same, published"] = _ratio(printed[first], printed[last])
        row |= {f"{shown[m]}: printed / ours": _ratio(printed[m], ours[m]) for m in methods}
        rows.append(row)
    count = results.table["repetition"].nunique()
    return tables.noted(
        pd.DataFrame(rows),
        f"CPU seconds to train on one split, mean ± standard deviation over {count} splits;",
        "ratios are those of the means.",
        *names.notes(results.settings.methods),
        "Printed: Matlab on one 2.67 GHz Intel i5.",
        note_sources(results.table),
    )


def _ratio(a: float, b: float) -> str:
    if a != a:
        return ""
    return f"{a / b:.3g}" if a < 999.5 * b else f"{a / b:.0f}"


@panels.figure
def crowd(results: panels.Results[kernels.AnnotatorsSettings]) -> Figure:
    """Draw accuracy of labels, and of predictions for new items, by the number of annotators."""
    settings = results.settings
    dash: style.Looks = {"linestyle": style.DASHES["dash"], "linewidth": 1}
    titles = {"labels of the training items": "labelled items", "predictions for new items": "new items"}
    columns = [(title, {"metric": "accuracy", "setting": key}) for title, key in titles.items()]
    look: style.Looks = {"y_label": ["accuracy", ""], "height": 2.5, "share_y": "none"}
    figure, cells = panels.facets(results, [("", {})], columns, x_label="annotators per item", **look)
    (left, labelled), (right, new) = cells
    vote = labelled["method"] == "majority vote"
    panels.learning_curves(left, labelled[~vote])
    # the vote is drawn on top, because the equal curve of rMKLR would often hide it
    panels.learning_curves(left, labelled[vote], zorder=4)
    panels.learning_curves(right, new)
    gold = results.select(metric="accuracy", setting="new items and gold labels")
    for method in settings.methods:
        mean = gold.loc[gold["method"] == method, "value"].mean()
        right.axhline(mean, color=style.colour(method), **dash)
    for ax in (left, right):
        ax.set_xticks(settings.annotators)
    entries = panels.handles(panels.methods_in(labelled))
    entries[-1].set_label(f"{entries[-1].get_label()}{_equal_to_vote(labelled)}")
    for method in settings.methods:
        label = f"{style.label(method)} trained on gold labels"
        entries.append(panels.plain_handle(label, **dash, color=style.colour(method)))
    return panels.shared_legend(figure, entries)


def _equal_to_vote(labelled: pd.DataFrame) -> str:
    """Say in the legend that the last method gives the labels of the vote, if so."""
    means = labelled.groupby(["method", "x"])["value"].mean().unstack("x")
    last = means.loc[panels.methods_in(labelled)[-1]]
    apart = (last - means.loc["majority vote"]).to_numpy(float)
    is_equal = np.nanmax(np.abs(apart)) < EQUAL_SHARES
    return " (left: equal to the vote)" if is_equal else ""


EQUAL_SHARES = 0.005
"""Difference of two shares of right labels below which they look equal in the figure."""


@panels.table
def images(results: panels.Results[kernels.SearchSettings]) -> pd.DataFrame:
    """List the test error next to the published one, and how many of the first images are bikes."""
    methods = list(results.settings.methods)
    ranks = results.settings.ranks
    rows = []
    errors = results.select(metric="error", method=methods)
    cells = tables.mean_sd_cells(errors, methods)
    for method in methods:
        found = results.select(metric="positive", method=method)["value"].mean()
        row = {"method": method, "error / %": cells[method]}
        row["published"] = tables.printed(results.published, method=method)
        rows.append(row | {f"bikes among the first {ranks}": f"{ranks * found:.1f}"})
    noise = results.select(metric="noise_share")["value"].mean()
    splits = errors["repetition"].nunique()
    over = f"mean ± standard deviation over {splits} random splits" if splits > 1 else "of one random split"
    return tables.noted(
        pd.DataFrame(rows),
        f"Test error in %, {over}; the lowest {'mean' if splits > 1 else 'error'} is bold.",
        f"{noise:.1f} % of the training labels are wrong.",
    )


@panels.figure
def images_ranked(results: panels.Results[kernels.SearchSettings]) -> Figure:
    """Draw the share of bikes among the first k images of every ranking, with intervals."""
    methods = list(results.settings.methods)
    y_label = "bikes among them / %"
    figure, (ax,) = panels.side_by_side([""], x_label="first images k", y_label=y_label, height=2.4)
    rows = results.select(metric="positive", method=methods).sort_values("x")
    found = rows.groupby(["method", "repetition"])["value"].cumsum()
    panels.learning_curves(ax, rows.assign(value=100 * found / rows["x"]))
    ax.set_ylim(0, 103)
    return panels.shared_legend(figure, panels.handles(methods))


# How near to the published errors each interpretation ("reading") of KLR, rKLR and rKFD is. A cell is one
# published error: data set, share of flips, method. Its distance is our mean minus the published value, its
# verdict by its own interval: within the tolerance, outside it, or inconclusive. "Today's" reading, which
# all other tables use, is the first of a family in the order of the settings.

FAMILIES = {"KLR and rKLR": ("KLR", "rKLR"), "rKFD": ("rKFD",)}
"""Methods that share a reading, by the name of the family."""
MODELS = {"kernel_logistic": "KLR", "robust_kernel_logistic": "rKLR", "robust_kernel_fisher": "rKFD"}
"""Name of a method -> its name on the slides, in lower case also in published files."""
APART = "ida_ringnorm"
"""A data set that alone makes more than half of the distance, so that means also leave it out."""


@panels.table
def distances(results: Errors) -> pd.DataFrame:
    """List distances and verdicts of each reading by family and method, and by halves."""
    found = cells(results)
    halves = two_halves(results.settings.datasets)
    rows = list[dict[str, str]]()
    levels = sorted(found["level"].unique())
    notes = [_about(halves), note_sources(results.table)]
    for family, models in FAMILIES.items():
        own = found[found["model"].isin(models)]
        rows += _section(family, own, halves, levels)
        for model in models if len(models) > 1 else ():
            rows += _section(model, own[own["model"] == model], halves, levels)
        notes += [judgement(family, own, *pair) for pair in (halves, halves[::-1]) if len(own)]
    frame = pd.DataFrame(rows).set_index("method")
    return tables.noted(frame, *notes, *names.notes(results.settings.methods))


@panels.table
def every_cell(results: Errors) -> pd.DataFrame:
    """List each published error with today's reading, and with the one chosen on the other half."""
    found = cells(results)
    halves = two_halves(results.settings.datasets)
    rows = []
    notes = [_about(halves)]
    for family, models in FAMILIES.items():
        own = found[found["model"].isin(models)]
        for other, judged in (halves, halves[::-1]) if len(own) else ():
            reading = chosen(own, other)
            today = own["reading"].iloc[0]
            part = own[own["dataset"].isin(judged)].set_index(["reading", "level", "dataset", "model"])
            for level, dataset, model in part.loc[today].index:
                before, after = (part.loc[(each, level, dataset, model), :] for each in (today, reading))
                row = {"flips": level, "data set": data_set(dataset), "method": model}
                row |= {"published": f"{before['printed']:.2f}", "today's": f"{before['ours']:.2f}"}
                row |= {
                    "its verdict": look_up(str(before["verdict"])).label,
                    "chosen elsewhere": f"{after['ours']:.2f}",
                }
                rows.append(row | {"verdict": look_up(str(after["verdict"])).label})
            notes.append(f"{family}, {_names(judged)}: chosen elsewhere is {reading}.")
    frame = pd.DataFrame(rows).sort_values(["flips", "data set", "method"], kind="stable")
    frame["flips"] = frame["flips"].map(_level)
    return tables.noted(frame.set_index("flips"), *notes, note_sources(results.table))


def cells(results: Errors) -> pd.DataFrame:
    """Compare each reading with each published error that was run, a row for each pair.

    The published values are those of the other artifacts.   Raises RenderError : no published value fits.
    """
    artifact, settings, rows = results.artifact, results.settings, []
    others = (entries for name, entries in results.published_of.items() if name != artifact)
    printed = [(entry, entry["where"]) for entries in others for entry in entries]
    errors = results.table[results.table["metric"] == "error"]
    source = Source.from_table(results.table)
    for method, spec in settings.methods.items():
        model = MODELS[spec.method]
        stuck = source.skewed({"method": method, "metric": "error"})
        run = set(labels(spec.noise or settings.noise)) & set(labels(settings.noise))
        for entry, where in printed:
            noise = [where["noise"]] if isinstance(where["noise"], str) else list(where["noise"])
            fits = where.get("method") == model.lower() and where.get("dataset") in settings.datasets
            if not (fits and set(noise) <= run):
                continue
            place = {"method": method, "dataset": where["dataset"], "noise": noise}
            values = panels.select(errors, artifact, **place).groupby("repetition")["value"].mean()
            ours = statistics.mean_se(values.to_numpy(), stuck == "far")
            se = entry.get("se", entry.get("sd", 0.0) / np.sqrt(entry.get("n", 1)))
            theirs = statistics.Estimate(entry["value"], se, entry["n"] - 1 if "n" in entry else math.inf)
            distance = statistics.welch(ours, theirs)
            row: dict[str, object] = {"model": model, "reading": names.label(settings.methods, method)}
            row |= {"dataset": where["dataset"], "level": float(noise[0].split()[1])}
            row |= {"printed": entry["value"], "ours": ours.mean, "distance": distance.mean}
            # with few runs, a rare one far from the others may be missing
            unseen = stuck and 1 < values.size < SEEN
            rows.append(
                row | {"verdict": INCONCLUSIVE if unseen else judge_distance(distance, entry["margin"])}
            )
    if not rows:
        said = "none of the published values is of a method and noise that was run"
        raise panels.RenderError(f"{artifact}: {said}")
    return pd.DataFrame(rows)


def judge_distance(distance: statistics.Estimate, margin: float) -> str:
    """Decide whether a distance lies within the tolerance or outside it, at 5 % each."""
    if statistics.tost(distance, -margin, margin) < 0.05:
        return REPRODUCED
    return NOT_REPRODUCED if statistics.outside(distance, -margin, margin) < 0.05 else INCONCLUSIVE


def two_halves(datasets: Iterable[str]) -> tuple[list[str], list[str]]:
    """Split data sets into two halves, in turn in alphabetical order."""
    ordered = sorted(datasets)
    return ordered[::2], ordered[1::2]


def chosen(own: pd.DataFrame, datasets: list[str]) -> str:
    """Choose the reading with the smallest mean distance on some data sets, else today's."""
    part = own[own["dataset"].isin(datasets)]
    means = part["distance"].abs().groupby(part["reading"], sort=False).mean()
    return str(own["reading"].iloc[0] if part.empty else means.idxmin())


def judgement(family: str, own: pd.DataFrame, choosing: list[str], judging: list[str]) -> str:
    """Say how well the reading chosen on some data sets does on others, next to today's."""
    reading = chosen(own, choosing)
    today = str(own["reading"].iloc[0])
    part = own[own["dataset"].isin(judging)]
    start = f"{family}, chosen on {_names(choosing)}: {reading}"
    if reading == today or part.empty:
        return start + (", which is today's." if reading == today else ".")
    sizes = part["distance"].abs()
    by_set = sizes.groupby([part["reading"], part["dataset"]]).mean()
    means = sizes.groupby(part["reading"]).mean()
    gain = statistics.mean_se((by_set[reading] - by_set[today]).to_numpy())
    low, high = statistics.t_interval(gain)
    interval = f"95 % interval {low:.2f} to {high:.2f} over" if gain.df > 0 else "no interval for"
    sets = f"{interval} {gain.df + 1:.0f} data set{'s' if gain.df else ''}"
    verdict = "nearer" if high < 0 else "farther" if low > 0 else "neither is shown to be nearer"
    return (
        f"{start}; on the others its mean absolute distance is {means[reading]:.2f} against "
        f"{means[today]:.2f} of today's, on average over sets {gain.mean:+.2f} ({sets}): {verdict}."
    )


def _section(
    title: str, part: pd.DataFrame, halves: tuple[list[str], list[str]], levels: list[float]
) -> Iterator[dict[str, str]]:
    """List the readings; the smallest means of a column are bold."""
    groups = {
        "first half": part["dataset"].isin(halves[0]),
        "second half": part["dataset"].isin(halves[1]),
        "all sets": part["dataset"].notna(),
        f"without {data_set(APART)}": part["dataset"] != APART,
    } | {_level(level): part["level"] == level for level in levels}
    sizes = part["distance"].abs()
    for reading in part["reading"].unique():
        own, row = part[part["reading"] == reading], {"method": title, "reading": reading}
        for column, mask in groups.items():
            means = sizes[mask].groupby(part["reading"]).mean()
            text = f"{means[reading]:.2f}" if reading in means.index else ""
            row[column] = f"**{text}**" if text and means[reading] == means.min() else text
        row["mean, signed"] = f"{own['distance'].mean():+.2f}"
        counts = {verdict: int((own["verdict"] == verdict).sum()) for verdict in OF_A_VALUE}
        yield row | {look_up(verdict).label: str(count) for verdict, count in counts.items()}


def _names(datasets: Iterable[str]) -> str:
    return ", ".join(map(data_set, datasets))


def _level(level: float) -> str:
    return f"{100 * level:g} %" if level else "clean"


def _about(halves: tuple[list[str], list[str]]) -> str:
    return (
        "Distances in points of error; the mean over symmetric and asymmetric flips is compared with the "
        "published value. Verdicts are those of each cell alone; most are "
        "inconclusive because of single runs far from the others. "
        f"First half: {_names(halves[0])}; second half: {_names(halves[1])}. "
        "A reading that was chosen by its distance to print is calibrated: its distance counts on the other "
        "half only."
    )
