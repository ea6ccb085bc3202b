"""Multiple kernel learning for a known flip rate: our reconstruction of StPMKL (Yang et al., 2012)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from noisylabels.bases.multi_kernel import Mixture, MultiKernelClassifier
from noisylabels.kernels.bank import KernelBank
from noisylabels.solvers.mirror_prox import Factors, mirror_prox
from noisylabels.validation import number, numbers, whole

Array = NDArray[np.float64]


class StPMKLLikeClassifier(MultiKernelClassifier):
    """min_{p in simplex} min_f ||f||^2_{K_p} / 2 + C sum_n (1 - rho) hinge(s_n f_n) + rho hinge(-s_n f_n).

    f(x) = sum_i p_i sum_n w_n kappa_i(x, x_n),  hinge(z) = max(0, 1 - z),  s_n = +-1 the observed label,
    which is wrong with the **known** probability rho. The saddle point of its dual is found by `mirror_prox`.
    A reconstruction: the original's exact minimax problem could not be read.

    widths : of the Gaussian kernels; None: 2^-10 ... 2^10.
    parametrisation : see `noisylabels.kernels.gaussian.rbf`.
    rho : in [0, 1/2).   C : in (0, 1e12].   tolerance : relative duality gap.   max_iter : of mirror-prox.

    Fitted: weights_ (n,) = w, eta_ (S,) = p, classes_ (2,), X_fit_ (n, d), gap_, n_iter_, converged_,
    flags_ (not_converged) and flagged_.
    Raises ValueError : labels that are not two classes, NaN or infinity, wrong parameters.
    Source: after Yang et al., Stochastic Programming Multiple Kernel Learner, 2012.
    """

    name = "stpmkl_like"
    FLIP_RATE: ClassVar[str] = "rho"

    def __init__(
        self,
        widths: ArrayLike | None = None,
        *,
        parametrisation: str = "sigma2",
        rho: float | Sequence[float] = 0.0,
        C: float = 1.0,
        tolerance: float = 1e-3,
        max_iter: int = 2000,
    ) -> None:
        self.widths = widths
        self.parametrisation = parametrisation
        self.rho = rho
        self.C = C
        self.tolerance = tolerance
        self.max_iter = max_iter

    def _learn(self, bank: KernelBank, D: Array, labels: Array) -> list[Mixture]:
        """With one rho for all columns of ``labels``, or a sequence with one for each."""
        rates = numbers("rho", self.rho, least=0, below=0.5)
        if len(rates) not in (1, labels.shape[1]):
            raise ValueError(f"rho: {len(rates)} flip rates for {labels.shape[1]} columns of labels")
        rates = np.broadcast_to(rates, labels.shape[1])
        number("C", self.C, above=0, most=1e12)
        number("tolerance", self.tolerance, above=0)
        whole("max_iter", self.max_iter, 1)
        stack = bank.stack(D)
        factors = Factors.of(stack.K)
        return [
            self._mixture(factors, stack.member, 2.0 * y - 1.0, float(rho))
            for y, rho in zip(labels.T, rates, strict=True)
        ]

    def _mixture(self, factors: Factors, member: NDArray[np.intp], s: Array, rho: float) -> Mixture:
        saddle = mirror_prox(factors, s, rho, self.C, tolerance=self.tolerance, iterations=self.max_iter)
        eta = saddle.p[member] / np.bincount(member)[member]  # equal kernels share their weight
        converged = bool(saddle.gap < self.tolerance)
        fitted = {"gap_": saddle.gap, "n_iter_": saddle.iterations, "converged_": converged}
        return Mixture(saddle.v, eta, {"not_converged": not converged}, fitted=fitted)
