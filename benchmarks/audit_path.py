"""From a CSV to a reviewed and repaired table with a rate that covers, as a person would do it.

Five tables whose true labels are known: two that models separate well, one as people have it (words, gaps, a
date, overlapping classes), one whose labels are coins, and one of 50,000 rows. For each: the first command,
a reviewer who needs 5 seconds a row and makes no mistake, and the same command again.

    python benchmarks/audit_path.py [--tables wdbc three messy coins big] [--rows 100] [--seconds 5]
"""

import argparse
import re
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.datasets import load_breast_cancer, make_classification

SCRIPT = Path(__file__).resolve().parents[1] / "src/scripts/audit.py"


def wdbc(rows=569):
    """30 columns, two classes, 15 % of the labels flipped at random."""
    X, true = load_breast_cancer(return_X_y=True, as_frame=True)
    flipped = np.random.default_rng(0).random(len(true)) < 0.15
    return X[:rows], np.where(flipped, 1 - true, true)[:rows], true.to_numpy()[:rows]


def three(rows=1500):
    """8 columns, three classes; 10, 20 and 27 % of each carry the next one's label."""
    X, true = make_classification(
        rows, 8, n_informative=5, n_classes=3, class_sep=1.5, n_clusters_per_class=1, flip_y=0, random_state=0
    )
    flipped = np.random.default_rng(1).random(rows) < np.array([0.1, 0.2, 0.27])[true]
    return pd.DataFrame(X).add_prefix("f"), np.where(flipped, (true + 1) % 3, true), true


def messy(rows=2000):
    """A date says the most; words, gaps, an identifier; classes overlap; flips of 5 % and 25 %."""
    rng = np.random.default_rng(2)
    days, plan, age = rng.integers(0, 1500, rows), rng.integers(0, 3, rows), rng.normal(45, 12, rows)
    visits = rng.poisson(6, rows)
    logit = (days - 750) / 150 + (plan == 2) + (age - 45) / 15 + (visits - 6) / 6
    true = np.where(logit + rng.logistic(size=rows) > 0, "stays", "leaves")
    flipped = rng.random(rows) < np.where(true == "stays", 0.25, 0.05)
    other = np.where(true == "stays", "leaves", "stays")
    columns = {
        "customer_id": [f"C{7 * i + 10_000}" for i in range(rows)],
        "signup": pd.Timestamp("2020-01-01") + pd.to_timedelta(days, "D"),
        "plan": np.array(["basic", "plus", "pro"])[plan],
        "age": np.where(rng.random(rows) < 0.1, np.nan, age.round(1)),
        "visits": visits,
    }
    return pd.DataFrame(columns), np.where(flipped, other, true), true


def coins(rows=800):
    """10 columns that say nothing about the label."""
    rng = np.random.default_rng(3)
    X = pd.DataFrame(rng.standard_normal((rows, 10))).add_prefix("f")
    return X, rng.integers(0, 2, rows), rng.integers(0, 2, rows)


def big(rows=50_000):
    """20 columns, a tenth of the labels flipped at random."""
    X, true = make_classification(rows, 20, n_informative=8, class_sep=1.2, flip_y=0, random_state=4)
    flipped = np.random.default_rng(4).random(rows) < 0.1
    return pd.DataFrame(X).add_prefix("f"), np.where(flipped, 1 - true, true), true


TABLES = {each.__name__: each for each in (wdbc, three, messy, coins, big)}


def command(folder, rows):
    """What it says, and its seconds, by the clock and of the processor."""
    start, before = time.perf_counter(), resource.getrusage(resource.RUSAGE_CHILDREN)
    options = ["table.csv", "--label", "label", "--review", str(rows)]
    done = subprocess.run(
        [sys.executable, "-P", str(SCRIPT), *options], cwd=folder, capture_output=True, text=True, check=True
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return done.stdout, time.perf_counter() - start, used


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--tables", nargs="+", default=list(TABLES), choices=TABLES)
    parser.add_argument("--rows", type=int, default=100)
    parser.add_argument("--seconds", type=float, default=5, help="of the reviewer, for a row")
    given = parser.parse_args()
    for name in given.tables:
        X, observed, true = TABLES[name]()
        wrong = observed != true
        with tempfile.TemporaryDirectory() as place:
            folder = Path(place)
            X.assign(label=observed).to_csv(folder / "table.csv", index=False)
            first, *clock = command(folder, given.rows)
            found = folder / "table_audit"
            sheet = pd.read_csv(found / "review.csv", dtype=str)
            sheet.assign(true=true[sheet["row"].astype(int)]).to_csv(found / "review.csv", index=False)
            second, again, used = command(folder, given.rows)
            listed = pd.read_csv(found / "suspicious.csv")["row"]
            left = np.mean(pd.read_csv(found / "repaired.csv")["label repaired"] != true)
        said = re.search(
            r"[0-9.]+ % of the labels are wrong \(95 % confidence: [0-9.]+ % to [0-9.]+ %\)", second
        )
        minutes = (clock[0] + again + given.seconds * given.rows) / 60
        print(f"{name}: {len(X)} rows, {wrong.mean():.1%} wrong, {left:.1%} after the repair; {said[0]}")
        print(
            f"  {minutes:.1f} minutes, {given.seconds * given.rows / 60:.1f} of them the reviewer's; the "
            f"commands {clock[0]:.0f} s and {again:.0f} s, of the processor {clock[1]:.0f} s and {used:.0f} s"
        )
        some = (
            f"{wrong[listed].mean():.0%}, of the first 50 {wrong[listed[:50]].mean():.0%}"
            if len(listed)
            else "–"
        )
        print(
            f"  listed {len(listed)}, wrong of them {some}\n  without review: {first.splitlines()[0]}",
            flush=True,
        )


if __name__ == "__main__":
    main()
