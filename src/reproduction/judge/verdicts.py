"""Verdicts: what follows from the estimates of an artifact for its published values and claims.

The verdicts are those of `verdict_words.VERDICTS`. A published value has its verdict from
D = ours - published and the tolerance, by its own interval; what survives a correction over the artifact is
written next to it. A claim has it from its checks; p-values are Holm-adjusted over the claims of the
artifact, and a claim of which only a weaker form is confirmed is partially reproduced.
At a reduced scale every verdict is "ran".
Every cell of a check has two p-values: ``hold`` (small: the bound is met) and ``contra`` (small: it is
violated). A group holds when all its cells hold, a check when all its groups hold, or ``at_least`` so many.
A verdict is a row of `VERDICT_COLUMNS`: numbers, words of the artifact, JSON. See ``docs/verdicts.md``.
"""

import hashlib
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import compress
from math import inf, isclose, isnan, nan, sqrt
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.special import ndtr, ndtri, stdtrit

from noisylabels.statistics import (
    Estimate,
    at_least,
    benjamini_hochberg,
    for_new_points,
    holm,
    holm_factor,
    mean_se,
    outside,
    ratio_above,
    ratio_below,
    ratio_interval,
    t_above,
    t_below,
    t_interval,
    tost,
    welch,
)
from reproduction.judge.check_statistics import RATIO_OF_DIFFERENCES, ROUNDING
from reproduction.judge.claims import (
    INDEX,
    JUDGED,
    Asked,
    Claim,
    MissingRows,
    NeverTogether,
    PublishedValue,
    VerdictError,
    read_published,
)
from reproduction.judge.controls import TOO_STRICT_BELOW, replace_method, simulate_power
from reproduction.judge.estimates import (
    Bound,
    Source,
    as_json,
    by_repetition,
    cells_of,
    grouped,
    place_of,
    pools,
    select,
    substituted,
    unnamed,
    value,
    varies,
)
from reproduction.judge.outlying_runs import SEEN, Outlying, compare_in_two_parts
from reproduction.run.points import Points
from reproduction.run.records import verify
from reproduction.run.results import read_table
from reproduction.spec import strict_yaml
from reproduction.spec.artifact import expanded
from reproduction.spec.strict_yaml import Content
from reproduction.spec.verdict_words import (
    EXACT,
    INCONCLUSIVE,
    NOT_COMPARABLE,
    NOT_JUDGED,
    NOT_REPRODUCED,
    OURS,
    PARTIALLY_REPRODUCED,
    PROVISIONAL,
    PUBLISHED,
    RAN,
    REPRODUCED,
    TOO_STRICT,
)

T = TypeVar("T")

ALPHA, POWER = 0.05, 0.8
NO_INTERVAL = (nan, nan)
NEW_POINTS = [f"new_points{part}" for part in ("", "_p", "_estimate", "_low", "_high", "_at")]
COLUMNS_IN_WORDS = """
id kind place statement expected verdict flags estimate ci_low ci_high n repetitions published
published_se published_df margin difference difference_low difference_high where check number
checks at worst side groups passing needed rows violating left_out remark p_agree p_contra
p_adjusted family holm bh stand_in reason otherwise missing rule constant_error origin form_of
found_after n_needed power others others_passing
"""
VERDICT_COLUMNS = [*COLUMNS_IN_WORDS.split(), *NEW_POINTS]
WORDS = "statement expected where check at worst side remark holm bh stand_in reason otherwise missing rule"
WORDS += " origin form_of found_after"
TEXT = ["id", "kind", "place", "verdict", "flags", *WORDS.split(), "new_points", "new_points_at"]
BLANK: Content = dict.fromkeys(VERDICT_COLUMNS, nan) | dict.fromkeys(TEXT, "")
ASKED = ("rule", "where", "margin", "published", "published_se", "reason")
"""Columns that say what is asked: if one changes, another verdict may follow."""
SAID = ("kind", "place", "statement", "expected", "origin", "form_of", "found_after")
Vector = NDArray[np.float64]


