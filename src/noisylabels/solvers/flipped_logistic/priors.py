"""Step by step readings of zeta, the weight of the penalty, from a prior of the weights."""

from __future__ import annotations

from noisylabels.validation import choice

BETA = 2.0  # rate of the exponential prior of zeta
PRIOR_FACTORS = {"slides": 1.0, "exact": 0.5}


def prior_factor_value(prior_factor: str) -> float:
    """c_zeta of `marginal_zeta`: 1 for "slides", 1/2 for "exact"; ValueError: another name."""
    return PRIOR_FACTORS[choice("prior_factor", prior_factor, PRIOR_FACTORS)]


def marginal_zeta(square: float, n: int, factor: float, beta: float = BETA) -> float:
    """zeta = c_zeta (n/2 + 1) / (||w||^2 / 2 + beta), read off the marginal prior of n weights w.

    square = ||w||^2. c_zeta = 1 is the paper's reading, 1/2 makes 2 zeta w the exact gradient of -log p(w).
    Source: Kaban and Bootkrajang, LABELNOISE 2017, marginal prior of w.
    """
    return factor * (n / 2.0 + 1.0) / (square / 2.0 + beta)
