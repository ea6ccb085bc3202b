"""Rows of a Hadamard matrix, one of its columns as target: rotation invariant filters need all n rows.

After k rows of one pass, error = 1/n sum_i (H_i.(w_k - u))^2 over all rows, which is ||w_k - u||^2 as
the rows are orthogonal. LMS with eta = 1/n has error 1 - k/n whatever the order of the rows.
"""

import math
from typing import Any

import numpy as np

from noisylabels.filters.base import Filter
from noisylabels.filters.exponentiated import EG
from noisylabels.filters.lms import LMS
from noisylabels.filters.pnorm import PNormLMS
from noisylabels.seeding import Seeds
from noisylabels.theory import pnorm as loss_bounds
from noisylabels.validation import Floats
from reproduction.protocols.pnorm.data import Row, Theorem, bounded


def hadamard(n: int) -> Floats:
    """Sylvester's matrix H_2n = [[H_n, H_n], [H_n, -H_n]], H_1 = 1; H H' = n I.

    Raises ValueError: n is not a power of two.
    """
    if n < 1 or n & (n - 1):
        raise ValueError(f"n: a Hadamard matrix of Sylvester's kind needs a power of two, got {n}")
    H = np.ones((1, 1))
    while len(H) < n:
        H = np.block([[H, H], [H, -H]])
    return H


def marks(n: int) -> list[int]:
    """Numbers of rows seen at which errors are kept:
    all up to 16, then about 12 per doubling, n/4 and n included."""
    fine = {round(2 ** (i / 12)) for i in range(12 * 4, 12 * int(math.log2(n)) + 1)}
    return sorted({k for k in {*range(min(16, n) + 1), *fine, n // 4, n} if k <= n})


def run(
    settings: dict[str, Any], data: dict[str, Any], seeds: Seeds, repetitions: range, tuned: dict[str, Any]
) -> list[Row]:
    """Rows; setting = "n=..", x = k, the number of rows seen."""
    rows = []
    for n in settings["sizes"]:
        H = hadamard(n)
        theorem = Theorem.of("auto", H[:1])  # all rows have the norm n^(1/p)
        filters: dict[str, tuple[Filter, float]] = {
            "lms": (LMS(1.0 / n), float(n)),
            "pnorm_lms": (PNormLMS(theorem.eta, theorem.p), (theorem.p - 1.0) * theorem.x_size**2),
            "eg": (EG(2.0 / (3.0 * 2.0**2)), loss_bounds.eg(0.0, 2.0, n)),
        }
        for repetition in repetitions:
            rng = seeds.generator(repetition, f"order {n}")
            order, column = rng.permutation(n), int(rng.integers(n))
            for method, (f, bound) in filters.items():
                columns = {"setting": f"n={n}", "method": method, "repetition": repetition}
                rows += _one_pass(f, bound, H[order], column, columns)
    return rows


def _one_pass(f: Filter, bound: float, X: Floats, column: int, columns: Row) -> list[Row]:
    n = len(X)
    u = np.zeros(n)
    u[column] = 1.0
    f._start(n)
    rows, loss, seen, scaled = [], 0.0, 0, 0.0
    for k in marks(n):
        if k > seen:
            y = X[seen:k, column]
            loss += float(((f.run(X[seen:k], y) - y) ** 2).sum())
            seen = k
        error = float(((f.w - u) ** 2).sum())
        if columns["method"] == "lms" and abs(error - (1 - k / n)) > 1e-9:
            raise RuntimeError(f"LMS error {error:.12g} after {k} of {n} Hadamard rows is not 1 - k/n")
        rows.append(columns | {"metric": "error", "x": k, "value": error})
        rows += bounded(columns, "online", loss, bound, k)
        if k >= 2 * math.log(n):
            scaled = max(scaled, error * k / math.log(n))
        if k == n // 4:
            rows.append(columns | {"metric": "error_at_quarter", "value": error})
    return [*rows, columns | {"metric": "largest_error_k_over_ln_n", "value": scaled}]
