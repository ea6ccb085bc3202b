"""Checks of the classes that settings name: their keyword arguments, and members that they need.

The main process checks what it plans; no job imports this.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping
from types import UnionType
from typing import Any, Literal, Union, get_args, get_origin

import pydantic

from reproduction.spec.mistakes import explained
from reproduction.spec.suggestions import near

SIGNATURES = {
    "fit_many": "fit_many(gram, labels, grid) -> Fits",
    "fit_distances": "fit_distances(D, D_out, labels, widths, parametrisation) -> Fits",
    "fit_bank": "fit_bank(bank, D, D_out, labels, **parameters) -> Fits",
    "fit_epochs": "fit_epochs(X, y) -> Iterator[Any]",
    "fit_grid": "fit_grid(X, y, train, candidates, rng, epochs) -> Array",
    "objective": "objective(X, y) -> float",
    "losses": "losses(filters, data, windows) -> Array",
    "FLIP_RATE": "the class attribute FLIP_RATE",
}
"""Member that experiments need -> the parameters with which a class implements it.

fit_many : class method, one model per column of labels (n, L) of 0 and 1 and value of grid (G,),
    on the kernel of a `noisylabels.kernels.gaussian.Gram`. A class with GRID needs no grid in the
    settings. With a keyword ``wanted`` (L, G) it may leave out the others, which can no longer be
    chosen.
fit_distances : the same from squared distances D (n, n), D_out (m, n), for methods that choose
    among kernels of widths (S,) themselves.
fit_bank : the same with a `noisylabels.kernels.bank.KernelBank`.
fit_epochs : `fit` that yields the estimator after each epoch, ready to predict.
fit_grid : weights (d + 1, M), the bias last, of linear models for M candidates with loss, lam and
    multiplier.
objective : what the estimator minimises, at its fitted weights.
losses : mean squared clean error per filter and window, (len(filters), windows); of filters.
FLIP_RATE : name of the parameter that takes the known flip rate: one number, or one per label
    column.
"""
PLAIN = (int, float, str, bool, type(None))


def check_keywords(
    function: Callable[..., Any],
    arguments: Mapping[str, Any],
    extra: Iterable[str] = (),
    also: Iterable[str] = (),
) -> None:
    """Check keyword arguments against a signature: names, plain types, words of a ``Literal``.

    Parameters
    ----------
    function : callable
        The function or class.
    arguments : mapping
        Keyword arguments by their names.
    extra : iterable of str
        Names of arguments that are given elsewhere.
    also : iterable of str
        Names that are known besides those of the function.

    Raises
    ------
    ValueError
        If a name or value is wrong; the message says what is possible.
    """
    keywords = inspect.signature(function).parameters
    if any(keyword.kind is keyword.VAR_KEYWORD for keyword in keywords.values()):
        return
    options = [key for key, keyword in keywords.items() if keyword.default is not keyword.empty]
    options += also
    for name in (*arguments, *extra):
        if name not in keywords and name not in also:
            raise ValueError(f"no parameter {name!r}{near(name, options)}")
    for name, value in arguments.items():
        _check_entries(name, value)
        hint: Any = _hint(function, keywords[name]) if name in keywords else Any
        parts = get_args(hint) if get_origin(hint) in (Union, UnionType) else (hint,)
        if all(part in PLAIN or get_origin(part) is Literal for part in parts):
            try:
                checker = pydantic.TypeAdapter(hint, config=pydantic.ConfigDict(strict=True))
                checker.validate_python(value)
            except pydantic.ValidationError as error:
                raise ValueError(f"parameter {name}: {explained(error, value)}") from None


def _check_entries(name: str, value: Any) -> None:
    for entry in value if isinstance(value, list) else ():
        if isinstance(entry, Mapping):
            rule = f"{entry!r} in a list; numbers or words are expected"
            raise ValueError(f"parameter {name}: {rule}")


def _hint(function: Callable[..., Any], parameter: inspect.Parameter) -> Any:
    """Find the annotation of a parameter, or guess it from the default."""
    if parameter.annotation is parameter.empty:
        return int | float | None if type(parameter.default) in (int, float) else Any
    code = function.__init__ if isinstance(function, type) else function  # type: ignore[misc]
    scope = getattr(getattr(code, "__func__", code), "__globals__", {})
    try:
        text = parameter.annotation
        return eval(text, scope) if isinstance(text, str) else text
    except NameError:  # imported for type checkers only
        return Any
