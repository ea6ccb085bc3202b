"""The sentence of a verdict, made once and last, from the columns of its row. Nothing reads it back."""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from math import isnan, nan
from typing import Any

from reproduction.verdicts.names import (
    BOUNDS,
    ENDS,
    NOT_COMPARABLE,
    NOT_JUDGED,
    RATIO_OF_DIFFERENCES,
    TRENDS,
    Check,
    listed,
    trend_of,
)

Row = Mapping[Any, Any]
CELLS = {"same winner": "rows", "same order": "pairs of methods"}
"""What the share of a whole table counts; other quantities count values."""


def number(cell: Any) -> float:
    """A cell of a table as a number; NaN if it is empty."""
    return nan if cell in ("", None) else float(cell)


def value(cell: Any) -> Any:
    """A cell that holds JSON; an empty mapping if it is empty."""
    return json.loads(cell) if isinstance(cell, str) and cell else {}


def with_interval(estimate: float, low: float, high: float) -> str:
    """``0.12 [0.11, 0.13]``."""
    return f"{estimate:.4g}" if isnan(low) else f"{estimate:.4g} [{low:.4g}, {high:.4g}]"


class Sentences:
    """Sentences in which keys of the experiments have names.

    name : (column, key) -> what the key is called.   empty : "" or, for HTML, an empty `markupsafe.Markup`,
    which escapes what is joined to it; names are then Markup.
    """

    def __init__(self, name: Callable[[str, str], str] = lambda column, key: key, empty: str = "") -> None:
        self.name, self.empty = name, empty

    def join(self, parts: Iterable[str], between: str = "") -> str:
        """The parts as one text."""
        return type(self.empty)(between).join(filter(None, parts))

    def evidence(self, row: Row) -> str:
        """What the numbers behind a verdict are, and what follows from them."""
        if row["verdict"] == NOT_JUDGED:
            return "what it asks has changed since the last run"
        if row["missing"]:
            parts = [f"no rows for it: {row['missing']}"]
        else:
            parts = self._published(row) if row["kind"] == "published" else self._claim(row)
        substitutes = ", ".join(value(row["stand_in"]))
        bars = [f"substitute data for {substitutes}"] * bool(substitutes) + [str(row["reason"] or "")]
        barred = "; ".join(filter(None, bars))
        if row["otherwise"]:
            parts.append(f"on these rows: {row['otherwise']}")
        parts += [*self._p(row), self._new_points(row)]
        told = self.join(parts, "; ")
        return self.join([f"{barred}: ", told]) if barred and row["verdict"] == NOT_COMPARABLE else told

    def _published(self, row: Row) -> list[str]:
        ours = with_interval(*(number(row[key]) for key in ("estimate", "ci_low", "ci_high")))
        gap = with_interval(*(number(row[f"difference{end}"]) for end in ("", "_low", "_high")))
        published, se = number(row["published"]), number(row["published_se"])
        theirs = f"{published:g} (se {se:.2g})" if se > 0 else f"{published:g}"
        n, repetitions = number(row["n"]), number(row["repetitions"])
        parts = [
            f"ours {ours} (n = {n:g}), published {theirs}",
            f"difference {gap}, margin ±{number(row['margin']):g}",
            *_left_out(row),
        ]
        if repetitions == 1:
            where = "within" if row["side"] == "inside" else "beyond"
            return [*parts, f"one realisation, no test; it lies {where} the margin"]
        if n == 1:
            parts.append(f"all {repetitions:g} repetitions are equal: they count as one")
            parts += ["compared without a test"] * (not se > 0)
        return parts

    def _claim(self, row: Row) -> list[str]:
        check = value(row["check"])
        figure = with_interval(*(number(row[key]) for key in ("estimate", "ci_low", "ci_high")))
        n, groups, needed = (number(row[key]) for key in ("n", "groups", "needed"))
        at = self.place(value(row["at"]))
        asked = f" = {figure}, asked {bound(check)} (n = {n:g})"
        parts = [self.join([self.quantity(check), asked, " at " if at else "", at])]
        if groups > 1 or needed > 0:
            count = f"this group decides, {number(row['passing']):g} of {groups:g} pass"
            parts.append(count + (f", {needed:g} needed" if needed > 0 else ""))
        parts += [*_left_out(row), *self._remarks(row, check)]
        if number(row["checks"]) > 1:
            parts.append(f"check {number(row['number']):g} of {number(row['checks']):g}")
        return parts

    def _remarks(self, row: Row, check: Check) -> list[str]:
        rows, repetitions = number(row["rows"]), number(row["repetitions"])
        if rows > 0:
            violating, worst = number(row["violating"]), self.place(value(row["worst"]))
            count = f"{rows:g} of {rows:g} rows meet it"
            if violating != 0:
                count = f"{'some' if isnan(violating) else f'{violating:g}'} of {rows:g} rows violate it"
            return [self.join([count, ", worst at " if worst else "", worst])]
        if row["remark"]:
            divisor = "the divisor is not shown to be above 0"
            return [divisor if row["remark"] == "divisor" else "the mean is 0"]
        if check["statistic"] == "relative_se":
            return ["one realisation has no standard error"] * (repetitions == 1)
        if repetitions == 1:
            return [f"one realisation, no test; it {'agrees' if row['side'] == 'inside' else 'disagrees'}"]
        if number(row["n"]) == 1:
            return [f"all {repetitions:g} repetitions are equal: they count as one, compared without a test"]
        return []

    def _p(self, row: Row) -> list[str]:
        family = number(row["family"])
        if isnan(family):
            return []
        if row["kind"] == "claim":
            return [_p(number(row["p_adjusted"])) + (f" after Holm over {family:g}" if family > 1 else "")]
        parts = [f"inside {_p(number(row['p_agree']))}, outside {_p(number(row['p_contra']))}"]
        if family > 1 and row["verdict"] != "undecided":
            names = [name for key, name in (("holm", "Holm"), ("bh", "Benjamini-Hochberg")) if row[key]]
            parts.append(f"of {family:g}: survives {' and '.join(names) or 'no correction'}")
        return parts

    def _new_points(self, row: Row) -> str:
        if not row["new_points"]:
            return ""
        figure = with_interval(*(number(row[f"new_points_{key}"]) for key in ("estimate", "low", "high")))
        p, at = number(row["new_points_p"]), self.place(value(row["new_points_at"]))
        says = "" if isnan(p) else f"{row['new_points']}, p = {p:.2g}; "
        return self.join([f"for new points: {says}{figure}", " at " if at else "", at])

    def quantity(self, check: Check) -> str:
        """What a check measures: ``one_pred − one (shared_r, mse, last x)``."""
        each = check.get("for_each", [])
        where = {key: entry for key, entry in check.get("where", {}).items() if not isinstance(entry, list)}
        a = self.words(check.get("a", {}), each)
        if not a:
            a = self.words({"metric": where.pop("metric")}) if "metric" in where else "value"
        b = "x" if check.get("b") == "x" else self.words(check.get("b", {}), each)
        base = self.words(check.get("base", {}), each)
        parts = {
            "value": [a],
            "difference": [a, " − ", b],
            "ratio": [a, " / ", b],
            RATIO_OF_DIFFERENCES: ["(", a, " − ", base, ") / (", b, " − ", base, ")"],
            "log_ratio": ["log(", a, " / ", b, ")"],
            "relative_se": ["standard error / mean of ", a],
        }[check["statistic"]]
        before = ["step of "] * bool(trend_of(check))
        before += ["absolute deviation of "] * (check.get("of") == "deviation")
        about = self.words(where)
        return self.join([*before, *parts, *([" (", about, ")"] if about else [])])

    def words(self, selector: Mapping[str, Any], each: Sequence[str] = ()) -> str:
        """A selector: ``shared_r, mse, last x``; a list over which groups are made is "each"."""
        return self.join(
            [self._word(key, entry, each) for key, entry in selector.items() if entry != ""], ", "
        )

    def _word(self, key: str, entry: Any, each: Sequence[str]) -> str:
        if isinstance(entry, list) and key in each:
            return f"each {key}"
        text = self.join([self._key(key, one) for one in listed(entry)], " or ")
        return self.join([text, " x"]) if entry in ENDS else self.join(["x ", text]) if key == "x" else text

    def place(self, at: Mapping[str, Any]) -> str:
        """Columns of some rows: ``noise uniform, x 2.5``; a step of a trend is ``x 4 → 8``."""
        found = [
            self.join([f"{key} ", self.join([self._key(key, one) for one in listed(entry)], " → ")])
            for key, entry in at.items()
            if entry != ""
        ]
        return self.join(found, ", ")

    def _key(self, column: str, key: Any) -> str:
        return self.name(column, f"{key:g}" if isinstance(key, float) else str(key))


