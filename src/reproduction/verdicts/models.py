"""What an artifact says about its results: claims with their checks, and the margins of published values.

`Check` refuses what cannot be judged before any row is read: two bounds, a bound that every number meets, a
selector that names a column twice.
"""

import math
from typing import Annotated, Any, Literal, Self

from annotated_types import Len
from pydantic import (
    Field,
    NonNegativeInt,
    PositiveInt,
    field_validator,
    model_validator,
)

from reproduction.strict_yaml import Model
from reproduction.verdicts.names import PAIRED, RATIO_OF_DIFFERENCES

Text = Annotated[str, Field(min_length=1)]
Positive = Annotated[float, Field(gt=0)]
Labels = str | Annotated[list[str], Len(1)]
Numbers = float | Annotated[list[float], Len(1)]
Column = Literal["dataset", "source", "noise", "setting", "method", "metric", "x"]
Bound = Literal["below", "above", "within", "increasing", "decreasing"]

BOUNDS: tuple[Bound, ...] = ("below", "above", "within", "increasing", "decreasing")
TRENDS = ("increasing", "decreasing")


class Selector(Model):
    """Which rows of the table: column -> a label, several, or for ``x`` a number, ``first`` or ``last``."""

    dataset: Labels | None = None
    source: Labels | None = None
    noise: Labels | None = None
    setting: Labels | None = None
    method: Labels | None = None
    metric: Labels | None = None
    repetition: NonNegativeInt | Annotated[list[NonNegativeInt], Len(1)] | None = None
    x: Literal["last", "first"] | Numbers | None = None

    @model_validator(mode="after")
    def _something(self) -> Self:
        if not self.columns:
            raise ValueError(f"name at least one of the columns {', '.join(type(self).model_fields)}")
        for column, wanted in self.columns.items():
            if isinstance(wanted, list) and len(set(wanted)) < len(wanted):
                raise ValueError(f"{column}: names a value twice: {wanted}")
        return self

    @property
    def columns(self) -> dict[str, Any]:
        """The named columns only."""
        return self.model_dump(exclude_unset=True)


class Check(Model):
    """One statistic of the table and one bound for it."""

    statistic: Literal["value", "difference", "ratio", "ratio_of_differences", "log_ratio", "relative_se"]
    of: Literal["value", "deviation"] = Field(
        default="value", description="deviation: |value - median over the repetitions|"
    )
    a: Selector | None = Field(default=None, description="the rows, or those of the first side")
    b: Selector | Literal["x"] | None = Field(default=None, description="the other side; x: the row's own x")
    base: Selector | None = Field(default=None, description="what both differ from: (a - base) / (b - base)")
    where: Selector | None = Field(default=None, description="merged into a, b and base")
    below: float | None = None
    above: float | None = None
    within: Annotated[list[float], Len(2, 2)] | None = Field(default=None, description="[low, high]")
    increasing: dict[Column, list[str | float]] | None = Field(
        default=None, description="one column and its values in order"
    )
    decreasing: dict[Column, list[str | float]] | None = None
    for_each: Annotated[list[Column], Len(1)] | None = Field(default=None, description="a group for each")
    at_least: PositiveInt | None = Field(default=None, description="so many of the groups; all without it")
    rows: Literal["mean", "every"] = Field(default="mean", description="every: each row must meet the bound")

    @property
    def bound(self) -> Bound:
        """The one bound that is given."""
        return next(key for key in BOUNDS if getattr(self, key) is not None)

    @property
    def trend(self) -> tuple[str, list[str | float]] | None:
        """(column, its values in order) of ``increasing`` or ``decreasing``."""
        order = self.increasing or self.decreasing
        return next(iter(order.items())) if order else None

    @field_validator("below", "above", "within")
    @classmethod
    def _finite(cls, value: Any) -> Any:
        ends = value if isinstance(value, list) else [value]
        if not all(map(math.isfinite, ends)):
            raise ValueError("give a finite number")
        if ends[0] > ends[-1]:
            raise ValueError("give [low, high] with low <= high")
        return value

    @model_validator(mode="after")
    def _judgeable(self) -> Self:
        given = [key for key in BOUNDS if getattr(self, key) is not None]
        if len(given) != 1:
            wanted = f"needs exactly one of {', '.join(BOUNDS)} (two bounds: within)"
            raise ValueError(f"{wanted}, got {', '.join(given) or 'none'}")
        paired = self.statistic in PAIRED
        if paired and not (self.a and self.b):
            raise ValueError(f"{self.statistic} compares the selectors a and b; give both")
        if not paired and self.b:
            raise ValueError(f"b: {self.statistic} has no b; use one of {', '.join(PAIRED)}")
        ratio = self.statistic == RATIO_OF_DIFFERENCES
        if ratio != (self.base is not None):
            raise ValueError(f"base and {RATIO_OF_DIFFERENCES} go together: (a - base) / (b - base)")
        if ratio and (self.trend or self.rows == "every" or self.b == "x"):
            raise ValueError(f"{RATIO_OF_DIFFERENCES} takes a selector b and below, above or within")
        if self.trend:
            self._ordered(*self.trend)
        self._grouped()
        return self

    def _ordered(self, column: str, values: list[str | float]) -> None:
        """A trend is along one column that nothing else fixes."""
        if self.statistic == "relative_se":
            raise ValueError(f"relative_se cannot be {self.bound}; give it a bound")
        kind = int | float if column == "x" else str
        fits = all(isinstance(value, kind) for value in values)
        if len(getattr(self, self.bound)) != 1 or len(set(values)) < max(2, len(values)) or not fits:
            raise ValueError(f"{self.bound}: names one column and at least two of its values in order")
        for key in ("a", "b", "where"):
            side = getattr(self, key)
            if isinstance(side, Selector) and column in side.columns:
                raise ValueError(f"{self.bound}: {column} is also fixed by {key}; name it once")
        if column in (self.for_each or ()):
            raise ValueError(f"{self.bound}: {column} is also in for_each; name it once")

    def _grouped(self) -> None:
        if self.at_least and not self.for_each:
            raise ValueError("at_least counts groups; say which with for_each")
        for column in self.for_each or ():
            sides = [side.columns for side in (self.a, self.b) if isinstance(side, Selector)]
            given = [side[column] for side in sides if column in side]
            if given and not any(isinstance(value, list) for value in given):
                raise ValueError(f"for_each: {column} is fixed by a and b; list its values on one side")


