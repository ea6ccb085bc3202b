"""Choose hyperparameters on a sequence that is never used for evaluation.

Criterion: the final cumulative squared error against the clean label, (1/T) sum_t (yhat_t - y_t)^2.
Search: every second value of each grid first; then from the best of these to the best of its neighbours on
the full grid, until no neighbour is better. Where the error has one valley, that is the minimum over the grid
at a quarter of its points (two parameters).
Two modes: "per_variant" tunes every parameter of every method by itself; "shared" tunes the shared parameter
once, on the reference method, gives that value to all methods that have it, and tunes only what is left.
"""

import dataclasses
import itertools
from collections.abc import Iterable
from typing import Any

import numpy as np

from noisylabels.bases.contracts import RunsSequences, require
from noisylabels.filters.base import NoisySequence
from noisylabels.validation import Floats
from reproduction.protocols.specs import Spec, specs

Parameters = dict[str, Any]
Pair = tuple[Spec, Parameters]
"""A filter of the settings and its tuned parameters."""
Index = tuple[int, ...]
"""A point of the grids: one index for each tuned parameter."""


def filters(settings: dict[str, Any]) -> dict[str, Spec]:
    """The methods ``{label: {method, parameters, tune, grids, variance}}`` of the settings, checked.

    Raises ValueError : an unknown method or parameter, a class that is no filter,
    a tuned parameter without a grid.
    """
    methods = specs(settings["methods"])
    for spec in methods.values():
        user = "an experiment with adaptive filters"
        require(
            spec.cls, RunsSequences, spec.label, user, "inherit it from `noisylabels.filters.base.Filter`"
        )
        tuned = spec.options.get("tune", [])
        spec.check(tuned)
        grids = settings.get("grids", {}) | spec.options.get("grids", {})
        for name in tuned:
            if name not in grids:
                raise ValueError(
                    f"method {spec.label}: tunes {name}, which has no grid; add it to `grids`, which has "
                    f"{', '.join(grids) or 'none'}"
                )
    return methods


def grid_values(spec: dict[str, Any] | list[float]) -> list[float]:
    """A list as it is, or ``{log10: [first, last, step]}`` in powers of ten, ends included."""
    if isinstance(spec, list):
        return [float(value) for value in spec]
    first, last, step = spec["log10"]
    return [float(10.0**e) for e in np.arange(first, last + step / 2, step)]


def losses(pairs: list[Pair], data: NoisySequence, windows: int) -> Floats:
    """Mean squared clean error of many (method, parameters) per window, (len(pairs), windows).

    Filters of one class run together over the same pass. A method with ``variance: mean`` is told the mean
    variance of the sequence instead of the variance of each label.
    """
    result = np.empty((len(pairs), windows))
    groups: dict[tuple[Any, str], list[int]] = {}
    for index, (spec, _) in enumerate(pairs):
        groups.setdefault((spec.cls, spec.options.get("variance", "local")), []).append(index)
    for (cls, variance), members in groups.items():
        told = data if variance == "local" else dataclasses.replace(data, v=np.full(len(data), data.v.mean()))
        built = [spec.build(**chosen) for spec, chosen in (pairs[i] for i in members)]
        result[members] = cls.losses(built, told, windows)
    return result


def best(
    spec: Spec, names: list[str], grids: dict[str, Any], fixed: Parameters, data: NoisySequence
) -> dict[str, Any]:
    """The grid point of the parameters ``names`` that no neighbour beats; of equal ones, the first.

    A grid of the method's own goes before the common one. Returns parameters (tuned and fixed), their error,
    and which of them sit at an end of their grid.
    """
    own = grids | spec.options.get("grids", {})
    values = [grid_values(own[name]) for name in names]
    error: dict[Index, float] = {}

    def at(point: Index) -> Parameters:
        return fixed | {name: values[k][i] for k, (name, i) in enumerate(zip(names, point, strict=True))}

    def lowest(points: Iterable[Index]) -> Index:
        asked = sorted(points)
        new = [point for point in asked if point not in error]
        errors = losses([(spec, at(point)) for point in new], data, 1)[:, 0]
        errors[np.isnan(errors)] = np.inf  # a filter that diverged
        error.update(zip(new, errors.tolist(), strict=True))
        return min(asked, key=error.__getitem__)

    winner = lowest(_coarse([len(v) for v in values]))
    while (better := lowest(_around(winner, [len(v) for v in values]))) != winner:
        winner = better
    ends = [n for n, v, i in zip(names, values, winner, strict=True) if len(v) > 1 and i in (0, len(v) - 1)]
    return {"parameters": at(winner), "mse": error[winner], "at_end_of_grid": ends}


def _coarse(lengths: list[int]) -> list[Index]:
    """Every second index of each grid, and its last."""
    return list(itertools.product(*({*range(0, length, 2), length - 1} for length in lengths)))


def _around(point: Index, lengths: list[int]) -> list[Index]:
    """The point and its neighbours, diagonal ones too."""
    return list(
        itertools.product(
            *(range(max(0, i - 1), min(length, i + 2)) for i, length in zip(point, lengths, strict=True))
        )
    )


def tune_all(
    methods: dict[str, Spec],
    grids: dict[str, Any],
    mode: str,
    shared: dict[str, str] | None,
    data: NoisySequence,
) -> dict[str, dict[str, Any]]:
    """Tuned parameters of every method, ``{label: {parameters, mse, at_end_of_grid}}``.

    Raises
    ------
    ValueError : the mode "shared" without a shared parameter, or whose reference is not among the methods.
    """
    if mode == "per_variant":
        return {
            label: best(spec, spec.options.get("tune", []), grids, {}, data)
            for label, spec in methods.items()
        }
    if shared is None or shared["reference"] not in methods:
        raise ValueError(
            f"tuning mode {mode!r} needs settings.shared with a reference among {', '.join(methods)}"
        )
    parameter = shared["parameter"]
    reference = best(methods[shared["reference"]], [parameter], grids, {}, data)
    value = {parameter: reference["parameters"][parameter]}
    tuned = {}
    for label, spec in methods.items():
        names = spec.options.get("tune", [])
        fixed = value if parameter in names else {}
        tuned[label] = best(spec, _without(names, parameter), grids, fixed, data)
    tuned[shared["reference"]]["at_end_of_grid"] += reference["at_end_of_grid"]
    return tuned


def _without(names: Iterable[str], parameter: str) -> list[str]:
    return [name for name in names if name != parameter]
