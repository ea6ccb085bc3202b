"""Choose hyperparameters on a sequence that is never used for evaluation.

Criterion: the final cumulative squared error against the clean label, (1/T) sum_t (yhat_t - y_t)^2.
Two modes: "per_variant" tunes every parameter of every method by itself; "shared" tunes the shared
parameter once, on the reference method, gives that value to all methods that have it, and tunes only what
is left.
"""

import dataclasses
import itertools
from collections.abc import Iterable
from typing import Any

import numpy as np

from noisylabels.filters.base import Filter, Floats, NoisySequence
from noisylabels.frame.methods import find

Parameters = dict[str, Any]


def grid(spec: dict[str, Any] | list[float]) -> list[float]:
    """Values of a grid: a list as it is, or ``{log10: [first, last, step]}`` in powers of ten, ends
    included.
    """
    if isinstance(spec, list):
        return [float(value) for value in spec]
    first, last, step = spec["log10"]
    return [float(10.0**e) for e in np.arange(first, last + step / 2, step)]


def build(spec: dict[str, Any], chosen: Parameters) -> Filter:
    """The filter of a method specification ``{method, parameters}`` with its tuned parameters."""
    filter_: Filter = find(spec["method"])(**(spec.get("parameters", {}) | chosen))
    return filter_


def losses(pairs: list[tuple[dict[str, Any], Parameters]], data: NoisySequence, windows: int) -> Floats:
    """Mean squared clean error of many (method specification, parameters) per window; shape (len(pairs),
    windows).

    Filters of one class run together over the same pass. A specification with ``variance: mean`` is told
    the mean variance of the sequence instead of the variance of each label.
    """
    result = np.empty((len(pairs), windows))
    groups: dict[tuple[str, str], list[int]] = {}
    for index, (spec, _) in enumerate(pairs):
        groups.setdefault((spec["method"], spec.get("variance", "local")), []).append(index)
    for (method, variance), members in groups.items():
        told = data if variance == "local" else dataclasses.replace(data, v=np.full(len(data), data.v.mean()))
        filters = [build(*pairs[i]) for i in members]
        result[members] = find(method).losses(filters, told, windows)
    return result


def best(
    spec: dict[str, Any], names: list[str], grids: dict[str, Any], fixed: Parameters, data: NoisySequence
) -> dict[str, Any]:
    """The grid point of the parameters ``names`` with the smallest final error; the first one where several
    tie.

    A grid of the specification itself, ``spec["grids"]``, goes before the common one. Returns parameters
    (tuned and fixed), their error, and which of them sit at an end of their grid.
    """
    own = grids | spec.get("grids", {})
    values = {name: grid(own[name]) for name in names}
    candidates = [dict(zip(names, point, strict=True)) for point in itertools.product(*values.values())]
    errors = losses([(spec, fixed | candidate) for candidate in candidates], data, 1)[:, 0]
    winner = candidates[int(np.argmin(errors))]
    ends = [
        name
        for name in names
        if len(values[name]) > 1 and winner[name] in (values[name][0], values[name][-1])
    ]
    return {"parameters": fixed | winner, "mse": float(errors.min()), "at_end_of_grid": ends}


def tune_all(
    methods: dict[str, dict[str, Any]],
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
        return {label: best(spec, spec.get("tune", []), grids, {}, data) for label, spec in methods.items()}
    if shared is None or shared["reference"] not in methods:
        raise ValueError(
            f"tuning mode {mode!r} needs settings.shared with a reference among {', '.join(methods)}"
        )
    parameter = shared["parameter"]
    reference = best(methods[shared["reference"]], [parameter], grids, {}, data)
    value = {parameter: reference["parameters"][parameter]}
    tuned = {}
    for label, spec in methods.items():
        names = spec.get("tune", [])
        fixed = value if parameter in names else {}
        tuned[label] = best(spec, _without(names, parameter), grids, fixed, data)
    tuned[shared["reference"]]["at_end_of_grid"] += reference["at_end_of_grid"]
    return tuned


def _without(names: Iterable[str], parameter: str) -> list[str]:
    return [name for name in names if name != parameter]
