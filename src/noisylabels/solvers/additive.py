"""The additive loop of every booster: H_t = H_{t-1} + alpha_t h_t."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


class Loss(Protocol):
    """What the loop asks of a loss."""

    def weigh(self, H: Array) -> tuple[Array, Array]:
        """Weights (n,) >= 0 and labels (n,) for the next member, at the scores H (n,)."""

    def step(self, h: Array) -> float:
        """alpha for the outputs h (n,) of a member that was fitted to the last weights."""

    def log_value(self, H: Array) -> float:
        """log of the mean loss at H (n,)."""


@dataclass(frozen=True)
class Expansion:
    """T members, their steps (T,), and the log of the mean loss after each round (T,)."""

    members: list[Any]
    steps: Array
    log_losses: Array


def additive(
    loss: Loss,
    learn: Callable[[Array, Array], tuple[Any, Array]],
    n: int,
    rounds: int,
    after: Callable[[Array, Any, float], None] | None = None,
) -> Expansion:
    """Add up to `rounds` members to H = 0 (n,).

    learn(weights, labels) : a fitted member and its outputs (n,).
    after(H, member, alpha) : called at the end of each round, may change the loss.
    Ends early when no point has a weight.
    """
    H = np.zeros(n)
    members: list[Any] = []
    steps: list[float] = []
    log_losses: list[float] = []
    for _ in range(rounds):
        weights, labels = loss.weigh(H)
        if not weights.any():
            break
        member, h = learn(weights, labels)
        alpha = loss.step(h)
        H += alpha * h
        members.append(member)
        steps.append(alpha)
        log_losses.append(loss.log_value(H))
        if after is not None:
            after(H, member, alpha)
    return Expansion(members, np.array(steps), np.array(log_losses))
