"""Labels that a result table can have, from the settings and the code of its protocol, before it is made.

Code is read as text: its quoted words are labels, its f-strings patterns of labels. A claim that names
a label which nobody writes fails here, at every scale, and not after hours.
"""

import difflib
import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from reproduction.strict_yaml import ArtifactError

FIELD = re.compile(r"^    ([a-z]\w*): |[(\s]([a-z]\w*)=", re.MULTILINE)
"""A field of a tuple or a keyword: ``_asdict`` and ``dict(...)`` turn them into labels."""

QUOTED = re.compile(r'(f?)"((?:[^"\\\n]|\\.)*)"')
PLACEHOLDER = re.compile(r"\{[^{}]*\}")
NUMBER = r"-?[0-9][0-9.e+-]*"
LABELS = ("noise", "setting", "method", "metric")
"""Columns whose entries are labels of the settings or of the code; data sets are checked by their ids."""


@cache
def _quoted(file: Path) -> tuple[frozenset[str], frozenset[str]]:
    """(words, f-strings) between double quotes in a file of code."""
    code = file.read_text(encoding="utf-8")
    found = QUOTED.findall(code)
    formats = frozenset(text for f, text in found if f and "{" in text)
    words = {text for f, text in found if not f or "{" not in text}
    return frozenset(words.union(*FIELD.findall(code))), formats


class Labels:
    """The labels of the rows that a protocol writes under the settings."""

    def __init__(self, settings: Mapping[str, Any], code: Iterable[Path]) -> None:
        self.words = set(_texts(settings)) | {""}
        formats: set[str] = set()
        for file in code:
            words, found = _quoted(file)
            self.words |= words
            formats |= found
        self._patterns = [pattern for text in sorted(formats) if (pattern := _pattern(text))]
        self._composed = [text for text in sorted(formats) if not _pattern(text)]

    def has(self, label: str) -> bool:
        """Is it a word of settings or code, or made from them?"""
        if self._word(label) or any(pattern.fullmatch(label) for pattern in self._patterns):
            return True
        return any(self._made(label, text) for text in self._composed)

    def _made(self, label: str, text: str) -> bool:
        """Does a format without words of its own, ``{noise} {rate}``, give the label from known ones?"""
        parts = PLACEHOLDER.split(text)
        pattern = "(.+)".join(map(re.escape, parts))
        found = re.fullmatch(pattern, label)
        return len(parts) > 2 and bool(found) and all(self._word(part) for part in found.groups())  # type: ignore[union-attr]

    def _word(self, part: str) -> bool:
        return part in self.words or bool(re.fullmatch(NUMBER, part))

    def near(self, label: str) -> str:
        """``; did you mean ...?``, or nothing."""
        near = difflib.get_close_matches(label, sorted(self.words), n=3)
        return f"; did you mean {' or '.join(near)}?" if near else ""


@cache
def _pattern(text: str) -> re.Pattern[str] | None:
    """An f-string with words of its own as a pattern of labels; None without any, or for a sentence."""
    parts = PLACEHOLDER.split(text)
    own = "".join(parts)
    if not re.search(r"[A-Za-z]", own) or len(own) > 40 or any(c in own for c in ":;,/"):
        return None
    return re.compile("[^,]+".join(map(re.escape, parts)))


def _texts(value: Any) -> Iterator[str]:
    """Every key and text of the settings."""
    if isinstance(value, Mapping):
        for key, entry in value.items():
            yield str(key)
            yield from _texts(entry)
    elif isinstance(value, list):
        for entry in value:
            yield from _texts(entry)
    elif isinstance(value, str):
        yield value


def examine(content: Mapping[str, Any], labels: Labels, datasets: set[str], repetitions: int) -> None:
    """Nothing if every selector of the claims and printed values names labels that can exist.

    datasets : ids that the column of that name can have; empty: any.   repetitions : at full scale.
    Raises ArtifactError : the key, the label, and close ones.
    """
    for place, selector in _selectors(content):
        for column, wanted in selector.items():
            for label in wanted if isinstance(wanted, list) else [wanted]:
                if column == "repetition" and label >= repetitions:
                    raise ArtifactError(f"{place}.{column}: {label}, but the last one is {repetitions - 1}")
                _examine(f"{place}.{column}", column, label, labels, datasets)


def _examine(place: str, column: str, label: Any, labels: Labels, datasets: set[str]) -> None:
    if column == "dataset" and datasets and label not in datasets:
        raise ArtifactError(
            f"{place}: no rows will be of {label!r}; data sets: {', '.join(sorted(datasets))}"
        )
    if column in LABELS and not labels.has(str(label)):
        raise ArtifactError(
            f"{place}: no row will have {column} {label!r}: neither settings nor protocol have it"
            f"{labels.near(str(label))}"
        )


def _selectors(content: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    for number, claim in enumerate(content.get("claims", [])):
        for index, check in enumerate(claim["checks"]):
            for key in ("a", "b", "base", "where", "increasing", "decreasing"):
                if isinstance(check.get(key), Mapping):
                    yield f"claims.{number}.checks.{index}.{key}", check[key]
    for entry in content.get("published", []):
        if not entry.get("not_comparable"):
            yield f"published: {entry['id']}", entry["where"]
