"""The verdicts as JSON next to the pages of a site, with their JSON Schema."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from markupsafe import Markup
from pydantic import BaseModel, Field, TypeAdapter

from reproduction.judge.verdict_files import Row
from reproduction.show import names
from reproduction.show.site.pages import FOLDER, Page, label_of
from reproduction.spec.verdict_words import (
    CLAIM_KINDS,
    FLAGS,
    PUBLISHED,
    VERDICTS,
    define_words,
    is_claim,
    list_flags,
)

DIALECT = "https://json-schema.org/draft/2020-12/schema"
KINDS = {PUBLISHED: "a published value"} | CLAIM_KINDS

if TYPE_CHECKING:
    VerdictWord = str
    FlagWord = str
    Kind = str
else:
    VerdictWord = Literal[tuple(VERDICTS)]
    FlagWord = Literal[tuple(FLAGS)]
    Kind = Literal[tuple(KINDS)]


class Verdict(BaseModel):
    """One claim or published value, judged; numbers are in the units of the paper."""

    paper: str = Field(description="folder of the paper")
    artifact: str = Field(description="the figure or table that judges it")
    id: str = Field(description="unique within its paper")
    kind: Kind = Field(description=define_words(KINDS))
    place: str | None = Field(description="section, figure or table of the paper; null if ours")
    statement: str
    verdict: VerdictWord = Field(description=define_words(VERDICTS))
    flags: list[FlagWord] = Field(description=define_words(FLAGS))
    estimate: float | None
    low: float | None = Field(description="lower end of the 95 % interval of the estimate")
    high: float | None = Field(description="upper end of the 95 % interval of the estimate")
    n: int | None = Field(description="independent repetitions behind the estimate")
    published: float | None
    margin: float | None = Field(
        description="the tolerance: the largest difference that counts as reproduced"
    )
    power: float | None = Field(
        description="chance of reproduced if the published values were exactly true, simulated"
    )
    others: int | None = Field(description="other methods for which the checks can be tested")
    others_passing: int | None = Field(description="of these, how many pass")
    evidence: str = Field(description="the same as a sentence")
    page: str = Field(description="its place on this site")
    commit: str | None = Field(description="of the code that computed the estimate")


def _number(cell: str) -> float | None:
    return float(cell) if cell else None


def _whole(cell: str) -> int | None:
    return int(float(cell)) if cell else None


def list_verdicts(pages: Sequence[Page]) -> list[Verdict]:
    """List everything that was judged, in the order of the pages."""
    verdicts = []
    for page in pages:
        commit = page.first.provenance.get("commit")
        for row in page.judged:
            verdict = Verdict(
                paper=row["paper"],
                artifact=row["artifact"],
                id=row["id"],
                kind=row["kind"],
                place=row["place"] or None,
                statement=row["statement"],
                verdict=row["verdict"],
                flags=list_flags(row),
                estimate=_number(row["estimate"]),
                low=_number(row["ci_low"]),
                high=_number(row["ci_high"]),
                n=_whole(row["n"]),
                published=_number(row["published"]),
                margin=_number(row["margin"]),
                power=_number(row["power"]),
                others=_whole(row["others"]),
                others_passing=_whole(row["others_passing"]),
                evidence=write_evidence(page, row),
                page=find_place(page, row),
                commit=commit,
            )
            verdicts.append(verdict)
    return verdicts


def find_place(page: Page, row: Row) -> str:
    """Name the page of the site that shows a verdict, with the anchor of a claim."""
    file = f"{FOLDER}/{page.key}.html"
    if not is_claim(row):
        return file
    anchor = label_of(page, row["id"])
    return f"{file}#{anchor}"


def write_evidence(page: Page, row: Row) -> str:
    """Write the sentence behind a verdict, with the names that the pages have."""
    with names.using(page.artifact.file.parent):
        return Markup(page.keys.evidence(row)).striptags()


def write_verdicts(pages: Sequence[Page], folder: Path) -> None:
    """Write ``verdicts.json`` and ``verdicts.schema.json`` into the folder of a finished site."""
    schema = TypeAdapter(list[Verdict]).json_schema()
    write_json(folder / "verdicts.schema.json", {"$schema": DIALECT} | schema)
    verdicts = [verdict.model_dump() for verdict in list_verdicts(pages)]
    write_json(folder / "verdicts.json", verdicts)


def write_json(file: Path, content: object) -> None:
    """Write a file that a person can read, too."""
    text = json.dumps(content, indent=1, ensure_ascii=False)
    file.write_text(text + "\n", encoding="utf-8")
