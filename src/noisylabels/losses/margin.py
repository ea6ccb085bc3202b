"""Margin losses r(z), z = y f(x): robust ones, convex ones, and what is known about each.

A loss is one class: the formulas of r and r' for one margin, and its constants. The formulas are compiled,
each by itself, when they are first used; the learners are compiled once and call them.

Source: Han, Tsang, Chen, ECML PKDD 2016, Sections 3-4; the other losses are named at their classes.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from types import FunctionType
from typing import Any, ClassVar

import numpy as np
from llvmlite import ir  # type: ignore[import-untyped]
from numba import cfunc, types
from numba.extending import intrinsic
from numpy.typing import ArrayLike

from noisylabels.compilation import compile_kernel, kernel_folder
from noisylabels.validation import Floats, choice, number

LOSSES: dict[str, type[Loss]] = {}
"""name -> class; its arguments are the parameters of the loss."""


@dataclass(frozen=True)
class Loss:
    """A margin loss r(z). A loss with parameters is a frozen dataclass of them, at most three.

    name : what settings call it, the key in `LOSSES`.
    _value, _slope : static methods (z, *parameters), r(z) and r'(z) of one margin, in what Numba compiles.
    curvature : L = max |r''|, or 1 by convention for a loss with kinks; step sizes are scaled by it.
    bound : sup r.   smooth : r'' exists.   convex : r' never falls.   decreasing : r' <= 0 everywhere.
    """

    name: ClassVar[str]
    smooth: ClassVar[bool] = False
    convex: ClassVar[bool] = False
    decreasing: ClassVar[bool] = True
    _value: ClassVar[Callable[..., float]]
    _slope: ClassVar[Callable[..., float]]

    def __init_subclass__(cls) -> None:
        taken = LOSSES.setdefault(cls.name, cls)
        if (taken.__module__, taken.__qualname__) != (cls.__module__, cls.__qualname__):
            raise ValueError(
                f"{cls.__qualname__}: {cls.name!r} is the name of {taken.__qualname__}; take another"
            )
        LOSSES[cls.name] = cls  # a class that is defined again replaces itself

    @property
    def curvature(self) -> float:
        """L."""
        return 1.0

    @property
    def bound(self) -> float:
        """sup r, inf if unbounded."""
        return math.inf

    @property
    def parameters(self) -> tuple[float, ...]:
        """What `_value` and `_slope` take after z."""
        return tuple(float(value) for value in vars(self).values())

    def value(self, z: ArrayLike) -> Floats:
        """r(z), elementwise."""
        return self._each(type(self)._value, z)

    def slope(self, z: ArrayLike) -> Floats:
        """r'(z), elementwise."""
        return self._each(type(self)._slope, z)

    def _each(self, formula: Callable[..., float], z: ArrayLike) -> Floats:
        margins = np.asarray(z, dtype=np.float64)
        out = np.empty(margins.size)
        parameters = np.repeat(columns([self]), min(256, margins.size), axis=1)
        _apply(compiled(formula).address, margins.ravel(), parameters, out)
        return out.reshape(margins.shape)


def columns(losses: Sequence[Loss]) -> Floats:
    """The parameters of n losses, (3, n); 0 where a loss has fewer."""
    out = np.zeros((3, len(losses)))
    for m, loss in enumerate(losses):
        given = loss.parameters
        out[: len(given), m] = given
    return out


def compiled_slope(loss: Loss) -> int:
    """The address of r' over arrays, for `over_arrays`."""
    return int(compiled(type(loss)._slope).address)


# A formula over arrays: (z, parameters (3, width), width, out, n), by its number of parameters.
_DOUBLES, _SIZE = types.CPointer(types.float64), types.int64
_OVER_ARRAYS = types.void(_DOUBLES, _DOUBLES, _SIZE, _DOUBLES, _SIZE)
formula: Any = None  # what the loops call, see `compiled`


def _over_0(z: Any, p: Any, width: int, out: Any, n: int) -> None:
    for m in range(n):
        out[m] = formula(z[m])


def _over_1(z: Any, p: Any, width: int, out: Any, n: int) -> None:
    for m in range(n):
        out[m] = formula(z[m], p[m])


def _over_2(z: Any, p: Any, width: int, out: Any, n: int) -> None:
    for m in range(n):
        out[m] = formula(z[m], p[m], p[width + m])


def _over_3(z: Any, p: Any, width: int, out: Any, n: int) -> None:
    for m in range(n):
        out[m] = formula(z[m], p[m], p[width + m], p[2 * width + m])


