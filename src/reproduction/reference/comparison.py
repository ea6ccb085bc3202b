"""Another run beside the reference: how equal each result is, and what differs in where it was made."""

from collections import Counter
from pathlib import Path
from typing import NamedTuple

import numpy as np

from reproduction.plan import Plan
from reproduction.reference import runs
from reproduction.reference.runs import Run
from reproduction.results import verify

ROUNDING = 1e-6
"""Difference of a mean, against its scale, up to which another order of operations explains it."""

NOTHING = 1e-9
"""The smallest scale: where all of a metric is smaller than this, it is rounding and nothing else."""

PROVENANCE = ("seed", "processor", "simd", "system", "python", "blas", "blas_kernel", "packages")
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
            found = compared(ours, reference, bool(artifact.measured))
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
    apart, metric = distance(ours, reference)
    if np.isinf(apart):
        return Comparison(DIFFERENT, "the table has other rows; the verdicts are the same")
    far = f"a mean of {metric} differs most, by {apart:.1e} of its scale"
    return Comparison(ROUNDED if apart <= ROUNDING else JUDGED, far)


def moves(ours: Run, reference: Run) -> list[tuple[str, str, str]]:
    """(id, verdict of the reference, ours) where they differ."""
    was, now = ({row["id"]: row["verdict"] for row in run.verdicts} for run in (reference, ours))
    return _changes(was, now)


def _changes(was: dict[str, str], now: dict[str, str]) -> list[tuple[str, str, str]]:
    every = {key: (was.get(key, "none"), now.get(key, "none")) for key in {**was, **now}}
    return [(key, a, b) for key, (a, b) in every.items() if a != b]


def _listed(moved: list[tuple[str, str, str]]) -> str:
    listed = "; ".join(f"{name}: {was} -> {now}" for name, was, now in moved[:5])
    return listed + (f" and {len(moved) - 5} more" if len(moved) > 5 else "")


def distance(ours: Run, reference: Run) -> tuple[float, str]:
    """max |m - m_ref| / scale over the rows of the summaries, and its metric; inf where they have other rows.

    scale = max(|m|, |m_ref|, median |m_ref| of that metric's rows which are not 0, `NOTHING`): a difference
    of equal numbers, 1e-16 here and 2e-16 there, is none.
    """
    if ours.table is None or reference.table is None:
        return np.inf, ""
    a, b = runs.read_summary(ours.table), runs.read_summary(reference.table)
    texts = runs.KEY[:-1]
    if len(a) != len(b) or (a[texts].to_numpy() != b[texts].to_numpy()).any():
        return np.inf, ""
    if not np.allclose(a["x"], b["x"], rtol=1e-9, equal_nan=True):
        return np.inf, ""
    x, y = a["mean"].to_numpy(float), b["mean"].to_numpy(float)
    typical = b["mean"].abs().where(y != 0).groupby(b["metric"]).transform("median").fillna(NOTHING)
    apart = np.abs(x - y) / np.max([np.abs(x), np.abs(y), typical, np.full(len(x), NOTHING)], axis=0)
    return float(apart.max()), str(b["metric"].iloc[np.argmax(apart)])


def differences(ours: Run, reference: Run) -> list[str]:
    """What differs in where the two were made: ``processor: AMD EPYC -> Intel Xeon``.

    A reference may be older than a key of the provenance.
    """
    changes = _changes(_flat(reference), _flat(ours))
    known = {key for run in (reference, ours) for key in PROVENANCE if key not in run.provenance}
    return [f"{key}: {was} -> {now}" for key, was, now in changes if key not in known]


def _flat(run: Run) -> dict[str, str]:
    made = run.provenance
    flat = {key: str(made.get(key, "")) for key in PROVENANCE if key != "packages"}
    flat |= {f"package {name}": version for name, version in made.get("packages", {}).items()}
    flat |= {f"variant of {name}": variant for name, variant in made.get("data_variant", {}).items()}
    digests = made.get("data_sha256", {})
    return flat | {f"data {name.removesuffix('.npz')}": digest[:12] for name, digest in digests.items()}