class Claim(Model):
    """A sentence of the paper, or of ours, and the checks that decide it."""

    id: Text
    statement: Text = Field(description="what the paper says")
    expected: str = Field(default="", description="what should be seen, in words")
    checks: Annotated[list[Check], Len(1)]
    theorem: Literal[True] | None = Field(
        default=None,
        description="a theorem or an identity, verified instead of holds: every check has rows: every",
    )
    not_comparable: Text | None = Field(default=None, description="why no verdict is possible")

    @model_validator(mode="after")
    def _every_row(self) -> Self:
        """A theorem is not tested: a single row that violates it would contradict it."""
        tested = [i for i, check in enumerate(self.checks) if check.rows != "every"]
        if self.theorem and tested:
            raise ValueError(
                f"theorem: check {tested[0] + 1} is a test; a theorem holds in every row: give it rows: every"
            )
        return self


class PublishedValue(Model):
    """A value of the paper with its margin: a row of the CSV file under the rule of the artifact."""

    id: Text
    value: float
    se: float | None = Field(default=None, ge=0)
    sd: float | None = Field(default=None, ge=0)
    n: Annotated[int, Field(ge=2)] | None = None
    where: Selector
    margin: Annotated[float, Field(gt=0, allow_inf_nan=False)]
    reason: Text
    not_comparable: Text | None = None

    @model_validator(mode="after")
    def _one_error(self) -> Self:
        if self.sd is not None and (self.se is not None or self.n is None):
            raise ValueError("sd goes with n and without se")
        return self


class Share(Model):
    """A margin as a share of the published value."""

    share: Positive = Field(description="of the published value, rounded to its places")
    at_least: Positive | None = None


class MarginException(Model):
    """Published values with another margin, reason or no comparison."""

    where: Annotated[dict[str, str | float], Len(1)] = Field(description="column of the CSV file: its cell")
    margin: Positive | Share | None = None
    reason: Text | None = None
    not_comparable: Text | None = None

    @model_validator(mode="after")
    def _different(self) -> Self:
        if self.model_fields_set == {"where"}:
            raise ValueError("give the margin, reason or not_comparable that these rows have")
        return self


class PublishedRule(Model):
    """The rule for the values in ``<artifact>.published.csv``."""

    margin: Positive | Share = Field(description="largest difference that counts as inside")
    reason: Text = Field(description="why this margin")
    not_comparable: Text | None = Field(default=None, description="why no verdict is possible")
    exceptions: Annotated[list[MarginException], Len(1)] | None = None
