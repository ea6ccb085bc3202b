"""Models of several classes next to those of two and scikit-learn's; annotators' intervals.

    python benchmarks/estimators.py [equality times ranking intervals] [--repeats 9]

equality   : largest difference to scikit-learn's multinomial logistic regression, without flips.
times      : fit of K classes over (1.3 K times the fit of two classes), same rows, medians.
ranking    : average precision of the flipped labels of a table with three classes, softmax form
             against one class against the rest, cross-fitted, mean difference and 95 % interval.
intervals  : share of annotators' rates inside their 95 % intervals.
"""

import argparse
import time

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import average_precision_score
from sklearn.model_selection import StratifiedKFold, cross_val_predict
from sklearn.multiclass import OneVsRestClassifier

import noisylabels
from noisylabels import DawidSkene, OneCoin

MODELS = {
    "robust logistic": ("RobustLogisticRegression", {}),
    "KLR": ("KernelLogisticRegression", {}),
    "rKLR": ("RobustKernelLogisticRegression", {}),
    "rKLR, Nystrom": ("RobustNystromLogisticRegression", {"landmarks": 100, "random_state": 0}),
    "rMKLR": ("RobustMultiKernelLogisticRegression", {}),
    "SGD": ("RobustSGDClassifier", {"loss": "log", "random_state": 0}),
}
FLIPS = np.array([[0.7, 0.3, 0.0], [0.0, 0.8, 0.2], [0.0, 0.1, 0.9]])


def made(name):
    class_name, parameters = MODELS[name]
    return getattr(noisylabels, class_name)(**parameters)


def table(rng, n, K, d=8, distance=1.5):
    """Make Gaussian classes on a circle in two of d columns, and squares in a third.

    Returns X (n, d) and the classes (n,).
    """
    y = rng.integers(K, size=n)
    X = rng.standard_normal((n, d))
    angle = 2 * np.pi * y / K
    X[:, :2] += distance * np.column_stack([np.cos(angle), np.sin(angle)])
    X[:, 2] = X[:, 2] ** 2 + 0.5 * y
    return X, y


def drawn(rng, rates):
    """Draw one label for each row of rates (n, K)."""
    limits = np.cumsum(rates, axis=1)[:, :-1]
    uniform = rng.random((len(rates), 1))
    return (limits < uniform).sum(axis=1)


def equality(repeats):
    for K in (2, 3, 5):
        worst = 0.0
        for seed in range(repeats):
            X, y = table(np.random.default_rng(seed), 400, K)
            no_flips = {"omega": np.eye(K), "learn_omega": False}
            ours = noisylabels.RobustLogisticRegression(lam=0.5, **no_flips).fit(X, y)
            # ours: lam ||w||^2, of K classes 2 lam sum_k ||w_k||^2
            strength = 1.0 if K == 2 else 0.5
            options = {"tol": 1e-12, "max_iter": 10_000, "solver": "newton-cg"}
            theirs = LogisticRegression(C=strength, **options).fit(X, y)
            difference = np.abs(ours.predict_proba(X) - theirs.predict_proba(X))
            worst = max(worst, float(difference.max()))
        print(f"equality, {K} classes: probabilities differ by at most {worst:.1e}")


def times(repeats):
    for name in MODELS:
        sets = {K: table(np.random.default_rng(0), 400, K) for K in (2, 3, 5)}
        seconds = {K: [] for K in sets}
        for _ in range(repeats + 1):
            for K, (X, y) in sets.items():
                start = time.process_time()
                made(name).fit(X, y)
                seconds[K].append(time.process_time() - start)
        # the first repeat compiles
        medians = {K: float(np.median(spent[1:])) for K, spent in seconds.items()}
        two = medians.pop(2)
        ratios = [f"{K} classes {median / (1.3 * K * two):.2f}" for K, median in medians.items()]
        line = f"two classes {1e3 * two:.1f} ms; over 1.3 K times that: {', '.join(ratios)}"
        print(f"times, {name}: {line}", flush=True)


def ranking(repeats):
    for name in ("rMKLR", "rKLR"):
        gains = []
        for seed in range(repeats):
            rng = np.random.default_rng(seed)
            X, true = table(rng, 500, 3)
            observed = drawn(rng, FLIPS[true])
            folds = StratifiedKFold(5, shuffle=True, random_state=seed)
            precisions = []
            for model in (made(name), OneVsRestClassifier(made(name))):
                p = cross_val_predict(model, X, observed, cv=folds, method="predict_proba")
                precisions.append(average_precision_score(observed != true, doubts(p, observed)))
            softmax, one_against_the_rest = precisions
            gains.append(softmax - one_against_the_rest)
        gain = mean_and_interval(gains, "+.3f")
        print(f"ranking, {name}: softmax minus one against the rest {gain}", flush=True)


def doubts(p, observed):
    """Give the largest probability of another class less that of the observed one, (n,)."""
    of_observed = np.take_along_axis(p, observed[:, None], axis=1)[:, 0]
    others = p.copy()
    np.put_along_axis(others, observed[:, None], -1.0, axis=1)
    return others.max(axis=1) - of_observed


def mean_and_interval(values, form=".3f"):
    """Format the mean of some values and half their 95 % interval."""
    half = 1.96 * np.std(values, ddof=1) / len(values) ** 0.5
    return f"{np.mean(values):{form}} ± {half:.3f}"


def intervals(repeats):
    for model, K in ((OneCoin, 2), (DawidSkene, 2), (DawidSkene, 3)):
        inside = []
        for seed in range(repeats):
            rng = np.random.default_rng(seed)
            truth = rng.integers(K, size=300)
            right = rng.beta(6, 2, size=10)[:, None, None]  # of ten workers
            rates = np.where(np.eye(K, dtype=bool), right, (1 - right) / (K - 1))
            labels_of_workers = [drawn(rng, rates_of_worker[truth]) for rates_of_worker in rates]
            labels = np.column_stack(labels_of_workers).astype(float)
            labels[rng.random(labels.shape) < 0.5] = np.nan
            low, high = model().fit(labels).intervals()
            inside.append(np.mean((low <= rates) & (rates <= high)))
        share = mean_and_interval(inside)
        print(f"intervals, {model.__name__}, {K} classes: {share} inside", flush=True)


def main():
    subjects = {
        "equality": equality,
        "times": times,
        "ranking": ranking,
        "intervals": intervals,
    }
    form = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=form)
    parser.add_argument("subjects", nargs="*", choices=[*subjects, []], default=[])
    parser.add_argument("--repeats", type=int, default=9)
    arguments = parser.parse_args()
    for name in arguments.subjects or subjects:
        subjects[name](arguments.repeats)


if __name__ == "__main__":
    main()
