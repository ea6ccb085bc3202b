"""Do the upper limit and the review of an audit cover where rows are copies?

Tables of normal columns, a quarter of the labels wrong. A share of the rows is copied once with its label,
exactly or with noise of some standard deviations per column. Given for each kind of table and model: how
often the upper limit that labels alone allow, and the interval of 100 reviewed rows, hold the true share of
wrong labels, and the share of copies that are in the group of their row.

    python benchmarks/audit_copies.py [--tables 20] [--models logistic forest rmklr gradient_boosting]
"""

import argparse
import itertools
import tempfile
import warnings
from pathlib import Path

import numpy as np
import pandas as pd

import noisylabels


def make_table(rows, columns, share, noise, seed):
    """X, observed labels, true labels, and the number of the row that each comes from."""
    rng = np.random.default_rng([seed, rows, columns])
    X = rng.normal(size=(rows, columns))
    true = (X[:, 0] + X[:, 1] > 0).astype(int)
    observed = np.where(rng.random(rows) < 0.25, 1 - true, true)
    copied = rng.choice(rows, round(share * rows), replace=False)
    copies = X[copied] + noise * rng.normal(size=(len(copied), columns))
    source = np.concatenate([np.arange(rows), copied])
    order = rng.permutation(len(source))
    source = source[order]
    return np.vstack([X, copies])[order], observed[source], true[source], source


def share_found(groups, source):
    """The share of copies that are in one group with their row."""
    order = np.argsort(source, kind="stable")
    copy = source[order][1:] == source[order][:-1]
    together = groups[order][1:] == groups[order][:-1]
    return together[copy].mean() if copy.any() else float("nan")


def judge(X, observed, true, source, model, seed):
    """Whether the limit and the interval of a review hold the share of wrong labels."""
    found = noisylabels.audit(X, observed, model=model, compare=False, repetitions=1, random_state=seed)
    wrong = np.mean(observed != true)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "review.csv"
        noisylabels.review(found, path, 100, random_state=seed)
        sheet = pd.read_csv(path)
        sheet.assign(true=true[sheet["row"]]).to_csv(path, index=False)
        interval = noisylabels.review(found, path, 100, random_state=seed).wrong
    return {
        "limit covers": found.bounds[1] >= wrong,
        "limit": found.bounds[1],
        "review covers": interval.low <= wrong <= interval.high,
        "copies found": share_found(found.copies.groups, source),
    }


def main():
    warnings.simplefilter("ignore")
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--tables", type=int, default=20)
    parser.add_argument("--rows", type=int, default=300)
    parser.add_argument("--columns", type=int, nargs="+", default=[5])
    parser.add_argument("--shares", type=float, nargs="+", default=[0.1, 0.25, 0.5, 1.0])
    parser.add_argument("--noises", type=float, nargs="+", default=[0.0, 0.02, 0.1])
    parser.add_argument("--models", nargs="+", default=["rmklr", "forest", "gradient_boosting", "logistic"])
    given = parser.parse_args()
    cells = itertools.product(given.models, given.columns, given.noises, given.shares)
    for model, columns, noise, share in cells:
        results = []
        for seed in range(given.tables):
            results.append(judge(*make_table(given.rows, columns, share, noise, seed), model, seed))
        means = pd.DataFrame(results).astype(float).mean().round(3).to_dict()
        print(f"{model}, {columns} columns, noise {noise}, {share:.0%} copied: {means}", flush=True)


if __name__ == "__main__":
    main()
