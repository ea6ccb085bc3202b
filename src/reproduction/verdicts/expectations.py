"""Claims as an artifact states them, checked before there is a table: ids, bounds, words that go together."""

from collections.abc import Mapping
from typing import Any

from reproduction.verdicts.names import VerdictError
from reproduction.verdicts.vocabulary import validate, validate_theorem


def examine(content: Mapping[str, Any]) -> None:
    """Nothing if the claims and printed values of an artifact can be judged as they are written.

    content : an artifact with the list of its printed values under ``published``.
    Raises VerdictError : the key, what is wrong with it, and what is possible.
    """
    _ids(content)
    for number, claim in enumerate(content.get("claims", [])):
        try:
            validate_theorem(claim)
        except VerdictError as error:
            raise VerdictError(f"claims.{number}.theorem (claim {claim['id']}): {error}") from None
        for place, check in enumerate(claim["checks"]):
            try:
                validate(check)
            except VerdictError as error:
                raise VerdictError(f"claims.{number}.checks.{place} (claim {claim['id']}): {error}") from None


def _ids(content: Mapping[str, Any]) -> None:
    """Verdicts are found by their ids."""
    seen: dict[str, str] = {}
    for kind in ("published", "claims"):
        for number, entry in enumerate(content.get(kind, [])):
            place = f"{kind}.{number}.id"
            if entry["id"] in seen:
                raise VerdictError(f"{place}: {entry['id']!r} is also {seen[entry['id']]}; ids are unique")
            seen[entry["id"]] = place
