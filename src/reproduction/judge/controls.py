"""Strength of claims: their power if the paper is right, and how many other methods pass.

Power is simulated. The repetitions of each published cell are moved to its published value, then
drawn again with replacement, and the checks of the claim are tested on each draw. A claim has a
power only if all rows that it compares have a published value.
"""

from collections.abc import Collection, Mapping, Sequence
from copy import deepcopy
from math import sqrt
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.special import nctdtr, stdtr, stdtrit

from noisylabels.statistics import holm
from reproduction.judge.check_statistics import RATIO_OF_DIFFERENCES, STATISTICS
from reproduction.judge.claims import (
    Asked,
    VerdictError,
    count_needed,
    counts_losses,
    listed,
    trend_of,
)
from reproduction.judge.estimates import Bound, Source, by_repetition, cells_of, grouped, select

Vector = NDArray[np.float64]

SEED = 20170925
"""Seed of the simulation, so that a verdict is the same on every machine."""
DRAWS = 400
"""Number of simulated runs for each claim, for a standard error of at most 0.025."""
TOO_STRICT_BELOW = 0.5
"""Power below which a check is too strict to reproduce a claim."""
LEVEL = 0.05
POWER = 0.8
"""Power of a test that has enough repetitions."""


# Power


class _Cell(NamedTuple):
    """Mean that is compared with a bound, by repetition: the value, and for a ratio the divisor."""

    check: Asked
    bound: Bound
    values: Vector
    divisors: Vector | None


def simulate_power(
    artifact: Asked,
    source: Source,
    p_values: Mapping[str, float],
    counts: Collection[str] = (),
) -> dict[str, float]:
    """Simulate how often each claim would be reproduced if the published values were exactly true.

    Parameters
    ----------
    artifact : mapping
        The claims, and the published values with their selectors.
    source : Source
        The result table.
    p_values : mapping of str to float
        The p-values of the claims that Holm's correction takes together. Claims that are not
        simulated keep theirs.
    counts : collection of str
        The claims that count significant losses, which no correction touches.

    Returns
    -------
    dict of str to float
        Id of a claim -> share of the simulated runs in which it is reproduced. Claims that do not
        rest on published values alone are left out.
    """
    moved = _move_to_published(artifact, source.rows)
    if moved is None:
        return {}
    rows, pools = moved
    world = source._replace(rows=rows)
    draws: dict[int, NDArray[np.int64]] = {}
    simulated: dict[str, Vector] = {}
    for claim in artifact.get("claims") or []:
        checks = _find_cells(claim, world, pools)
        if claim["id"] in {*p_values, *counts} and checks:
            for size in _sizes(checks) - draws.keys():
                rng = np.random.default_rng([SEED, size])  # not changed by other claims
                draws[size] = rng.integers(0, size, (DRAWS, size))
            p_of_checks = [_test_check(groups, needed, draws) for groups, needed in checks]
            simulated[claim["id"]] = np.max(p_of_checks, axis=0)
    return _count_reproduced(simulated, p_values)


def _sizes(checks: Sequence[tuple[list[list[_Cell]], int]]) -> set[int]:
    """Return the numbers of repetitions of all cells."""
    sizes: set[int] = set()
    for groups, _ in checks:
        for group in groups:
            sizes.update(cell.values.size for cell in group)
    return sizes


def _count_reproduced(
    simulated: Mapping[str, Vector],
    p_values: Mapping[str, float],
) -> dict[str, float]:
    """Compute the share of draws in which each claim is significant after Holm's correction.

    The claims without a p-value are not corrected.
    """
    shares = {claim: float((p < LEVEL).mean()) for claim, p in simulated.items()}
    family = list(p_values)
    if shares.keys().isdisjoint(p_values):
        return shares
    columns = [simulated.get(claim, np.full(DRAWS, p_values[claim])) for claim in family]
    adjusted = np.array([holm(draw) for draw in np.column_stack(columns)])
    shares_of_family = (adjusted < LEVEL).mean(axis=0).tolist()
    for claim, share in zip(family, shares_of_family, strict=True):
        if claim in simulated:
            shares[claim] = share
    return shares


