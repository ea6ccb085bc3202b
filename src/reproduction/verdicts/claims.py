"""A claim against a table: its checks together, and the sentence of the one that decides."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pandas as pd

from reproduction.verdicts.cells import Cell, Result
from reproduction.verdicts.checks import evaluate
from reproduction.verdicts.findings import (
    ALPHA,
    Finding,
    Reading,
    absent,
    bar,
    check_keys,
    nothing,
    with_interval,
)
from reproduction.verdicts.names import CLAIM, VERIFIED, MissingRows, VerdictError
from reproduction.verdicts.vocabulary import asked, describe, validate_theorem

KEYS = ("id", "statement", "expected", "checks", "theorem", "not_comparable")


def examined(rows: pd.DataFrame, entry: Mapping[str, Any], scale: str) -> Finding:
    """What a prepared table says of a claim.

    Raises
    ------
    VerdictError : an unknown key, a check that cannot be judged; at full scale also rows that are missing.
    """
    check_keys(entry, KEYS, ("id", "statement", "checks"))
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
            return absent(finding, entry, scale, MissingRows(f"check {number}: {error}"))
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
        barred=bar(stand_in, entry.get("not_comparable", "")),
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
