"""Compiled sums of the EM algorithm of Dawid and Skene over the labels of all items.

q_ij ~ pi_j prod_l C_w(l),j,label(l) over the labels l of item i; the expected counts of annotator
w are sum_l q_item(l),j over its labels. The sums run in the order of the labels, so they are equal
to those of `numpy.bincount` to the last bit.

Source: Dawid and Skene, Applied Statistics 28, 1979.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from noisylabels.compilation import compile_kernel
from noisylabels.fixed_order.exp_and_log import LARGEST, exp_of_negative, log_of_positive
from noisylabels.validation import Floats

Codes = NDArray[np.int64]


@compile_kernel(error_model="numpy")
def add_log_rates(
    item: Codes,
    annotator: Codes,
    label: Codes,
    rates: Floats,
    joint: Floats,
) -> None:
    """Add the log rates of all labels to the log probabilities of their items.

    Parameters
    ----------
    item, annotator, label : ndarray of shape (L,)
        Numbers of the item, the annotator and the class of each label.
    rates : ndarray of shape (W, K, K)
        Log rate at [w, k, j] at which annotator w calls an item of class j a k.
    joint : ndarray of shape (n, K)
        Added to: log probabilities of the classes of each item.
    """
    for number in range(len(item)):
        target = joint[item[number]]
        added = rates[annotator[number], label[number]]
        for j in range(len(target)):
            target[j] += added[j]


@compile_kernel(error_model="numpy")
def normalise(joint: Floats, posterior: Floats, evidence: Floats) -> float:
    """Turn log probabilities into posterior probabilities.

    Parameters
    ----------
    joint : ndarray of shape (n, K)
        Log probabilities of the classes of each item; overwritten.
    posterior : ndarray of shape (n, K)
        The earlier posterior probabilities, replaced by the new ones. A class that is e^700 times
        less probable than the best one counts as that.
    evidence : ndarray of shape (n,)
        Filled with the log of each item's sum.

    Returns
    -------
    float
        The largest change of a posterior probability.
    """
    n, K = joint.shape
    top = np.empty(n)
    for i in range(n):
        top[i] = joint[i].max()
        for j in range(K):
            joint[i, j] = max(joint[i, j] - top[i], -LARGEST)
    flat = joint.reshape(-1)
    for k in range(len(flat)):  # a separate loop, which the compiler turns into vector instructions
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
def count_labels(
    item: Codes,
    annotator: Codes,
    label: Codes,
    posterior: Floats,
    counts: Floats,
) -> None:
    """Add up the posterior probabilities of the labelled items by annotator and label.

    Parameters
    ----------
    item, annotator, label : ndarray of shape (L,)
        Numbers of the item, the annotator and the class of each label.
    posterior : ndarray of shape (n, K)
        Probabilities of the classes of each item.
    counts : ndarray of shape (W, K, K)
        Added to: expected number at [w, k, j] of items of class j that annotator w calls k.
    """
    for number in range(len(item)):
        target = counts[annotator[number], label[number]]
        added = posterior[item[number]]
        for j in range(len(target)):
            target[j] += added[j]
