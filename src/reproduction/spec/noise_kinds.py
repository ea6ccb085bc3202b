"""Kinds of noise: what each does to targets, and how readers know it.

Settings name a kind and its numbers, ``symmetric 0.2``. A kind of a paper is a function of its
folder, ``code:ring 0.3``: ``ring(y, rng, 0.3)`` returns the observed targets. There y holds class
numbers from 0, or real values; what it returns has the same form.
"""

from __future__ import annotations

import inspect
import math
import re
from collections.abc import Callable
from dataclasses import dataclass
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
    functions : dict
        Target -> function of (y, rng) and the numbers. Two classes are -1 and +1, K classes numbers
        from 0.
    name : str
        What readers see behind the first number in percent; "" to show the label.
    """

    functions: dict[Target, Callable[..., Values]]
    name: str = ""

    @property
    def numbers(self) -> list[str]:
        """Names of the numbers that follow the kind in a label."""
        function = next(iter(self.functions.values()))
        parameters = inspect.signature(function).parameters
        return [name for name in parameters if name not in ("y", "rng", "f")]

    @property
    def meaning(self) -> str:
        """One sentence on what the kind does."""
        functions = self.functions.values()
        return " ".join(dict.fromkeys(_first_sentence(function) for function in functions))


def _first_sentence(function: Callable[..., Any]) -> str:
    return (inspect.getdoc(function) or "").partition("\n\n")[0].replace("\n", " ")


def _other_classes(y: Values, chosen: Values, rng: np.random.Generator) -> Values:
    """Change the class of chosen rows to another one, each with the same probability."""
    classes = int(y.max()) + 1
    observed = y.copy()
    steps = rng.integers(1, max(classes, 2), size=len(chosen))
    observed[chosen] = (y[chosen] + steps) % classes
    return observed


def symmetric_classes(y: Values, rng: np.random.Generator, *, rate: float) -> Values:
    """Change an exact share of the labels to other classes, at random."""
    _check_share("rate", rate)
    chosen = rng.choice(len(y), round(rate * len(y)), replace=False)
    return _other_classes(y, chosen, rng)


def independent_classes(y: Values, rng: np.random.Generator, *, rate: float) -> Values:
    """Change each label with the same probability to another class, at random."""
    _check_share("rate", rate)
    return _other_classes(y, np.flatnonzero(rng.random(len(y)) < rate), rng)


def gaussian(y: Values, rng: np.random.Generator, *, scale: float) -> Values:
    """Add normal noise to every value, ``scale`` times the standard deviation of the values."""
    _check_scale(scale)
    return np.asarray(y + scale * y.std() * rng.standard_normal(len(y)))


def outliers(y: Values, rng: np.random.Generator, *, rate: float, scale: float) -> Values:
    """Add normal noise to a share of the values, ``scale`` times the deviation of all values."""
    _check_share("rate", rate)
    _check_scale(scale)
    chosen = rng.choice(len(y), round(rate * len(y)), replace=False)
    observed = np.array(y, dtype=float)
    observed[chosen] += scale * y.std() * rng.standard_normal(len(chosen))
    return observed


def _check_share(name: str, value: float) -> None:
    if not 0 <= value <= 1:
        raise ValueError(f"{name} is {value:g}; it must be from 0 to 1")


def _check_scale(value: float) -> None:
    if not 0 <= value < math.inf:
        raise ValueError(f"scale is {value:g}; it must be at least 0")


_CLASSES = {"symmetric": symmetric_classes, "independent": independent_classes}
_NAMES = {"independent": "symmetric", "negative_only": "asymmetric"}
"""Names of two kinds on the slides of Kabán and Bootkrajang."""


def _list_kinds() -> dict[str, Kind]:
    kinds = {}
    for name, model in flip_models.MODELS.items():
        functions: dict[Target, Callable[..., Values]] = {"two classes": model}
        if name in _CLASSES:
            functions["classes"] = _CLASSES[name]
        kinds[name] = Kind(functions, _NAMES.get(name, ""))
    kinds["gaussian"] = Kind({"real": gaussian})
    kinds["outliers"] = Kind({"real": outliers})
    return kinds


KINDS = _list_kinds()
"""Name in settings -> the kind of noise."""


def for_target(target: Target) -> list[str]:
    """List the kinds of noise for a target."""
    return [name for name, kind in KINDS.items() if target in kind.functions]


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
    functions = KINDS[model].functions
    if target != "real" and int(clean.max()) < 2 and "two classes" in functions:
        signs = (2 * clean - 1).astype(np.int8)
        observed = functions["two classes"](signs, rng, **parameters)
        return (observed > 0).astype(np.int8)
    if target not in functions:
        known = ", ".join(for_target(target))
        learned = f"{int(clean.max()) + 1} classes" if target == "classes" else target
        rule = f"is not for {learned}; use {known} or one of your own, `module:function`"
        raise ValueError(f"noise {label!r} {rule}")
    return functions[target](clean, rng, **parameters)


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
