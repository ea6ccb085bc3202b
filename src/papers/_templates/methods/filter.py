"""Another filter of the paper."""

import numpy as np

from noisylabels.filters.base import Filter


class SignLMS(Filter):
    """The sign filter, w_t = w_{t-1} + mu sign(e_t) x_t; replace it by the filter of the paper."""

    name = "sign_lms"

    def __init__(self, mu=0.01):
        self.mu = mu

    def _learn(self, rows, w, y, yhat, side):
        """Predict each row before its label, and update the weights w (d,) in place."""
        for t in range(rows.n):
            x = rows.flat[t * rows.step : t * rows.step + rows.d]
            yhat[t] = w @ x
            w += self.mu * np.sign(y[t] - yhat[t]) * x
