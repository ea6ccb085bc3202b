"""Writes the site of one scale: a folder of pages that needs no server and nothing outside itself."""

import importlib
import inspect
import re
import shutil
from functools import cache
from html import escape
from pathlib import Path
from typing import Any, NamedTuple

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from noisylabels import METHODS
from reproduction.code_digest import CHECKOUT
from reproduction.figures import names
from reproduction.plan import Plan
from reproduction.protocols import walk
from reproduction.protocols.settings import method_class
from reproduction.reference.keeping import thumbnail
from reproduction.reference.runs import Row, Run
from reproduction.site import charts, pages
from reproduction.site.pages import Page

ASSETS = ("style.css", "site.js", "curves.js")
DOCUMENTS = ("README.md", "docs/*.md", "docs/papers/**/*.md", "config/README.md", "data/README.md", "*.md")


def write(plan: Plan, home: Path, root: Path, out: Path) -> int:
    """Write the pages of everything that is finished below ``root`` into the new folder ``out``.

    home : where the reference is. A documentation that is already in ``out/docs`` is linked and searched.
    Returns how many artifacts have a page.
    """
    every = pages.all_pages(plan, home, root)
    papers = pages.by_paper(every)
    for folder in ("assets", "figures", "thumbnails", "source"):
        (out / folder).mkdir(parents=True)
    for name in ASSETS:
        shutil.copyfile(Path(__file__).parent / "templates" / name, out / "assets" / name)
    scale, seed = plan.config["scale"], plan.config["seed"]
    site: dict[str, Any] = {"scale": scale, "seed": seed, "papers": papers, "pages": every}
    site |= {"reduced": scale != "full", "referenced": any(page.reference for page in every)}
    site |= {"keys": {page.key for page in every}, "missing": len(plan.artifacts) - len(every)}
    site |= {"totals": totals(every), "documents": documents(out / "docs")}
    cards = {page.key: _card(page, out) for page in every}
    code = Sources()
    for paper in papers:
        for place, page in enumerate(paper.pages):
            near = (paper.pages[place - 1] if place else None, *paper.pages[place + 1 : place + 2])
            about = _details(page, code, out) | {"page": page, "paper": paper, "near": near}
            _render("artifact.html", out / f"{page.key}.html", site | about)
    _render("index.html", out / "index.html", site | {"cards": cards})
    _render("findings.html", out / "findings.html", site)
    for file, name in code.files.items():
        about = {"up": "../", "title": code.shown(file), "body": numbered(file)}
        _render("source.html", out / "source" / name, site | about)
    return len(every)


def totals(every: list[Page]) -> dict[str, list[Row]]:
    """The verdicts that count, of published values and of claims; of neither if nothing was judged."""
    rows = [row for page in every for row in page.first.verdicts if pages.judges(row)]
    kinds = {"Published values": "published", "Claims": "claim"}
    return {name: found for name, kind in kinds.items() if (found := [r for r in rows if r["kind"] == kind])}


class Document(NamedTuple):
    """A page of the documentation, and everything in it that the search looks at."""

    title: str
    href: str
    searched: str


def documents(folder: Path) -> list[Document]:
    """The pages of the documentation that was built into a folder; of none: empty."""
    found = []
    for file in dict.fromkeys(file for pattern in DOCUMENTS for file in sorted(CHECKOUT.glob(pattern))):
        page = folder / file.relative_to(CHECKOUT).with_suffix(".html")
        if page.is_file():
            text = re.sub(r"<!--.*?-->|[#*`|]", " ", file.read_text(encoding="utf-8"), flags=re.DOTALL)
            title = text.strip().partition("\n")[0].strip()
            found.append(Document(title, page.relative_to(folder.parent).as_posix(), pages.searched(text)))
    return found


