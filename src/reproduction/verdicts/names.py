"""What verdicts, selectors and statistics are called, and the errors of a check; no heavy imports."""

from collections.abc import Mapping
from typing import Any

from reproduction.results import COLUMNS

Check = Mapping[str, Any]
"""A check of a claim as its file has it; `models.Check` says what may be in it."""
BOUNDS = ("below", "above", "within", "increasing", "decreasing")
TRENDS = BOUNDS[3:]
INDEX = [column for column in COLUMNS if column != "value"]
ENDS = ("last", "first")
RATIO_OF_DIFFERENCES = "ratio_of_differences"
PAIRED = ("difference", "ratio", RATIO_OF_DIFFERENCES, "log_ratio")
CELL = ("inside", "undecided", "outside")
"""States of a published value: shown to lie within the margin, neither, shown to lie beyond it."""
CLAIM = ("holds", "not shown", "contradicted")
VERIFIED = "verified"
"""Instead of ``holds`` where the claim is a theorem or an identity."""
NOT_COMPARABLE = "not comparable"
NOT_JUDGED = "not judged"
"""What a claim asks changed after the run that is kept, in a way that its estimates cannot answer."""
VERDICTS = {
    **dict(zip(CELL, ("good", "open", "bad"), strict=True)),
    VERIFIED: "good",
    **dict(zip(CLAIM, ("good", "open", "bad"), strict=True)),
    NOT_COMPARABLE: "none",
    "ran": "none",
    NOT_JUDGED: "none",
}
"""Every verdict in the order of a summary, and its tone; wherever it is coloured, the word is printed too."""


class VerdictError(ValueError):
    """A published value or claim that cannot be judged as it is written."""


class MissingRows(VerdictError):
    """The table lacks rows that a selector asks for (at a reduced scale they may have been left out)."""


def trend_of(check: Check) -> str | None:
    """``increasing`` or ``decreasing``, if the check asks for a trend."""
    return next((key for key in TRENDS if key in check), None)


def listed(value: Any) -> list[Any]:
    """The wanted values of a selector entry as a list."""
    return value if isinstance(value, list) else [value]
