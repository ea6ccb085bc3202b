"""The sentence of a verdict, made once and last, from the columns of its row; what pages quote."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from math import inf, isnan, nan
from typing import Any

from reproduction.judge.check_statistics import STATISTICS, Effect
from reproduction.judge.claims import BOUNDS, ENDS, TRENDS, Asked, listed, trend_of
from reproduction.judge.estimates import value
from reproduction.judge.outlying_runs import SEEN
from reproduction.spec.strict_yaml import Content
from reproduction.spec.verdict_words import (
    INCONCLUSIVE,
    NOT_COMPARABLE,
    NOT_JUDGED,
    OF_A_VALUE,
    is_claim,
    leans,
    look_up,
)

Row = Mapping[Any, Any]
CELLS = {"same winner": "rows", "same order": "pairs of methods"}
"""What the share of a whole table counts; other quantities count values."""
CORRECTIONS = {"holm": "Holm", "bh": "Benjamini-Hochberg"}
"""Column -> name of a correction for multiple tests."""
TOLERANCE_FOR_ROUNDING = 2e-9
"""A bound that is off a short number by less than this leaves room for rounding errors only."""


def number(cell: Any) -> float:
    """Read a cell of a table as a number; NaN if it is empty."""
    return nan if cell in ("", None) else float(cell)


def figure(row: Row, keys: str = "estimate ci_low ci_high") -> str:
    """Write three columns as ``0.12 [0.11, 0.13]``; without the interval where it is not known."""
    estimate, low, high = (number(row[key]) for key in keys.split())
    if isnan(low):
        return f"{estimate:.4g}"
    return f"{estimate:.4g} [{low:.4g}, {high:.4g}]"


AT = {"last": "at the end", "first": "at the start"}
PREPOSITIONS = {"dataset": "on", "noise": "with", "method": "for"}
PLURALS = {"dataset": "data sets", "noise": "kinds of noise", "method": "methods"}


class Sentences:
    """Sentences in which keys of the experiments have names.

    Parameters
    ----------
    name : callable
        (column, key) -> what the key is called.
    empty : str
        "" or, for HTML, an empty `markupsafe.Markup`, which escapes what is joined to it; names are
        then Markup.
    x : str
        What x is, for the metric of the row.
    """

    def __init__(
        self,
        name: Callable[[str, str], str] = lambda column, key: key,
        empty: str = "",
        x: str = "x",
    ) -> None:
        self.name = name
        self.empty = empty
        self.x = x

    def join(self, parts: Iterable[str], between: str = "") -> str:
        """Join the parts that are not empty."""
        return type(self.empty)(between).join(filter(None, parts))

    def evidence(self, row: Row) -> str:
        """Write what the numbers behind a verdict are, and what follows from them."""
        if row["verdict"] == NOT_JUDGED:
            return "what it asks has changed since the last run"
        if row["missing"]:
            parts = [f"no rows for it: {row['missing']}"]
        elif is_claim(row):
            parts = self._claim(row)
        else:
            parts = self._published(row)
        is_comparable = row["verdict"] != NOT_COMPARABLE
        if row["otherwise"]:
            scope = "as written" if is_comparable else "on these rows"
            parts.append(f"{scope}: {look_up(row['otherwise']).label}")
        parts += self._p_values(row)
        parts.append(self._new_points(row))
        numbers = self.join(parts, "; ")
        obstacle = self._why_not_comparable(row)
        if is_comparable or not obstacle:
            return numbers
        return self.join([obstacle, ": ", numbers])

    def _why_not_comparable(self, row: Row) -> str:
        """Write which data are substitutes, and the reason that the artifact gives."""
        substitutes = [self.name("dataset", dataset) for dataset in value(row["stand_in"])]
        reasons = []
        if substitutes:
            reasons.append(self.join(["substitute data for ", self.join(substitutes, ", ")]))
        reasons.append(str(row["reason"] or ""))
        return self.join(reasons, "; ")

    @staticmethod
    def describe_controls(row: Row) -> str:
        """Write what else passes the checks of a claim, and how often published values would."""
        sentences = []
        n_methods = number(row["others"])
        power = number(row["power"])
        if n_methods > 0:
            passing = number(row["others_passing"])
            sentences.append(f"{passing:g} of {n_methods:g} other methods pass the same checks.")
        if not isnan(power):
            start = "If the published values were exactly true, the claim would be reproduced"
            sentences.append(f"{start} with probability {power:.2f}.")
        return " ".join(sentences)

    def told(self, row: Row) -> str:
        """Write the effect that decides a claim; empty for what has no words, such as a spread.

        ``error: a is 41 % lower than b on banana (ratio 0.59, 95 % CI 0.5 to 0.7, n = 9);
        criterion: ...``.
        """
        check = value(row["check"])
        labels = value(row["at"])
        has_interval = not isnan(number(row["ci_low"]))
        if number(row["rows"]) > 0:
            return self._every_row(row, check, labels)
        if trend_of(check):
            return self._step(row, check, labels) if has_interval else ""
        effect = STATISTICS[check["statistic"]].effect
        is_plain = "of" not in check and check.get("b") != "x"
        if not has_interval or not is_plain or effect is None:
            return ""
        return self._effect(row, check, labels, effect)

    def _effect(self, row: Row, check: Asked, labels: Asked, effect: Effect) -> str:
        """``error: a is 41 % lower than b on banana (ratio 0.59, ...); criterion: ...``."""
        sides = [check.get(side, {}) for side in ("a", "b")]
        named = {*sides[0], *sides[1]}
        conditions = check.get("where", {}) | labels
        conditions = {key: entry for key, entry in conditions.items() if key not in named}
        a, b = (self.words(_of_group(side, labels)) for side in sides)
        metric = ""
        if "metric" in conditions:
            metric = self.words({"metric": conditions.pop("metric")})
        pooled = []
        for column in [*conditions]:
            if len(listed(conditions[column])) > 1 and column not in labels:
                pooled.append(self._pooled(column, conditions.pop(column)))

        estimate = effect.scale(number(row["estimate"]))
        low = effect.scale(number(row["ci_low"]))
        high = effect.scale(number(row["ci_high"]))
        parts = [metric, ": " if metric and a else "", a]
        parts += [f" is {effect.words(estimate)}", " " if b else "", b]
        if pooled:
            parts += [" on average over ", self.join(pooled, " and ")]
        parts += map(self._label_in_words, conditions, conditions.values())
        estimate_in_words = f"{effect.name} {estimate:.3g}, " if effect.name else ""
        parts.append(f" ({_spread(row, low, high, estimate_in_words)})")

        kind = kind_of_bound(check)
        ends = [effect.scale(end) for end in listed(check[kind])]
        criterion = bound({kind: ends if len(ends) > 1 else ends[0]})
        if effect.name:
            criterion = f"a {effect.name} {criterion}"
        return self.join([*parts, "; criterion: ", self._criterion(row, check, criterion)])

    def _every_row(self, row: Row, check: Asked, labels: Asked) -> str:
        """``error − bound is -0.59 in the worst of 60 rows; criterion: ...; none violates it``."""
        n_rows = number(row["rows"])
        check, labels = _filled(check, labels)
        parts = [self.quantity(check), f" is {number(row['estimate']):.4g}"]
        criterion = bound(check)
        if n_rows > 1:
            parts.append(f" in the worst of {n_rows:g} rows")
            criterion += " in every row"
        worst = self.place(labels | value(row["worst"]))
        if worst:
            parts += [" (", worst, ")"]
        parts += ["; criterion: ", self._criterion(row, check, criterion)]
        if n_rows > 1:
            parts.append(f"; {_count_violating(number(row['violating']))} it")
        return self.join(parts)

    def _step(self, row: Row, check: Asked, labels: Asked) -> str:
        """``noisy − ours falls by 0.1 from M=1 to M=5 (95 % CI ...); criterion: ...``."""
        trend = str(trend_of(check))
        sign = 1 if trend == "increasing" else -1
        check, labels = _filled(check, labels)
        column, order = next(iter(check[trend].items()))
        start, end = (self._key(column, step) for step in labels.pop(column)[::sign])
        along = [self._key(column, step) for step in order]
        change, *ends = (sign * number(row[key]) for key in ("estimate", "ci_low", "ci_high"))
        if change > 0:
            verb = "rises"
            low, high = sorted(ends)
        else:
            verb = "falls"
            low, high = sorted(-end_of_interval for end_of_interval in ends)
        location = self.place(labels)
        without_trend = {key: entry for key, entry in check.items() if key != trend}
        parts = [
            self.quantity(without_trend),
            f" {verb} by {abs(change):.3g} from ",
            self._x(start) if column == "x" else start,
            " to ",
            end,
            " at " if location else "",
            location,
            f" ({_spread(row, low, high)})",
        ]
        criterion = self.join([f"{trend} along ", self.join(along, ", ")])
        return self.join([*parts, "; criterion: ", self._criterion(row, check, criterion)])

    def _criterion(self, row: Row, check: Asked, criterion: str) -> str:
        """Add to a criterion how many groups pass, and why the verdict may surprise.

        ``below 0; 8 of 11 groups pass, 6 needed``.
        """
        n_groups = number(row["groups"])
        n_checks = number(row["checks"])
        parts = [criterion]
        if n_checks > 1:
            parts = [self.join([criterion, f" in check {number(row['number']):g} of {n_checks:g}"])]
        if n_groups > 1:
            passing = f"{number(row['passing']):g} of {n_groups:g} groups pass"
            parts.append(passing + _needed(row))
        if _corrected(row, check):
            parts.append("not significant after correcting for multiple tests")
        elif leans(row):
            parts.append(f"the estimate is {leans(row)}, and no test shows it")
        return self.join(parts, "; ")

    def _pooled(self, column: str, labels: Sequence[Any]) -> str:
        """``7 data sets``, or both of two."""
        if len(labels) > 2:
            return f"{len(labels)} {PLURALS.get(column, f'{column}s')}"
        return self.join([self._key(column, label) for label in labels], " and ")

    def _label_in_words(self, column: str, entry: Any) -> str:
        """`` on banana``."""
        if entry in ENDS:
            return f" {AT[str(entry)]}"
        label = self._key(column, listed(entry)[0])
        if column == "x":
            return self.join([" at ", self._x(label)])
        return self.join([f" {PREPOSITIONS.get(column, f'at {column}')} ", label])

    def _published(self, row: Row) -> list[str]:
        gap = figure(row, "difference difference_low difference_high")
        theirs = f"{number(row['published']):g}"
        se = number(row["published_se"])
        if se > 0:
            theirs += f" (se {se:.2g})"
        n = number(row["n"])
        repetitions = number(row["repetitions"])
        parts = [
            f"ours {figure(row)} (n = {n:g}), published {theirs}",
            f"difference {gap}, margin ±{number(row['margin']):g}",
            *_left_out(row),
        ]
        if row["remark"] == "far":
            problem = "a run of this method lies far from the others"
            parts.append(f"{problem}, so ordinary and outlying runs are tested apart")
        elif row["remark"]:
            problem = "too few runs of this method to see one in ten that lies far from the others"
            parts.append(f"{problem}, and fewer than {SEEN} repetitions can have missed one")
        if row["verdict"] == INCONCLUSIVE and not isnan(number(row["n_needed"])):
            parts.append(self.reason(row))
        if repetitions == 1:
            relation = "within" if row["side"] == "inside" else "beyond"
            parts.append(f"one realisation, no test; it lies {relation} the margin")
        elif n == 1:
            parts.append(f"all {repetitions:g} repetitions are equal: they count as one")
            if not se > 0:
                parts.append("compared without a test")
        return parts

    @staticmethod
    def reason(row: Row) -> str:
        """Write why a published value is inconclusive."""
        n_needed = number(row["n_needed"])
        if n_needed < inf:
            return f"about {n_needed:g} repetitions would decide it (power 80 %)"
        return "more repetitions would not help: the published mean is too imprecise"

    def _claim(self, row: Row) -> list[str]:
        check = value(row["check"])
        location = self.place(value(row["at"]))
        criterion = f"criterion {bound(check)} (n = {number(row['n']):g})"
        estimate = f" = {figure(row)}, {criterion}"
        parts = [self.join([self.quantity(check), estimate, " at " if location else "", location])]
        n_groups = number(row["groups"])
        if n_groups > 1 or number(row["needed"]) > 0:
            passing = f"{number(row['passing']):g} of {n_groups:g} pass"
            parts.append(f"this group decides, {passing}{_needed(row)}")
        parts += [*_left_out(row), *self._remarks(row, check), *_corrected(row, check)]
        n_checks = number(row["checks"])
        if n_checks > 1:
            parts.append(f"check {number(row['number']):g} of {n_checks:g}")
        return parts

    def _remarks(self, row: Row, check: Asked) -> list[str]:
        """Write what limits the test of a claim."""
        n_rows = number(row["rows"])
        repetitions = number(row["repetitions"])
        if n_rows > 0:
            worst = self.place(value(row["worst"]))
            count = _count_rows(n_rows, number(row["violating"]))
            return [self.join([count, ", worst at " if worst else "", worst])]
        if row["remark"] == "divisor":
            return ["the divisor may be 0: its interval reaches below"]
        if row["remark"]:
            return ["the mean is 0"]
        if repetitions == 1 and check["statistic"] == "relative_se":
            return ["one realisation has no standard error"]
        if repetitions == 1:
            outcome = "agrees" if row["side"] == "inside" else "disagrees"
            return [f"one realisation, no test; it {outcome}"]
        if number(row["n"]) == 1 and check["statistic"] != "relative_se":
            equal = f"all {repetitions:g} repetitions are equal"
            return [f"{equal}: they count as one, compared without a test"]
        return []

    def _p_values(self, row: Row) -> list[str]:
        family = number(row["family"])
        if isnan(family):
            return []
        if is_claim(row):
            p = _p(number(row["p_adjusted"]))
            return [f"{p} after Holm over {family:g}" if family > 1 else p]
        p_within = _p(number(row["p_agree"]))
        p_outside = _p(number(row["p_contra"]))
        parts = [f"within {p_within}, outside {p_outside}"]
        if family > 1 and row["verdict"] != INCONCLUSIVE:
            names = [name for column, name in CORRECTIONS.items() if row[column]]
            parts.append(f"of {family:g}: survives {' and '.join(names) or 'no correction'}")
        return parts

    def _new_points(self, row: Row) -> str:
        if not row["new_points"]:
            return ""
        figures = figure(row, "new_points_estimate new_points_low new_points_high")
        p = number(row["new_points_p"])
        location = self.place(value(row["new_points_at"]))
        verdict = "" if isnan(p) else f"{look_up(row['new_points']).label}, p = {p:.2g}; "
        return self.join(
            [f"for new points: {verdict}{figures}", " at " if location else "", location],
        )

    def quantity(self, check: Asked) -> str:
        """Write what a check measures: ``one_pred − one (shared_r, mse, last x)``."""
        grouped = [*check.get("for_each", []), *check.get("all_of", [])]
        conditions = {}
        for column, entry in check.get("where", {}).items():
            if not isinstance(entry, list):
                conditions[column] = entry
        a = self.words(check.get("a", {}), grouped)
        if not a and "metric" in conditions:
            a = self.words({"metric": conditions.pop("metric")})
        if not a:
            a = "value"
        b = self.x if check.get("b") == "x" else self.words(check.get("b", {}), grouped)
        base = self.words(check.get("base", {}), grouped)
        parts = []
        if trend_of(check):
            parts.append("step of ")
        if check.get("of") == "deviation":
            parts.append("absolute deviation of ")
        parts += STATISTICS[check["statistic"]].formula(a, b, base)
        in_words = self.words(conditions)
        if in_words:
            parts += [" (", in_words, ")"]
        return self.join(parts)

    def words(self, selector: Asked, grouped: Sequence[str] = ()) -> str:
        """Write a selector: ``shared_r, mse, last x``; a list that makes groups is "each"."""
        named = {column: entry for column, entry in selector.items() if entry != ""}
        parts = [self._word(column, entry, grouped) for column, entry in named.items()]
        return self.join(parts, ", ")

    def _word(self, column: str, entry: Any, grouped: Sequence[str]) -> str:
        if isinstance(entry, list) and column in grouped:
            return self.join(["each ", self.x if column == "x" else column])
        if column == "x" and entry in ENDS:
            return AT[str(entry)]
        text = self.join([self._key(column, label) for label in listed(entry)], " or ")
        return self._x(text) if column == "x" else text

    def _x(self, text: str) -> str:
        """``epoch 5``, ``rounds T = 100``: what x is, with a value of it."""
        is_symbol = len(self.x.split()[-1]) == 1
        return self.join([self.x, " = " if is_symbol else " ", text])

    def place(self, labels: Asked) -> str:
        """Write columns of rows: ``noise uniform, x 2.5``; a step of a trend is ``x 4 → 8``."""
        parts = []
        for column, entry in labels.items():
            if entry != "":
                text = self.join([self._key(column, label) for label in listed(entry)], " → ")
                parts.append(self._x(text) if column == "x" else self.join([f"{column} ", text]))
        return self.join(parts, ", ")

    def _key(self, column: str, key: Any) -> str:
        return self.name(column, f"{key:g}" if isinstance(key, float) else str(key))


def metric_of(row: Row) -> str:
    """Find the metric of a row, on which depends what x is; "" if it names none."""
    check = value(row.get("check"))
    selectors = [value(row.get("where")), value(row.get("at"))]
    selectors += [check.get("where", {}), check.get("a", {})]
    for selector in selectors:
        if "metric" in selector:
            return str(listed(selector["metric"])[0])
    return ""


def kind_of_bound(check: Asked) -> str:
    """Find which of `BOUNDS` a check gives."""
    return next(kind for kind in BOUNDS if kind in check)


def _of_group(side: Asked, labels: Asked) -> Content:
    """Replace the lists of a selector by what the deciding group has of them."""
    selector: Content = {}
    for column, entry in side.items():
        selector[column] = labels.get(column, entry) if isinstance(entry, list) else entry
    return selector


def _filled(check: Asked, labels: Asked) -> tuple[Content, Content]:
    """Fill a check with what the deciding group has, and list what else that group has."""
    filled = dict(check)
    named = set()
    for side in ("a", "b", "base"):
        selector = check.get(side)
        if isinstance(selector, Mapping):
            filled[side] = _of_group(selector, labels)
            named |= {column for column, entry in selector.items() if isinstance(entry, list)}
    return filled, {column: label for column, label in labels.items() if column not in named}


def _spread(row: Row, low: float, high: float, estimate: str = "") -> str:
    """``95 % CI 0.5 to 0.7, n = 9``, after the estimate."""
    if number(row["n"]) == 1:
        return "the same in every run"
    return f"{estimate}95 % CI {low:.3g} to {high:.3g}, n = {number(row['n']):g}"


def _needed(row: Row) -> str:
    n_needed = number(row["needed"])
    return f", {n_needed:g} needed" if n_needed > 0 else ""


def _count_violating(violating: float) -> str:
    """Write the start of "... it", which is about the rows that violate a criterion."""
    if isnan(violating):
        return "some violate"
    if violating == 0:
        return "none violates"
    return "1 violates" if violating == 1 else f"{violating:g} violate"


def _count_rows(n_rows: float, violating: float) -> str:
    if violating == 0:
        return f"{n_rows:g} of {n_rows:g} rows meet it"
    count = "some" if isnan(violating) else f"{violating:g}"
    return f"{count} of {n_rows:g} rows violate it"


def bound(check: Asked) -> str:
    """Write a criterion: ``below 0``, ``within [0.98, 1.02]``, ``above 0 (increasing along x)``."""
    kind = kind_of_bound(check)
    entry = check[kind]
    if kind in TRENDS:
        return f"above 0 ({kind} along {next(iter(entry))})"
    if kind == "within":
        low, high = entry
        return f"{kind} [{low:g}, {high:g}]"
    rounding_error = abs(entry - float(f"{entry:g}"))
    if 0 < rounding_error < TOLERANCE_FOR_ROUNDING:
        return f"{'at most' if kind == 'below' else 'at least'} {entry:g}"
    return f"{kind} {entry:g}"


def _corrected(row: Row, check: Asked) -> list[str]:
    """Write why no test shows it although the interval lies wholly on one side of the criterion."""
    low = number(row["ci_low"])
    high = number(row["ci_high"])
    ends = [0.0] if trend_of(check) else listed(check[kind_of_bound(check)])
    side = {"against": "contra", "in favour": "agree"}.get(leans(row))
    has_test = not isnan(low) and number(row["n"]) != 1
    if row["otherwise"] or side is None or not has_test:
        return []
    if any(low <= end <= high for end in ends):
        return []
    p = number(row[f"p_{side}"])
    preposition = "against" if side == "contra" else "for"
    sentence = "the interval is that of one test: over all tests of the claim "
    sentence += f"{_p(p)} {preposition} it"
    if p < 0.05:
        n_claims = number(row["family"])
        sentence += f", which Holm's correction over {n_claims:g} claims raises to 0.05 or more"
    return [sentence]


def _p(p: float) -> str:
    return "p < 0.0001" if p < 1e-4 else f"p = {p:.2g}"


def _left_out(row: Row) -> list[str]:
    left_out = number(row["left_out"])
    return [f"{left_out:g} incomplete repetitions left out"] if left_out > 0 else []


def of_agreement(rows: Iterable[Row]) -> list[tuple[str, str]]:
    """Write (quantity, figures) of a table's agreement; the three counts of a control in one."""
    figures: dict[str, list[str]] = {}
    for row in rows:
        if row["control"]:
            source = "our values" if row["control"] == "ours" else f"control ({row['control']})"
            count = f"{number(row['estimate']):.0f} {look_up(row['verdict']).label}"
            figures.setdefault(source, []).append(count)
        else:
            figures[str(row["quantity"])] = [_measure_of_agreement(row)]
    return [(quantity, ", ".join(parts)) for quantity, parts in figures.items()]


