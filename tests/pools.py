"""Pools drawn from a law and split many times: two simple classifiers on equal splits and flips."""

import numpy as np


def average_rows(Z, is_selected):
    """Average the selected rows of Z (N, d) for each split (J, N)."""
    counts = np.maximum(is_selected.sum(axis=1), 1)
    return is_selected @ Z / counts[:, None]


def centroids(Z, labels, train):
    """Classify points Z (N, d) by the nearest-mean rule of each split; labels and train (J, N)."""
    mean_of_ones = average_rows(Z, train & (labels == 1))
    mean_of_zeros = average_rows(Z, train & (labels == 0))
    direction = mean_of_ones - mean_of_zeros
    middle = (mean_of_ones + mean_of_zeros) / 2
    threshold = (middle * direction).sum(axis=1)
    return direction @ Z.T > threshold[:, None]


def drawn(rng, N=200, J=40, share=0.4, flips=(0.2,), inputs=(10, 1), separation=1.0):
    """Draw N points and J splits of them; two rules see the first so many inputs.

    Returns test (J, N), and for each share of flipped labels wrong (2, J, N) of the rules that
    learned from the other points.
    """
    y = rng.random(N) < 0.5
    X = rng.standard_normal((N, max(inputs)))
    X[:, 0] += separation * np.where(y, 1, -1)
    is_first = np.tile(np.arange(N) < round(share * N), (J, 1))
    test = rng.permuted(is_first, axis=1)
    flipped_labels = []
    for rate in flips:
        flipped = rng.random((J, N)) < rate
        flipped_labels.append(y ^ flipped)
    wrong = []
    for labels in flipped_labels:
        of_rules = []
        for d in inputs:
            predicted = centroids(X[:, :d], labels, ~test)
            of_rules.append(predicted != y)
        wrong.append(np.stack(of_rules))
    return test, wrong
