"""What protocols ask of methods, declared; a class that lacks a part is named with what it must implement.

A class need not inherit from a contract, it only has to have its members: `isinstance(cls, FitsMany)` asks a
class, `isinstance(model, FitsEpochs)` an estimator. `require` turns a missing member into one line of help.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike, NDArray

if TYPE_CHECKING:
    from noisylabels.bases.fits import Fits

Array = NDArray[np.float64]


@runtime_checkable
class FitsMany(Protocol):
    """One model per label column and value of its parameter, on one kernel.

    gram : `noisylabels.kernels.gaussian.Gram`.   labels (n, L) of 0 and 1.   grid (G,) : the values.
    A class with an own ``GRID`` needs none from the settings.
    """

    @classmethod
    def fit_many(cls, gram: Any, labels: NDArray[Any], grid: ArrayLike) -> Fits:
        """Fits of all columns and values."""
        ...


@runtime_checkable
class FitsDistances(Protocol):
    """One model per label column from squared distances: for methods that choose among kernels themselves.

    D (n, n), D_out (m, n).   labels (n, L) of 0 and 1.   widths (S,), parametrisation : the kernels.
    """

    @classmethod
    def fit_distances(
        cls, D: Array, D_out: Array, labels: NDArray[Any], widths: ArrayLike, *, parametrisation: str
    ) -> Fits:
        """Fits with one value of the parameter."""
        ...


@runtime_checkable
class FitsBank(Protocol):
    """One model per label column with the kernels of a bank: for methods that weigh kernels of any kind.

    bank : `noisylabels.kernels.bank.KernelBank`.   D (g, n, n), D_out (g, m, n) : squared distances, one
    matrix per group of the bank.   labels (n, L) of 0 and 1.   parameters : of the class.
    """

    @classmethod
    def fit_bank(cls, bank: Any, D: Array, D_out: Array, labels: NDArray[Any], **parameters: Any) -> Fits:
        """Fits with one value of the parameter."""
        ...


@runtime_checkable
class ToldFlipRate(Protocol):
    """A class with a parameter that is told the true flip rate: one number, or one per label column."""

    FLIP_RATE: ClassVar[str]


@runtime_checkable
class FitsEpochs(Protocol):
    """An estimator that can be watched while it learns."""

    def fit_epochs(self, X: Any, y: ArrayLike) -> Iterator[Any]:
        """`fit` that yields the estimator after each epoch, ready to predict."""
        ...


@runtime_checkable
class HasObjective(Protocol):
    """An estimator that knows what it minimises."""

    def objective(self, X: Any, y: ArrayLike) -> float:
        """The objective of the fitted weights on X (n, d) and y (n,)."""
        ...


@runtime_checkable
class FitsGrid(Protocol):
    """Linear models of all points of a grid of losses, penalties and step sizes in one pass over the rows.

    X (n, d), y (n,) of -1.0 and +1.0.   train : rows to learn from.
    candidates : points with loss, lam and multiplier.   Returns weights (d+1, M), the bias last.
    """

    @classmethod
    def fit_grid(
        cls,
        X: Any,
        y: Array,
        train: NDArray[np.integer[Any]],
        candidates: Sequence[Any],
        rng: np.random.Generator,
        *,
        epochs: int,
    ) -> Array:
        """Weights of all candidates, columns in their order."""
        ...


@runtime_checkable
class RunsSequences(Protocol):
    """Many filters of one class over the same labelled sequence; `noisylabels.filters.base.Filter` has it."""

    @classmethod
    def losses(cls, filters: Any, data: Any, windows: int) -> Array:
        """Mean squared clean error per filter and window, (len(filters), windows)."""
        ...


def require(cls: Any, contract: type, label: str, user: str, otherwise: str = "") -> None:
    """Nothing if ``cls`` keeps the contract.

    label : name of the method in the settings.   user : who needs it.   otherwise : another way out.
    Raises ValueError : what is missing, who needs it, how to mend it.
    """
    for member in _members(contract):
        if not hasattr(cls, member):
            mend = f"implement {_signature(contract, member)}" + (f", or {otherwise}" if otherwise else "")
            raise ValueError(f"method {label}: {cls.__name__} has no {member}, which {user} needs; {mend}")


def _members(contract: type) -> list[str]:
    names = [*inspect.get_annotations(contract), *vars(contract)]
    return [name for name in dict.fromkeys(names) if not name.startswith("_")]


def _signature(contract: type, member: str) -> str:
    """``fit_many(gram, labels, grid) -> Fits``; what is no function is its name."""
    function = getattr(contract, member, None)
    if function is None:
        return f"the class attribute {member}"
    signature = inspect.signature(function)
    words = [name for name in signature.parameters if name != "self"]
    options = [k for k, p in signature.parameters.items() if p.kind is p.VAR_KEYWORD]
    shown = ", ".join(f"**{word}" if word in options else word for word in words)
    return f"{member}({shown}) -> {signature.return_annotation}"
