"""The sums of Dawid and Skene's EM over the labels of all items, compiled.

q_ij ~ pi_j prod_l C_w(l),j,label(l) over the labels l of item i; the expected counts of annotator w are
sum_l q_item(l),j over its labels. The sums run in the order of the labels, so they are equal to those of
`numpy.bincount` to the last bit.

Source: Dawid and Skene, Applied Statistics 28, 1979.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from noisylabels.compilation import compile_kernel
from noisylabels.fixed_order import LARGEST, exp_of_negative, log_of_positive
from noisylabels.validation import Floats

Codes = NDArray[np.int64]


@compile_kernel(error_model="numpy")
def add_log_rates(item: Codes, annotator: Codes, label: Codes, rates: Floats, joint: Floats) -> None:
    """Add the log rates of the labels of item i to joint[i]: rates[w, k, j] of a label k by annotator w."""
    for one in range(len(item)):
        target = joint[item[one]]
        added = rates[annotator[one], label[one]]
        for j in range(len(target)):
            target[j] += added[j]


@compile_kernel(error_model="numpy")
def normalise(joint: Floats, posterior: Floats, evidence: Floats) -> float:
    """Replace posterior (n, K) by exp(joint) / sums and fill evidence (n,) with the logarithms of the sums.

    Returns the largest change of an entry. A class that is e^700 times less probable than the best one counts
    as that. Joint is overwritten.
    """
    n, K = joint.shape
    top = np.empty(n)
    for i in range(n):
        top[i] = joint[i].max()
        for j in range(K):
            joint[i, j] = max(joint[i, j] - top[i], -LARGEST)
    flat = joint.reshape(-1)
    for k in range(len(flat)):  # by itself, so that it becomes vectors
        flat[k] = exp_of_negative(flat[k])
    changed = 0.0
    for i in range(n):
        evidence[i] = 0.0
        for j in range(K):
            evidence[i] += joint[i, j]
        for j in range(K):
            share = joint[i, j] / evidence[i]
            changed = max(changed, abs(share - posterior[i, j]))
            posterior[i, j] = share
    for i in range(n):
        evidence[i] = top[i] + log_of_positive(evidence[i])
    return changed


@compile_kernel(error_model="numpy")
def count_labels(item: Codes, annotator: Codes, label: Codes, posterior: Floats, counts: Floats) -> None:
    """Add to counts[w, k, j] the probability of class j of each item that annotator w calls k."""
    for one in range(len(item)):
        target = counts[annotator[one], label[one]]
        added = posterior[item[one]]
        for j in range(len(target)):
            target[j] += added[j]