def judge(artifact: Asked, table: pd.DataFrame, scale: str, points: Points | None = None) -> pd.DataFrame:
    """Rows of `VERDICT_COLUMNS`, one per published value, then one per claim, in the order of the artifact.

    Parameters
    ----------
    artifact : mapping with the optional lists ``published`` and ``claims``.
    table : tidy result table (`results.COLUMNS`).   points : errors that were kept point by point.
    scale : "full" and "part" give verdicts; anything else gives "ran".

    Raises
    ------
    VerdictError : names the published value or claim, the offending key and what is available.
    """
    if scale in JUDGED and "judged_from" in artifact:
        table = table[table["repetition"] >= artifact["judged_from"]]
        points = None  # they are of all repetitions
    source, done = Source.of(table, points), list[Content]()
    for kind, key, model, find in (
        ("published", "published", PublishedValue, _published),
        ("claim", "claims", Claim, _claim),
    ):
        findings = []
        for entry in artifact.get(key) or []:
            try:
                strict_yaml.check(model, entry, f"{kind} {entry.get('id', '?')}")
                findings.append(find(_asked(artifact, entry), entry, source, scale))
            except strict_yaml.ArtifactError as error:
                raise VerdictError(str(error)) from None
            except VerdictError as error:
                raise type(error)(f"{kind} {entry['id']}: {error}") from None
        if scale in JUDGED:
            rows = _decided(findings)
            if kind == "claim" and rows:
                _add_controls(rows, findings, artifact, source)
                _credit_weaker_forms(rows)
        else:
            rows = [_row(finding, RAN, finding.figures("", 1)) for finding in findings]
        new = _for_new_points(findings, rows, scale)
        done += [row | more for row, more in zip(rows, new, strict=True)]
    return pd.DataFrame(done, columns=VERDICT_COLUMNS)


def unmoved(artifact: Asked, kept: Iterable[Mapping[str, str]]) -> pd.DataFrame:
    """The same where the table is gone: as it was judged, if it asks what it asked then, else `NOT_JUDGED`.

    kept : earlier verdicts, rows of text.
    """
    before, done = {row["id"]: row for row in kept}, list[Content]()
    for entry in [*(artifact.get("published") or []), *(artifact.get("claims") or [])]:
        asked, earlier = BLANK | _asked(artifact, entry), before.get(entry["id"], {})
        if all(as_text(asked[key]) == earlier.get(key, "") for key in ASKED):
            cells = {key: earlier.get(key, "") for key in VERDICT_COLUMNS}
            found = {key: cell if key in TEXT else float(cell or "nan") for key, cell in cells.items()}
            asked = found | {key: asked[key] for key in SAID}
        done.append(asked)
    return pd.DataFrame(done, columns=VERDICT_COLUMNS)


def as_text(cell: Any) -> str:
    """A cell as `write` writes it."""
    return cell if isinstance(cell, str) else "" if cell != cell else f"{cell:.6g}"


def _asked(artifact: Asked, entry: Asked) -> Content:
    """What a row says before anything is measured; an artifact of ours makes its published values ours."""
    row = {
        key: entry.get(key, "") for key in ("id", "place", "form_of", "found_after", "statement", "expected")
    }
    row |= {"reason": entry.get("not_comparable", ""), "verdict": NOT_JUDGED}
    if "checks" in entry:
        rule = digest(
            {key: entry.get(key) for key in ("checks", "theorem", "not_comparable")}
            | {key: artifact[key] for key in ("judged_from",) if key in artifact}
        )
        origin = "ours" if entry["kind"] == OURS else "paper"
        return row | {"kind": entry["kind"], "origin": origin, "rule": rule}
    row |= {"kind": PUBLISHED, "origin": artifact.get("origin", "paper"), "where": as_json(entry["where"])}
    se = entry["sd"] / sqrt(entry["n"]) if "sd" in entry else entry.get("se", 0.0)
    df = entry["n"] - 1 if se > 0 and "n" in entry else nan
    margin, value = float(entry["margin"]), float(entry["value"])
    return row | {"margin": margin, "published": value, "published_se": float(se), "published_df": df}


