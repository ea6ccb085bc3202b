"""What a kernel method returns for many label columns and many values of its parameter."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class Fits:
    """Decision values f(x) on m held-out points for L label columns and G values of the parameter.

    scores : (L, G, m), f > 0 means class 1. Where a fit has f = 0 at all m points, +-1e-12 for the class that
        was observed more often, and it is flagged.
    omega01, omega10 : (L, G), estimated flip rates P(observed 1 | true 0) and P(observed 0 | true 1); NaN
        where the method has none.
    flagged : (L, G), a fallback or doubtful: one class only, f = 0, not converged, classes swapped.
    """

    scores: NDArray[np.float64]
    omega01: NDArray[np.float64]
    omega10: NDArray[np.float64]
    flagged: NDArray[np.bool_]
