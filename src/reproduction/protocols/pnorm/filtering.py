"""The filtering bound on random configurations, step by step; p = 2 against LMS; rotated rows.

A repetition has several configurations; n, T, p, the kind of rows and of target,
and the size of the noise are drawn.
Labels are u.x + noise, or unrelated to u ("adversarial").
"""

from typing import Any

import numpy as np

from noisylabels.filters.lms import LMS
from noisylabels.filters.pnorm import PNormLMS
from noisylabels.seeding import Seeds
from noisylabels.theory.pnorm import TOLERANCE, divergence_dual
from noisylabels.validation import Floats
from reproduction.protocols.pnorm.data import Row, Theorem, bounded, instances

LABELS = ("noisy", "adversarial")


def rows_of(settings: dict[str, Any], seeds: Seeds, repetitions: range) -> list[Row]:
    """Rows, one repetition for each configuration;
    noise = kind of labels, setting = kind of rows, x = p (losses)."""
    rows = []
    count = settings["configurations"]
    for repetition in range(repetitions.start * count, repetitions.stop * count):
        rng = seeds.generator(repetition, "configuration")
        n = int(rng.integers(2, settings["largest_n"] + 1))
        T = int(rng.integers(20, settings["most_rounds"] + 1))
        kind, labels = str(rng.choice(settings["instances"])), str(rng.choice(LABELS))
        X = instances(rng, kind, T, n)
        u = rng.standard_normal(n) * (rng.random(n) < (0.1 if rng.random() < 0.5 else 1.0))
        if not u.any():
            u[int(rng.integers(n))] = 1.0
        noise = rng.uniform(0, settings["most_noise"]) * rng.standard_normal(T)
        y = X @ u + noise if labels == "noisy" else rng.standard_normal(T) * rng.uniform(0.1, 10)
        theorem = Theorem.of(rng.uniform(2, 2 + 2 * np.log(n)), X)
        columns = {"noise": labels, "setting": kind, "repetition": repetition}
        f = PNormLMS(theorem.eta, theorem.p)
        yhat = f.run(X, y)
        named = columns | {"method": "pnorm_lms"}
        loss, energy = float(((X @ u - yhat) ** 2).sum()), float(((y - X @ u) ** 2).sum())
        rows += bounded(named, "filtering", loss, energy + theorem.penalty(u), theorem.p)
        slack = smallest_slack(X, y, u, yhat, theorem)
        rows.append(named | {"metric": "smallest_step_slack", "x": theorem.p, "value": slack})
        rows += _identities(rng, X, y, yhat, theorem, columns)
    return rows


def smallest_slack(X: Floats, y: Floats, u: Floats, yhat: Floats, theorem: Theorem) -> float:
    """min over t of d(u, w_{t-1}) - d(u, w_t) - eta/2 [(u.x_t - yhat_t)^2 - (y_t - u.x_t)^2], over d(u, 0).

    Raises RuntimeError: a step below 0 (beyond rounding), which the theorem excludes.
    """
    steps = theorem.eta * (y - yhat)[:, None] * X
    theta = np.vstack([np.zeros(X.shape[1]), np.cumsum(steps, axis=0)])
    d = divergence_dual(u, theta, theorem.p)
    progress = 0.5 * theorem.eta * ((X @ u - yhat) ** 2 - (y - X @ u) ** 2)
    slack = float((-np.diff(d) - progress).min()) / d[0]
    if slack < -TOLERANCE * max(1.0, d.max() / d[0]):
        raise RuntimeError(
            f"a step of p-norm LMS makes less progress than the theorem says: slack {slack:.3g}"
        )
    return slack


def _identities(
    rng: np.random.Generator, X: Floats, y: Floats, yhat: Floats, theorem: Theorem, columns: Row
) -> list[Row]:
    """Largest differences of predictions, over the largest label: p = 2 and LMS;
    original and rotated rows."""
    eta = Theorem.of(2.0, X).eta
    lms, two = LMS(eta).run(X, y), PNormLMS(eta, 2.0).run(X, y)
    Q = np.linalg.qr(rng.standard_normal((X.shape[1], X.shape[1])))[0]
    rotated = X @ Q
    scale = float(np.abs(y).max())
    measured = [
        ("pnorm_lms", "difference_from_lms_at_p_2", two - lms),
        ("lms", "difference_after_rotation", LMS(eta).run(rotated, y) - lms),
        ("pnorm_lms", "difference_after_rotation", PNormLMS(theorem.eta, theorem.p).run(rotated, y) - yhat),
    ]
    return [
        columns | {"method": m, "metric": metric, "value": float(np.abs(e).max()) / scale}
        for m, metric, e in measured
    ]