def digest(what: Any) -> str:
    """Twelve hexadecimal digits of a value of JSON."""
    return hashlib.sha256(json.dumps(what, sort_keys=True).encode()).hexdigest()[:12]


# A cell under the bound of its check, and checks


class Weighed(NamedTuple):
    """A cell under a bound: two p-values, small if it is met (``hold``) or violated (``contra``).

    at : columns and values that its rows share; a step of a trend is a list of two values.
    """

    at: Content
    repetitions: int
    left_out: int
    estimate: float
    interval: tuple[float, float]
    n: int
    hold: float
    contra: float
    excess: float
    tested: bool = False
    more: Content | None = None

    def columns(self, bound: Bound) -> Content:
        """Its columns in a row of verdicts."""
        found = {"estimate": self.estimate, "n": self.n, "at": as_json(self.at)} | (self.more or {})
        found |= dict(zip(("ci_low", "ci_high"), self.interval, strict=True))
        counts = {"repetitions": self.repetitions, "left_out": self.left_out or nan}
        return found | {"side": _side(bound, self.estimate)} | counts


def _weighed(at: Content, rows: pd.DataFrame, check: Asked) -> Weighed:
    bound = Bound.of(check)
    if check.get("rows") == "every":
        return _every(at, rows, bound)
    values, left_out = by_repetition(rows)
    if check["statistic"] == RATIO_OF_DIFFERENCES:
        return _ratio(at, values, by_repetition(rows.assign(value=rows["divisor"]))[0], left_out, bound)
    mean, se, df, _ = estimate = mean_se(values)
    if check["statistic"] != "relative_se":
        return _mean(at, estimate, bound, values.size, left_out)
    unknown = df == 0 or mean == 0
    more = {"remark": "mean is 0" if unknown and df != 0 else ""}
    return _untested(at, bound, nan if unknown else se / abs(mean), (values.size, left_out), more)


def _every(at: Content, rows: pd.DataFrame, bound: Bound) -> Weighed:
    """The value farthest from the bound, where it is, and how many rows violate it."""
    excess = bound.excess(rows["value"].to_numpy())
    worst = rows.iloc[int(np.argmax(excess))]
    more: Content = {"rows": len(rows), "violating": int((~bound.met(rows["value"].to_numpy())).sum())}
    more["worst"] = as_json(place_of({column: worst[column] for column in varies(rows, INDEX)}))
    return _untested(at, bound, float(worst["value"]), (int(rows["repetition"].nunique()), 0), more)


def _untested(at: Content, bound: Bound, estimate: float, counts: tuple[int, int], more: Content) -> Weighed:
    """A number that meets the bound or does not; NaN shows nothing."""
    if estimate != estimate:
        return Weighed(at, *counts, nan, NO_INTERVAL, counts[0], 1.0, 1.0, inf, more=more)
    met, excess = bool(bound.met(estimate)), float(bound.excess(estimate))
    p = float(not met), float(met)
    return Weighed(at, *counts, estimate, NO_INTERVAL, counts[0], *p, excess, more=more)


def _mean(at: Content, estimate: Estimate, bound: Bound, repetitions: int, left_out: int = 0) -> Weighed:
    """Paired t-test over the repetitions."""
    if bound.kind == "within":
        hold, contra = tost(estimate, bound.low, bound.high), outside(estimate, bound.low, bound.high)
    elif bound.kind == "below":
        hold, contra = t_below(estimate, bound.high), t_above(estimate, bound.high)
    else:
        hold, contra = t_above(estimate, bound.low), t_below(estimate, bound.low)
    n, counts = 1 if estimate.se == 0 else repetitions, (repetitions, left_out)
    excess, tested = float(bound.excess(estimate.mean)), estimate.df > 0 and estimate.se > 0
    return Weighed(at, *counts, estimate.mean, t_interval(estimate), n, hold, contra, excess, tested)


