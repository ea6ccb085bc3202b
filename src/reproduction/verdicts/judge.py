"""Verdicts: what follows from the estimates of an artifact for its published values and claims.

Published value: inside / undecided / outside / not comparable, from D = ours - published and the margin,
each by its own interval; what survives a correction over the artifact is marked beside it.
Claim: verified / holds / leaning for / leaning against / contradicted / not comparable, from its checks;
p-values are Holm-adjusted over the claims of the artifact. At a reduced scale every verdict is "ran".
Every cell of a check has two p-values: ``hold`` (small: the bound is met) and ``contra`` (small: it is
violated). A group holds when all its cells hold, a check when all its groups hold, or ``at_least`` so many.
A verdict is a row of `VERDICT_COLUMNS`: numbers, words of the artifact, JSON. See ``docs/verdicts.md``.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import compress
from math import inf, isclose, isnan, nan, sqrt
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import numpy as np
import pandas as pd
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
from reproduction import strict_yaml
from reproduction.artifact import expanded
from reproduction.results import read_table, verify
from reproduction.strict_yaml import Content
from reproduction.verdicts.claims import (
    CELL,
    CLAIM,
    LEANING,
    NOT_COMPARABLE,
    NOT_JUDGED,
    VERIFIED,
    Asked,
    Claim,
    MissingRows,
    PublishedValue,
    VerdictError,
    read_published,
)
from reproduction.verdicts.estimates import (
    COLUMNS,
    ROUNDING,
    Bound,
    Cell,
    Estimates,
    Measured,
    as_json,
    bound_of,
    digest,
    frame_of,
    measure,
    measured_part,
    value,
)
from reproduction.verdicts.per_point_errors import Points

T = TypeVar("T")
Before = Mapping[str, Mapping[str, Any]]
"""Id -> earlier row of verdicts, as text."""

ALPHA, POWER = 0.05, 0.8
NO_INTERVAL = (nan, nan)
NEW_POINTS = [f"new_points{part}" for part in ("", "_p", "_estimate", "_low", "_high", "_at")]
COLUMNS_IN_WORDS = """
id kind statement expected verdict estimate ci_low ci_high n repetitions published published_se published_df
margin difference difference_low difference_high where check number checks at worst side groups passing needed
rows violating left_out remark p_agree p_contra p_adjusted family holm bh stand_in reason otherwise missing
rule constant_error origin form_of found_after n_needed
"""
VERDICT_COLUMNS = [*COLUMNS_IN_WORDS.split(), *NEW_POINTS]
WORDS = "statement expected where check at worst side remark holm bh stand_in reason otherwise missing rule"
WORDS += " origin form_of found_after"
TEXT = [*WORDS.split(), "new_points", "new_points_at"]


def judge(artifact: Asked, table: pd.DataFrame, scale: str, points: Points | None = None) -> pd.DataFrame:
    """Rows of `VERDICT_COLUMNS`, one per published value, then one per claim, in the order of the artifact.

    Parameters
    ----------
    artifact : mapping with the optional lists ``published`` and ``claims``.
    table : tidy result table (`results.COLUMNS`).   points : errors that were kept point by point.
    scale : "full" gives verdicts; anything else gives "ran".

    Raises
    ------
    VerdictError : names the published value or claim, the offending key and what is available.
    """
    return _judged(artifact, table, scale, points)[0]


def _judged(
    artifact: Asked, table: pd.DataFrame, scale: str, points: Points | None
) -> tuple[pd.DataFrame, Estimates]:
    try:
        for entry in artifact.get("claims") or []:
            strict_yaml.check(Claim, entry, f"claim {entry.get('id', '?')}")
        for entry in artifact.get("published") or []:
            strict_yaml.check(PublishedValue, entry, f"published {entry.get('id', '?')}")
    except strict_yaml.ArtifactError as error:
        raise VerdictError(str(error)) from None
    estimates = measure(artifact, table, points)
    return decide(artifact, estimates, scale), estimates


def decide(
    artifact: Asked, estimates: Estimates, scale: str, kept: Iterable[Mapping[str, Any]] = ()
) -> pd.DataFrame:
    """The same from estimates.

    kept : earlier verdicts, rows of text. A claim whose estimates are lacking has the figures of its earlier
    row if it asks what it asked then; else its verdict is `NOT_JUDGED`, until the artifact has run again.
    """
    before = {row["id"]: row for row in kept}
    done: list[Content] = []
    for kind, key, find in (("published", "published", _published), ("claim", "claims", _claim)):
        findings = [
            _located(f"{kind} {entry['id']}", find, entry, estimates, scale, before)
            for entry in artifact.get(key) or []
        ]
        rows = _decided(findings) if scale == "full" else [_row(f, "ran", f.figures("", 1)) for f in findings]
        about = [_about(artifact, entry, kind) for entry in artifact.get(key) or []]
        new = _for_new_points(findings, rows, scale)
        done += [row | told | more for row, told, more in zip(rows, about, new, strict=True)]
    return pd.DataFrame(done, columns=VERDICT_COLUMNS)


def _about(artifact: Asked, entry: Asked, kind: str) -> Content:
    """Whose it is: a claim says so; an artifact of ours that judges a published value again is ours."""
    owner = artifact if kind == "published" else entry
    return {"origin": owner.get("origin", "paper")} | {
        k: entry.get(k, "") for k in ("form_of", "found_after")
    }


def _located(place: object, find: Callable[..., T], *arguments: Any) -> T:
    try:
        return find(*arguments)
    except VerdictError as error:
        raise type(error)(f"{place}: {error}") from None


# A cell under the bound of its check, and checks


class Weighed(NamedTuple):
    """A cell under a bound: two p-values, small if it is met (``hold``) or violated (``contra``)."""

    cell: Cell
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
        found = {"estimate": self.estimate, "n": self.n, "at": as_json(self.cell.at)} | (self.more or {})
        found |= dict(zip(("ci_low", "ci_high"), self.interval, strict=True))
        return found | {"side": _side(bound, self.estimate)} | _counts(self.cell)


def _weighed(cell: Cell, bound: Bound, check: Asked) -> Weighed:
    if cell.kind == "ratio":
        return _ratio(cell, bound)
    if cell.kind == "every":
        worst = max(("low", "high"), key=lambda end: float(bound.excess(cell.more[end])))
        same, met = cell.more["bound"] == bound_of(check), bool(bound.met(cell.more[worst]))
        count = 0 if met else cell.more["violating"] if same else nan
        at = as_json(cell.more[f"{worst}_at"])
        more = {"rows": cell.more["rows"], "violating": count, "worst": at}
        return _untested(cell, bound, cell.more[worst], more)
    if cell.kind == "relative_se":
        mean, se, df = cell.estimate
        unknown = df == 0 or mean == 0
        more = {"remark": "mean is 0" if unknown and df != 0 else ""}
        return _untested(cell, bound, nan if unknown else se / abs(mean), more)
    return _mean(cell, cell.estimate, bound)


def _untested(cell: Cell, bound: Bound, estimate: float, more: Content) -> Weighed:
    """A number that meets the bound or does not; NaN shows nothing."""
    if estimate != estimate:
        return Weighed(cell, nan, NO_INTERVAL, cell.repetitions, 1.0, 1.0, inf, more=more)
    met, excess = bool(bound.met(estimate)), float(bound.excess(estimate))
    p = float(not met), float(met)
    return Weighed(cell, estimate, NO_INTERVAL, cell.repetitions, *p, excess, more=more)


def _mean(cell: Cell, estimate: Estimate, bound: Bound) -> Weighed:
    """Paired t-test over the repetitions."""
    if bound.kind == "within":
        hold, contra = tost(estimate, bound.low, bound.high), outside(estimate, bound.low, bound.high)
    elif bound.kind == "below":
        hold, contra = t_below(estimate, bound.high), t_above(estimate, bound.high)
    else:
        hold, contra = t_above(estimate, bound.low), t_below(estimate, bound.low)
    n = 1 if estimate.se == 0 else cell.repetitions
    excess, tested = float(bound.excess(estimate.mean)), estimate.df > 0 and estimate.se > 0
    return Weighed(cell, estimate.mean, t_interval(estimate), n, hold, contra, excess, tested)


def _ratio(cell: Cell, bound: Bound) -> Weighed:
    """Ratio of two mean differences, tested as Fieller does; Bonferroni over the two ends of an interval."""
    a, b = np.array(cell.more["a"]), np.array(cell.more["b"])
    ratio = float(a.mean() / b.mean()) if b.mean() != 0 else nan
    holds, ends = [], []
    if bound.low > -inf:
        holds, ends = [ratio_above(a, b, bound.low)], [ratio_below(a, b, bound.low)]
    if bound.high < inf:
        holds, ends = [*holds, ratio_below(a, b, bound.high)], [*ends, ratio_above(a, b, bound.high)]
    p = max(holds), min(1.0, len(ends) * min(ends))
    excess = float(bound.excess(ratio)) if ratio == ratio else inf
    more = {"remark": "divisor" if t_above(mean_se(b)) >= ALPHA else ""}
    return Weighed(cell, ratio, ratio_interval(a, b), a.size, *p, excess, a.size > 1, more)


def _side(bound: Bound, estimate: float) -> str:
    """``inside`` the bound, or ``below`` or ``above`` it."""
    if estimate != estimate:
        return ""
    return "inside" if bound.met(estimate) else "below" if estimate <= bound.low else "above"


def _counts(cell: Cell) -> Content:
    return {"repetitions": cell.repetitions, "left_out": cell.left_out or nan}


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

    ``words`` are its verdicts when it agrees, stays open, contradicts. ``figures(verdict, factor)`` are the
    columns that go with one of them, where ``factor`` multiplies the p-values that decide. ``agree`` and
    ``contra`` are p-values; ``family_wise`` says that the verdict is by Holm's p-values instead of its own;
    ``tested`` is False where nothing is left to chance; ``fixed`` is a verdict without p-values; ``barred``:
    nothing may be compared; ``new`` has the checks for new points.
    """

    row: Content
    words: tuple[str, str, str]
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
            return self.fixed or self.words[0]
        return self.words[2] if contra < ALPHA else self.words[1]

    def shows(self, agree: float, contra: float) -> str:
        """What these two p-values show: the verdict, or "" if it stays open."""
        verdict = self.verdict(agree, contra)
        return "" if verdict in (self.words[1], NOT_JUDGED, *LEANING.values()) else verdict


