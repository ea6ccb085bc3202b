"""Verdicts as the pages show them: a word, a tone, a mark that needs no colour, and their order in a bar."""

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import NamedTuple


class State(NamedTuple):
    """How one verdict looks: ``tone`` is a class of the style sheet, ``mark`` is read without colour."""

    tone: str
    mark: str


STATES = {
    "verified": State("good", "✓"),
    "holds": State("good", "●"),
    "inside": State("good", "●"),
    "not shown": State("open", "◐"),
    "undecided": State("open", "◐"),
    "contradicted": State("bad", "✕"),
    "outside": State("bad", "✕"),
    "not comparable": State("none", "–"),
    "ran": State("none", "○"),
}
"""Every verdict in the order of bars and summaries."""

TONES = {
    "good": "confirmed",
    "open": "undecided",
    "bad": "contradicted",
    "none": "not judged",
}
"""What the tones mean, in the order of the bars."""


def state(verdict: str) -> State:
    """How a verdict looks; one that is not known looks like one that says nothing."""
    return STATES.get(verdict, State("none", "·"))


def counted(rows: Iterable[Mapping[str, str]]) -> dict[str, int]:
    """Verdict -> how many rows have it, in the order of `STATES`."""
    found = Counter(row["verdict"] for row in rows)
    known = [verdict for verdict in STATES if verdict in found]
    return {verdict: found[verdict] for verdict in [*known, *sorted(found.keys() - STATES.keys())]}


def toned(rows: Iterable[Mapping[str, str]]) -> dict[str, int]:
    """Tone -> how many rows have it, in the order of `TONES`."""
    found = Counter(state(row["verdict"]).tone for row in rows)
    return {tone: found[tone] for tone in TONES if found[tone]}
