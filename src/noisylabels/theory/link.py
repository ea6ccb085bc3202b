"""The p-norm link between weights and their dual, safe against overflow."""

from __future__ import annotations

import math
import warnings

import numpy as np
from numpy.typing import ArrayLike

from noisylabels.arrays import Floats, number

Power = float | str  # a number, or "auto"


def exponent(p: Power, n: int) -> float:
    """p itself, or max(2, 2 ln n) for p = "auto": the exponent that suits a sparse target of n entries.

    n: length of the instances; "auto" wants n >= 3 (2 ln n >= 2)
    and falls back to p = 2 with a warning below.
    Raises ValueError: p < 2, p infinite or not a number.
    """
    if isinstance(p, str) and p == "auto":
        if n < 3:
            warnings.warn(f'p="auto" is 2 ln n and needs n >= 3; p = 2 is used for n = {n}', stacklevel=2)
        return max(2.0, 2.0 * math.log(n)) if n >= 1 else 2.0
    return number('p, if not "auto"', p, least=2)


def dual(p: float) -> float:
    """q with 1/p + 1/q = 1; then (p - 1)(q - 1) = 1. Raises ValueError: p <= 1 or infinite."""
    if not 1 < p < math.inf:
        raise ValueError(f"p: must be a finite number > 1, got {p}")
    return p / (p - 1.0)


def _scaled(v: Floats) -> tuple[Floats, Floats]:
    """z = |v| / m and m = max_i |v_i| along the last axis (kept); m = 1 where v = 0."""
    size = np.abs(v)
    top = size.max(axis=-1, keepdims=True)
    top = np.where(top > 0, top, 1.0)
    return size / top, top


def norm(v: ArrayLike, s: float) -> Floats:
    """||v||_s = m (sum_i z_i^s)^(1/s),  z = |v|/m,  m = max_i |v_i|; (..., n) -> (...)."""
    z, top = _scaled(np.asarray(v, dtype=np.float64))
    return np.asarray(top[..., 0] * np.sum(z**s, axis=-1) ** (1.0 / s))


def link(v: ArrayLike, s: float) -> Floats:
    """f_i(v) = sign(v_i) |v_i|^(s-1) / ||v||_s^(s-2), the gradient of ||v||_s^2 / 2; f(0) = 0.

    link(w, q) is the map f from weights to their dual theta, link(theta, p) its inverse, with 1/p + 1/q = 1.
    v: (..., n), every vector along the last axis.  s > 1.
    Computed as m sign(v_i) z_i^(s-1) (sum z^s)^((2-s)/s) with z = |v|/m, m = max_i |v_i|, which neither
    over- nor underflows. Near s = 1 the power z^(s-1) is about 1 for every z > 0: round-off in w is
    amplified, so an algorithm keeps theta as its state and never recomputes it from w.
    Raises ValueError: s <= 1 or infinite, values that are not finite.
    Source: slides of Kivinen, Warmuth, Hassibi, "link function";
    Gentile, The robustness of the p-norm algorithms, 2003.
    """
    dual(s)
    v = np.asarray(v, dtype=np.float64)
    if not np.isfinite(v).all():
        raise ValueError("v: values must be finite")
    z, top = _scaled(v)
    total = np.sum(z**s, axis=-1, keepdims=True)
    safe = np.where(total > 0, total, 1.0)
    return top * np.copysign(z ** (s - 1.0), v) * safe ** ((2.0 - s) / s)
