"""Writes the site of one scale: a folder of pages that needs no server and nothing outside itself."""

import shutil
from pathlib import Path
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from reproduction.figures import names
from reproduction.plan import Plan
from reproduction.reference.runs import Row
from reproduction.site import agreement, curves, findings, forest, pictures, sources, states, text
from reproduction.site.pages import Page, all_pages, by_paper

ASSETS = ("style.css", "site.js", "curves.js")


def write(plan: Plan, home: Path, root: Path, out: Path) -> int:
    """Write the pages of everything that is finished below ``root`` into the new folder ``out``.

    home : where the reference is.   Returns how many artifacts have a page.
    """
    pages = all_pages(plan, home, root)
    papers = by_paper(pages, findings.read())
    for folder in ("assets", "figures", "thumbnails", "source"):
        (out / folder).mkdir(parents=True)
    environment = templates()
    site = {"scale": plan.config["scale"], "seed": plan.config["seed"], "papers": papers, "pages": pages}
    site["reduced"] = plan.config["scale"] != "full"
    site["referenced"] = any(page.reference for page in pages)
    site["keys"] = {page.key for page in pages}
    site["missing"] = len(plan.artifacts) - len(pages)
    site["totals"] = totals(pages)
    _assets(out / "assets")
    code = sources.Sources()
    cards = {page.key: _card(page, out) for page in pages}
    for paper in papers:
        for place, page in enumerate(paper.pages):
            near = (paper.pages[place - 1] if place else None, *paper.pages[place + 1 : place + 2])
            details = _details(page, code, out) | {"paper": paper, "near": near}
            _render(environment, "artifact.html", out / f"{page.key}.html", site | {"page": page} | details)
    _render(environment, "index.html", out / "index.html", site | {"cards": cards})
    told = findings.told(papers)
    _render(environment, "findings.html", out / "findings.html", site | {"told": told})
    for file, name in code.files.items():
        shown = {"up": "../", "title": code.shown(file), "body": sources.numbered(file)}
        _render(environment, "source.html", out / "source" / name, site | shown)
    return len(pages)


def totals(pages: list[Page]) -> dict[str, list[Row]]:
    """The verdicts that count, of printed values and of claims; of neither if nothing was judged."""
    rows = [row for page in pages for row in page.first.verdicts if states.judges(row)]
    kinds = {"Printed numbers": "published", "Claims": "claim"}
    return {name: found for name, kind in kinds.items() if (found := [r for r in rows if r["kind"] == kind])}


def templates() -> Environment:
    """The templates of the pages, with their filters."""
    environment = Environment(
        loader=PackageLoader("reproduction.site"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {"caption": text.caption, "plain": text.plain, "stripped": text.stripped}
    environment.filters |= {"counted": states.counted, "toned": states.toned}
    environment.filters |= {"number": _number, "minutes": _minutes}
    environment.globals |= {"state": states.state, "TONES": states.TONES, "LINES": findings.LINES, "up": ""}
    return environment


def _render(environment: Environment, template: str, path: Path, what: dict[str, Any]) -> None:
    path.write_text(environment.get_template(template).render(what), encoding="utf-8", newline="\n")


def _assets(folder: Path) -> None:
    for name in ASSETS:
        shutil.copyfile(Path(__file__).parent / "templates" / name, folder / name)


def _card(page: Page, out: Path) -> dict[str, Any]:
    small = pictures.small(page.first, out / "thumbnails" / page.key)
    return {"thumbnail": small, "preview": [] if small else pictures.preview(page.first)}


def _details(page: Page, code: sources.Sources, out: Path) -> dict[str, Any]:
    """What only the page of an artifact shows."""
    figures = []
    for run in page.runs:
        suffix = "" if run is page.first else f"_{run.scale}"
        name = pictures.copied(run, out / "figures" / f"{page.key}{suffix}")
        figures.append({"run": run, "file": name, "table": pictures.table(run)})
    source = page.first.table
    is_drawn = page.content["kind"] == "figure" and source is not None
    return {
        "figures": figures,
        "blocks": forest.blocks(page.published()),
        "agreements": agreement.of_run(page.first),
        "reach": forest.REACH,
        "links": code.links(page),
        "methods": code.methods(page),
        "curves": _curves(page, source) if is_drawn and source else "",
    }


def _curves(page: Page, table: Path) -> Markup:
    """The curves as JSON that may stand in a page."""
    opens = names.first_metric(page.protocol, page.content["render"])
    found = curves.of_table(table, page.methods, page.protocol, opens, page.content["caption"])
    return Markup(found.replace("<", "\\u003c"))


def _number(cell: str | float) -> str:
    """A cell of the verdict table, "" if it is empty."""
    return text.number(float(cell)) if cell not in ("", None) else ""


def _minutes(value: float) -> str:
    """``40 s``, ``12 min``, ``3.1 h``."""
    if value < 1:
        return f"{max(1, round(60 * value))} s"
    return f"{value:.0f} min" if value < 90 else f"{value / 60:.1f} h"
