"""Another run beside the reference: how equal each result is, and what differs in where it was made."""

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from reproduction.plan import Plan
from reproduction.reference import runs, summary
from reproduction.reference.runs import Run
from reproduction.results import verify

if TYPE_CHECKING:
    import pandas as pd

ROUNDING = 1e-6
"""Relative difference of a mean up to which another order of operations explains it."""

PROVENANCE = ("seed", "processor", "system", "python", "blas", "packages")
"""What may explain a difference; the commit is not among them, it changes with every edit of a text."""

EQUAL, ROUNDED, JUDGED, DIFFERENT, OTHER, MISSING = (
    "equal to the last digit",
    "equal within rounding",
    "same verdicts",
    "different",
    "other settings",
    "not in the reference",
)


class Comparison(NamedTuple):
    """``state`` is one of the six words; ``detail`` says how far, or which verdicts moved."""

    state: str
    detail: str = ""


def report(made: Plan, root: Path, home: Path) -> tuple[list[str], bool]:
    """A line for every result below ``root``, their count, what differs around them; is one different?"""
    lines, states, causes = [], Counter[str](), Counter[str]()
    for name, artifact in made.shown.items():
        ours, reference = runs.own(made, name, root), runs.reference(name, home)
        if ours.table is None:
            continue
        try:
            verify(ours.table)
        except ValueError as error:
            found = Comparison(DIFFERENT, str(error))
        else:
            found = compared(ours, reference, bool(artifact.content.get("measured")))
        states[found.state] += 1
        lines.append(f"{name:34} {found.state}" + (f" ({found.detail})" if found.detail else ""))
        causes.update(differences(ours, reference) if reference else [])
    if not lines:
        return [f"there are no results in {root / made.results}"], True
    lines += ["", ", ".join(f"{count} {state}" for state, count in states.most_common())]
    lines += ["what differs around them:" if causes else "made in the same place with the same versions"]
    lines += [f"  {cause} (in {count} results)" for cause, count in causes.most_common()]
    return lines, bool(states[DIFFERENT])


def compared(ours: Run, reference: Run, timed: bool = False) -> Comparison:
    """How a run of an artifact compares with the reference.

    timed : its table holds measured times, so that only the verdicts can agree.
    """
    if not reference:
        return Comparison(MISSING)
    if ours.provenance.get("settings_sha256") != reference.provenance.get("settings_sha256"):
        return Comparison(OTHER, "reduced, or changed since the reference was made")
    moved = moves(ours, reference)
    if moved:
        return Comparison(DIFFERENT, _listed(moved))
    if ours.provenance.get("table_sha256") == reference.provenance.get("table_sha256"):
        return Comparison(EQUAL)
    if timed:
        return Comparison(JUDGED, "measured times differ from run to run")
    apart = distance(ours, reference)
    if np.isinf(apart):
        return Comparison(DIFFERENT, "the table has other rows; the verdicts are the same")
    far = f"largest relative difference of a mean {apart:.1e}"
    return Comparison(ROUNDED if apart <= ROUNDING else JUDGED, far)


def moves(ours: Run, reference: Run) -> list[tuple[str, str, str]]:
    """(id, verdict of the reference, ours) where they differ."""
    was, now = ({row["id"]: row["verdict"] for row in run.verdicts} for run in (reference, ours))
    every = {name: (was.get(name, "none"), now.get(name, "none")) for name in {**was, **now}}
    return [(name, a, b) for name, (a, b) in every.items() if a != b]


def _listed(moved: list[tuple[str, str, str]]) -> str:
    told = "; ".join(f"{name}: {was} -> {now}" for name, was, now in moved[:5])
    return told + (f" and {len(moved) - 5} more" if len(moved) > 5 else "")


def distance(ours: Run, reference: Run) -> float:
    """max |m - m_ref| / max(|m|, |m_ref|) over the rows of the summaries; inf where they have other rows."""
    if ours.table is None or reference.table is None:
        return np.inf
    a, b = summary.read(ours.table), summary.read(reference.table)
    if not _same_rows(a, b):
        return np.inf
    x, y = a["mean"].to_numpy(), b["mean"].to_numpy()
    largest = np.maximum(np.abs(x), np.abs(y))
    apart = np.divide(np.abs(x - y), largest, out=np.zeros_like(x), where=largest > 0)
    return float(apart.max(initial=0.0))


def _same_rows(a: "pd.DataFrame", b: "pd.DataFrame") -> bool:
    if len(a) != len(b) or (a[summary.TEXT].to_numpy() != b[summary.TEXT].to_numpy()).any():
        return False
    return bool(np.allclose(a["x"], b["x"], rtol=1e-9, equal_nan=True))


def differences(ours: Run, reference: Run) -> list[str]:
    """What differs in where the two were made: ``processor: AMD EPYC -> Intel Xeon``."""
    a, b = _flat(reference), _flat(ours)
    every = {key: (a.get(key, "none"), b.get(key, "none")) for key in {**a, **b}}
    return [f"{key}: {was} -> {now}" for key, (was, now) in every.items() if was != now]


def _flat(run: Run) -> dict[str, str]:
    told = {key: str(run.provenance.get(key, "")) for key in PROVENANCE if key != "packages"}
    told |= {f"package {name}": version for name, version in run.provenance.get("packages", {}).items()}
    variants = run.provenance.get("data_variant", {})
    told |= {f"variant of {name}": variant for name, variant in variants.items()}
    digests = run.provenance.get("data_sha256", {})
    return told | {f"data {name.removesuffix('.npz')}": digest[:12] for name, digest in digests.items()}
