"""Do the upper limit and the review of an audit cover where rows are copies?

Tables of normal columns, a quarter of the labels wrong. A share of the rows is copied once with its
label, exactly or with noise of some standard deviations per column. Given for each kind of table
and model: how often the upper limit that labels alone allow, and the interval of 100 reviewed rows,
hold the true share of wrong labels, and the share of copies that are in the group of their row.

    python benchmarks/audit_copies.py [--tables 20] [--models logistic forest]
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
    """Make X, observed labels, true labels, and the number of the row that each comes from."""
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
    """Decide whether the limit and the interval of a review hold the share of wrong labels."""
    options = {"model": model, "compare": False, "repetitions": 1, "random_state": seed}
    report = noisylabels.audit(X, observed, **options)
    wrong = np.mean(observed != true)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "review.csv"
        noisylabels.review(report, path, 100, random_state=seed)
        sheet = pd.read_csv(path)
        sheet.assign(true=true[sheet["row"]]).to_csv(path, index=False)
        interval = noisylabels.review(report, path, 100, random_state=seed).wrong
    _, limit = report.bounds
    return {
        "limit covers": limit >= wrong,
        "limit": limit,
        "review covers": interval.low <= wrong <= interval.high,
        "copies found": share_found(report.copies.groups, source),
    }


MODELS = ["rmklr", "forest", "gradient_boosting", "logistic"]


def main():
    warnings.simplefilter("ignore")
    form = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=form)
    parser.add_argument("--tables", type=int, default=20)
    parser.add_argument("--rows", type=int, default=300)
    parser.add_argument("--columns", type=int, nargs="+", default=[5])
    parser.add_argument("--shares", type=float, nargs="+", default=[0.1, 0.25, 0.5, 1.0])
    parser.add_argument("--noises", type=float, nargs="+", default=[0.0, 0.02, 0.1])
    parser.add_argument("--models", nargs="+", default=MODELS)
    arguments = parser.parse_args()
    cells = itertools.product(
        arguments.models,
        arguments.columns,
        arguments.noises,
        arguments.shares,
    )
    for model, columns, noise, share in cells:
        results = []
        for seed in range(arguments.tables):
            table = make_table(arguments.rows, columns, share, noise, seed)
            results.append(judge(*table, model, seed))
        means = pd.DataFrame(results).astype(float).mean().round(3).to_dict()
        cell = f"{model}, {columns} columns, noise {noise}, {share:.0%} copied"
        print(f"{cell}: {means}", flush=True)


if __name__ == "__main__":
    main()
