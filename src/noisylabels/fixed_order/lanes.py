"""Sums and products over vectors of eight doubles, with the same bits on every processor.

A vector is one register of AVX-512, two of AVX2 or four of NEON. Sums run over 32 and then 8
partial sums, and products are added to them by fused multiply-adds. They are written out because
the compiler may not reorder a sum, and so makes no vectors of it. What is marked `intrinsic` is for
compiled code only. There a caller does not pass its first argument, ``typing_context``. Nothing is
bounds-checked.
"""

from __future__ import annotations

import operator
from typing import Any

import numpy as np
from llvmlite import ir  # type: ignore[import-untyped]
from numba import extending, types
from numba.core import cgutils
from numba.core.datamodel import models

from noisylabels.compilation import compile_kernel
from noisylabels.validation import Array, Floats

# numba's own annotation hides that the first argument is not passed by callers
intrinsic: Any = extending.intrinsic
LANES = 8
INT64 = ir.IntType(64)
_DOUBLE = ir.DoubleType()
_REGISTER = ir.VectorType(_DOUBLE, LANES)


class _Vector(types.Type):
    """Numba's type of eight doubles in a register."""


VECTOR = _Vector("Vector")


@extending.register_model(_Vector)
class _Register(models.PrimitiveModel):
    def __init__(self, manager: Any, kind: Any) -> None:
        super().__init__(manager, kind, _REGISTER)  # type: ignore[no-untyped-call]