def bound(check: Check) -> str:
    """What the check asks: ``below 0``, ``within [0.98, 1.02]``, ``above 0 (increasing along noise)``."""
    key = next(key for key in BOUNDS if key in check)
    entry = check[key]
    if key in TRENDS:
        return f"above 0 ({key} along {next(iter(entry))})"
    return f"{key} [{entry[0]:g}, {entry[1]:g}]" if key == "within" else f"{key} {entry:g}"


def _p(p: float) -> str:
    return "p < 0.0001" if p < 1e-4 else f"p = {p:.2g}"


def _left_out(row: Row) -> list[str]:
    left_out = number(row["left_out"])
    return [f"{left_out:g} incomplete repetitions left out"] if left_out > 0 else []


def of_agreement(rows: Iterable[Row]) -> list[tuple[str, str]]:
    """(quantity, figures) of the rows of a table's agreement; the three states of a control in one."""
    found: dict[str, list[str]] = {}
    for row in rows:
        if row["control"]:
            place = "our values" if row["control"] == "ours" else f"{row['control']} in our place"
            found.setdefault(place, []).append(f"{number(row['estimate']):.0f} {row['state']}")
            continue
        quantity = str(row["quantity"])
        scale, unit = (100, " %") if quantity.startswith("same") else (1, "")
        figure = with_interval(*(scale * number(row[key]) for key in ("estimate", "low", "high")))
        counted = (
            f"{number(row['cells']):g} {CELLS.get(quantity, 'values')}, {number(row['sets']):g} data sets"
        )
        found[quantity] = [f"{figure}{unit} ({counted})"]
    return [(quantity, ", ".join(figures)) for quantity, figures in found.items()]
