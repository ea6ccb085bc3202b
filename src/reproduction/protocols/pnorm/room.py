"""Identify a sparse room response from speech: misalignment over time of p-norm LMS, NLMS, PNLMS and RLS.

y = h * s + noise, with real speech s of unit variance and h the response of a simulated room,
as long as the filter (||h|| = 1). Misalignment 20 log10 ||w_t - h||.
Each repetition has its own piece of the recording and its own noise.
"""

import itertools
from dataclasses import dataclass
from typing import Any

import numpy as np

from noisylabels.arrays import Floats
from noisylabels.filters.base import Filter, Sliding
from noisylabels.seeding import Seeds
from reproduction.protocols.pnorm.data import Row
from reproduction.protocols.specs import Spec
from reproduction.protocols.tuning import filters, grid_values

TUNING = "tuning"


@dataclass(frozen=True)
class Echo:
    """A piece of speech with d - 1 zeros before it, what the microphone hears,
    the response and the noise variance."""

    padded: Floats
    heard: Floats
    response: Floats
    variance: float

    def misalignment(self, f: Filter, points: int) -> tuple[Floats, Floats]:
        """20 log10 ||w - h|| in dB after each of `points` equal parts of the piece; (samples seen, dB)."""
        d, T = len(self.response), len(self.heard)
        ends = np.linspace(0, T, points + 1).astype(int)
        f._start(d)
        levels = np.empty(points)
        for i, (start, stop) in enumerate(itertools.pairwise(ends)):
            rows = Sliding(self.padded[start : stop + d - 1], d, delay=d - 1, n=stop - start)
            f.run(rows, self.heard[start:stop])
            levels[i] = 20 * np.log10(np.linalg.norm(f.w - self.response))
        return ends[1:], levels


def echo(
    settings: dict[str, Any], reflection: float, data: dict[str, Any], seeds: Seeds, repetition: int | str
) -> Echo:
    """The piece of a repetition, a random one of the recording; the tuning piece is shorter."""
    from reproduction.data import audio

    speech = data["speech"].arrays
    signal, rate = np.asarray(speech["signal"], dtype=float), int(speech["rate"])
    seconds = settings["tuning_seconds" if repetition == TUNING else "seconds"]
    T = min(len(signal), round(seconds * rate))
    rng = seeds.generator(repetition, "piece")
    signal = (signal - signal.mean()) / signal.std()
    first = int(rng.integers(len(signal) - T + 1))
    d = settings["taps"]
    padded = np.concatenate([np.zeros(d - 1), signal[first : first + T]])
    h = audio.simulated(taps=d, rate=rate, reflection=reflection)
    clean = np.convolve(padded, h, "valid")
    variance = float(clean.var()) * 10 ** (-settings["snr"] / 10)
    noise = seeds.generator(repetition, "noise").standard_normal(T)
    return Echo(padded, clean + np.sqrt(variance) * noise, h, variance)


def filter_of(spec: Spec, chosen: dict[str, Any], task: Echo) -> Filter:
    """A filter of the settings; RLS is told the variance of the noise and that ||h|| = 1."""
    told = {"prior": 1 / len(task.response), "noise": task.variance} if spec.cls.name == "rls" else {}
    built: Filter = spec.build(**(chosen | told))
    return built


def tune(settings: dict[str, Any], data: dict[str, Any], seeds: Seeds) -> dict[str, Any]:
    """``{room: {method: parameters}}``, the grid point
    with the smallest mean misalignment on the tuning piece."""
    methods = filters(settings)
    tuned: dict[str, Any] = {}
    for room, reflection in settings["rooms"].items():
        task = echo(settings, reflection, data, seeds, TUNING)
        tuned[room] = {}
        for method, spec in methods.items():
            grids = {name: grid_values(spec.options["grids"][name]) for name in spec.options.get("tune", [])}
            points = [dict(zip(grids, point, strict=True)) for point in itertools.product(*grids.values())]
            scores = [_score(spec, p, task, settings["points"]) for p in points] if len(points) > 1 else [0.0]
            tuned[room][method] = points[int(np.argmin(scores))]
    return tuned


def _score(spec: Spec, chosen: dict[str, Any], task: Echo, points: int) -> float:
    try:
        with np.errstate(over="ignore"):
            return float(task.misalignment(filter_of(spec, chosen, task), points)[1].mean())
    except ValueError:  # diverged
        return np.inf


def run(
    settings: dict[str, Any], data: dict[str, Any], seeds: Seeds, repetitions: range, tuned: dict[str, Any]
) -> list[Row]:
    """Rows; noise = room, x = seconds of speech heard; metric tap: the response, x = tap."""
    methods = filters(settings)
    rows = []
    rate = int(data["speech"].arrays["rate"])
    for room, reflection in settings["rooms"].items():
        for repetition in repetitions:
            task = echo(settings, reflection, data, seeds, repetition)
            if repetition == 0:
                columns = {"noise": room, "method": "response", "repetition": 0, "metric": "tap"}
                rows += [columns | {"x": k, "value": float(h)} for k, h in enumerate(task.response)]
            for method, spec in methods.items():
                f = filter_of(spec, tuned[room][method], task)
                seen, levels = task.misalignment(f, settings["points"])
                columns = {
                    "dataset": "speech", "source": data["speech"].variant, "noise": room, "method": method,
                    "repetition": repetition,
                }  # fmt: skip
                rows += [
                    columns | {"metric": "misalignment", "x": float(t) / rate, "value": float(level)}
                    for t, level in zip(seen, levels, strict=True)
                ]
                rows.append(columns | {"metric": "mean_misalignment", "value": float(levels.mean())})
    return rows