def _absent(finding: Finding, scale: str, missing: str) -> Finding:
    """Missing rows are an error at full scale, unless the entry is declared not comparable."""
    reason = finding.row["reason"]
    if scale == "full" and not reason:
        raise MissingRows(missing)
    return replace(finding, row=finding.row | {"missing": missing}, tested=False, barred=bool(reason))


def _same(found: Measured | None, check: Asked) -> Measured | None:
    """What was measured, if it is what is asked now."""
    return found if found and found.what == digest(measured_part(check)) else None


def _published(entry: Asked, estimates: Estimates, scale: str, before: Before) -> Finding:
    """Published mean with its standard error, se or sd/sqrt(n); without an error it counts as exact."""
    margin, se = float(entry["margin"]), entry.get("se", 0.0)
    if "sd" in entry:
        se = entry["sd"] / sqrt(entry["n"])
    theirs = Estimate(float(entry["value"]), float(se), entry["n"] - 1 if se > 0 and "n" in entry else inf)
    row: Content = {"id": entry["id"], "kind": "published", "where": as_json(entry["where"])}
    row |= {"margin": margin, "published": theirs.mean, "published_se": theirs.se}
    row |= {"published_df": theirs.df if theirs.df < inf else nan, "reason": entry.get("not_comparable", "")}
    found = _same(estimates.get((entry["id"], 0)), {"where": entry["where"]})
    if found is None:
        return Finding(row, CELL, fixed=NOT_JUDGED, tested=False)
    if found.missing:
        return _absent(Finding(row, CELL), scale, found.missing)
    ((cell,),) = found.groups
    ours, n = cell.estimate, cell.repetitions
    if ours.se == 0:
        ours, n = ours._replace(df=inf), 1
    gap = welch(ours, theirs)
    if isclose(ours.mean, theirs.mean, rel_tol=ROUNDING):
        gap = gap._replace(mean=0.0)
    fixed = CELL[1] if gap.df == 0 else ""
    if gap.se == 0 and not fixed:
        fixed = CELL[0] if abs(gap.mean) <= margin else CELL[2]
    names = ("ci_low", "ci_high", "difference_low", "difference_high")
    figures: Content = dict(zip(names, [*t_interval(ours), *t_interval(gap)], strict=True))
    figures |= _counts(cell) | {"estimate": ours.mean, "n": n, "difference": gap.mean}
    figures |= {"side": _side(Bound("within", -margin, margin), gap.mean)}
    figures |= {"n_needed": needed(ours, theirs, n, margin)}
    return Finding(
        row | {"stand_in": as_json(found.stand_in)},
        CELL,
        lambda *_: figures,
        agree=tost(gap, -margin, margin),
        contra=outside(gap, -margin, margin),
        tested=not fixed,
        fixed=fixed,
        barred=bool(found.stand_in or row["reason"]),
    )


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
    """P(inside or outside at the 5 % level), the estimate being normal around the gap that was found."""
    if gap.se == 0:
        return 1.0
    reach = float(stdtrit(gap.df, 1 - ALPHA) if gap.df < inf else ndtri(1 - ALPHA)) * gap.se
    inner, outer = margin - reach, margin + reach
    above, below = ((sign * gap.mean - outer) / gap.se for sign in (1, -1))
    within = max(0.0, ndtr((inner - gap.mean) / gap.se) - ndtr((-inner - gap.mean) / gap.se))
    return float(within + ndtr(above) + ndtr(below))


