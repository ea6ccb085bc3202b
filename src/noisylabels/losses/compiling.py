"""Compiled formulas of one number, which run over arrays and can be called by address.

A compiled loop takes the address of a formula as an argument. So the loop is compiled once, and
every formula by itself when it is first used. The module knows no particular loss: adding one
changes nothing here.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from types import FunctionType
from typing import Any

from llvmlite import ir  # type: ignore[import-untyped]
from numba import cfunc, types
from numba.extending import intrinsic

from noisylabels.compilation import compile_kernel, kernel_folder
from noisylabels.validation import Floats

MOST_PARAMETERS = 3
"""Largest number of parameters that a formula takes after its argument."""

# A formula over arrays takes (z, parameters (3, width), width, out, n).
_DOUBLES = types.CPointer(types.float64)
_SIZE = types.int64
_OVER_ARRAYS = types.void(_DOUBLES, _DOUBLES, _SIZE, _DOUBLES, _SIZE)
formula: Any = None  # a placeholder, which `compiled` replaces by a formula


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


_LOOPS = (_over_0, _over_1, _over_2, _over_3)


@cache
def compiled(function: Callable[..., float]) -> Any:
    """Compile a formula into a function over arrays.

    Numba keeps the result on disk as if the loop were written next to the formula: an edit of the
    formula's file compiles it again.

    Parameters
    ----------
    function : callable
        The formula ``(z, *parameters)``, with at most three parameters, in what Numba compiles.

    Returns
    -------
    numba.core.ccallback.CFunc
        The compiled function. Its ``address`` is what `over_arrays` calls.

    Raises
    ------
    ValueError
        If the formula takes another number of arguments.

    Examples
    --------
    >>> import math
    >>> import numpy as np
    >>> from noisylabels.losses.compiling import apply_formula, compiled
    >>> def scaled(z, factor):
    ...     return factor * z
    >>> out = np.empty(2)
    >>> apply_formula(compiled(scaled).address, np.array([1.0, 2.0]), np.full((3, 2), 5.0), out)
    >>> out.tolist()
    [5.0, 10.0]
    """
    source = function.__code__
    n_parameters = source.co_argcount - 1
    if not 0 <= n_parameters <= MOST_PARAMETERS:
        raise ValueError(f"{function.__qualname__}: takes z and at most three parameters")
    code = _LOOPS[n_parameters].__code__
    code = code.replace(co_filename=source.co_filename, co_firstlineno=source.co_firstlineno)
    inlined = compile_kernel(inline="always")(function)
    loop = FunctionType(code, {"range": range, "formula": inlined})
    loop.__module__ = function.__module__
    loop.__qualname__ = f"{function.__qualname__}.over_arrays"
    with kernel_folder(loop, also=__name__) as has_folder:
        return cfunc(_OVER_ARRAYS, cache=has_folder, error_model="numpy")(loop)


@intrinsic
def _call(
    typing_context: Any,
    address: Any,
    z: Any,
    parameters: Any,
    width: Any,
    out: Any,
    n: Any,
) -> Any:
    """Call the formula at an address; as an argument it would be typed at every call, in 20 us."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        value_types = [context.get_value_type(kind) for kind in signature.args[1:]]
        pointer_type = ir.FunctionType(ir.VoidType(), value_types).as_pointer()
        pointer = builder.inttoptr(arguments[0], pointer_type)
        builder.call(pointer, arguments[1:])
        return context.get_dummy_value()

    return types.void(types.intp, *_OVER_ARRAYS.args), generate


over_arrays: Any = _call  # the caller does not pass the typing context that numba adds


@compile_kernel()
def apply_formula(address: int, z: Floats, parameters: Floats, out: Floats) -> None:
    """Apply a compiled formula to an array, in parts as wide as the parameters.

    Parameters
    ----------
    address : int
        Address of the compiled formula.
    z : ndarray of shape (n,)
        Arguments of the formula.
    parameters : ndarray of shape (3, width)
        Parameters for each place of a part.
    out : ndarray of shape (n,)
        Takes the results.
    """
    width = parameters.shape[1]
    for start in range(0, len(z), width):
        part = z[start : start + width]
        results = out[start : start + width]
        over_arrays(address, part.ctypes, parameters.ctypes, width, results.ctypes, len(part))
