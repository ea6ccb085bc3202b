"""Images found by a web search, whose search term is their noisy label.

Source: Kaban and Bootkrajang, LABELNOISE 2017, Bike / NotBike; split and features are those at hand.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from pydantic import Field, PositiveInt

from reproduction.protocols.kernels import TrainingSettings, resolve, train
from reproduction.protocols.settings import Share
from reproduction.protocols.walk import At, Floats, Labels, Row, Split, Walk, protocol, share_split, zero_one


class SearchSettings(TrainingSettings):
    """Settings of `search`."""

    train: Share = Field(description="share of the rows that are for training")
    ranks: PositiveInt = Field(description="length of the list of the images that each method ranks first")


@protocol(SearchSettings, labels=("search", "error", "positive", "noise_share", "flagged"))
def search(settings: SearchSettings, walk: Walk) -> Iterator[Row]:
    """Classifiers trained on what a search returned: the test error, and the images that each ranks first.

    A repetition draws a share of the rows for training with their noisy labels; the others are judged by
    their true ones. A data set without noisy labels is trained on its labels as they are. Metrics: error,
    wrong test labels in %; positive, 1 where the test image at rank x (the largest decision value has rank 1)
    is truly of the positive class; noise_share, wrong training labels in %; flagged.

    Raises ValueError : too few rows for a share, or one noisy class among the training rows.
    """
    for at, dataset in walk.each(settings.datasets):
        arrays = dataset.arrays
        rows, rest = share_split(arrays["y"], settings.train, at)
        split = Split.of(arrays, rows, rest)
        observed = zero_one(arrays.get("y_noisy", arrays["y"]))[rows]
        if len(np.unique(observed)) < 2:
            raise ValueError(
                f"train: a share of {settings.train:g} of {dataset.id} leaves one class for training"
            )
        yield at.row("noise_share", 100.0 * float(np.mean(observed != split.clean)), method="search")
        for label, (scores, flagged) in _scores(settings, split, observed, at).items():
            here = at.on(method=label)
            yield here.row("error", 100.0 * float(np.mean((scores > 0) != split.truth)))
            yield here.row("flagged", flagged)
            first = split.truth[np.argsort(-scores, kind="stable")[: settings.ranks]]
            yield from here.curve("positive", enumerate(first, start=1))


def _scores(
    settings: SearchSettings, split: Split, observed: Labels, at: At
) -> dict[str, tuple[Floats, bool]]:
    """Label -> (decision values of the test rows, flagged), in the order of the settings.

    The kernel methods are selected and fitted as in the kernel study; any other is a scikit-learn estimator.
    """
    methods = resolve(settings)
    kernel = [m for m in methods if hasattr(m.cls, "fit_many") or hasattr(m.cls, "fit_distances")]
    outcomes = train(kernel, split, observed[:, np.newaxis], settings, at)
    found = {}
    for method in methods:
        if method.label in outcomes:
            outcome = outcomes[method.label][0]
            found[method.label] = outcome.scores, outcome.flagged
        else:
            model = method.cls(**method.parameters).fit(split.X, observed)
            scores = model.decision_function(split.X_test)
            found[method.label] = scores, not getattr(model, "converged_", True)
    return found
