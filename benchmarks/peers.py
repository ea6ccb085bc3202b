# ruff: noqa: E402 - the thread variables must be set before NumPy is imported
"""The library next to its peers: ``python benchmarks/peers.py [GROUP ...]`` (two minutes).

Both get the same data and as many passes or rounds, on one thread and with no tolerance that stops
one of them early. They take turns in one process; a number is the median time of the processor. A
peer that is not installed is left out by name. Some peers do the same work. Others are yardsticks:
they do less, so a ratio above 1 says what the additional work costs.

Writes ``benchmarks/recorded/peers.csv`` and the tables of ``docs/scaling.md``, if all are measured.
"""

import os

for variable in ("OMP", "OPENBLAS", "MKL", "NUMBA"):
    os.environ[f"{variable}_NUM_THREADS"] = "1"

import csv
import statistics
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pages
from scaling import machine

import noisylabels as nl

ROOT = Path(__file__).resolve().parents[1]
TABLE = ROOT / "benchmarks/recorded/peers.csv"
PAGE = ROOT / "docs/scaling.md"
TURNS = 7
SECONDS = 3.0
"""After so many of the processor no further turn begins."""
COLUMNS = ("kind", "work", "peer", "size", "seconds", "peer_seconds", "ratio")
SAME_WORK = "same work"
YARDSTICK = "yardstick"

Call = Callable[[], object]


class Pair(NamedTuple):
    """One row: a call of ours and how to make the peer's, which may not be installed."""

    kind: str
    work: str
    peer: str
    size: int
    ours: Call
    make_peer: Callable[[], Call]


