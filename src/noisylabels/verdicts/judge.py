"""Verdicts: one artifact's published values and claims against its result table.

Published value: inside / undecided / outside / not comparable, from D = ours − printed and the margin,
each by its own interval; what survives a correction over the artifact is marked beside it.
Claim: verified / holds / not shown / contradicted / not comparable, from the checks of the claim;
p-values are Holm-adjusted over the claims of the artifact. At a reduced scale every verdict is "ran".
``docs/verdicts.md`` explains all of it on one page.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from math import inf, isclose, isfinite, sqrt
from pathlib import Path
from typing import Any, TypeVar

import pandas as pd

from noisylabels.points import Points
from noisylabels.results import read_table, verify
from noisylabels.statistics import Estimate, mean_se, outside, t_interval, tost, welch
from noisylabels.strict_yaml import read
from noisylabels.verdicts import new_points
from noisylabels.verdicts.checks import Cell, Result, evaluate, unnamed
from noisylabels.verdicts.findings import (
    ALPHA,
    VERDICT_COLUMNS,
    Finding,
    Reading,
    decide,
    nothing,
    reduced,
    with_interval,
)
from noisylabels.verdicts.names import CELL, CLAIM, VERIFIED, MissingRows, VerdictError
from noisylabels.verdicts.published import read_entries
from noisylabels.verdicts.selection import ROUNDING, by_repetition, prepare, select
from noisylabels.verdicts.vocabulary import asked, describe, validate_theorem, words

T = TypeVar("T")
PUBLISHED_KEYS = ("id", "value", "se", "sd", "n", "where", "margin", "reason", "not_comparable")
CLAIM_KEYS = ("id", "statement", "expected", "checks", "theorem", "not_comparable")


def judge(artifact: Mapping[str, Any], table: pd.DataFrame, scale: str) -> pd.DataFrame:
    """Rows of `VERDICT_COLUMNS`, one per published value, then one per claim, in the order of the artifact.

    Parameters
    ----------
    artifact : mapping with the optional lists ``published`` and ``claims``.
    table : tidy result table (`results.COLUMNS`).
    scale : "full" gives verdicts; anything else gives "ran".

    Raises
    ------
    VerdictError : names the published value or claim, the offending key and what is available.
    """
    rows = prepare(table)
    done: list[dict[str, Any]] = []
    for kind, examine in (("published", _published), ("claim", _claim)):
        entries = artifact.get("published" if kind == "published" else "claims") or []
        findings = [_named(f"{kind} {e.get('id', '?')}", examine, rows, e, scale) for e in entries]
        done += reduced(findings, scale) if scale != "full" else decide(findings)
    return pd.DataFrame(done, columns=VERDICT_COLUMNS)


def write_verdicts(verdicts: pd.DataFrame, path: str | Path) -> None:
    """Write as CSV with six digits and "\\n"; the same verdicts give the same bytes."""
    verdicts.to_csv(path, index=False, float_format="%.6g", lineterminator="\n", encoding="utf-8")


def judge_files(artifacts: Sequence[Path], tables: Sequence[Path], scale: str) -> pd.DataFrame:
    """Verdicts of several artifacts: columns paper, artifact, those of `VERDICT_COLUMNS`, then new_points.

    Parameters
    ----------
    artifacts : files ``<paper>/<artifact>.yaml``, their ``.published.csv`` files beside them.
    tables : their result tables, in the same order; beside each, if it is there, ``points.npz``.

    Raises
    ------
    VerdictError : as `judge`; names the file; a table that is not the one of its provenance.
    """
    parts = [pd.DataFrame(columns=["paper", "artifact", *VERDICT_COLUMNS, "new_points"])]
    for artifact, table in zip(artifacts, tables, strict=True):
        content = content_of(artifact)
        rows = _verified(table, read_table)
        frame = _named(str(artifact), judge, content, rows, scale)
        points = table.with_name("points.npz")
        tested = _verified(points, Points.read) if points.is_file() else Points()
        frame = new_points.beside(frame, content.get("claims") or [], rows, tested, scale)
        frame.insert(0, "paper", artifact.parent.name)
        frame.insert(1, "artifact", artifact.stem)
        parts.append(frame)
    return pd.concat([part for part in parts if len(part)] or parts, ignore_index=True)


def _verified(file: Path, reader: Callable[[Path], T]) -> T:
    """What is in a table or in the points beside it, if it is still the one that its provenance records."""
    try:
        verify(file)
        return reader(file)
    except ValueError as error:
        raise VerdictError(str(error)) from None


def content_of(artifact: Path) -> dict[str, Any]:
    """An artifact file with the list of its printed values in place of their rule."""
    try:
        content: dict[str, Any] = read(artifact)
        if "published" not in content:
            return content
        return content | {"published": read_entries(artifact, content["published"])}
    except ValueError as error:
        raise VerdictError(str(error)) from None


def _named(name: str, examine: Callable[..., T], *arguments: Any) -> T:
    try:
        return examine(*arguments)
    except VerdictError as error:
        raise type(error)(f"{name}: {error}") from None


def _check_keys(entry: Mapping[str, Any], allowed: tuple[str, ...], required: tuple[str, ...]) -> None:
    if unknown := [key for key in entry if key not in allowed]:
        raise VerdictError(f"unknown key {unknown[0]!r}; allowed are {', '.join(allowed)}")
    if missing := [key for key in required if key not in entry]:
        raise VerdictError(f"the key {missing[0]!r} is missing")


# Published values


def printed_mean(entry: Mapping[str, Any]) -> Estimate:
    """The printed mean with its standard error, se or sd/sqrt(n); a number without error counts as exact."""
    if "sd" in entry and "n" not in entry:
        raise VerdictError("sd without n; give n, or the standard error se")
    if "sd" in entry and "se" in entry:
        raise VerdictError("give se or sd, not both")
    se = entry["sd"] / sqrt(entry["n"]) if "sd" in entry else entry.get("se", 0.0)
    return Estimate(float(entry["value"]), float(se), entry["n"] - 1 if se > 0 and "n" in entry else inf)


def _published(rows: pd.DataFrame, entry: Mapping[str, Any], scale: str) -> Finding:
    _check_keys(entry, PUBLISHED_KEYS, ("id", "value", "where", "margin", "reason"))
    printed, margin = printed_mean(entry), float(entry["margin"])
    if not 0 < margin < inf or not isfinite(printed.mean) or not 0 <= printed.se < inf:
        raise VerdictError(
            f"margin must be > 0, it and the printed numbers finite, got {margin:g}, {printed}"
        )
    start = {
        "id": entry["id"],
        "kind": "published",
        "statement": words({key: value for key, value in entry["where"].items() if value != ""}),
        "expected": f"{printed.mean:g} ± {margin:g} ({entry['reason']})",
        "published": printed.mean,
        "margin": margin,
    }
    finding = Finding(start, CELL, lambda *_: nothing(""))
    try:
        chosen = select(rows, entry["where"])
    except MissingRows as error:
        return _absent(finding, entry, scale, error)
    unnamed(chosen, {"repetition", *entry["where"]})
    return _compare(finding, chosen, printed, margin, entry.get("not_comparable", ""))


def _compare(
    finding: Finding, chosen: pd.DataFrame, printed: Estimate, margin: float, reason: str
) -> Finding:
    values, left_out = by_repetition(chosen)
    ours = mean_se(values)
    remarks = [f"{left_out} incomplete repetitions left out"] if left_out else []
    n = values.size
    if ours.se == 0:
        remarks.append(f"all {n} repetitions are equal: they count as one")
        ours, n = ours._replace(df=inf), 1
    gap = welch(ours, printed)
    if isclose(ours.mean, printed.mean, rel_tol=ROUNDING):
        gap = gap._replace(mean=0.0)
    settled, why = _settled(gap, margin)
    remarks += [why] if why else []
    interval = t_interval(ours)
    sentence = f"ours {with_interval(ours.mean, interval)} (n = {n}), printed {_plus(printed)}; "
    sentence += f"difference {with_interval(gap.mean, t_interval(gap))}, margin ±{margin:g}"
    stand_in = sorted(set(chosen.loc[chosen["stand_in"], "dataset"]))
    return replace(
        finding,
        read=lambda *_: Reading(ours.mean, interval, n, "; ".join([sentence, *remarks])),
        agree=tost(gap, -margin, margin),
        contra=outside(gap, -margin, margin),
        tested=not settled,
        settled=settled,
        barred=_bar(stand_in, reason),
    )


def _settled(gap: Estimate, margin: float) -> tuple[str, str]:
    """(state without a test, why): nothing varies, or nothing says how much it does."""
    inside, undecided, outside = CELL
    within = abs(gap.mean) <= margin
    if gap.df == 0:
        return undecided, f"one realisation, no test; it lies {'within' if within else 'beyond'} the margin"
    if gap.se == 0:
        return inside if within else outside, "compared without a test"
    return "", ""


# Claims


def _claim(rows: pd.DataFrame, entry: Mapping[str, Any], scale: str) -> Finding:
    _check_keys(entry, CLAIM_KEYS, ("id", "statement", "checks"))
    start = {
        "id": entry["id"],
        "kind": "claim",
        "statement": entry["statement"],
        "expected": entry.get("expected", ""),
    }
    words = (VERIFIED, *CLAIM[1:]) if entry.get("theorem") else CLAIM
    finding = Finding(start, words, lambda *_: nothing(""), family_wise=True)
    if not entry["checks"]:
        raise VerdictError("has no checks")
    validate_theorem(entry)
    results = []
    for number, check in enumerate(entry["checks"], start=1):
        try:
            results.append(evaluate(rows, check))
        except MissingRows as error:
            return _absent(finding, entry, scale, MissingRows(f"check {number}: {error}"))
        except VerdictError as error:
            raise VerdictError(f"check {number}: {error}") from None
    return _conclude(finding, entry, results)


def _conclude(finding: Finding, entry: Mapping[str, Any], results: list[Result]) -> Finding:
    """Intersection-union over the checks; Bonferroni for the contradiction."""
    weak = max(range(len(results)), key=lambda i: (results[i].hold, -i))
    blamed = min(range(len(results)), key=lambda i: (results[i].contra, i))

    def read(verdict: str, factor: int) -> Reading:
        i = blamed if verdict == "contradicted" else weak
        cell = results[i].accused if verdict == "contradicted" else results[i].weakest
        text = _check_sentence(entry["checks"][i], results[i], cell, ALPHA / factor)
        text += f"; check {i + 1} of {len(results)}" if len(results) > 1 else ""
        return Reading(cell.estimate, cell.interval, cell.n, text)

    stand_in = sorted({name for result in results for name in result.stand_in})
    return replace(
        finding,
        read=read,
        agree=results[weak].hold,
        contra=min(1.0, len(results) * results[blamed].contra),
        tested=any(result.tested for result in results),
        barred=_bar(stand_in, entry.get("not_comparable", "")),
    )


def _check_sentence(check: Mapping[str, Any], result: Result, cell: Cell, level: float) -> str:
    figure = with_interval(cell.estimate, cell.interval)
    text = f"{describe(check)} = {figure}, asked {asked(check)} (n = {cell.n})"
    if cell.label:
        text += f" at {cell.label}"
    if result.groups > 1 or "at_least" in check:
        text += f"; this one decides, {result.passing(level)} of {result.groups} groups pass"
        text += f", {result.asked} asked" if "at_least" in check else ""
    return f"{text}; {cell.remark}" if cell.remark else text


# Both


def _absent(finding: Finding, entry: Mapping[str, Any], scale: str, error: MissingRows) -> Finding:
    """Missing rows are an error at full scale, unless the entry is declared not comparable."""
    reason = entry.get("not_comparable", "")
    if scale == "full" and not reason:
        raise error
    return replace(finding, read=lambda *_: nothing(f"no rows for it: {error}"), tested=False, barred=reason)


def _bar(stand_in: list[str], reason: str) -> str:
    return "; ".join(filter(None, [f"stand-in data for {', '.join(stand_in)}" if stand_in else "", reason]))


def _plus(printed: Estimate) -> str:
    return f"{printed.mean:g} (se {printed.se:.2g})" if printed.se > 0 else f"{printed.mean:g}"
