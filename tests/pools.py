"""Pools drawn from a law, split again and again: two simple classifiers on the same splits and flips."""

import numpy as np


def centroids(Z, labels, train):
    """Classify all points Z (N, d) by the nearest-mean rule of each split; labels and train (J, N)."""
    ones, zeros = train & (labels == 1), train & (labels == 0)
    above = ones @ Z / np.maximum(ones.sum(axis=1), 1)[:, None]
    below = zeros @ Z / np.maximum(zeros.sum(axis=1), 1)[:, None]
    direction = above - below
    return direction @ Z.T > ((above + below) * direction).sum(axis=1)[:, None] / 2


def drawn(rng, N=200, J=40, share=0.4, flips=(0.2,), inputs=(10, 1), separation=1.0):
    """Draw N points and J splits of them; two rules see the first so many inputs.

    Returns test (J, N), and for each share of flipped labels wrong (2, J, N) of the rules that learned from
    the other points.
    """
    y = rng.random(N) < 0.5
    X = rng.standard_normal((N, max(inputs)))
    X[:, 0] += separation * np.where(y, 1, -1)
    test = rng.permuted(np.tile(np.arange(N) < round(share * N), (J, 1)), axis=1)
    labels = [y ^ (rng.random((J, N)) < rate) for rate in flips]
    return test, [np.stack([centroids(X[:, :d], each, ~test) != y for d in inputs]) for each in labels]
