"""The sentence of a verdict, made once and last, from the columns of its row; what pages quote."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from math import inf, isnan, nan
from typing import Any

from reproduction.judge.check_statistics import STATISTICS
from reproduction.judge.claims import BOUNDS, ENDS, TRENDS, Asked, listed, trend_of
from reproduction.judge.estimates import value
from reproduction.judge.outlying_runs import SEEN
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


def number(cell: Any) -> float:
    """A cell of a table as a number; NaN if it is empty."""
    return nan if cell in ("", None) else float(cell)


def figure(row: Row, keys: str = "estimate ci_low ci_high") -> str:
    """``0.12 [0.11, 0.13]`` from three columns of a row; without an interval where that is not known."""
    estimate, low, high = (number(row[key]) for key in keys.split())
    return f"{estimate:.4g}" if isnan(low) else f"{estimate:.4g} [{low:.4g}, {high:.4g}]"


AT = {"last": "at the end", "first": "at the start"}
WHERE = {"dataset": ("on", "data sets"), "noise": ("with", "kinds of noise"), "method": ("for", "methods")}


class Sentences:
    """Sentences in which keys of the experiments have names.

    name : (column, key) -> what the key is called.   empty : "" or, for HTML, an empty `markupsafe.Markup`,
    which escapes what is joined to it; names are then Markup.   x : what x is, for the metric of the row.
    """

    def __init__(
        self, name: Callable[[str, str], str] = lambda column, key: key, empty: str = "", x: str = "x"
    ) -> None:
        self.name, self.empty, self.x = name, empty, x

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
            parts = self._claim(row) if is_claim(row) else self._published(row)
        substitutes = self.join([self.name("dataset", each) for each in value(row["stand_in"])], ", ")
        bars = [self.join(["substitute data for ", substitutes])] * bool(substitutes)
        barred = self.join([*bars, str(row["reason"] or "")], "; ")
        if row["otherwise"]:
            of_what = "on these rows" if row["verdict"] == NOT_COMPARABLE else "as written"
            parts.append(f"{of_what}: {look_up(row['otherwise']).label}")
        parts += [*self._p(row), self._new_points(row)]
        told = self.join(parts, "; ")
        return self.join([barred, ": ", told]) if barred and row["verdict"] == NOT_COMPARABLE else told

    @staticmethod
    def describe_controls(row: Row) -> str:
        """Write what else passes the checks of a claim, and how often exact published values would."""
        sentences = []
        others, power = number(row["others"]), number(row["power"])
        if others > 0:
            passing = number(row["others_passing"])
            sentences.append(f"{passing:g} of {others:g} other methods pass the same checks.")
        if not isnan(power):
            start = "If the published values were exactly true, the claim would be reproduced"
            sentences.append(f"{start} with probability {power:.2f}.")
        return " ".join(sentences)

    def told(self, row: Row) -> str:
        """The effect that decides a claim, in words; empty for what has none in words, such as a spread.

        ``error: a is 41 % lower than b on banana (ratio 0.59, 95 % CI 0.5 to 0.7, n = 9); criterion: ...``.
        """
        check, at = value(row["check"]), value(row["at"])
        if number(row["rows"]) > 0:
            return self._every_row(row, check, at)
        if trend_of(check) and not isnan(number(row["ci_low"])):
            return self._step(row, check, at)
        effect = STATISTICS[check["statistic"]].effect
        plain = not trend_of(check) and "of" not in check and check.get("b") != "x"
        if isnan(number(row["ci_low"])) or not plain or effect is None:
            return ""
        sides = [check.get(side, {}) for side in ("a", "b")]
        where = {
            k: v for k, v in (check.get("where", {}) | at).items() if not any(k in each for each in sides)
        }
        a, b = (
            self.words({k: at.get(k, v) if isinstance(v, list) else v for k, v in each.items()})
            for each in sides
        )
        metric = self.words({"metric": where.pop("metric")}) if "metric" in where else ""
        called, scale = effect.name, effect.scale
        estimate, low, high = (scale(number(row[key])) for key in ("estimate", "ci_low", "ci_high"))
        figures = _spread(row, low, high, f"{called} {estimate:.3g}, " if called else "")
        pooled = [key for key, entry in where.items() if len(listed(entry)) > 1 and key not in at]
        over = self.join([self._pooled(key, where.pop(key)) for key in pooled], " and ")
        parts = [
            metric,
            ": " if metric and a else "",
            a,
            f" is {effect.words(estimate)}",
            " " if b else "",
            b,
        ]
        parts += [" on average over " if over else "", over, *map(self._about, where, where.values())]
        key = next(key for key in BOUNDS if key in check)
        ends = [scale(end) for end in listed(check[key])]
        asked = (f"a {called} " if called else "") + bound({key: ends if len(ends) > 1 else ends[0]})
        return self.join([*parts, f" ({figures}); criterion: ", self._asked(row, check, asked)])

    def _every_row(self, row: Row, check: Asked, at: Asked) -> str:
        """``error − bound is -0.59 in the worst of 60 rows; criterion: ...; none violates it``."""
        rows, violating, (check, at) = number(row["rows"]), number(row["violating"]), _filled(check, at)
        asked = self._asked(row, check, bound(check) + " in every row" * (rows > 1))
        place = self.place(at | value(row["worst"]))
        parts = [self.quantity(check), f" is {number(row['estimate']):.4g}"]
        parts += [f" in the worst of {rows:g} rows" * (rows > 1), *([" (", place, ")"] if place else [])]
        count = "some violate" if isnan(violating) else f"{violating:g} violate{'s' * (violating == 1)}"
        count = f"; {count if violating != 0 else 'none violates'} it" * (rows > 1)
        return self.join([*parts, "; criterion: ", asked, count])

    def _step(self, row: Row, check: Asked, at: Asked) -> str:
        """``noisy − ours falls by 0.1 from M=1 to M=5 (95 % CI ...); criterion: increasing along ...``."""
        trend, (check, at) = str(trend_of(check)), _filled(check, at)
        sign, (column, order) = 1 if trend == "increasing" else -1, next(iter(check[trend].items()))
        start, end, *along = (self._key(column, one) for one in [*at.pop(column)[::sign], *order])
        change, *ends = (sign * number(row[key]) for key in ("estimate", "ci_low", "ci_high"))
        way, by = ("rises", 1) if change > 0 else ("falls", -1)
        low, high = sorted(by * each for each in ends)
        place = self.place(at)
        parts = [self.quantity({key: entry for key, entry in check.items() if key != trend})]
        parts += [
            f" {way} by {by * change:.3g} from ",
            self._x(start) if column == "x" else start,
            " to ",
            end,
        ]
        parts += [" at " if place else "", place, f" ({_spread(row, low, high)})"]
        asked = self.join([f"{trend} along ", self.join(along, ", ")])
        return self.join([*parts, "; criterion: ", self._asked(row, check, asked)])

    def _asked(self, row: Row, check: Asked, asked: str) -> str:
        """``below 0; 8 of 11 groups pass, 6 needed``, and what else keeps the verdict from what one reads."""
        groups, needed, many = (number(row[key]) for key in ("groups", "needed", "checks"))
        parts = [self.join([asked, f" in check {number(row['number']):g} of {many:g}" * (many > 1)])]
        if groups > 1:
            passing = f"{number(row['passing']):g} of {groups:g} groups pass"
            parts.append(passing + (f", {needed:g} needed" if needed > 0 else ""))
        if _corrected(row, check):
            parts.append("not significant after correcting for multiple tests")
        elif leans(row):
            parts.append(f"the estimate is {leans(row)}, and no test shows it")
        return self.join(parts, "; ")

    def _pooled(self, key: str, entry: Sequence[Any]) -> str:
        """``7 data sets``, or both of two."""
        if len(entry) > 2:
            return f"{len(entry)} {WHERE.get(key, ('', f'{key}s'))[1]}"
        return self.join([self._key(key, one) for one in entry], " and ")

    def _about(self, key: str, entry: Any) -> str:
        """`` on banana``."""
        if entry in ENDS:
            return f" {AT[str(entry)]}"
        if key == "x":
            return self.join([" at ", self._x(self._key(key, listed(entry)[0]))])
        return self.join([f" {WHERE.get(key, (f'at {key}', ''))[0]} ", self._key(key, listed(entry)[0])])

    def _published(self, row: Row) -> list[str]:
        gap = figure(row, "difference difference_low difference_high")
        published, se = number(row["published"]), number(row["published_se"])
        theirs = f"{published:g} (se {se:.2g})" if se > 0 else f"{published:g}"
        n, repetitions = number(row["n"]), number(row["repetitions"])
        parts = [
            f"ours {figure(row)} (n = {n:g}), published {theirs}",
            f"difference {gap}, margin ±{number(row['margin']):g}",
            *_left_out(row),
        ]
        if row["remark"]:
            if row["remark"] == "far":
                what = "a run of this method lies far from the others, so ordinary and outlying runs are"
                parts.append(f"{what} tested apart")
            else:
                what = "too few runs of this method to see one in ten that lies far from the others"
                parts.append(f"{what}, and fewer than {SEEN} repetitions can have missed one")
        if row["verdict"] == INCONCLUSIVE and not isnan(number(row["n_needed"])):
            parts.append(self.reason(row))
        if repetitions == 1:
            where = "within" if row["side"] == "inside" else "beyond"
            return [*parts, f"one realisation, no test; it lies {where} the margin"]
        if n == 1:
            parts.append(f"all {repetitions:g} repetitions are equal: they count as one")
            parts += ["compared without a test"] * (not se > 0)
        return parts

    @staticmethod
    def reason(row: Row) -> str:
        """Why a published value is inconclusive."""
        if (needed := number(row["n_needed"])) < inf:
            return f"about {needed:g} repetitions would decide it (power 80 %)"
        return "more repetitions would not help: the published mean is too imprecise"

    def _claim(self, row: Row) -> list[str]:
        check = value(row["check"])
        n, groups, needed = (number(row[key]) for key in ("n", "groups", "needed"))
        at = self.place(value(row["at"]))
        asked = f" = {figure(row)}, criterion {bound(check)} (n = {n:g})"
        parts = [self.join([self.quantity(check), asked, " at " if at else "", at])]
        if groups > 1 or needed > 0:
            count = f"this group decides, {number(row['passing']):g} of {groups:g} pass"
            parts.append(count + (f", {needed:g} needed" if needed > 0 else ""))
        parts += [*_left_out(row), *self._remarks(row, check), *_corrected(row, check)]
        if number(row["checks"]) > 1:
            parts.append(f"check {number(row['number']):g} of {number(row['checks']):g}")
        return parts

    def _remarks(self, row: Row, check: Asked) -> list[str]:
        rows, repetitions = number(row["rows"]), number(row["repetitions"])
        if rows > 0:
            violating, worst = number(row["violating"]), self.place(value(row["worst"]))
            count = f"{rows:g} of {rows:g} rows meet it"
            if violating != 0:
                count = f"{'some' if isnan(violating) else f'{violating:g}'} of {rows:g} rows violate it"
            return [self.join([count, ", worst at " if worst else "", worst])]
        if row["remark"]:
            divisor = "the divisor may be 0: its interval reaches below"
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
        if is_claim(row):
            return [_p(number(row["p_adjusted"])) + (f" after Holm over {family:g}" if family > 1 else "")]
        parts = [f"within {_p(number(row['p_agree']))}, outside {_p(number(row['p_contra']))}"]
        if family > 1 and row["verdict"] != INCONCLUSIVE:
            names = [name for key, name in (("holm", "Holm"), ("bh", "Benjamini-Hochberg")) if row[key]]
            parts.append(f"of {family:g}: survives {' and '.join(names) or 'no correction'}")
        return parts

    def _new_points(self, row: Row) -> str:
        if not row["new_points"]:
            return ""
        figures = figure(row, "new_points_estimate new_points_low new_points_high")
        p, at = number(row["new_points_p"]), self.place(value(row["new_points_at"]))
        says = "" if isnan(p) else f"{look_up(row['new_points']).label}, p = {p:.2g}; "
        return self.join([f"for new points: {says}{figures}", " at " if at else "", at])

    def quantity(self, check: Asked) -> str:
        """What a check measures: ``one_pred − one (shared_r, mse, last x)``."""
        each = [*check.get("for_each", []), *check.get("all_of", [])]
        where = {key: entry for key, entry in check.get("where", {}).items() if not isinstance(entry, list)}
        a = self.words(check.get("a", {}), each)
        if not a:
            a = self.words({"metric": where.pop("metric")}) if "metric" in where else "value"
        b = self.x if check.get("b") == "x" else self.words(check.get("b", {}), each)
        base = self.words(check.get("base", {}), each)
        parts = STATISTICS[check["statistic"]].formula(a, b, base)
        before = ["step of "] * bool(trend_of(check))
        before += ["absolute deviation of "] * (check.get("of") == "deviation")
        about = self.words(where)
        return self.join([*before, *parts, *([" (", about, ")"] if about else [])])

    def words(self, selector: Asked, each: Sequence[str] = ()) -> str:
        """A selector: ``shared_r, mse, last x``; a list over which groups are made is "each"."""
        return self.join(
            [self._word(key, entry, each) for key, entry in selector.items() if entry != ""], ", "
        )

    def _word(self, key: str, entry: Any, each: Sequence[str]) -> str:
        if isinstance(entry, list) and key in each:
            return self.join(["each ", self.x if key == "x" else key])
        if key == "x" and entry in ENDS:
            return AT[str(entry)]
        text = self.join([self._key(key, one) for one in listed(entry)], " or ")
        return self._x(text) if key == "x" else text

    def _x(self, text: str) -> str:
        """``epoch 5``, ``rounds T = 100``: what x is, with a value of it."""
        return self.join([self.x, " = " if len(self.x.split()[-1]) == 1 else " ", text])

    def place(self, at: Asked) -> str:
        """Columns of some rows: ``noise uniform, x 2.5``; a step of a trend is ``x 4 → 8``."""
        found = {
            key: self.join([self._key(key, one) for one in listed(entry)], " → ")
            for key, entry in at.items()
            if entry != ""
        }
        named = (self._x(text) if key == "x" else self.join([f"{key} ", text]) for key, text in found.items())
        return self.join(named, ", ")

    def _key(self, column: str, key: Any) -> str:
        return self.name(column, f"{key:g}" if isinstance(key, float) else str(key))


def metric_of(row: Row) -> str:
    """The metric that a row is about, on which depends what x is; "" if it names none."""
    where, at, check = (value(row.get(key)) for key in ("where", "at", "check"))
    selectors = [where, at, check.get("where", {}), check.get("a", {})]
    return str(next((listed(each["metric"])[0] for each in selectors if "metric" in each), ""))


def _filled(check: Asked, at: Asked) -> tuple[dict[str, Any], dict[str, Any]]:
    """The check, its lists replaced by what the deciding group has of them; and what else that group has."""
    filled, named = dict(check), set()
    for side in ("a", "b", "base"):
        selector = check.get(side)
        if isinstance(selector, Mapping):
            lists = {key for key, entry in selector.items() if isinstance(entry, list) and key in at}
            filled[side] = {key: at[key] if key in lists else entry for key, entry in selector.items()}
            named |= lists
    return filled, {key: entry for key, entry in at.items() if key not in named}


def _spread(row: Row, low: float, high: float, before: str = "") -> str:
    """``95 % CI 0.5 to 0.7, n = 9``, behind what stands before it."""
    if number(row["n"]) == 1:
        return "the same in every run"
    return f"{before}95 % CI {low:.3g} to {high:.3g}, n = {number(row['n']):g}"


def bound(check: Asked) -> str:
    """What the check asks: ``below 0``, ``within [0.98, 1.02]``, ``above 0 (increasing along noise)``."""
    key = next(key for key in BOUNDS if key in check)
    entry = check[key]
    if key in TRENDS:
        return f"above 0 ({key} along {next(iter(entry))})"
    if key == "within":
        return f"{key} [{entry[0]:g}, {entry[1]:g}]"
    if 0 < abs(entry - float(f"{entry:g}")) < 2e-9:  # a tolerance for rounding errors
        return f"{'at most' if key == 'below' else 'at least'} {entry:g}"
    return f"{key} {entry:g}"


def _corrected(row: Row, check: Asked) -> list[str]:
    """Why nothing is shown although the interval shown lies wholly on one side of the criterion."""
    low, high = number(row["ci_low"]), number(row["ci_high"])
    bounds = [0.0] if trend_of(check) else [*listed(check[next(key for key in BOUNDS if key in check)])]
    side = {"against": "contra", "in favour": "agree"}.get(leans(row))
    if (
        row["otherwise"]
        or side is None
        or isnan(low)
        or number(row["n"]) == 1
        or any(low <= end <= high for end in bounds)
    ):
        return []
    p, many = number(row[f"p_{side}"]), number(row["family"])
    return [
        f"the interval is that of one test: over all tests of the claim {_p(p)} "
        f"{'against' if side == 'contra' else 'for'} it"
        + (f", which Holm's correction over {many:g} claims raises to 0.05 or more" if p < 0.05 else "")
    ]


def _p(p: float) -> str:
    return "p < 0.0001" if p < 1e-4 else f"p = {p:.2g}"


def _left_out(row: Row) -> list[str]:
    left_out = number(row["left_out"])
    return [f"{left_out:g} incomplete repetitions left out"] if left_out > 0 else []


def of_agreement(rows: Iterable[Row]) -> list[tuple[str, str]]:
    """(quantity, figures) of the rows of a table's agreement; the three counts of a control in one."""
    found: dict[str, list[str]] = {}
    for row in rows:
        if row["control"]:
            place = "our values" if row["control"] == "ours" else f"control ({row['control']})"
            found.setdefault(place, []).append(
                f"{number(row['estimate']):.0f} {look_up(row['verdict']).label}"
            )
            continue
        quantity, keys = str(row["quantity"]), ("estimate", "low", "high")
        scale, unit = (100, " %") if quantity.startswith("same") else (1, "")
        figures = figure({key: scale * number(row[key]) for key in keys}, " ".join(keys))
        cells, sets = f"{number(row['cells']):g}", number(row["sets"])
        of_sets = f"{sets:g} data set{'s' * (sets != 1)}"
        found[quantity] = [f"{figures}{unit} ({cells} {CELLS.get(quantity, 'values')}, {of_sets})"]
    return [(quantity, ", ".join(figures)) for quantity, figures in found.items()]


def with_control(rows: Iterable[Row]) -> dict[str, list[int]]:
    """How many have each verdict of a value: our values, and those of the neighbouring method.

    rows : of tables of agreement; the same cells for both: no mean over sets, and more than one method.
    """
    found = {"ours": [0, 0, 0], "neighbouring method": [0, 0, 0]}
    for row in rows:
        if row["control"] in found and not row["noise"] and not row["method"]:
            found[row["control"]][OF_A_VALUE.index(row["verdict"])] += round(number(row["estimate"]))
    return found