def _ratio(at: Content, a: Vector, b: Vector, left_out: int, bound: Bound) -> Weighed:
    """Ratio of two mean differences, tested as Fieller does; Bonferroni over the two ends of an interval."""
    ratio = float(a.mean() / b.mean()) if b.mean() != 0 else nan
    holds, ends = [], []
    if bound.low > -inf:
        holds, ends = [ratio_above(a, b, bound.low)], [ratio_below(a, b, bound.low)]
    if bound.high < inf:
        holds, ends = [*holds, ratio_below(a, b, bound.high)], [*ends, ratio_above(a, b, bound.high)]
    p = max(holds), min(1.0, len(ends) * min(ends))
    excess = float(bound.excess(ratio)) if ratio == ratio else inf
    more = {"remark": "divisor" if t_above(mean_se(b)) >= ALPHA else ""}
    interval = ratio_interval(a, b)
    return Weighed(at, a.size, left_out, ratio, interval, a.size, *p, excess, a.size > 1, more)


def _side(bound: Bound, estimate: float) -> str:
    """``inside`` the bound, or ``below`` or ``above`` it."""
    if estimate != estimate:
        return ""
    return "inside" if bound.met(estimate) else "below" if estimate <= bound.low else "above"


class Result(NamedTuple):
    """A check: p-values, the cells that decide them, the p-value of each group and how many must pass."""

    hold: float
    contra: float
    weakest: Weighed
    accused: Weighed
    group_holds: list[float]
    needed: int
    tested: bool

    def passing(self, level: float) -> int:
        """Groups whose p-value, multiplied as the one that decides, is below a level.

        As many as are ``needed`` exactly if the p-value of the check is.
        """
        factor = len(self.group_holds) - self.needed + 1
        return sum(factor * p < level for p in self.group_holds)


def combine(groups: list[list[Weighed]], k: int) -> Result:
    """Intersection-union within a group, "at least k" across groups; mirrored for the contradiction."""
    m = len(groups)
    weakest = [max(cells, key=lambda c: (c.hold, c.excess)) for cells in groups]
    accused = [min(cells, key=lambda c: (c.contra, -c.excess)) for cells in groups]
    blame = [min(1.0, len(cells) * cell.contra) for cells, cell in zip(groups, accused, strict=True)]
    charged = sorted(range(m), key=lambda i: (blame[i], -accused[i].excess))
    return Result(
        hold=at_least([cell.hold for cell in weakest], k),
        contra=at_least(blame, m - k + 1),
        weakest=sorted(weakest, key=lambda c: (c.hold, c.excess))[k - 1],
        accused=accused[charged[m - k]],
        group_holds=[cell.hold for cell in weakest],
        needed=k,
        tested=any(cell.tested for cells in groups for cell in cells),
    )


def together(results: Sequence[Result]) -> tuple[Result, Result, float]:
    """The weakest check (intersection-union), the most violated one, and its p-value after Bonferroni."""
    blamed = min(results, key=lambda result: result.contra)
    return max(results, key=lambda result: result.hold), blamed, min(1.0, len(results) * blamed.contra)


# Findings: everything about a verdict but the corrections over the artifact


@dataclass(frozen=True)
class Finding:
    """A published value or claim before its verdict.

    ``figures(verdict, factor)`` are the columns that go with a verdict, where ``factor`` multiplies the
    p-values that decide. ``agree`` and ``contra`` are p-values; ``family_wise`` says that the verdict is by
    Holm's p-values instead of its own; ``tested`` is False where nothing is left to chance; ``fixed`` is a
    verdict without p-values; ``barred``: nothing may be compared; ``new`` has the checks for new points.
    """

    row: Content
    figures: Callable[[str, int], Content] = lambda *_: {}
    agree: float = 1.0
    contra: float = 1.0
    family_wise: bool = False
    tested: bool = True
    fixed: str = ""
    barred: bool = False
    new: Sequence[Result] = ()

    def verdict(self, agree: float, contra: float) -> str:
        """The verdict by these two p-values."""
        if self.fixed or agree < ALPHA:
            return self.fixed or REPRODUCED
        return NOT_REPRODUCED if contra < ALPHA else INCONCLUSIVE

    def shows(self, agree: float, contra: float) -> str:
        """What these two p-values show: the verdict, or "" if it stays open."""
        verdict = self.verdict(agree, contra)
        return "" if verdict == INCONCLUSIVE else verdict


