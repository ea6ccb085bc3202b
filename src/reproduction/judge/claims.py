"""Claims with their checks, and published values with their margins.

The models refuse what cannot be judged before any row is read: two bounds, a bound that every
number meets, a selector that names a column twice. The published values themselves are in
``<artifact>.published.csv``: columns ``id``, some of `SELECTOR`, ``value``, ``se`` or ``sd``,
``n``. An empty cell is an absent key; labels joined by ``|`` are averaged.
"""

import csv
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from annotated_types import Len
from pydantic import (
    Field,
    NonNegativeInt,
    PositiveInt,
    field_validator,
    model_validator,
)

from reproduction.judge.check_statistics import (
    PAIRED,
    RATIO_OF_DIFFERENCES,
    SIGNIFICANT_LOSSES,
    STATISTICS,
    StatisticName,
)
from reproduction.run.results import COLUMNS
from reproduction.spec.mistakes import check
from reproduction.spec.models import Model
from reproduction.spec.strict_yaml import Content
from reproduction.spec.verdict_words import CLAIM_KINDS, OURS, ClaimKind, define_words

# Words

INDEX = [column for column in COLUMNS if column != "value"]
SELECTOR = [column for column in INDEX if column != "repetition"]
ENDS = ("last", "first")
JUDGED = ("full", "part")
"""Scales that are judged."""


class VerdictError(ValueError):
    """Error of a published value or claim that cannot be judged."""


class MissingRows(VerdictError):
    """Error of a selector whose rows the table lacks.

    At a reduced scale they may have been left out.
    """


class NeverTogether(MissingRows):
    """Error of labels that the table has, but not in one row, so that no scale has such a row."""


# Claims

Text = Annotated[str, Field(min_length=1)]
Positive = Annotated[float, Field(gt=0)]
Labels = str | Annotated[list[str], Len(1)]
Numbers = float | Annotated[list[float], Len(1)]
Column = Literal["dataset", "source", "noise", "setting", "method", "metric", "x"]
Bound = Literal["below", "above", "within", "increasing", "decreasing", "at_most"]

TRENDS: tuple[Bound, ...] = ("increasing", "decreasing")
BOUNDS: tuple[Bound, ...] = ("below", "above", "within", *TRENDS, "at_most")
Asked = Mapping[str, Any]
"""A `Check` or `Selector` as its file has it, because tables and digests keep it literally."""


def trend_of(check: Asked) -> str | None:
    """Return ``increasing`` or ``decreasing``, if the check is about a trend."""
    return next((key for key in TRENDS if key in check), None)


def count_needed(check: Asked, n_groups: int) -> int:
    """Count the groups of a check that must pass.

    They are all groups, unless ``at_least`` gives a number or ``at_most`` allows some to fail.
    """
    allowed_to_fail: int = check.get("at_most", 0)
    needed: int = check.get("at_least", n_groups - allowed_to_fail)
    return needed


def counts_losses(check: Asked) -> bool:
    """Decide whether a check counts significant losses."""
    return STATISTICS[check["statistic"]].counts_losses


def listed(value: Any) -> list[Any]:
    """The wanted values of a selector entry as a list."""
    return value if isinstance(value, list) else [value]


class Selector(Model):
    """The rows of a table that a claim is about, chosen by one label or several of each column.

    For ``x`` it is numbers, ``first`` or ``last``.
    """

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
            raise ValueError(
                f"name at least one of the columns {', '.join(type(self).model_fields)}",
            )
        for column, wanted in self.columns.items():
            if isinstance(wanted, list) and len(set(wanted)) < len(wanted):
                raise ValueError(f"{column}: names a value twice: {wanted}")
        return self

    @property
    def columns(self) -> Content:
        """Return only the named columns."""
        return self.model_dump(exclude_unset=True)