def _claim(entry: Asked, estimates: Estimates, scale: str, before: Before) -> Finding:
    row: Content = {"id": entry["id"], "kind": "claim", "statement": entry["statement"]}
    row |= {"rule": digest({key: entry.get(key) for key in ("checks", "theorem", "not_comparable")})}
    row |= {"expected": entry.get("expected", ""), "reason": entry.get("not_comparable", "")}
    row |= {"checks": len(entry["checks"])}
    words = (VERIFIED, *CLAIM[1:]) if entry.get("theorem") else CLAIM
    finding = Finding(row, words, family_wise=True)
    results, new, stand_in = list[Result](), list[Result](), set[str]()
    for number, check in enumerate(entry["checks"], start=1):
        found = _same(estimates.get((entry["id"], number)), check)
        if found is None:
            return _kept(finding, before.get(entry["id"], {}))
        needed, missing = check.get("at_least", len(found.groups)), found.missing
        if not missing and needed > len(found.groups):
            missing = f"at_least: {needed} asked, but there are only {len(found.groups)} groups"
        if missing:
            return _absent(finding, scale, f"check {number}: {missing}")
        stand_in.update(found.stand_in)
        bound = Bound.of(check)
        results.append(combine([[_weighed(cell, bound, check) for cell in g] for g in found.groups], needed))
        pools = [(cell, cell.pool) for group in found.groups for cell in group if cell.pool]
        if len(pools) == sum(map(len, found.groups)):
            both = [(cell, for_new_points(cell.estimate, pool)) for cell, pool in pools]
            new.append(combine([[_mean(cell, estimate, bound)] for cell, estimate in both], needed))
    weak, blamed, contra = together(results)

    def figures(verdict: str, factor: int) -> Content:
        result = blamed if verdict == CLAIM[2] else weak
        number = results.index(result)
        check = entry["checks"][number]
        about = {"check": as_json(check), "number": number + 1, "groups": len(result.group_holds)}
        about |= {"passing": result.passing(ALPHA / factor), "needed": check.get("at_least", nan)}
        chosen = result.accused if verdict == CLAIM[2] else result.weakest
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


