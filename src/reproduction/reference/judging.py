"""Judge what is kept again: after a changed margin, bound, published value or wording, without a run."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd

from noisylabels.statistics import Estimate
from reproduction.reference import runs
from reproduction.reference.runs import Row, rows_of
from reproduction.verdicts import judge
from reproduction.verdicts.agreement import agreement
from reproduction.verdicts.estimates import Cell, Estimates, Measured, digest, of_rows, unnamed
from reproduction.verdicts.names import NOT_JUDGED, MissingRows
from reproduction.verdicts.selection import prepare, select


class Judged(NamedTuple):
    """Verdicts of an artifact, and their agreement with the paper."""

    verdicts: pd.DataFrame
    agreement: pd.DataFrame


def judged(
    content: Mapping[str, Any], estimates: Sequence[Row], kept: Sequence[Row], means: Path | None = None
) -> Judged:
    """What follows now from estimates that were kept, and for claims without any from verdicts.

    means : the summary of the result table, for published values that were added since.
    """
    found = of_rows(estimates)
    if means and means.is_file():
        found = _with_new_values(content, found, means)
    frame = judge.decide(content, found, "full", kept)
    constant = {
        row["id"]: float(row["constant_error"] or "nan") for row in kept if row["kind"] == "published"
    }
    frame["constant_error"] = [constant.get(name, float("nan")) for name in frame["id"]]
    return Judged(frame, agreement(frame.assign(paper="", artifact="")))


def _with_new_values(content: Mapping[str, Any], found: Estimates, means: Path) -> Estimates:
    """Estimates of the published values that name one row of a summary."""
    for entry in content.get("published") or []:
        asked = {"where": entry["where"]}
        known = found.get((entry["id"], 0))
        if known and known.what == digest(asked):
            continue
        rows = prepare(runs.read_summary(means).assign(repetition=0).rename(columns={"mean": "value"}))
        try:
            chosen = select(rows, entry["where"])
        except MissingRows as error:
            found[entry["id"], 0] = Measured(digest(asked), missing=str(error))
            continue
        unnamed(chosen, {"repetition", *entry["where"]})
        if len(chosen) == 1:
            row = runs.read_summary(means).loc[chosen.index[0]]
            estimate = Estimate(float(row["mean"]), float(row["se"]), int(row["n"]) - 1)
            substitutes = list(chosen.loc[chosen["stand_in"], "dataset"])
            cell = Cell({}, "mean", int(row["n"]), 0, estimate)
            found[entry["id"], 0] = Measured(digest(asked), [[cell]], substitutes)
    return found


def not_judged(content: Mapping[str, Any], estimates: Sequence[Row], kept: Sequence[Row]) -> list[str]:
    """Published values and claims that cannot be judged."""
    frame = judged(content, estimates, kept).verdicts
    return list(frame.loc[frame["verdict"] == NOT_JUDGED, "id"])


def write(found: Judged, name: str, folder: Path) -> None:
    """The verdicts of an artifact ``<paper>/<artifact>`` and their agreement in the folder that keeps it."""
    paper, _, artifact = name.partition("/")
    for table, frame in (("verdicts", found.verdicts), ("agreement", found.agreement)):
        file = folder / f"{table}.csv"
        if frame.empty:
            file.unlink(missing_ok=True)
            continue
        plain = frame.drop(columns=["paper", "artifact"], errors="ignore")
        plain.insert(0, "paper", paper)
        plain.insert(1, "artifact", artifact)
        judge.write(plain, file)


def again(content: Mapping[str, Any], folder: Path) -> Judged:
    """The same of what a folder of the reference keeps."""
    estimates, kept = rows_of(folder / "estimates.csv"), rows_of(folder / "verdicts.csv")
    return judged(content, estimates, kept, folder / "summary.csv")


def moved(content: Mapping[str, Any], folder: Path) -> tuple[list[str], list[str]]:
    """(published values and claims whose kept verdict is not what follows now, those that need a run)."""
    frame = again(content, folder).verdicts
    before = {row["id"]: row for row in rows_of(folder / "verdicts.csv")}
    now = {row["id"]: row for row in frame.to_dict("records")}
    keys = ("verdict", "statement", "expected", "reason", "margin", "published")
    changed = [
        name
        for name in {**before, **now}
        if name not in before or name not in now or any(_text(now[name][k]) != before[name][k] for k in keys)
    ]
    return changed, [name for name, row in now.items() if row["verdict"] == NOT_JUDGED]


def _text(value: Any) -> str:
    """A value as `judge.write` writes it."""
    if isinstance(value, str):
        return value
    return "" if value != value else f"{value:.6g}"