def _absent(finding: Finding, scale: str, error: MissingRows) -> Finding:
    """Missing rows are an error at full scale, or if no scale has them; not of what is not comparable."""
    reason = finding.row["reason"]
    if not reason and (scale == "full" or isinstance(error, NeverTogether)):
        raise error
    row, fixed = finding.row | {"missing": str(error)}, NOT_JUDGED if scale == "part" else ""
    return replace(finding, row=row, tested=False, fixed=fixed, barred=bool(reason))


def _published(row: Content, entry: Asked, source: Source, scale: str) -> Finding:
    """Published mean with its standard error, se or sd/sqrt(n); without an error it counts as exact."""
    df = row["published_df"]
    theirs, margin = Estimate(row["published"], row["published_se"], inf if isnan(df) else df), row["margin"]
    try:
        rows = select(source.rows, entry["where"])
        unnamed(rows, {"repetition", *entry["where"]})
        values, left_out = by_repetition(rows)
    except MissingRows as error:
        return _absent(Finding(row), scale, error)
    stuck = source.skewed(entry["where"])
    ours, n = mean_se(values, stuck == "far"), values.size
    if ours.se == 0:
        ours, n = ours._replace(df=inf), 1
    gap = welch(ours, theirs)
    if isclose(ours.mean, theirs.mean, rel_tol=ROUNDING):
        gap = gap._replace(mean=0.0)
    unseen = stuck if 1 < values.size < SEEN else ""
    if unseen == "few" and n == 1:
        unseen = ""
    agree, contra = tost(gap, -margin, margin), outside(gap, -margin, margin)
    is_decided = min(agree, contra) < ALPHA
    fixed = INCONCLUSIVE if gap.df == 0 or unseen == "few" else ""
    if unseen == "far":
        outlying = source.find_outlying(entry["where"])
        is_far = _outlying_repetitions(rows, outlying)
        agree, contra = compare_in_two_parts(values, is_far, theirs, margin, outlying)
    elif gap.se == 0 and not fixed:
        fixed = REPRODUCED if abs(gap.mean) <= margin else NOT_REPRODUCED
    is_shown = not fixed and min(agree, contra) < ALPHA
    is_provisional = unseen != "" and is_decided and not is_shown
    names = ("ci_low", "ci_high", "difference_low", "difference_high")
    figures: Content = dict(zip(names, [*t_interval(ours), *t_interval(gap)], strict=True))
    figures |= {"repetitions": values.size, "left_out": left_out or nan}
    figures |= {"estimate": ours.mean, "n": n, "difference": gap.mean, "remark": unseen}
    figures |= {"flags": PROVISIONAL if is_provisional else ""}
    figures |= {"side": _side(Bound("within", -margin, margin), gap.mean)}
    figures |= {"n_needed": max(needed(ours, theirs, n, margin), 0 if is_shown or not unseen else SEEN)}
    stand_in = as_json(substituted(rows))
    return Finding(
        row | {"stand_in": stand_in},
        lambda *_: figures,
        agree=agree,
        contra=contra,
        tested=not fixed,
        fixed=fixed,
        barred=bool(stand_in or row["reason"]),
    )


def _outlying_repetitions(rows: pd.DataFrame, outlying: Outlying) -> NDArray[np.bool_]:
    """For each repetition that `by_repetition` keeps: has it an outlying run?"""
    flags, _ = by_repetition(rows.assign(value=outlying.is_far[rows.index].astype(float)))
    return flags > 0


