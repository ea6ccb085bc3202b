"""Instances, targets and checked rows that the experiments on the p-norm filters share."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from noisylabels.theory import pnorm as loss_bounds
from noisylabels.theory.pnorm import dual, exponent, norm
from noisylabels.validation import Floats

Row = dict[str, Any]


def instances(rng: np.random.Generator, kind: str, T: int, n: int) -> Floats:
    """T rows of n entries: "signs" +-1, "unit" uniform on the sphere, "gaussian",
    or "heavy" (Student t, 3 d.f.).

    Raises ValueError: another kind.
    """
    if kind == "signs":
        return np.where(rng.integers(0, 2, (T, n), dtype=np.int8) > 0, 1.0, -1.0)
    if kind == "heavy":
        return rng.standard_t(3, (T, n))
    if kind not in ("gaussian", "unit"):
        raise ValueError(f"instances: unknown kind {kind!r}; kinds are signs, unit, gaussian, heavy")
    X = rng.standard_normal((T, n))
    return X / np.sqrt(np.einsum("ij,ij->i", X, X))[:, None] if kind == "unit" else X


@dataclass(frozen=True)
class Theorem:
    """What the theorems ask for and promise: p, q, X_p = max_t ||x_t||_p, eta = 1/((p-1) X_p^2)."""

    p: float
    x_size: float

    @classmethod
    def of(cls, p: float | str, X: Floats) -> "Theorem":
        """X_p measured on all rows of the run (two passes over the data)."""
        p = exponent(p, X.shape[1])
        block = max(1, 2**16 // X.shape[1])
        return cls(p, max(float(norm(X[i : i + block], p).max()) for i in range(0, len(X), block)))

    @property
    def eta(self) -> float:
        """The rate of the filtering bound."""
        return loss_bounds.rate(self.p, self.x_size)

    def penalty(self, u: Floats) -> float:
        """K = (p-1) X_p^2 ||u||_q^2."""
        return loss_bounds.penalty(self.p, self.x_size, float(norm(u, dual(self.p))))


def bounded(columns: Row, name: str, loss: float, bound: float, x: float = float("nan")) -> list[Row]:
    """Rows name_loss, name_bound, name_ratio; a loss above its bound is an error
    (`loss_bounds.checked_ratio`)."""
    where = " ".join(f"{key} {value}" for key, value in columns.items() if value != "")
    ratio = loss_bounds.checked_ratio(loss, bound, f"{name} bound, {where}")
    values = {"loss": loss, "bound": bound, "ratio": ratio}
    return [columns | {"metric": f"{name}_{key}", "x": x, "value": value} for key, value in values.items()]
