"""The sentence of a verdict, made from the columns of its row, as pages quote it."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from math import inf, isnan, nan
from typing import Any

from reproduction.judge.check_statistics import STATISTICS
from reproduction.judge.claims import (
    BOUNDS,
    ENDS,
    TRENDS,
    Asked,
    counts_losses,
    listed,
    trend_of,
)
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
"""Difference of a bound from a short number up to which it leaves room for rounding errors only."""


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
NAMES_A_CASE = ("dataset", "noise", "method", "setting", "metric", "x")
"""Columns whose entries readers understand without the name of the column."""
PLURALS = {"dataset": "data sets", "noise": "kinds of noise", "method": "methods"}


class Sentences:
    """Writer of sentences in which keys of the experiments have names.

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
            sentences.append(_count_others(passing, n_methods))
        if not isnan(power):
            start = "If the published values were exactly true, the claim would be reproduced"
            sentences.append(f"{start} with {_probability(power)}.")
        return " ".join(sentences)

    def measured(self, row: Row) -> str:
        """Write what was measured in the case that decides a claim, in short sentences.

        ``error: a is 41 % lower than b (95 % CI of the ratio 0.5 to 0.7, n = 9). Averaged over
        7 data sets. The deciding one of 6 cases: 40 % symmetric. 4 of 6 cases pass; 6 are needed.``
        """
        if isnan(number(row["estimate"])):
            return "Nothing was measured."
        check, case = _deciding_case(value(row["check"]), value(row["at"]))
        check, metric = self._take_metric(check, case)
        averages = self._take_averages(case, value(row["at"]))
        trend = trend_of(check)
        if trend:
            column = next(iter(check[trend]))
            comparison = self._step(row, check, case.pop(column))
        elif number(row["rows"]) > 0:
            comparison = self._worst_row(row, check)
        else:
            comparison = self._effect(row, check)
        sentences = [self.join([metric, comparison], ": ")]
        if averages:
            sentences.append(self.join(["Averaged over ", averages]))
        n_cases = number(row["groups"])
        if case:
            start = f"The deciding one of {n_cases:g} cases: " if n_cases > 1 else "Case: "
            sentences.append(self.join([start, self._case(case)]))
        if number(row["rows"]) > 1 and value(row["worst"]):
            sentences.append(self.join(["Worst row: ", self._case(value(row["worst"]))]))
        if n_cases > 1:
            sentences.append(_count_passing(row))
        if number(row["checks"]) > 1:
            sentences.append(f"The claim has {number(row['checks']):g} checks; this one decides")
        return self.join([self.join(sentences, ". "), "."])

    def _take_metric(self, check: Content, case: Content) -> tuple[Content, str]:
        """Take the metric out of a case, and make it the subject where a check names no side."""
        if "metric" not in case:
            return check, ""
        metric = case.pop("metric")
        if not check.get("a"):
            return check | {"a": {"metric": metric}}, ""
        return check, self.words({"metric": metric})

    def _take_averages(self, case: Content, labels: Asked) -> str:
        """Take the columns of several entries out of a case: ``7 data sets and 2 kinds of noise``.

        Those with labels are a step of a trend. Repetitions are counted next to the interval.
        """
        averages = []
        for column, entry in [*case.items()]:
            if column in labels or len(listed(entry)) == 1:
                continue
            del case[column]
            if column != "repetition":
                averages.append(self._averaged(column, entry))
        return self.join(averages, " and ")

    def _sides(self, check: Asked) -> tuple[str, str, str]:
        """Write what a, b and base of a check are."""
        a = self._side(check.get("a", {})) or "value"
        b = self.x if check.get("b") == "x" else self._side(check.get("b", {}))
        return a, b, self._side(check.get("base", {}))

    def _side(self, selector: Asked) -> str:
        """Name a metric and its owner, such as ``regret of the naive learner``."""
        owner = dict(selector)
        metric = ""
        if "metric" in owner:
            metric = self.words({"metric": owner.pop("metric")})
        return self.join([metric, self.words(owner)], " of ")

    def _formula(self, check: Asked) -> str:
        """Name a deviation, such as ``absolute deviation of a − b``."""
        a, b, base = self._sides(check)
        start = "absolute deviation of " if check.get("of") == "deviation" else ""
        return self.join([start, *STATISTICS[check["statistic"]].formula(a, b, base)])

    def _effect(self, row: Row, check: Asked) -> str:
        """Compare two sides, such as ``a is 41 % lower than b (95 % CI ..., n = 9)``."""
        low = number(row["ci_low"])
        high = number(row["ci_high"])
        estimate = number(row["estimate"])
        effect = STATISTICS[check["statistic"]].effect
        if effect is None or check.get("of") == "deviation" or check.get("b") == "x":
            return self.join([self._formula(check), f" is {estimate:.3g}", _spread(row, low, high)])
        a, b, _ = self._sides(check)
        words = effect.words(effect.scale(estimate))
        spread = _spread(row, effect.scale(low), effect.scale(high), effect.name)
        return self.join([a, f" is {words}", " " if b else "", b, spread])

    def _worst_row(self, row: Row, check: Asked) -> str:
        """Describe the worst row, such as ``error − bound is -0.59 in the worst of 60 rows``."""
        n_rows = number(row["rows"])
        estimate = f" is {number(row['estimate']):.4g}"
        scope = f" in the worst of {n_rows:g} rows" if n_rows > 1 else ""
        return self.join([self._formula(check), estimate, scope])

    def _step(self, row: Row, check: Asked, steps: Sequence[Any]) -> str:
        """Describe a trend, such as ``noisy − ours falls by 0.1 from M=1 to M=5``."""
        trend = str(trend_of(check))
        sign = 1 if trend == "increasing" else -1
        column = next(iter(check[trend]))
        start, end = (self._key(column, step) for step in steps[::sign])
        if column == "x":
            start = self._x(start)
        change = sign * number(row["estimate"])
        ends = [sign * number(row["ci_low"]), sign * number(row["ci_high"])]
        verb = "rises"
        if not change > 0:
            verb = "falls"
            ends = [-ends[0], -ends[1]]
        low, high = sorted(ends)
        spread = _spread(row, low, high)
        change_in_words = f" {verb} by {abs(change):.3g} from "
        return self.join([self._formula(check), change_in_words, start, " to ", end, spread])

    def _averaged(self, column: str, labels: Sequence[Any]) -> str:
        """Count data sets and kinds of noise, such as ``7 data sets``."""
        if len(labels) > 2:
            plural = PLURALS.get(column, f"{column}s")
            return f"{len(labels)} {plural}"
        return self.join([self._key(column, label) for label in labels], " and ")

    def _case(self, case: Asked) -> str:
        """Describe a case, such as ``banana, 40 % symmetric, round t = 100, at the end``."""
        parts = []
        for column, entry in case.items():
            if column == "x" and entry in ENDS:
                parts.append(AT[str(entry)])
            elif column in NAMES_A_CASE:
                parts.append(self.words({column: entry}))
            elif entry != "":
                parts.append(self.describe_place({column: entry}))
        return self.join(parts, ", ")

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
            f"difference {gap}, tolerance ±{number(row['margin']):g}",
            *_left_out(row),
        ]
        if row["remark"] == "far":
            problem = "a run of this method lies far from the others"
            parts.append(f"{problem}, so ordinary and outlying runs are tested separately")
        elif row["remark"]:
            problem = "one run in ten of this method may lie far from the others"
            parts.append(f"{problem}, and fewer than {SEEN} repetitions may have missed it")
        if row["verdict"] == INCONCLUSIVE and not isnan(number(row["n_needed"])):
            parts.append(self.reason(row))
        if repetitions == 1:
            relation = "within" if row["side"] == "inside" else "beyond"
            parts.append(f"one realisation, no test; it lies {relation} the tolerance")
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
        location = self.describe_place(value(row["at"]))
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
            worst = self.describe_place(value(row["worst"]))
            count = _count_rows(n_rows, number(row["violating"]))
            return [self.join([count, ", worst at " if worst else "", worst])]
        if row["remark"] == "few_for_losses":
            return [f"{repetitions:g} repetitions are too few to find a loss"]
        if row["remark"] == "divisor":
            return ["the divisor may be 0: its interval reaches below"]
        reduction = STATISTICS[check["statistic"]].reduction
        if reduction is not None and isnan(number(row["estimate"])):
            return [reduction.of_one if repetitions == 1 else reduction.undefined]
        if repetitions == 1:
            outcome = "agrees" if row["side"] == "inside" else "disagrees"
            return [f"one realisation, no test; it {outcome}"]
        if number(row["n"]) == 1:
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
        parts = [f"test of within the tolerance {p_within}, of outside {p_outside}"]
        if family > 1 and row["verdict"] != INCONCLUSIVE:
            names = [name for column, name in CORRECTIONS.items() if row[column]]
            corrections = " and ".join(names) or "no correction"
            parts.append(f"the verdict survives {corrections} over {family:g} values")
        return parts

    def _new_points(self, row: Row) -> str:
        if not row["new_points"]:
            return ""
        figures = figure(row, "new_points_estimate new_points_low new_points_high")
        p = number(row["new_points_p"])
        location = self.describe_place(value(row["new_points_at"]))
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
        b = self.x
        if check.get("b") != "x":
            b = self.words(check.get("b", {}), grouped)
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
            name = self.x if column == "x" else column
            return self.join(["each ", name])
        if column == "x" and entry in ENDS:
            return AT[str(entry)]
        text = self.join([self._key(column, label) for label in listed(entry)], " or ")
        return self._x(text) if column == "x" else text

    def _x(self, text: str) -> str:
        """Name x with a value, such as ``epoch 5`` or ``rounds T = 100``."""
        is_symbol = len(self.x.split()[-1]) == 1
        return self.join([self.x, " = " if is_symbol else " ", text])

    def describe_place(self, labels: Asked) -> str:
        """Write columns of rows: ``noise uniform, x 2.5``; a step of a trend is ``x 4 → 8``."""
        parts = []
        for column, entry in labels.items():
            if entry == "":
                continue
            labels_of_entry = [self._key(column, label) for label in listed(entry)]
            text = self.join(labels_of_entry, " → ")
            if column == "x":
                parts.append(self._x(text))
            else:
                parts.append(self.join([f"{column} ", text]))
        return self.join(parts, ", ")

    def _key(self, column: str, key: Any) -> str:
        text = f"{key:g}" if isinstance(key, float) else str(key)
        return self.name(column, text)