def needed(ours: Estimate, theirs: Estimate, n: int, margin: float) -> float:
    """Repetitions with which the state is decided in 80 % of the runs, if D is what it seems to be.

    inf : none suffice, because even an exact value of ours would be decided less often: the printed mean is
    too imprecise for this margin.   NaN : one realisation, whose spread is not known.
    """
    if not (n > 1 and ours.se < inf) or isnan(ours.se):
        return nan

    def power(repetitions: float) -> float:
        df = repetitions - 1 if ours.se > 0 else inf
        return decided(welch(Estimate(ours.mean, ours.se * sqrt(n / repetitions), df), theirs), margin)

    if power(inf) < POWER:
        return inf
    low, high = 1, 2
    while power(high) < POWER:
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if power(middle) >= POWER else (middle, high)
    return high


def decided(gap: Estimate, margin: float) -> float:
    """P(reproduced or not at the 5 % level), the estimate being normal around the gap that was found."""
    if gap.se == 0:
        return 1.0
    reach = float(stdtrit(gap.df, 1 - ALPHA) if gap.df < inf else ndtri(1 - ALPHA)) * gap.se
    inner, outer = margin - reach, margin + reach
    above, below = ((sign * gap.mean - outer) / gap.se for sign in (1, -1))
    within = max(0.0, ndtr((inner - gap.mean) / gap.se) - ndtr((-inner - gap.mean) / gap.se))
    return float(within + ndtr(above) + ndtr(below))


def _claim(row: Content, entry: Asked, source: Source, scale: str) -> Finding:
    row = row | {"checks": len(entry["checks"])}
    finding = Finding(row, family_wise=True)
    results, new, stand_in = list[Result](), list[Result](), set[str]()
    for number, check in enumerate(entry["checks"], start=1):
        try:
            rows, groups = grouped(source, check)
            needed = check.get("at_least", len(groups))
            if needed > len(groups):
                raise MissingRows(f"at_least: needs {needed} groups, but there are only {len(groups)}")
            cells = [_cells(at, part, check) for at, part in groups]
        except MissingRows as error:
            return _absent(finding, scale, type(error)(f"check {number}: {error}"))
        except VerdictError as error:
            raise VerdictError(f"check {number}: {error}") from None
        stand_in.update(substituted(rows))
        results.append(combine(cells, needed))
        if added := pools(source, check, groups):
            means = [(at, mean_se(by_repetition(part)[0])) for at, part in groups]
            others = [(at, for_new_points(mean, pool)) for (at, mean), pool in zip(means, added, strict=True)]
            new.append(combine([[_mean(at, mean, Bound.of(check), 0)] for at, mean in others], needed))
    weak, blamed, contra = together(results)

    def figures(verdict: str, factor: int) -> Content:
        result = blamed if verdict == NOT_REPRODUCED else weak
        number = results.index(result)
        check = entry["checks"][number]
        about = {"check": as_json(check), "number": number + 1, "groups": len(result.group_holds)}
        about |= {"passing": result.passing(ALPHA / factor), "needed": check.get("at_least", nan)}
        chosen = result.accused if verdict == NOT_REPRODUCED else result.weakest
        if entry.get("theorem") and verdict == REPRODUCED:
            about["flags"] = EXACT
        return about | chosen.columns(Bound.of(check))

    return replace(
        finding,
        row=row | {"stand_in": as_json(sorted(stand_in))},
        figures=figures,
        agree=weak.hold,
        contra=contra,
        tested=any(result.tested for result in results),
        barred=bool(stand_in or row["reason"]),
        new=new if len(new) == len(results) else (),
    )


def _cells(at: Content, rows: pd.DataFrame, check: Asked) -> list[Weighed]:
    """The cells of a group, see `cells_of`."""
    return [_weighed(at | more, part, check) for more, part in cells_of(rows, check)]


# Corrections for multiplicity, and the rows


