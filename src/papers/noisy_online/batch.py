"""Learners that see the whole noisy sequence at once, compared with online learners.

All minimise a quadratic function in the ball. ``least_squares`` trusts one copy of the rows,
``corrected`` takes the known covariance of the noise off their second moments, and ``two_copies``
takes the products of two independent copies in their place.

Source of the online learners: Cesa-Bianchi, Shalev-Shwartz and Shamir 2011. The batch learners and
the comparison are ours.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from noisy_online import tasks as shared
from noisy_online.code import LINEAR_LABELS, LinearSettings, linear
from noisylabels.validation import Floats
from reproduction.run.protocol_loop import Loop, Repetition, Row
from reproduction.spec.protocol import protocol

SMALLEST = 1e-9
"""Smallest eigenvalue of second moments; those that noise made smaller are raised to it."""
Task = shared.LinearTask
LEARNERS = ("least_squares", "corrected", "two_copies")


@protocol(LinearSettings, labels=(*LINEAR_LABELS, *LEARNERS))
def batch(settings: LinearSettings, loop: Loop) -> Iterator[Row]:
    """Measure the excess risk of batch learners too, on the sequences of `code.linear`.

    Metrics of the batch learners: excess_risk, x = rounds T; excess_exponent, as there.
    """
    yield from linear(settings, loop)
    for name, task, seeds in settings.tasks(loop):
        for trial in loop:
            columns = {"dataset": name, "source": task.source, **trial.columns}
            repetition = Repetition(seeds, trial.number, columns)
            yield from _repetition(settings, task, repetition)


def _repetition(settings: LinearSettings, task: Task, repetition: Repetition) -> Iterator[Row]:
    """Make the rows of one sequence of each length."""
    best = shared.best_quadratic(task.A, task.b, settings.ball)
    excesses: dict[str, dict[int, float]] = {name: {} for name in LEARNERS}
    for horizon in settings.horizons:
        T = horizon * task.rounds
        clean = task.draw(T, repetition.rng(f"clean {T}"))
        noise = settings.noise.make(task, T)
        copies = shared.Copies(clean, noise.law, repetition.rng)
        y = copies.targets(settings.noise.target)
        moments = estimate_moments(copies.copy(1), copies.copy(2), y, noise.variances)
        for name, (A, b) in moments.items():
            w = shared.best_quadratic(A, b, settings.ball)
            excesses[name][T] = task.excess(w, best)
    for name, by_rounds in excesses.items():
        of_learner = repetition.with_columns(method=name)
        yield from of_learner.curve("excess_risk", by_rounds.items())
        lasts = settings.exponent_horizons
        yield from shared.exponents(of_learner, "excess_exponent", by_rounds, lasts)


def estimate_moments(
    first: Floats, second: Floats, y: Floats, variances: Floats
) -> dict[str, tuple[Floats, Floats]]:
    """Estimate E xx' (d, d) and E yx (d,) in three ways from two noisy copies (T, d) of rows."""
    T = len(y)
    of_first = first.T @ first / T
    product = first.T @ second / T
    b = first.T @ y / T
    return {
        "least_squares": (of_first, b),
        "corrected": (raise_eigenvalues(of_first - np.diag(variances)), b),
        "two_copies": (
            raise_eigenvalues((product + product.T) / 2),
            (first + second).T @ y / (2 * T),
        ),
    }


def raise_eigenvalues(A: Floats) -> Floats:
    """Return the symmetric matrix with every eigenvalue at least `SMALLEST`."""
    values, vectors = np.linalg.eigh(A)
    return np.asarray((vectors * np.maximum(values, SMALLEST)) @ vectors.T)
