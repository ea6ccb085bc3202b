"""Normalised p-norm LMS: the step divided by the squared p-norm of the row, as NLMS does for p = 2."""

from __future__ import annotations

import numpy as np

from noisylabels.arrays import Floats, number
from noisylabels.filters.base import Rows
from noisylabels.filters.pnorm_lms import PNormLMS
from noisylabels.theory.link import Power, norm


class NormalizedPNormLMS(PNormLMS):
    """`pnorm_lms` with eta_t = eta / (eps + (p - 1) ||x_t||_p^2): no bound on the rows has to be known.

    eta: > 0, dimensionless; at eta = 1 no step makes more progress than the theorem counts.
    eps: regularisation in units of ||x||^2, >= 0; a row with eps + ||x_t|| = 0 is skipped.
    p = 2 is NLMS. Raises ValueError: eta <= 0, eps < 0; as `pnorm_lms`.
    Source: an extension of Kivinen, Warmuth, Hassibi, not in the slides.
    """

    name = "normalized_pnorm_lms"

    def __init__(self, eta: float = 1.0, p: Power = "auto", eps: float = 0.0) -> None:
        super().__init__(eta, p)
        self.eps = number("eps", eps, least=0)

    def _rates(self, rows: Rows, p: float) -> Floats:
        windows = np.lib.stride_tricks.sliding_window_view(rows.flat, rows.d)[:: rows.step]
        block = max(1, 2**16 // rows.d)  # rows at a time: a sliding window is never stored whole
        if rows.step == 1:  # each sample is raised to p once, over the largest of all
            top = max(float(np.abs(rows.flat).max()), 1e-290)
            windows = np.lib.stride_tricks.sliding_window_view((np.abs(rows.flat) / top) ** p, rows.d)
            total = np.concatenate([windows[i : i + block].sum(axis=1) for i in range(0, rows.n, block)])
            size = top * total ** (1.0 / p)
        else:
            size = np.concatenate([norm(windows[i : i + block], p) for i in range(0, rows.n, block)])
        energy = self.eps + (p - 1.0) * size**2
        return np.divide(self.eta, energy, out=np.zeros(rows.n), where=energy > 0)
