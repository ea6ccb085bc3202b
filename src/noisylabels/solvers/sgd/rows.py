"""Rows of a dense or sparse matrix inside compiled loops: inner products, updates and read-ahead.

Each function is written once for either storage and chosen by type at compile time,
so that every learner is written once.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from llvmlite import ir  # type: ignore[import-untyped]
from numba import njit, types
from numba.core import cgutils
from numba.extending import intrinsic, overload

LINE = 64  # bytes of a cache line


class DenseRows(NamedTuple):
    """values: (n d,), row i at i d; d: number of features."""

    values: np.ndarray
    d: int


class SparseRows(NamedTuple):
    """CSR: row i has values data[k] in columns indices[k] (uint32), indptr[i] <= k < indptr[i+1] (int64)."""

    data: np.ndarray
    indices: np.ndarray
    indptr: np.ndarray


Rows = DenseRows | SparseRows


def as_rows(X: Any) -> Rows:
    """Rows of an ndarray (n, d) or a scipy.sparse matrix; C-contiguous and CSR values are not copied."""
    if isinstance(X, np.ndarray):
        return DenseRows(np.ascontiguousarray(X).reshape(-1), X.shape[1])
    csr = X.tocsr()
    # unsigned indices spare every access the test for negative ones
    return SparseRows(csr.data, csr.indices.astype(np.uint32), csr.indptr.astype(np.int64))


def largest_square(X: Any) -> float:
    """max_i ||x_i||^2 of an ndarray or a scipy.sparse matrix."""
    if isinstance(X, np.ndarray):
        return float(np.einsum("ij,ij->i", X, X).max())
    return float(X.multiply(X).sum(axis=1).max())


def dot(rows: Rows, i: int, w: np.ndarray) -> float:
    """x_i.w in four interleaved partial sums."""
    raise NotImplementedError


def add(rows: Rows, i: int, w: np.ndarray, c: float) -> None:
    """w += c x_i."""
    raise NotImplementedError


def energy(rows: Rows, i: int) -> float:
    """||x_i||^2."""
    raise NotImplementedError


def dots(rows: Rows, i: int, W: np.ndarray, z: np.ndarray) -> None:
    """z = x_i W for the models in the columns of W (d, M)."""
    raise NotImplementedError


def adds(rows: Rows, i: int, W: np.ndarray, c: np.ndarray) -> None:
    """W += x_i (outer) c for the models in the columns of W (d, M)."""
    raise NotImplementedError


def fetch(rows: Rows, y: np.ndarray, i: int) -> None:
    """Ask the memory for row i and its label, which are needed a few steps later."""
    raise NotImplementedError


def _is_dense(rows: Any) -> bool:
    return rows.instance_class is DenseRows


@overload(dot, inline="always")
def _dot(rows: Any, i: Any, w: Any) -> Any:
    return _dense_dot if _is_dense(rows) else _sparse_dot


@overload(add, inline="always")
def _add(rows: Any, i: Any, w: Any, c: Any) -> Any:
    return _dense_add if _is_dense(rows) else _sparse_add


@overload(energy, inline="always")
def _energy(rows: Any, i: Any) -> Any:
    return _dense_energy if _is_dense(rows) else _sparse_energy


@overload(dots, inline="always")
def _dots(rows: Any, i: Any, W: Any, z: Any) -> Any:
    return _dense_dots if _is_dense(rows) else _sparse_dots


@overload(adds, inline="always")
def _adds(rows: Any, i: Any, W: Any, c: Any) -> Any:
    return _dense_adds if _is_dense(rows) else _sparse_adds


@overload(fetch, inline="always")
def _fetch(rows: Any, y: Any, i: Any) -> Any:
    return _dense_fetch if _is_dense(rows) else _sparse_fetch


def _dense_dot(rows: Any, i: Any, w: Any) -> Any:
    x, d = rows.values, rows.d
    at = np.intp(i) * d
    a = b = c = e = 0.0
    for k in range(0, d - 3, 4):
        a += x[at + k] * w[k]
        b += x[at + k + 1] * w[k + 1]
        c += x[at + k + 2] * w[k + 2]
        e += x[at + k + 3] * w[k + 3]
    for k in range(d - d % 4, d):
        a += x[at + k] * w[k]
    return (a + b) + (c + e)


def _sparse_dot(rows: Any, i: Any, w: Any) -> Any:
    x, column = rows.data, rows.indices
    start, stop = rows.indptr[i], rows.indptr[i + 1]
    a = b = c = e = 0.0
    for k in range(start, stop - 3, 4):
        a += x[k] * w[column[k]]
        b += x[k + 1] * w[column[k + 1]]
        c += x[k + 2] * w[column[k + 2]]
        e += x[k + 3] * w[column[k + 3]]
    for k in range(stop - (stop - start) % 4, stop):
        a += x[k] * w[column[k]]
    return (a + b) + (c + e)


def _dense_add(rows: Any, i: Any, w: Any, c: Any) -> Any:
    at = np.intp(i) * rows.d
    for k in range(rows.d):
        w[k] += c * rows.values[at + k]


def _sparse_add(rows: Any, i: Any, w: Any, c: Any) -> Any:
    for k in range(rows.indptr[i], rows.indptr[i + 1]):
        w[rows.indices[k]] += c * rows.data[k]


def _dense_energy(rows: Any, i: Any) -> Any:
    at = np.intp(i) * rows.d
    total = 0.0
    for k in range(at, at + rows.d):
        total += rows.values[k] * rows.values[k]
    return total


def _sparse_energy(rows: Any, i: Any) -> Any:
    total = 0.0
    for k in range(rows.indptr[i], rows.indptr[i + 1]):
        total += rows.data[k] * rows.data[k]
    return total


def _dense_dots(rows: Any, i: Any, W: Any, z: Any) -> Any:
    at = np.intp(i) * rows.d
    z[:] = 0.0
    for k in range(rows.d):
        _gather(W[k], rows.values[at + k], z)


def _sparse_dots(rows: Any, i: Any, W: Any, z: Any) -> Any:
    z[:] = 0.0
    for k in range(rows.indptr[i], rows.indptr[i + 1]):
        _gather(W[rows.indices[k]], rows.data[k], z)


def _dense_adds(rows: Any, i: Any, W: Any, c: Any) -> Any:
    at = np.intp(i) * rows.d
    for k in range(rows.d):
        _gather(c, rows.values[at + k], W[k])


def _sparse_adds(rows: Any, i: Any, W: Any, c: Any) -> Any:
    for k in range(rows.indptr[i], rows.indptr[i + 1]):
        _gather(c, rows.data[k], W[rows.indices[k]])


@njit(inline="always")
def _gather(source: np.ndarray, x: float, target: np.ndarray) -> None:
    """target += x source, one entry per model."""
    for m in range(len(target)):
        target[m] += x * source[m]


@intrinsic
def _hint(typing_context: Any, array: Any, k: Any) -> Any:
    """Hint that array[k] will be read soon."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        data = context.make_array(array)(context, builder, arguments[0]).data
        address = builder.bitcast(builder.gep(data, [arguments[1]]), cgutils.voidptr_t)
        word = ir.IntType(32)
        kind = ir.FunctionType(ir.VoidType(), [cgutils.voidptr_t, word, word, word])
        function = cgutils.get_or_insert_function(builder.module, kind, "llvm.prefetch.p0")
        builder.call(function, [address, word(0), word(3), word(1)])  # read, keep, data
        return context.get_dummy_value()

    return types.void(array, types.intp), generate


_prefetch: Any = _hint  # called without the typing context that numba adds


def _dense_fetch(rows: Any, y: Any, i: Any) -> Any:
    _prefetch(y, np.intp(i))
    x, at = rows.values, np.intp(i) * rows.d
    for k in range(0, rows.d, LINE // x.itemsize):
        _prefetch(x, at + k)


def _sparse_fetch(rows: Any, y: Any, i: Any) -> Any:
    _prefetch(y, np.intp(i))
    start, stop = rows.indptr[i], rows.indptr[i + 1]
    for k in range(start, stop, LINE // rows.data.itemsize):
        _prefetch(rows.data, k)
    for k in range(start, stop, LINE // rows.indices.itemsize):
        _prefetch(rows.indices, k)
