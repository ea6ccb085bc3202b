"""Arrays and numbers as users give them, checked: a mistake is one line that names argument and place."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]


def finite(name: str, values: ArrayLike, shape: tuple[int | None, ...]) -> Floats:
    """`values` as a contiguous float64 array of `shape` (None = any length), or a one-line ValueError."""
    given = np.asanyarray(values)
    if given.dtype.kind not in "biufO":
        raise ValueError(f"{name}: expected real numbers, got {given.dtype}")
    if isinstance(given, np.ma.MaskedArray) and np.ma.is_masked(given):
        index = first_index(np.ma.getmaskarray(given))
        raise ValueError(f"{name}: value at index {index} is masked; fill it or leave the row out")
    array = np.ascontiguousarray(given, dtype=np.float64)
    fits = array.ndim == len(shape) and all(
        want in (None, got) for want, got in zip(shape, array.shape, strict=True)
    )
    if not fits:
        wanted = "(" + ", ".join("*" if n is None else str(n) for n in shape) + ")"
        raise ValueError(f"{name}: expected shape {wanted}, got {array.shape}")
    if not np.isfinite(array).all():
        raise ValueError(f"{name}: value at index {first_index(~np.isfinite(array))} is not finite")
    return array


def nonnegative(name: str, values: ArrayLike, shape: tuple[int | None, ...]) -> Floats:
    """Like `finite`, and no value below 0."""
    array = finite(name, values, shape)
    if array.size and array.min() < 0:
        raise ValueError(f"{name}: value at index {first_index(array < 0)} is negative")
    return array


def number(
    name: str, value: float, *, above: float = -np.inf, least: float = -np.inf, most: float = np.inf
) -> float:
    """`value` as a finite float, above < value, least <= value <= most; else a ValueError that names it."""
    try:
        value = float(value)
    except (TypeError, ValueError):
        raise ValueError(f"{name}: must be a finite number, got {value!r}") from None
    if not np.isfinite(value) or value <= above or value < least or value > most:
        limits = [f"> {above:g}"] * (above > -np.inf) + [f">= {least:g}"] * (least > -np.inf)
        limits += [f"<= {most:g}"] * (most < np.inf)
        rule = " ".join(["must be a finite number", " and ".join(limits)]).strip()
        raise ValueError(f"{name}: {rule}, got {value:g}")
    return value


def first_index(bad: NDArray[np.bool_]) -> str:
    """Index of the first True, as text: ``3``, or ``(3, 1)`` in a matrix."""
    index = np.argwhere(bad)[0]
    return str(int(index[0])) if index.size == 1 else str(tuple(int(i) for i in index))
