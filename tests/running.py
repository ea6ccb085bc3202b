"""Protocols run as a job runs them: settings validated, tuned first where the protocol tunes."""

import json

import numpy as np
import pandas as pd

from noisylabels.seeding import Seeds
from reproduction.data.prepared import Dataset
from reproduction.run import protocol_loop
from reproduction.run.results import COLUMNS, DEFAULTS
from reproduction.spec.protocol import find_protocol

REPEATED = {"experiment": "test", "repetitions": 2}
SGD = {
    "datasets": ["toy"],
    "epochs": 4,
    "folds": 3,
    "rule": "one_se",
    "lambdas": [1e-4, 1e-2],
    "multipliers": [0.3, 1.0],
    "cv_rows": 10_000,
    "rows": 0,
    "stand_in_rows": 0,
    "resample_noise": False,
    "official": [],
    "objectives": [],
    "families": {},
}
"""Settings of `robust_sgd.errors` without noise and methods."""


def typed(protocol, settings):
    """Make the settings of a protocol, as its model, with a name and a number of repetitions."""
    model = find_protocol(protocol).settings
    repeated = {key: value for key, value in REPEATED.items() if key in model.model_fields}
    checked = model.model_validate(repeated | settings)
    checked.check_custom()
    return checked


def rows(protocol, settings, data=None, repetitions=range(2), seed=1):
    """Run a protocol; ``data`` is a data set, a mapping of id -> data set, or nothing."""
    if isinstance(data, Dataset):
        data = {data.id: data}
    data = data or {}
    definition = find_protocol(protocol)
    checked = typed(protocol, settings)
    handed = protocol_loop.Loop(data, Seeds(seed, "test"), repetitions)
    if definition.tune is not None:
        tuned = json.loads(json.dumps(definition.tune(checked, handed)))
        handed = protocol_loop.Loop(data, handed.seeds, repetitions, tuned)
    return list(definition.run(checked, handed))


def frame(rows):
    """Make a result table of rows."""
    return pd.DataFrame([DEFAULTS | row for row in rows])[COLUMNS]


def table(*arguments, **options):
    """Make a result table of `rows`."""
    return frame(rows(*arguments, **options))


def values(frame, **selector):
    """Select the values of the rows with these entries."""
    for column, value in selector.items():
        frame = frame[frame[column] == value]
    return frame["value"].to_numpy()


def make_repetition(number=0, dataset="toy"):
    """Make a repetition on a data set."""
    keys = {"dataset": dataset, "repetition": number}
    return protocol_loop.Repetition(Seeds(1, "test", dataset), number, keys)


def two_classes(name="toy", n=90, train=0, splits=2, distance=1.0, d=2):
    """Draw two Gaussian classes, -1 and +1; with ``train``, official splits of so many rows."""
    rng = np.random.default_rng(0)
    y = np.where(rng.random(n) < 0.5, 1, -1).astype(np.int8)
    arrays = {"X": rng.normal(distance * y[:, None], 1.0, (n, d)), "y": y}
    if train:
        order = np.array([rng.permutation(n) for _ in range(splits)], dtype=np.int32)
        arrays |= {"train": order[:, :train], "test": order[:, train:]}
    return Dataset(id=name, source="test", variant="made", arrays=arrays, digest="")
