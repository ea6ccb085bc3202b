"""The words of a check: its keys, and whether they make sense together."""

import math
from collections.abc import Mapping
from typing import Any

from reproduction.verdicts.names import (
    INDEX,
    PAIRED,
    RATIO_OF_DIFFERENCES,
    STATISTICS,
    VerdictError,
    listed,
)

Check = Mapping[str, Any]

BOUNDS = ("below", "above", "within", "increasing", "decreasing")
KEYS = ("statistic", "of", "a", "b", "base", "where", *BOUNDS, "for_each", "at_least", "rows")
TRENDS = ("increasing", "decreasing")


def trend_of(check: Check) -> str | None:
    """``increasing`` or ``decreasing``, if the check asks for a trend."""
    return next((key for key in TRENDS if key in check), None)


def validate(check: Check) -> None:
    """Reject what cannot be judged, before any row is read.

    Raises
    ------
    VerdictError : names the offending key and lists what is allowed.
    """
    statistic = check.get("statistic")
    if unknown := [key for key in check if key not in KEYS]:
        raise VerdictError(f"unknown key {unknown[0]!r}; a check has {', '.join(KEYS)}")
    if statistic not in STATISTICS:
        raise VerdictError(f"unknown statistic {statistic!r}; statistics are {', '.join(STATISTICS)}")
    bounds = [key for key in BOUNDS if key in check]
    if len(bounds) != 1:
        raise VerdictError(
            f"needs exactly one of {', '.join(BOUNDS)} (two bounds: within), got {bounds or 'none'}"
        )
    if statistic in PAIRED and not ("a" in check and "b" in check):
        raise VerdictError(f"{statistic} compares the selectors a and b; give both")
    if statistic not in PAIRED and "b" in check:
        raise VerdictError(f"{statistic} has no b; use one of {', '.join(PAIRED)}")
    if check.get("rows", "mean") not in ("mean", "every"):
        raise VerdictError(f"unknown rows: {check['rows']!r}; use mean or every")
    _validate_base(check, bounds[0])
    _validate_bound(check, bounds[0])
    _validate_trend(check, bounds[0])
    _validate_groups(check)


def _validate_base(check: Check, bound: str) -> None:
    """A ratio of differences is one of means: a single row has none, and steps of it mean nothing."""
    if (check["statistic"] == RATIO_OF_DIFFERENCES) != ("base" in check):
        raise VerdictError(f"base and {RATIO_OF_DIFFERENCES} go together: (a - base) / (b - base)")
    if "base" in check and (bound in TRENDS or check.get("rows") == "every" or check["b"] == "x"):
        raise VerdictError(f"{RATIO_OF_DIFFERENCES} takes a selector b and below, above or within")


def validate_theorem(claim: Mapping[str, Any]) -> None:
    """A theorem is not tested: a single row that violates it would contradict it.

    Raises
    ------
    VerdictError : a claim with ``theorem`` and a check that averages.
    """
    tested = [i for i, check in enumerate(claim["checks"], start=1) if check.get("rows") != "every"]
    if claim.get("theorem") and tested:
        raise VerdictError(f"check {tested[0]} is a test; a theorem holds in every row: give it rows: every")


def _validate_bound(check: Check, bound: str) -> None:
    """A bound that every number meets, or none, would make a verdict without a test."""
    if bound in TRENDS:
        return
    ends = listed(check[bound])
    for end in ends:
        if isinstance(end, bool) or not isinstance(end, int | float) or not math.isfinite(end):
            raise VerdictError(f"{bound}: {end!r} is no finite number")
    if len(ends) != (2 if bound == "within" else 1) or ends[0] > ends[-1]:
        form = "[low, high] with low <= high" if bound == "within" else "one number"
        raise VerdictError(f"{bound}: {check[bound]} is not {form}")


def _validate_trend(check: Check, bound: str) -> None:
    if bound not in TRENDS:
        return
    if check["statistic"] == "relative_se":
        raise VerdictError(f"relative_se cannot be {bound}; give it a bound")
    if len(check[bound]) != 1 or len(next(iter(check[bound].values()))) < 2:
        raise VerdictError(f"{bound}: names one column and at least two of its values in order")
    column = next(iter(check[bound]))
    for part in ("a", "b", "where"):
        if column in check.get(part, {}):
            raise VerdictError(f"{bound}: {column} is also fixed by {part}; name it once")
    if column in check.get("for_each", []):
        raise VerdictError(f"{bound}: {column} is also in for_each; name it once")


def _validate_groups(check: Check) -> None:
    columns = check.get("for_each", [])
    if "at_least" in check and not columns:
        raise VerdictError("at_least counts groups; say which with for_each")
    a, b = check.get("a", {}), check.get("b", {})
    for column in columns:
        if column not in INDEX or column == "repetition":
            raise VerdictError(
                f"for_each: unknown column {column!r}; groups are made by columns other than repetition"
            )
        given = [side[column] for side in (a, b) if isinstance(side, Mapping) and column in side]
        if given and not any(isinstance(value, list) for value in given):
            raise VerdictError(f"for_each: {column} is fixed by a and b; list its values on one side")
