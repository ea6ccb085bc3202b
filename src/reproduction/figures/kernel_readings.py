"""How near to print the readings of KLR, rKLR and rKFD are (Kaban and Bootkrajang, LABELNOISE 2017).

A cell is one printed error: data set, share of flips, method. Its distance is our mean minus the printed
value, its state inside, undecided or outside the margin by its own interval. The first reading of a family,
in the order of the settings, is the one that all other tables use: "today's".
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from noisylabels import statistics
from noisylabels.statistics import Estimate
from reproduction.figures import names, panels
from reproduction.figures.kernels import sources
from reproduction.figures.names import data_set
from reproduction.protocols.settings import labels

if TYPE_CHECKING:
    import pandas as pd

    from reproduction.protocols.kernels import ErrorsSettings

FAMILIES = {"KLR and rKLR": ("KLR", "rKLR"), "rKFD": ("rKFD",)}
"""Methods that share a reading."""
MODELS = {"kernel_logistic": "KLR", "robust_kernel_logistic": "rKLR", "robust_kernel_fisher": "rKFD"}
"""Name of a method -> what the slides call it, and, in lower case, the CSV files of printed values."""
STATES = ("inside", "undecided", "outside")
APART = "ida_ringnorm"
"""The set that accounts for more than half of what differs, so that means are shown without it as well."""


@panels.table
def distances(results: panels.Results[ErrorsSettings]) -> pd.DataFrame:
    """A section per family and method, a row per reading: mean distances, states; the choice by halves."""
    import pandas as pd

    found = cells(results)
    halves = two_halves(results.settings.datasets)
    levels = sorted(found["level"].unique())
    rows: list[dict[str, str]] = []
    notes = [_about(halves), sources(results.table)]
    for family, models in FAMILIES.items():
        own = found[found["model"].isin(models)]
        sections = [(family, own), *((m, own[own["model"] == m]) for m in models if len(models) > 1)]
        rows += [
            row for title, part in sections if len(part) for row in _section(title, part, halves, levels)
        ]
        notes += [judgement(family, own, *pair) for pair in (halves, halves[::-1]) if len(own)]
    frame = pd.DataFrame(rows).set_index("method")
    frame.attrs["note"] = " ".join([*filter(None, notes), *names.notes(results.settings.methods)])
    return frame


@panels.table
def every_cell(results: panels.Results[ErrorsSettings]) -> pd.DataFrame:
    """A row per printed error: today's reading, and the one chosen on the half without this data set."""
    import pandas as pd

    found = cells(results)
    halves = two_halves(results.settings.datasets)
    rows, notes = [], [_about(halves)]
    for family, models in FAMILIES.items():
        own = found[found["model"].isin(models)]
        for other, judged in (halves, halves[::-1]) if len(own) else ():
            reading = chosen(own, other)
            part = own[own["dataset"].isin(judged)].set_index(["reading", "level", "dataset", "model"])
            before, after = part.loc[own["reading"].iloc[0]], part.loc[reading]
            rows += [_pair(key, before.loc[key], after.loc[key]) for key in before.index]
            notes.append(f"{family}, {_names(judged)}: chosen elsewhere is {reading}.")
    rows.sort(key=lambda row: (row["level"], row["data set"], row["method"]))
    shown = [{"flips": _flips(row.pop("level"))} | row for row in rows]
    frame = pd.DataFrame(shown).set_index("flips")
    frame.attrs["note"] = " ".join(filter(None, [*notes, sources(results.table)]))
    return frame


def cells(results: panels.Results[ErrorsSettings]) -> pd.DataFrame:
    """A row per reading and printed error that was run: dataset, level, model, reading, printed, ours,
    distance, state.

    The printed values are those of the other artifacts.   Raises RenderError : no printed value fits.
    """
    import pandas as pd

    artifact, settings, table = results.artifact, results.settings, results.table
    printed = [
        entry for name, entries in results.published_of.items() if name != artifact for entry in entries
    ]
    errors = table[table["metric"] == "error"]
    rows = []
    for method, spec in settings.methods.items():
        reading = {"model": MODELS[spec.method], "reading": names.label(settings.methods, method)}
        run = set(labels(spec.noise or settings.noise)) & set(labels(settings.noise))
        for entry in _fitting(printed, reading["model"].lower(), settings.datasets, run):
            where = {"method": method, "dataset": entry["where"]["dataset"], "noise": _noise(entry)}
            rows.append(reading | _cell(entry, panels.select(errors, artifact, **where)))
    if not rows:
        raise panels.RenderError(
            f"{artifact}: none of the printed values is of a method and noise that was run"
        )
    return pd.DataFrame(rows)


def two_halves(datasets: Iterable[str]) -> tuple[list[str], list[str]]:
    """The first, third, ... and the second, fourth, ... data set in alphabetical order."""
    ordered = sorted(datasets)
    return ordered[::2], ordered[1::2]


