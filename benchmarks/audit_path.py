"""From a CSV to a reviewed and repaired table with a rate that covers, as a person would do it.

Five tables whose true labels are known: two that models separate well, one as people have it
(words, gaps, a date, overlapping classes), one whose labels are coins, and one of 50,000 rows. For
each: the first command, a reviewer who needs 5 seconds a row and makes no mistake, and the same
command again.

    python benchmarks/audit_path.py [--tables wdbc messy] [--rows 100] [--seconds 5]
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
    observed = np.where(flipped, 1 - true, true)
    return X[:rows], observed[:rows], true.to_numpy()[:rows]


def three(rows=1500):
    """8 columns, three classes; 10, 20 and 27 % of each carry the next one's label."""
    X, true = make_classification(
        rows,
        n_features=8,
        n_informative=5,
        n_classes=3,
        class_sep=1.5,
        n_clusters_per_class=1,
        flip_y=0,
        random_state=0,
    )
    rates = np.array([0.1, 0.2, 0.27])
    flipped = np.random.default_rng(1).random(rows) < rates[true]
    return pd.DataFrame(X).add_prefix("f"), np.where(flipped, (true + 1) % 3, true), true


def messy(rows=2000):
    """A date says the most; words, gaps, an identifier; classes overlap; flips of 5 % and 25 %."""
    rng = np.random.default_rng(2)
    days = rng.integers(0, 1500, rows)
    plan = rng.integers(0, 3, rows)
    age = rng.normal(45, 12, rows)
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
    options = {"n_informative": 8, "class_sep": 1.2, "flip_y": 0, "random_state": 4}
    X, true = make_classification(rows, 20, **options)
    flipped = np.random.default_rng(4).random(rows) < 0.1
    return pd.DataFrame(X).add_prefix("f"), np.where(flipped, 1 - true, true), true


TABLES = {make.__name__: make for make in (wdbc, three, messy, coins, big)}


def seconds_of_children():
    """Processor time of all processes that have ended."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def command(folder, rows):
    """Run the audit; return what it says, and its seconds by the clock and of the processor."""
    start = time.perf_counter()
    before = seconds_of_children()
    words = [sys.executable, "-P", str(SCRIPT), "table.csv", "--label", "label"]
    words += ["--review", str(rows)]
    done = subprocess.run(words, cwd=folder, capture_output=True, text=True, check=True)
    return done.stdout, time.perf_counter() - start, seconds_of_children() - before


def main():
    form = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=form)
    parser.add_argument("--tables", nargs="+", default=list(TABLES), choices=TABLES)
    parser.add_argument("--rows", type=int, default=100)
    parser.add_argument("--seconds", type=float, default=5, help="of the reviewer, for a row")
    arguments = parser.parse_args()
    for name in arguments.tables:
        walk(name, arguments.rows, arguments.seconds)


RATE = re.compile(r"[0-9.]+ % of the labels are wrong \(95 % confidence: [0-9.]+ % to [0-9.]+ %\)")


def walk(name, rows, seconds_of_row):
    """Audit a table, review rows of it, audit it again, and print what came of it."""
    X, observed, true = TABLES[name]()
    wrong = observed != true
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        X.assign(label=observed).to_csv(folder / "table.csv", index=False)
        first_words, first_seconds, first_cpu = command(folder, rows)
        results = folder / "table_audit"
        sheet = pd.read_csv(results / "review.csv", dtype=str)
        sheet["true"] = true[sheet["row"].astype(int)]
        sheet.to_csv(results / "review.csv", index=False)
        second_words, second_seconds, second_cpu = command(folder, rows)
        listed = pd.read_csv(results / "suspicious.csv")["row"]
        repaired = pd.read_csv(results / "repaired.csv")["label repaired"]
    left = np.mean(repaired != true)
    rate = RATE.search(second_words)[0]
    print(f"{name}: {len(X)} rows, {wrong.mean():.1%} wrong, {left:.1%} after the repair; {rate}")
    review = seconds_of_row * rows
    minutes = (first_seconds + second_seconds + review) / 60
    print(
        f"  {minutes:.1f} minutes, {review / 60:.1f} of them the reviewer's; the "
        f"commands {first_seconds:.0f} s and {second_seconds:.0f} s, "
        f"of the processor {first_cpu:.0f} s and {second_cpu:.0f} s"
    )
    shares = "–"
    if len(listed):
        shares = f"{wrong[listed].mean():.0%}, of the first 50 {wrong[listed[:50]].mean():.0%}"
    print(f"  listed {len(listed)}, wrong of them {shares}")
    print(f"  without review: {first_words.splitlines()[0]}", flush=True)


if __name__ == "__main__":
    main()