def metric_of(row: Row) -> str:
    """Find the metric of a row, which decides what x is; "" if the row names none."""
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


def _deciding_case(check: Asked, labels: Asked) -> tuple[Content, Content]:
    """Fill in the sides of a check for the deciding case, and list its other columns."""
    filled = dict(check)
    named = set()
    for side in ("a", "b", "base"):
        selector = check.get(side)
        if not isinstance(selector, Mapping):
            continue
        filled[side] = {}
        for column, entry in selector.items():
            filled[side][column] = labels.get(column, entry) if isinstance(entry, list) else entry
        named |= set(selector)
    conditions = check.get("where", {}) | labels
    return filled, {column: entry for column, entry in conditions.items() if column not in named}


def _spread(row: Row, low: float, high: float, name: str = "") -> str:
    """Write an interval, such as `` (95 % CI of the ratio 0.5 to 0.7, n = 9)``."""
    n_repetitions = number(row["n"])
    if n_repetitions == 1:
        return " (the same in every run)"
    if isnan(low):
        return f" (n = {n_repetitions:g})"
    quantity = f" of the {name}" if name else ""
    return f" (95 % CI{quantity} {low:.3g} to {high:.3g}, n = {n_repetitions:g})"


def _count_passing(row: Row) -> str:
    """Count the cases that pass, such as ``8 of 11 cases pass; 6 are needed``."""
    n_passing = number(row["passing"])
    n_cases = number(row["groups"])
    count = f"{n_passing:g} of {n_cases:g} cases pass"
    n_needed = number(row["needed"])
    return f"{count}; {n_needed:g} are needed" if n_needed > 0 else count


