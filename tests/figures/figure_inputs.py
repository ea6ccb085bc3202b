"""Small result tables with the rows that each protocol writes."""

import itertools
from pathlib import Path

import numpy as np
import pandas as pd

from reproduction import artifact as artifacts
from reproduction.figures import rendering
from reproduction.figures.panels import Results
from reproduction.results import COLUMNS, DEFAULTS

ROOT = Path(__file__).resolve().parents[2]
EXPERIMENTS = ROOT / "config/experiments"
REPETITIONS = range(3)
ROUNDS = np.linspace(300, 3000, 10)

_FILES = sorted(EXPERIMENTS.glob("*/*.yaml"))
ARTIFACTS = {file.stem: artifacts.load(file, "smoke") for file in _FILES if file.parent.name == "ors"}


def _filter_curves(settings):
    labels = itertools.product(settings["tasks"], settings["modes"], settings["methods"], ROUNDS)
    for task, mode, method, x in labels:
        for metric in ("mse", "mse_window"):
            yield {"noise": task, "setting": mode, "method": method, "metric": metric, "x": x}
        if x == ROUNDS[-1]:
            yield {"noise": task, "setting": mode, "method": method, "metric": "mse_tail", "x": x}


def _label_budget(settings):
    scaling = ("scaling", "no scaling")
    labels = itertools.product(settings["noise"], scaling, settings["strategies"], settings["budgets"])
    for noise, setting, method, x in labels:
        for metric in ("mse", "labels_per_round"):
            yield {"noise": noise, "setting": setting, "method": method, "metric": metric, "x": x}


def _budget_trace(settings):
    for noise, budget, x in itertools.product(settings["noise"], settings["budgets"], ROUNDS):
        for metric in ("labels_per_round", "a"):
            where = {"noise": noise, "setting": f"B={budget:g}", "method": "self_tuned"}
            yield where | {"metric": metric, "x": x}


def _conditions(settings):
    for (x, name), method in itertools.product(enumerate(settings["conditions"]), settings["methods"]):
        yield {"setting": name, "method": method, "metric": "mse", "x": float(x)}


_ROWS = {f"ors{f.__name__.replace('_', '.', 1)}": f
         for f in (_filter_curves, _label_budget, _budget_trace, _conditions)}  # fmt: skip


def synthetic(artifact):
    """A result table for an artifact: positive values that depend on nothing but their place."""
    rng = np.random.default_rng(0)
    rows = [
        DEFAULTS | row | {"repetition": repetition, "value": float(np.exp(rng.normal()))}
        for row in _ROWS[artifact.content["protocol"]](artifact.settings)
        for repetition in REPETITIONS
    ]
    return pd.DataFrame(rows, columns=COLUMNS)


def inputs(name):
    """Tables and settings that the workflow would give to the artifact's function."""
    artifact = ARTIFACTS[name]
    own = [name] if "protocol" in artifact.content else []
    names = own + artifact.content.get("uses", [])
    settings = {used: rendering._typed(ARTIFACTS[used].shown(False)) for used in {name, *names}}
    return Results({used: synthetic(ARTIFACTS[used]) for used in names}, settings)
