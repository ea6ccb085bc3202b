"""What selectors and statistics are called, and the errors of a check; nothing heavy is imported."""

from typing import Any

from noisylabels.results import COLUMNS

INDEX = [column for column in COLUMNS if column != "value"]
ENDS = ("last", "first")
STATISTICS = ("value", "difference", "ratio", "log_ratio", "relative_se")
PAIRED = ("difference", "ratio", "log_ratio")


class VerdictError(ValueError):
    """A published value or claim that cannot be judged as it is written."""


class MissingRows(VerdictError):
    """The table lacks rows that a selector asks for (at a reduced scale they may have been left out)."""


def listed(value: Any) -> list[Any]:
    """The wanted values of a selector entry as a list."""
    return value if isinstance(value, list) else [value]
