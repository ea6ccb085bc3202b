"""A printed value against the rows that it names: the two tests of its state."""

from collections.abc import Mapping
from dataclasses import replace
from math import inf, isclose, isfinite, sqrt
from typing import Any

import pandas as pd

from noisylabels.statistics import Estimate, mean_se, outside, t_interval, tost, welch
from reproduction.verdicts.checks import unnamed
from reproduction.verdicts.findings import Finding, Reading, absent, bar, check_keys, nothing, with_interval
from reproduction.verdicts.names import CELL, MissingRows, VerdictError
from reproduction.verdicts.selection import ROUNDING, by_repetition, select
from reproduction.verdicts.vocabulary import words

KEYS = ("id", "value", "se", "sd", "n", "where", "margin", "reason", "not_comparable")


def printed_mean(entry: Mapping[str, Any]) -> Estimate:
    """The printed mean with its standard error, se or sd/sqrt(n); a number without error counts as exact."""
    if "sd" in entry and "n" not in entry:
        raise VerdictError("sd without n; give n, or the standard error se")
    if "sd" in entry and "se" in entry:
        raise VerdictError("give se or sd, not both")
    se = entry["sd"] / sqrt(entry["n"]) if "sd" in entry else entry.get("se", 0.0)
    return Estimate(float(entry["value"]), float(se), entry["n"] - 1 if se > 0 and "n" in entry else inf)


def examined(rows: pd.DataFrame, entry: Mapping[str, Any], scale: str) -> Finding:
    """What a prepared table says of a printed value.

    Raises
    ------
    VerdictError : an unknown key, a number that is none; at full scale also rows that are missing.
    """
    check_keys(entry, KEYS, ("id", "value", "where", "margin", "reason"))
    printed, margin = printed_mean(entry), float(entry["margin"])
    if not 0 < margin < inf or not isfinite(printed.mean) or not 0 <= printed.se < inf:
        raise VerdictError(
            f"margin must be > 0, it and the printed numbers finite, got {margin:g}, {printed}"
        )
    start = {
        "id": entry["id"],
        "kind": "published",
        "statement": words({key: value for key, value in entry["where"].items() if value != ""}),
        "expected": f"{printed.mean:g} ± {margin:g} ({entry['reason']})",
        "published": printed.mean,
        "margin": margin,
    }
    finding = Finding(start, CELL, lambda *_: nothing(""))
    try:
        chosen = select(rows, entry["where"])
    except MissingRows as error:
        return absent(finding, entry, scale, error)
    unnamed(chosen, {"repetition", *entry["where"]})
    return _compare(finding, chosen, printed, margin, entry.get("not_comparable", ""))


def _compare(
    finding: Finding, chosen: pd.DataFrame, printed: Estimate, margin: float, reason: str
) -> Finding:
    values, left_out = by_repetition(chosen)
    ours = mean_se(values)
    remarks = [f"{left_out} incomplete repetitions left out"] if left_out else []
    n = values.size
    if ours.se == 0:
        remarks.append(f"all {n} repetitions are equal: they count as one")
        ours, n = ours._replace(df=inf), 1
    gap = welch(ours, printed)
    if isclose(ours.mean, printed.mean, rel_tol=ROUNDING):
        gap = gap._replace(mean=0.0)
    settled, why = _settled(gap, margin)
    remarks += [why] if why else []
    interval = t_interval(ours)
    sentence = f"ours {with_interval(ours.mean, interval)} (n = {n}), printed {_plus(printed)}; "
    sentence += f"difference {with_interval(gap.mean, t_interval(gap))}, margin ±{margin:g}"
    stand_in = sorted(set(chosen.loc[chosen["stand_in"], "dataset"]))
    return replace(
        finding,
        read=lambda *_: Reading(ours.mean, interval, n, "; ".join([sentence, *remarks])),
        agree=tost(gap, -margin, margin),
        contra=outside(gap, -margin, margin),
        tested=not settled,
        settled=settled,
        barred=bar(stand_in, reason),
    )


def _settled(gap: Estimate, margin: float) -> tuple[str, str]:
    """(state without a test, why): nothing varies, or nothing says how much it does."""
    inside, undecided, outside = CELL
    within = abs(gap.mean) <= margin
    if gap.df == 0:
        return undecided, f"one realisation, no test; it lies {'within' if within else 'beyond'} the margin"
    if gap.se == 0:
        return inside if within else outside, "compared without a test"
    return "", ""


def _plus(printed: Estimate) -> str:
    return f"{printed.mean:g} (se {printed.se:.2g})" if printed.se > 0 else f"{printed.mean:g}"
