"""Test error of linear classifiers with robust and convex losses under label noise.

Metrics: error, wrong test labels in % after epoch x (methods without epochs: at the last x); reversed_error,
100 - error at the last x; redrawn_error (if `redraw`), the last error of a trial with flips and a split of
its own, parameters as before; settled, the first epoch after which the error stays within a tenth of its last
value; objective, G(w) on the noisy training data after epoch x, for the methods under `objectives`; spread,
the largest minus the smallest last error within a family of methods.

Source: Han, Tsang, Chen, ECML PKDD 2016, Section 5.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from noisylabels.bases.contracts import FitsEpochs
from noisylabels.seeding import Seeds
from reproduction.protocols.data_sets import data_sets
from reproduction.protocols.folds import stratified_folds
from reproduction.protocols.robust_sgd import selection
from reproduction.protocols.robust_sgd.data import SHARED, Problem, clean_problem, with_noise
from reproduction.protocols.robust_sgd.methods import build, grid_points, resolve
from reproduction.protocols.specs import Spec
from reproduction.verdicts.per_point_errors import Scored

Curves = dict[str, dict[int, float]]


def tune(settings: dict[str, Any], data: dict[str, Any], seeds: Seeds) -> dict[str, Any]:
    """``{data set: {noise: {method: {loss, lam, multiplier, error, lowest}}}}``, by cross-validation."""
    methods = resolve(settings)
    tuned: dict[str, Any] = {}
    for name, _, clean, own in _problems(settings, data, seeds):
        tuned[name] = {}
        for label in settings["noise"]:
            problem = with_noise(clean, label, own, SHARED)
            problem = selection.tuning_rows(problem, settings["cv_rows"], own.generator("tuning", "rows"))
            rng = own.generator("tuning", f"folds {label}")
            fold = stratified_folds(problem.noisy, settings["folds"], rng)
            tuned[name][label] = {
                method: _tuned(spec, problem, fold, settings, own, label) for method, spec in methods.items()
            }
    return tuned


def _tuned(
    spec: Spec, problem: Problem, fold: Any, settings: dict[str, Any], seeds: Seeds, label: str
) -> dict[str, Any]:
    points = grid_points(spec, settings["lambdas"], settings["multipliers"])
    errors = selection.validation_errors(spec, points, problem, fold, settings["epochs"], seeds, label)
    return selection.choose(points, errors, settings["rule"])


def run(
    settings: dict[str, Any], data: dict[str, Any], seeds: Seeds, repetitions: range, tuned: dict[str, Any]
) -> list[dict[str, Any]]:
    """Rows of all repetitions; source = variant of the data set."""
    methods = resolve(settings)
    rows = []
    for name, source, clean, own in _problems(settings, data, seeds):
        for label in settings["noise"]:
            problem = with_noise(clean, label, own, SHARED)
            for repetition in repetitions:
                if settings["resample_noise"]:
                    problem = with_noise(clean, label, own, repetition)
                columns = {"dataset": name, "source": source, "noise": label, "repetition": repetition}
                rows += _trial(methods, settings, tuned[name][label], problem, own, columns)
    if settings.get("redraw", False):
        rows += _redrawn(methods, settings, data, seeds, repetitions, tuned)
    return rows


def _redrawn(
    methods: dict[str, Spec],
    settings: dict[str, Any],
    data: dict[str, Any],
    seeds: Seeds,
    repetitions: range,
    tuned: dict[str, Any],
) -> list[dict[str, Any]]:
    """Rows redrawn_error: the same methods and parameters on new flips of a new split in every trial."""
    rows = []
    for repetition in repetitions:
        for name, source, clean, own in _problems(settings, data, seeds, repetition):
            for label in settings["noise"]:
                problem = with_noise(clean, label, own, repetition)
                columns = {"dataset": name, "source": source, "noise": label, "repetition": repetition}
                for method, spec in methods.items():
                    rng = own.generator(repetition, f"shuffle {label}")
                    model = build(spec, tuned[name][label][method], settings["epochs"], rng)
                    error = _error(model.fit(problem.X, problem.noisy), problem)
                    columns |= {"method": method, "metric": "redrawn_error", "x": settings["epochs"]}
                    rows.append(columns | {"value": error})
    return rows


def _trial(
    methods: dict[str, Spec],
    settings: dict[str, Any],
    points: dict[str, Any],
    problem: Problem,
    seeds: Seeds,
    columns: dict[str, Any],
) -> list[dict[str, Any]]:
    """Rows of one repetition: every method with the same shuffles."""
    rows: list[dict[str, Any]] = []
    final: dict[str, float] = {}
    everywhere = np.arange(len(problem.y_test), dtype=np.int32)
    for method, spec in methods.items():
        rng = seeds.generator(columns["repetition"], f"shuffle {columns['noise']}")
        model = build(spec, points[method], settings["epochs"], rng)
        curves = _curves(model, problem, settings["epochs"], method in settings["objectives"])
        final[method] = curves["error"][settings["epochs"]]
        last = len(rows) + len(curves["error"]) - 1  # the error at the end is kept point by point
        rows += [
            columns | {"method": method, "metric": metric, "x": x, "value": value}
            for metric, curve in curves.items()
            for x, value in curve.items()
        ]
        wrong = model.predict(problem.X_test) != problem.y_test
        rows[last] |= Scored(everywhere, wrong, len(wrong)).row("error")
    for family, members in settings["families"].items():
        values = [final[method] for method in members]
        rows.append(columns | {"method": family, "metric": "spread", "value": max(values) - min(values)})
    return rows


def _curves(model: Any, problem: Problem, epochs: int, watched: bool) -> Curves:
    """metric -> {epoch: value}."""
    curves: Curves = {"error": {}}
    start = {0: float(model.loss.value(0.0))} if watched else {}
    if isinstance(model, FitsEpochs):
        objective = {}
        for epoch, fitted in enumerate(model.fit_epochs(problem.X, problem.noisy), start=1):
            curves["error"][epoch] = _error(fitted, problem)
            if watched:
                objective[epoch] = fitted.objective(problem.X, problem.noisy)
        if watched:
            curves["objective"] = start | objective
        curves["settled"] = {epochs: _first_settled(list(curves["error"].values()))}
    else:
        curves["error"] = {epochs: _error(model.fit(problem.X, problem.noisy), problem)}
    return curves | {"reversed_error": {epochs: 100.0 - curves["error"][epochs]}}


def _first_settled(errors: list[float]) -> float:
    """The first epoch (from 1) from which every error is within 10 % of the last one."""
    far = [epoch for epoch, error in enumerate(errors, start=1) if abs(error - errors[-1]) > 0.1 * errors[-1]]
    return float(far[-1] + 1 if far else 1)


def _error(model: Any, problem: Problem) -> float:
    """Percentage of wrong test labels."""
    return 100.0 * float(np.mean(model.predict(problem.X_test) != problem.y_test))


def _problems(
    settings: dict[str, Any], data: dict[str, Any], seeds: Seeds, repetition: int | str = SHARED
) -> Iterator[tuple[str, str, Problem, Seeds]]:
    """(name, source, clean problem, seeds) of the data sets that the settings name; see `clean_problem`."""
    for name, dataset, own in data_sets(settings, data, seeds):
        rows = settings["stand_in_rows"] if "stand-in" in dataset.variant else settings["rows"]
        official = name in settings["official"]
        problem = clean_problem(dataset, own, official=official, rows=rows, repetition=repetition)
        yield name, dataset.variant, problem, own
