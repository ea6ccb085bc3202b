"""Models of several classes beside those of two and scikit-learn's; annotators' intervals; simulated labels.

    python benchmarks/estimators.py [equality times ranking intervals] [--repeats 9]

equality   : largest difference to scikit-learn's multinomial logistic regression, flips fixed at none.
times      : fit of K classes over (1.3 K times the fit of two classes), same rows, in turn, medians.
ranking    : average precision of the flipped labels of a table with three classes, softmax form against one
             class against the rest, cross-fitted, mean difference with its 95 % interval.
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
    cls, parameters = MODELS[name]
    return getattr(noisylabels, cls)(**parameters)


def table(rng, n, K, d=8, distance=1.5):
    """Gaussian classes on a circle in two of d columns, squares in a third: X (n, d) and classes (n,)."""
    y = rng.integers(K, size=n)
    X = rng.standard_normal((n, d))
    X[:, :2] += distance * np.column_stack([np.cos(2 * np.pi * y / K), np.sin(2 * np.pi * y / K)])
    X[:, 2] = X[:, 2] ** 2 + 0.5 * y
    return X, y


def drawn(rng, rates):
    """One label for each row of rates (n, K)."""
    return (np.cumsum(rates, axis=1)[:, :-1] < rng.random((len(rates), 1))).sum(axis=1)


def equality(repeats):
    for K in (2, 3, 5):
        worst = 0.0
        for seed in range(repeats):
            X, y = table(np.random.default_rng(seed), 400, K)
            ours = noisylabels.RobustLogisticRegression(lam=0.5, omega=np.eye(K), learn_omega=False)
            strength = 1.0 if K == 2 else 0.5  # ours: lam ||w||^2, of K classes 2 lam sum_k ||w_k||^2
            theirs = LogisticRegression(C=strength, tol=1e-12, max_iter=10_000, solver="newton-cg").fit(X, y)
            p = ours.fit(X, y).predict_proba(X)
            worst = max(worst, float(np.abs(p - theirs.predict_proba(X)).max()))
        print(f"equality, {K} classes: probabilities differ by at most {worst:.1e}")


def times(repeats):
    for name in MODELS:
        sets = {K: table(np.random.default_rng(0), 400, K) for K in (2, 3, 5)}
        taken = {K: [] for K in sets}
        for _ in range(repeats + 1):  # the first compiles
            for K, (X, y) in sets.items():
                start = time.process_time()
                made(name).fit(X, y)
                taken[K].append(time.process_time() - start)
        two, *more = (float(np.median(seconds[1:])) for seconds in taken.values())
        shown = ", ".join(f"{K} classes {t / (1.3 * K * two):.2f}" for K, t in zip((3, 5), more, strict=True))
        print(f"times, {name}: two classes {1e3 * two:.1f} ms; over 1.3 K times that: {shown}", flush=True)


def ranking(repeats):
    for name in ("rMKLR", "rKLR"):
        gains = []
        for seed in range(repeats):
            rng = np.random.default_rng(seed)
            X, true = table(rng, 500, 3)
            observed = drawn(rng, FLIPS[true])
            folds = StratifiedKFold(5, shuffle=True, random_state=seed)
            found = []
            for model in (made(name), OneVsRestClassifier(made(name))):
                p = cross_val_predict(model, X, observed, cv=folds, method="predict_proba")
                others = np.where(np.eye(3)[observed] > 0, -1.0, p).max(axis=1)
                found.append(average_precision_score(observed != true, others - p[np.arange(500), observed]))
            gains.append(found[0] - found[1])
        half = 1.96 * np.std(gains, ddof=1) / len(gains) ** 0.5
        print(
            f"ranking, {name}: softmax minus one against the rest {np.mean(gains):+.3f} ± {half:.3f}",
            flush=True,
        )


def intervals(repeats):
    for cls, K in ((OneCoin, 2), (DawidSkene, 2), (DawidSkene, 3)):
        inside = []
        for seed in range(repeats):
            rng = np.random.default_rng(seed)
            truth, workers = rng.integers(K, size=300), 10
            right = rng.beta(6, 2, workers)
            rates = np.where(
                np.eye(K, dtype=bool), right[:, None, None], (1 - right[:, None, None]) / (K - 1)
            )
            labels = np.column_stack([drawn(rng, rates[w][truth]) for w in range(workers)]).astype(float)
            labels[rng.random(labels.shape) < 0.5] = np.nan
            low, high = cls().fit(labels).intervals()
            inside.append(np.mean((low <= rates) & (rates <= high)))
        half = 1.96 * np.std(inside, ddof=1) / len(inside) ** 0.5
        print(
            f"intervals, {cls.__name__}, {K} classes: {np.mean(inside):.3f} ± {half:.3f} inside", flush=True
        )


def main():
    subjects = {each.__name__: each for each in (equality, times, ranking, intervals)}
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("subjects", nargs="*", choices=[*subjects, []], default=[])
    parser.add_argument("--repeats", type=int, default=9)
    given = parser.parse_args()
    for name in given.subjects or subjects:
        subjects[name](given.repeats)


if __name__ == "__main__":
    main()
