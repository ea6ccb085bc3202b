"""Printed values: the numbers in a CSV file beside the artifact, one rule for their margin in the artifact.

The columns of ``<artifact>.published.csv``: ``id``, some of `SELECTOR`, ``value``, ``se`` or ``sd``, ``n``.
An empty cell is an absent key; labels joined by ``|`` are averaged.
"""

import csv
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from reproduction.strict_yaml import check
from reproduction.verdicts.models import PublishedValue

SELECTOR = ("dataset", "source", "noise", "setting", "method", "metric", "x")
NUMBERS = ("value", "se", "sd", "n")

Entry = dict[str, Any]


def file_of(artifact: Path) -> Path:
    """``rivals.published.csv`` of ``rivals.yaml``."""
    return artifact.with_suffix(".published.csv")


def read_entries(artifact: Path, rule: Mapping[str, Any]) -> list[Entry]:
    """The printed values of an artifact file, each with its margin and reason: what `judge` takes.

    rule: the artifact's key ``published``: ``margin``, ``reason``, ``not_comparable``, and ``exceptions``,
    a list of the same keys for the rows that ``where`` chooses.
    A margin is a number, or a ``share`` of the printed value, rounded to its places, ``at_least`` so much.
    Raises ValueError: no file, a wrong column or cell (with its line), an id twice, an exception for no row.
    """
    file = file_of(artifact)
    if not file.is_file():
        raise ValueError(f"{artifact}: published: the printed values belong in {file}, which does not exist")
    rows = _rows(file)
    _check_ids(rows)
    _check_exceptions(artifact, rule, [row for _, row in rows])
    return [_entry(where, row, rule) for where, row in rows]


def _rows(file: Path) -> list[tuple[str, dict[str, str]]]:
    try:
        with file.open(encoding="utf-8", newline="") as lines:
            reader = csv.DictReader(lines)
            _check_columns(file, list(reader.fieldnames or []))
            return [(f"{file}, line {reader.line_num}", row) for row in reader]
    except UnicodeDecodeError:
        raise ValueError(f"{file}: not UTF-8; save the file in this encoding") from None
    except csv.Error as error:
        raise ValueError(f"{file}: not valid CSV: {error}") from None


def _check_columns(file: Path, columns: list[str]) -> None:
    allowed = ("id", *SELECTOR, *NUMBERS)
    for column in columns:
        if column not in allowed or columns.count(column) > 1:
            raise ValueError(
                f"{file}: column {column!r}; the columns are {', '.join(allowed)}, each at most once"
            )
    if missing := [column for column in ("id", "value") if column not in columns]:
        raise ValueError(f"{file}: the column {missing[0]!r} is missing")


def _check_ids(rows: list[tuple[str, dict[str, str]]]) -> None:
    seen: dict[str, str] = {}
    for place, row in rows:
        if None in row or None in row.values():
            raise ValueError(f"{place}: not as many cells as columns")
        if not row["id"] or row["id"] in seen:
            raise ValueError(
                f"{place}: id {row['id']!r} is empty, or that of {seen.get(row['id'], 'no value')}"
            )
        seen[row["id"]] = place


def _check_exceptions(artifact: Path, rule: Mapping[str, Any], rows: list[dict[str, str]]) -> None:
    for exception in rule.get("exceptions", []):
        if not any(_meets(row, exception["where"]) for row in rows):
            raise ValueError(f"{artifact}: published.exceptions: no printed value has {exception['where']}")


def _meets(row: Mapping[str, str], where: Mapping[str, Any]) -> bool:
    return all(row.get(column) == str(cell) for column, cell in where.items())


def _entry(place: str, row: Mapping[str, str], rule: Mapping[str, Any]) -> Entry:
    known: Entry = {key: rule[key] for key in ("margin", "reason", "not_comparable") if key in rule}
    for exception in rule.get("exceptions", []):
        if _meets(row, exception["where"]):
            known |= {key: kept for key, kept in exception.items() if key != "where"}
    numbers = {key: _number(place, key, row[key]) for key in NUMBERS if row.get(key)}
    where = {
        column: _label(place, column, cell) for column, cell in row.items() if column in SELECTOR and cell
    }
    if "value" in numbers:
        known["margin"] = _margin(row["value"], known["margin"])
    entry = {"id": row["id"], **numbers, "where": where, **known}
    check(PublishedValue, entry, place)
    return entry


def _number(place: str, key: str, cell: str) -> float | int:
    try:
        return int(cell) if key == "n" else float(cell)
    except ValueError:
        raise ValueError(f"{place}: {key}: {cell!r} is not a number") from None


def _label(place: str, column: str, cell: str) -> Any:
    labels: list[Any] = cell.split("|")
    if column == "x":
        labels = [label if label in ("first", "last") else _number(place, "x", label) for label in labels]
    return labels if len(labels) > 1 else labels[0]


def _margin(value: str, margin: Any) -> float:
    if not isinstance(margin, Mapping):
        return float(margin)
    places = len(value.partition(".")[2])
    share: float = round(margin["share"] * abs(float(value)), places)
    return max(float(margin.get("at_least", 0.0)), share)