def _decided(findings: Sequence[Finding]) -> list[Content]:
    """A row for each; the family of the corrections are those that rest on a test and may be compared."""
    family = [finding for finding in findings if finding.tested and not finding.barred]
    agree, contra = [f.agree for f in family], [f.contra for f in family]
    by_holm = list(zip(holm(agree), holm(contra), strict=True))
    by_bh = list(zip(benjamini_hochberg(agree), benjamini_hochberg(contra), strict=True))
    rows, i = [], 0
    for finding in findings:
        own, factor = (finding.agree, finding.contra), 1
        if finding.barred or not finding.tested:
            verdict, shown = finding.verdict(*own), finding.shows(*own)
            survives: Content = {"holm": shown, "bh": shown}
        else:
            verdict = finding.verdict(*(by_holm[i] if finding.family_wise else own))
            factor = holm_factor(agree, i, ALPHA) if finding.family_wise else 1
            adjusted = by_holm[i][1 if verdict == NOT_REPRODUCED else 0]
            survives = {"holm": finding.shows(*by_holm[i]), "bh": finding.shows(*by_bh[i])}
            survives |= {"p_agree": own[0], "p_contra": own[1], "p_adjusted": adjusted, "family": len(family)}
            i += 1
        row = _row(finding, verdict, finding.figures(verdict, factor) | survives)
        if finding.barred:
            measured = verdict if row["estimate"] == row["estimate"] else ""
            row |= {"verdict": NOT_COMPARABLE, "otherwise": measured, "holm": "", "bh": "", "flags": ""}
        rows.append(row)
    return rows


def _row(finding: Finding, verdict: str, figures: Content) -> Content:
    return BLANK | finding.row | figures | {"verdict": verdict}


def _add_controls(rows: list[Content], findings: Sequence[Finding], artifact: Asked, source: Source) -> None:
    """Add the power of each claim and how many other methods pass; what is too strict cannot confirm."""
    family = [(row, finding) for row, finding in zip(rows, findings, strict=True) if finding.tested]
    p_values = {row["id"]: finding.agree for row, finding in family if not finding.barred}
    powers = simulate_power(artifact, source, p_values)
    methods = [str(method) for method in source.rows["method"].cat.categories]
    for row, claim in zip(rows, artifact["claims"], strict=True):
        row["power"] = powers.get(row["id"], nan)
        if row["power"] < TOO_STRICT_BELOW:
            row["flags"] = TOO_STRICT
            if row["verdict"] == REPRODUCED:
                row |= {"otherwise": REPRODUCED, "verdict": INCONCLUSIVE}
        if row["verdict"] not in (NOT_COMPARABLE, NOT_JUDGED):
            passes = _passes_of_others(claim, methods, source)
            row["others"] = len(passes) or nan
            row["others_passing"] = sum(passes) if passes else nan


def _passes_of_others(claim: Asked, methods: Sequence[str], source: Source) -> list[bool]:
    """Whether each other method of the result passes the checks of a claim, without a correction."""
    passes, source = [], source._replace(names=None, curves=[])  # nothing is asked about new points
    for variant in replace_method(claim, methods):
        try:
            finding = _claim({"reason": ""}, variant, source, "part")
        except VerdictError:
            continue
        if not finding.fixed:
            passes.append(finding.agree < ALPHA)
    return passes


def _credit_weaker_forms(rows: list[Content]) -> None:
    """Make a claim partially reproduced where only a weaker form is; `otherwise` keeps its own verdict."""
    confirmed = {row["form_of"] for row in rows if row["form_of"] and row["verdict"] == REPRODUCED}
    for row in rows:
        is_open = row["verdict"] in (INCONCLUSIVE, NOT_REPRODUCED)
        if row["id"] in confirmed and is_open and row["flags"] != TOO_STRICT:
            row |= {"otherwise": row["verdict"], "verdict": PARTIALLY_REPRODUCED}


