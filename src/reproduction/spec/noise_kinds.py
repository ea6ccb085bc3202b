"""Kinds of noise: what each does to targets, and how readers know it.

Settings name a kind and its numbers, ``symmetric 0.2``. A kind of a paper is a function of its
folder, ``code:ring 0.3``: ``ring(y, rng, 0.3)`` returns the observed targets. There y holds class
numbers from 0, or real values; what it returns has the same form.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from noisylabels.noise import flip_models
from reproduction.spec.suggestions import near
from reproduction.spec.user_modules import find_function

Target = Literal["two classes", "classes", "real"]
"""The target of a protocol: one of two classes, one of K classes, or a real number."""
Values = NDArray[Any]
CUSTOM = re.compile(r"[^\W\d]\w*(\.[^\W\d]\w*)*:[^\W\d]\w*")


@dataclass(frozen=True)
class Kind:
    """A kind of noise: the targets that it suits, what it does, and its name.

    Attributes
    ----------
    sources : dict
        Target -> ``module:function``, a function of (y, rng) and the numbers. Two classes are -1
        and +1, K classes numbers from 0.
    name : str
        What readers see behind the first number in percent; "" to show the label.
    """

    sources: dict[Target, str]
    name: str = ""

    def function(self, target: Target) -> Callable[..., Values]:
        """Import the function for a target; a job imports that of its own noise only."""
        module, _, function = self.sources[target].partition(":")
        member: Callable[..., Values] = getattr(import_module(module), function)
        return member

    @property
    def numbers(self) -> list[str]:
        """Names of the numbers that follow the kind in a label."""
        function = self.function(next(iter(self.sources)))
        parameters = inspect.signature(function).parameters
        return [name for name in parameters if name not in ("y", "rng", "f")]

    @property
    def meaning(self) -> str:
        """One sentence on what the kind does."""
        functions = [self.function(target) for target in self.sources]
        return " ".join(dict.fromkeys(_first_sentence(function) for function in functions))


def _first_sentence(function: Callable[..., Any]) -> str:
    return (inspect.getdoc(function) or "").partition("\n\n")[0].replace("\n", " ")


_CLASSES = "reproduction.spec.multiclass_noise"
_REAL = "reproduction.spec.target_noise"
_OF_CLASSES = {
    "symmetric": f"{_CLASSES}:symmetric_classes",
    "independent": f"{_CLASSES}:independent_classes",
}
_NAMES = {"independent": "symmetric", "negative_only": "asymmetric"}
"""Names of two kinds on the slides of Kabán and Bootkrajang."""


def _list_kinds() -> dict[str, Kind]:
    kinds = {}
    for name, module in flip_models.MODULES.items():
        sources: dict[Target, str] = {"two classes": f"noisylabels.noise.{module}:{name}"}
        if name in _OF_CLASSES:
            sources["classes"] = _OF_CLASSES[name]
        kinds[name] = Kind(sources, _NAMES.get(name, ""))
    kinds["gaussian"] = Kind({"real": f"{_REAL}:gaussian"})
    kinds["outliers"] = Kind({"real": f"{_REAL}:outliers"})
    return kinds


KINDS = _list_kinds()
"""Name in settings -> the kind of noise."""


def for_target(target: Target) -> list[str]:
    """List the kinds of noise for a target."""
    return [name for name, kind in KINDS.items() if target in kind.sources]


def parse(label: str) -> tuple[str, dict[str, float]]:
    """Read a label of noise: the kind or ``module:function``, then its numbers.

    Raises
    ------
    ValueError
        If the kind is unknown, a number is not one, or there are too few or too many.
    """
    kind, *words = label.split() or [""]
    if kind in flip_models.MODELS:
        return flip_models.parse(label)
    is_custom = CUSTOM.fullmatch(kind) is not None
    if not is_custom and kind not in KINDS:
        own = "your own: `module:function` and its numbers"
        raise ValueError(f"noise {label!r}: unknown kind {kind!r}{near(kind, KINDS)} ({own})")
    try:
        numbers = [float(word) for word in words]
    except ValueError as error:
        raise ValueError(f"noise {label!r}: {error}") from None
    if is_custom:
        return kind, {f"number {place}": value for place, value in enumerate(numbers, start=1)}
    names = KINDS[kind].numbers
    if len(names) != len(numbers):
        needed = " and ".join(names)
        raise ValueError(f"noise {label!r}: {kind} takes {needed}, got {len(numbers)} numbers")
    return kind, dict(zip(names, numbers, strict=True))


def find_custom(name: str, numbers: int) -> Callable[..., Any]:
    """Find the function of a paper that a noise names.

    Raises
    ------
    ValueError
        If there is no such module or function, or it does not take so many numbers.
    """
    function = find_function("noise", name)
    try:
        inspect.signature(function).bind(None, None, *range(numbers))
    except TypeError as error:
        form = f"{function.__name__}(y, rng, then {numbers} numbers as in the label)"
        raise ValueError(f"noise {name!r}: {error}; write {form}") from None
    return function


def observe(
    label: str,
    model: str,
    parameters: dict[str, float],
    clean: Values,
    rng: np.random.Generator,
    target: Target,
) -> Values:
    """Draw the observed targets.

    Parameters
    ----------
    label, model, parameters
        The noise, see `parse`; the label is for messages.
    clean : ndarray of shape (n,)
        Class numbers from 0, or real values.
    rng : numpy.random.Generator
        Source of the noise.
    target : str
        What is learned.

    Returns
    -------
    ndarray of shape (n,)
        The observed targets, in the form of the clean ones.

    Raises
    ------
    ValueError
        If the kind is not for this target, or a function of a paper returns something else.
    """
    if model not in KINDS:
        function = find_custom(model, len(parameters))
        return _checked(label, function(clean.copy(), rng, *parameters.values()), clean, target)
    kind = KINDS[model]
    if target != "real" and int(clean.max()) < 2 and "two classes" in kind.sources:
        signs = (2 * clean - 1).astype(np.int8)
        observed = kind.function("two classes")(signs, rng, **parameters)
        return (observed > 0).astype(np.int8)
    if target not in kind.sources:
        known = ", ".join(for_target(target))
        learned = f"{int(clean.max()) + 1} classes" if target == "classes" else target
        rule = f"is not for {learned}; use {known} or one of your own, `module:function`"
        raise ValueError(f"noise {label!r} {rule}")
    return kind.function(target)(clean, rng, **parameters)


def _checked(label: str, observed: Any, clean: Values, target: Target) -> Values:
    """Check what a function of a paper returns."""
    values = np.asarray(observed)
    place = f"noise {label!r} returns"
    if values.shape != clean.shape:
        raise ValueError(f"{place} shape {values.shape}; {clean.shape} is expected")
    if target == "real":
        if values.dtype.kind not in "fiu" or not np.isfinite(values).all():
            raise ValueError(f"{place} what is not a finite number")
        return values.astype(float)
    known = np.isin(values, np.arange(int(clean.max()) + 1))
    if not known.all():
        rule = f"the classes are the numbers from 0 to {int(clean.max())}"
        raise ValueError(f"{place} {values[~known][0]}; {rule}")
    return values.astype(clean.dtype)
