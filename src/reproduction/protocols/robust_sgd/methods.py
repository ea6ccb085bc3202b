"""Methods of the robust-SGD study as settings name them, and the grids of their parameters.

A method is ``{method: robust_sgd, losses: [{loss: ramp, s: -1}, ...], parameters: {...}}`` or, without a list
of losses, ``{method: pegasos | liblinear, parameters: {...}}``. The grid is losses x lambdas x multipliers.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from noisylabels.bases.contracts import FitsEpochs, FitsGrid, HasObjective, require
from noisylabels.losses.margin import LOSSES, Loss
from reproduction.protocols.specs import Spec, specs


class Point(NamedTuple):
    """A point of the grid; loss: its index in the method's list, 0 without a list."""

    loss: int
    lam: float
    multiplier: float


def resolve(settings: dict[str, Any]) -> dict[str, Spec]:
    """The methods of the settings by their labels.

    Raises ValueError : an unknown method, loss or parameter; a class that lacks what the settings ask of it;
    a label in ``objectives`` or ``families`` that no method has.
    """
    methods = specs(settings["methods"])
    for spec in methods.values():
        if "losses" in spec.options:
            spec.check(("loss", "lam", "multiplier", "epochs", "random_state"))
            require(spec.cls, FitsGrid, spec.label, "the choice among `losses`", "drop `losses`")
            spec.check(function=spec.cls.fit_grid)
            for content in spec.options["losses"]:
                make_loss(content)
        else:
            spec.check(("lam", "random_state"))
    used = {"objectives": settings["objectives"]}
    used |= {f"families.{name}": members for name, members in settings["families"].items()}
    for place, labels in used.items():
        for label in labels:
            if label not in methods:
                known = ", ".join(methods)
                raise ValueError(f"settings.{place}: {label!r} is no method of the settings: {known}")
    for label in settings["objectives"]:
        for contract in (FitsEpochs, HasObjective):
            user = "the record of its objective"
            require(methods[label].cls, contract, label, user, "take the method off `objectives`")
    return methods


def build(spec: Spec, point: dict[str, Any], epochs: int, rng: np.random.Generator) -> Any:
    """The estimator of a method at a point of its grid."""
    if "losses" in spec.options:
        loss = make_loss(spec.options["losses"][point["loss"]])
        return spec.build(
            epochs=epochs, random_state=rng, lam=point["lam"], loss=loss, multiplier=point["multiplier"]
        )
    return spec.build(random_state=int(rng.integers(2**31 - 1)), lam=point["lam"])


def make_loss(content: dict[str, Any]) -> Loss:
    """``{loss: ramp, s: -1}`` -> the loss.

    Raises ValueError : an unknown loss or parameter.
    """
    parameters = {key: value for key, value in content.items() if key != "loss"}
    if content["loss"] not in LOSSES:
        raise ValueError(f"unknown loss {content['loss']!r}; known: {', '.join(LOSSES)}")
    try:
        return LOSSES[content["loss"]](**parameters)
    except TypeError:
        raise ValueError(f"the loss {content['loss']} has no parameters {sorted(parameters)}") from None


def grid_points(spec: Spec, lambdas: list[float], multipliers: list[float]) -> list[Point]:
    """Every point of the method's grid."""
    if "losses" not in spec.options:
        return [Point(0, lam, 1.0) for lam in lambdas]
    losses = range(len(spec.options["losses"]))
    return [Point(i, lam, m) for i in losses for lam in lambdas for m in multipliers]