def _kept(finding: Finding, row: Mapping[str, Any]) -> Finding:
    """A claim without estimates: as it was judged, if it asks what it asked then."""
    if row.get("rule") != finding.row["rule"]:
        return replace(finding, fixed=NOT_JUDGED, tested=False)
    words = "id kind verdict statement expected holm bh family p_adjusted origin form_of found_after n_needed"
    decided = words.split()
    figures: Content = {key: row[key] for key in VERDICT_COLUMNS if key not in decided}
    figures |= {key: float(cell or "nan") for key, cell in figures.items() if key not in TEXT}
    tested = row["p_agree"] != ""
    agree, contra = (float(row[key]) if tested else 1.0 for key in ("p_agree", "p_contra"))
    return replace(
        finding,
        figures=lambda *_: figures,
        agree=agree,
        contra=contra,
        tested=tested,
        fixed="" if tested else row["otherwise"] or row["verdict"],
        barred=row["verdict"] == NOT_COMPARABLE,
    )


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
            verdict, mark = finding.verdict(*own), finding.shows(*own)
            marks: Content = {"holm": mark, "bh": mark}
        else:
            verdict = finding.verdict(*(by_holm[i] if finding.family_wise else own))
            factor = holm_factor(agree, i, ALPHA) if finding.family_wise else 1
            adjusted = by_holm[i][1 if verdict == finding.words[2] else 0]
            marks = {"holm": finding.shows(*by_holm[i]), "bh": finding.shows(*by_bh[i])}
            marks |= {"p_agree": own[0], "p_contra": own[1], "p_adjusted": adjusted, "family": len(family)}
            i += 1
        row = _row(finding, verdict, finding.figures(verdict, factor) | marks)
        if finding.barred:
            measured = verdict if row["estimate"] == row["estimate"] else ""
            row |= {"verdict": NOT_COMPARABLE, "otherwise": measured, "holm": "", "bh": ""}
        rows.append(row)
    return rows


