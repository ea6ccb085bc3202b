"""An audit in plain words: what was found, and what the data cannot tell."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from noisylabels.auditing.audit import Audit

FEW = 200
NEAR_HALF = 0.4
RARE = 0.1

BIAS = (
    "The flip rates are biased, and no interval shows it. The confident joint counts overlap of the classes "
    "as flips: where they overlap its rates are too high. The model's own rates are too low, often 0: a "
    "flexible model takes flips for shape. Reviewed rows settle it (`--review 100`, in Python "
    "`noisylabels.review`), and so does a column of verified labels (`--trusted`)."
)


def lines(found: Audit) -> list[str]:
    """The report, a paragraph a line."""
    notes = [f"The table: {note}." for note in found.notes]
    if not found.informative:
        return [headline(found), *same(found), *notes]
    told = [headline(found), certainty(found), *same(found), *rates(found), BIAS, ranking(found)]
    return [*told, *methods(found), *doubts(found), *notes]


def headline(found: Audit, reviewed: str = "") -> str:
    """What labels alone can say of how many are wrong; ``reviewed`` : what rows say that were looked at."""
    count, best = found.counts.sum(), found.accuracies.iloc[0]
    begin = f"{count} labels of {len(found.classes)} classes."
    if not found.informative:
        return (
            f"{begin} These columns say nothing about the label: no model orders the labels better than "
            f"chance (the best is right for {percent(best['accuracy'])} of them, always saying "
            f"{found.classes[found.counts.argmax()]} for {percent(found.counts.max() / count)}). So which "
            "labels are wrong cannot be known from these columns."
        )
    first = "There is evidence of wrong labels." if found.evidence.any() else "No evidence of wrong labels."
    if reviewed:
        return f"{begin} {reviewed}"
    top, guess = found.bounds[1], min(found.guess, found.bounds[1])
    return (
        f"{begin} {first} The labels by themselves allow any share of wrong ones from 0 % to {percent(top)} "
        "(the upper end at 95 % confidence, if flips depend on the class alone). A guess within that range "
        f"is {percent(guess)}: no interval is known to cover it until rows are reviewed."
    )


def same(found: Audit) -> Iterator[str]:
    """Rows that contradict each other."""
    near = found.conflicts["nearly"].astype(bool)
    if pairs := int(near.sum()) // 2:
        yield f"{pairs} pairs of rows are nearly equal and have different labels."
    if rows := int((~near).sum()):
        groups = found.conflicts["like"][~near].nunique()
        many = " So many that the columns lack something the labels depend on." * (
            rows > int(found.counts.sum()) / 5
        )
        yield f"{rows} rows have the contents of another row and a different label ({groups} groups).{many}"


def certainty(found: Audit) -> str:
    """Whether there is evidence of flips at all."""
    surest = found.sureness
    if not found.evidence.any():
        return (
            f"No evidence of flips: where {found.model} is surest, {surest.disagree.sum()} of "
            f"{surest.rows.sum()} labels disagree with it. What looks wrong elsewhere may be overlap of the "
            "classes."
        )
    told = ", ".join(
        f"{surest.disagree[j]} of {surest.rows[j]} for {found.classes[j]}"
        for j in np.flatnonzero(found.evidence)
    )
    return (
        f"Evidence of wrong labels: even where {found.model} is surest of a class, labels disagree ({told}). "
        "Only flips do that, or classes that overlap everywhere."
    )


def rates(found: Audit) -> Iterator[str]:
    """The most frequent confusion, and what trusted labels say."""
    off = off_diagonal(found)
    most = max(off, key=lambda row: float(row["anchor"]))
    yield (
        f"Perhaps the most frequent: {most['true']} labelled {most['observed']}, {percent(most['anchor'])} "
        f"of class {most['true']} by the anchor estimate."
    )
    for row in off:
        if not np.isnan(row.get("trusted", np.nan)):
            between = f"{percent(row['trusted_low'])} to {percent(row['trusted_high'])}"
            share = f"{percent(row['trusted'])} of class {row['true']} ({between})"
            yield f"By trusted labels: {row['true']} labelled {row['observed']}, {share}."


def ranking(found: Audit) -> str:
    """What to do with the ranked list."""
    return (
        f"{len(found.suspicious)} labels are listed as suspicious. Look at them from the top: the order is "
        "more to be trusted than the number."
    )


def methods(found: Audit) -> Iterator[str]:
    """Which method is the most accurate, and whether that means anything."""
    table = found.accuracies
    if len(table) < 2:
        return
    best = table.iloc[0]
    tied = ", ".join(table["method"][1:][table["behind_low"][1:] <= 0]) or "none"
    yield (
        f"On the observed labels {best['method']} is the most accurate ({percent(best['accuracy'])}); not to "
        f"be told from it at 95 %: {tied}."
    )
    if table["corrected"].isna().any():
        yield "Accuracies on the true labels cannot be told: with flips this frequent a correction blows up."
    elif table["clipped"].any():
        yield "Some corrected accuracies lay above 100 % and were clipped: the flip rates are then too high."


def doubts(found: Audit) -> Iterator[str]:
    """Why these data in particular say little."""
    shares = found.counts / found.counts.sum()
    if found.counts.sum() < FEW:
        yield f"Only {found.counts.sum()} rows: intervals are wide, and so is what they do not show."
    if shares.min() < RARE:
        rare = found.classes[shares.argmin()]
        yield f"Class {rare} is rare ({percent(shares.min())}): what is said of it rests on few rows."
    if max(row["estimate"] for row in off_diagonal(found)) > NEAR_HALF:
        yield (
            "A flip rate is near one half. Beyond it two classes have changed names, which no method can "
            "tell from the labels alone."
        )


def percent(share: float) -> str:
    """``12 %``, below ten with a decimal."""
    value = 100.0 * float(share)
    return f"{value:.0f} %" if value >= 10 or value == 0 else f"{value:.1f} %"


def off_diagonal(found: Audit) -> list[dict[Any, Any]]:
    """The flip rates of wrong labels."""
    return [row for row in found.flip_rates.to_dict("records") if row["true"] != row["observed"]]
