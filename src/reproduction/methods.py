"""Methods by name, as artifacts write them: a key of `noisylabels.METHODS`, or ``package.module:Class``.

A class of the library is imported while a run is planned. A user's is looked for, and imported by the jobs.
It need not inherit from anything, it only has to have the members that an experiment needs.
"""

import importlib
import inspect
from typing import Any

from noisylabels import METHODS
from reproduction import code_digest
from reproduction.strict_yaml import near

DISPLAY = ("label", "role", "shown", "note")
"""Keys of a method in an artifact that say how figures and tables show it; no experiment reads them."""

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
"""Member that experiments ask for -> what a class implements.

fit_many : class method, one model per column of labels (n, L) of 0 and 1 and value of grid (G,), on the
    kernel of a `noisylabels.kernels.gaussian.Gram`; a class with GRID needs no grid in the settings.
fit_distances : the same from squared distances D (n, n), D_out (m, n), for methods that choose among kernels
    of widths (S,) themselves.   fit_bank : the same with a `noisylabels.kernels.bank.KernelBank`.
fit_epochs : `fit` that yields the estimator after each epoch, ready to predict.
fit_grid : weights (d + 1, M), the bias last, of linear models for M candidates with loss, lam and multiplier.
objective : what the estimator minimises, at its fitted weights.
losses : mean squared clean error per filter and window, (len(filters), windows); filters have it.
FLIP_RATE : name of the parameter that takes the known flip rate: one number, or one per label column.
"""


def known() -> dict[str, str]:
    """Name of every method of the library -> its module."""
    return {name: f"noisylabels.{where.partition(':')[0]}" for name, where in METHODS.items()}


def module(name: str) -> str:
    """The module of a method: of the library by its name, of the user's by ``package.module:Class``."""
    return name.partition(":")[0] if ":" in name else known()[name]


def unknown(name: str) -> str:
    """The message for a name that no method has, with the nearest ones."""
    return f"method: {name!r} is unknown{near(name, METHODS, 3)} (your own: 'package.module:Class')"


def find(name: str) -> Any:
    """The class of a method.

    Raises ValueError : a name that no method has, a missing module or class; with the nearest ones.
    """
    if ":" not in name and name not in METHODS:
        raise ValueError(unknown(name))
    module_name, _, class_name = (name if ":" in name else f"noisylabels.{METHODS[name]}").partition(":")
    try:
        module = importlib.import_module(module_name)
    except ModuleNotFoundError as error:
        if error.name is None or not module_name.startswith(error.name):
            raise  # the module is there, something that it imports is not
        raise ValueError(f"method: no module {module_name!r} for {name!r}; is it on PYTHONPATH?") from error
    if not inspect.isclass(getattr(module, class_name, None)):
        close = near(class_name, dir(module), 3)
        raise ValueError(f"method: module {module_name!r} has no class {class_name!r}{close}")
    return getattr(module, class_name)


def missing(name: str) -> str:
    """Why the module of a user's class cannot be imported, in a few words, or ""; nothing is imported."""
    module = name.partition(":")[0]
    there = ":" not in name or code_digest.module_file(module)
    return "" if there else f"{name!r}: no module {module!r}; is its folder on PYTHONPATH?"
