"""Do the numbers of a review cover? Data sets x kinds of flips x rates x draws of the review, with a
perfect reviewer.

Doubts are those of a random forest, cross-fitted on the flipped labels. For each cell, the share of the
draws in which the 95 % interval holds the true share of wrong labels, its width against that of the same
number of reviewed rows without a model, and how often the bound on what is left, the statement on the list,
and the range that is given without any review, are false. For rows drawn from two groups coverage and bound
are also given exactly, by adding up the probabilities of all outcomes of the draw.

    python benchmarks/audit_coverage.py [--draws 200] [--rows 100] [--seed 0] [--sets wdbc moons]
    [--rates 0 0.1] [--out cells.csv]
"""

import argparse
import functools
import itertools
import time
import zlib

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
    kept = np.isin(y, classes) if classes else np.ones(len(y), bool)
    return X[kept], np.unique(y[kept], return_inverse=True)[1]


def clouds(classes, separation, informative=5):
    return datasets.make_classification(
        MOST, 10, n_informative=informative, n_classes=classes, class_sep=separation, flip_y=0, random_state=1
    )


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
    "rare": lambda: datasets.make_classification(MOST, 10, weights=[0.9], flip_y=0, random_state=2),
}


def flipped(y, X, kind, rate, rng):
    """Observed classes: exactly round(rate n) rows are wrong, which and how depends on the kind."""
    n, K = len(y), int(y.max()) + 1
    centred = X - X.mean(axis=0)
    along = np.linalg.svd(centred, full_matrices=False)[0][:, 0]
    weight = {
        "symmetric": np.ones(n),
        "next class": np.ones(n),
        "mostly one class": np.where(y == K - 1, 9.0, 1.0),
        "to the largest": np.where(y == np.bincount(y).argmax(), 1e-9, 1.0),
        "a region": np.exp(3 * np.argsort(np.argsort(along)) / n),
        "near the middle": np.exp(-((along / along.std()) ** 2)),
    }[kind]
    wrong = rng.choice(
        n, min(round(rate * n), int((weight > 1e-6).sum())), replace=False, p=weight / weight.sum()
    )
    observed = y.copy()
    step = 1 if kind == "next class" else rng.integers(1, K, size=len(wrong))
    observed[wrong] = (y[wrong] + step) % K
    if kind == "to the largest":
        observed[wrong] = np.bincount(y).argmax()
    return observed


KINDS = ("symmetric", "next class", "mostly one class", "to the largest", "a region", "near the middle")
BY_CLASS = KINDS[:4]
"""Flips that depend on nothing but the class."""


def population(name, kind, rate, seed=0):
    """Wrong labels, doubts, whether the model says otherwise, and places in the ranking (N,); and whether the
    range without review is true. None if too few labels of a class are left.
    """
    X, y = SETS[name]()
    key = [zlib.crc32(name.encode()), zlib.crc32(kind.encode()), round(1000 * rate)]
    rng = np.random.default_rng(key + [seed] * (seed > 0))
    if len(y) > MOST:
        part = rng.choice(len(y), MOST, replace=False)
        X, y = X[part], y[part]
    observed = flipped(y, X, kind, rate, rng)
    if np.bincount(observed).min() < tables.FEWEST_OF_A_CLASS or len(np.unique(observed)) < y.max() + 1:
        return None  # an audit refuses such labels
    p = cross_fitted(X, observed, RandomForestClassifier(random_state=0), repetitions=1).mean
    wrong, doubt = (observed != y).astype(float), 1 - p[np.arange(len(y)), observed]
    margins = flip_rates.margins(p, observed)
    rank = np.argsort(np.argsort(margins, kind="stable"))
    top = flip_rates.wrong_share_of(flip_rates.surest(p, observed).limit, observed)
    return wrong, doubt, margins < 0, rank, top >= wrong.mean()


def exactly(wrong, strata, at):
    """P(the interval covers) and P(the bound fails), with as many rows of each group as in ``at``."""
    sizes = [(int(np.isin(at, each).sum()), len(each), int(wrong[each].sum())) for each in strata]
    chances, outcomes, bounds = [np.ones(1)], [], []
    for n, N, W in sizes:
        chances.append(np.multiply.outer(chances[-1], hypergeom.pmf(np.arange(n + 1), N, W, n)).ravel())
        seen = [(np.arange(n) < hits).astype(float) for hits in range(n + 1)]
        outcomes.append([(w, N) for w in seen])
        bounds.append([intervals.counted(w, N, TAIL) for w in seen])
    shares, truth = [len(each) / len(wrong) for each in strata], wrong.mean()
    got = [intervals.stratified(sampled, shares) for sampled in itertools.product(*outcomes)]
    covers = np.array([r.low - 1e-9 <= truth <= r.high + 1e-9 for r in got])
    left = [intervals.combined(parts, shares).high + 1e-9 < truth for parts in itertools.product(*bounds)]
    return {
        "covers exactly": float(chances[-1] @ covers),
        "left exactly": float(chances[-1] @ np.array(left)),
    }


