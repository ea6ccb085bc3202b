"""From findings to verdicts: the correction for multiplicity and the rows of the verdict table."""

from collections.abc import Callable
from dataclasses import dataclass
from math import isnan, nan
from typing import Any, NamedTuple

from noisylabels.statistics import holm

ALPHA = 0.05
VERDICT_COLUMNS = [
    "id",
    "kind",
    "statement",
    "expected",
    "verdict",
    "estimate",
    "ci_low",
    "ci_high",
    "published",
    "margin",
    "p_adjusted",
    "n",
    "evidence",
]


class Reading(NamedTuple):
    """The figures behind a verdict and the sentence that says them."""

    estimate: float
    interval: tuple[float, float]
    n: int
    sentence: str


@dataclass(frozen=True)
class Finding:
    """A published value or claim before the correction for multiplicity.

    ``words`` are its verdicts when it agrees, stays open, contradicts; ``read`` gives the figures behind one
    of them; ``agree`` and ``contra`` are p-values; ``tested`` is False where nothing is left to chance;
    ``settled`` is a verdict without p-values; ``barred`` says why no verdict is possible.
    """

    row: dict[str, Any]
    words: tuple[str, str, str]
    read: Callable[[str], Reading]
    agree: float = 1.0
    contra: float = 1.0
    tested: bool = True
    settled: str = ""
    barred: str = ""


def nothing(sentence: str) -> Reading:
    """A reading without figures."""
    return Reading(nan, (nan, nan), 0, sentence)


def _verdict(finding: Finding, agree: float, contra: float) -> str:
    if finding.settled:
        return finding.settled
    if agree < ALPHA:
        return finding.words[0]
    return finding.words[2] if contra < ALPHA else finding.words[1]


def decide(findings: list[Finding]) -> list[dict[str, Any]]:
    """Holm over the findings that rest on a test and may be compared; the others keep their own p-values."""
    family = [i for i, f in enumerate(findings) if f.tested and not f.barred]
    agree, contra = [f.agree for f in findings], [f.contra for f in findings]
    for p in (agree, contra):
        for i, adjusted in zip(family, holm([p[i] for i in family]), strict=True):
            p[i] = float(adjusted)
    return [_row(f, p, q, len(family)) for f, p, q in zip(findings, agree, contra, strict=True)]


def _row(finding: Finding, agree: float, contra: float, family: int) -> dict[str, Any]:
    verdict = _verdict(finding, agree, contra)
    reading = finding.read(verdict)
    if finding.barred:
        on_these = "" if isnan(reading.estimate) else f"; on these rows: {verdict}"
        evidence = f"{finding.barred}: {reading.sentence}{on_these}"
        return _figures(finding, reading) | {"verdict": "not comparable", "evidence": evidence}
    if not finding.tested:
        return _figures(finding, reading) | {"verdict": verdict, "evidence": reading.sentence}
    p = contra if verdict == finding.words[2] else agree
    evidence = f"{reading.sentence}; {_p(p)}" + (f" after Holm over {family}" if family > 1 else "")
    return _figures(finding, reading) | {"verdict": verdict, "p_adjusted": p, "evidence": evidence}


def reduced(findings: list[Finding], scale: str) -> list[dict[str, Any]]:
    """Rows of a reduced run: figures, and "ran" for a verdict."""
    rows = []
    for finding in findings:
        reading = finding.read("")
        evidence = f"reduced run ({scale}): {reading.sentence}"
        rows.append(_figures(finding, reading) | {"verdict": "ran", "evidence": evidence})
    return rows


def _figures(finding: Finding, reading: Reading) -> dict[str, Any]:
    low, high = reading.interval
    figures = {"estimate": reading.estimate, "ci_low": low, "ci_high": high, "n": reading.n}
    return dict.fromkeys(VERDICT_COLUMNS, nan) | finding.row | figures


def with_interval(value: float, interval: tuple[float, float]) -> str:
    """``0.12 [0.11, 0.13]``."""
    low, high = interval
    return f"{value:.4g}" if isnan(low) else f"{value:.4g} [{low:.4g}, {high:.4g}]"


def _p(value: float) -> str:
    return "p < 0.0001" if value < 1e-4 else f"p = {value:.2g}"
