"""Kernel learners on noisy instances, squared loss: Algorithm 3, its ablation, and the naive learner.

Every horizon is a run of its own;
all learners of a repetition share the clean sequence, the copies and the targets.
"""

from typing import Any

import numpy as np

from noisylabels.kernels.surrogate import SurrogatePair
from noisylabels.seeding import Seeds
from reproduction.protocols.noisy_online import kernel_sweeps
from reproduction.protocols.noisy_online.kernel_round import Round, ball_of
from reproduction.protocols.noisy_online.kernel_tasks import KernelTask, Rival, pair_of, task_of
from reproduction.protocols.noisy_online.regret import Row, rows_of


def run(
    settings: dict[str, Any], data: dict[str, Any], seeds: Seeds, repetitions: range, tuned: dict[str, Any]
) -> list[Row]:
    """Rows; setting = "m = ..", the multiple of the theorem's step, after "B = .." if there are rivals.

    The naive learner with its own best step has the setting "tuned".
    Repetition 0 also has the geometry of the rivals (metrics of method "rival"),
    the learned functions on a grid, and the sweep over c, if asked for.
    """
    task = task_of(settings)
    pair = pair_of(settings["kernel"], task.d, settings["variance"])
    rivals = task.rivals(pair)
    rows: list[Row] = []
    for repetition in repetitions:
        columns = {"dataset": task.name, "source": task.source, "repetition": repetition}
        for name, rival in rivals.items():
            rows += _curves(settings, task, pair, (name, rival), seeds, columns, tuned)
        rows += kernel_sweeps.rows_of(settings, task, seeds, columns)
        if repetition == 0:
            rows += _geometry(rivals, pair, columns | {"method": "rival"})
            if "surface" in settings:
                rows += _surface(settings, task, pair, rivals[""], seeds, columns)
    return rows


def _curves(
    settings: dict[str, Any], task: KernelTask, pair: SurrogatePair, named: tuple[str, Rival],
    seeds: Seeds, columns: Row, tuned: dict[str, Any],
) -> list[Row]:  # fmt: skip
    name, rival = named
    ball = ball_of(settings, rival, pair)
    jobs = [(method, factor) for factor in settings["factors"] for method in settings["learners"]]
    regrets: dict[tuple[str, str], dict[int, float]] = {}
    bounds: dict[tuple[str, str], dict[int, float]] = {}
    for horizon in settings["horizons"]:
        sequence = Round(settings, task, pair, seeds, columns["repetition"], horizon * task.rounds)
        own = [("naive_kernel_tuned", tuned[str(horizon)])] if tuned else []
        for method, factor in jobs + own:
            eta, bound = sequence.step(ball, factor)
            multiple = "tuned" if method == "naive_kernel_tuned" else f"m = {factor:g}"
            key = method, " ".join(filter(None, [name, multiple]))
            loss = sequence.loss(method, eta, ball)
            regrets.setdefault(key, {})[sequence.T] = loss - rival.loss * sequence.T
            bounds.setdefault(key, {})[sequence.T] = bound
    rows = []
    for (method, setting), found in regrets.items():
        own_bounds = bounds[method, setting] if method == "surrogate" else None
        place = columns | {"method": method, "setting": setting}
        rows += rows_of(place, found, own_bounds, lasts=settings["exponent_horizons"])
    return rows


def _geometry(rivals: dict[str, Rival], pair: SurrogatePair, columns: Row) -> list[Row]:
    """cos alpha, norms and balls of the rivals."""
    rows = []
    for name, rival in rivals.items():
        values = {
            "cos_alpha": float(np.cos(rival.alpha)),
            "norm": rival.norm,
            "surrogate_norm": rival.surrogate_norm,
            "angle_ball": rival.angle_ball(pair),
            "constant": pair.diagonal,
        }
        rows += [columns | {"setting": name, "metric": m, "value": v} for m, v in values.items()]
    return rows


def _surface(
    settings: dict[str, Any], task: KernelTask, pair: SurrogatePair, rival: Rival, seeds: Seeds, columns: Row
) -> list[Row]:
    """Functions after one run on a square grid; x = number of the point, line by line from the lower left."""
    spec = settings["surface"]
    side = np.linspace(-1, 1, spec["side"])
    grid = np.column_stack([a.ravel() for a in np.meshgrid(side, side)])
    sequence = Round(settings, task, pair, seeds, columns["repetition"], spec["horizon"])
    ball = ball_of(settings, rival, pair)
    eta, _ = sequence.step(ball, spec["factor"])
    shown = {"truth": pair.kernel(grid, rival.centres) @ rival.gamma}
    for method in ("surrogate", "naive_kernel"):
        shown[method] = sequence.learn(method, eta, ball)[0].predict(grid)
    return [
        columns | {"method": method, "metric": "surface", "x": i, "value": float(value)}
        for method, values in shown.items()
        for i, value in enumerate(values)
    ]