def _measure_of_agreement(row: Row) -> str:
    """``85 [70, 95] % (24 pairs of methods, 8 data sets)``."""
    quantity = str(row["quantity"])
    is_share = quantity.startswith("same")
    scale = 100 if is_share else 1
    unit = " %" if is_share else ""
    scaled = {key: scale * number(row[key]) for key in ("estimate", "low", "high")}
    interval = figure(scaled, "estimate low high")
    n_cells = number(row["cells"])
    n_sets = number(row["sets"])
    cells = f"{n_cells:g} {CELLS.get(quantity, 'values')}"
    sets = "1 data set" if n_sets == 1 else f"{n_sets:g} data sets"
    return f"{interval}{unit} ({cells}, {sets})"


def with_control(rows: Iterable[Row]) -> dict[str, list[int]]:
    """Count each verdict of a value: of our values, and of those of the neighbouring method.

    Parameters
    ----------
    rows : iterable of mappings
        Of tables of agreement; the same cells for both: no mean over sets, several methods.

    Returns
    -------
    dict
        "ours" and "neighbouring method" -> counts in the order of `OF_A_VALUE`.
    """
    counts = {"ours": [0, 0, 0], "neighbouring method": [0, 0, 0]}
    for row in rows:
        if row["control"] in counts and not row["noise"] and not row["method"]:
            position = OF_A_VALUE.index(row["verdict"])
            counts[row["control"]][position] += round(number(row["estimate"]))
    return counts