class Check(Model):
    """One statistic of the table and one bound for it."""

    statistic: StatisticName
    of: Literal["value", "deviation"] = Field(
        default="value", description="deviation: |value - median over the repetitions|"
    )
    a: Selector | None = Field(default=None, description="the rows, or those of the first side")
    b: Selector | Literal["x"] | None = Field(
        default=None,
        description="the other side; x: the row's own x",
    )
    base: Selector | None = Field(
        default=None,
        description="what both differ from: (a - base) / (b - base)",
    )
    where: Selector | None = Field(default=None, description="merged into a, b and base")
    below: float | None = None
    above: float | None = None
    within: Annotated[list[float], Len(2, 2)] | None = Field(
        default=None,
        description="[low, high]",
    )
    increasing: dict[Column, list[str | float]] | None = Field(
        default=None, description="one column and its values in order"
    )
    decreasing: dict[Column, list[str | float]] | None = None
    at_most: NonNegativeInt | None = Field(
        default=None,
        description=f"{SIGNIFICANT_LOSSES}: number of groups in which a may be above b",
    )
    level: Annotated[float, Field(gt=0, lt=1)] | None = Field(
        default=None,
        description=f"{SIGNIFICANT_LOSSES}: level of the two-sided test of each group",
    )
    for_each: Annotated[list[Column], Len(1)] | None = Field(
        default=None,
        description="a group for each",
    )
    all_of: Annotated[list[Column], Len(1)] | None = Field(
        default=None, description="a group passes if it passes for all entries of these columns"
    )
    at_least: PositiveInt | None = Field(
        default=None,
        description="so many of the groups; all without it",
    )
    without: Annotated[list[Selector], Len(1)] | None = Field(
        default=None,
        description="groups that are left out, by columns of for_each and all_of",
    )
    rows: Literal["mean", "every"] = Field(
        default="mean",
        description="every: each row must meet the bound",
    )

    @property
    def bound(self) -> Bound:
        """Return the one bound of the check."""
        return next(key for key in BOUNDS if getattr(self, key) is not None)

    @property
    def trend(self) -> tuple[str, list[str | float]] | None:
        """Return the column of a trend, and its values in order."""
        order = self.increasing or self.decreasing
        return next(iter(order.items())) if order else None

    @field_validator("below", "above", "within")
    @classmethod
    def _finite(cls, value: Any) -> Any:
        ends = listed(value)
        if not all(map(math.isfinite, ends)):
            raise ValueError("give a finite number")
        if ends[0] > ends[-1]:
            raise ValueError("give [low, high] with low <= high")
        return value

    @model_validator(mode="after")
    def _judgeable(self) -> Self:
        rules = (
            self._broken_rule_of_bounds,
            self._broken_rule_of_sides,
            self._broken_rule_of_groups,
            self._broken_rule_of_losses,
            self._unordered,
            self._ungrouped,
        )
        for rule in rules:
            if problem := rule():
                raise ValueError(problem)
        return self

    def _broken_rule_of_bounds(self) -> str:
        bounds = [key for key in BOUNDS if getattr(self, key) is not None]
        if len(bounds) == 1:
            return ""
        rule = f"needs exactly one of {', '.join(BOUNDS)} (two bounds: within)"
        return f"{rule}, got {', '.join(bounds) or 'none'}"

    def _broken_rule_of_sides(self) -> str:
        is_paired = self.statistic in PAIRED
        if is_paired and not (self.a and self.b):
            return f"{self.statistic} compares the selectors a and b; give both"
        if not is_paired and self.b:
            return f"b: {self.statistic} has no b; use one of {', '.join(PAIRED)}"
        is_ratio = self.statistic == RATIO_OF_DIFFERENCES
        if is_ratio != (self.base is not None):
            return f"base and {RATIO_OF_DIFFERENCES} go together: (a - base) / (b - base)"
        if is_ratio and (self.trend or self.rows == "every" or self.b == "x"):
            return f"{RATIO_OF_DIFFERENCES} takes a selector b and below, above or within"
        return ""

    def _broken_rule_of_groups(self) -> str:
        if self.at_least and not self.for_each:
            return "at_least counts groups; say which with for_each"
        if self.all_of and not self.at_least:
            return "all_of goes with at_least; without it, name the columns in for_each"
        if self.all_of and self.trend:
            return "all_of and a trend do not go together; write two checks"
        if set(self.all_of or ()) & set(self.for_each or ()):
            return "all_of and for_each name the same column; name it once"
        named = {*(self.for_each or ()), *(self.all_of or ())}
        for left_out in self.without or ():
            if set(left_out.columns) - named or left_out.x in ENDS:
                return "without leaves out groups; name values of columns of for_each or all_of"
        return ""

    def _broken_rule_of_losses(self) -> str:
        if not STATISTICS[self.statistic].counts_losses:
            if self.at_most is not None or self.level is not None:
                return f"at_most and level go with {SIGNIFICANT_LOSSES}; remove them"
            return ""
        if self.at_most is None or self.level is None or not self.for_each:
            return f"{SIGNIFICANT_LOSSES} needs for_each, level and at_most; give all three"
        if self.at_least or self.all_of or self.rows == "every" or self.b == "x":
            return f"{SIGNIFICANT_LOSSES} takes no at_least, all_of, rows: every or b: x; remove it"
        return ""

    def _unordered(self) -> str:
        """Say what is wrong with a trend, which must be along one column that is free."""
        if self.trend is None:
            return ""
        column, values = self.trend
        if not STATISTICS[self.statistic].is_mean:
            return f"{self.statistic} cannot be {self.bound}; give it a bound"
        label_type = int | float if column == "x" else str
        is_order = len(values) > 1 and len(set(values)) == len(values)
        has_one_column = len(getattr(self, self.bound)) == 1
        is_of_type = all(isinstance(value, label_type) for value in values)
        if not (is_order and has_one_column and is_of_type):
            return f"{self.bound}: names one column and at least two of its values in order"
        for key in ("a", "b", "where"):
            side = getattr(self, key)
            if isinstance(side, Selector) and column in side.columns:
                return f"{self.bound}: {column} is also fixed by {key}; name it once"
        if column in (self.for_each or ()):
            return f"{self.bound}: {column} is also in for_each; name it once"
        return ""

    def _ungrouped(self) -> str:
        """Say which column of ``for_each`` has one value only."""
        sides = [side.columns for side in (self.a, self.b) if isinstance(side, Selector)]
        for column in self.for_each or ():
            entries = [side[column] for side in sides if column in side]
            if entries and not any(isinstance(entry, list) for entry in entries):
                return f"for_each: {column} is fixed by a and b; list its values on one side"
        return ""


