"""Small result tables with the rows that the protocols of kernel_boost write, and typed results of them."""

import copy
import itertools

import numpy as np
import pandas as pd
from figure_inputs import EXPERIMENTS

from reproduction.artifact import load
from reproduction.figures import rendering
from reproduction.figures.panels import Results
from reproduction.protocols import walk
from reproduction.results import COLUMNS, DEFAULTS

_FILES = sorted((EXPERIMENTS / "kernel_boost").glob("*.yaml"))
ARTIFACTS = {(file.stem, scale): load(file, scale) for file in _FILES for scale in ("full", "smoke")}
READINGS = ("readings", "readings_cells")
NAMES = [name for name, scale in ARTIFACTS if scale == "full" and name not in READINGS]
LEVEL = {"klr": 14, "rklr": 12, "rkfd": 16, "svm": 13, "rmklr": 11}
ROUNDS = range(1, 31)


def typed(protocol, raw):
    return walk.find(protocol).settings.model_validate(raw)


class Inputs:
    """Made-up tables, raw settings (change them before `results`) and published values of an artifact."""

    def __init__(self, name, scale="full", splits=6, sources=None):
        artifact = ARTIFACTS[name, scale]
        own = [name] if "protocol" in artifact.content else []
        self.names = own + artifact.content.get("uses", [])
        self.render = artifact.content["render"]
        used = {each: ARTIFACTS[each, scale] for each in dict.fromkeys([name, *self.names])}
        self.protocols = {each: a.content.get("protocol", "") for each, a in used.items()}
        self.settings = {each: copy.deepcopy(a.settings) for each, a in used.items()}
        self.published = {}
        if artifact.content["kind"] == "table":
            self.published = {each: list(a.content.get("published", [])) for each, a in used.items()}
        self.tables = {each: self._made(each, splits, sources or {}) for each in self.names}

    def _made(self, name, splits, sources):
        rng, found = np.random.default_rng(0), []
        for row in _rows(self.protocols[name], self.settings[name]):
            few = row.get("dataset") in ("ida_image", "ida_splice")
            for repetition in range(splits // 2 if few and splits > 1 else splits):
                value = _value(row, repetition, rng)
                source = sources.get(row.get("dataset"), "genuine")
                found.append(DEFAULTS | {"source": source} | row | {"repetition": repetition, "value": value})
        return pd.DataFrame(found)[COLUMNS]

    def results(self):
        own = {name: typed(p, self.settings[name]) for name, p in self.protocols.items() if p}
        return Results(self.tables, self.settings | own, self.published)

    def draw(self):
        return rendering.find(self.render)(self.results())


def draw(name, **options):
    """What the workflow would draw for the artifact."""
    return Inputs(name, **options).draw()


def _value(row, repetition, rng):
    """Errors grow with the flip rate and depend on the method; the rest is between 0.1 and 0.9."""
    if row["metric"] == "flagged":
        return float(repetition == 0)
    if row["metric"] not in ("error", "cpu_seconds") or row["method"] not in LEVEL:
        return float(rng.uniform(0.1, 0.9))
    rate = float(row.get("noise", "independent 0").split()[1])
    return LEVEL[row["method"]] * (1 + 2 * rate) + rng.normal(0, 1 + 5 * rate)


def _rows(protocol, s):
    """The columns of every row but repetition and value, for raw settings."""
    x_of = {"boosting.curves": ROUNDS}
    x_of |= {"boosting.calibration": s.get("trusted"), "boosting.bounds": s.get("ks")}
    metrics = {
        "kernels.errors": ("error", "flagged"),
        "kernels.features": ("accuracy", "flagged"),
        "kernels.timing": ("cpu_seconds",),
        "boosting.errors": ("error",),
        "boosting.curves": ("train_error", "test_error", "gamma01", "gamma10"),
        "boosting.calibration": ("error", "gamma_error"),
        "boosting.bound_minimisers": ("error",),
        "boosting.bounds": ("bound", "risk", "complexity", "error"),
    }
    if protocol in metrics:
        axes = (s["datasets"], s.get("noise", [""]), s.get("methods", ["new"]), metrics[protocol])
        for dataset, noise, method, metric in itertools.product(*axes):
            row = {"dataset": dataset, "method": method, "metric": metric}
            row |= {"noise": noise} if noise else {}
            yield from ({**row, "x": x} for x in s.get("rounds") or x_of.get(protocol, [np.nan]))
            if protocol == "boosting.errors" and method.startswith("rBoost/"):
                yield from (row | {"metric": gamma} for gamma in ("gamma01", "gamma10"))
    elif protocol == "boosting.loss":
        labels = ("label +1", "label -1")
        for setting, method, x in itertools.product(labels, s["gammas"], np.linspace(-2, 2, 9)):
            yield {"setting": setting, "method": method, "metric": "loss", "x": x}
    elif protocol == "boosting.flip_probability":
        shown = {"formula": ("f", "gaussian_slack", "sub_gaussian_slack"), "gaussian": ("share",)}
        for k, (setting, found) in itertools.product(s["ks"], (shown | {"rademacher": ("share",)}).items()):
            for metric, x in itertools.product(found, np.linspace(0, np.pi, 7)):
                yield {"setting": setting, "method": f"k={k}", "metric": metric, "x": x}
    elif protocol == "kernels.annotators":
        places = ("labelled items", "new items", "new items and gold labels")
        methods = ("majority vote", *s["methods"])
        for setting, method, x in itertools.product(places, methods, s["annotators"]):
            yield {"setting": setting, "method": method, "metric": "accuracy", "x": x}
    else:  # images
        yield {"method": "search", "metric": "noise_share"}
        for method in s["methods"]:
            yield {"method": method, "metric": "error"}
            yield from ({"method": method, "metric": "positive", "x": x} for x in range(1, s["ranks"] + 1))
