"""What protocols ask of methods; a class that lacks a member is named with what it must implement.

A class need not inherit from anything, it only has to have the member: ``hasattr(cls, "fit_many")``.
"""

from __future__ import annotations

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
"""Member -> what a class implements.

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


def require(cls: type, member: str, label: str, user: str, otherwise: str = "") -> None:
    """Nothing if ``cls`` has the member.

    label : name of the method in the settings.   user : who needs it.   otherwise : another way out.
    Raises ValueError: what is missing, who needs it, what to implement.
    """
    if not hasattr(cls, member):
        remedy = f"implement {SIGNATURES[member]}" + (f", or {otherwise}" if otherwise else "")
        raise ValueError(f"method {label}: {cls.__name__} has no {member}, which {user} needs; {remedy}")
