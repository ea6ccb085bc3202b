"""Verdicts: what follows from the estimates of an artifact for its published values and claims.

Published value: inside / undecided / outside / not comparable, from D = ours - published and the margin,
each by its own interval; what survives a correction over the artifact is marked beside it.
Claim: verified / holds / not shown / contradicted / not comparable, from the checks of the claim;
p-values are Holm-adjusted over the claims of the artifact. At a reduced scale every verdict is "ran".
A verdict is a row of `VERDICT_COLUMNS`: numbers, words of the artifact, JSON. Its sentence is made by
`sentences.evidence` and by nothing else. ``docs/verdicts.md`` explains all of it on one page.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import inf, isclose, nan, sqrt
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import numpy as np
import pandas as pd

from noisylabels.statistics import (
    Estimate,
    benjamini_hochberg,
    holm,
    holm_factor,
    outside,
    t_interval,
    tost,
    welch,
)
from reproduction import strict_yaml
from reproduction.artifact import expanded
from reproduction.results import read_table, verify
from reproduction.verdicts.checks import (
    ALPHA,
    Result,
    Row,
    as_json,
    combine,
    counts_of,
    for_new,
    side_of,
    together,
    weighed,
)
from reproduction.verdicts.estimates import (
    COLUMNS,
    Bound,
    Estimates,
    Measured,
    digest,
    frame_of,
    measure,
    measured_part,
)
from reproduction.verdicts.models import Claim, PublishedValue
from reproduction.verdicts.names import (
    CELL,
    CLAIM,
    NOT_COMPARABLE,
    NOT_JUDGED,
    VERIFIED,
    Check,
    MissingRows,
    VerdictError,
)
from reproduction.verdicts.per_point_errors import Points
from reproduction.verdicts.published import read_entries
from reproduction.verdicts.selection import ROUNDING
from reproduction.verdicts.sentences import value

T = TypeVar("T")
NEW_POINTS = [f"new_points{part}" for part in ("", "_p", "_estimate", "_low", "_high", "_at")]
COLUMNS_IN_WORDS = """
id kind statement expected verdict estimate ci_low ci_high n repetitions published published_se published_df
margin difference difference_low difference_high where check number checks at worst side groups passing needed
rows violating left_out remark p_agree p_contra p_adjusted family holm bh stand_in reason otherwise missing
rule constant_error
"""
VERDICT_COLUMNS = [*COLUMNS_IN_WORDS.split(), *NEW_POINTS]
WORDS = "statement expected where check at worst side remark holm bh stand_in reason otherwise missing rule"
TEXT = [*WORDS.split(), "new_points", "new_points_at"]


def judge(
    artifact: Mapping[str, Any], table: pd.DataFrame, scale: str, points: Points | None = None
) -> pd.DataFrame:
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
    examine(artifact)
    return decide(artifact, measure(artifact, table, points), scale)


def decide(
    artifact: Mapping[str, Any], estimates: Estimates, scale: str, kept: Sequence[Mapping[str, Any]] = ()
) -> pd.DataFrame:
    """The same from estimates.

    kept : earlier verdicts, rows of text. A claim whose estimates are lacking has the figures of its earlier
    row if it asks what it asked then; else its verdict is `NOT_JUDGED`, until the artifact has run again.
    """
    before = {row["id"]: row for row in kept}
    done: list[Row] = []
    for kind, key, find in (("published", "published", _printed), ("claim", "claims", _claim)):
        findings = [
            _named(f"{kind} {entry['id']}", find, entry, estimates, scale, before)
            for entry in artifact.get(key) or []
        ]
        rows = _decided(findings) if scale == "full" else [_row(f, "ran", f.figures("", 1)) for f in findings]
        new = _for_new_points(findings, rows, scale)
        done += [row | more for row, more in zip(rows, new, strict=True)]
    return pd.DataFrame(done, columns=VERDICT_COLUMNS)


def _named(name: str, find: Callable[..., T], *arguments: Any) -> T:
    try:
        return find(*arguments)
    except VerdictError as error:
        raise type(error)(f"{name}: {error}") from None


def examine(artifact: Mapping[str, Any]) -> None:
    """Reject what cannot be judged as it is written, before any row is read.

    Raises
    ------
    VerdictError : names the published value or claim and the key.
    """
    try:
        for entry in artifact.get("claims") or []:
            strict_yaml.check(Claim, entry, f"claim {entry.get('id', '?')}")
        for entry in artifact.get("published") or []:
            strict_yaml.check(PublishedValue, entry, f"published {entry.get('id', '?')}")
    except strict_yaml.ArtifactError as error:
        raise VerdictError(str(error)) from None


# Findings: everything about a verdict but the corrections over the artifact


@dataclass(frozen=True)
class Finding:
    """A published value or claim before its verdict.

    ``words`` are its verdicts when it agrees, stays open, contradicts. ``figures(verdict, factor)`` are the
    columns that go with one of them, where ``factor`` multiplies the p-values that decide. ``agree`` and
    ``contra`` are p-values; ``family_wise`` says that the verdict is by Holm's p-values instead of its own;
    ``tested`` is False where nothing is left to chance; ``fixed`` is a verdict without p-values; ``barred``:
    nothing may be compared; ``new`` is the same for new points.
    """

    row: Row
    words: tuple[str, str, str]
    figures: Callable[[str, int], Row]
    agree: float = 1.0
    contra: float = 1.0
    family_wise: bool = False
    tested: bool = True
    fixed: str = ""
    barred: bool = False
    new: Result | None = None

    def verdict(self, agree: float, contra: float) -> str:
        """The verdict by these two p-values."""
        if self.fixed or agree < ALPHA:
            return self.fixed or self.words[0]
        return self.words[2] if contra < ALPHA else self.words[1]

    def shows(self, agree: float, contra: float) -> str:
        """What these two p-values show: the verdict, or "" if it stays open."""
        verdict = self.verdict(agree, contra)
        return "" if verdict in (self.words[1], NOT_JUDGED) else verdict


def _absent(finding: Finding, scale: str, missing: str) -> Finding:
    """Missing rows are an error at full scale, unless the entry is declared not comparable."""
    reason = finding.row["reason"]
    if scale == "full" and not reason:
        raise MissingRows(missing)
    return replace(finding, row=finding.row | {"missing": missing}, tested=False, barred=bool(reason))


def printed_mean(entry: Mapping[str, Any]) -> Estimate:
    """The published mean with its standard error, se or sd/sqrt(n); without an error it counts as exact."""
    se = entry["sd"] / sqrt(entry["n"]) if "sd" in entry else entry.get("se", 0.0)
    return Estimate(float(entry["value"]), float(se), entry["n"] - 1 if se > 0 and "n" in entry else inf)


def _printed(
    entry: Mapping[str, Any], estimates: Estimates, scale: str, before: Mapping[str, Mapping[str, Any]]
) -> Finding:
    printed, margin = printed_mean(entry), float(entry["margin"])
    row: Row = {"id": entry["id"], "kind": "published", "where": as_json(entry["where"]), "margin": margin}
    row |= {"published_df": printed.df if printed.df < inf else nan, "constant_error": nan}
    row |= {"published": printed.mean, "published_se": printed.se, "reason": entry.get("not_comparable", "")}
    finding = Finding(row, CELL, lambda *_: {})
    found = _same(estimates.get((entry["id"], 0)), {"where": entry["where"]})
    if found is None:
        return replace(finding, fixed=NOT_JUDGED, tested=False)
    if found.missing:
        return _absent(finding, scale, found.missing)
    ((cell,),) = found.groups
    ours, n = cell.estimate, cell.repetitions
    if ours.se == 0:
        ours, n = ours._replace(df=inf), 1
    gap = welch(ours, printed)
    if isclose(ours.mean, printed.mean, rel_tol=ROUNDING):
        gap = gap._replace(mean=0.0)
    fixed = ""
    if gap.df == 0:
        fixed = CELL[1]
    elif gap.se == 0:
        fixed = CELL[0] if abs(gap.mean) <= margin else CELL[2]
    (low, high), (start, stop) = t_interval(ours), t_interval(gap)
    figures: Row = {"estimate": ours.mean, "ci_low": low, "ci_high": high, "n": n} | counts_of(cell)
    figures |= {"difference": gap.mean, "difference_low": start, "difference_high": stop}
    figures |= {"side": side_of(Bound("within", -margin, margin), gap.mean)}
    return replace(
        finding,
        row=row | {"stand_in": as_json(found.stand_in)},
        figures=lambda *_: figures,
        agree=tost(gap, -margin, margin),
        contra=outside(gap, -margin, margin),
        tested=not fixed,
        fixed=fixed,
        barred=bool(found.stand_in or row["reason"]),
    )


def _claim(
    entry: Mapping[str, Any], estimates: Estimates, scale: str, before: Mapping[str, Mapping[str, Any]]
) -> Finding:
    asked = {key: entry.get(key) for key in ("checks", "theorem", "not_comparable")}
    row: Row = {"id": entry["id"], "kind": "claim", "statement": entry["statement"], "rule": digest(asked)}
    row |= {"expected": entry.get("expected", ""), "reason": entry.get("not_comparable", "")}
    row |= {"checks": len(entry["checks"])}
    words = (VERIFIED, *CLAIM[1:]) if entry.get("theorem") else CLAIM
    finding = Finding(row, words, lambda *_: {}, family_wise=True)
    results, stand_in, new = [], set[str](), []
    for number, check in enumerate(entry["checks"], start=1):
        found = _same(estimates.get((entry["id"], number)), check)
        if found is None:
            return _kept(finding, before.get(entry["id"], {}))
        if found.missing:
            return _absent(finding, scale, f"check {number}: {found.missing}")
        stand_in.update(found.stand_in)
        bound, needed = Bound.of(check), check.get("at_least", len(found.groups))
        if needed > len(found.groups):
            missing = f"at_least: {needed} asked, but there are only {len(found.groups)} groups"
            return _absent(finding, scale, f"check {number}: {missing}")
        groups = [[weighed(cell, bound, check) for cell in group] for group in found.groups]
        results.append(combine(groups, needed))
        cells = [cell for group in found.groups for cell in group]
        if all(cell.pool for cell in cells):
            new.append(combine([[for_new(cell, bound)] for cell in cells], needed))
    weak = max(range(len(results)), key=lambda i: (results[i].hold, -i))
    blamed = min(range(len(results)), key=lambda i: (results[i].contra, i))

    def figures(verdict: str, factor: int) -> Row:
        i = blamed if verdict == CLAIM[2] else weak
        check, result = entry["checks"][i], results[i]
        chosen = result.accused if verdict == CLAIM[2] else result.weakest
        about = {"check": as_json(check), "number": i + 1, "groups": len(result.group_holds)}
        about |= {"passing": result.passing(ALPHA / factor), "needed": check.get("at_least", nan)}
        return about | chosen.columns(Bound.of(check))

    return replace(
        finding,
        row=row | {"stand_in": as_json(sorted(stand_in))},
        figures=figures,
        agree=results[weak].hold,
        contra=min(1.0, len(results) * results[blamed].contra),
        tested=any(result.tested for result in results),
        barred=bool(stand_in or row["reason"]),
        new=together(new) if len(new) == len(results) else None,
    )


def _same(found: Measured | None, check: Check) -> Measured | None:
    """What was measured, if it is what is asked now."""
    return found if found and found.what == digest(measured_part(check)) else None


def _kept(finding: Finding, row: Mapping[str, Any]) -> Finding:
    """A claim without estimates: as it was judged, if it asks what it asked then."""
    if row.get("rule") != finding.row["rule"]:
        return replace(finding, fixed=NOT_JUDGED, tested=False)
    numbers = [column for column in VERDICT_COLUMNS if column not in (*TEXT, "id", "kind", "verdict")]
    figures: Row = {key: row[key] for key in TEXT if key not in ("statement", "expected", "holm", "bh")}
    figures |= {key: float(row[key]) if row[key] != "" else nan for key in numbers}
    for key in ("family", "p_adjusted"):
        figures.pop(key)
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


def _decided(findings: Sequence[Finding]) -> list[Row]:
    """A row for each; the family of the corrections are those that rest on a test and may be compared."""
    family = [f for f in findings if f.tested and not f.barred]
    agree, contra = [f.agree for f in family], [f.contra for f in family]
    by_holm = list(zip(holm(agree), holm(contra), strict=True))
    by_bh = list(zip(benjamini_hochberg(agree), benjamini_hochberg(contra), strict=True))
    rows, i = [], 0
    for finding in findings:
        own = finding.agree, finding.contra
        if finding.barred or not finding.tested:
            verdict, mark = finding.verdict(*own), finding.shows(*own)
            row = _row(finding, verdict, finding.figures(verdict, 1) | {"holm": mark, "bh": mark})
            if finding.barred:
                there = verdict if row["estimate"] == row["estimate"] else ""
                row |= {"verdict": NOT_COMPARABLE, "otherwise": there, "holm": "", "bh": ""}
            rows.append(row)
            continue
        verdict = finding.verdict(*(by_holm[i] if finding.family_wise else own))
        factor = holm_factor(agree, i, ALPHA) if finding.family_wise else 1
        adjusted = by_holm[i][1 if verdict == finding.words[2] else 0]
        marks: Row = {"holm": finding.shows(*by_holm[i]), "bh": finding.shows(*by_bh[i])}
        marks |= {"p_agree": own[0], "p_contra": own[1], "p_adjusted": adjusted, "family": len(family)}
        rows.append(_row(finding, verdict, finding.figures(verdict, factor) | marks))
        i += 1
    return rows


def _row(finding: Finding, verdict: str, figures: Row) -> Row:
    blank: Row = dict.fromkeys(VERDICT_COLUMNS, nan) | dict.fromkeys(TEXT, "")
    return blank | finding.row | figures | {"verdict": verdict}


def _for_new_points(findings: Sequence[Finding], rows: Sequence[Row], scale: str) -> list[Row]:
    """Columns `NEW_POINTS` of claims whose errors were kept point by point; Holm's correction over them."""
    offered = [f for f, row in zip(findings, rows, strict=True) if f.new and row["verdict"] != NOT_COMPARABLE]
    results = {f.row["id"]: f.new for f in offered if f.new}
    adjusted = [holm([getattr(each, side) for each in results.values()]) for side in ("hold", "contra")]
    found: dict[str, Row] = {}
    for (name, result), p, q in zip(results.items(), *adjusted, strict=True):
        word = CLAIM[0] if p < ALPHA else CLAIM[2] if q < ALPHA else CLAIM[1]
        cell = result.accused if word == CLAIM[2] else result.weakest
        says = (word, q if word == CLAIM[2] else p) if scale == "full" else ("ran", nan)
        figures = (*says, cell.estimate, *cell.interval, as_json(cell.cell.at))
        found[name] = dict(zip(NEW_POINTS, figures, strict=True))
    return [found.get(f.row["id"], {}) for f in findings]


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
    verdicts: list[pd.DataFrame] = []
    kept: list[pd.DataFrame] = []
    for artifact, table in zip(artifacts, tables, strict=True):
        content = content_of(artifact)
        rows, points = _verified(table, read_table), table.with_name("points.npz")
        tested = _verified(points, Points.read) if points.is_file() else None
        _named(str(artifact), examine, content)
        estimates = _named(str(artifact), measure, content, rows, tested)
        frame = _named(str(artifact), decide, content, estimates, scale)
        frame["constant_error"] = [
            constant.get(str(value(where).get("dataset")), nan) for where in frame["where"]
        ]
        for frames, part in ((verdicts, frame), (kept, frame_of(estimates))):
            part.insert(0, "paper", artifact.parent.name)
            part.insert(1, "artifact", artifact.stem)
            frames.append(part)
    return Judged(_joined(verdicts, VERDICT_COLUMNS), _joined(kept, COLUMNS))


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
            if "y" not in arrays.files:
                continue
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


def content_of(artifact: Path) -> dict[str, Any]:
    """An artifact file with the list of its published values in place of their rule."""
    try:
        content = expanded(artifact)
        if "published" not in content:
            return content
        return content | {"published": read_entries(artifact, content["published"])}
    except ValueError as error:
        raise VerdictError(str(error)) from None
