"""Do the numbers of a review cover? Data sets, kinds of flips, rates and draws, a perfect reviewer.

Doubts are those of a random forest, cross-fitted on the flipped labels. For each cell, the share of
the draws in which the 95 % interval holds the true share of wrong labels, its width against that of
the same number of reviewed rows without a model, and how often the bound on what is left, the
statement on the list, and the range that is given without any review, are false. For rows drawn
from two groups coverage and bound are also given exactly, by adding up the probabilities of all
outcomes of the draw.

    python benchmarks/audit_coverage.py [--draws 200] [--rows 100] [--seed 0] [--sets wdbc moons]
    [--rates 0 0.1] [--out cells.csv]
"""

import argparse
import functools
import itertools
import time
import zlib
from typing import NamedTuple

import joblib
import numpy as np
import pandas as pd
from scipy.stats import hypergeom
from sklearn import datasets
from sklearn.ensemble import RandomForestClassifier

from noisylabels.auditing import flip_rates, intervals, tables
from noisylabels.auditing.cross_fitting import cross_fitted
from noisylabels.auditing.review import DESIGNS, TAIL, drawn

intervals.exact = functools.cache(intervals.exact)

MOST = 1000


def bundled(load, *classes):
    X, y = load(return_X_y=True)
    if classes:
        is_wanted = np.isin(y, classes)
        X = X[is_wanted]
        y = y[is_wanted]
    _, numbered = np.unique(y, return_inverse=True)
    return X, numbered


def clouds(classes, separation):
    return datasets.make_classification(
        MOST,
        n_features=10,
        n_informative=5,
        n_classes=classes,
        class_sep=separation,
        flip_y=0,
        random_state=1,
    )


def rare():
    options = {"weights": [0.9], "flip_y": 0, "random_state": 2}
    return datasets.make_classification(MOST, 10, **options)


SETS = {
    "wdbc": lambda: bundled(datasets.load_breast_cancer),
    "digits 3/8": lambda: bundled(datasets.load_digits, 3, 8),
    "digits": lambda: bundled(datasets.load_digits),
    "wine": lambda: bundled(datasets.load_wine),
    "moons": lambda: datasets.make_moons(MOST, noise=0.2, random_state=0),
    "circles": lambda: datasets.make_circles(MOST, noise=0.15, factor=0.5, random_state=0),
    "easy": lambda: clouds(2, 2.0),
    "hard": lambda: clouds(2, 0.4),
    "three": lambda: clouds(3, 1.0),
    "rare": rare,
}


def flipped(y, X, kind, rate, rng):
    """Observed classes: exactly round(rate n) rows are wrong, which and how depends on the kind."""
    n = len(y)
    K = int(y.max()) + 1
    largest = np.bincount(y).argmax()
    centred = X - X.mean(axis=0)
    along = np.linalg.svd(centred, full_matrices=False)[0][:, 0]
    weight = {
        "symmetric": np.ones(n),
        "next class": np.ones(n),
        "mostly one class": np.where(y == K - 1, 9.0, 1.0),
        "to the largest": np.where(y == largest, 1e-9, 1.0),
        "a region": np.exp(3 * np.argsort(np.argsort(along)) / n),
        "near the middle": np.exp(-((along / along.std()) ** 2)),
    }[kind]
    possible = int((weight > 1e-6).sum())
    count = min(round(rate * n), possible)
    wrong = rng.choice(n, count, replace=False, p=weight / weight.sum())
    observed = y.copy()
    step = 1 if kind == "next class" else rng.integers(1, K, size=len(wrong))
    observed[wrong] = (y[wrong] + step) % K
    if kind == "to the largest":
        observed[wrong] = largest
    return observed


KINDS = (
    "symmetric",
    "next class",
    "mostly one class",
    "to the largest",
    "a region",
    "near the middle",
)
BY_CLASS = KINDS[:4]
"""Flips that depend on nothing but the class."""


