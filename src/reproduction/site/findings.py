"""The page for whoever has five minutes: what each paper says, what came out, and every claim."""

import re
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from markupsafe import Markup

from reproduction.code_digest import CHECKOUT
from reproduction.site.pages import Page, Paper
from reproduction.site.states import state
from reproduction.site.text import plain
from reproduction.strict_yaml import read as read_yaml

FILE = CHECKOUT / "docs/papers/findings.yaml"

LINES = {
    "asks": "The question",
    "reproduces": "What reproduces",
    "does_not": "What does not",
    "found": "What we found",
    "open": "What stays open",
}
"""The five lines of a paper; every sentence cites the claims that it rests on, as ``[ORS-1]``."""

CITED = re.compile(r"\[([A-Z][\w+-]*(?:, [A-Z][\w+-]*)*)\]")


class Entry(NamedTuple):
    """A claim in the table of all claims."""

    page: Page
    row: dict[str, Any]


def read() -> dict[str, Any]:
    """Paper -> its `LINES`; a paper of somebody's own has none."""
    found: dict[str, Any] = read_yaml(FILE) if FILE.is_file() else {}
    return found


def cited(sentence: str) -> list[str]:
    """Ids of the claims that a sentence rests on."""
    return [each for group in CITED.findall(sentence) for each in group.split(", ")]


def told(papers: Iterable[Paper]) -> dict[str, Any]:
    """Paper -> its lines as HTML, with the verdict of every cited claim, and its claims."""
    found = {}
    for paper in papers:
        entries = [Entry(page, row) for page in paper.pages for row in page.claims()]
        known = {entry.row["id"]: entry for entry in entries}
        lines = {key: _linked(paper.told[key], known) for key in LINES if paper.told.get(key)}
        found[paper.name] = {"lines": lines, "claims": entries, "agreement": list(_agreement(paper))}
    return found


def _agreement(paper: Paper) -> Iterator[Page]:
    """The artifacts with printed values."""
    for page in paper.pages:
        if any(row["kind"] == "published" for row in page.first.verdicts):
            yield page


def _linked(sentence: str, known: dict[str, Entry]) -> Markup:
    """The sentence with each cited claim as a link that carries the mark of its verdict."""

    def link(each: str) -> str:
        if each not in known:
            return f'<span class="cite none" title="not run">{each}</span>'
        page, row = known[each]
        look = state(row["verdict"])
        return (
            f'<a class="cite {look.tone}" href="{page.key}.html#{each}" title="{row["verdict"]}">'
            f"{look.mark} {each}</a>"
        )

    def group(found: re.Match[str]) -> str:
        return " ".join(link(each) for each in found[1].split(", "))

    return Markup(CITED.sub(group, str(plain(sentence))))