def _needed(row: Row) -> str:
    n_needed = number(row["needed"])
    return f", {n_needed:g} needed" if n_needed > 0 else ""


def _probability(p: float) -> str:
    """Write a probability, such as ``probability 0.72``; no estimate is 0 or 1."""
    if p < 0.005:
        return "probability below 0.01"
    if p > 0.995:
        return "probability above 0.99"
    return f"probability {p:.2f}"


def _count_others(passing: float, n_methods: float) -> str:
    """Count other methods, such as ``2 of 7 other methods pass the same checks.``"""
    if passing == 0:
        return f"No other method (of {n_methods:g}) passes the same checks."
    if passing == n_methods == 1:
        return "The other method passes the same checks."
    if passing == n_methods:
        return f"All {n_methods:g} other methods pass the same checks."
    verb = "passes" if passing == 1 else "pass"
    return f"{passing:g} of {n_methods:g} other methods {verb} the same checks."


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
    if kind == "at_most":
        return f"not significantly above 0 at the {100 * check['level']:g} % level"
    if kind == "within":
        low, high = entry
        return f"{kind} [{low:g}, {high:g}]"
    rounding_error = abs(entry - float(f"{entry:g}"))
    if 0 < rounding_error < TOLERANCE_FOR_ROUNDING:
        return f"{'at most' if kind == 'below' else 'at least'} {entry:g}"
    return f"{kind} {entry:g}"


def _corrected(row: Row, check: Asked) -> list[str]:
    """Say why no test is significant although the interval lies on one side of the criterion."""
    low = number(row["ci_low"])
    high = number(row["ci_high"])
    if counts_losses(check):
        return []
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
    """Write a share of a table, such as ``85 [70, 95] % (24 pairs of methods, 8 data sets)``."""
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
    """Count the verdicts of our values, and those of the negative control.

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
