"""Adaptive filters in settings, with hyperparameters tuned on a sequence that is not scored.

Criterion: the final cumulative squared error against the clean label,
(1/T) sum_t (yhat_t - y_t)^2.

Search: every second value of each grid first; then from the best of these to the best of its
neighbours on the full grid, until no neighbour is better. Where the error has one valley, that is
the minimum over the grid at a quarter of its points (two parameters).

Two modes: "per_variant" tunes every parameter of every method; "shared_r" tunes the shared
parameter once, on the reference method, gives that value to all methods that tune it, and tunes
only what is left.
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
from reproduction.spec.settings import Method, Methods, Model, Repeated, Some, among

T = TypeVar("T")
Mode = Literal["shared_r", "per_variant"]
Parameters = Mapping[str, float]
Point = tuple[int, ...]
POINTS = 10_000
"""Largest number of steps in a grid."""
LARGEST_POWER = 300
"""Largest power of ten in a grid; numbers end near 10^308."""


class PowersOfTen(Model):
    """A grid of powers of ten, both ends included.

    10^first, 10^(first + step), ..., both ends included.
    """

    log10: Annotated[
        list[float],
        Field(min_length=3, max_length=3, description="first, last, step"),
    ]

    @model_validator(mode="after")
    def _sensible(self) -> Self:
        first, last, step = self.log10
        fault = ""
        if step == 0 or (last - first) / step < 0:
            fault = f"step {step:g} does not lead from {first:g} to {last:g}"
        elif (last - first) / step > POINTS:
            steps = (last - first) / step
            fault = f"{steps:.3g} steps, {POINTS} are allowed"
        elif max(abs(first), abs(last)) > LARGEST_POWER:
            fault = f"10^{first:g} to 10^{last:g} leaves the range of numbers"
        if fault:
            raise ValueError(f"log10: {fault}; log10 is [first, last, step], powers of ten")
        return self


Grid = Some[float] | PowersOfTen
Grids = Annotated[dict[str, Grid], Field(description="parameter -> its values")]


class TunedFilter(Method):
    """Settings of an adaptive filter and of its tuning."""

    kind: ClassVar[str] = "filters"
    tune: list[str] = Field([], description="parameters chosen from grids")
    grids: Grids = Field({}, description="grids of this method only")

    def check(self) -> None:
        """Check the class, which must be a filter of sequences."""
        user = "an experiment with adaptive filters"
        self.require("losses", user, "inherit it from `noisylabels.filters.base.Filter`")
        from reproduction.spec.class_check import check_keywords

        check_keywords(self.cls, self.parameters, self.tune)


class FilterMethod(TunedFilter):
    """Settings of a filter in an experiment with label noise of known variance."""

    variance: Literal["local", "mean"] = Field(
        "local", description="knows the variance of each label, or only their mean"
    )


class Shared(Model):
    """Settings of a parameter that is tuned once for all methods."""

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
            reference = self.methods[self.shared.reference]
            among("shared.parameter", [self.shared.parameter], reference.tune)
        return self

    def check_mode(self, modes: Iterable[Mode]) -> None:
        """Refuse a shared parameter that the settings do not name."""
        if "shared_r" in modes and self.shared is None:
            form = "{parameter: ..., reference: a method}"
            raise ValueError(f"shared: the mode shared_r needs {form}")


def check_grids(methods: Mapping[str, TunedFilter], common: Mapping[str, Grid]) -> None:
    """Refuse a tuned parameter without a grid."""
    for label, method in methods.items():
        grids = {**common, **method.grids}
        for name in method.tune:
            parameter = f"methods.{label}.tune: {name!r}"
            if name not in grids:
                names = ", ".join(grids) or "none"
                raise ValueError(f"{parameter} has no grid; add it to `grids`, which has {names}")
            if name in method.parameters:
                raise ValueError(f"{parameter} is fixed by `parameters` too; keep one")


class Found(TypedDict):
    """Tuned and fixed parameters, their error, and which of them are at the end of their grid."""

    parameters: dict[str, float]
    mse: float
    at_end_of_grid: list[str]


def grid_values(grid: Grid) -> list[float]:
    """Compute the values of a grid."""
    if isinstance(grid, list):
        return [float(value) for value in grid]
    first, last, step = grid.log10
    exponents = np.arange(first, last + step / 2, step)
    return [float(10.0**exponent) for exponent in exponents]


def tuned_apart(
    loop: Loop,
    repetitions: int,
    tune_on: Callable[[Repetition], T],
) -> dict[str, T]:
    """Tune once for each repetition, on a separate sequence that is never scored.

    These are the sequences "tuning 0", "tuning 1", .... So the repetitions are independent as a
    whole: an interval over them holds for the tuning as well.
    """
    tuned = {}
    for number in range(repetitions):
        repetition = Repetition(loop.seeds, f"tuning {number}", {})
        tuned[str(number)] = tune_on(repetition)
    return tuned


def losses(
    pairs: list[tuple[FilterMethod, Parameters]],
    data: NoisySequence,
    windows: int,
) -> Floats:
    """Measure the squared clean error of many methods and parameters in each window.

    Filters of one class run together over the same pass. A method with ``variance: mean`` gets the
    mean variance of the sequence instead of the variance of each label.

    Returns
    -------
    ndarray of shape (len(pairs), windows)
    """
    result = np.empty((len(pairs), windows))
    groups: dict[tuple[Any, str], list[int]] = {}
    for index, (method, _) in enumerate(pairs):
        groups.setdefault((method.cls, method.variance), []).append(index)
    for (cls, variance), members in groups.items():
        sequence = data
        if variance == "mean":
            mean = np.full(len(data), data.v.mean())
            sequence = dataclasses.replace(data, v=mean)
        filters = []
        for index in members:
            method, parameters = pairs[index]
            filters.append(method.build(**parameters))
        result[members] = cls.losses(filters, sequence, windows)
    return result


class _Search:
    """The errors at the points of a grid, each computed once.

    A point is a tuple with the index of a value in the grid of each parameter.
    """

    def __init__(
        self,
        method: FilterMethod,
        names: list[str],
        grids: list[list[float]],
        fixed: Parameters,
        data: NoisySequence,
    ) -> None:
        self.method = method
        self.names = names
        self.grids = grids
        self.fixed = fixed
        self.data = data
        self.lengths = [len(values) for values in grids]
        self.errors: dict[Point, float] = {}

    def parameters(self, point: Point) -> dict[str, float]:
        parameters = dict(self.fixed)
        for name, values, index in zip(self.names, self.grids, point, strict=True):
            parameters[name] = values[index]
        return parameters

    def lowest(self, axes: Iterable[Iterable[int]]) -> Point:
        """Find the point with the lowest error among those that the axes span.

        Of equal ones it is the first.
        """
        points = sorted(itertools.product(*axes))
        new = [point for point in points if point not in self.errors]
        pairs: list[tuple[FilterMethod, Parameters]] = []
        for point in new:
            pairs.append((self.method, self.parameters(point)))
        errors = losses(pairs, self.data, 1)[:, 0]
        errors[np.isnan(errors)] = np.inf  # the filter diverged
        self.errors.update(zip(new, errors.tolist(), strict=True))
        return min(points, key=self.errors.__getitem__)

    def coarse_axes(self) -> list[set[int]]:
        """Take every second index of each grid, and its last one."""
        return [{*range(0, length, 2), length - 1} for length in self.lengths]

    def neighbours(self, point: Point) -> list[range]:
        """List a point and its neighbours, also the diagonal ones, by axes."""
        axes = []
        for index, length in zip(point, self.lengths, strict=True):
            axes.append(range(max(0, index - 1), min(length, index + 2)))
        return axes

    def at_end_of_grid(self, point: Point) -> list[str]:
        """List the parameters whose value is the first or the last of several."""
        names = []
        for name, index, length in zip(self.names, point, self.lengths, strict=True):
            if length > 1 and index in (0, length - 1):
                names.append(name)
        return names


def best(
    method: FilterMethod,
    names: list[str],
    grids: Mapping[str, Grid],
    fixed: Parameters,
    data: NoisySequence,
) -> Found:
    """Find the grid point that no neighbour beats; of equal ones, the first.

    Grids of the method replace the common ones.
    """
    values = [grid_values(method.grids.get(name) or grids[name]) for name in names]
    search = _Search(method, names, values, fixed, data)
    winner = None
    better = search.lowest(search.coarse_axes())
    while better != winner:
        winner = better
        better = search.lowest(search.neighbours(winner))
    return {
        "parameters": search.parameters(better),
        "mse": search.errors[better],
        "at_end_of_grid": search.at_end_of_grid(better),
    }


def tune_all(settings: FilterSettings, mode: Mode, data: NoisySequence) -> dict[str, Found]:
    """Look up the tuned parameters of every method."""
    methods = settings.methods
    grids = settings.grids
    shared = settings.shared
    tuned = {}
    if mode == "per_variant" or shared is None:
        for label, method in methods.items():
            tuned[label] = best(method, method.tune, grids, {}, data)
        return tuned
    reference = best(methods[shared.reference], [shared.parameter], grids, {}, data)
    value = reference["parameters"][shared.parameter]
    for label, method in methods.items():
        names = [name for name in method.tune if name != shared.parameter]
        fixed = {shared.parameter: value} if shared.parameter in method.tune else {}
        tuned[label] = best(method, names, grids, fixed, data)
    tuned[shared.reference]["at_end_of_grid"] += reference["at_end_of_grid"]
    return tuned
