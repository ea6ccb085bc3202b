"""From findings to verdicts: p-values, corrections for multiplicity, and the rows of the verdict table."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import isnan, nan
from typing import Any, NamedTuple

from noisylabels.statistics import benjamini_hochberg, holm, holm_factor
from reproduction.verdicts.names import MissingRows, VerdictError

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
    "p_agree",
    "p_contra",
    "holm",
    "bh",
]


class Reading(NamedTuple):
    """The figures behind a verdict and the sentence that says them."""

    estimate: float
    interval: tuple[float, float]
    n: int
    sentence: str


@dataclass(frozen=True)
class Finding:
    """A published value or claim before its verdict.

    ``words`` are its verdicts when it agrees, stays open, contradicts; ``read`` gives the figures behind one
    of them, told the factor of the p-values that decides; ``agree`` and ``contra`` are p-values;
    ``family_wise`` says that the verdict is by Holm's p-values instead of its own; ``tested`` is False where
    nothing is left to chance; ``settled`` is a verdict without p-values; ``barred`` says why there is none.
    """

    row: dict[str, Any]
    words: tuple[str, str, str]
    read: Callable[[str, int], Reading]
    agree: float = 1.0
    contra: float = 1.0
    family_wise: bool = False
    tested: bool = True
    settled: str = ""
    barred: str = ""

    def verdict(self, agree: float, contra: float) -> str:
        """The verdict by these two p-values."""
        if self.settled:
            return self.settled
        if agree < ALPHA:
            return self.words[0]
        return self.words[2] if contra < ALPHA else self.words[1]

    def shown(self, agree: float, contra: float) -> str:
        """What these two p-values show: the verdict, or "" if it stays open."""
        verdict = self.verdict(agree, contra)
        return "" if verdict == self.words[1] else verdict


class Corrected(NamedTuple):
    """Both p-values of a finding by one correction over its family."""

    agree: float
    contra: float


def nothing(sentence: str) -> Reading:
    """A reading without figures."""
    return Reading(nan, (nan, nan), 0, sentence)


def decide(findings: list[Finding]) -> list[dict[str, Any]]:
    """A row for each; the family of the corrections are those that rest on a test and may be compared."""
    family = [f for f in findings if f.tested and not f.barred]
    agree, contra = [f.agree for f in family], [f.contra for f in family]
    by_holm = list(map(Corrected, holm(agree), holm(contra)))
    by_bh = list(map(Corrected, benjamini_hochberg(agree), benjamini_hochberg(contra)))
    rows, i = [], 0
    for finding in findings:
        if finding.barred or not finding.tested:
            rows.append(_untested(finding))
            continue
        factor = holm_factor(agree, i, ALPHA) if finding.family_wise else 1
        rows.append(_tested(finding, by_holm[i], by_bh[i], factor, len(family)))
        i += 1
    return rows


def _untested(finding: Finding) -> dict[str, Any]:
    """No p-value is shown: nothing is left to chance, or nothing may be compared."""
    verdict = finding.verdict(finding.agree, finding.contra)
    reading = finding.read(verdict, 1)
    if finding.barred:
        on_these = "" if isnan(reading.estimate) else f"; on these rows: {verdict}"
        evidence = f"{finding.barred}: {reading.sentence}{on_these}"
        return _figures(finding, reading) | {"verdict": "not comparable", "evidence": evidence}
    mark = finding.shown(finding.agree, finding.contra)
    marks = {"holm": mark, "bh": mark}
    return _figures(finding, reading) | {"verdict": verdict, "evidence": reading.sentence} | marks


def _tested(finding: Finding, holm: Corrected, bh: Corrected, factor: int, family: int) -> dict[str, Any]:
    own = Corrected(finding.agree, finding.contra)
    verdict = finding.verdict(*(holm if finding.family_wise else own))
    reading = finding.read(verdict, factor)
    adjusted = holm.contra if verdict == finding.words[2] else holm.agree
    marks = {"holm": finding.shown(*holm), "bh": finding.shown(*bh)}
    if finding.family_wise:
        p = _p(adjusted) + (f" after Holm over {family}" if family > 1 else "")
    else:
        p = f"{finding.words[0]} {_p(own.agree)}, {finding.words[2]} {_p(own.contra)}"
        if family > 1 and finding.shown(*own):
            p += f"; of {family}: survives {_survived(marks)}"
    return _figures(finding, reading) | {
        "verdict": verdict,
        "p_adjusted": adjusted,
        "evidence": f"{reading.sentence}; {p}",
        "p_agree": own.agree,
        "p_contra": own.contra,
        **marks,
    }


def _survived(marks: dict[str, str]) -> str:
    names = [name for mark, name in (("holm", "Holm"), ("bh", "Benjamini-Hochberg")) if marks[mark]]
    return " and ".join(names) or "no correction"


def reduced(findings: Sequence[Finding], scale: str) -> list[dict[str, Any]]:
    """Rows of a reduced run: figures, and "ran" for a verdict."""
    rows = []
    for finding in findings:
        reading = finding.read("", 1)
        evidence = f"reduced run ({scale}): {reading.sentence}"
        rows.append(_figures(finding, reading) | {"verdict": "ran", "evidence": evidence})
    return rows


def _figures(finding: Finding, reading: Reading) -> dict[str, Any]:
    low, high = reading.interval
    figures = {"estimate": reading.estimate, "ci_low": low, "ci_high": high, "n": reading.n}
    return dict.fromkeys(VERDICT_COLUMNS, nan) | {"holm": "", "bh": ""} | finding.row | figures


def with_interval(value: float, interval: tuple[float, float]) -> str:
    """``0.12 [0.11, 0.13]``."""
    low, high = interval
    return f"{value:.4g}" if isnan(low) else f"{value:.4g} [{low:.4g}, {high:.4g}]"


def _p(value: float) -> str:
    return "p < 0.0001" if value < 1e-4 else f"p = {value:.2g}"


def check_keys(entry: Mapping[str, Any], allowed: tuple[str, ...], required: tuple[str, ...]) -> None:
    """Reject a key of a printed value or claim that is not known, and a missing one."""
    if unknown := [key for key in entry if key not in allowed]:
        raise VerdictError(f"unknown key {unknown[0]!r}; allowed are {', '.join(allowed)}")
    if missing := [key for key in required if key not in entry]:
        raise VerdictError(f"the key {missing[0]!r} is missing")


def absent(finding: Finding, entry: Mapping[str, Any], scale: str, error: MissingRows) -> Finding:
    """Missing rows are an error at full scale, unless the entry is declared not comparable."""
    reason = entry.get("not_comparable", "")
    if scale == "full" and not reason:
        raise error
    return replace(finding, read=lambda *_: nothing(f"no rows for it: {error}"), tested=False, barred=reason)


def bar(stand_in: list[str], reason: str) -> str:
    """Why there can be no verdict, or ""."""
    return "; ".join(filter(None, [f"stand-in data for {', '.join(stand_in)}" if stand_in else "", reason]))