class Claim(Model):
    """A claim, of the paper or our own, and the checks that decide it."""

    id: Text
    kind: ClaimKind = Field(description=define_words(CLAIM_KINDS))
    place: Text | None = Field(
        default=None,
        description="section, figure or table of the paper; required unless the claim is ours",
    )
    statement: Text = Field(description="what is claimed")
    short: Text | None = Field(
        default=None,
        description="the statement in fewer words, for headlines",
    )
    expected: str = Field(default="", description="when it holds, in words")
    checks: Annotated[list[Check], Len(1)]
    reason: Text | None = Field(
        default=None,
        description="why its bounds are what they are; required for a bound other than 0",
    )
    theorem: Literal[True] | None = Field(
        default=None,
        description="a theorem or an identity; its verdict is exact; every check has rows: every",
    )
    no_others: Literal[True] | None = Field(
        default=None,
        description="the methods of its rows are quantities, so no other method can take its place",
    )
    not_comparable: Text | None = Field(default=None, description="why no verdict is possible")
    data_differ: Literal[True] | None = Field(
        default=None,
        description="judged without data sets of the paper, or on others; expected names its data",
    )
    form_of: Text | None = Field(
        default=None,
        description="id of the claim that decides this statement; this is a looser or other form",
    )
    found_after: Text | None = Field(
        default=None,
        description="what had been seen when it was written, if it was chosen after looking",
    )

    @model_validator(mode="before")
    @classmethod
    def _refuse_old_key(cls, content: Any) -> Any:
        if isinstance(content, Mapping) and "origin" in content:
            raise ValueError("origin: was replaced; write kind: sentence, pattern or ours")
        return content

    @model_validator(mode="after")
    def _shorter(self) -> Self:
        if self.short and len(self.short) >= len(self.statement):
            raise ValueError("short: it is not shorter than the statement; remove it")
        return self

    @model_validator(mode="after")
    def _place_of_the_paper(self) -> Self:
        if self.kind == OURS and self.place is not None:
            raise ValueError("place: a claim of kind ours has no place in a paper; remove it")
        if self.kind != OURS and self.place is None:
            raise ValueError("place: name the section, figure or table that the claim is from")
        return self

    @model_validator(mode="after")
    def _names_other_data(self) -> Self:
        """Refuse a claim on other data that names no data set, or that has no verdict."""
        if self.data_differ and self.not_comparable:
            raise ValueError("data_differ: a claim that is not comparable has no mark; remove it")
        if self.data_differ and not self.expected:
            raise ValueError("data_differ: name the data in expected")
        return self

    @model_validator(mode="after")
    def _theorem_without_test(self) -> Self:
        """Refuse a test for a theorem, because a single row that violates it would refute it."""
        if not self.theorem:
            return self
        for number, entry in enumerate(self.checks, start=1):
            if entry.rows != "every":
                problem = f"check {number} is a test; a theorem holds in every row"
                raise ValueError(f"theorem: {problem}: give it rows: every")
        return self


