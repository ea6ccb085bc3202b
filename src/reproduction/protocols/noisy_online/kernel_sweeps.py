"""Algorithm 3 against the strength of the noise, and Theorem 5 against the truncation of a radial kernel."""

from typing import Any

import numpy as np

from noisylabels.seeding import Seeds
from noisylabels.theory import regret_bounds
from reproduction.protocols.noisy_online.kernel_round import Round, ball_of
from reproduction.protocols.noisy_online.kernel_tasks import KernelTask, pair_of
from reproduction.protocols.noisy_online.regret import Row


def rows_of(settings: dict[str, Any], task: KernelTask, seeds: Seeds, columns: Row) -> list[Row]:
    """Rows of the sweeps that the settings ask for."""
    rows = _over_variances(settings, task, seeds, columns) if "variances" in settings else []
    if "truncations" in settings:
        rows += _over_truncations(settings, task, columns)
    return rows


def _over_variances(settings: dict[str, Any], task: KernelTask, seeds: Seeds, columns: Row) -> list[Row]:
    """x = variance of the noise on each input: regret at one horizon, bound, constant C of the surrogate."""
    sweep, rows = settings["variances"], []
    for variance in sweep["values"]:
        pair = pair_of(settings["kernel"], task.d, variance)
        rival = task.rivals(pair)[""]
        ball = ball_of(settings, rival, pair)
        own = settings | {"variance": variance}
        sequence = Round(own, task, pair, seeds, f"sweep {columns['repetition']}", sweep["horizon"])
        eta, bound = sequence.step(ball, sweep["factor"])
        place = columns | {"setting": "sweep", "x": variance}
        for method in ("surrogate", "naive_kernel"):
            loss = sequence.loss(method, eta, ball)
            rows.append(place | {"method": method, "metric": "sweep_regret", "value": loss})
        values = {"sweep_bound": bound, "sweep_constant": pair.diagonal}
        rows += [place | {"method": "surrogate", "metric": m, "value": v} for m, v in values.items()]
    return rows


def _over_truncations(settings: dict[str, Any], task: KernelTask, columns: Row) -> list[Row]:
    """x = c: the largest error e^-c of the truncated kernel, and sqrt(B~ G_5), the bound over sqrt T."""
    B_y, rows = task.y_size**2 + settings["target"] ** 2, []
    for c in settings["truncations"]:
        pair = pair_of(settings["kernel"] | {"c": c}, task.d, settings["variance"])
        ball = task.rivals(pair)[""].angle_ball(pair)
        price = float(np.sqrt(ball * regret_bounds.surrogate_moment(ball, pair.diagonal, B_y)))
        place = columns | {"method": "rival", "setting": "truncation", "x": c}
        values = {"truncation_error": float(np.exp(-c)), "bound_over_root_T": price}
        rows += [place | {"metric": m, "value": v} for m, v in values.items()]
    return rows