@cache
def compiled(function: Callable[..., float]) -> Any:
    """A formula (z, *parameters) over arrays, as a function that compiled code takes as an argument.

    It is kept on disk as if the loop were beside the formula: an edit of that file compiles it again.
    """
    source = function.__code__
    if not 1 <= source.co_argcount <= 4:
        raise ValueError(f"{function.__qualname__}: takes z and at most three parameters")
    code = (_over_0, _over_1, _over_2, _over_3)[source.co_argcount - 1].__code__
    code = code.replace(co_filename=source.co_filename, co_firstlineno=source.co_firstlineno)
    loop = FunctionType(code, {"range": range, "formula": compile_kernel(inline="always")(function)})
    loop.__module__, loop.__qualname__ = function.__module__, f"{function.__qualname__}.over_arrays"
    with kernel_folder(loop, also=__name__) as kept:
        return cfunc(_OVER_ARRAYS, cache=kept, error_model="numpy")(loop)


@intrinsic
def _call(typing_context: Any, address: Any, z: Any, parameters: Any, width: Any, out: Any, n: Any) -> Any:
    """The formula at an address. As an argument it would be typed at every call, 20 microseconds each."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        kinds = [context.get_value_type(kind) for kind in signature.args[1:]]
        kind = ir.FunctionType(ir.VoidType(), kinds).as_pointer()
        builder.call(builder.inttoptr(arguments[0], kind), arguments[1:])
        return context.get_dummy_value()

    return types.void(types.intp, *_OVER_ARRAYS.args), generate


over_arrays: Any = _call  # called without the typing context that numba adds


@compile_kernel()
def _apply(address: int, z: Floats, parameters: Floats, out: Floats) -> None:
    width = parameters.shape[1]
    for start in range(0, len(z), width):
        part, values = z[start : start + width], out[start : start + width]
        over_arrays(address, part.ctypes, parameters.ctypes, width, values.ctypes, len(part))


@compile_kernel(inline="always")
def falling_sigmoid(u: float) -> float:
    """1 / (1 + e^u), without overflow."""
    e = math.exp(-abs(u))
    return e / (1.0 + e) if u > 0 else 1.0 / (1.0 + e)


class Log(Loss):
    """r(z) = ln(1 + e^-z), the logistic loss."""

    name, curvature, smooth, convex = "log", 0.25, True, True
    _value = staticmethod(lambda z: max(-z, 0.0) + math.log1p(math.exp(-abs(z))))
    _slope = staticmethod(lambda z: -falling_sigmoid(z))


class Hinge(Loss):
    """r(z) = max(0, 1 - z)."""

    name, convex = "hinge", True
    _value = staticmethod(lambda z: max(1.0 - z, 0.0))
    _slope = staticmethod(lambda z: -1.0 if z < 1.0 else 0.0)


@dataclass(frozen=True)
class Ramp(Loss):
    """r(z) = min(1 - s, max(0, 1 - z)), s <= 0, where it becomes flat. Raises ValueError : s > 0."""

    name = "ramp"
    s: float = -1.0

    def __post_init__(self) -> None:
        number("s", self.s, most=0)

    @property
    def bound(self) -> float:
        """1 - s."""
        return 1.0 - self.s

    _value = staticmethod(lambda z, s: min(1.0 - s, max(1.0 - z, 0.0)))
    _slope = staticmethod(lambda z, s: -1.0 if s < z < 1.0 else 0.0)


PRESETS = {-0.7: (3.0, -0.15), -1.0: (2.0, -0.03), -2.0: (1.5, 0.5)}
"""s -> (alpha, beta) of the smooth ramp, as in Section 5.1 of Han, Tsang, Chen."""


@dataclass(frozen=True)
class SmoothRamp(Loss):
    """r(z) = (1 - s) / (1 + e^(alpha (z + beta))), s <= 0 < alpha; without alpha and beta the preset for s.

    Raises ValueError : s > 0 or alpha <= 0; one of alpha and beta without the other; no preset for s.
    """

    name, smooth = "smooth_ramp", True
    s: float = -1.0
    alpha: float | None = None
    beta: float | None = None

    def __post_init__(self) -> None:
        number("s", self.s, most=0)
        alpha, beta = self.alpha, self.beta
        if alpha is None and beta is None:
            alpha, beta = PRESETS.get(self.s, (None, None))
        if alpha is None or beta is None:
            known = ", ".join(map(str, PRESETS))
            raise ValueError(f"smooth_ramp: give both alpha and beta, or neither and s = {known}; got {self}")
        object.__setattr__(self, "alpha", number("alpha", alpha, above=0))
        object.__setattr__(self, "beta", number("beta", beta))

    @property
    def bound(self) -> float:
        """1 - s."""
        return 1.0 - self.s

    @property
    def curvature(self) -> float:
        """(1 - s) alpha^2 / (6 sqrt 3)."""
        s, alpha, _ = self.parameters
        return (1.0 - s) * alpha**2 / (6.0 * math.sqrt(3.0))

    _value = staticmethod(lambda z, s, alpha, beta: (1.0 - s) * falling_sigmoid(alpha * (z + beta)))

    @staticmethod
    def _slope(z: float, s: float, alpha: float, beta: float) -> float:
        # phi / (1 + phi)^2 with phi = e^(alpha (z + beta)) is even in the exponent: e^-|.| serves both sides
        e = math.exp(-abs(alpha * (z + beta)))
        return -(1.0 - s) * alpha * e / ((1.0 + e) * (1.0 + e))


_GOLDEN = (1.0 + math.sqrt(5.0)) / 2.0
_FLAT = 6.0  # beyond c z = 6 the reversed Gompertz loss is below e^-403: taken as 0


@dataclass(frozen=True)
class RGomp(Loss):
    """r(z) = e^(-e^(c z)), the reversed Gompertz loss, c > 0. Raises ValueError : c <= 0."""

    name, bound, smooth = "rgomp", 1.0, True
    c: float = 2.0

    def __post_init__(self) -> None:
        number("c", self.c, above=0)

    @property
    def curvature(self) -> float:
        """c^2 g^3 e^(-g^2) with the golden ratio g."""
        return float(self.c) ** 2 * _GOLDEN**3 * math.exp(-(_GOLDEN**2))

    _value = staticmethod(lambda z, c: math.exp(-math.exp(min(c * z, _FLAT))) if c * z <= _FLAT else 0.0)

    @staticmethod
    def _slope(z: float, c: float) -> float:
        u = min(c * z, _FLAT)
        return -c * math.exp(u - math.exp(u)) if c * z <= _FLAT else 0.0


class SquaredHinge(Loss):
    """r(z) = max(0, 1 - z)^2, LIBLINEAR's loss."""

    name, curvature, convex = "squared_hinge", 2.0, True
    _value = staticmethod(lambda z: max(1.0 - z, 0.0) ** 2)
    _slope = staticmethod(lambda z: -2.0 * max(1.0 - z, 0.0))