class Population(NamedTuple):
    """Rows (N,) of a table, and whether the range without review is true."""

    wrong: np.ndarray
    doubt: np.ndarray
    doubted: np.ndarray
    """Whether the model says otherwise."""
    rank: np.ndarray
    range_is_true: bool


def population(name, kind, rate, seed=0):
    """Make the rows of a table; None if too few labels of a class are left."""
    X, y = SETS[name]()
    key = [zlib.crc32(name.encode()), zlib.crc32(kind.encode()), round(1000 * rate)]
    if seed > 0:
        key.append(seed)
    rng = np.random.default_rng(key)
    if len(y) > MOST:
        part = rng.choice(len(y), MOST, replace=False)
        X = X[part]
        y = y[part]
    observed = flipped(y, X, kind, rate, rng)
    counts = np.bincount(observed, minlength=y.max() + 1)
    if counts.min() < tables.FEWEST_OF_A_CLASS:
        return None  # an audit refuses such labels
    p = cross_fitted(X, observed, RandomForestClassifier(random_state=0), repetitions=1).mean
    wrong = (observed != y).astype(float)
    margins = flip_rates.margins(p, observed)
    upper_limit = flip_rates.wrong_share_of(flip_rates.surest(p, observed).limit, observed)
    return Population(
        wrong=wrong,
        doubt=1 - p[np.arange(len(y)), observed],
        doubted=margins < 0,
        rank=np.argsort(np.argsort(margins, kind="stable")),
        range_is_true=upper_limit >= wrong.mean(),
    )


def covers(interval, truth):
    return interval.low - 1e-9 <= truth <= interval.high + 1e-9


def exactly(wrong, strata, rows):
    """P(the interval covers) and P(the bound fails), with as many of each group as in ``rows``."""
    truth = wrong.mean()
    chances = np.ones(1)
    outcomes = []
    bounds = []
    for stratum in strata:
        n = int(np.isin(rows, stratum).sum())
        N = len(stratum)
        W = int(wrong[stratum].sum())
        chances = np.multiply.outer(chances, hypergeom.pmf(np.arange(n + 1), N, W, n)).ravel()
        seen = [(np.arange(n) < hits).astype(float) for hits in range(n + 1)]
        outcomes.append([(w, N) for w in seen])
        bounds.append([intervals.counted(w, N, TAIL) for w in seen])
    shares = [len(stratum) / len(wrong) for stratum in strata]
    is_covered = []
    for sampled in itertools.product(*outcomes):
        is_covered.append(covers(intervals.stratified(sampled, shares), truth))
    fails = []
    for parts in itertools.product(*bounds):
        fails.append(intervals.combined(parts, shares).high + 1e-9 < truth)
    return {
        "covers exactly": float(chances @ np.array(is_covered)),
        "left exactly": float(chances @ np.array(fails)),
    }


def strata_of(design, doubted):
    """List the groups of rows that a design draws from, without empty ones."""
    if design == "chance":
        return [np.arange(len(doubted))]
    strata = [np.flatnonzero(doubted), np.flatnonzero(~doubted)]
    return [stratum for stratum in strata if len(stratum)]


def review(table, design, strata, rows, draw):
    """Review some rows once, and say which of the numbers are true, and how wide they are."""
    wrong = table.wrong
    truth = wrong.mean()
    N = len(wrong)
    shares = [len(stratum) / N for stratum in strata]
    drawn_rows = np.array(drawn(table.doubted, rows, design, draw))
    w = wrong[drawn_rows]
    sampled = []
    limits = []
    for stratum in strata:
        part = wrong[drawn_rows[np.isin(drawn_rows, stratum)]]
        sampled.append((part, len(stratum)))
        limits.append(intervals.counted(part, len(stratum), TAIL))
    if len(strata) == 1:
        doubt = table.doubt
        interval = intervals.rate(w, doubt[drawn_rows], doubt.mean(), N, intervals.mid)
    else:
        interval = intervals.stratified(sampled, shares)
    plain_rows = drawn(table.doubted, rows, "chance", draw)
    plain = intervals.counted(wrong[plain_rows], N)
    limit = intervals.combined(limits, shares).high
    length = intervals.longest(w, table.rank[drawn_rows], 0.8, TAIL, len(strata[0]))
    return {
        "covers": covers(interval, truth),
        "plain covers": covers(plain, truth),
        "ratio": interval.width / plain.width,
        "width": interval.width,
        "left fails": limit + 1e-9 < truth,
        "list fails": length > 0 and wrong[table.rank < length].mean() < 0.8,
        "length": length,
    }, drawn_rows


