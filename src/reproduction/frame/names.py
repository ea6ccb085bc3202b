"""Names that become parts of paths and commands: which are allowed, and how long ones are shortened."""

import hashlib
import re
from collections.abc import Iterable, Iterator
from typing import Any

ALLOWED = re.compile(r"[A-Za-z0-9_+][A-Za-z0-9._+-]*", re.ASCII)

LONGEST = 100
"""Bytes; with an ending such as ``.12.time.tsv`` a name stays far below the 255 that file systems take."""

RULE = (
    "letters (a-z, A-Z), digits and . _ - + make one, it starts with no dot or dash and has at most "
    f"{LONGEST} characters"
)


def check(what: str, name: str, where: object) -> None:
    """Raise a ValueError of one line if ``name`` of ``what`` (a paper, an artifact) is not `allowed`."""
    if not allowed(name):
        raise ValueError(f"{where}: {what} {name!r} is no name: {RULE}")


def allowed(name: str) -> bool:
    """Letters, digits and . _ - +, no leading dot or dash, at most `LONGEST` characters."""
    return len(name) <= LONGEST and ALLOWED.fullmatch(name) is not None


def shortened(name: str) -> str:
    """The name; of one longer than `LONGEST` bytes, its beginning and a digest of the whole."""
    encoded = name.encode()
    if len(encoded) <= LONGEST:
        return name
    digest = hashlib.sha256(encoded).hexdigest()[:12]
    return f"{encoded[: LONGEST - 13].decode(errors='ignore')}-{digest}"


def distinct(named: Iterable[tuple[str, object, Any]]) -> Iterator[tuple[str, Any]]:
    """Pairs (slug, value) of triples (slug, entry, value).

    Raises
    ------
    ValueError : two entries have the same slug, so that one would vanish; names both.
    """
    seen: dict[str, object] = {}
    for slug, entry, value in named:
        if slug in seen:
            raise ValueError(
                f"the entries {seen[slug]!r} and {entry!r} would share the name {slug!r} in paths; change one"
            )
        seen[slug] = entry
        yield slug, value
