"""Every kernel method selected, fitted and applied to the test rows.

The final fit is on all rows with their noisy labels: trusted labels are never trained on.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from noisylabels.bases.contracts import FitsDistances
from noisylabels.bases.fits import Fits
from noisylabels.kernels.gaussian import Gram, rbf, squared_distances
from noisylabels.seeding import Seeds
from reproduction.protocols.kernels.data import Array, Labels, Split
from reproduction.protocols.kernels.methods import Method
from reproduction.protocols.kernels.selection import Choice, select
from reproduction.protocols.kernels.validation import SELECTIONS, validation


@dataclass(frozen=True)
class Outcome:
    """One method trained on one noise condition: decision values on the test rows, and what it is made of."""

    scores: Array
    choice: Choice | None
    omega01: float
    omega10: float
    flagged: bool


def train(
    methods: list[Method],
    split: Split,
    noisy: Labels,
    settings: dict[str, Any],
    seeds: Seeds,
    repetition: int,
) -> dict[str, dict[int, Outcome]]:
    """Select and fit every method on its columns of ``noisy`` (n, L): label -> column -> outcome."""
    parametrisation = settings["parametrisation"]
    D, D_test = squared_distances(split.X), squared_distances(split.X_test, split.X)
    chosen: dict[str, dict[int, Choice]] = {}
    for selection in SELECTIONS:
        users = [m for m in methods if m.selection == selection]
        if users:
            folds = validation(selection, split.clean, noisy, settings, seeds, repetition)
            chosen |= select(users, D, noisy, folds, parametrisation)
    outcomes: dict[str, dict[int, Outcome]] = {}
    for m in methods:
        if m.selection:
            continue
        if isinstance(m.spec.cls, FitsDistances):
            labels = noisy[:, m.columns(noisy)]
            fits = m.spec.cls.fit_distances(
                D, D_test, labels, m.widths, parametrisation=parametrisation, **m.spec.parameters
            )
            outcomes[m.label] = {k: _outcome(fits, at, None) for at, k in enumerate(m.columns(noisy))}
        else:
            rng = seeds.generator(repetition, f"method {m.label}")
            outcomes[m.label] = {k: _plain(m, split, noisy[:, k], rng) for k in m.columns(noisy)}
    selected = [m for m in methods if m.selection]
    return outcomes | _chosen_fits(selected, chosen, D, D_test, noisy, parametrisation)


def _chosen_fits(
    methods: list[Method],
    chosen: dict[str, dict[int, Choice]],
    D: Array,
    D_test: Array,
    noisy: Labels,
    parametrisation: str,
) -> dict[str, dict[int, Outcome]]:
    """The fits on all rows, one kernel matrix for all that chose its width.

    Every column is fitted alone: the result of a noise condition depends on no other condition.
    """
    found: dict[str, dict[int, Outcome]] = {m.label: {} for m in methods}
    for width in sorted({choice.width for choices in chosen.values() for choice in choices.values()}):
        gram = Gram(rbf(D, width, parametrisation), rbf(D_test, width, parametrisation))
        for m in methods:
            for k, choice in chosen[m.label].items():
                if choice.width == width:
                    value = np.array([choice.parameter])
                    fits = m.spec.cls.fit_many(gram, noisy[:, [k]], value, **m.spec.parameters)
                    found[m.label][k] = _outcome(fits, 0, choice)
    return found


def _outcome(fits: Fits, k: int, choice: Choice | None) -> Outcome:
    """Column k of fits with one value of the parameter."""
    return Outcome(
        fits.scores[k, 0],
        choice,
        float(fits.omega01[k, 0]),
        float(fits.omega10[k, 0]),
        bool(fits.flagged[k, 0]),
    )


def _plain(method: Method, split: Split, observed: Labels, rng: np.random.Generator) -> Outcome:
    """Any scikit-learn classifier on the standardised features."""
    model = method.spec.build()
    if "random_state" in model.get_params():
        model.set_params(random_state=int(rng.integers(2**31 - 1)))
    classes = model.fit(split.X, observed).predict(split.X_test)
    return Outcome(np.where(classes == 1, 1.0, -1.0), None, float("nan"), float("nan"), False)
