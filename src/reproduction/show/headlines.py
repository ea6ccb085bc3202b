"""Headlines of a paper: the statements of its claims, grouped by verdict.

``findings.yaml`` of a paper names the claims. What a headline says is the ``short`` of the claim,
or its statement; under which verdict it appears follows from the results.
"""

import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import NamedTuple

from pydantic import Field

from reproduction.spec.mistakes import check
from reproduction.spec.models import Model
from reproduction.spec.strict_yaml import Content, read
from reproduction.spec.verdict_words import (
    OURS,
    PATTERN,
    SENTENCE,
    VERDICTS,
    Row,
    is_claim,
    look_up,
    select_weakest,
)

FILE = "findings.yaml"
TITLES = {SENTENCE: "{}", PATTERN: "pattern of its tables, {}", OURS: "our claim, {}"}
"""Kind of a claim -> words for its verdict above its headline."""

OPENING_WORD = re.compile(
    r"(a|after|all|among|an|at|averaging|before|beyond|boosting|both|by|confident|cross-fitting"
    r"|cross-validation|dense|each|elsewhere|every|flips|for|from|if|in|labels|no|on|one|only|other"
    r"|scaling|solving|sparse|the|under|up|using|when|where|with|without)\b",
    re.IGNORECASE,
)
"""Pattern of opening words that are not a name, and are small inside a sentence."""


class Findings(Model):
    """The short description of a paper: a question, claims, and what the results leave open."""

    asks: str = Field(default="", description="the question of the paper")
    summary: list[str] = Field(default=[], description="claims for the front page, by id")
    headlines: list[str] = Field(default=[], description="claims for the page of the paper, by id")
    open: str = Field(default="", description="what the paper or its data leave open; no result")


class Headline(NamedTuple):
    """A claim in few words, and its row of verdicts."""

    text: str
    row: Row


def read_findings(folder: Path) -> Findings:
    """Read `FILE` of a paper, if it has one.

    Raises
    ------
    ArtifactError
        If the file has another key or a wrong value.
    """
    file = folder / FILE
    return check(Findings, read(file), file) if file.is_file() else Findings()


def list_short_texts(artifacts: Iterable[Content]) -> dict[str, str]:
    """Map the id of each claim of artifacts to the words of a headline.

    Of a claim in several artifacts the first says it.
    """
    texts: dict[str, str] = {}
    for content in artifacts:
        for claim in content.get("claims", []):
            text = claim.get("short", claim["statement"]).removeprefix("Ours: ")
            texts.setdefault(claim["id"], continue_sentence(text))
    return texts


def continue_sentence(text: str) -> str:
    """Write a statement that follows a colon: with a small letter unless a name begins it."""
    return text[0].lower() + text[1:] if OPENING_WORD.match(text) else text


def group_headlines(
    names: Iterable[str], rows: Iterable[Row], texts: Mapping[str, str]
) -> dict[str, list[Headline]]:
    """Group claims by kind and verdict.

    Parameters
    ----------
    names : iterable of str
        Ids of claims.
    rows : iterable of mapping
        Rows of verdicts of one paper. Of a claim in several artifacts the weakest verdict counts;
        a claim without a row is left out.
    texts : mapping
        Id -> what its headline says.

    Returns
    -------
    dict
        ``Reproduced``, ``Our claim, reproduced`` and so on -> headlines, in the order of the kinds
        and of the verdicts.
    """
    claims = [row for row in rows if is_claim(row)]
    weakest = {str(row["id"]): row for row in select_weakest(claims)}
    chosen = [weakest[name] for name in names if name in weakest]
    groups: dict[str, list[Headline]] = {}
    for kind, title in TITLES.items():
        for verdict in VERDICTS:
            rows_of_group = []
            for row in chosen:
                if row["kind"] == kind and row["verdict"] == verdict:
                    rows_of_group.append(row)
            if rows_of_group:
                label = title.format(look_up(verdict).label)
                key = label[0].upper() + label[1:]
                groups[key] = [Headline(texts[str(row["id"])], row) for row in rows_of_group]
    return groups


def write_summary(groups: Mapping[str, list[Headline]]) -> str:
    """Write headlines in a line: ``Reproduced: a; b. Not reproduced: c.``"""
    parts = []
    for title, headlines in groups.items():
        listed = "; ".join(headline.text for headline in headlines)
        parts.append(f"{title}: {listed}.")
    return " ".join(parts)
