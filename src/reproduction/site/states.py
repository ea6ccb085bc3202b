"""Verdicts as the pages show them: a word, a tone, a mark that needs no colour, and their order in a bar."""

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from reproduction.verdicts.names import VERDICTS


class State(NamedTuple):
    """How one verdict looks: ``tone`` is a class of the style sheet, ``mark`` is read without colour."""

    tone: str
    mark: str


TONES = {
    "good": "confirmed",
    "open": "undecided",
    "bad": "contradicted",
    "none": "not judged",
}
"""What the tones mean, in the order of the bars."""
MARKS = {"good": "●", "open": "◐", "bad": "✕", "none": "–"}
NO_ROWS = "no rows"
"""In the place of "ran" where the reduced run had nothing of what is asked."""
OWN_MARKS = {"verified": "✓", "ran": "○"}
ORDER = sorted(VERDICTS, key=lambda verdict: list(TONES).index(VERDICTS[verdict]))
"""Every verdict in the order of bars and summaries."""


def state(verdict: str) -> State:
    """How a verdict looks; one that is not known looks like one that says nothing."""
    tone = VERDICTS.get(verdict, "none")
    return State(tone, OWN_MARKS.get(verdict, MARKS[tone] if verdict in VERDICTS else "·"))


def judges(row: Mapping[str, str]) -> bool:
    """Is the verdict one? A reduced run has none."""
    return row["verdict"] not in ("ran", NO_ROWS)


def counted(rows: Iterable[Mapping[str, str]]) -> dict[str, int]:
    """Verdict -> how many rows have it, in the order of `ORDER`."""
    found = Counter(row["verdict"] for row in rows)
    order = [*ORDER, *sorted(found.keys() - VERDICTS.keys())]
    return {verdict: found[verdict] for verdict in order if found[verdict]}


def toned(rows: Iterable[Mapping[str, str]]) -> dict[str, int]:
    """Tone -> how many rows have it, in the order of `TONES`."""
    found = Counter(state(row["verdict"]).tone for row in rows)
    return {tone: found[tone] for tone in TONES if found[tone]}
