"""Boosters as settings name them, and the flip rates that some of them are told."""

from __future__ import annotations

from typing import Any

import numpy as np

from noisylabels.noise.flips import parse
from reproduction.protocols.specs import Spec, specs


def flip_rates(noise: str) -> tuple[float, float]:
    """(gamma01, gamma10), the probabilities of the flips 0 -> 1 and 1 -> 0 under a noise label.

    Raises ValueError : a kind of noise that does not flip every label by a coin of its own.
    """
    model, parameters = parse(noise)
    if model not in ("independent", "negative_only", "positive_only"):
        raise ValueError(
            f"noise {noise!r}: boosters are told two flip rates; "
            "use independent, negative_only or positive_only"
        )
    rate = parameters["rate"]
    return (0.0 if model == "positive_only" else rate), (0.0 if model == "negative_only" else rate)


def boosters(settings: dict[str, Any]) -> dict[str, Spec]:
    """The methods ``{label: {method, parameters, gamma}}``, checked; ``gamma: known`` tells the flip rates.

    Raises ValueError : unknown method or parameter; a method that takes no flip rates is told them.
    """
    found = specs(settings["methods"])
    for spec in found.values():
        spec.check(("gamma", "learn_gamma") if _is_told(spec) else ())
    return found


def build(spec: Spec, noise: str, rng: np.random.Generator) -> Any:
    """The classifier of a specification under a noise label.

    What is left to chance inside, such as the resampling, is drawn from rng.
    """
    model = spec.build(**({"gamma": flip_rates(noise), "learn_gamma": False} if _is_told(spec) else {}))
    if "random_state" in model.get_params():
        model.set_params(random_state=int(rng.integers(2**31 - 1)))
    return model


def _is_told(spec: Spec) -> bool:
    return spec.options.get("gamma") == "known"


def gamma_of(model: Any) -> dict[str, float]:
    """gamma01 and gamma10 that a fitted model has learned; nothing for a model that learns none."""
    if not getattr(model, "learn_gamma", False):
        return {}
    omega = model.flip_matrix_
    return {"gamma01": float(omega[0, 1]), "gamma10": float(omega[1, 0])}