def _move_to_published(
    artifact: Asked, rows: pd.DataFrame
) -> tuple[pd.DataFrame, list[frozenset[str]]] | None:
    """Move each published cell of a table to its value, and list kinds of noise that are pooled.

    The column ``stand_in`` marks the rows without a published value. None without any value.
    """
    rows = rows.reset_index(drop=True)
    moved = rows["value"].copy()
    is_published = pd.Series(False, index=rows.index)
    pools: list[frozenset[str]] = []
    for entry in artifact.get("published") or []:
        selector = entry["where"]
        if entry.get("not_comparable") or isinstance(selector.get("dataset"), list):
            continue  # a mean over several sets repeats the cells of its sets
        try:
            cell = select(rows, selector)
            ours = by_repetition(cell)[0].mean()
        except VerdictError:
            continue
        new = cell.index[~is_published[cell.index]]
        moved[new] += entry["value"] - ours
        is_published[new] = True
        if isinstance(selector.get("noise"), list):
            pools.append(frozenset(map(str, selector["noise"])))
    if not is_published.any():
        return None
    return rows.assign(value=moved, stand_in=~is_published), pools


def _find_cells(
    claim: Asked, world: Source, pools: Sequence[frozenset[str]]
) -> list[tuple[list[list[_Cell]], int]]:
    """List for each check its groups of cells and how many of them must pass.

    The list is empty if a row has no published value.
    """
    cells_of_checks = []
    for check in claim["checks"]:
        try:
            rows, groups = grouped(world, check)
            parts = [_split_cells(part, check) for _, part in groups]
        except VerdictError:
            return []
        are_whole = all(_has_whole_pools(part, pools) for _, part in groups)
        if rows["stand_in"].any() or not are_whole:
            return []
        cells = []
        for group in parts:
            cells.append([_make_cell(part, check) for part in group])
        cells_of_checks.append((cells, count_needed(check, len(cells))))
    return cells_of_checks


def _has_whole_pools(rows: pd.DataFrame, pools: Sequence[frozenset[str]]) -> bool:
    """Decide whether kinds of noise with one published mean are compared as one mean."""
    kinds = set(map(str, rows["noise"].unique()))
    return all(pool <= kinds for pool in pools if pool & kinds)


def _split_cells(rows: pd.DataFrame, check: Asked) -> list[pd.DataFrame]:
    return [part for _, part in cells_of(rows, check)]


def _make_cell(rows: pd.DataFrame, check: Asked) -> _Cell:
    if check.get("rows") == "every":
        return _Cell(check, Bound.from_check(check), rows["value"].to_numpy(float), None)
    divisors = None
    if check["statistic"] == RATIO_OF_DIFFERENCES:
        divisors = by_repetition(rows.assign(value=rows["divisor"]))[0]
    return _Cell(check, Bound.from_check(check), by_repetition(rows)[0], divisors)


def _test_check(
    groups: Sequence[Sequence[_Cell]], needed: int, draws: Mapping[int, NDArray[np.int64]]
) -> Vector:
    """Compute the p-value of a check in each draw, from the number of groups that must pass."""
    of_groups = []
    for group in groups:
        of_cells = [_test_cell(cell, draws) for cell in group]
        of_groups.append(np.max(of_cells, axis=0))
    ordered = np.sort(of_groups, axis=0)
    factor = len(groups) - needed + 1
    return np.minimum(1.0, factor * ordered[needed - 1])


