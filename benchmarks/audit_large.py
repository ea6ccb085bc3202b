"""50,000 rows and 20 columns, a tenth of the labels flipped: an audit beside cleanlab with gradient boosting.

Both take scikit-learn's histogram gradient boosting, cross-fitted in five folds. Each runs in a process of
its own; the time is that of the processor, the memory the largest of the process, both with imports.

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
    X, true = make_classification(rows, 20, n_informative=8, class_sep=0.8, flip_y=0, random_state=seed)
    flipped = np.random.default_rng(seed).random(rows) < 0.1
    return X, np.where(flipped, 1 - true, true), flipped


def ours(X, y):
    import noisylabels

    found = noisylabels.audit(X, y)
    doubt = np.empty(len(y))
    doubt[found.ranking["row"]] = -found.ranking["score"]
    return doubt, len(found.suspicious)


def cleanlab(X, y):
    from cleanlab.filter import find_label_issues
    from cleanlab.rank import get_label_quality_scores
    from sklearn.ensemble import HistGradientBoostingClassifier
    from sklearn.model_selection import StratifiedKFold, cross_val_predict

    folds = StratifiedKFold(5, shuffle=True, random_state=0)
    model = HistGradientBoostingClassifier(random_state=0)
    p = cross_val_predict(model, X, y, cv=folds, method="predict_proba")
    issues = find_label_issues(y, p, n_jobs=1)
    return -get_label_quality_scores(y, p, method="normalized_margin"), issues.sum()


WAYS = {"ours": ours, "cleanlab": cleanlab}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=50_000)
    parser.add_argument("--seeds", type=int, nargs="+", default=[0], help="of the data and the flips")
    parser.add_argument("--way", choices=WAYS)
    given = parser.parse_args()
    if not given.way:
        for seed, way in itertools.product(given.seeds, WAYS):
            options = ["--rows", str(given.rows), "--seeds", str(seed), "--way", way]
            subprocess.run([sys.executable, __file__, *options], check=True)
        return
    X, y, flipped = data(given.rows, given.seeds[0])
    doubt, listed = WAYS[given.way](X, y)
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    found = f"average precision {average_precision_score(flipped, doubt):.4f}, {listed} listed"
    print(
        f"seed {given.seeds[0]}, {given.way}: {found}, {time.process_time():.1f} s, {memory:.0f} MB",
        flush=True,
    )


if __name__ == "__main__":
    main()
