"""Boosters as settings name them, and the flip rates that some of them are told."""

from __future__ import annotations

from typing import Any

import numpy as np

from noisylabels.frame.methods import find
from noisylabels.noise.flips import parse


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


def build(spec: dict[str, Any], noise: str, rng: np.random.Generator) -> Any:
    """The classifier ``{method, parameters, gamma}``; ``gamma: known`` tells it the true flip rates.

    What is left to chance inside, such as the resampling, is drawn from rng.
    """
    parameters = dict(spec.get("parameters", {}))
    if spec.get("gamma") == "known":
        parameters |= {"gamma": flip_rates(noise), "learn_gamma": False}
    model = find(spec["method"])(**parameters)
    if "random_state" in model.get_params():
        model.set_params(random_state=int(rng.integers(2**31 - 1)))
    return model


def gamma_of(model: Any) -> dict[str, float]:
    """gamma01 and gamma10 that a fitted model has learned; nothing for a model that learns none."""
    if not getattr(model, "learn_gamma", False):
        return {}
    omega = model.flip_matrix_
    return {"gamma01": float(omega[0, 1]), "gamma10": float(omega[1, 0])}
