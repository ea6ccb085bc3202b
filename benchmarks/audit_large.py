"""An audit next to cleanlab: 50,000 rows and 20 columns, a tenth of the labels flipped.

Both take scikit-learn's histogram gradient boosting, cross-fitted in five folds. Each runs in its
own process; the time is that of the processor, the memory the largest of the process, both with
imports.

    python benchmarks/audit_large.py [--rows 50000] [--seeds 0 1 2]
"""

import argparse
import itertools
import resource
import subprocess
import sys
import time

import numpy as np
from sklearn.datasets import make_classification
from sklearn.metrics import average_precision_score


def data(rows, seed):
    options = {"n_informative": 8, "class_sep": 0.8, "flip_y": 0, "random_state": seed}
    X, true = make_classification(rows, 20, **options)
    flipped = np.random.default_rng(seed).random(rows) < 0.1
    return X, np.where(flipped, 1 - true, true), flipped


def ours(X, y):
    import noisylabels

    report = noisylabels.audit(X, y)
    doubt = np.empty(len(y))
    doubt[report.ranking["row"]] = -report.ranking["score"]
    return doubt, len(report.suspicious)


def cleanlab(X, y):
    from cleanlab.filter import find_label_issues
    from cleanlab.rank import get_label_quality_scores
    from sklearn.ensemble import HistGradientBoostingClassifier
    from sklearn.model_selection import StratifiedKFold, cross_val_predict

    folds = StratifiedKFold(5, shuffle=True, random_state=0)
    model = HistGradientBoostingClassifier(random_state=0)
    p = cross_val_predict(model, X, y, cv=folds, method="predict_proba")
    issues = find_label_issues(y, p, n_jobs=1)
    quality = get_label_quality_scores(y, p, method="normalized_margin")
    return -quality, issues.sum()


WAYS = {"ours": ours, "cleanlab": cleanlab}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=50_000)
    seeds = "of the data and the flips"
    parser.add_argument("--seeds", type=int, nargs="+", default=[0], help=seeds)
    parser.add_argument("--way", choices=WAYS)
    arguments = parser.parse_args()
    if arguments.way:
        measure(arguments.way, arguments.rows, arguments.seeds[0])
        return
    for seed, way in itertools.product(arguments.seeds, WAYS):
        options = ["--rows", str(arguments.rows), "--seeds", str(seed), "--way", way]
        subprocess.run([sys.executable, __file__, *options], check=True)


def measure(way, rows, seed):
    """Print what one of the two found, and the time and memory of this process."""
    X, y, flipped = data(rows, seed)
    doubt, listed = WAYS[way](X, y)
    precision = average_precision_score(flipped, doubt)
    megabytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(
        f"seed {seed}, {way}: average precision {precision:.4f}, {listed} listed, "
        f"{time.process_time():.1f} s, {megabytes:.0f} MB",
        flush=True,
    )


if __name__ == "__main__":
    main()
