"""Verdicts on the published values and claims of an artifact, from its estimates.

The verdicts are those of `verdict_words.VERDICTS`. A published value has its verdict from
D = ours - published and the tolerance, by its own interval; what survives a correction over the
artifact is written next to it. A claim has it from its checks; p-values are Holm-adjusted over the
claims of the artifact. A claim of which only a weaker form is confirmed is partially reproduced.
At a reduced scale every verdict is "ran".
Every cell of a check has two p-values: ``agree`` (small: the bound is met) and ``contra`` (small:
it is violated). A group holds when all its cells hold, a check when all its groups hold, or
``at_least`` so many.
A verdict is a row of `VERDICT_COLUMNS`: numbers, words of the artifact, JSON.
See ``docs/verdicts.md``.
"""

import hashlib
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, compress
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
from reproduction.judge.check_statistics import RATIO_OF_DIFFERENCES, ROUNDING, STATISTICS
from reproduction.judge.claims import (
    INDEX,
    JUDGED,
    Asked,
    Claim,
    MissingRows,
    NeverTogether,
    PublishedValue,
    VerdictError,
    count_needed,
    counts_losses,
    read_published,
)
from reproduction.judge.controls import (
    POWER,
    TOO_STRICT_BELOW,
    can_find_losses,
    replace_method,
    simulate_power,
)
from reproduction.judge.estimates import (
    Bound,
    Groups,
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
from reproduction.spec import mistakes
from reproduction.spec.artifact import expanded
from reproduction.spec.strict_yaml import Content
from reproduction.spec.verdict_words import (
    DATA_DIFFER,
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

ALPHA = 0.05
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
WORDS = """
statement expected where check at worst side remark holm bh stand_in reason otherwise missing rule
origin form_of found_after
"""
TEXT = ["id", "kind", "place", "verdict", "flags", *WORDS.split(), "new_points", "new_points_at"]
BLANK: Content = dict.fromkeys(VERDICT_COLUMNS, nan) | dict.fromkeys(TEXT, "")
ASKED = ("rule", "where", "margin", "published", "published_se", "reason")
"""Columns of the question; if one changes, another verdict may follow."""
SAID = ("kind", "place", "statement", "expected", "origin", "form_of", "found_after")
Vector = NDArray[np.float64]


def judge(
    artifact: Asked,
    table: pd.DataFrame,
    scale: str,
    points: Points | None = None,
) -> pd.DataFrame:
    """Judge the published values, then the claims of an artifact, in its order.

    Parameters
    ----------
    artifact : mapping
        With the optional lists ``published`` and ``claims``.
    table : DataFrame
        Tidy result table (`results.COLUMNS`).
    scale : str
        "full" and "part" give verdicts; anything else gives "ran".
    points : Points, optional
        Errors that were kept point by point.

    Returns
    -------
    DataFrame
        Rows of `VERDICT_COLUMNS`.

    Raises
    ------
    VerdictError
        Names the published value or claim, the offending key and what is available.
    """
    if scale in JUDGED and "judged_from" in artifact:
        table = table[table["repetition"] >= artifact["judged_from"]]
        points = None  # they are of all repetitions
    source = Source.from_table(table, points)
    values = [
        _find("published", PublishedValue, _published, artifact, entry, source, scale)
        for entry in artifact.get("published") or []
    ]
    claims = [
        _find("claim", Claim, _claim, artifact, entry, source, scale)
        for entry in artifact.get("claims") or []
    ]
    if scale in JUDGED:
        value_rows = _decided(values)
        claim_rows = _decided(claims)
        if claim_rows:
            _add_controls(claim_rows, claims, artifact, source)
            _credit_weaker_forms(claim_rows)
            _mark_other_data(claim_rows, artifact["claims"])
    else:
        value_rows = [_row(finding, RAN, finding.figures("", 1)) for finding in values]
        claim_rows = [_row(finding, RAN, finding.figures("", 1)) for finding in claims]
    value_rows = _add_new_points(values, value_rows, scale)
    claim_rows = _add_new_points(claims, claim_rows, scale)
    return pd.DataFrame([*value_rows, *claim_rows], columns=VERDICT_COLUMNS)


def _find(
    kind: str,
    model: type[PublishedValue] | type[Claim],
    find: "Callable[[Content, Asked, Source, str], Finding]",
    artifact: Asked,
    entry: Asked,
    source: Source,
    scale: str,
) -> "Finding":
    """Check an entry of an artifact and measure its subject; an error names the entry."""
    try:
        mistakes.check(model, entry, f"{kind} {entry.get('id', '?')}")
        return find(_start_row(artifact, entry), entry, source, scale)
    except mistakes.ArtifactError as error:
        raise VerdictError(str(error)) from None
    except VerdictError as error:
        raise type(error)(f"{kind} {entry['id']}: {error}") from None


def unmoved(artifact: Asked, archived: Iterable[Mapping[str, str]]) -> pd.DataFrame:
    """Take over earlier verdicts where the table is gone.

    A verdict is as it was judged if the artifact asks what it asked then, else `NOT_JUDGED`.

    Parameters
    ----------
    artifact : mapping
        With the optional lists ``published`` and ``claims``.
    archived : iterable of mappings
        Earlier verdicts, rows of text.

    Returns
    -------
    DataFrame
        Rows of `VERDICT_COLUMNS`.
    """
    earlier_rows = {row["id"]: row for row in archived}
    rows = []
    for entry in [*(artifact.get("published") or []), *(artifact.get("claims") or [])]:
        row = BLANK | _start_row(artifact, entry)
        earlier = earlier_rows.get(entry["id"], {})
        if all(as_text(row[column]) == earlier.get(column, "") for column in ASKED):
            row = _read_row(earlier) | {column: row[column] for column in SAID}
        rows.append(row)
    return pd.DataFrame(rows, columns=VERDICT_COLUMNS)


def _read_row(texts: Mapping[str, str]) -> Content:
    """Read a row of text: numbers in the columns of numbers, NaN for an empty cell."""
    row: Content = {}
    for column in VERDICT_COLUMNS:
        text = texts.get(column, "")
        row[column] = text if column in TEXT else float(text or "nan")
    return row


def as_text(cell: Any) -> str:
    """Write a cell as `write` writes it."""
    if isinstance(cell, str):
        return cell
    return "" if cell != cell else f"{cell:.6g}"


def _start_row(artifact: Asked, entry: Asked) -> Content:
    """Make the part of a row that needs no measurement.

    Published values of an artifact with `origin: ours` count as ours.
    """
    words = ("id", "place", "form_of", "found_after", "statement", "expected")
    row: Content = {key: entry.get(key, "") for key in words}
    row |= {"reason": entry.get("not_comparable", ""), "verdict": NOT_JUDGED}
    if "checks" in entry:
        row["kind"] = entry["kind"]
        row["origin"] = "ours" if entry["kind"] == OURS else "paper"
        row["rule"] = _digest_of_rule(artifact, entry)
        return row
    se = entry.get("se", 0.0)
    if "sd" in entry:
        se = entry["sd"] / sqrt(entry["n"])
    row["kind"] = PUBLISHED
    row["origin"] = artifact.get("origin", "paper")
    row["where"] = as_json(entry["where"])
    row["margin"] = float(entry["margin"])
    row["published"] = float(entry["value"])
    row["published_se"] = float(se)
    row["published_df"] = nan
    if se > 0 and "n" in entry:
        row["published_df"] = entry["n"] - 1
    return row


def _digest_of_rule(artifact: Asked, claim: Asked) -> str:
    """Digest everything that decides a claim."""
    rule = {key: claim.get(key) for key in ("checks", "theorem", "not_comparable")}
    if "judged_from" in artifact:
        rule["judged_from"] = artifact["judged_from"]
    return digest(rule)


def digest(content: Any) -> str:
    """Make twelve hexadecimal digits of a value of JSON."""
    text = json.dumps(content, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:12]


# Cells compared with the bound of their check, and checks


class Weighed(NamedTuple):
    """A cell under a bound, with p-values that are small if it is met or violated.

    labels : columns and values that its rows share; a step of a trend is a list of two values.
    """

    labels: Content
    repetitions: int
    left_out: int
    estimate: float
    interval: tuple[float, float]
    n: int
    agree: float
    contra: float
    excess: float
    tested: bool = False
    extra: Content | None = None

    def columns(self, bound: Bound) -> Content:
        """Make the columns of a cell in a row of verdicts."""
        columns: Content = {"estimate": self.estimate, "n": self.n, "at": as_json(self.labels)}
        columns["ci_low"], columns["ci_high"] = self.interval
        columns["side"] = _side(bound, self.estimate)
        columns["repetitions"] = self.repetitions
        columns["left_out"] = self.left_out or nan
        return columns | (self.extra or {})


def _weighed(labels: Content, rows: pd.DataFrame, check: Asked) -> Weighed:
    """Weigh the rows of a cell under the bound of its check."""
    bound = Bound.from_check(check)
    if check.get("rows") == "every":
        return _worst_row(labels, rows, bound)
    values, left_out = by_repetition(rows)
    if check["statistic"] == RATIO_OF_DIFFERENCES:
        divisors, _ = by_repetition(rows.assign(value=rows["divisor"]))
        return _ratio(labels, values, divisors, left_out, bound)
    if counts_losses(check):
        return _loss(labels, values, check["level"], left_out)
    reduction = STATISTICS[check["statistic"]].reduction
    if reduction is None:
        return _mean(labels, mean_se(values), bound, values.size, left_out)
    reduced = reduction.compute(values)
    remark = "undefined" if isnan(reduced) and values.size > 1 else ""
    return _untested(labels, bound, reduced, (values.size, left_out), {"remark": remark})


def _worst_row(labels: Content, rows: pd.DataFrame, bound: Bound) -> Weighed:
    """Find the value farthest from the bound, where it is, and how many rows violate it."""
    values = rows["value"].to_numpy()
    worst = rows.iloc[int(np.argmax(bound.excess(values)))]
    labels_of_worst = place_of({column: worst[column] for column in varies(rows, INDEX)})
    extra: Content = {
        "rows": len(rows),
        "violating": int((~bound.met(values)).sum()),
        "worst": as_json(labels_of_worst),
    }
    counts = (int(rows["repetition"].nunique()), 0)
    return _untested(labels, bound, float(worst["value"]), counts, extra)


def _untested(
    labels: Content,
    bound: Bound,
    estimate: float,
    counts: tuple[int, int],
    extra: Content,
) -> Weighed:
    """Weigh a number that meets the bound or does not; NaN shows nothing."""
    repetitions, left_out = counts
    if isnan(estimate):
        agree = contra = 1.0
        excess = inf
    else:
        is_met = bool(bound.met(estimate))
        agree = float(not is_met)
        contra = float(is_met)
        excess = float(bound.excess(estimate))
    return Weighed(
        labels=labels,
        repetitions=repetitions,
        left_out=left_out,
        estimate=estimate,
        interval=NO_INTERVAL,
        n=repetitions,
        agree=agree,
        contra=contra,
        excess=excess,
        extra=extra,
    )


def _mean(
    labels: Content,
    estimate: Estimate,
    bound: Bound,
    repetitions: int,
    left_out: int = 0,
) -> Weighed:
    """Test a mean over the repetitions with a paired t-test."""
    if bound.kind == "within":
        agree = tost(estimate, bound.low, bound.high)
        contra = outside(estimate, bound.low, bound.high)
    elif bound.kind == "below":
        agree = t_below(estimate, bound.high)
        contra = t_above(estimate, bound.high)
    else:
        agree = t_above(estimate, bound.low)
        contra = t_below(estimate, bound.low)
    return Weighed(
        labels=labels,
        repetitions=repetitions,
        left_out=left_out,
        estimate=estimate.mean,
        interval=t_interval(estimate),
        n=1 if estimate.se == 0 else repetitions,
        agree=agree,
        contra=contra,
        excess=float(bound.excess(estimate.mean)),
        tested=estimate.df > 0 and estimate.se > 0,
    )


def _loss(labels: Content, values: Vector, level: float, left_out: int) -> Weighed:
    """Decide whether a mean is significantly above 0, by a two-sided paired t-test.

    A mean that is not passes only if there are enough repetitions to find a loss.
    """
    estimate = mean_se(values)
    p_of_loss = t_above(estimate)
    is_loss = p_of_loss < level / 2
    can_pass = can_find_losses(values, level)
    return Weighed(
        labels=labels,
        repetitions=values.size,
        left_out=left_out,
        estimate=estimate.mean,
        interval=t_interval(estimate),
        n=1 if estimate.se == 0 else values.size,
        agree=float(is_loss or not can_pass),
        contra=float(not is_loss),
        excess=level / 2 - p_of_loss,
        extra={
            "side": "above" if is_loss else "inside",
            "remark": "" if is_loss or can_pass else "few_for_losses",
        },
    )


def _ratio(labels: Content, a: Vector, b: Vector, left_out: int, bound: Bound) -> Weighed:
    """Test the ratio of two mean differences as Fieller does.

    The two ends of an interval have a Bonferroni correction.
    """
    ratio = float(a.mean() / b.mean()) if b.mean() != 0 else nan
    holds = []
    contras = []
    if bound.low > -inf:
        holds.append(ratio_above(a, b, bound.low))
        contras.append(ratio_below(a, b, bound.low))
    if bound.high < inf:
        holds.append(ratio_below(a, b, bound.high))
        contras.append(ratio_above(a, b, bound.high))
    divisor_may_be_zero = t_above(mean_se(b)) >= ALPHA
    return Weighed(
        labels=labels,
        repetitions=a.size,
        left_out=left_out,
        estimate=ratio,
        interval=ratio_interval(a, b),
        n=a.size,
        agree=max(holds),
        contra=min(1.0, len(contras) * min(contras)),
        excess=inf if isnan(ratio) else float(bound.excess(ratio)),
        tested=a.size > 1,
        extra={"remark": "divisor" if divisor_may_be_zero else ""},
    )


def _side(bound: Bound, estimate: float) -> str:
    """Say whether a value is ``inside`` the bound, ``below`` or ``above`` it."""
    if isnan(estimate):
        return ""
    if bound.met(estimate):
        return "inside"
    return "below" if estimate <= bound.low else "above"


class Result(NamedTuple):
    """The result of a check: p-values, the cells that decide them, and how many groups must pass.

    ``group_holds`` has the p-value of each group.
    """

    agree: float
    contra: float
    weakest: Weighed
    accused: Weighed
    group_holds: list[float]
    needed: int
    tested: bool

    def passing(self, level: float) -> int:
        """Count the groups whose corrected p-value is below a level.

        As many as are ``needed`` exactly if the p-value of the check is.
        """
        factor = len(self.group_holds) - self.needed + 1
        return sum(factor * p < level for p in self.group_holds)


def combine(groups: list[list[Weighed]], k: int) -> Result:
    """Combine the cells of a check: all cells of a group must hold, and at least k groups.

    It is an intersection-union test within a group and "at least k" across groups; for the
    contradiction the mirror image, with Bonferroni's correction within a group.
    """
    n_groups = len(groups)
    weakest = [max(cells, key=_weakness) for cells in groups]
    accused = [min(cells, key=_innocence) for cells in groups]
    blame = []
    for cells, cell in zip(groups, accused, strict=True):
        blame.append(min(1.0, len(cells) * cell.contra))
    by_blame = sorted(range(n_groups), key=lambda i: (blame[i], -accused[i].excess))
    holds = [cell.agree for cell in weakest]
    return Result(
        agree=at_least(holds, k),
        contra=at_least(blame, n_groups - k + 1),
        weakest=sorted(weakest, key=_weakness)[k - 1],
        accused=accused[by_blame[n_groups - k]],
        group_holds=holds,
        needed=k,
        tested=any(cell.tested for cell in chain.from_iterable(groups)),
    )


def _weakness(cell: Weighed) -> tuple[float, float]:
    return cell.agree, cell.excess


def _innocence(cell: Weighed) -> tuple[float, float]:
    return cell.contra, -cell.excess


def together(results: Sequence[Result]) -> tuple[Result, Result, float]:
    """Find the weakest check, the most violated one, and its p-value.

    The weakest decides by intersection and union; the p-value has Bonferroni's correction.
    """
    weakest = max(results, key=lambda result: result.agree)
    blamed = min(results, key=lambda result: result.contra)
    return weakest, blamed, min(1.0, len(results) * blamed.contra)


# Findings: everything about a verdict but the corrections over the artifact


@dataclass(frozen=True)
class Finding:
    """A published value or claim before it has a verdict.

    Attributes
    ----------
    row : mapping
        What its row says already.
    figures : callable
        ``figures(verdict, factor)`` are the columns that go with a verdict, where ``factor``
        multiplies the p-values that decide.
    agree, contra : float
        p-values.
    family_wise : bool
        The verdict rests on p-values corrected by Holm's method.
    tested : bool
        False where nothing is left to chance.
    fixed : str
        A verdict without p-values, or "".
    barred : bool
        Nothing may be compared.
    new : sequence of Result
        The checks for new points.
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
        """Decide by two p-values, if the verdict is not fixed."""
        if self.fixed:
            return self.fixed
        if agree < ALPHA:
            return REPRODUCED
        return NOT_REPRODUCED if contra < ALPHA else INCONCLUSIVE

    def shows(self, agree: float, contra: float) -> str:
        """Give the verdict by these two p-values, or "" if it stays open."""
        verdict = self.verdict(agree, contra)
        return "" if verdict == INCONCLUSIVE else verdict


def _absent(finding: Finding, scale: str, error: MissingRows) -> Finding:
    """Record missing rows, or raise the error if rows must not be missing.

    They are an error at full scale, or if no scale has them; not of what is not comparable.
    """
    reason = finding.row["reason"]
    if not reason and (scale == "full" or isinstance(error, NeverTogether)):
        raise error
    return replace(
        finding,
        row=finding.row | {"missing": str(error)},
        tested=False,
        fixed=NOT_JUDGED if scale == "part" else "",
        barred=bool(reason),
    )


def _published(row: Content, entry: Asked, source: Source, scale: str) -> Finding:
    """Compare our mean with a published one; without a published error it counts as exact."""
    df = row["published_df"]
    theirs = Estimate(row["published"], row["published_se"], inf if isnan(df) else df)
    margin = row["margin"]
    selector = entry["where"]
    try:
        rows = select(source.rows, selector)
        unnamed(rows, {"repetition", *selector})
        values, left_out = by_repetition(rows)
    except MissingRows as error:
        return _absent(Finding(row), scale, error)
    outliers = source.skewed(selector)
    ours = mean_se(values, outliers == "far")
    n = values.size
    if ours.se == 0:
        ours = ours._replace(df=inf)
        n = 1
    gap = welch(ours, theirs)
    if isclose(ours.mean, theirs.mean, rel_tol=ROUNDING):
        gap = gap._replace(mean=0.0)

    remark = outliers if 1 < values.size < SEEN else ""
    if remark == "few" and n == 1:
        remark = ""
    agree = tost(gap, -margin, margin)
    contra = outside(gap, -margin, margin)
    is_decided = min(agree, contra) < ALPHA
    fixed = INCONCLUSIVE if gap.df == 0 or remark == "few" else ""
    if remark == "far":
        outlying = source.find_outlying(selector)
        is_far = _outlying_repetitions(rows, outlying)
        agree, contra = compare_in_two_parts(values, is_far, theirs, margin, outlying)
    elif gap.se == 0 and not fixed:
        fixed = REPRODUCED if abs(gap.mean) <= margin else NOT_REPRODUCED
    is_shown = not fixed and min(agree, contra) < ALPHA
    is_provisional = remark != "" and is_decided and not is_shown

    n_needed = needed(ours, theirs, n, margin)
    if remark and not is_shown:
        n_needed = max(n_needed, SEEN)
    ci_low, ci_high = t_interval(ours)
    difference_low, difference_high = t_interval(gap)
    figures: Content = {
        "ci_low": ci_low,
        "ci_high": ci_high,
        "difference_low": difference_low,
        "difference_high": difference_high,
        "repetitions": values.size,
        "left_out": left_out or nan,
        "estimate": ours.mean,
        "n": n,
        "difference": gap.mean,
        "remark": remark,
        "flags": PROVISIONAL if is_provisional else "",
        "side": _side(Bound("within", -margin, margin), gap.mean),
        "n_needed": n_needed,
    }
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
    """Decide for each repetition that `by_repetition` keeps whether it has an outlying run."""
    flags, _ = by_repetition(rows.assign(value=outlying.is_far[rows.index].astype(float)))
    return flags > 0


def needed(ours: Estimate, theirs: Estimate, n: int, margin: float) -> float:
    """Count the repetitions that decide the verdict in 80 % of the runs, for D as estimated.

    It is inf where none suffice, because even our exact value would be decided less often:
    the published mean is too imprecise for this margin. It is NaN for one realisation, whose spread
    is not known.
    """
    if n <= 1 or isnan(ours.se) or ours.se == inf:
        return nan

    def power(repetitions: float) -> float:
        df = repetitions - 1 if ours.se > 0 else inf
        imagined = Estimate(ours.mean, ours.se * sqrt(n / repetitions), df)
        return decided(welch(imagined, theirs), margin)

    if power(inf) < POWER:
        return inf
    low = 1
    high = 2
    while power(high) < POWER:
        low = high
        high = 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        if power(middle) >= POWER:
            high = middle
        else:
            low = middle
    return high


def decided(gap: Estimate, margin: float) -> float:
    """Compute P(reproduced or not at the 5 % level) for a normal estimate around this gap."""
    if gap.se == 0:
        return 1.0
    quantile = stdtrit(gap.df, 1 - ALPHA) if gap.df < inf else ndtri(1 - ALPHA)
    reach = float(quantile) * gap.se
    inner = margin - reach
    outer = margin + reach
    z_above = (gap.mean - outer) / gap.se
    z_below = (-gap.mean - outer) / gap.se
    z_inner_high = (inner - gap.mean) / gap.se
    z_inner_low = (-inner - gap.mean) / gap.se
    p_within = ndtr(z_inner_high) - ndtr(z_inner_low)
    return float(max(0.0, p_within) + ndtr(z_above) + ndtr(z_below))


def _claim(row: Content, entry: Asked, source: Source, scale: str) -> Finding:
    """Combine the checks of a claim."""
    checks = entry["checks"]
    row = row | {"checks": len(checks)}
    finding = Finding(row, family_wise=True)
    results = list[Result]()
    new_results = list[Result]()
    substitutes = set[str]()
    for number, check in enumerate(checks, start=1):
        try:
            rows, groups = grouped(source, check)
            needed_groups = count_needed(check, len(groups))
            if needed_groups > len(groups):
                problem = f"needs {needed_groups} groups, but there are only {len(groups)}"
                raise MissingRows(f"at_least: {problem}")
            if needed_groups < 1:
                problem = f"allows {check['at_most']} losses in {len(groups)} groups"
                raise MissingRows(f"at_most: {problem}; give a smaller number")
            cells = [_cells(labels, part, check) for labels, part in groups]
        except MissingRows as error:
            return _absent(finding, scale, type(error)(f"check {number}: {error}"))
        except VerdictError as error:
            raise VerdictError(f"check {number}: {error}") from None
        substitutes.update(substituted(rows))
        results.append(combine(cells, needed_groups))
        if added_errors := pools(source, check, groups):
            new_cells = _cells_for_new_points(groups, added_errors, check)
            new_results.append(combine(new_cells, needed_groups))
    weakest, blamed, contra = together(results)

    def figures(verdict: str, factor: int) -> Content:
        if verdict == NOT_REPRODUCED:
            result = blamed
            cell = blamed.accused
        else:
            result = weakest
            cell = weakest.weakest
        number = results.index(result)
        check = checks[number]
        columns: Content = {
            "check": as_json(check),
            "number": number + 1,
            "groups": len(result.group_holds),
            "passing": result.passing(ALPHA / factor),
            "needed": result.needed if {"at_least", "at_most"} & check.keys() else nan,
        }
        if entry.get("theorem") and verdict == REPRODUCED:
            columns["flags"] = EXACT
        return columns | cell.columns(Bound.from_check(check))

    has_new_points = len(new_results) == len(results)
    return replace(
        finding,
        row=row | {"stand_in": as_json(sorted(substitutes))},
        figures=figures,
        agree=weakest.agree,
        contra=contra,
        tested=any(result.tested for result in results),
        barred=bool(substitutes or row["reason"]),
        new=new_results if has_new_points else (),
    )


def _cells(labels: Content, rows: pd.DataFrame, check: Asked) -> list[Weighed]:
    """Weigh the cells of a group, see `cells_of`."""
    return [_weighed(labels | extra, part, check) for extra, part in cells_of(rows, check)]


def _cells_for_new_points(
    groups: Groups, added_errors: Sequence[Estimate], check: Asked
) -> list[list[Weighed]]:
    """Weigh each group as one cell, with the error that the choice of the pool adds to its mean."""
    cells = []
    for (labels, part), added in zip(groups, added_errors, strict=True):
        values, _ = by_repetition(part)
        estimate = for_new_points(mean_se(values), added)
        cells.append([_mean(labels, estimate, Bound.from_check(check), 0)])
    return cells


# Corrections for multiplicity, and the rows


def _decided(findings: Sequence[Finding]) -> list[Content]:
    """Make a row of each finding, with what survives the corrections for multiplicity.

    The family of the corrections are the findings that rest on a test and may be compared.
    """
    family = [finding for finding in findings if finding.tested and not finding.barred]
    corrections = iter(_corrections(family))
    rows = []
    for finding in findings:
        if finding.barred or not finding.tested:
            row = _row_without_correction(finding)
        else:
            row = _row_with_correction(finding, next(corrections), len(family))
        if finding.barred:
            measured = "" if isnan(row["estimate"]) else row["verdict"]
            row |= {
                "verdict": NOT_COMPARABLE,
                "otherwise": measured,
                "holm": "",
                "bh": "",
                "flags": "",
            }
        rows.append(row)
    return rows


class Correction(NamedTuple):
    """Correct the p-values of a finding by Holm's and by Benjamini's procedure.

    factor : what Holm's method multiplies the first p-value of the claim with.
    """

    holm: tuple[float, float]
    bh: tuple[float, float]
    factor: int


def _corrections(family: Sequence[Finding]) -> list[Correction]:
    agree = [finding.agree for finding in family]
    contra = [finding.contra for finding in family]
    by_holm = zip(holm(agree), holm(contra), strict=True)
    by_bh = zip(benjamini_hochberg(agree), benjamini_hochberg(contra), strict=True)
    corrections = []
    for i, (holm_pair, bh_pair) in enumerate(zip(by_holm, by_bh, strict=True)):
        factor = holm_factor(agree, i, ALPHA) if family[i].family_wise else 1
        corrections.append(Correction(holm_pair, bh_pair, factor))
    return corrections


def _row_without_correction(finding: Finding) -> Content:
    verdict = finding.verdict(finding.agree, finding.contra)
    shown = finding.shows(finding.agree, finding.contra)
    return _row(finding, verdict, finding.figures(verdict, 1) | {"holm": shown, "bh": shown})


def _row_with_correction(finding: Finding, correction: Correction, family_size: int) -> Content:
    if finding.family_wise:
        verdict = finding.verdict(*correction.holm)
    else:
        verdict = finding.verdict(finding.agree, finding.contra)
    adjusted_agree, adjusted_contra = correction.holm
    columns: Content = {
        "holm": finding.shows(*correction.holm),
        "bh": finding.shows(*correction.bh),
        "p_agree": finding.agree,
        "p_contra": finding.contra,
        "p_adjusted": adjusted_contra if verdict == NOT_REPRODUCED else adjusted_agree,
        "family": family_size,
    }
    return _row(finding, verdict, finding.figures(verdict, correction.factor) | columns)


def _row(finding: Finding, verdict: str, figures: Content) -> Content:
    return BLANK | finding.row | figures | {"verdict": verdict}


def _add_controls(
    rows: list[Content],
    findings: Sequence[Finding],
    artifact: Asked,
    source: Source,
) -> None:
    """Add the power of each claim and how many other methods pass.

    A claim that is too strict cannot be confirmed.
    """
    p_values = {}
    counts = []
    for row, finding, claim in zip(rows, findings, artifact["claims"], strict=True):
        if finding.tested and not finding.barred:
            p_values[row["id"]] = finding.agree
        elif not finding.barred and any(map(counts_losses, claim["checks"])):
            counts.append(row["id"])
    powers = simulate_power(artifact, source, p_values, counts)
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
    """Decide whether each other method passes the checks of a claim, without a correction."""
    passes = []
    source = source._replace(names=None, curves=[])  # no check is about new points
    for variant in replace_method(claim, methods):
        try:
            finding = _claim({"reason": ""}, variant, source, "part")
        except VerdictError:
            continue
        if not finding.fixed:
            passes.append(finding.agree < ALPHA)
    return passes


def _credit_weaker_forms(rows: list[Content]) -> None:
    """Make a claim partially reproduced where only a weaker form is reproduced.

    The column ``otherwise`` keeps its own verdict.
    """
    weaker_forms = [row for row in rows if row["form_of"]]
    confirmed = {row["form_of"] for row in weaker_forms if row["verdict"] == REPRODUCED}
    for row in rows:
        is_open = row["verdict"] in (INCONCLUSIVE, NOT_REPRODUCED)
        if row["id"] in confirmed and is_open and row["flags"] != TOO_STRICT:
            row |= {"otherwise": row["verdict"], "verdict": PARTIALLY_REPRODUCED}


def _mark_other_data(rows: Sequence[Content], claims: Sequence[Asked]) -> None:
    """Add a flag to the claims that have a verdict without all data sets of the paper."""
    for row, claim in zip(rows, claims, strict=True):
        if claim.get("data_differ") and row["verdict"] not in (NOT_COMPARABLE, NOT_JUDGED):
            row["flags"] = " ".join(filter(None, [row["flags"], DATA_DIFFER]))


def _add_new_points(
    findings: Sequence[Finding],
    rows: Sequence[Content],
    scale: str,
) -> list[Content]:
    """Add the columns `NEW_POINTS` to the claims whose errors were kept point by point.

    Holm's correction is over these claims.
    """
    has_columns = []
    for finding, row in zip(findings, rows, strict=True):
        has_columns.append(bool(finding.new) and row["verdict"] != NOT_COMPARABLE)
    new_results = [finding.new for finding in compress(findings, has_columns)]
    columns = iter(_columns_for_new_points([together(new) for new in new_results], scale))
    return [row | next(columns) if new else row for row, new in zip(rows, has_columns, strict=True)]


def _columns_for_new_points(
    results: Sequence[tuple[Result, Result, float]],
    scale: str,
) -> list[Content]:
    p_agree = holm([weakest.agree for weakest, _, _ in results])
    p_contra = holm([contra for _, _, contra in results])
    columns = []
    for (weakest, blamed, _), agree, contra in zip(results, p_agree, p_contra, strict=True):
        verdict = INCONCLUSIVE
        cell = weakest.weakest
        p = agree
        if agree < ALPHA:
            verdict = REPRODUCED
        elif contra < ALPHA:
            verdict = NOT_REPRODUCED
            cell = blamed.accused
            p = contra
        if scale not in JUDGED:
            verdict = RAN
            p = nan
        figures = (verdict, p, cell.estimate, *cell.interval, as_json(cell.labels))
        columns.append(dict(zip(NEW_POINTS, figures, strict=True)))
    return columns


# Files


def judge_files(
    artifacts: Sequence[Path], tables: Sequence[Path], scale: str, labels: Iterable[Path] = ()
) -> pd.DataFrame:
    """Judge several artifacts; the columns paper and artifact come first.

    Parameters
    ----------
    artifacts : sequence of Path
        Files ``<paper>/<artifact>.yaml``, with their ``.published.csv`` files next to them.
    tables : sequence of Path
        Their result tables, in the same order; next to each, if it is there, ``points.npz``.
    scale : str
        See `judge`.
    labels : iterable of Path
        Prepared data sets, for the error of a constant classifier.

    Returns
    -------
    DataFrame
        Rows of `VERDICT_COLUMNS`.

    Raises
    ------
    VerdictError
        As `judge`, and names the file; or a table is not the one of its record.
    """
    constant = constant_errors(labels)
    verdicts = list[pd.DataFrame]()
    for artifact, table in zip(artifacts, tables, strict=True):
        content = _content(artifact)
        rows = _verified(table, read_table)
        points_file = table.with_name("points.npz")
        points = _verified(points_file, Points.read) if points_file.is_file() else None
        try:
            frame = judge(content, rows, scale, points)
        except VerdictError as error:
            raise type(error)(f"{artifact}: {error}") from None
        datasets = [str(value(cell).get("dataset")) for cell in frame["where"]]
        frame["constant_error"] = [constant.get(dataset, nan) for dataset in datasets]
        if scale == "part":
            frame["part"] = _describe_part(rows)
        if len(frame):
            verdicts.append(of_artifact(frame, artifact.parent.name, artifact.stem))
    if not verdicts:
        return pd.DataFrame(columns=["paper", "artifact", *VERDICT_COLUMNS])
    return pd.concat(verdicts, ignore_index=True)


def _describe_part(rows: pd.DataFrame) -> str:
    """Write which data sets a partial run has, and how many repetitions."""
    datasets = ", ".join(filter(None, map(str, rows["dataset"].unique())))
    return f"{datasets}; repetitions: {rows['repetition'].nunique()}"


def of_artifact(frame: pd.DataFrame, paper: str, artifact: str) -> pd.DataFrame:
    """Put the columns paper and artifact first."""
    return frame.assign(paper=paper, artifact=artifact)[["paper", "artifact", *frame]]


def constant_errors(files: Iterable[Path]) -> dict[str, float]:
    """Compute the error of a classifier that always names the larger class, for each data set.

    Parameters
    ----------
    files : iterable of Path
        Prepared data sets.

    Returns
    -------
    dict
        Name of a data set -> share of its labels that are wrong.
    """
    errors = {}
    for file in files:
        with np.load(file, allow_pickle=False) as arrays:
            if "y" in arrays.files:
                _, counts = np.unique(arrays["y"], return_counts=True)
                share_of_largest = float(counts.max() / counts.sum())
                errors[file.name.partition(".")[0]] = 1 - share_of_largest
    return errors


def write(table: pd.DataFrame, path: str | Path, digits: str = "%.6g") -> None:
    """Write as CSV with six digits and "\\n"; the same table gives the same bytes."""
    table.to_csv(path, index=False, float_format=digits, lineterminator="\n", encoding="utf-8")


def _verified(file: Path, reader: Callable[[Path], T]) -> T:
    """Read a table, or the points next to it, if it is still the one that its record describes."""
    try:
        verify(file)
        return reader(file)
    except ValueError as error:
        raise VerdictError(str(error)) from None


def _content(artifact: Path) -> Content:
    """Read an artifact file, with the published values listed in place of the rule for them."""
    try:
        content = expanded(artifact)
        if "published" in content:
            content["published"] = read_published(artifact, content["published"])
        return content
    except ValueError as error:
        raise VerdictError(str(error)) from None
