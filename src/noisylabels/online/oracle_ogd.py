"""The control: gradient descent on clean instances, which nobody has when there is noise."""

from __future__ import annotations

from numpy.typing import ArrayLike

from noisylabels.online.base import LinearLearner, Run
from noisylabels.online.descent import step, whole_run
from noisylabels.online.oracles import Oracle


class OracleOGD(LinearLearner):
    """w_{t+1} = P(w_t - eta 2 (<w_t, x_t> - y_t) x_t) on the clean x_t.

    eta: step size, > 0.  B_w: squared radius. To be fed by an oracle without noise.
    Raises ValueError: eta or B_w not positive and finite.
    Source: M. Zinkevich, Online convex programming and generalized infinitesimal gradient ascent, ICML 2003.
    """

    name = "oracle_ogd"

    def _learn(self, oracle: Oracle) -> None:
        x = self._copy(oracle)
        step(self.w, x, oracle.target(), x, 0, self.eta, self.B_w)

    def run(self, X: ArrayLike, y: ArrayLike, *, average_from: int = 0) -> Run:
        """T rounds at once on clean X (T, d), y (T,).

        Raises ValueError: wrong shape, not finite, divergence.
        """
        return whole_run(self, X, X, X, y, average_from)
