"""The filter of the paper, and its protocol: a system is identified from noisy labels."""

import numpy as np

from noisylabels.filters.base import Filter
from reproduction.spec.protocol import protocol
from reproduction.spec.settings import Count, Method, Methods, Positive, Repeated, Some


class SignLMS(Filter):
    """The sign filter, w_t = w_{t-1} + mu sign(e_t) x_t; replace it by the filter of the paper."""

    name = "sign_lms"

    def __init__(self, mu=0.01):
        self.mu = mu

    def _learn(self, rows, w, y, yhat, side):
        for t in range(rows.n):
            x = rows.flat[t * rows.step : t * rows.step + rows.d]
            yhat[t] = w @ x
            w += self.mu * np.sign(y[t] - yhat[t]) * x


class Settings(Repeated):
    rounds: Count
    freedom: Some[Positive]
    methods: Methods[Method]


@protocol(Settings, labels=("excess", "steady", "t *"))
def identification(settings, loop):
    """Measure the excess error (yhat - w*.x)^2 in windows of rounds, for labels with t noise."""
    for repetition in loop:
        X = repetition.rng("inputs").standard_normal((settings.rounds, 5))
        clean = X @ repetition.rng("system").standard_normal(5)
        for freedom in settings.freedom:
            y = clean + 0.1 * repetition.rng("noise").standard_t(freedom, len(X))
            for label, method in settings.methods.items():
                of_method = repetition.with_columns(noise=f"t {freedom:g}", method=label)
                error = (method.build().run(X, y) - clean) ** 2
                windows = [part.mean() for part in np.array_split(error, 20)]
                yield from of_method.curve("excess", enumerate(windows, start=1))
                yield of_method.row("steady", windows[-1])
