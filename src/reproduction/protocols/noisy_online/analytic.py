"""Algorithm 4 for kernels and analytic losses: regret against the rounds, beside tight and loose bounds."""

from typing import Any

import numpy as np

from noisylabels.noise.features import FeatureNoise
from noisylabels.online.analytic import AnalyticKernel, AnalyticRun, NaiveFeatureOGD
from noisylabels.online.estimators import AnalyticKernelList
from noisylabels.online.oracles import SimulatedOracle
from noisylabels.seeding import Seeds
from noisylabels.theory import regret_bounds
from reproduction.protocols.noisy_online.analytic_tasks import HIGHEST, AnalyticTask
from reproduction.protocols.noisy_online.regret import Row, rows_of
from reproduction.protocols.noisy_online.sequences import Floats


def run(
    settings: dict[str, Any], data: dict[str, Any], seeds: Seeds, repetitions: range, tuned: dict[str, Any]
) -> list[Row]:
    """Rows; noise = task, setting = "m = ..", the multiple of the step of the tight moment, x = T.

    loose_ratio : regret over the bound with the moment of the theorem, for m = 1.
    log10_nu, log10_nu_loose : of the moments.
    fast_path_difference : from the list of the paper, in repetition 0.
    """
    rows: list[Row] = []
    for name, spec in settings["tasks"].items():
        task = AnalyticTask.of(spec, settings["instances"], seeds.generator("base", name))
        least = task.least()
        for repetition in repetitions:
            columns = {"noise": name, "repetition": repetition}
            rows += _curves(settings, task, least, Draws(task, seeds, name, repetition), columns)
            if repetition == 0:
                rows += _facts(settings, task, seeds, columns)
    return rows


class Draws:
    """Noise and coin of a repetition: the same for every step at one horizon."""

    def __init__(self, task: AnalyticTask, seeds: Seeds, name: str, repetition: int) -> None:
        self._task, self._seeds, self._name, self._repetition = task, seeds, name, repetition

    def _generator(self, stream: str, T: int) -> np.random.Generator:
        return self._seeds.generator(self._repetition, f"{self._name} {stream} {T}")

    def analytic(self, eta: float, T: int) -> AnalyticRun:
        """Algorithm 4 for T rounds."""
        task, rng = self._task, self._generator("copies", T)
        X, y = _passes(task, T)

        def copies(rounds: Any) -> Floats:
            return task.base.X[rounds % len(task.base.y)] + task.sd * rng.standard_normal(
                (len(rounds), len(task.sd))
            )

        coin = self._generator("coin", T)
        return AnalyticKernel(task.kernel, task.loss, eta, coin, task.p, task.B_w).run(X, copies, y)

    def plug_in(self, eta: float, T: int) -> Floats:
        """Predictions of the naive learner for T rounds."""
        task = self._task
        X, y = _passes(task, T)
        noisy = X + task.sd * self._generator("one copy", T).standard_normal(X.shape)
        return NaiveFeatureOGD(task.kernel, task.loss, eta, task.B_w, HIGHEST).run(X, noisy, y)


def _passes(task: AnalyticTask, T: int) -> tuple[Floats, Floats]:
    X, y = task.base
    return np.tile(X, (T // len(y), 1)), np.tile(y, T // len(y))


def step(task: AnalyticTask, T: int, factor: float) -> tuple[float, float]:
    """(eta, bound) with the tight moment, the step times a factor."""
    log_nu = task.log_nu(tight=True)
    eta = factor * regret_bounds.best_step_of_log(task.B_w, log_nu, T)
    bound = (factor + 1 / factor) / 2 * np.exp((np.log(task.B_w) + log_nu + np.log(T)) / 2)
    return eta, float(bound)


def _curves(
    settings: dict[str, Any], task: AnalyticTask, least: float, draws: Draws, columns: Row
) -> list[Row]:
    n, rows = len(task.base.y), []
    horizons = [n * passes for passes in settings["horizons"] if passes <= settings["most"][columns["noise"]]]
    for factor in settings["factors"]:
        regrets: dict[str, dict[int, float]] = {"analytic": {}, "plug_in": {}}
        bounds: dict[int, float] = {}
        at = columns | {"setting": f"m = {factor:g}"}
        for T in horizons:
            eta, bounds[T] = step(task, T, factor)
            done = draws.analytic(eta, T)
            y = np.tile(task.base.y, T // n)
            for method, found in (("analytic", done.predictions), ("plug_in", draws.plug_in(eta, T))):
                regrets[method][T] = float(task.loss.loss(found, y).sum()) - least * (T // n)
            own = at | {"method": "analytic", "x": T}
            rows.append(own | {"metric": "queries_per_round", "value": float(done.queries.mean())})
            if factor == 1:
                loose = np.exp((np.log(task.B_w) + task.log_nu(tight=False) + np.log(T)) / 2)
                rows.append(own | {"metric": "loose_ratio", "value": regrets["analytic"][T] / float(loose)})
        lasts = settings["exponent_horizons"]
        rows += rows_of(at | {"method": "analytic"}, regrets["analytic"], bounds, lasts=lasts)
        rows += rows_of(at | {"method": "plug_in"}, regrets["plug_in"], lasts=lasts)
    return rows


def _facts(settings: dict[str, Any], task: AnalyticTask, seeds: Seeds, columns: Row) -> list[Row]:
    """Moments, and the largest difference between fast path and list."""
    values = {
        "log10_nu": task.log_nu(tight=True) / np.log(10),
        "log10_nu_loose": task.log_nu(tight=False) / np.log(10),
        "fast_path_difference": _difference(task, seeds, columns["noise"], settings["list_rounds"]),
    }
    return [columns | {"method": "analytic", "metric": m, "value": float(v)} for m, v in values.items()]


def _difference(task: AnalyticTask, seeds: Seeds, name: str, T: int) -> float:
    """Largest difference of the predictions of fast path and list, on the same copies and coin."""
    fast, listed = (
        _one_by_one(learner, task, seeds, name, T) for learner in (AnalyticKernel, AnalyticKernelList)
    )
    return float(np.abs(fast - listed).max())


def _one_by_one(learner: Any, task: AnalyticTask, seeds: Seeds, name: str, T: int) -> Floats:
    """Predictions of a learner that is fed round by round."""
    X, y = (values[:T] for values in task.base)
    coin, rng = (seeds.generator("list", f"{name} {stream}") for stream in ("coin", "copies"))
    oracle = SimulatedOracle(X, y, FeatureNoise(variances=task.sd**2), rng)
    eta, _ = step(task, T, 8.0)
    f, predictions = learner(task.kernel, task.loss, eta, coin, task.p, task.B_w), np.empty(len(y))
    for t, view in enumerate(oracle):
        predictions[t] = f.predict(X[t])
        f.partial_fit(view)
    return predictions
