"""Kernel methods as settings name them: what is cross-validated, over which widths and parameters."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from noisylabels.bases.contracts import FitsDistances, FitsMany, require
from reproduction.protocols.kernels.data import Array, Labels
from reproduction.protocols.kernels.validation import SELECTIONS
from reproduction.protocols.specs import Spec, specs


@dataclass(frozen=True)
class Method:
    """A method of the settings.

    spec : label, class, and parameters: keyword arguments of `fit_many`, `fit_distances` or the class.
    selection : one of `SELECTIONS`, "" for none.   widths, grid : candidates.
    conditions : numbers of the noise conditions that it is run on; None: all.
    """

    spec: Spec
    selection: str
    widths: Array
    grid: Array
    conditions: tuple[int, ...] | None = None

    @property
    def label(self) -> str:
        """Its name in the result table."""
        return self.spec.label

    def columns(self, noisy: Labels) -> list[int]:
        """Its columns of the labels (n, L)."""
        return list(range(noisy.shape[1]) if self.conditions is None else self.conditions)


def resolve(settings: dict[str, Any]) -> list[Method]:
    """The methods ``{label: {method, selection, grid, noise, parameters}}``; widths and grid: exponents of 2.

    A method has `fit_many` and is selected, or `fit_distances`, or is any scikit-learn classifier, which is
    fitted on the standardised features with its parameters as they are. It is run on all noise conditions of
    the settings, or on those of its own ``noise``.
    Raises ValueError : unknown method, parameter or noise, a selection that is missing or selects nothing.
    """
    return [
        _resolved(spec, settings["widths"], _conditions(spec, settings.get("noise", [])))
        for spec in specs(settings["methods"]).values()
    ]


def _conditions(spec: Spec, noise: list[str]) -> tuple[int, ...] | None:
    own = spec.options.get("noise")
    if own is None:
        return None
    found = tuple(k for k, label in enumerate(noise) if label in own)
    if not found:
        given, known = ", ".join(own), ", ".join(noise)
        raise ValueError(f"method {spec.label}: none of its noise ({given}) is in the settings: {known}")
    return found


def _resolved(spec: Spec, exponents: list[float], conditions: tuple[int, ...] | None) -> Method:
    widths = np.exp2(np.asarray(spec.parameters.pop("widths", exponents), dtype=float))
    selection, grid = spec.options.get("selection", ""), spec.options.get("grid")
    if selection or grid is not None:
        user, otherwise = "selection by cross-validation", "drop `selection` and `grid`"
        require(spec.cls, FitsMany, spec.label, user, otherwise)
    if not isinstance(spec.cls, FitsMany):
        function = spec.cls.fit_distances if isinstance(spec.cls, FitsDistances) else spec.cls
        spec.check(function=function, also="widths")
        return Method(spec, "", widths, np.empty(0), conditions)
    if selection not in SELECTIONS:
        known = ", ".join(SELECTIONS)
        raise ValueError(f"method {spec.label}: selection must be one of {known}, got {selection!r}")
    spec.check(function=spec.cls.fit_many, also="widths")
    return Method(spec, selection, widths, _grid(spec, grid), conditions)


def _grid(spec: Spec, exponents: list[float] | None) -> Array:
    if exponents is not None:
        return np.asarray(np.exp2(np.asarray(exponents, dtype=float)))
    if not hasattr(spec.cls, "GRID"):
        name = spec.cls.__name__
        raise ValueError(f"method {spec.label}: {name} has no GRID of its own; give it a grid")
    return np.asarray(spec.cls.GRID, dtype=float)
