# ruff: noqa: E402 - the thread variables must be set before NumPy is imported
"""Speed of AdaBoost over logistic regression against scikit-learn's, side by side in one process.

Same problem for both: weights of the points go into each fit ("reweight"), 1/2 ||w||^2 against weights that
sum to one. scikit-learn ends as soon as a member has no edge left, so the times are compared per round, each
over the rounds that were run, and the training errors after the last common round; both are printed.
The median of the runs counts. Below them the times of the other boosters. GentleBoost and ModestBoost have
a peer in scikit-learn's AdaBoost over classification trees of as many leaves, which grows one in each round.

    python benchmarks/boosting.py [--runs 7] [--rounds 100]
"""

import argparse
import os

for variable in ["OMP", "OPENBLAS", "MKL", "NUMBA"]:
    os.environ[f"{variable}_NUM_THREADS"] = "1"

import statistics
import time

import numpy as np
from sklearn.ensemble import AdaBoostClassifier as TheirAdaBoost
from sklearn.linear_model import LogisticRegression
from sklearn.tree import DecisionTreeClassifier

from noisylabels.classifiers.boosting import (
    AdaBoostClassifier,
    GentleBoostClassifier,
    ModestBoostClassifier,
    RBoostClassifier,
)

LEAVES = 4  # of GentleBoost's and ModestBoost's trees
SIZES = [(400, 2), (400, 20), (1300, 18)]  # points and features of Banana, Twonorm, Image


def problem(n, d):
    """Steps along each axis, so that every round finds another half-space, and 30 % flipped labels."""
    rng = np.random.default_rng(n + d)
    X = rng.standard_normal((n, d))
    y = (np.sign(X).sum(axis=1) + 0.5 * X[:, 0] ** 3 > 0).astype(int)
    return X, np.where(rng.random(n) < 0.3, 1 - y, y)


def seconds(model, X, y, runs):
    model.fit(X, y)  # compiles
    spent = []
    for _ in range(runs):
        start = time.process_time()
        model.fit(X, y)
        spent.append(time.process_time() - start)
    return statistics.median(spent)


def errors(model, X, y):
    return [float(np.mean(labels != y)) for labels in model.staged_predict(X)]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--runs", type=int, default=7)
    parser.add_argument("--rounds", type=int, default=100)
    arguments = parser.parse_args()
    T, runs = arguments.rounds, arguments.runs
    for n, d in SIZES:
        X, y = problem(n, d)
        ours = AdaBoostClassifier(weighting="reweight", lam=n / 2, rounds=T)
        theirs = TheirAdaBoost(LogisticRegression(), n_estimators=T)
        mine, his = seconds(ours, X, y, runs), seconds(theirs, X, y, runs)
        a, b = errors(ours, X, y), errors(theirs, X, y)
        common = min(len(a), len(b))
        faster = his / len(b) / (mine / len(a))
        print(
            f"n = {n}, d = {d}: ours {1e3 * mine:.1f} ms for {len(a)} rounds, "
            f"scikit-learn {1e3 * his:.1f} ms for {len(b)}; per round {faster:.0f}x faster; "
            f"training error after {common} rounds {a[common - 1]:.4f} and {b[common - 1]:.4f}, "
            f"at the end {a[-1]:.4f} and {b[-1]:.4f}"
        )
        for model in (
            AdaBoostClassifier(rounds=T),
            AdaBoostClassifier("robust_logistic", rounds=T),
            RBoostClassifier(rounds=T),
            RBoostClassifier("robust_logistic", rounds=T),
            GentleBoostClassifier(rounds=T),
            ModestBoostClassifier(rounds=T),
        ):
            print(f"    {model}: {1e3 * seconds(model.set_params(random_state=0), X, y, 3):.1f} ms")
        tree = DecisionTreeClassifier(max_leaf_nodes=LEAVES)
        peer = TheirAdaBoost(tree, n_estimators=T, random_state=0)
        print(f"    scikit-learn's AdaBoost over trees: {1e3 * seconds(peer, X, y, 3):.1f} ms")


if __name__ == "__main__":
    main()