# Published values


class PublishedValue(Model):
    """A published value with its margin: a row of the CSV file, completed by a rule."""

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
            raise ValueError("sd needs n, and excludes se; give sd and n, or se alone")
        return self


class Share(Model):
    """A margin as a share of the published value."""

    share: Positive = Field(description="of the published value, rounded to its places")
    at_least: Positive | None = None


class MarginException(Model):
    """Exceptions from the rule: another margin, a reason, or no comparison."""

    where: Annotated[dict[str, str | float], Len(1)] = Field(
        description="column of the CSV file: its cell",
    )
    margin: Positive | Share | None = None
    reason: Text | None = None
    not_comparable: Text | None = None

    @model_validator(mode="after")
    def _different(self) -> Self:
        if self.model_fields_set == {"where"}:
            raise ValueError("give the margin, reason or not_comparable that these rows have")
        return self


PRINTED: dict[str, tuple[float, float]] = {
    "value": (0, 1),
    "100 - value": (100, -1),
    "1 - value": (1, -1),
    "100 * value": (0, 100),
    "100 - 100 * value": (100, -100),
    "value / 100": (0, 0.01),
    "1 - value / 100": (1, -0.01),
}
"""Kind of a published value -> offset and factor that make it the metric of the table."""


PrintedForm = Literal[
    "value",
    "100 - value",
    "1 - value",
    "100 * value",
    "100 - 100 * value",
    "value / 100",
    "1 - value / 100",
]


class PublishedRule(Model):
    """The rule for the values in ``<artifact>.published.csv``."""

    printed: PrintedForm = Field(
        default="value",
        alias="as",
        description="how a published value is compared: an accuracy in % as `100 - value`",
    )
    margin: Positive | Share = Field(
        description="the tolerance: the largest difference that counts as reproduced"
    )
    reason: Text = Field(description="why this margin")
    not_comparable: Text | None = Field(default=None, description="why no verdict is possible")
    exceptions: Annotated[list[MarginException], Len(1)] | None = None


def read_published(artifact: Path, rule: Asked) -> list[Content]:
    """Read the published values of an artifact, each with its margin and reason.

    They have the form that `judge` takes.

    Parameters
    ----------
    artifact : Path
        File of the artifact.
    rule : mapping
        The artifact's key ``published``, see `PublishedRule`; later exceptions go before earlier
        ones.

    Raises
    ------
    ValueError
        No file, a wrong column or cell (with its line), an id twice, an exception for no row.
    """
    file = artifact.with_suffix(".published.csv")
    if not file.is_file():
        problem = f"the values belong in {file}, which does not exist"
        raise ValueError(f"{artifact}: published: {problem}")
    rows = _rows(file)
    for exception in rule.get("exceptions", []):
        if not any(_meets(row, exception) for row in rows.values()):
            problem = f"no published value has {exception['where']}"
            raise ValueError(f"{artifact}: published.exceptions: {problem}")
    return [_entry(location, row, rule) for location, row in rows.items()]


def _rows(file: Path) -> dict[str, dict[str, str]]:
    """Read the rows of a file by their places, ``<file>, line <number>``."""
    rows = {}
    place_of_id = dict[str, str]()
    try:
        with file.open(encoding="utf-8", newline="") as lines:
            reader = csv.DictReader(lines)
            _check_columns(file, list(reader.fieldnames or []))
            for row in reader:
                location = f"{file}, line {reader.line_num}"
                if None in row or None in row.values():
                    raise ValueError(f"{location}: not as many cells as columns")
                if not row["id"] or row["id"] in place_of_id:
                    earlier = place_of_id.get(row["id"], "no value")
                    raise ValueError(f"{location}: id {row['id']!r} is empty, or that of {earlier}")
                place_of_id[row["id"]] = location
                rows[location] = row
    except UnicodeDecodeError:
        raise ValueError(f"{file}: not UTF-8; save the file in this encoding") from None
    except csv.Error as error:
        raise ValueError(f"{file}: not valid CSV: {error}") from None
    return rows