def chosen(own: pd.DataFrame, datasets: list[str]) -> str:
    """The reading with the smallest mean absolute distance over the cells of the data sets.

    Today's if there are none.
    """
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
    absolute = part["distance"].abs().groupby([part["reading"], part["dataset"]]).mean()
    if absolute.empty:
        return f"{start}."
    gain = statistics.mean_se((absolute[reading] - absolute[today]).to_numpy())
    low, high = statistics.t_interval(gain)
    means = [float(part.loc[part["reading"] == name, "distance"].abs().mean()) for name in (reading, today)]
    interval = f"95 % interval {low:.2f} to {high:.2f} over" if gain.df > 0 else "no interval for"
    sets = f"{interval} {gain.df + 1:.0f} data set{'s' if gain.df else ''}"
    verdict = "nearer" if high < 0 else "farther" if low > 0 else "neither is shown to be nearer"
    return (
        f"{start}; on the others its mean absolute distance is {means[0]:.2f} against {means[1]:.2f} of "
        f"today's, on average over sets {gain.mean:+.2f} ({sets}): {verdict}."
    )


def _fitting(
    printed: list[Mapping[str, Any]], model: str, datasets: list[str], run: set[str]
) -> list[Mapping[str, Any]]:
    """The printed errors of a method on data sets and noise that were run."""
    wheres = ((entry, entry["where"]) for entry in printed)
    return [
        entry
        for entry, where in wheres
        if where.get("method") == model and where.get("dataset") in datasets and set(_noise(entry)) <= run
    ]


def _noise(entry: Mapping[str, Any]) -> list[str]:
    noise = entry["where"]["noise"]
    return [noise] if isinstance(noise, str) else list(noise)


def _cell(entry: Mapping[str, Any], rows: pd.DataFrame) -> dict[str, Any]:
    ours = statistics.mean_se(rows.groupby("repetition")["value"].mean().to_numpy())
    se = entry.get("se", entry.get("sd", 0.0) / np.sqrt(entry.get("n", 1)))
    print_ = Estimate(entry["value"], se, entry["n"] - 1 if "n" in entry else float("inf"))
    distance = statistics.welch(ours, print_)
    return {
        "dataset": entry["where"]["dataset"],
        "level": float(_noise(entry)[0].split()[1]),
        "printed": entry["value"],
        "ours": ours.mean,
        "distance": distance.mean,
        "state": state(distance, entry["margin"]),
    }


def state(distance: Estimate, margin: float) -> str:
    """inside: shown to be within the margin; outside: shown to be beyond it; else undecided; 5 % each."""
    if statistics.tost(distance, -margin, margin) < 0.05:
        return "inside"
    return "outside" if statistics.outside(distance, -margin, margin) < 0.05 else "undecided"


def _section(
    title: str, part: pd.DataFrame, halves: tuple[list[str], list[str]], levels: list[float]
) -> list[dict[str, str]]:
    """A row per reading; the smallest means of a column are bold."""
    groups = {
        "first half": part["dataset"].isin(halves[0]),
        "second half": part["dataset"].isin(halves[1]),
        "all sets": part["dataset"].notna(),
        f"without {data_set(APART)}": part["dataset"] != APART,
    } | {_flips(level): part["level"] == level for level in levels}
    readings = list(part["reading"].unique())
    means = {
        column: part[mask]["distance"].abs().groupby(part["reading"]).mean()
        for column, mask in groups.items()
    }
    rows = []
    for reading in readings:
        own = part[part["reading"] == reading]
        row = {"method": title, "reading": reading}
        row |= {column: _bold(mean, reading) for column, mean in means.items()}
        row["mean, signed"] = f"{own['distance'].mean():+.2f}"
        row |= {word: str(int((own["state"] == word).sum())) for word in STATES}
        rows.append(row)
    return rows


def _bold(means: pd.Series, reading: str) -> str:
    if reading not in means.index:
        return ""
    text = f"{means[reading]:.2f}"
    return f"**{text}**" if means[reading] == means.min() else text


def _pair(key: tuple[float, str, str], before: pd.Series, after: pd.Series) -> dict[str, Any]:
    level, dataset, model = key
    return {
        "level": level,
        "data set": data_set(dataset),
        "method": model,
        "printed": f"{before['printed']:.2f}",
        "today's": f"{before['ours']:.2f}",
        "its state": before["state"],
        "chosen elsewhere": f"{after['ours']:.2f}",
        "state": after["state"],
    }


def _flips(level: float) -> str:
    return f"{100 * level:g} %" if level else "clean"


def _names(datasets: Iterable[str]) -> str:
    return ", ".join(data_set(name) for name in datasets)


def _about(halves: tuple[list[str], list[str]]) -> str:
    return (
        "Distances in points of error; the mean over symmetric and asymmetric flips is compared with the "
        "printed value. inside, undecided, outside: the margin, by the interval of each cell alone. "
        f"First half: {_names(halves[0])}; second half: {_names(halves[1])}. "
        "A reading that was chosen by its distance to print is calibrated: its distance counts on the other "
        "half only."
    )
