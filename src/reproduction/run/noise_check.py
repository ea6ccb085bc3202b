"""Trials of users' noise before a run: its share of flips, and whether labels keep their rows.

It is tried on many rows with the shares of classes of the data, in random order. What follows holds
for every noise: equal generators give equal labels, and a label depends on the label of its row and
not on those of its neighbours. A number that is called a rate bounds the share of flips.
"""

from __future__ import annotations

import inspect
import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reproduction.run.splits import read_target
from reproduction.spec.errors_of_users import describe_error
from reproduction.spec.noise_kinds import Target, find_custom
from reproduction.spec.settings import Noise

ROWS = 4000
"""Smallest number of rows on which noise is tried."""
FEWEST = 100
"""Rows of a class below which its share of flips is not compared."""
SEEDS = (0, 1, 2)
ERRORS = 5.0
"""Standard errors beyond which a share is wrong; by chance once in a million tries."""
FEWEST_FLIPS = 25
"""Expected flips up to which noise that changes nothing may be chance."""
SHARE = re.compile(r"\w*(rate|share|prob|fraction)\w*|p|rho|eta|epsilon")
"""Pattern of the names of parameters that are shares of flips."""

Array = NDArray[Any]
Kinds = list[tuple[int, Noise]]
MOVED: Mapping[str, Callable[[Array], Array]] = {
    "of the row before": lambda y: np.roll(y, 1),
    "of the row after": lambda y: np.roll(y, -1),
    "of the rows in reverse order": lambda y: y[::-1],
}
"""Name of a mistake -> the labels that each row then gets."""


def choose_target(targets: Iterable[str]) -> Target:
    """Choose the targets on which to try a noise from those that a protocol declares."""
    declared = set(targets)
    if "real" in declared:
        return "real"
    return "classes" if "classes" in declared else "two classes"


def check_noise(kinds: Kinds, y: Array, target: Target) -> tuple[list[str], list[str]]:
    """Try the kinds of noise that are functions of a paper.

    Parameters
    ----------
    kinds : list of (int, Noise)
        Places in ``settings.noise`` and kinds of noise; those of the engine are passed over.
    y : ndarray of shape (n,)
        Targets of a data set.
    target : str
        What is learned.

    Returns
    -------
    faults, remarks : list of str
        ``settings.noise.<place>: what``. Noise that fails gets a remark: the run names its line.
    """
    faults = []
    remarks = []
    for key, noise in kinds:
        if not noise.custom:
            continue
        clean = make_targets(y, target)
        location = f"settings.noise.{key}: noise {noise.label!r}"
        try:
            fault = next(_list_faults(noise, clean, target), "")
        except (Exception, SystemExit) as error:
            remarks.append(f"{location} was not tried: {describe_error(error)}")
            continue
        if fault:
            faults.append(f"{location} {fault}")
    return faults, remarks


def make_targets(y: Array, target: Target) -> Array:
    """Repeat targets until there are `ROWS`, and put them in random order."""
    values = read_target(np.asarray(y), target)
    times = math.ceil(ROWS / len(values))
    repeated = np.tile(values, times)
    rng = np.random.default_rng(SEEDS[0])
    return rng.permutation(repeated)


def read_shares(noise: Noise) -> dict[str, float]:
    """Read which numbers of a noise are shares of flips, by the names of its parameters."""
    numbers = noise.parameters.values()
    function = find_custom(noise.model, len(numbers))
    names = [*inspect.signature(function).parameters]
    shares = {}
    for name, number in zip(names[2:], numbers, strict=False):
        if SHARE.fullmatch(name):
            shares[name] = number
    return shares


def _list_faults(noise: Noise, clean: Array, target: Target) -> Iterator[str]:
    """Yield the faults of a noise; causes come before their consequences."""
    shares = {} if target == "real" else read_shares(noise)
    for name, number in shares.items():
        if not 0 <= number <= 1:
            yield f"has {name} = {number:g}; a share of flips is from 0 to 1"
    draws = [_observe(noise, clean, seed, target) for seed in SEEDS]
    repeated = _observe(noise, clean, SEEDS[0], target)
    if not np.array_equal(draws[0], repeated):
        yield "differs from call to call; draw every random number from its argument rng"
    if np.array_equal(draws[0], np.sort(draws[0])) and len(np.unique(draws[0])) > 1:
        yield "returns the labels in order; keep every label at its row"
    for origin, move in MOVED.items():
        if _follows(draws[0], move(clean), clean):
            yield f"gives rows the labels {origin}; keep every label at its row"
    changed = np.mean([observed != clean for observed in draws], axis=0)
    has_numbers = any(noise.parameters.values()) or not noise.parameters
    expected_flips = max(shares.values(), default=1.0) * len(clean)
    if has_numbers and not changed.any() and expected_flips > FEWEST_FLIPS:
        yield "changes nothing; return the observed labels"
    if shares:
        name = max(shares, key=lambda share: shares[share])
        yield from _compare_with_rate(changed, clean, shares[name], name)


def _observe(noise: Noise, clean: Array, seed: int, target: Target) -> Array:
    return noise.observe(clean, np.random.default_rng(seed), target)


def _follows(observed: Array, moved: Array, clean: Array) -> bool:
    """Decide whether labels follow those of other rows more than their own."""
    if observed.std() == 0 or clean.std() == 0:
        return False
    with_clean = np.corrcoef(observed, clean)[0, 1]
    with_moved = np.corrcoef(observed, moved)[0, 1]
    error = 1 / np.sqrt(len(observed))
    return bool(with_moved > max(with_clean, 0.0) + ERRORS * error)


def _compare_with_rate(changed: Array, clean: Array, rate: float, name: str) -> Iterator[str]:
    """Compare the share of flips with the largest rate of the noise.

    Of all rows at most that share is flipped. In some class it is at least half of the rate: where
    a label is drawn again, it is the old one in at most half of the cases.
    """
    share = changed.mean()
    remedy = f"correct it, or call `{name}` something else if it is not a share of flips"
    spread = ERRORS * np.sqrt(rate * (1 - rate) / len(SEEDS))
    rounding = 1 / len(clean)
    if share > rate + spread / np.sqrt(len(clean)) + rounding:
        yield f"flips {100 * share:.0f} % of the labels, more than {100 * rate:g} %; {remedy}"
    largest = 0.0
    for label in np.unique(clean):
        members = clean == label
        if members.sum() >= FEWEST:
            upper = changed[members].mean() + spread / np.sqrt(members.sum())
            largest = max(largest, float(upper))
    if largest < rate / 2:
        change = f"flips {100 * share:.0f} % of the labels"
        yield f"{change}, less than half of {100 * rate:g} %; {remedy}"
