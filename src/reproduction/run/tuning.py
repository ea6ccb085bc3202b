"""Adaptive filters in settings, and their hyperparameters, chosen on a sequence that is never scored.

Criterion: the final cumulative squared error against the clean label, (1/T) sum_t (yhat_t - y_t)^2.
Search: every second value of each grid first; then from the best of these to the best of its neighbours on
the full grid, until no neighbour is better. Where the error has one valley, that is the minimum over the grid
at a quarter of its points (two parameters).
Two modes: "per_variant" tunes every parameter of every method; "shared_r" tunes the shared parameter once, on
the reference method, gives that value to all methods that tune it, and tunes only what is left.
"""

import dataclasses
import itertools
from collections.abc import Callable, Iterable, Mapping
from typing import Annotated, Any, ClassVar, Literal, Self, TypedDict, TypeVar

import numpy as np
from pydantic import Field, model_validator

from noisylabels.filters.base import NoisySequence
from noisylabels.validation import Floats
from reproduction.run.protocol_loop import Loop, Repetition
from reproduction.spec.settings import Method, Methods, Model, Repeated, Some, among, check_keywords

T = TypeVar("T")
Mode = Literal["shared_r", "per_variant"]
Parameters = Mapping[str, float]
POINTS = 10_000
"""Steps that a grid may have."""


class PowersOfTen(Model):
    """10^first, 10^(first + step), ..., both ends included."""

    log10: Annotated[list[float], Field(min_length=3, max_length=3, description="first, last, step")]

    @model_validator(mode="after")
    def _sensible(self) -> Self:
        (first, last, step), wrong = self.log10, ""
        if step == 0 or (last - first) / step < 0:
            wrong = f"step {step:g} does not lead from {first:g} to {last:g}"
        elif (last - first) / step > POINTS:
            wrong = f"{(last - first) / step:.3g} steps, {POINTS} are allowed"
        elif max(abs(first), abs(last)) > 300:
            wrong = f"10^{first:g} to 10^{last:g} leaves the range of numbers"
        if wrong:
            raise ValueError(f"log10: {wrong}; log10 is [first, last, step], powers of ten")
        return self


Grid = Some[float] | PowersOfTen
Grids = Annotated[dict[str, Grid], Field(description="parameter -> its values")]


class TunedFilter(Method):
    """An adaptive filter and how to tune it."""

    kind: ClassVar[str] = "filters"
    tune: list[str] = Field([], description="parameters chosen from grids")
    grids: Grids = Field({}, description="grids of this method only")

    def check(self) -> None:
        """See `Method.check`; a filter runs sequences."""
        user = "an experiment with adaptive filters"
        self.require("losses", user, "inherit it from `noisylabels.filters.base.Filter`")
        check_keywords(self.cls, self.parameters, self.tune)


class FilterMethod(TunedFilter):
    """A filter of an experiment with label noise of known variance."""

    variance: Literal["local", "mean"] = Field(
        "local", description="knows the variance of each label, or only their mean"
    )


class Shared(Model):
    """A parameter that is tuned once for all methods."""

    parameter: str
    reference: str = Field(description="label of the method on which the shared parameter is tuned")


class FilterSettings(Repeated):
    """Settings of an experiment with tuned filters."""

    grids: Grids = Field({}, description="parameter -> its values")
    shared: Shared | None = None
    methods: Methods[FilterMethod]

    @model_validator(mode="after")
    def _can_be_tuned(self) -> Self:
        check_grids(self.methods, self.grids)
        if self.shared is not None:
            among("shared.reference", [self.shared.reference], self.methods)
            among("shared.parameter", [self.shared.parameter], self.methods[self.shared.reference].tune)
        return self

    def check_mode(self, modes: Iterable[Mode]) -> None:
        """Raise ValueError if a parameter is to be shared, and the settings do not name it."""
        if "shared_r" in modes and self.shared is None:
            raise ValueError("shared: the mode shared_r needs {parameter: ..., reference: a method}")


def check_grids(methods: Mapping[str, TunedFilter], common: Mapping[str, Grid]) -> None:
    """Raise ValueError for a tuned parameter without a grid."""
    for label, method in methods.items():
        grids = {**common, **method.grids}
        for name in method.tune:
            place = f"methods.{label}.tune: {name!r}"
            if name not in grids:
                known = ", ".join(grids) or "none"
                raise ValueError(f"{place} has no grid; add it to `grids`, which has {known}")
            if name in method.parameters:
                raise ValueError(f"{place} is fixed by `parameters` too; keep one")