def draw_problem(rows: int, inputs: int) -> tuple[Any, Any]:
    """Draw two classes with a linear boundary, noise of its size and a fifth of flips."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((rows, inputs))
    score = X @ rng.standard_normal(inputs) + rng.standard_normal(rows)
    return X, np.where(rng.random(rows) < 0.2, score <= 0, score > 0).astype(int)


def pair_filters() -> Iterator[Pair]:
    """Filters on rows, and on windows that overlap."""
    rng = np.random.default_rng(0)
    for rows in (1_000, 10_000):
        X = rng.standard_normal((rows, 16))
        y = X @ rng.standard_normal(16) + 0.1 * rng.standard_normal(rows)
        yield _pair_nlms("NLMS, 16 inputs", rows, X, y)

        def make_river(X: Any = X, y: Any = y) -> Call:
            from river import linear_model, optim

            samples = [dict(enumerate(row)) for row in X]

            def learn() -> None:
                model = linear_model.LinearRegression(optimizer=optim.SGD(0.01), intercept_lr=0.0)
                for sample, target in zip(samples, y, strict=True):
                    model.predict_one(sample)
                    model.learn_one(sample, target)

            return learn

        yield Pair(
            SAME_WORK,
            "LMS, 16 inputs",
            "river",
            rows,
            lambda X=X, y=y: nl.LMS().fit(X, y),
            make_river,
        )
    for taps in (256, 1024):
        signal = rng.standard_normal(4_000 + taps - 1)
        windows = np.lib.stride_tricks.sliding_window_view(signal, taps)[:, ::-1]
        targets = windows @ rng.standard_normal(taps)
        yield _pair_nlms("NLMS, windows of so many taps", taps, windows, targets)


def _pair_nlms(work: str, size: int, X: Any, y: Any) -> Pair:
    def make() -> Call:
        import padasip

        inputs = X.shape[1]
        return lambda: padasip.filters.FilterNLMS(n=inputs, mu=0.5, w="zeros").run(y, X)

    return Pair(SAME_WORK, work, "padasip", size, lambda: nl.NLMS().fit(X, y), make)


def pair_linear() -> Iterator[Pair]:
    """Linear classifiers with 20 inputs."""
    from sklearn.linear_model import LogisticRegression, SGDClassifier

    for rows in (1_000, 10_000):
        X, y = draw_problem(rows, 20)
        for ours, theirs in (("log", "log_loss"), ("hinge", "hinge")):
            peer = SGDClassifier(theirs, alpha=1e-4, max_iter=15, tol=None, random_state=0)
            model = nl.RobustSGDClassifier(ours, random_state=0)
            work = f"SGD, {ours}, 15 epochs"
            yield _pair_models(SAME_WORK, work, "SGDClassifier", (model, peer), X, y)
        models = (nl.RobustLogisticRegression(), LogisticRegression())
        yield _pair_models(YARDSTICK, "robust logistic", "LogisticRegression", models, X, y)


def _pair_models(kind: str, work: str, peer: str, models: tuple[Any, Any], X: Any, y: Any) -> Pair:
    ours, theirs = models
    return Pair(kind, work, peer, len(X), lambda: ours.fit(X, y), lambda: lambda: theirs.fit(X, y))


def pair_kernels() -> Iterator[Pair]:
    """Kernel machines from rows, kernel matrix included, with 10 inputs."""
    from sklearn.linear_model import LogisticRegression
    from sklearn.metrics.pairwise import rbf_kernel
    from sklearn.svm import SVC

    for rows in (500, 2_000):
        X, y = draw_problem(rows, 10)
        svm = nl.KernelSVMClassifier(0.1, 1.0, parametrisation="gamma")
        libsvm = SVC(C=1.0, gamma=0.1, cache_size=2000)
        yield _pair_models(SAME_WORK, "kernel SVM, one C", "LIBSVM (SVC)", (svm, libsvm), X, y)
    for rows in (200, 800):
        X, y = draw_problem(rows, 10)
        logistic = nl.KernelLogisticRegression(0.05, 1.0, parametrisation="gamma")
        robust = nl.RobustKernelLogisticRegression(0.05, 1.0, parametrisation="gamma")

        def fit_peer(X: Any = X, y: Any = y) -> object:
            peer = LogisticRegression(C=0.5, fit_intercept=False, tol=1e-6, max_iter=2000)
            return peer.fit(rbf_kernel(X, gamma=0.05), y)

        for kind, work, model in ((SAME_WORK, "KLR", logistic), (YARDSTICK, "rKLR", robust)):
            yield Pair(
                kind,
                work,
                "LogisticRegression on K",
                rows,
                lambda model=model, X=X, y=y: model.fit(X, y),
                lambda fit_peer=fit_peer: fit_peer,
            )


def pair_boosters() -> Iterator[Pair]:
    """Boosters, with as many rounds as the peer finds useful."""
    from sklearn.ensemble import AdaBoostClassifier
    from sklearn.linear_model import LogisticRegression
    from sklearn.tree import DecisionTreeClassifier

    for rows in (500, 5_000):
        X, y = draw_problem(rows, 10)
        peer = AdaBoostClassifier(LogisticRegression(), n_estimators=30, random_state=0)
        rounds = len(peer.fit(X, y).estimators_)
        ours = nl.AdaBoostClassifier(rounds=rounds, random_state=0)
        yield _pair_models(SAME_WORK, "AdaBoost, logistic base", "AdaBoost", (ours, peer), X, y)
        tree = DecisionTreeClassifier(max_leaf_nodes=4)
        peer = AdaBoostClassifier(tree, n_estimators=30, random_state=0)
        rounds = len(peer.fit(X, y).estimators_)
        ours = nl.GentleBoostClassifier(rounds=rounds, random_state=0)
        work = "GentleBoost, trees of 4 leaves"
        yield _pair_models(YARDSTICK, work, "AdaBoost, same trees", (ours, peer), X, y)


def pair_crowds() -> Iterator[Pair]:
    """Labels of a crowd, five for each item; the size counts labels."""
    for items in (1_000, 10_000):
        rng = np.random.default_rng(0)
        annotators = max(20, items // 50)
        truth = rng.integers(3, size=items)
        item = np.repeat(np.arange(items), 5)
        annotator = rng.integers(annotators, size=5 * items)
        is_right = rng.random(5 * items) < rng.beta(6, 2, annotators)[annotator]
        other = (truth[item] + rng.integers(1, 3, 5 * items)) % 3
        label = np.where(is_right, truth[item], other)
        table = {"task": item, "worker": annotator, "label": label}
        ours = {
            "DawidSkene": nl.DawidSkene(tol=1e-300, max_iter=50),
            "OneCoinDawidSkene": nl.OneCoin(tol=1e-300, max_iter=50),
            "MajorityVote": nl.MajorityVote(),
        }
        for name, model in ours.items():
            options = {} if name == "MajorityVote" else {"n_iter": 50, "tol": 0}

            def make(name: str = name, table: Any = table, options: Any = options) -> Call:
                import crowdkit.aggregation
                import pandas as pd

                frame = pd.DataFrame(table)
                peer = getattr(crowdkit.aggregation, name)
                return lambda: peer(**options).fit(frame)

            work = name if not options else f"{name}, 50 rounds"
            yield Pair(
                SAME_WORK,
                work,
                "crowd-kit",
                len(item),
                lambda model=model, table=table: model.fit(table),
                make,
            )


def pair_audits() -> Iterator[Pair]:
    """An audit from given probabilities; it also has intervals, which the peer has not."""
    from sklearn.linear_model import LogisticRegression
    from sklearn.model_selection import cross_val_predict

    for rows in (1_000, 10_000):
        X, y = draw_problem(rows, 20)
        p = cross_val_predict(LogisticRegression(), X, y, cv=5, method="predict_proba")

        def make(y: Any = y, p: Any = p) -> Call:
            from cleanlab.filter import find_label_issues

            return lambda: find_label_issues(y, p, n_jobs=1)

        yield Pair(
            YARDSTICK,
            "audit from pred_probs",
            "cleanlab",
            rows,
            lambda y=y, p=p: nl.audit(pred_probs=p, y=y, random_state=0),
            make,
        )


GROUPS = {
    "filters": pair_filters,
    "linear": pair_linear,
    "kernels": pair_kernels,
    "boosters": pair_boosters,
    "crowds": pair_crowds,
    "audits": pair_audits,
}


def measure(pair: Pair) -> tuple[float, float]:
    """Measure the median seconds of ours and of the peer, in turn, after one call of each."""
    calls = (pair.ours, pair.make_peer())
    for call in calls:
        call()
    seconds: tuple[list[float], list[float]] = ([], [])
    begin = time.process_time()
    for _ in range(TURNS):
        for call, taken in zip(calls, seconds, strict=True):
            start = time.process_time()
            call()
            taken.append(time.process_time() - start)
        if time.process_time() - begin > SECONDS:
            break
    return statistics.median(seconds[0]), statistics.median(seconds[1])


def describe_machine() -> str:
    """Say on what the numbers were measured, and next to which versions."""
    facts = machine()
    packages = ("scikit-learn", "padasip", "river", "crowd-kit", "cleanlab")
    versions = ", ".join(f"{name} {version(name)}" for name in packages)
    return f"Measured on {facts['processor']}, at a load of {facts['load']}; {versions}."


def format_tables(rows: list[dict[str, Any]]) -> dict[str, str]:
    """Format a table for each kind of peer: our time over the peer's at each size."""
    tables = {}
    for kind in (SAME_WORK, YARDSTICK):
        lines = []
        for row in rows:
            if row["kind"] == kind:
                cells = (row["work"], row["peer"], f"{row['size']:,}", f"{row['ratio']:.2g}")
                lines.append(cells)
        head = ("work", "peer", "size", "our time / peer's")
        tables[kind] = pages.table(head, lines)
    return tables


def main() -> None:
    """Measure the groups that are named, by default all."""
    warnings.simplefilter("ignore")  # of fits that a few rounds do not finish
    groups = sys.argv[1:] or list(GROUPS)
    rows = []
    missing = set()
    for group in groups:
        for pair in GROUPS[group]():
            try:
                seconds, of_peer = measure(pair)
            except ImportError as error:
                missing.add(f"{pair.peer} ({error})")
                continue
            ratio = seconds / of_peer
            numbers = (f"{seconds:.3g}", f"{of_peer:.3g}", round(ratio, 3))
            cells = (pair.kind, pair.work, pair.peer, pair.size, *numbers)
            rows.append(dict(zip(COLUMNS, cells, strict=True)))
            print(f"{pair.work:32} {pair.peer:24} {pair.size:>7} {ratio:8.3f}", flush=True)
    for name in sorted(missing):
        print(f"left out, not installed: {name}")
    if missing or groups != list(GROUPS):
        return
    with TABLE.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    for kind, table in format_tables(rows).items():
        pages.write(PAGE, kind, table)
    pages.write(PAGE, "peers", describe_machine())


if __name__ == "__main__":
    main()