def check_one_value_per_cell(file: Path) -> None:
    """Refuse two published values for the same rows of a table, of which one must be wrong.

    Parameters
    ----------
    file : Path
        The file ``<artifact>.published.csv``.

    Raises
    ------
    ValueError
        If two lines choose the same rows; one line that names both.
    """
    places: dict[tuple[tuple[str, str], ...], str] = {}
    for location, row in _rows(file).items():
        cell = tuple((column, _same_number(row.get(column, ""))) for column in SELECTOR)
        first = places.setdefault(cell, location)
        if first != location:
            line = first.rpartition(", ")[2]
            chosen = ", ".join(f"{column} {label}" for column, label in cell if label)
            remedy = "keep one, or fill a column in which they differ"
            raise ValueError(f"{location}: {line} has a value for {chosen} too; {remedy}")


def _same_number(cell: str) -> str:
    """Write a number in one way, so that 20 and 20.0 are one x; other labels stay."""
    try:
        return str(float(cell))
    except ValueError:
        return cell


def _check_columns(file: Path, columns: list[str]) -> None:
    allowed = ("id", *SELECTOR, "value", "se", "sd", "n")
    for column in columns:
        if column not in allowed or columns.count(column) > 1:
            rule = f"the columns are {', '.join(allowed)}, each at most once"
            raise ValueError(f"{file}: column {column!r}; {rule}")
    for column in ("id", "value"):
        if column not in columns:
            raise ValueError(f"{file}: the column {column!r} is missing")


def _meets(row: Mapping[str, str], exception: Asked) -> bool:
    return all(row.get(column) == str(cell) for column, cell in exception["where"].items())


def _entry(location: str, row: Mapping[str, str], rule: Asked) -> Content:
    """Make a published value from its row, the rule and the exceptions for that row."""
    exceptions = [entry for entry in rule.get("exceptions", []) if _meets(row, entry)]
    terms: Content = {}
    for source in (rule, *exceptions):
        for key in ("margin", "reason", "not_comparable"):
            if key in source:
                terms[key] = source[key]
    numbers: dict[str, float] = {}
    for key in ("value", "se", "sd", "n"):
        if row.get(key):
            numbers[key] = _number(location, key, row[key])
    labels = {}
    for column, cell in row.items():
        if column in SELECTOR and cell:
            labels[column] = _label(location, column, cell)
    if "value" in numbers:
        terms["margin"] = _margin(row["value"], terms["margin"])
    printed = rule.get("as", "value")
    if printed != "value":
        offset, factor = PRINTED[printed]
        digits = len(row["value"].partition(".")[2]) + 2
        numbers["value"] = round(offset + factor * numbers["value"], digits)
        for key in ("se", "sd"):
            if key in numbers:
                numbers[key] = abs(factor) * numbers[key]
        terms["reason"] += f"; printed is {row['value']}, compared is {printed}"
    entry = {"id": row["id"], **numbers, "where": labels, **terms}
    check(PublishedValue, entry, location)
    return entry


def _number(location: str, key: str, cell: str) -> float | int:
    try:
        return int(cell) if key == "n" else float(cell)
    except ValueError:
        raise ValueError(f"{location}: {key}: {cell!r} is not a number") from None


def _label(location: str, column: str, cell: str) -> Any:
    """Read a cell of a selector; labels joined by ``|`` are a list."""
    labels: list[Any] = []
    for text in cell.split("|"):
        is_number = column == "x" and text not in ENDS
        labels.append(_number(location, "x", text) if is_number else text)
    return labels if len(labels) > 1 else labels[0]


def _margin(value: str, margin: Any) -> float:
    """Write a margin as a number; a share of the value is rounded to its decimals."""
    if not isinstance(margin, Mapping):
        return float(margin)
    digits = len(value.partition(".")[2])
    share: float = round(margin["share"] * abs(float(value)), digits)
    return max(float(margin.get("at_least", 0.0)), share)