@cache
def templates() -> Environment:
    """The templates of the pages, with their filters; compiling one takes longer than a page."""
    loader = PackageLoader("reproduction.site")
    environment = Environment(
        loader=loader, autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    environment.filters |= {"caption": pages.caption, "plain": pages.plain, "stripped": pages.stripped}
    environment.filters |= {"counted": pages.counted, "toned": pages.toned}
    environment.filters |= {"number": _number, "minutes": _minutes}
    environment.globals |= {"state": pages.look, "TONES": pages.TONES, "LINES": pages.LINES, "up": ""}
    return environment


def _render(template: str, path: Path, what: dict[str, Any]) -> None:
    path.write_text(templates().get_template(template).render(what), encoding="utf-8", newline="\n")


def _number(cell: str | float) -> str:
    """A cell of the verdict table, "" if it is empty."""
    return charts.figure(float(cell)) if cell not in ("", None) else ""


def _minutes(value: float) -> str:
    """``40 s``, ``12 min``, ``3.1 h``."""
    if value < 1:
        return f"{max(1, round(60 * value))} s"
    return f"{value:.0f} min" if value < 90 else f"{value / 60:.1f} h"


# What only the page of an artifact shows


def _details(page: Page, code: "Sources", out: Path) -> dict[str, Any]:
    figures = []
    for run in page.runs:
        suffix = "" if run is page.first else f"_{run.scale}"
        name = _copied(run, out / "figures" / f"{page.key}{suffix}")
        figures.append({"run": run, "file": name, "table": _table(run)})
    source, drawn = page.first.table, page.content["kind"] == "figure"
    opens = names.first_metric(page.protocol, page.content["render"])
    curves = (
        charts.curves(source, page.methods, page.protocol, opens, page.content["caption"])
        if drawn and source
        else ""
    )
    return {
        "figures": figures,
        "blocks": charts.blocks(page.rows("published")),
        "agreements": charts.agreements(page.first),
        "reach": charts.REACH,
        "links": code.links(page),
        "methods": code.methods(page),
        "curves": Markup(curves.replace("<", "\\u003c")),  # JSON that may be in a page
    }


def _copied(run: Run, out: Path) -> str:
    """Copy the figure of a run to ``out`` with its own ending; its file name, "" of a table or of nothing."""
    if run.drawn is None or run.drawn.suffix == ".html":
        return ""
    return shutil.copyfile(run.drawn, out.with_name(out.name + run.drawn.suffix)).name


def _table(run: Run) -> Markup:
    """The table that was written for browsers, without its page; "" of a figure or of nothing."""
    if run.drawn is None or run.drawn.suffix != ".html":
        return Markup("")
    body = re.search(r"<body>(.*)</body>", run.drawn.read_text(encoding="utf-8"), re.DOTALL)
    return Markup(body[1].strip() if body else "")


def _card(page: Page, out: Path) -> dict[str, Any]:
    """The thumbnail of a figure, or the corner of a table."""
    run, target = page.first, out / f"thumbnails/{page.key}.webp"
    picture = run.drawn.with_suffix(".png") if run.drawn else Path()
    if run.thumbnail:
        shutil.copyfile(run.thumbnail, target)
    elif picture.is_file():
        thumbnail(picture, target)
    else:
        rows = re.findall(r"<tr[^>]*>(.*?)</tr>", _table(run), re.DOTALL)[:7]
        cells = [re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", row, re.DOTALL)[:5] for row in rows]
        return {"thumbnail": "", "preview": [[re.sub("<[^>]*>", "", cell) for cell in row] for row in cells]}
    return {"thumbnail": target.name, "preview": []}


# The code and configuration behind a result, as pages: every link works from anywhere


class Link(NamedTuple):
    """``what`` is at ``href`` of the folder of source pages; ``text`` is its own description."""

    what: str
    name: str
    href: str
    text: str = ""


class Sources:
    """Files that some page links to; `links` and `methods` collect them, `numbered` makes each HTML."""

    def __init__(self) -> None:
        self.files: dict[Path, str] = {}

    def links(self, page: Page) -> list[Link]:
        """The artifact's file, its published values, its protocol, its drawing function."""
        content, file = page.content, page.artifact.file
        links = [Link("settings and claims", file.name, self._href(file))]
        values = file.with_suffix(".published.csv")
        if values.is_file():
            links.append(Link("published values", values.name, self._href(values)))
        if "protocol" in content:
            links.append(self._link("protocol", content["protocol"], walk.find(content["protocol"]).run))
        module, _, function = content["render"].partition(":")
        drawn = getattr(importlib.import_module(f"reproduction.figures.{module}"), function)
        return [*links, self._link("drawn by", content["render"], drawn)]

    def methods(self, page: Page) -> list[Link]:
        """Label, method and docstring of every method of the page; a user's class is not imported."""
        links = []
        for label, spec in page.methods.items():
            name = str(spec.get("method", ""))
            found = method_class(name) if name in METHODS else None
            links.append(self._link(names.label(page.methods, label), name, found))
        return links

    def _link(self, what: str, name: str, found: Any) -> Link:
        """A function or class, with the first paragraph of its docstring."""
        if found is None:
            return Link(what, name, "")
        text, file, line = _described(inspect.unwrap(found))
        return Link(what, name, self._href(file, line), text)

    def _href(self, file: Path, line: int = 0) -> str:
        if not file.is_file():
            return ""
        file = file.resolve()
        inside = file.is_relative_to(CHECKOUT)
        name = "_".join((file.relative_to(CHECKOUT) if inside else file.relative_to(file.anchor)).parts)
        self.files[file] = f"{name}.html"
        return f"{name}.html" + (f"#L-{line}" if line else "")

    def shown(self, file: Path) -> str:
        """Path of a file as a reader knows it."""
        return str(file.relative_to(CHECKOUT) if file.is_relative_to(CHECKOUT) else file)


@cache
def _described(found: Any) -> tuple[str, Path, int]:
    """The first paragraph of a docstring, and where the function or class stands."""
    text = (inspect.getdoc(found) or "").partition("\n\n")[0]
    return text, Path(inspect.getsourcefile(found) or ""), inspect.getsourcelines(found)[1]


def numbered(file: Path) -> Markup:
    """A file as HTML with a number, and an anchor, at every line."""
    lines = enumerate(file.read_text(encoding="utf-8").splitlines(), start=1)
    body = "".join(f'<span id="L-{n}"><a href="#L-{n}">{n}</a>{escape(line)}</span>' for n, line in lines)
    return Markup(f'<pre class="code">{body}</pre>')
