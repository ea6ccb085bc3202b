"""Algorithm 1: noise of unknown law, of which only the size is bounded; two copies of every instance."""

from __future__ import annotations

from numpy.typing import ArrayLike

from noisylabels.online.base import LinearLearner, Run
from noisylabels.online.descent import step, whole_run
from noisylabels.online.oracles import Oracle


class TwoCopy(LinearLearner):
    """w_{t+1} = P(w_t - eta 2 (<w_t, x~_t> - y~_t) x~'_t),  x~_t and x~'_t independent copies of x_t.

    The gradient estimate is unbiased, whatever the noise: its two factors are independent.
    eta: step size, > 0, from `theory.regret_bounds.best_step`.  B_w: squared radius.
    Raises ValueError: eta or B_w not positive and finite; fewer than two copies.
    Source: Cesa-Bianchi, Shalev-Shwartz, Shamir 2011, Algorithm 1 and Lemma 2.
    """

    name = "two_copy"

    def _learn(self, oracle: Oracle) -> None:
        first, second = self._copy(oracle), self._copy(oracle)
        step(self.w, first, oracle.target(), second, 0, self.eta, self.B_w)

    def run(self, X: ArrayLike, X1: ArrayLike, X2: ArrayLike, y: ArrayLike, *, average_from: int = 0) -> Run:
        """T rounds at once, the same numbers as `partial_fit` on the same copies.

        X: (T, d) instances to predict, never learnt from.  X1, X2: (T, d) independent copies.  y: (T,) noisy
        targets.  Raises ValueError: wrong shape, not finite, X2 the same array as X1, divergence.
        """
        if X1 is X2:
            raise ValueError("two_copy: X1 and X2 must be independent copies, got one array twice")
        return whole_run(self, X, X1, X2, y, average_from)