def _place(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    """Compute the address of eight elements of an array."""
    array = context.make_array(signature.args[0])
    data = array(context, builder, value=arguments[0]).data
    kind = ir.VectorType(data.type.pointee, LANES)
    pointer = builder.gep(data, [arguments[1]])
    return builder.bitcast(pointer, kind.as_pointer())


@intrinsic
def load(typing_context: Any, a: Any, i: Any) -> Any:
    """Load eight elements of a flat array, in double precision.

    Parameters
    ----------
    a : ndarray of shape (n,)
        The array, in single or double precision.
    i : int
        Index of the first element.

    Returns
    -------
    vector of eight doubles
        The elements.
    """

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        address = _place(context, builder, signature, arguments)
        alignment = a.dtype.bitwidth // 8
        vector = builder.load(address, align=alignment)
        if a.dtype == types.float64:
            return vector
        return builder.fpext(vector, _REGISTER)

    return VECTOR(a, types.int64), generate


@intrinsic
def store(typing_context: Any, a: Any, i: Any, vector: Any) -> Any:
    """Store a vector in eight elements of a flat array.

    Parameters
    ----------
    a : ndarray of shape (n,)
        The array of doubles.
    i : int
        Index of the first element.
    vector : vector of eight doubles
        What the elements receive.
    """

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        address = _place(context, builder, signature, arguments)
        builder.store(arguments[2], address, align=8)
        return context.get_dummy_value()

    return types.void(a, types.int64, VECTOR), generate


def _repeated(builder: Any, number: Any) -> Any:
    undefined = ir.Constant(_REGISTER, ir.Undefined)
    lane = ir.IntType(32)
    first_lane = lane(0)
    first = builder.insert_element(undefined, number, first_lane)
    lanes = ir.VectorType(lane, LANES)
    zeros = ir.Constant(lanes, [0] * LANES)
    return builder.shuffle_vector(first, undefined, zeros)


@intrinsic
def splat(typing_context: Any, x: Any) -> Any:
    """Fill a vector with one number.

    Parameters
    ----------
    x : float
        The number.

    Returns
    -------
    vector of eight doubles
        The number eight times.
    """
    return VECTOR(types.float64), lambda _, builder, __, arguments: _repeated(builder, arguments[0])


@intrinsic
def spread(typing_context: Any, a: Any, i: Any) -> Any:
    """Fill a vector with one element of a flat array.

    Parameters
    ----------
    a : ndarray of shape (n,)
        The array of doubles.
    i : int
        Index of the element.

    Returns
    -------
    vector of eight doubles
        The element eight times.
    """

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        array = context.make_array(signature.args[0])
        data = array(context, builder, value=arguments[0]).data
        pointer = builder.gep(data, [arguments[1]])
        element = builder.load(pointer)
        return _repeated(builder, element)

    return VECTOR(a, types.int64), generate


@intrinsic
def fold(typing_context: Any, vector: Any) -> Any:
    """Add up the eight numbers of a vector.

    Parameters
    ----------
    vector : vector of eight doubles
        The numbers p_0 to p_7.

    Returns
    -------
    float
        Their sum ((p_0 + p_1) + (p_2 + p_3)) + ((p_4 + p_5) + (p_6 + p_7)), in this order.
    """

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        lanes = [ir.IntType(32)(lane) for lane in range(LANES)]
        parts = [builder.extract_element(arguments[0], lane) for lane in lanes]
        while len(parts) > 1:
            pairs = zip(parts[::2], parts[1::2], strict=True)
            parts = [builder.fadd(p, q) for p, q in pairs]
        return parts[0]

    return types.float64(VECTOR), generate


@intrinsic
def bits(typing_context: Any, x: Any) -> Any:
    """Take the 64 bits of a double for an integer.

    Parameters
    ----------
    x : float
        The double.

    Returns
    -------
    int
        The integer. For doubles of at least 0 the order is the same.
    """

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.bitcast(arguments[0], INT64)

    return types.int64(types.float64), generate


@intrinsic
def from_bits(typing_context: Any, k: Any) -> Any:
    """Take the 64 bits of an integer for a double.

    Parameters
    ----------
    k : int
        The integer.

    Returns
    -------
    float
        The double.
    """

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.bitcast(arguments[0], _DOUBLE)

    return types.float64(types.int64), generate


@intrinsic
def fma(typing_context: Any, a: Any, b: Any, c: Any) -> Any:
    """Multiply and add with one rounding.

    Loops over it become vectors.

    Parameters
    ----------
    a : float or vector of eight doubles
        First factor.
    b : float or vector of eight doubles
        Second factor.
    c : float or vector of eight doubles
        What is added to the product.

    Returns
    -------
    float or vector of eight doubles
        a b + c, rounded once.

    Notes
    -----
    If it were left to the compiler ("contract"), a product and a sum would be fused or not by what
    the processor can do.
    """
    kind: Any
    if a == VECTOR:
        kind = VECTOR
        register = _REGISTER
        name = "v8f64"
    else:
        kind = types.float64
        register = _DOUBLE
        name = "f64"

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        of_three = ir.FunctionType(register, [register] * 3)
        function = cgutils.get_or_insert_function(builder.module, of_three, f"llvm.fma.{name}")
        return builder.call(function, arguments)

    return kind(kind, kind, kind), generate


@intrinsic
def ratio(typing_context: Any, a: Any, b: Any, otherwise: Any) -> Any:
    """Divide where the divisor is above 0.

    Parameters
    ----------
    a : float or vector of eight doubles
        Dividend.
    b : float or vector of eight doubles
        Divisor.
    otherwise : float or vector of eight doubles
        The result where the divisor is not above 0.

    Returns
    -------
    float or vector of eight doubles
        a / b, or ``otherwise``.
    """

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        a, b, otherwise = arguments
        zero = ir.Constant(b.type, None)
        positive = builder.fcmp_ordered(">", b, zero)
        quotient = builder.fdiv(a, b)
        return builder.select(positive, quotient, otherwise)

    return a(a, a, a), generate


def _arithmetic(operation: Any, instruction: str) -> None:
    @intrinsic
    def emit(typing_context: Any, a: Any, b: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            return getattr(builder, instruction)(*arguments)

        return VECTOR(VECTOR, VECTOR), generate

    @extending.overload(operation)
    def overloaded(a, b):  # type: ignore[no-untyped-def]
        if a == VECTOR and b == VECTOR:
            return lambda a, b: emit(a, b)
        return None


_INSTRUCTIONS = {operator.add: "fadd", operator.sub: "fsub", operator.mul: "fmul"}
for _operation, _instruction in _INSTRUCTIONS.items():
    _arithmetic(_operation, _instruction)


@compile_kernel(error_model="numpy", forceinline=True)
def dot_lanes(a: Array, i: int, b: Array, j: int, n: int) -> float:
    """Multiply parts of two flat arrays element by element, and add up.

    Parameters
    ----------
    a : ndarray of shape (m,)
        First array, in single or double precision.
    i : int
        Index of its first element.
    b : ndarray of shape (p,)
        Second array, in single or double precision.
    j : int
        Index of its first element.
    n : int
        Number of products.

    Returns
    -------
    float
        The sum of a[i + k] b[j + k] over k < n. Single precision is made double first.

    Notes
    -----
    There are 32 partial sums as far as they go, then 8. What is left is added one by one.
    """
    t0 = t1 = t2 = t3 = splat(0.0)
    wide = n & -32
    whole = n & -8
    for k in range(0, wide, 32):
        a0 = load(a, i + k)
        b0 = load(b, j + k)
        t0 = fma(a0, b0, t0)
        a1 = load(a, i + k + 8)
        b1 = load(b, j + k + 8)
        t1 = fma(a1, b1, t1)
        a2 = load(a, i + k + 16)
        b2 = load(b, j + k + 16)
        t2 = fma(a2, b2, t2)
        a3 = load(a, i + k + 24)
        b3 = load(b, j + k + 24)
        t3 = fma(a3, b3, t3)
    for k in range(wide, whole, 8):
        t0 = fma(load(a, i + k), load(b, j + k), t0)
    low = t0 + t1
    high = t2 + t3
    total = fold(low + high)
    for k in range(whole, n):
        ak = np.float64(a[i + k])
        bk = np.float64(b[j + k])
        total += ak * bk
    return total


@compile_kernel(error_model="numpy", forceinline=True)
def sum_lanes(a: Floats, i: int, n: int) -> float:
    """Add up a part of a flat array, in the order of `dot_lanes`.

    Parameters
    ----------
    a : ndarray of shape (m,)
        The array of doubles.
    i : int
        Index of the first element.
    n : int
        Number of elements.

    Returns
    -------
    float
        The sum of a[i + k] over k < n.
    """
    t0 = t1 = t2 = t3 = splat(0.0)
    wide = n & -32
    whole = n & -8
    for k in range(i, i + wide, 32):
        a0 = load(a, k)
        t0 = t0 + a0
        a1 = load(a, k + 8)
        t1 = t1 + a1
        a2 = load(a, k + 16)
        t2 = t2 + a2
        a3 = load(a, k + 24)
        t3 = t3 + a3
    for k in range(i + wide, i + whole, 8):
        t0 = t0 + load(a, k)
    low = t0 + t1
    high = t2 + t3
    total = fold(low + high)
    for k in range(i + whole, i + n):
        total += a[k]
    return total


@compile_kernel(error_model="numpy", forceinline=True)
def dot_two_rows(A: Floats, i: int, x: Floats) -> tuple[float, float]:
    """Multiply two neighbouring rows of a matrix by a vector.

    Parameters
    ----------
    A : ndarray of shape (m, n)
        Matrix of doubles with contiguous rows.
    i : int
        Number of the first row; the other one is i + 1.
    x : ndarray of shape (n,)
        The vector.

    Returns
    -------
    first : float
        Product of row i and the vector.
    second : float
        Product of row i + 1 and the vector.

    Notes
    -----
    Each product has 16 partial sums as far as they go, then 8. What is left is added one by one.
    """
    n = len(x)
    a0 = a1 = b0 = b1 = splat(0.0)
    wide = n & -16
    whole = n & -8
    a = i * n
    b = (i + 1) * n
    for k in range(0, wide, 16):
        u = load(x, k)
        v = load(x, k + 8)
        u0 = load(A, a + k)
        a0 = fma(u0, u, a0)
        u1 = load(A, a + k + 8)
        a1 = fma(u1, v, a1)
        v0 = load(A, b + k)
        b0 = fma(v0, u, b0)
        v1 = load(A, b + k + 8)
        b1 = fma(v1, v, b1)
    for k in range(wide, whole, 8):
        a0 = fma(load(A, a + k), load(x, k), a0)
        b0 = fma(load(A, b + k), load(x, k), b0)
    p = fold(a0 + a1)
    q = fold(b0 + b1)
    for k in range(whole, n):
        ap = A[i, k]
        p += ap * x[k]
        bq = A[i + 1, k]
        q += bq * x[k]
    return p, q


@compile_kernel(forceinline=True)
def dot(x: Floats, start: int, w: Floats) -> float:
    """Multiply a row by the weights.

    Parameters
    ----------
    x : ndarray of shape (m,)
        Flat array that holds the row.
    start : int
        Index of the first entry of the row.
    w : ndarray of shape (d,)
        The weights.

    Returns
    -------
    float
        The sum of x[start + k] w[k] over k < d, in the order of `dot_lanes`.
    """
    return dot_lanes(x, start, w, 0, len(w))


@compile_kernel(forceinline=True)
def energy(x: Floats, start: int, d: int) -> float:
    """Compute the squared norm of a row.

    Parameters
    ----------
    x : ndarray of shape (m,)
        Flat array that holds the row.
    start : int
        Index of the first entry of the row.
    d : int
        Number of entries.

    Returns
    -------
    float
        The squared norm, in the order of `dot_lanes`.
    """
    return dot_lanes(x, start, x, start, d)


@compile_kernel(forceinline=True)
def add(w: Floats, c: float, x: Floats, start: int) -> None:
    """Add a multiple of a row to the weights, in place.

    Parameters
    ----------
    w : ndarray of shape (d,)
        The weights. w[k] grows by c x[start + k].
    c : float
        The factor.
    x : ndarray of shape (m,)
        Flat array that holds the row.
    start : int
        Index of the first entry of the row.
    """
    row = x[start : start + len(w)]
    for k in range(len(w)):
        w[k] += c * row[k]


def round_up_to_lanes(n: int) -> int:
    """Round a length up to whole vectors of 8.

    A scratch row of that length needs no loop for what is left over.

    Parameters
    ----------
    n : int
        The length, at least 0.

    Returns
    -------
    int
        The smallest multiple of 8 that is not smaller.

    Examples
    --------
    >>> from noisylabels.fixed_order.lanes import round_up_to_lanes
    >>> round_up_to_lanes(9), round_up_to_lanes(16)
    (16, 16)
    """
    return -(-n // 8) * 8