MEDIANS = ("ratio", "width", "length")
"""Numbers of which the median over the draws counts, not the mean."""


def cell(name, kind, rate, draws, rows, seed=0, make=population):
    """Give one row of results for each design."""
    table = make(name, kind, rate, seed)
    if table is None:
        return
    N = len(table.wrong)
    rows = min(rows, N // 2)
    first = 10_000 * seed
    for design in DESIGNS:
        strata = strata_of(design, table.doubted)
        reviews = []
        for draw in range(first, first + draws):
            numbers, drawn_rows = review(table, design, strata, rows, draw)
            reviews.append(numbers)
        row = {
            "set": name,
            "kind": kind,
            "rate": rate,
            "truth": table.wrong.mean(),
            "N": N,
            "range": table.range_is_true,
            "by": design,
        }
        if design != "chance":
            row |= exactly(table.wrong, strata, drawn_rows)
        for key, values in pd.DataFrame(reviews).astype(float).items():
            row[key] = np.median(values) if key in MEDIANS else np.mean(values)
        yield row


def main():
    form = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=form)
    parser.add_argument("--draws", type=int, default=200)
    parser.add_argument("--rows", type=int, default=100)
    parser.add_argument("--sets", nargs="*", default=list(SETS), choices=list(SETS))
    parser.add_argument("--kinds", nargs="*", default=list(KINDS), choices=list(KINDS))
    parser.add_argument("--rates", nargs="*", type=float, default=[0, 0.005, 0.02, 0.1, 0.3])
    parser.add_argument("--seed", type=int, default=0, help="of the flips and the draws")
    parser.add_argument("--out")
    doubts = "a folder that keeps the doubts, which take most of the time"
    parser.add_argument("--cache", help=doubts)
    arguments = parser.parse_args()
    start = time.process_time()
    cells = []
    make = joblib.Memory(arguments.cache, verbose=0).cache(population)
    for name, kind, rate in itertools.product(arguments.sets, arguments.kinds, arguments.rates):
        if rate > 0 or kind == KINDS[0]:  # without flips all kinds are the same
            options = (arguments.draws, arguments.rows, arguments.seed, make)
            cells += cell(name, kind, rate, *options)
        if arguments.out:
            pd.DataFrame(cells).to_csv(arguments.out, index=False)
    report(pd.DataFrame(cells))
    seconds = time.process_time() - start
    print(f"{len(cells) // len(DESIGNS)} cells, {arguments.draws} draws, {seconds:.0f} s")


def report(table):
    """Print how often the numbers were true, by design and by rate."""
    pd.set_option("display.width", 200)
    columns = ["covers", "plain covers", "ratio", "left fails", "list fails", "length"]
    by_design = table.groupby("by")
    by_design_and_rate = table.groupby(["by", "rate"])
    print(by_design[columns].mean().round(4))
    print(by_design_and_rate[columns].mean().round(4))
    print("least coverage of a cell:", by_design_and_rate["covers"].min().to_dict())
    print("exactly:")
    for groups in (by_design, by_design_and_rate):
        exact = groups[["covers exactly", "left exactly"]]
        print(exact.agg(["mean", "min", "max"]).round(4))
    known = table[table["kind"].isin(BY_CLASS) & (table["by"] == "chance")]
    false = (~known["range"]).sum()
    print(f"range without review false in {false} of {len(known)} tables with flips by class")
    print("median width of all cells:", by_design["ratio"].median().to_dict())


if __name__ == "__main__":
    main()
