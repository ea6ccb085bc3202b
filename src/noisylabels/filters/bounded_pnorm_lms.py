"""Bounded p-norm LMS: the weights stay in a ball, so that a moving target can be followed."""

from __future__ import annotations

from noisylabels.arrays import number
from noisylabels.filters.pnorm_lms import PNormLMS
from noisylabels.theory.link import Power


class BoundedPNormLMS(PNormLMS):
    """`pnorm_lms`, and after each step (w_t, theta_t) <- (w_t, theta_t) min(1, U_q / ||w_t||_q).

    The scaling is the Bregman projection on ||w||_q <= U_q; it keeps w = f^-1(theta), since f is homogeneous.
    eta, p: as `pnorm_lms`.  radius: U_q >= ||u_t||_q of all targets, > 0; 1/p + 1/q = 1.
    Raises ValueError: radius <= 0; as `pnorm_lms`.
    Source: slides of Kivinen, Warmuth, Hassibi, "time-varying targets"; Herbster, Warmuth, JMLR 1, 2001.
    """

    name = "bounded_pnorm_lms"

    def __init__(self, eta: float = 0.01, p: Power = "auto", radius: float = 1.0) -> None:
        super().__init__(eta, p)
        self.radius = number("radius", radius, above=0)

    def _radius(self) -> float:
        return self.radius
