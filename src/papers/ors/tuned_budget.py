"""Label budgets where r is tuned for each strategy, with scaling and without.

Figure 6 shares one r among its rules. Here each strategy, scaling, budget and noise has its own,
tuned on a sequence that is never scored.

Source: Moroshko and Crammer 2017, Section 4.2. That r is tuned here is our choice.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Literal

from noisylabels.filters.label_budget import run_budget
from ors.code import SCALING, TraceSettings
from reproduction.run.protocol_loop import Loop, Repetition, Row
from reproduction.run.tuning import grid_values, tuned_apart
from reproduction.spec.protocol import protocol
from reproduction.spec.settings import Distinct


class TunedSettings(TraceSettings):
    """Settings of `tuned_budget`; the strategy auto would need a threshold for each r."""

    strategies: Distinct[Literal["const", "begin", "self_tuned"]]


def tune_r(settings: TunedSettings, loop: Loop) -> dict[str, dict[str, float]]:
    """Tune r for each repetition and place; of equal values the smallest wins."""
    values = grid_values(settings.grids["r"])

    def tune_on(repetition: Repetition) -> dict[str, float]:
        best = {}
        for noise in settings.noise:
            sequence = settings.draw(repetition, noise)
            for scaling in SCALING:
                for strategy in settings.strategies:
                    for B in settings.budgets:
                        cell = name_place(noise, scaling, strategy, B)
                        errors = [_loss(sequence, scaling, strategy, B, r) for r in values]
                        best[cell] = values[errors.index(min(errors))]
        return best

    return tuned_apart(loop, settings.repetitions, tune_on)


@protocol(TunedSettings, tune=tune_r, labels=(*SCALING, "mse", "r"))
def tuned_budget(settings: TunedSettings, loop: Loop) -> Iterator[Row]:
    """Run every strategy under every budget with the r that is tuned for it.

    Metrics: mse over all rounds; r, the value that was tuned. Columns as in `label_budget`.
    """
    for noise in settings.noise:
        for repetition in loop:
            sequence = settings.draw(repetition, noise)
            tuned = loop.tuned[str(repetition.number)]
            for scaling in SCALING:
                for strategy in settings.strategies:
                    for B in settings.budgets:
                        r = tuned[name_place(noise, scaling, strategy, B)]
                        columns = {"noise": noise, "setting": scaling, "method": strategy}
                        of_budget = repetition.with_columns(**columns, x=B)
                        yield of_budget.row("mse", _loss(sequence, scaling, strategy, B, r))
                        yield of_budget.row("r", r)


def name_place(noise: str, scaling: str, strategy: str, B: float) -> str:
    """Name the place for which r is tuned."""
    return f"{noise}, {scaling}, {strategy}, {B:g}"


def _loss(sequence: Mapping[str, Any], scaling: str, strategy: str, B: float, r: float) -> float:
    """Compute the mean squared error of a run against the clean labels."""
    options: dict[str, Any] = {"r": r, "B": B, "strategy": strategy, "scaling": SCALING[scaling]}
    return float(run_budget(**sequence, **options).loss.mean())
