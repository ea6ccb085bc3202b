"""Plain NumPy versions of the compiled loops, in the form of the paper, with r_t and alpha_t."""

import numpy as np

from noisylabels.filters.base import NoisySequence, Sliding
from noisylabels.filters.ors import ORS, VARIANTS

R, BETA = 3.0, 2.0


def filters(r=R, beta=BETA):
    """Make one filter of every variant."""
    return [ORS(name, r=r, beta=beta if name == "beta" else None) for name in VARIANTS]


def sequence(T, d, *, seed=0, sliding=False, delay=0):
    """Draw a noisy linear target with two labels a round, whose variances are uniform."""
    rng = np.random.default_rng(seed)
    x = Sliding(rng.normal(size=T), d, delay=delay) if sliding else rng.normal(size=(T, d))
    rows = x.rows(0, T) if isinstance(x, Sliding) else x
    y = rows @ rng.normal(size=d) / np.sqrt(d) + 0.1 * rng.normal(size=T)
    v = rng.uniform(0, 5, size=T)
    return NoisySequence(x, y, y[:, None] + np.sqrt(v)[:, None] * rng.normal(size=(T, 2)), v)


def as_rows(data):
    """Make the same sequence with its sliding window written out."""
    return NoisySequence(data.x.rows(0, len(data)), data.y, data.labels, data.v)


def told(data, part=slice(None)):
    """List all side information."""
    return {"v": data.v[part], "second": data.labels[part, 1], "clean": data.y[part]}


def alpha(variant, r, X, yhat, y, label1, label2, v):
    """Compute equation (5) with the proxies of the variant; at delta = 0 its limit, 1 or 0."""
    mean = (label1 + label2) / 2
    ybar, vbar = {
        "clean": (y, 0.0),
        "noisy": (label1, 0.0),
        "two_noisy": (mean, 0.0),
        "opt": (y, v),
        "one": (label1, v),
        "one_pred": ((label1 + yhat) / 2, v),
        "two": (mean, v / 2),
        "one_pred_u": ((label1 + yhat) / 2, (label1 - yhat) ** 2 / 4),
        "two_u": (mean, (label1 - label2) ** 2 / 4),
    }[variant]
    if vbar == 0:
        return 1.0
    if ybar == yhat:
        return 0.0
    return 1 / (1 + (r + X) * vbar / (r * (ybar - yhat) ** 2))


def run(variant, data, r=R, beta=BETA):
    """Predictions of equation (4), r_t = r / alpha_t; rule (6) for "beta"."""
    rows = data.x.rows(0, len(data)) if isinstance(data.x, Sliding) else data.x
    w = np.zeros(data.d)
    yhat = np.empty(len(data))
    for t, x in enumerate(rows):
        yhat[t] = w @ x
        first, second = data.labels[t, 0], data.labels[t, 1]
        label = {"clean": data.y[t], "two": (first + second) / 2}.get(variant.split("_")[0], first)
        if variant == "beta":
            share = 1 / (1 + beta * data.v[t])
        else:
            share = alpha(variant, r, x @ x, yhat[t], data.y[t], first, second, data.v[t])
        if share > 0:
            w = w + (label - yhat[t]) * x / (r / share + x @ x)
    return yhat
