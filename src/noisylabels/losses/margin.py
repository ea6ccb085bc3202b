r"""Losses of the margin, the product of the label (-1 or +1) and the decision value.

A loss is one class: the formulas of the loss :math:`r(z)` and its slope :math:`r'(z)` for one
margin :math:`z = y f(x)`, and its constants. `noisylabels.losses.compiling` compiles the formulas
when they are first used. The learners are compiled once and call them.

Source: Han, Tsang and Chen, ECML PKDD 2016, Sections 3 and 4; the other losses are named at their
classes.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike

from noisylabels.compilation import compile_kernel
from noisylabels.losses.compiling import MOST_PARAMETERS, apply_formula, compiled
from noisylabels.validation import Floats, choice, number

LOSSES: dict[str, type[Loss]] = {}
"""The classes of losses by their names; the arguments of a class are the parameters of the loss."""

BLOCK = 256
"""Number of margins to which a formula is applied at once."""


@dataclass(frozen=True)
class Loss:
    """A loss of the margin.

    A subclass sets the attributes and the two static methods ``_value`` and ``_slope``, which take
    one margin and the parameters and are written in what Numba compiles. A loss with parameters is
    a frozen dataclass of them, at most three. Defining the class adds it to `LOSSES`.

    Attributes
    ----------
    name : str
        What settings call the loss; its key in `LOSSES`.
    smooth : bool
        Whether the slope has a derivative everywhere.
    convex : bool
        Whether the slope never falls.
    decreasing : bool
        Whether the slope is nowhere positive.
    curvature : float
        Largest size of the second derivative, or 1 by convention for a loss with kinks. Step sizes
        are scaled by it.
    bound : float
        Least upper bound of the loss, inf if there is none.

    Raises
    ------
    ValueError
        If a new class takes the name of another one.

    Examples
    --------
    >>> from noisylabels.losses.margin import Hinge, Loss
    >>> isinstance(Hinge(), Loss)
    True
    >>> Hinge().value([-1.0, 0.5, 2.0]).tolist()
    [2.0, 0.5, 0.0]
    """

    name: ClassVar[str]
    smooth: ClassVar[bool] = False
    convex: ClassVar[bool] = False
    decreasing: ClassVar[bool] = True
    _value: ClassVar[Callable[..., float]]
    _slope: ClassVar[Callable[..., float]]

    def __init_subclass__(cls) -> None:
        holder = LOSSES.get(cls.name)
        if holder is not None and not _is_defined_again(holder, cls):
            full_name = f"{holder.__module__}.{holder.__qualname__}"
            fault = f"{cls.name!r} is already the name of the loss {full_name}"
            raise ValueError(f"{cls.__qualname__}: {fault}; choose another name")
        LOSSES[cls.name] = cls

    @property
    def curvature(self) -> float:
        """Largest size of the second derivative."""
        return 1.0

    @property
    def bound(self) -> float:
        """Least upper bound of the loss."""
        return math.inf

    @property
    def parameters(self) -> tuple[float, ...]:
        """The arguments of the formulas after the margin."""
        return tuple(float(value) for value in vars(self).values())

    def value(self, z: ArrayLike) -> Floats:
        """Compute the loss at each margin.

        Parameters
        ----------
        z : array_like
            Margins, of any shape.

        Returns
        -------
        ndarray
            Losses, of the same shape.
        """
        return self._apply(type(self)._value, z)

    def slope(self, z: ArrayLike) -> Floats:
        """Compute the slope of the loss at each margin.

        Parameters
        ----------
        z : array_like
            Margins, of any shape.

        Returns
        -------
        ndarray
            Slopes, of the same shape.
        """
        return self._apply(type(self)._slope, z)

    def _apply(self, formula: Callable[..., float], z: ArrayLike) -> Floats:
        margins = np.asarray(z, dtype=np.float64)
        out = np.empty(margins.size)
        width = min(BLOCK, margins.size)
        column = columns([self])
        parameters = np.repeat(column, width, axis=1)
        address = compiled(formula).address
        apply_formula(address, margins.ravel(), parameters, out)
        return out.reshape(margins.shape)


def _is_defined_again(holder: type[Loss], loss: type[Loss]) -> bool:
    """Decide whether a user runs the definition of a loss again, as in a cell of a notebook."""
    package = holder.__module__.partition(".")[0]
    is_ours = package == "noisylabels"
    names = [(loss_class.__module__, loss_class.__qualname__) for loss_class in (holder, loss)]
    return names[0] == names[1] and not is_ours


def columns(losses: Sequence[Loss]) -> Floats:
    """Collect the parameters of several losses.

    Parameters
    ----------
    losses : sequence of Loss
        The losses.

    Returns
    -------
    ndarray of shape (3, n_losses)
        One column per loss; 0 where a loss has fewer parameters.

    Examples
    --------
    >>> from noisylabels.losses.margin import Hinge, RGomp, columns
    >>> columns([Hinge(), RGomp(c=2.0)]).tolist()
    [[0.0, 2.0], [0.0, 0.0], [0.0, 0.0]]
    """
    out = np.zeros((MOST_PARAMETERS, len(losses)))
    for m, loss in enumerate(losses):
        parameters = loss.parameters
        out[: len(parameters), m] = parameters
    return out


def compiled_slope(loss: Loss) -> int:
    """Return the address of the compiled slope of a loss.

    Parameters
    ----------
    loss : Loss
        The loss.

    Returns
    -------
    int
        The address, for `noisylabels.losses.compiling.over_arrays`.

    Examples
    --------
    >>> from noisylabels.losses.margin import Log, compiled_slope
    >>> compiled_slope(Log()) == compiled_slope(Log())
    True
    """
    return int(compiled(type(loss)._slope).address)


@compile_kernel(inline="always")
def falling_sigmoid(u: float) -> float:
    r"""Compute the falling logistic function without overflow.

    Parameters
    ----------
    u : float
        The argument.

    Returns
    -------
    float
        A number from 0 to 1.

    Notes
    -----
    The function is :math:`1 / (1 + e^u)`.
    """
    e = math.exp(-abs(u))
    if u > 0:
        return e / (1.0 + e)
    return 1.0 / (1.0 + e)


class Log(Loss):
    r"""The logistic loss.

    Examples
    --------
    >>> from noisylabels.losses.margin import Log
    >>> Log().value([0.0, 5.0]).round(3).tolist()
    [0.693, 0.007]

    Notes
    -----
    :math:`r(z) = \ln(1 + e^{-z})`.
    """

    name = "log"
    curvature = 0.25
    smooth = True
    convex = True
    _value = staticmethod(lambda z: max(-z, 0.0) + math.log1p(math.exp(-abs(z))))
    _slope = staticmethod(lambda z: -falling_sigmoid(z))


class Hinge(Loss):
    r"""The hinge loss of support vector machines.

    Examples
    --------
    >>> from noisylabels.losses.margin import Hinge
    >>> Hinge().value([-1.0, 0.5, 2.0]).tolist()
    [2.0, 0.5, 0.0]

    Notes
    -----
    :math:`r(z) = \max(0, 1 - z)`.
    """

    name = "hinge"
    convex = True
    _value = staticmethod(lambda z: max(1.0 - z, 0.0))
    _slope = staticmethod(lambda z: -1.0 if z < 1.0 else 0.0)


@dataclass(frozen=True)
class Ramp(Loss):
    r"""The hinge loss with a ceiling: it stays constant where it would become too large.

    Parameters
    ----------
    s : float, default -1.0
        Margin below which the loss is constant, at most 0.

    Raises
    ------
    ValueError
        If ``s`` is positive.

    Examples
    --------
    >>> from noisylabels.losses.margin import Ramp
    >>> Ramp(s=-1.0).value([-5.0, 0.5, 2.0]).tolist()
    [2.0, 0.5, 0.0]

    Notes
    -----
    :math:`r(z) = \min(1 - s, \max(0, 1 - z))`.
    """

    name = "ramp"
    s: float = -1.0

    def __post_init__(self) -> None:
        number("s", self.s, most=0)

    @property
    def bound(self) -> float:
        """Largest value of the loss."""
        return 1.0 - self.s

    _value = staticmethod(lambda z, s: min(1.0 - s, max(1.0 - z, 0.0)))
    _slope = staticmethod(lambda z, s: -1.0 if s < z < 1.0 else 0.0)


PRESETS = {-0.7: (3.0, -0.15), -1.0: (2.0, -0.03), -2.0: (1.5, 0.5)}
"""Parameter s -> (alpha, beta) of the smooth ramp, as in Section 5.1 of Han, Tsang and Chen."""


@dataclass(frozen=True)
class SmoothRamp(Loss):
    r"""A smooth form of the ramp loss.

    Parameters
    ----------
    s : float, default -1.0
        Margin below which the ramp loss is constant, at most 0.
    alpha : float, optional
        Steepness, above 0. Without ``alpha`` and ``beta`` the preset for ``s`` is used.
    beta : float, optional
        Shift to the left.

    Raises
    ------
    ValueError
        If a parameter is out of range, only one of ``alpha`` and ``beta`` is given, or ``s`` has no
        preset.

    Examples
    --------
    >>> from noisylabels.losses.margin import SmoothRamp
    >>> SmoothRamp(s=-1.0).value([-5.0, 0.03, 5.0]).round(3).tolist()
    [2.0, 1.0, 0.0]

    Notes
    -----
    :math:`r(z) = (1 - s) / (1 + e^{\alpha (z + \beta)})`.
    """

    name = "smooth_ramp"
    smooth = True
    s: float = -1.0
    alpha: float | None = None
    beta: float | None = None

    def __post_init__(self) -> None:
        number("s", self.s, most=0)
        alpha = self.alpha
        beta = self.beta
        if alpha is None and beta is None:
            alpha, beta = PRESETS.get(self.s, (None, None))
        if alpha is None or beta is None:
            values = ", ".join(map(str, PRESETS))
            rule = f"give both alpha and beta, or neither and s = {values}"
            raise ValueError(f"smooth_ramp: {rule}; got {self}")
        object.__setattr__(self, "alpha", number("alpha", alpha, above=0))
        object.__setattr__(self, "beta", number("beta", beta))

    @property
    def bound(self) -> float:
        """Largest value of the loss."""
        return 1.0 - self.s

    @property
    def curvature(self) -> float:
        """Largest size of the second derivative."""
        s, alpha, _ = self.parameters
        return (1.0 - s) * alpha**2 / (6.0 * math.sqrt(3.0))

    @staticmethod
    def _value(z: float, s: float, alpha: float, beta: float) -> float:
        scaled = alpha * (z + beta)
        return (1.0 - s) * falling_sigmoid(scaled)

    @staticmethod
    def _slope(z: float, s: float, alpha: float, beta: float) -> float:
        # phi / (1 + phi)^2 with phi = e^(alpha (z + beta)) is even in the exponent, so that the
        # negative exponent, which cannot overflow, serves both sides.
        size = abs(alpha * (z + beta))
        e = math.exp(-size)
        shape = (1.0 + e) * (1.0 + e)
        return -(1.0 - s) * alpha * e / shape


_GOLDEN_RATIO = (1.0 + math.sqrt(5.0)) / 2.0
_FLAT = 6.0  # beyond c z = 6 the reversed Gompertz loss is below e^-403 and counts as 0


@dataclass(frozen=True)
class RGomp(Loss):
    r"""The reversed Gompertz loss.

    Parameters
    ----------
    c : float, default 2.0
        Steepness, above 0.

    Raises
    ------
    ValueError
        If ``c`` is not positive.

    Examples
    --------
    >>> from noisylabels.losses.margin import RGomp
    >>> RGomp(c=2.0).value([-5.0, 0.0, 5.0]).round(3).tolist()
    [1.0, 0.368, 0.0]

    Notes
    -----
    :math:`r(z) = e^{-e^{c z}}`. With the golden ratio :math:`g` its second derivative is at most
    :math:`c^2 g^3 e^{-g^2}`.
    """

    name = "rgomp"
    bound = 1.0
    smooth = True
    c: float = 2.0

    def __post_init__(self) -> None:
        number("c", self.c, above=0)

    @property
    def curvature(self) -> float:
        """Largest size of the second derivative."""
        decay = math.exp(-(_GOLDEN_RATIO**2))
        return float(self.c) ** 2 * _GOLDEN_RATIO**3 * decay

    @staticmethod
    def _value(z: float, c: float) -> float:
        if c * z <= _FLAT:
            exponent = min(c * z, _FLAT)
            return math.exp(-math.exp(exponent))
        return 0.0

    @staticmethod
    def _slope(z: float, c: float) -> float:
        u = min(c * z, _FLAT)
        if c * z <= _FLAT:
            return -c * math.exp(u - math.exp(u))
        return 0.0


class SquaredHinge(Loss):
    r"""The squared hinge loss, the default of LIBLINEAR.

    Examples
    --------
    >>> from noisylabels.losses.margin import SquaredHinge
    >>> SquaredHinge().value([-1.0, 0.5, 2.0]).tolist()
    [4.0, 0.25, 0.0]

    Notes
    -----
    :math:`r(z) = \max(0, 1 - z)^2`.
    """

    name = "squared_hinge"
    curvature = 2.0
    convex = True
    _value = staticmethod(lambda z: max(1.0 - z, 0.0) ** 2)
    _slope = staticmethod(lambda z: -2.0 * max(1.0 - z, 0.0))


class ModifiedHuber(Loss):
    r"""The squared hinge loss, linear for large errors.

    Examples
    --------
    >>> from noisylabels.losses.margin import ModifiedHuber
    >>> ModifiedHuber().value([-2.0, 0.5, 2.0]).tolist()
    [8.0, 0.25, 0.0]

    Notes
    -----
    :math:`r(z) = \max(0, 1 - z)^2` for :math:`z \ge -1`, else :math:`-4 z`.

    References
    ----------
    T. Zhang, Annals of Statistics 32, 2004.
    """

    name = "modified_huber"
    curvature = 2.0
    convex = True
    _value = staticmethod(lambda z: max(1.0 - z, 0.0) ** 2 if z >= -1.0 else -4.0 * z)
    _slope = staticmethod(lambda z: -2.0 * max(1.0 - max(z, -1.0), 0.0))


class Perceptron(Loss):
    r"""The loss of the perceptron.

    Examples
    --------
    >>> from noisylabels.losses.margin import Perceptron
    >>> Perceptron().value([-1.0, 0.5]).tolist()
    [1.0, 0.0]

    Notes
    -----
    :math:`r(z) = \max(0, -z)`, with the slope -1 at 0, so that learning can start from weights of
    0.
    """

    name = "perceptron"
    convex = True
    _value = staticmethod(lambda z: max(-z, 0.0))
    _slope = staticmethod(lambda z: -1.0 if z <= 0.0 else 0.0)


class Sigmoid(Loss):
    r"""The falling logistic function as a loss.

    Examples
    --------
    >>> from noisylabels.losses.margin import Sigmoid
    >>> Sigmoid().value([0.0, 5.0]).round(3).tolist()
    [0.5, 0.007]

    Notes
    -----
    :math:`r(z) = 1 / (1 + e^z)`, the smooth ramp with :math:`s = 0`, :math:`\alpha = 1` and
    :math:`\beta = 0`.
    """

    name = "sigmoid"
    curvature = 1.0 / (6.0 * math.sqrt(3.0))
    bound = 1.0
    smooth = True
    _value = staticmethod(lambda z: falling_sigmoid(z))

    @staticmethod
    def _slope(z: float) -> float:
        e = math.exp(-abs(z))
        return -e / ((1.0 + e) * (1.0 + e))


# the value of 1 / (1 + e^z) where |r''| of the Savage loss is largest
_STEEPEST = (15.0 - math.sqrt(33.0)) / 24.0


class Savage(Loss):
    r"""The Savage loss.

    Examples
    --------
    >>> from noisylabels.losses.margin import Savage
    >>> Savage().value([0.0, 5.0]).round(3).tolist()
    [0.25, 0.0]

    Notes
    -----
    :math:`r(z) = 1 / (1 + e^z)^2`. With :math:`p = 1 / (1 + e^z)` the size of the second derivative
    is :math:`2 p^2 (1 - p) |2 - 3 p|`.

    References
    ----------
    Masnadi-Shirazi and Vasconcelos, NIPS 2008.
    """

    name = "savage"
    bound = 1.0
    smooth = True
    curvature = 2.0 * _STEEPEST**2 * (1.0 - _STEEPEST) * (2.0 - 3.0 * _STEEPEST)
    _value = staticmethod(lambda z: falling_sigmoid(z) ** 2)
    _slope = staticmethod(lambda z: -2.0 * falling_sigmoid(z) ** 2 * falling_sigmoid(-z))


class Tangent(Loss):
    r"""The tangent loss, which also punishes margins that are very large.

    Examples
    --------
    >>> from noisylabels.losses.margin import Tangent
    >>> Tangent().value([0.0, 0.5, 5.0]).round(3).tolist()
    [1.0, 0.005, 3.051]

    Notes
    -----
    :math:`r(z) = (2 \arctan z - 1)^2`, which increases beyond :math:`z = \tan(1/2)`. The second
    derivative is largest in size at :math:`z = 0.12097934`.

    References
    ----------
    Masnadi-Shirazi, Mahadevan and Vasconcelos, CVPR 2010.
    """

    name = "tangent"
    bound = (math.pi + 1.0) ** 2
    smooth = True
    decreasing = False
    curvature = 8.484612157278837
    _value = staticmethod(lambda z: (2.0 * math.atan(z) - 1.0) ** 2)
    _slope = staticmethod(lambda z: 4.0 * (2.0 * math.atan(z) - 1.0) / (1.0 + z * z))


class Unhinged(Loss):
    r"""The hinge loss without its hinge, a straight line that is not bounded below.

    Examples
    --------
    >>> from noisylabels.losses.margin import Unhinged
    >>> Unhinged().value([-1.0, 2.0]).tolist()
    [2.0, -1.0]

    Notes
    -----
    :math:`r(z) = 1 - z`.

    References
    ----------
    Van Rooyen, Menon and Williamson, NIPS 2015.
    """

    name = "unhinged"
    smooth = True
    convex = True
    _value = staticmethod(lambda z: 1.0 - z)
    _slope = staticmethod(lambda z: -1.0)


def resolve(loss: str | Loss) -> Loss:
    """Find a loss by its name.

    Parameters
    ----------
    loss : str or Loss
        The name of a loss, which gets its default parameters, or a loss, which is returned as it
        is.

    Returns
    -------
    Loss
        The loss.

    Raises
    ------
    ValueError
        If no loss has that name. The message lists the names.

    Examples
    --------
    >>> from noisylabels.losses.margin import resolve
    >>> resolve("rgomp")
    RGomp(c=2.0)
    """
    if isinstance(loss, Loss):
        return loss
    return LOSSES[choice("loss", loss, LOSSES)]()
