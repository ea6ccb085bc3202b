"""Test error of linear classifiers with robust and convex losses under label noise (Han, Tsang, Chen,
Section 5).

Metrics: error, the test error in % after epoch x (methods without epochs: at the last x); objective, G(w) on
the noisy training data after epoch x, for the methods listed under `objectives`; spread, the largest minus
the smallest final error in a family of methods.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from noisylabels.protocols import robust_sgd_selection as selection
from noisylabels.protocols.robust_sgd_data import Problem, clean_problem, with_noise
from noisylabels.seeding import Seeds

SHARED = "data"
"""The repetition under whose name split and noise are drawn: the trials differ in shuffling only."""


def tune(settings: dict[str, Any], data: dict[str, Any], seeds: Seeds) -> dict[str, Any]:
    """``{data set: {noise: {method: {loss, lam, multiplier, error, lowest}}}}``, chosen by
    cross-validation."""
    tuned: dict[str, Any] = {}
    for name, dataset in _datasets(settings, data).items():
        own = Seeds(seeds.seed, seeds.experiment, name)
        clean = clean_problem(dataset, settings["datasets"][name] or {}, own)
        tuned[name] = {}
        for label, model in settings["noise"].items():
            problem = with_noise(clean, label, model, own, SHARED)
            problem = selection.tuning_rows(problem, settings["cv_rows"], own.generator("tuning", "rows"))
            rng = own.generator("tuning", f"folds {label}")
            fold = selection.folds(problem.noisy, settings["folds"], rng)
            tuned[name][label] = {
                method: _tuned(spec, problem, fold, settings, own, label)
                for method, spec in settings["methods"].items()
            }
    return tuned


def _tuned(
    spec: dict[str, Any], problem: Problem, fold: Any, settings: dict[str, Any], seeds: Seeds, label: str
) -> dict[str, Any]:
    points = selection.grid(spec, settings["lambdas"], settings["multipliers"])
    errors = selection.validation_errors(spec, points, problem, fold, settings["epochs"], seeds, label)
    return selection.choose(points, errors, settings["rule"])


def run(
    settings: dict[str, Any], data: dict[str, Any], seeds: Seeds, repetitions: range, tuned: dict[str, Any]
) -> list[dict[str, Any]]:
    """Rows of all repetitions; source = where the data set came from."""
    rows = []
    for name, dataset in _datasets(settings, data).items():
        own = Seeds(seeds.seed, seeds.experiment, name)
        clean = clean_problem(dataset, settings["datasets"][name] or {}, own)
        for label, model in settings["noise"].items():
            problem = with_noise(clean, label, model, own, SHARED)
            for repetition in repetitions:
                if settings.get("resample_noise"):
                    problem = with_noise(clean, label, model, own, repetition)
                columns = {"dataset": name, "source": dataset.source, "noise": label}
                columns |= {"repetition": repetition}
                points = tuned[name][label]
                rows += _trial(settings, points, problem, own, columns)
    return rows


def _trial(
    settings: dict[str, Any], points: dict[str, Any], problem: Problem, seeds: Seeds, columns: dict[str, Any]
) -> list[dict[str, Any]]:
    rows = []
    final: dict[str, float] = {}
    for method, spec in settings["methods"].items():
        watched = method in settings.get("objectives", [])
        rng = seeds.generator(columns["repetition"], f"shuffle {columns['noise']}")
        model = selection.build(spec, points[method], settings["epochs"], rng)
        curves = _curves(model, problem, settings["epochs"], watched)
        final[method] = curves["error"][settings["epochs"]]
        rows += [
            columns | {"method": method, "metric": metric, "x": x, "value": value}
            for metric, curve in curves.items()
            for x, value in curve.items()
        ]
    for family, members in settings.get("families", {}).items():
        values = [final[method] for method in members]
        rows.append(columns | {"method": family, "metric": "spread", "value": max(values) - min(values)})
    return rows


def _curves(model: Any, problem: Problem, epochs: int, watched: bool) -> dict[str, dict[int, float]]:
    """metric -> {epoch: value}."""
    if not hasattr(model, "fit_epochs"):
        return {"error": {epochs: _error(model.fit(problem.X, problem.noisy), problem)}}
    errors, objectives = {}, {}
    for epoch, fitted in enumerate(model.fit_epochs(problem.X, problem.noisy), start=1):
        errors[epoch] = _error(fitted, problem)
        if watched:
            objectives[epoch] = fitted.objective(problem.X, problem.noisy)
    if watched:
        objectives = {0: float(model.loss.value(0.0))} | objectives
    return {"error": errors, "objective": objectives}


def _error(model: Any, problem: Problem) -> float:
    """Percentage of wrong test labels."""
    return 100.0 * float(np.mean(model.predict(problem.X_test) != problem.y_test))


def _datasets(settings: dict[str, Any], data: dict[str, Any]) -> dict[str, Any]:
    """The prepared data sets that the settings name, in their order."""
    by_name = {identifier.partition(".")[0]: dataset for identifier, dataset in data.items()}
    missing = [name for name in settings["datasets"] if name not in by_name]
    if missing:
        raise ValueError(
            f"settings.datasets: {missing[0]} is not among the artifact's datasets {sorted(by_name)}"
        )
    return {name: by_name[name] for name in settings["datasets"]}
