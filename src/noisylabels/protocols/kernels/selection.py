"""Kernel methods as settings name them, and the choice of kernel width and parameter by cross-validation.

trusted : a share V of the training rows keeps clean labels; the rest R, with noisy labels, is cut into folds;
    fits on all folds but one, each judged on V.   trusted_holdout : one fit on R, judged on V.
cv : folds of all training rows, judged on the noisy labels of the fold that was left out.

The lowest number of wrong labels wins; ties: the lowest log-loss sum_i log(1 + exp(-s_i f(x_i))), then the
widest kernel, then the largest parameter. If V has one class only, the log-loss alone decides. The final fit
is on all rows with their noisy labels: trusted labels are never trained on.

Source: Kaban and Bootkrajang, LABELNOISE 2017, "CV (5 fold) with a trusted validation set"; this reading of
it is ours.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from noisylabels.bases.fits import Fits
from noisylabels.bases.kernel import majority, settled
from noisylabels.frame import methods as registry
from noisylabels.kernels.gaussian import Gram, rate, rbf, squared_distances, useful_widths
from noisylabels.protocols.kernels.data import Array, Labels, Split, fold_numbers, trusted_count, trusted_rows
from noisylabels.seeding import Seeds

SELECTIONS = ("trusted", "trusted_holdout", "cv")
Rows = NDArray[np.int64]


@dataclass(frozen=True)
class Method:
    """A method of the settings.

    label : its name in the result table.   cls : its class.   selection : one of `SELECTIONS`, "" for none.
    widths, grid : candidates.   parameters : keyword arguments of `fit_many`, `fit_distances` or the class.
    """

    label: str
    cls: Any
    selection: str
    widths: Array
    grid: Array
    parameters: dict[str, Any] = field(default_factory=dict)


class Choice(NamedTuple):
    """A width and a value of the parameter."""

    width: float
    parameter: float


class Fold(NamedTuple):
    """Rows to train on, rows to judge on, and the labels of the latter (h, L)."""

    train: Rows
    held: Rows
    labels: Labels


@dataclass(frozen=True)
class Outcome:
    """One method trained on one noise condition: decision values on the test rows, and what it is made of."""

    scores: Array
    choice: Choice | None
    omega01: float
    omega10: float
    flagged: bool


def resolve(settings: dict[str, Any]) -> list[Method]:
    """The methods ``{label: {method, selection, grid, parameters}}``; widths and grid are exponents of 2.

    A method has `fit_many` and is selected, or `fit_distances`, or is any scikit-learn classifier, which is
    fitted on the standardised features with its parameters as they are.
    Raises ValueError : unknown method or parameter, a selection that is missing or has nothing to select.
    """
    return [_resolved(label, spec, settings["widths"]) for label, spec in settings["methods"].items()]


def _resolved(label: str, spec: dict[str, Any], exponents: Sequence[float]) -> Method:
    cls = registry.find(spec["method"])
    parameters = dict(spec.get("parameters", {}))
    widths = np.exp2(np.asarray(parameters.pop("widths", exponents), dtype=float))
    selection = spec.get("selection", "")
    if not hasattr(cls, "fit_many"):
        if selection or "grid" in spec:
            raise ValueError(
                f"method {label}: {spec['method']} has no fit_many, so selection and grid mean nothing"
            )
        _check_parameters(label, getattr(cls, "fit_distances", cls), parameters)
        return Method(label, cls, "", widths, np.empty(0), parameters)
    if selection not in SELECTIONS:
        raise ValueError(
            f"method {label}: selection must be one of {', '.join(SELECTIONS)}, got {selection!r}"
        )
    if "grid" not in spec and not hasattr(cls, "GRID"):
        raise ValueError(f"method {label}: {spec['method']} has no GRID of its own; give it a grid")
    _check_parameters(label, cls.fit_many, parameters)
    grid = np.exp2(np.asarray(spec["grid"], dtype=float)) if "grid" in spec else np.asarray(cls.GRID)
    return Method(label, cls, selection, widths, grid, parameters)


def _check_parameters(label: str, function: Any, parameters: dict[str, Any]) -> None:
    known = inspect.signature(function).parameters
    if any(parameter.kind is parameter.VAR_KEYWORD for parameter in known.values()):
        return
    for name in parameters:
        if name not in known:
            options = [key for key, parameter in known.items() if parameter.default is not parameter.empty]
            raise ValueError(
                f"method {label}: no parameter {name!r}; known: {', '.join(options) or 'none'}, and widths"
            )


def validation(
    selection: str, clean: Labels, noisy: Labels, settings: dict[str, Any], seeds: Seeds, repetition: int
) -> list[Fold]:
    """The fits of a kind of selection for true labels ``clean`` (n,) and observed ones ``noisy`` (n, L)."""
    n, columns = noisy.shape
    if selection == "cv":
        numbers = fold_numbers(n, settings["folds"], seeds, repetition)
        return [
            Fold(np.flatnonzero(numbers != k), np.flatnonzero(numbers == k), noisy[numbers == k])
            for k in range(settings["folds"])
        ]
    trusted = trusted_rows(n, settings["trusted"], seeds, repetition)
    held, rest = np.flatnonzero(trusted), np.flatnonzero(~trusted)
    labels = np.repeat(clean[held, np.newaxis], columns, axis=1)
    if selection == "trusted_holdout":
        return [Fold(rest, held, labels)]
    numbers = fold_numbers(len(rest), settings["folds"], seeds, repetition)
    return [Fold(rest[numbers != k], held, labels) for k in range(settings["folds"])]


def select(
    methods: Iterable[Method], D: Array, noisy: Labels, folds: list[Fold], parametrisation: str
) -> dict[str, list[Choice]]:
    """The choice of every method for every column of ``noisy`` (n, L); D (n, n) are squared distances.

    Each kernel matrix and its basis serve all methods, noise conditions and values of the parameter.
    """
    methods = list(methods)
    columns = noisy.shape[1]
    candidates: dict[str, list[tuple[Choice, Rows, Array]]] = {m.label: [] for m in methods}
    for width, users in _by_width(methods, D, parametrisation):
        K = rbf(D, width, parametrisation)
        wrong = {m.label: np.zeros((columns, len(m.grid)), dtype=np.int64) for m in users}
        loss = {m.label: np.zeros((columns, len(m.grid))) for m in users}
        for fold in folds:
            gram = Gram(K[np.ix_(fold.train, fold.train)], K[np.ix_(fold.held, fold.train)])
            for m in users:
                observed = noisy[fold.train]
                scores = m.cls.fit_many(gram, observed, m.grid, **m.parameters).scores
                for k in range(columns):
                    f, truth = settled(scores[k], majority(observed[:, k].astype(float))), fold.labels[:, k]
                    wrong[m.label][k] += ((f > 0) != truth).sum(axis=1)
                    loss[m.label][k] += np.logaddexp(0.0, (1 - 2 * truth) * f).sum(axis=1)
        for m in users:
            for g, value in enumerate(m.grid):
                point = Choice(float(width), float(value))
                candidates[m.label].append((point, wrong[m.label][:, g], loss[m.label][:, g]))
    judged = np.concatenate([fold.labels for fold in folds])
    both = (judged.min(axis=0) == 0) & (judged.max(axis=0) == 1)
    return {
        label: [
            min(
                (
                    int(wrong[k]) if both[k] else 0,
                    loss[k],
                    rate(point.width, parametrisation),
                    -point.parameter,
                    point,
                )
                for point, wrong, loss in tried
            )[-1]
            for k in range(columns)
        ]
        for label, tried in candidates.items()
    }


def _by_width(methods: list[Method], D: Array, parametrisation: str) -> Iterator[tuple[float, list[Method]]]:
    """Every useful width and the methods that try it."""
    wanted = {m.label: set(useful_widths(D, m.widths, parametrisation)) for m in methods}
    for width in sorted(set().union(*wanted.values())):
        yield width, [m for m in methods if width in wanted[m.label]]


def validation_size(selection: str, n: int, settings: dict[str, Any]) -> int:
    """The number of rows, of n, on which every candidate is judged."""
    return n if selection == "cv" else trusted_count(n, settings["trusted"])


def train(
    methods: list[Method],
    split: Split,
    noisy: Labels,
    settings: dict[str, Any],
    seeds: Seeds,
    repetition: int,
) -> dict[str, list[Outcome]]:
    """Select and fit every method on every column of ``noisy`` (n, L): label -> outcome of each column."""
    parametrisation = settings["parametrisation"]
    D, D_test = squared_distances(split.X), squared_distances(split.X_test, split.X)
    chosen: dict[str, list[Choice]] = {}
    for selection in SELECTIONS:
        users = [m for m in methods if m.selection == selection]
        if users:
            folds = validation(selection, split.clean, noisy, settings, seeds, repetition)
            chosen |= select(users, D, noisy, folds, parametrisation)
    outcomes: dict[str, list[Outcome]] = {}
    for m in methods:
        if m.selection:
            continue
        if hasattr(m.cls, "fit_distances"):
            fits = m.cls.fit_distances(
                D, D_test, noisy, m.widths, parametrisation=parametrisation, **m.parameters
            )
            outcomes[m.label] = [_outcome(fits, k, noisy[:, k], None) for k in range(noisy.shape[1])]
        else:
            rng = seeds.generator(repetition, f"method {m.label}")
            outcomes[m.label] = [_plain(m, split, observed, rng) for observed in noisy.T]
    return outcomes | _chosen_fits(
        [m for m in methods if m.selection], chosen, D, D_test, noisy, parametrisation
    )


def _chosen_fits(
    methods: list[Method],
    chosen: dict[str, list[Choice]],
    D: Array,
    D_test: Array,
    noisy: Labels,
    parametrisation: str,
) -> dict[str, list[Outcome]]:
    """The fits on all rows, one kernel matrix for all that chose its width.

    Every column is fitted alone: the result of a noise condition depends on no other condition.
    """
    found: dict[tuple[str, int], Outcome] = {}
    for width in sorted({choice.width for choices in chosen.values() for choice in choices}):
        gram = Gram(rbf(D, width, parametrisation), rbf(D_test, width, parametrisation))
        for m in methods:
            for k, choice in enumerate(chosen[m.label]):
                if choice.width == width:
                    fits = m.cls.fit_many(gram, noisy[:, [k]], np.array([choice.parameter]), **m.parameters)
                    found[m.label, k] = _outcome(fits, 0, noisy[:, k], choice)
    return {m.label: [found[m.label, k] for k in range(noisy.shape[1])] for m in methods}


def _outcome(fits: Fits, k: int, observed: Labels, choice: Choice | None) -> Outcome:
    """Column k of fits with one value of the parameter."""
    return Outcome(
        settled(fits.scores[k, 0], majority(observed.astype(float))),
        choice,
        float(fits.omega01[k, 0]),
        float(fits.omega10[k, 0]),
        bool(fits.flagged[k, 0]),
    )


def _plain(method: Method, split: Split, observed: Labels, rng: np.random.Generator) -> Outcome:
    """Any scikit-learn classifier on the standardised features."""
    model = method.cls(**method.parameters)
    if "random_state" in model.get_params():
        model.set_params(random_state=int(rng.integers(2**31 - 1)))
    classes = model.fit(split.X, observed).predict(split.X_test)
    return Outcome(np.where(classes == 1, 1.0, -1.0), None, float("nan"), float("nan"), False)
