"""Metrics by name: the error, every metric of scikit-learn, and functions of a paper.

A metric says which is better, higher or lower. Of scikit-learn's, a name that ends in ``_error``,
``_loss`` or ``_deviance`` is better when it is lower, and so is one with a negated scorer.
"""

from __future__ import annotations

import inspect
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal

from pydantic_core import CoreSchema, core_schema

from reproduction.spec.noise_kinds import CUSTOM
from reproduction.spec.suggestions import near
from reproduction.spec.user_modules import find_function

Better = Literal["higher", "lower"]
ERROR = "error"
"""Share of wrong test labels in %, kept point by point."""
LOWER = ("_error", "_loss", "_deviance")
"""Endings of scikit-learn's metrics that are better when lower."""


@dataclass(frozen=True)
class Metric:
    """A metric: the error, one of scikit-learn's, or a function of a paper.

    Attributes
    ----------
    label : str
        As settings name it; of a function of a paper without the module.
    name : str
        Where it is from: `ERROR`, a name of scikit-learn, or ``paper.module:function``.
    """

    label: str
    name: str

    def __str__(self) -> str:
        return self.label

    @property
    def custom(self) -> bool:
        """Whether the metric is a function of a paper."""
        return ":" in self.name

    @property
    def better(self) -> Better | None:
        """Which values are better; None for a function of a paper, which names.yaml describes."""
        if self.custom:
            return None
        if self.name == ERROR or self.name.endswith(LOWER):
            return "lower"
        from sklearn import metrics

        # A score that is better when lower has a scorer of the opposite sign.
        is_negated = f"neg_{self.name}" in metrics.get_scorer_names()
        return "lower" if is_negated else "higher"

    def measure(self, model: Any, X: Any, truth: Any) -> float:
        """Measure a fitted model on test rows.

        Raises
        ------
        ValueError
            If the model lacks what the metric needs, such as probabilities.
        """
        if self.custom:
            return float(find_function("metric", self.name)(truth, model.predict(X)))
        from sklearn import metrics

        scorers = metrics.get_scorer_names()
        if self.name in scorers:
            return float(metrics.get_scorer(self.name)(model, X, truth))
        if f"neg_{self.name}" in scorers:
            return -float(metrics.get_scorer(f"neg_{self.name}")(model, X, truth))
        return float(getattr(metrics, self.name)(truth, model.predict(X)))

    @classmethod
    def parse(cls, name: object) -> Metric:
        """Parse the name of a metric.

        Raises
        ------
        ValueError
            If there is no such metric; with the nearest names.
        """
        if isinstance(name, cls):
            return name
        if not isinstance(name, str):
            raise ValueError(f"{name!r}: the name of a metric such as `roc_auc` is expected")
        is_custom = CUSTOM.fullmatch(name) is not None
        if not is_custom and name not in list_metrics():
            hint = f"{near(name, list_metrics(), 3)} (your own: `module:function`)"
            raise ValueError(f"metric {name!r} is unknown{hint}")
        return cls(name.rpartition(":")[2], name)

    @classmethod
    def __get_pydantic_core_schema__(cls, source: object, handler: object) -> CoreSchema:
        return core_schema.no_info_plain_validator_function(
            cls.parse,
            json_schema_input_schema=core_schema.str_schema(),
            serialization=core_schema.to_string_ser_schema(),
        )


@cache
def list_metrics() -> list[str]:
    """List the metrics that need no code of a paper."""
    from sklearn import metrics

    names = {name.removeprefix("neg_") for name in metrics.get_scorer_names()}
    for name in metrics.__all__:
        if name.endswith((*LOWER, "_score", "_corrcoef")):
            takes = list(inspect.signature(getattr(metrics, name)).parameters)
            names |= {name} if takes[:2] == ["y_true", "y_pred"] else set()
    return [ERROR, *sorted(names)]


def better(name: str) -> Better | None:
    """Say which values of a metric are better, if the engine knows it."""
    try:
        return Metric.parse(name).better
    except ValueError:
        return None