def _row(finding: Finding, verdict: str, figures: Content) -> Content:
    blank: Content = dict.fromkeys(VERDICT_COLUMNS, nan) | dict.fromkeys(TEXT, "")
    row = blank | finding.row | figures | {"verdict": verdict}
    return row | {"verdict": _leaning(verdict, row["side"])} if row["kind"] == "claim" else row


def _leaning(verdict: str, side: str) -> str:
    """The verdict of a claim; if it is undecided, on which side of the bound the estimate lies."""
    return LEANING.get(side, verdict) if verdict == CLAIM[1] else verdict


def _for_new_points(findings: Sequence[Finding], rows: Sequence[Content], scale: str) -> list[Content]:
    """Columns `NEW_POINTS` of claims whose errors were kept point by point; Holm's correction over them."""
    pairs = zip(findings, rows, strict=True)
    offered = [bool(finding.new) and row["verdict"] != NOT_COMPARABLE for finding, row in pairs]
    results = [together(finding.new) for finding in compress(findings, offered)]
    ps = zip(holm([weak.hold for weak, *_ in results]), holm([p for *_, p in results]), strict=True)
    found = []
    for (weak, blamed, _), (p, q) in zip(results, ps, strict=True):
        word = CLAIM[0] if p < ALPHA else CLAIM[2] if q < ALPHA else CLAIM[1]
        cell = blamed.accused if word == CLAIM[2] else weak.weakest
        word = _leaning(word, "inside" if cell.excess < 0 else "above")
        says = (word, q if word == CLAIM[2] else p) if scale == "full" else ("ran", nan)
        figures = (*says, cell.estimate, *cell.interval, as_json(cell.cell.at))
        found.append(dict(zip(NEW_POINTS, figures, strict=True)))
    columns = iter(found)
    return [next(columns) if each else {} for each in offered]


# Files


class Judged(NamedTuple):
    """Tables of several artifacts, each with the columns paper and artifact first."""

    verdicts: pd.DataFrame
    estimates: pd.DataFrame


def judge_files(
    artifacts: Sequence[Path], tables: Sequence[Path], scale: str, labels: Iterable[Path] = ()
) -> Judged:
    """Verdicts of several artifacts, and the estimates behind them.

    Parameters
    ----------
    artifacts : files ``<paper>/<artifact>.yaml``, their ``.published.csv`` files beside them.
    tables : their result tables, in the same order; beside each, if it is there, ``points.npz``.
    labels : prepared data sets, for the error of a constant classifier.

    Raises
    ------
    VerdictError : as `judge`; names the file; a table that is not the one of its provenance.
    """
    constant = constant_errors(labels)
    verdicts, kept = list[pd.DataFrame](), list[pd.DataFrame]()
    for artifact, table in zip(artifacts, tables, strict=True):
        content, points = _content(artifact), table.with_name("points.npz")
        rows = _verified(table, read_table)
        tested = _verified(points, Points.read) if points.is_file() else None
        frame, estimates = _located(artifact, _judged, content, rows, scale, tested)
        sets = [str(value(where).get("dataset")) for where in frame["where"]]
        frame["constant_error"] = [constant.get(name, nan) for name in sets]
        names = artifact.parent.name, artifact.stem
        verdicts.append(of_artifact(frame, *names))
        kept.append(of_artifact(frame_of(estimates), *names))
    return Judged(_joined(verdicts, VERDICT_COLUMNS), _joined(kept, COLUMNS))


def of_artifact(frame: pd.DataFrame, paper: str, artifact: str) -> pd.DataFrame:
    """The rows with the columns paper and artifact first."""
    return frame.assign(paper=paper, artifact=artifact)[["paper", "artifact", *frame]]


def _joined(parts: Iterable[pd.DataFrame], columns: Sequence[str]) -> pd.DataFrame:
    filled = [part for part in parts if len(part)]
    if not filled:
        return pd.DataFrame(columns=["paper", "artifact", *columns])
    return pd.concat(filled, ignore_index=True)


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


def write(table: pd.DataFrame, path: str | Path, digits: str | None = "%.6g") -> None:
    """Write as CSV with six digits (None: all) and "\\n"; the same table gives the same bytes."""
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
