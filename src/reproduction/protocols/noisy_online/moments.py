"""The price nu of the noise in Theorems 6 and 7, E ||g~ Psi~||^2 <= nu: where the bounds say nothing."""

from typing import Any

import numpy as np

from noisylabels.losses.analytic import analytic_loss, smoothing_gap
from noisylabels.seeding import Seeds
from noisylabels.theory.estimates import feature_moment
from noisylabels.theory.regret_bounds import log_gradient_moment
from reproduction.protocols.noisy_online.analytic_tasks import kernel_of
from reproduction.protocols.noisy_online.regret import Row


def run(
    settings: dict[str, Any], data: dict[str, Any], seeds: Seeds, repetitions: range, tuned: dict[str, Any]
) -> list[Row]:
    """Rows; setting = kernel, noise = "B = ..", method = "loss p = ..", x = s: log10 of the rounds nu B_w.

    A bound sqrt(B_w nu T) is below T only after nu B_w rounds. gap : largest excess of the smoothed loss.
    """
    rows: list[Row] = []
    for name, kernel in settings["kernels"].items():
        for B_w in settings["balls"]:
            for p in settings["powers"]:
                B_psi = feature_moment(kernel_of(kernel), p, settings["B_x"])
                for loss in settings["losses"]:
                    for s in settings["sharpness"]:
                        log_nu = log_gradient_moment(analytic_loss(loss, s), p, B_w, B_psi, tight=True)
                        at = {"setting": name, "noise": f"B = {B_w:g}", "method": f"{loss} p = {p:g}"}
                        value = float((log_nu + np.log(B_w)) / np.log(10))
                        row = at | {"repetition": 0, "x": s}
                        rows.append(row | {"metric": "log10_rounds", "value": value})
                        gap = smoothing_gap(s, hinge=loss == "smoothed_hinge")
                        rows.append(row | {"metric": "gap", "value": gap})
    return rows