class ModifiedHuber(Loss):
    """r(z) = max(0, 1 - z)^2 for z >= -1, else -4 z (T. Zhang, Annals of Statistics 32, 2004)."""

    name, curvature, convex = "modified_huber", 2.0, True
    _value = staticmethod(lambda z: max(1.0 - z, 0.0) ** 2 if z >= -1.0 else -4.0 * z)
    _slope = staticmethod(lambda z: -2.0 * max(1.0 - max(z, -1.0), 0.0))


class Perceptron(Loss):
    """r(z) = max(0, -z), with r'(0) = -1, so that learning can start from w = 0."""

    name, convex = "perceptron", True
    _value = staticmethod(lambda z: max(-z, 0.0))
    _slope = staticmethod(lambda z: -1.0 if z <= 0.0 else 0.0)


class Sigmoid(Loss):
    """r(z) = 1 / (1 + e^z), the smooth ramp with s = 0, alpha = 1, beta = 0."""

    name, curvature, bound, smooth = "sigmoid", 1.0 / (6.0 * math.sqrt(3.0)), 1.0, True
    _value = staticmethod(lambda z: falling_sigmoid(z))

    @staticmethod
    def _slope(z: float) -> float:
        e = math.exp(-abs(z))
        return -e / ((1.0 + e) * (1.0 + e))


_STEEPEST = (15.0 - math.sqrt(33.0)) / 24.0  # 1 / (1 + e^z) where |r''| of the Savage loss is largest


class Savage(Loss):
    """r(z) = 1 / (1 + e^z)^2; |r''| = 2 p^2 (1 - p) |2 - 3 p|, p = 1 / (1 + e^z).

    Source: Masnadi-Shirazi, Vasconcelos, NIPS 2008.
    """

    name, bound, smooth = "savage", 1.0, True
    curvature = 2.0 * _STEEPEST**2 * (1.0 - _STEEPEST) * (2.0 - 3.0 * _STEEPEST)
    _value = staticmethod(lambda z: falling_sigmoid(z) ** 2)
    _slope = staticmethod(lambda z: -2.0 * falling_sigmoid(z) ** 2 * falling_sigmoid(-z))


class Tangent(Loss):
    """r(z) = (2 arctan z - 1)^2; increases beyond z = tan(1/2).

    Source: Masnadi-Shirazi, Mahadevan, Vasconcelos, CVPR 2010.
    """

    name, bound, smooth, decreasing = "tangent", (math.pi + 1.0) ** 2, True, False
    curvature = 8.484612157278837  # |r''| at z = 0.12097934
    _value = staticmethod(lambda z: (2.0 * math.atan(z) - 1.0) ** 2)
    _slope = staticmethod(lambda z: 4.0 * (2.0 * math.atan(z) - 1.0) / (1.0 + z * z))


class Unhinged(Loss):
    """r(z) = 1 - z, not bounded below (van Rooyen, Menon, Williamson, NIPS 2015)."""

    name, smooth, convex = "unhinged", True, True
    _value = staticmethod(lambda z: 1.0 - z)
    _slope = staticmethod(lambda z: -1.0)


def resolve(loss: str | Loss) -> Loss:
    """A `Loss` as it is, or the one of that name with its default parameters.

    Raises ValueError : an unknown name; the message lists the known ones.
    """
    return loss if isinstance(loss, Loss) else LOSSES[choice("loss", loss, LOSSES)]()
