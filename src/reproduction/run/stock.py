"""Protocols that any paper can use: an artifact names one as ``protocol: stock:errors``."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Self

from pydantic import model_validator

from reproduction.run.protocol_loop import Loop, Row
from reproduction.run.training import Outcome, TrainingSettings, resolve, train
from reproduction.spec import settings as keys
from reproduction.spec.protocol import protocol


class ErrorsSettings(keys.SplitSettings, TrainingSettings):
    """Settings of `errors`."""

    def setting_of(self, method: str) -> str | None:
        """How the method is selected."""
        if method not in self.methods:
            return None
        return self.methods[method].selection or ""

    @model_validator(mode="after")
    def _conditions(self) -> Self:
        for label, method in self.methods.items():
            if method.noise is not None and not set(method.noise) & set(self.noise):
                of_method = ", ".join(map(str, method.noise))
                known = ", ".join(map(str, self.noise))
                where = f"methods.{label}.noise: none of {of_method}"
                raise ValueError(f"{where} is in the settings: {known}")
        return self


METRICS = ("error", "width", "parameter", "validation_size", "omega01", "omega10", "flagged")


@protocol(ErrorsSettings, labels=METRICS)
def errors(settings: ErrorsSettings, loop: Loop) -> Iterator[Row]:
    """Measure test errors of classifiers that are trained on noisy labels.

    repetition = number of the split, setting = how the method was selected.

    Metrics: error, wrong test labels in %; width and parameter, what cross-validation chose, and
    validation_size, the number of rows it was judged on; omega01 and omega10, the estimated flip
    rates P(observed 1 | true 0) and P(observed 0 | true 1); flagged, 1 where the fit is a fallback
    or doubtful.
    """
    methods = resolve(settings, settings.noise)
    for repetition, split, noisy in loop.noisy_splits(settings):
        outcomes = train(methods, split, noisy, settings, repetition)
        for column, noise in enumerate(settings.noise):
            for method in methods:
                if column not in outcomes[method.label]:
                    continue
                outcome = outcomes[method.label][column]
                selection = method.selection or ""
                columns = {"noise": noise.label, "method": method.label, "setting": selection}
                labelled = repetition.with_columns(**columns)
                yield labelled.row("error", split.scored(outcome.scores > 0))
                yield from labelled.rows(_numbers(outcome))


def _numbers(outcome: Outcome) -> dict[str, float]:
    """What was chosen and estimated; without what is not a number."""
    found: dict[str, object] = {}
    if outcome.choice is not None:
        found["width"] = outcome.choice.width
        found |= outcome.choice.parameters
        found["validation_size"] = outcome.choice.rows
    found["omega01"] = outcome.omega01
    found["omega10"] = outcome.omega10
    found["flagged"] = outcome.flagged
    numbers = {}
    for name, value in found.items():
        if isinstance(value, int | float) and value == value:
            numbers[name] = value
    return numbers
