"""The results for machines and for journals, beside the pages of a site.

``verdicts.json`` with its JSON Schema, ``ro-crate-metadata.json`` (a Workflow Run Crate of the site),
``codecheck.yml`` (CODECHECK's list of outputs), and for every paper a "[Re]" article in Markdown and LaTeX.
"""

import json
import re
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import yaml
from markupsafe import Markup
from pydantic import BaseModel, Field, TypeAdapter

from noisylabels import __version__
from reproduction.judge.archived_run import Row
from reproduction.judge.verdict_words import (
    CLAIM_KINDS,
    FLAGS,
    OURS,
    PUBLISHED,
    VERDICTS,
    define_words,
    describe,
    is_claim,
    list_flags,
    select_deciding,
)
from reproduction.paths import CHECKOUT
from reproduction.show import names
from reproduction.show.site.pages import Page, Paper, unmarked

CITATION = "CITATION.cff"
RO = "https://w3id.org/ro"
PROFILES = {
    f"{RO}/wfrun/process/0.5": "Process Run Crate",
    f"{RO}/wfrun/workflow/0.5": "Workflow Run Crate",
    "https://w3id.org/workflowhub/workflow-ro-crate/1.0": "Workflow RO-Crate",
}
NUMBERS = {"estimate": "estimate", "low": "ci_low", "high": "ci_high", "n": "n"}
NUMBERS |= {"published": "published", "margin": "margin"}
VERDICT_FILES = {
    "": "Verdicts on every claim and published value",
    ".schema": "JSON Schema of the verdicts",
}
FORMATS = {"png": "image/png", "svg": "image/svg+xml", "html": "text/html"}
SPECIAL = {c: f"\\{c}" for c in "&%$#_{}"} | {"−": "$-$", "≤": r"$\le$", "≥": r"$\ge$", "→": r"$\to$"}
SPECIAL |= {"~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "\\": r"\textbackslash{}"}
GREEK = {"ρ": "rho", "λ": "lambda", "η": "eta", "α": "alpha", "β": "beta", "γ": "gamma", "σ": "sigma"}
SPECIAL |= {letter: rf"$\{name}$" for letter, name in GREEK.items()}
SPECIAL |= {"θ": r"$\theta$", "×": r"$\times$", "√": r"$\surd$", "∞": r"$\infty$"}


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
    evidence: str = Field(description="the same as a sentence")
    page: str = Field(description="its place on this site")
    commit: str | None = Field(description="of the code that computed the estimate")


def verdicts(pages: Sequence[Page]) -> list[Verdict]:
    """Everything that was judged, in the order of the pages."""
    words = ("paper", "artifact", "id", "kind", "statement", "verdict")
    return [
        Verdict.model_validate(
            {key: row[key] for key in words}
            | {key: row[column] or None for key, column in NUMBERS.items()}
            | {"place": row["place"] or None, "evidence": evidence(page, row), "flags": list_flags(row)}
            | {"page": f"{page.key}.html#{row['id']}", "commit": page.first.provenance.get("commit")}
        )
        for page in pages
        for row in page.judged
    ]


def evidence(page: Page, row: Row) -> str:
    """The sentence behind a verdict, with the names that the pages have."""
    with names.of(page.artifact.file.parent):
        return Markup(page.keys.evidence(row)).striptags()


def write(papers: Sequence[Paper], out: Path, render: Any) -> None:
    """Write all of them into the finished site ``out``; ``render(template, file, **values)`` fills one."""
    pages = [page for paper in papers for page in paper.pages]
    schema = TypeAdapter(list[Verdict]).json_schema()
    _json(out / "verdicts.schema.json", {"$schema": "https://json-schema.org/draft/2020-12/schema"} | schema)
    _json(out / "verdicts.json", [each.model_dump() for each in verdicts(pages)])
    (out / "articles").mkdir()
    drawn = {page.key: sorted((out / "figures").glob(f"{page.key}.*"))[:1] for page in pages}
    figures = {key: f"figures/{files[0].name}" for key, files in drawn.items() if files}
    for paper in papers:
        said = [row | {"evidence": evidence(page, row)} for page in paper.pages for row in page.claims]
        about = {"paper": paper, "statements": _of_the_paper(said), "figures": figures, "prose": prose}
        for suffix, escape in (("md", str), ("tex", tex)):
            file = f"articles/{paper.name}.{suffix}"
            render(f"article.{suffix}", file, esc=escape, version=__version__, **about)
    results = [(page, figures.get(page.key, f"{page.key}.html")) for page in pages]
    manifest = [{"file": file, "comment": page.content["title"]} for page, file in results]
    codecheck = {"version": "https://codecheck.org.uk/spec/config/1.0/", "manifest": manifest}
    text = yaml.safe_dump(codecheck, sort_keys=False, allow_unicode=True, width=120)
    (out / "codecheck.yml").write_text(f"---\n{text}", encoding="utf-8")
    shutil.copyfile(CHECKOUT / "workflow/Snakefile", out / "Snakefile")
    _json(out / "ro-crate-metadata.json", crate(results))


def _of_the_paper(rows: list[Row]) -> list[Row]:
    """Select the claims of the paper that count, with their verdicts in words."""
    claims = [row for row in select_deciding(rows) if is_claim(row) and row["kind"] != OURS]
    return [row | {"verdict": describe(row)} for row in claims]


def tex(text: object) -> str:
    """A text as LaTeX shows it; what is between backticks as code."""
    escaped = "".join(SPECIAL.get(letter, letter) for letter in str(text))
    return re.sub(r"`+([^`]+)`+", r"\\texttt{\1}", escaped)


def prose(caption: str, escape: Callable[[str], str]) -> str:
    """A caption with its formulas between dollars and the rest without markup."""
    parts = re.split(r":math:`([^`]*)`", caption)
    return "".join(f"${part}$" if n % 2 else escape(unmarked(part)) for n, part in enumerate(parts))


def _json(file: Path, content: object) -> None:
    file.write_text(json.dumps(content, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


class Crate(dict[str, dict[str, object]]):
    """The things of a crate by their names."""

    def add(self, id: str, kind: str | list[str], **more: object) -> dict[str, str]:
        """Add a thing; how others refer to it."""
        self[id] = {"@id": id, "@type": kind} | more
        return {"@id": id}


def crate(results: Sequence[tuple[Page, str]]) -> dict[str, object]:
    """The site as a research object: its workflow, and its run for every artifact, with data and commit.

    results : every page with the file that holds its result: its figure, or the page with its table.
    """
    about = yaml.safe_load((CHECKOUT / CITATION).read_text(encoding="utf-8"))
    found = Crate()
    profiles = [found.add(id, "CreativeWork", name=name) for id, name in PROFILES.items()]
    licence = found.add("https://spdx.org/licenses/MIT", "CreativeWork", name="MIT License")
    workflow = found.add(
        "Snakefile",
        ["File", "SoftwareSourceCode", "ComputationalWorkflow"],
        name=about["title"],
        programmingLanguage=found.add("#snakemake", "ComputerLanguage", name="Snakemake"),
        creator=[
            found.add(f"#{each['name']}", "Organization", name=each["name"]) for each in about["authors"]
        ],
        license=licence,
        version=__version__,
    )
    files, runs = [workflow], []
    for page, file in results:
        kept, format = page.first.provenance, FORMATS[file.rpartition(".")[2]]
        digests = {n: json.dumps(each.get("files", {})) for n, each in sorted(kept.get("data", {}).items())}
        data = [
            found.add(f"#{name}", "Dataset", name=name, description=f"SHA-256: {digest}")
            for name, digest in digests.items()
        ]
        files.append(found.add(file, "File", name=page.content["title"], encodingFormat=format))
        note = f"commit {kept.get('commit', 'unknown')}, root seed {kept.get('seed', 'unknown')}"
        run: dict[str, object] = {"name": page.command, "description": note, "instrument": workflow}
        run |= {"object": data, "result": [files[-1]]}
        runs.append(found.add(f"#run-{page.key}", "CreateAction", **run))
    for end, name in VERDICT_FILES.items():
        file = f"verdicts{end}.json"
        files.append(found.add(file, "File", name=name, encodingFormat="application/json"))
    found.add(
        "./",
        "Dataset",
        name=about["title"],
        description=about["abstract"].strip(),
        datePublished=str(about["date-released"]),
        license=licence,
        conformsTo=profiles,
        mainEntity=workflow,
        hasPart=files,
        mentions=runs,
    )
    standard = {"@id": f"{RO}/crate/1.1"}
    found.add("ro-crate-metadata.json", "CreativeWork", conformsTo=standard, about={"@id": "./"})
    context = [f"{RO}/crate/1.1/context", f"{RO}/terms/workflow-run/context"]
    return {"@context": context, "@graph": list(found.values())}
