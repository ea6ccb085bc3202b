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
    if sliding:
        x = Sliding(rng.normal(size=T), d, delay=delay)
        rows = x.rows(0, T)
    else:
        x = rng.normal(size=(T, d))
        rows = x
    target = rng.normal(size=d)
    y = rows @ target / np.sqrt(d) + 0.1 * rng.normal(size=T)
    v = rng.uniform(0, 5, size=T)
    deviation = np.sqrt(v)[:, None]
    labels = y[:, None] + deviation * rng.normal(size=(T, 2))
    return NoisySequence(x, y, labels, v)


def as_rows(data):
    """Make the same sequence with its sliding window written out."""
    return NoisySequence(data.x.rows(0, len(data)), data.y, data.labels, data.v)


def side_information(data, part=slice(None)):
    """List all side information."""
    return {"v": data.v[part], "second": data.labels[part, 1], "clean": data.y[part]}


def proxies(variant, yhat, y, label1, label2, v):
    """List what each variant takes for the clean label and for the variance of its label."""
    mean = (label1 + label2) / 2
    towards_prediction = (label1 + yhat) / 2
    return {
        "clean": (y, 0.0),
        "noisy": (label1, 0.0),
        "two_noisy": (mean, 0.0),
        "opt": (y, v),
        "one": (label1, v),
        "one_pred": (towards_prediction, v),
        "two": (mean, v / 2),
        "one_pred_u": (towards_prediction, (label1 - yhat) ** 2 / 4),
        "two_u": (mean, (label1 - label2) ** 2 / 4),
    }[variant]


def alpha(variant, r, X, yhat, y, label1, label2, v):
    """Compute equation (5) with the proxies of the variant; at delta = 0 its limit, 1 or 0."""
    ybar, vbar = proxies(variant, yhat, y, label1, label2, v)
    if vbar == 0:
        return 1.0
    if ybar == yhat:
        return 0.0
    squared_error = (ybar - yhat) ** 2
    return 1 / (1 + (r + X) * vbar / (r * squared_error))


def run(variant, data, r=R, beta=BETA):
    """Predictions of equation (4), r_t = r / alpha_t; rule (6) for "beta"."""
    is_sliding = isinstance(data.x, Sliding)
    rows = data.x.rows(0, len(data)) if is_sliding else data.x
    w = np.zeros(data.d)
    yhat = np.empty(len(data))
    for t, x in enumerate(rows):
        yhat[t] = w @ x
        y = data.y[t]
        v = data.v[t]
        first, second = data.labels[t]
        if variant == "clean":
            label = y
        elif variant.startswith("two"):
            label = (first + second) / 2
        else:
            label = first
        X = x @ x
        if variant == "beta":
            share = 1 / (1 + beta * v)
        else:
            share = alpha(variant, r, X, yhat[t], y, first, second, v)
        if share > 0:
            w = w + (label - yhat[t]) * x / (r / share + X)
    return yhat