def _test_cell(cell: _Cell, draws: Mapping[int, NDArray[np.int64]]) -> Vector:
    """Compute the p-value of a cell in each draw, which is small where the bound is met."""
    low, high = cell.bound.low, cell.bound.high
    if cell.check.get("rows") == "every":
        return np.full(DRAWS, 0.0 if cell.bound.met(cell.values).all() else 1.0)
    values = cell.values[draws[cell.values.size]]
    if counts_losses(cell.check):
        level = cell.check["level"]
        if not can_find_losses(cell.values, level):
            return np.ones(DRAWS)
        p_of_loss = _p_below(-values)
        return np.where(p_of_loss < level / 2, 1.0, 0.0)
    reduction = STATISTICS[cell.check["statistic"]].reduction
    if reduction is not None:
        numbers = np.apply_along_axis(reduction.compute, 1, values)
        return np.where(cell.bound.met(numbers), 0.0, 1.0)
    sides: list[Vector] = []
    if cell.divisors is None:
        if np.isfinite(high):
            sides.append(_p_below(values - high))
        if np.isfinite(low):
            sides.append(_p_below(low - values))
    else:
        divisors = cell.divisors[draws[cell.divisors.size]]
        sides.append(_p_below(-divisors))
        if np.isfinite(high):
            sides.append(_p_below(values - high * divisors))
        if np.isfinite(low):
            sides.append(_p_below(low * divisors - values))
    return np.max(sides, axis=0)


def can_find_losses(values: Vector, level: float) -> bool:
    """Decide whether there are enough repetitions to say that a mean is not above 0.

    A two-sided t-test must find a mean of one standard deviation in 80 % of the runs. Where all
    repetitions are equal, nothing is left to chance.
    """
    n = values.size
    if n < 2:
        return False
    if (values == values[0]).all():
        return True
    critical = stdtrit(n - 1, 1 - level / 2)
    return bool(1 - nctdtr(n - 1, sqrt(n), critical) >= POWER)


def _p_below(values: Vector) -> Vector:
    """Compute one-sided p-values of paired t-tests, a row for each."""
    n = values.shape[1]
    if n == 1:
        return np.ones(len(values))
    mean = values.mean(axis=1)
    se = _standard_error(values)
    t = np.divide(mean, se, out=np.zeros_like(mean), where=se > 0)
    without_spread = np.where(mean < 0, 0.0, 1.0)
    return np.where(se > 0, stdtr(n - 1, t), without_spread)


def _standard_error(values: Vector) -> Vector:
    n = values.shape[1]
    spread: Vector = values.std(axis=1, ddof=1) / np.sqrt(n)
    return spread


# Other methods that pass


def replace_method(claim: Asked, methods: Sequence[str]) -> list[dict[str, Any]]:
    """Write the claim for each other method of the result in place of the one that it is about.

    Parameters
    ----------
    claim : mapping
        A claim as its file has it.
    known : sequence of str
        The methods of the result table.

    Returns
    -------
    list of dict
        A claim for each other method; empty if the checks name no method, or order methods, or if
        the methods of its rows are quantities (``no_others``).
    """
    if claim.get("no_others"):
        return []
    tested: set[str] = set()
    for check in claim["checks"]:
        if "method" in check.get(trend_of(check) or "", {}):
            return []
        tested.update(_methods_under_test(check))
    if not tested:
        return []
    variants = []
    for method in methods:
        if method not in tested:
            checks = [_with_method(check, method) for check in claim["checks"]]
            if all(checks):
                variants.append({**claim, "checks": checks})
    return variants


def _methods_under_test(check: Asked) -> list[str]:
    of_side = check.get("a", {}).get("method")
    if of_side is None and "b" not in check:
        of_side = check.get("where", {}).get("method")
    return [] if of_side is None else list(map(str, listed(of_side)))


def _with_method(check: Asked, method: str) -> dict[str, Any]:
    """Write the check for another method; empty if nothing is left to compare it with."""
    changed: dict[str, Any] = deepcopy(dict(check))
    if "method" in changed.get("a", {}):
        changed["a"]["method"] = method
    elif "b" not in changed and "method" in changed.get("where", {}):
        changed["where"]["method"] = method
    other_side = changed.get("b")
    if isinstance(other_side, Mapping) and "method" in other_side:
        left = [name for name in listed(other_side["method"]) if name != method]
        if not left:
            return {}
        changed["b"]["method"] = left if isinstance(other_side["method"], list) else left[0]
    return changed
