"""The verdicts, with one entry each that judge, console, pages, JSON and documentation read.

`count_verdicts` is the only place that counts verdicts, so that every page has the same numbers.
To add a verdict, add an entry to `VERDICTS`.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeVar

Row = Mapping[str, Any]
R = TypeVar("R", bound=Row)

REPRODUCED = "reproduced"
PARTIALLY_REPRODUCED = "partially_reproduced"
INCONCLUSIVE = "inconclusive"
NOT_REPRODUCED = "not_reproduced"
NOT_COMPARABLE = "not_comparable"
NOT_JUDGED = "not_judged"
RAN = "ran"
NO_ROWS = "no_rows"

EXACT, PROVISIONAL, TOO_STRICT = "exact", "provisional", "too_strict"
DATA_DIFFER = "data_differ"


@dataclass(frozen=True)
class Verdict:
    """How pages show a verdict, and what it means.

    Attributes
    ----------
    label : str
        The words on pages and on the console.
    definition : str
        What it says of a claim or a published value.
    colour : str
        Its class of the style sheet, one of `COLOURS`.
    symbol : str
        The sign that shows it without colour.
    """

    label: str
    definition: str
    colour: str
    symbol: str


VERDICTS = {
    REPRODUCED: Verdict(
        "reproduced",
        "the claim is confirmed, or our value lies within the tolerance",
        "good",
        "●",
    ),
    PARTIALLY_REPRODUCED: Verdict(
        "partially reproduced",
        "only a weaker form of the claim is confirmed",
        "open",
        "◑",
    ),
    INCONCLUSIVE: Verdict(
        "inconclusive",
        "the claim or the tolerance is neither confirmed nor refuted",
        "open",
        "◐",
    ),
    NOT_REPRODUCED: Verdict(
        "not reproduced",
        "the claim is refuted, or our value lies outside the tolerance",
        "bad",
        "✕",
    ),
    NOT_COMPARABLE: Verdict(
        "not comparable",
        "the data are other data, or the paper gives too little detail",
        "none",
        "–",
    ),
    NOT_JUDGED: Verdict(
        "not judged",
        "what the claim asks has changed since the archived run and needs another run",
        "none",
        "–",
    ),
    RAN: Verdict("ran", "a run at a reduced scale, which is not judged", "none", "○"),
    NO_ROWS: Verdict("no rows", "a run at a reduced scale without rows for it", "none", "–"),
}
"""Verdict in files -> how it is shown; in the order of a summary."""

FLAGS = {
    EXACT: "a theorem or an identity, and no row violates it",
    PROVISIONAL: "a rule about outlying runs keeps a value on this side from a verdict",
    TOO_STRICT: "even exactly true published values rarely pass the check, so it cannot confirm",
    DATA_DIFFER: "data sets of the paper are replaced or missing; the claim names those it has",
}
"""Flag of a verdict -> what it means."""

COLOURS = {
    "good": "reproduced",
    "open": "partially reproduced or inconclusive",
    "bad": "not reproduced",
    "none": "not comparable or not judged",
}
"""Class of the style sheet -> its meaning; in the order of bars."""

SENTENCE, PATTERN, OURS = "sentence", "pattern", "ours"

CLAIM_KINDS = {
    SENTENCE: "the paper says it in words",
    PATTERN: "we read it off a published table or figure",
    OURS: "we added it",
}
"""Kind of a claim -> what it means."""

if TYPE_CHECKING:
    ClaimKind = str
else:
    ClaimKind = Literal[tuple(CLAIM_KINDS)]

PUBLISHED = "published"
"""Kind of a row that is a published value."""

GROUPS = {
    PUBLISHED: "published values",
    SENTENCE: "sentences of the paper",
    PATTERN: "patterns of its tables and figures",
    OURS: "our claims",
}
"""Kind of a row -> the group in which it is counted."""

GROUPS_OF_ONE = {
    GROUPS[PUBLISHED]: "1 published value",
    GROUPS[SENTENCE]: "1 sentence of the paper",
    GROUPS[PATTERN]: "1 pattern of its tables and figures",
    GROUPS[OURS]: "our claim",
}
"""Name of a group -> how a group with one row is called."""

OF_A_VALUE = (REPRODUCED, INCONCLUSIVE, NOT_REPRODUCED)
"""Verdicts of a published value that can be compared."""

_IN_FAVOUR, _AGAINST = "in favour", "against"
_SIDES = {"inside": _IN_FAVOUR, "below": _AGAINST, "above": _AGAINST}
"""Side of the bound -> what an estimate there says of an inconclusive claim."""


def look_up(verdict: str) -> Verdict:
    """Return how a verdict is shown; an unknown one is shown unchanged."""
    return VERDICTS.get(verdict, Verdict(verdict, "", "none", "·"))


def define_words(words: Mapping[str, Any]) -> str:
    """Write what each word means: ``exact: a theorem or ...; provisional: ...``."""
    texts = {word: getattr(entry, "definition", entry) for word, entry in words.items()}
    return "; ".join(f"{word}: {text}" for word, text in texts.items())


def is_claim(row: Row) -> bool:
    """Decide whether a row of verdicts is a claim, and not a published value."""
    return row["kind"] in CLAIM_KINDS


def counts_against(row: Row) -> bool:
    """Decide whether a verdict counts against the paper; of claims only sentences do."""
    return row["verdict"] == NOT_REPRODUCED and row["kind"] in (SENTENCE, PUBLISHED)


def list_flags(row: Row) -> list[str]:
    """List the flags of a row of verdicts."""
    return str(row.get("flags") or "").split()


def leans(row: Row) -> str:
    """Say on which side the estimate of an inconclusive claim lies; "" for other rows."""
    is_open = is_claim(row) and row["verdict"] == INCONCLUSIVE
    return _SIDES.get(row["side"], "") if is_open else ""


def describe(row: Row) -> str:
    """Write the verdict of a row in words, such as ``reproduced (exact)``.

    An inconclusive claim says on which side its estimate lies.
    """
    remarks = [flag.replace("_", " ") for flag in list_flags(row)]
    if leans(row):
        remarks.append(f"estimate {leans(row)}")
    label = look_up(row["verdict"]).label
    return f"{label} ({', '.join(remarks)})" if remarks else label


_WEAKEST_FIRST = [NOT_REPRODUCED, INCONCLUSIVE, PARTIALLY_REPRODUCED, REPRODUCED]
_WEAKEST_FIRST += [NOT_COMPARABLE, NOT_JUDGED, RAN, NO_ROWS]


def _strength(row: Row) -> tuple[int, bool]:
    """Rank a verdict by strength; of two inconclusive ones, the one in favour is stronger."""
    return _WEAKEST_FIRST.index(row["verdict"]), row["side"] == "inside"


def select_deciding(rows: Iterable[R]) -> list[R]:
    """Select the rows that count: published values of the paper's artifacts, a row for each claim.

    A weaker form of a claim does not count. Of a claim in several artifacts the weakest verdict
    counts.
    """
    values: list[R] = []
    claims: list[R] = []
    for row in rows:
        if row["kind"] == PUBLISHED:
            if row["origin"] == "paper":
                values.append(row)
        elif not row["form_of"]:
            claims.append(row)
    return [*values, *select_weakest(claims)]


def select_weakest(claims: Iterable[R]) -> list[R]:
    """Select the row with the weakest verdict of each claim; papers share no claims."""
    weakest: dict[tuple[str, str], R] = {}
    for row in claims:
        claim = (str(row.get("paper", "")), str(row["id"]))
        earlier = weakest.get(claim, row)
        weakest[claim] = min(earlier, row, key=_strength)
    return list(weakest.values())


def group_verdicts(rows: Iterable[R]) -> dict[str, list[R]]:
    """Group the rows that count by their kind, in the order of `GROUPS`."""
    groups: dict[str, list[R]] = {name: [] for name in GROUPS.values()}
    for row in select_deciding(rows):
        groups[GROUPS[row["kind"]]].append(row)
    return {name: group for name, group in groups.items() if group}


def count_group(name: str, count: int) -> str:
    """Write how many rows a group has: ``16 sentences of the paper``, ``our 19 claims``."""
    if count == 1:
        return GROUPS_OF_ONE[name]
    if name == GROUPS[OURS]:
        return f"our {count} claims"
    return f"{count} {name}"


def count_verdicts(rows: Iterable[Row]) -> dict[str, int]:
    """Count the verdicts of the rows that count.

    Returns
    -------
    dict of str to int
        Verdict -> number of rows, in the order of `VERDICTS` and without zeros.
    """
    counts = Counter(row["verdict"] for row in select_deciding(rows))
    return {verdict: counts[verdict] for verdict in VERDICTS if counts[verdict]}


def count_colours(rows: Iterable[Row]) -> dict[str, int]:
    """Count the same rows by the colour of their verdict, in the order of `COLOURS`."""
    counts: Counter[str] = Counter()
    for verdict, count in count_verdicts(rows).items():
        counts[look_up(verdict).colour] += count
    return {colour: counts[colour] for colour in COLOURS if counts[colour]}


# Results judged before version 2.0

OLD_WORDS = {
    "holds": REPRODUCED,
    "verified": REPRODUCED,
    "inside": REPRODUCED,
    "leaning for": INCONCLUSIVE,
    "leaning against": INCONCLUSIVE,
    "undecided": INCONCLUSIVE,
    "contradicted": NOT_REPRODUCED,
    "outside": NOT_REPRODUCED,
    "not comparable": NOT_COMPARABLE,
    "not judged": NOT_JUDGED,
    "no rows": NO_ROWS,
}
"""Verdict before version 2.0 -> verdict now."""

_COLUMNS_OF_VERDICTS = ("verdict", "holm", "bh", "otherwise", "new_points")


def convert_old_words(row: dict[str, str]) -> dict[str, str]:
    """Convert a row of verdicts or of agreement that was written before version 2.0."""
    if "state" in row:
        state = row["state"]
        return {key: cell for key, cell in row.items() if key != "state"} | {
            "verdict": OLD_WORDS.get(state, state)
        }
    if "flags" in row or "verdict" not in row or "kind" not in row:
        return row
    changed = {key: OLD_WORDS.get(row[key], row[key]) for key in _COLUMNS_OF_VERDICTS if key in row}
    flags = EXACT if row["verdict"] == "verified" else ""
    kind = row["kind"]
    if kind == "claim":
        kind = OURS if row.get("origin") == "ours" else SENTENCE
    return row | changed | {"flags": flags, "kind": kind, "place": ""}