def cell(name, kind, rate, draws, rows, seed=0, of=population):
    """One row of results for each way to draw."""
    made, first = of(name, kind, rate, seed), 10_000 * seed
    if made is None:
        return
    wrong, doubt, doubted, rank, within = made
    truth, N = wrong.mean(), len(wrong)
    about = {"set": name, "kind": kind, "rate": rate, "truth": truth, "N": N, "range": within}
    for by in DESIGNS:
        halves = [np.arange(N)] if by == "chance" else [np.flatnonzero(each) for each in (doubted, ~doubted)]
        strata = [each for each in halves if len(each)]
        shares, found = [len(each) / N for each in strata], []
        for draw in range(first, first + draws):
            at = np.array(drawn(doubted, min(rows, N // 2), by, draw))
            parts = [(at[np.isin(at, each)], each) for each in strata]
            w = wrong[at]
            got = intervals.stratified([(wrong[part], len(each)) for part, each in parts], shares)
            if len(strata) == 1:
                got = intervals.rate(w, doubt[at], doubt.mean(), N, intervals.mid)
            plain = intervals.counted(wrong[drawn(doubted, len(at), "chance", draw)], N)
            limits = [intervals.counted(wrong[part], len(each), TAIL) for part, each in parts]
            limit = intervals.combined(limits, shares).high
            length = intervals.longest(w, rank[at], 0.8, TAIL, len(strata[0]))
            false = length > 0 and wrong[rank < length].mean() < 0.8
            covers = [r.low - 1e-9 <= truth <= r.high + 1e-9 for r in (got, plain)]
            found.append([*covers, got.width / plain.width, got.width, limit + 1e-9 < truth, false, length])
        keys = ("covers", "plain covers", "ratio", "width", "left fails", "list fails", "length")
        values = dict(zip(keys, np.array(found, float).T, strict=True))
        exact = exactly(wrong, strata, at) if by != "chance" else {}
        yield about | {"by": by} | exact | {k: np.median(v) if k in ("ratio", "width", "length") else v.mean()
                                    for k, v in values.items()}  # fmt: skip


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--draws", type=int, default=200)
    parser.add_argument("--rows", type=int, default=100)
    parser.add_argument("--sets", nargs="*", default=list(SETS), choices=list(SETS))
    parser.add_argument("--kinds", nargs="*", default=list(KINDS), choices=list(KINDS))
    parser.add_argument("--rates", nargs="*", type=float, default=[0, 0.005, 0.02, 0.1, 0.3])
    parser.add_argument("--seed", type=int, default=0, help="of the flips and the draws")
    parser.add_argument("--out")
    parser.add_argument("--cache", help="a folder that keeps the doubts, which take most of the time")
    given = parser.parse_args()
    start, cells = time.process_time(), []
    of = joblib.Memory(given.cache, verbose=0).cache(population)
    for place in itertools.product(given.sets, given.kinds, given.rates):
        if place[2] > 0 or place[1] == KINDS[0]:  # without flips all kinds are the same
            cells += cell(*place, given.draws, given.rows, given.seed, of)
        if given.out:
            pd.DataFrame(cells).to_csv(given.out, index=False)
    table = pd.DataFrame(cells)
    pd.set_option("display.width", 200)
    figures = ["covers", "plain covers", "ratio", "left fails", "list fails", "length"]
    print(table.groupby("by")[figures].mean().round(4))
    print(table.groupby(["by", "rate"])[figures].agg("mean").round(4))
    print("least coverage of a cell:", table.groupby(["by", "rate"])["covers"].min().to_dict())
    print(
        "exactly:",
        table.groupby("by")[["covers exactly", "left exactly"]].agg(["mean", "min", "max"]).round(4),
        sep="\n",
    )
    print(
        table.groupby(["by", "rate"])[["covers exactly", "left exactly"]].agg(["mean", "min", "max"]).round(4)
    )
    known = table[table["kind"].isin(BY_CLASS) & (table["by"] == "chance")]
    print(
        f"range without review false in {(~known['range']).sum()} of {len(known)} tables with flips by class"
    )
    print("median width of all cells:", table.groupby("by")["ratio"].median().to_dict())
    print(f"{len(table) // len(DESIGNS)} cells, {given.draws} draws, {time.process_time() - start:.0f} s")


if __name__ == "__main__":
    main()