class Found(TypedDict):
    """Tuned and fixed parameters, their error, and which of them are at an end of their grid."""

    parameters: dict[str, float]
    mse: float
    at_end_of_grid: list[str]


def grid_values(grid: Grid) -> list[float]:
    """The values of a grid."""
    if isinstance(grid, list):
        return [float(value) for value in grid]
    first, last, step = grid.log10
    return [float(10.0**e) for e in np.arange(first, last + step / 2, step)]


def tuned_apart(loop: Loop, repetitions: int, tune_on: Callable[[Repetition], T]) -> dict[str, T]:
    """``{repetition: what tune_on finds}`` on a sequence of its own, "tuning 0", ..., that is never scored.

    So the repetitions are independent as a whole: an interval over them holds for the tuning as well.
    """
    return {str(k): tune_on(Repetition(loop.seeds, f"tuning {k}", {})) for k in range(repetitions)}


def losses(pairs: list[tuple[FilterMethod, Parameters]], data: NoisySequence, windows: int) -> Floats:
    """Mean squared clean error of many (method, tuned parameters) per window, (len(pairs), windows).

    Filters of one class run together over the same pass. A method with ``variance: mean`` gets the mean
    variance of the sequence instead of the variance of each label.
    """
    result = np.empty((len(pairs), windows))
    groups: dict[tuple[Any, str], list[int]] = {}
    for index, (method, _) in enumerate(pairs):
        groups.setdefault((method.cls, method.variance), []).append(index)
    for (cls, variance), members in groups.items():
        mean = np.full(len(data), data.v.mean())
        given = dataclasses.replace(data, v=mean) if variance == "mean" else data
        built = [method.build(**chosen) for method, chosen in (pairs[i] for i in members)]
        result[members] = cls.losses(built, given, windows)
    return result


def best(
    method: FilterMethod, names: list[str], grids: Mapping[str, Grid], fixed: Parameters, data: NoisySequence
) -> Found:
    """The grid point of the parameters ``names`` that no neighbour beats; of equal ones, the first.

    Grids of the method replace the common ones.
    """
    values = [grid_values(method.grids.get(name) or grids[name]) for name in names]
    lengths = [len(v) for v in values]
    error: dict[tuple[int, ...], float] = {}

    def at(point: tuple[int, ...]) -> dict[str, float]:
        return {**fixed, **{name: values[k][i] for k, (name, i) in enumerate(zip(names, point, strict=True))}}

    def lowest(axes: Iterable[Iterable[int]]) -> tuple[int, ...]:
        asked = sorted(itertools.product(*axes))
        new = [point for point in asked if point not in error]
        errors = losses([(method, at(point)) for point in new], data, 1)[:, 0]
        errors[np.isnan(errors)] = np.inf  # a filter that diverged
        error.update(zip(new, errors.tolist(), strict=True))
        return min(asked, key=error.__getitem__)

    better, winner = lowest({*range(0, length, 2), length - 1} for length in lengths), None
    while better != winner:  # diagonal neighbours too
        winner = better
        sides = zip(winner, lengths, strict=True)
        better = lowest(range(max(0, i - 1), min(length, i + 2)) for i, length in sides)
    placed = zip(names, lengths, better, strict=True)
    ends = [name for name, length, i in placed if length > 1 and i in (0, length - 1)]
    return {"parameters": at(better), "mse": error[better], "at_end_of_grid": ends}


def tune_all(settings: FilterSettings, mode: Mode, data: NoisySequence) -> dict[str, Found]:
    """Tuned parameters of every method."""
    methods, grids, shared = settings.methods, settings.grids, settings.shared
    if mode == "per_variant" or shared is None:
        return {label: best(method, method.tune, grids, {}, data) for label, method in methods.items()}
    reference = best(methods[shared.reference], [shared.parameter], grids, {}, data)
    value = {shared.parameter: reference["parameters"][shared.parameter]}
    tuned = {}
    for label, method in methods.items():
        left = [name for name in method.tune if name != shared.parameter]
        tuned[label] = best(method, left, grids, value if shared.parameter in method.tune else {}, data)
    tuned[shared.reference]["at_end_of_grid"] += reference["at_end_of_grid"]
    return tuned
