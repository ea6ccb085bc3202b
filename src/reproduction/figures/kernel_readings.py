"""How near to print the readings of KLR, rKLR and rKFD are (Kaban and Bootkrajang, LABELNOISE 2017).

A cell is one printed error: data set, share of flips, method. Its distance is our mean minus the printed
value, its state inside, undecided or outside the margin by its own interval. The first reading of a family,
in the order of the settings, is the one that all other tables use: "today's".
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import numpy as np
import pandas as pd

from noisylabels import statistics
from reproduction.figures import names, panels, tables
from reproduction.figures.kernels import Errors, sources
from reproduction.figures.names import data_set
from reproduction.protocols.settings import labels

FAMILIES = {"KLR and rKLR": ("KLR", "rKLR"), "rKFD": ("rKFD",)}
"""Methods that share a reading."""
MODELS = {"kernel_logistic": "KLR", "robust_kernel_logistic": "rKLR", "robust_kernel_fisher": "rKFD"}
"""Name of a method -> what the slides call it, and, in lower case, the CSV files of printed values."""
APART = "ida_ringnorm"
"""The set that accounts for more than half of what differs, so that means are shown without it as well."""


@panels.table
def distances(results: Errors) -> pd.DataFrame:
    """A section per family and method, a row per reading: mean distances, states; the choice by halves."""
    found, halves = cells(results), two_halves(results.settings.datasets)
    levels = sorted(found["level"].unique())
    rows: list[dict[str, str]] = []
    notes = [_about(halves), sources(results.table)]
    for family, models in FAMILIES.items():
        own = found[found["model"].isin(models)]
        for title in (family, *models) if len(models) > 1 else (family,):
            part = own if title == family else own[own["model"] == title]
            rows += _section(title, part, halves, levels)
        notes += [judgement(family, own, *pair) for pair in (halves, halves[::-1]) if len(own)]
    return tables.noted(
        pd.DataFrame(rows).set_index("method"), *notes, *names.notes(results.settings.methods)
    )


@panels.table
def every_cell(results: Errors) -> pd.DataFrame:
    """A row per printed error: today's reading, and the one chosen on the half without this data set."""
    found, halves = cells(results), two_halves(results.settings.datasets)
    rows, notes = [], [_about(halves)]
    for family, models in FAMILIES.items():
        own = found[found["model"].isin(models)]
        for other, judged in (halves, halves[::-1]) if len(own) else ():
            reading, today = chosen(own, other), own["reading"].iloc[0]
            part = own[own["dataset"].isin(judged)].set_index(["reading", "level", "dataset", "model"])
            for level, dataset, model in part.loc[today].index:
                before, after = (part.loc[(each, level, dataset, model), :] for each in (today, reading))
                row = {"level": level, "data set": data_set(dataset), "method": model}
                row |= {"printed": f"{before['printed']:.2f}", "today's": f"{before['ours']:.2f}"}
                row |= {"its state": before["state"], "chosen elsewhere": f"{after['ours']:.2f}"}
                rows.append(row | {"state": after["state"]})
            notes.append(f"{family}, {_names(judged)}: chosen elsewhere is {reading}.")
    frame = pd.DataFrame(rows).sort_values(["level", "data set", "method"], kind="stable")
    frame["level"] = frame["level"].map(_level)
    return tables.noted(
        frame.rename(columns={"level": "flips"}).set_index("flips"), *notes, sources(results.table)
    )


def cells(results: Errors) -> pd.DataFrame:
    """A row per reading and printed error that was run: dataset, level, model, reading, printed, ours,
    distance, state.

    The printed values are those of the other artifacts.   Raises RenderError : no printed value fits.
    """
    artifact, settings, rows = results.artifact, results.settings, []
    others = (entries for name, entries in results.published_of.items() if name != artifact)
    printed = [(entry, entry["where"]) for entries in others for entry in entries]
    errors = results.table[results.table["metric"] == "error"]
    for method, spec in settings.methods.items():
        model = MODELS[spec.method]
        run = set(labels(spec.noise or settings.noise)) & set(labels(settings.noise))
        for entry, where in printed:
            noise = [where["noise"]] if isinstance(where["noise"], str) else list(where["noise"])
            fits = where.get("method") == model.lower() and where.get("dataset") in settings.datasets
            if fits and set(noise) <= run:
                place = {"method": method, "dataset": where["dataset"], "noise": noise}
                ours = panels.select(errors, artifact, **place).groupby("repetition")["value"].mean()
                row: dict[str, Any] = {"model": model, "reading": names.label(settings.methods, method)}
                row |= {"dataset": where["dataset"], "level": float(noise[0].split()[1])}
                rows.append(row | _distance(entry, statistics.mean_se(ours.to_numpy())))
    if not rows:
        said = "none of the printed values is of a method and noise that was run"
        raise panels.RenderError(f"{artifact}: {said}")
    return pd.DataFrame(rows)


def _distance(entry: Mapping[str, Any], ours: statistics.Estimate) -> dict[str, Any]:
    se = entry.get("se", entry.get("sd", 0.0) / np.sqrt(entry.get("n", 1)))
    print_ = statistics.Estimate(entry["value"], se, entry["n"] - 1 if "n" in entry else float("inf"))
    distance = statistics.welch(ours, print_)
    found = {"printed": entry["value"], "ours": ours.mean, "distance": distance.mean}
    return found | {"state": state(distance, entry["margin"])}


def state(distance: statistics.Estimate, margin: float) -> str:
    """inside: shown to be within the margin; outside: shown to be beyond it; else undecided; 5 % each."""
    if statistics.tost(distance, -margin, margin) < 0.05:
        return "inside"
    return "outside" if statistics.outside(distance, -margin, margin) < 0.05 else "undecided"


def two_halves(datasets: Iterable[str]) -> tuple[list[str], list[str]]:
    """The first, third, ... and the second, fourth, ... data set in alphabetical order."""
    ordered = sorted(datasets)
    return ordered[::2], ordered[1::2]


def chosen(own: pd.DataFrame, datasets: list[str]) -> str:
    """The reading with the smallest mean absolute distance over the cells of the data sets, else today's."""
    part = own[own["dataset"].isin(datasets)]
    if part.empty:
        return str(own["reading"].iloc[0])
    return str(part["distance"].abs().groupby(part["reading"], sort=False).mean().idxmin())


def judgement(family: str, own: pd.DataFrame, choosing: list[str], judging: list[str]) -> str:
    """What the reading chosen on some data sets is worth on others, against today's; a sentence."""
    reading, today = chosen(own, choosing), str(own["reading"].iloc[0])
    part = own[own["dataset"].isin(judging)]
    start = f"{family}, chosen on {_names(choosing)}: {reading}"
    if reading == today:
        return f"{start}, which is today's."
    if part.empty:
        return f"{start}."
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
    """A row per reading; the smallest means of a column are bold."""
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
        counts = {word: str(int((own["state"] == word).sum())) for word in ("inside", "undecided", "outside")}
        yield row | counts


def _names(datasets: Iterable[str]) -> str:
    return ", ".join(map(data_set, datasets))


def _level(level: float) -> str:
    return f"{100 * level:g} %" if level else "clean"


def _about(halves: tuple[list[str], list[str]]) -> str:
    return (
        "Distances in points of error; the mean over symmetric and asymmetric flips is compared with the "
        "printed value. inside, undecided, outside: the margin, by the interval of each cell alone. "
        f"First half: {_names(halves[0])}; second half: {_names(halves[1])}. "
        "A reading that was chosen by its distance to print is calibrated: its distance counts on the other "
        "half only."
    )
