# ruff: noqa: E402 - the thread variables must be set before NumPy is imported
"""Speed of AdaBoost over logistic regression against scikit-learn's, side by side in one process.

Same problem for both: weights of the points go into each fit ("reweight"), 1/2 ||w||^2 against
weights that sum to one. scikit-learn ends as soon as a member has no edge left, so the times are
compared per round, each over the rounds that were run, and the training errors after the last
common round; both are printed. The median of the runs counts. Below them the times of the other
boosters. GentleBoost and ModestBoost have a peer in scikit-learn's AdaBoost over classification
trees of as many leaves, which grows one in each round.

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
    """Make steps along each axis, so that every round finds another half-space; flip 30 %."""
    rng = np.random.default_rng(n + d)
    X = rng.standard_normal((n, d))
    score = np.sign(X).sum(axis=1) + 0.5 * X[:, 0] ** 3
    y = (score > 0).astype(int)
    flipped = rng.random(n) < 0.3
    return X, np.where(flipped, 1 - y, y)


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
    form = argparse.RawTextHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=form)
    parser.add_argument("--runs", type=int, default=7)
    parser.add_argument("--rounds", type=int, default=100)
    arguments = parser.parse_args()
    for n, d in SIZES:
        X, y = problem(n, d)
        print(f"n = {n}, d = {d}: ", end="")
        compare(X, y, arguments.rounds, arguments.runs)
        time_others(X, y, arguments.rounds)


def compare(X, y, rounds, runs):
    """Print the times and the training errors of our AdaBoost and scikit-learn's."""
    ours = AdaBoostClassifier(weighting="reweight", lam=len(y) / 2, rounds=rounds)
    theirs = TheirAdaBoost(LogisticRegression(), n_estimators=rounds)
    our_seconds = seconds(ours, X, y, runs)
    their_seconds = seconds(theirs, X, y, runs)
    our_errors = errors(ours, X, y)
    their_errors = errors(theirs, X, y)
    common = min(len(our_errors), len(their_errors))
    our_seconds_of_round = our_seconds / len(our_errors)
    their_seconds_of_round = their_seconds / len(their_errors)
    faster = their_seconds_of_round / our_seconds_of_round
    last = common - 1
    print(
        f"ours {1e3 * our_seconds:.1f} ms for {len(our_errors)} rounds, "
        f"scikit-learn {1e3 * their_seconds:.1f} ms for {len(their_errors)}; "
        f"per round {faster:.0f}x faster; training error after {common} rounds "
        f"{our_errors[last]:.4f} and {their_errors[last]:.4f}, "
        f"at the end {our_errors[-1]:.4f} and {their_errors[-1]:.4f}"
    )


def time_others(X, y, rounds):
    """Print the time of every other booster."""
    boosters = [
        AdaBoostClassifier(rounds=rounds),
        AdaBoostClassifier("robust_logistic", rounds=rounds),
        RBoostClassifier(rounds=rounds),
        RBoostClassifier("robust_logistic", rounds=rounds),
        GentleBoostClassifier(rounds=rounds),
        ModestBoostClassifier(rounds=rounds),
    ]
    models = {str(booster): booster.set_params(random_state=0) for booster in boosters}
    tree = DecisionTreeClassifier(max_leaf_nodes=LEAVES)
    peer = TheirAdaBoost(tree, n_estimators=rounds, random_state=0)
    models["scikit-learn's AdaBoost over trees"] = peer
    for name, model in models.items():
        print(f"    {name}: {1e3 * seconds(model, X, y, 3):.1f} ms")


if __name__ == "__main__":
    main()