def _for_new_points(findings: Sequence[Finding], rows: Sequence[Content], scale: str) -> list[Content]:
    """Columns `NEW_POINTS` of claims whose errors were kept point by point; Holm's correction over them."""
    pairs = zip(findings, rows, strict=True)
    offered = [bool(finding.new) and row["verdict"] != NOT_COMPARABLE for finding, row in pairs]
    results = [together(finding.new) for finding in compress(findings, offered)]
    ps = zip(holm([weak.hold for weak, *_ in results]), holm([p for *_, p in results]), strict=True)
    found = []
    for (weak, blamed, _), (p, q) in zip(results, ps, strict=True):
        verdict, cell, decides = INCONCLUSIVE, weak.weakest, p
        if p < ALPHA:
            verdict = REPRODUCED
        elif q < ALPHA:
            verdict, cell, decides = NOT_REPRODUCED, blamed.accused, q
        says = (verdict, decides) if scale in JUDGED else (RAN, nan)
        figures = (*says, cell.estimate, *cell.interval, as_json(cell.at))
        found.append(dict(zip(NEW_POINTS, figures, strict=True)))
    columns = iter(found)
    return [next(columns) if each else {} for each in offered]


# Files


def judge_files(
    artifacts: Sequence[Path], tables: Sequence[Path], scale: str, labels: Iterable[Path] = ()
) -> pd.DataFrame:
    """Verdicts of several artifacts, with the columns paper and artifact first.

    Parameters
    ----------
    artifacts : files ``<paper>/<artifact>.yaml``, their ``.published.csv`` files beside them.
    tables : their result tables, in the same order; beside each, if it is there, ``points.npz``.
    labels : prepared data sets, for the error of a constant classifier.

    Raises
    ------
    VerdictError : as `judge`; names the file; a table that is not the one of its record.
    """
    constant, verdicts = constant_errors(labels), list[pd.DataFrame]()
    for artifact, table in zip(artifacts, tables, strict=True):
        content, points = _content(artifact), table.with_name("points.npz")
        rows = _verified(table, read_table)
        tested = _verified(points, Points.read) if points.is_file() else None
        try:
            frame = judge(content, rows, scale, tested)
        except VerdictError as error:
            raise type(error)(f"{artifact}: {error}") from None
        sets = [str(value(where).get("dataset")) for where in frame["where"]]
        frame["constant_error"] = [constant.get(name, nan) for name in sets]
        if scale == "part":
            sizes = ", ".join(filter(None, map(str, rows["dataset"].unique()))), rows["repetition"].nunique()
            frame["part"] = "{}; repetitions: {}".format(*sizes)
        if len(frame):
            verdicts.append(of_artifact(frame, artifact.parent.name, artifact.stem))
    none = pd.DataFrame(columns=["paper", "artifact", *VERDICT_COLUMNS])
    return pd.concat(verdicts, ignore_index=True) if verdicts else none


def of_artifact(frame: pd.DataFrame, paper: str, artifact: str) -> pd.DataFrame:
    """The rows with the columns paper and artifact first."""
    return frame.assign(paper=paper, artifact=artifact)[["paper", "artifact", *frame]]


def constant_errors(files: Iterable[Path]) -> dict[str, float]:
    """Data set -> share of the labels that a classifier which always names the larger class gets wrong.

    files : prepared data sets.
    """
    errors = {}
    for file in files:
        with np.load(file, allow_pickle=False) as arrays:
            if "y" in arrays.files:
                _, counts = np.unique(arrays["y"], return_counts=True)
                errors[file.name.partition(".")[0]] = 1 - float(counts.max() / counts.sum())
    return errors


def write(table: pd.DataFrame, path: str | Path, digits: str = "%.6g") -> None:
    """Write as CSV with six digits and "\\n"; the same table gives the same bytes."""
    table.to_csv(path, index=False, float_format=digits, lineterminator="\n", encoding="utf-8")


def _verified(file: Path, reader: Callable[[Path], T]) -> T:
    """What is in a table or in the points beside it, if it is still the one that its provenance records."""
    try:
        verify(file)
        return reader(file)
    except ValueError as error:
        raise VerdictError(str(error)) from None


def _content(artifact: Path) -> Content:
    """An artifact file with the list of its published values in place of their rule."""
    try:
        content = expanded(artifact)
        if "published" in content:
            content["published"] = read_published(artifact, content["published"])
        return content
    except ValueError as error:
        raise VerdictError(str(error)) from None
