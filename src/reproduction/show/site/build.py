"""Writes the site of one scale, or the page of an audit: a folder that needs no server and no other file."""

import inspect
import re
import shutil
from collections.abc import Callable
from functools import cache
from html import escape
from pathlib import Path
from typing import NamedTuple

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from noisylabels import METHODS
from noisylabels.auditing.audit import percent
from noisylabels.auditing.page import STYLE
from reproduction.judge.archived_run import Row, Run, commit_of, thumbnail
from reproduction.judge.claims import JUDGED
from reproduction.judge.verdict_words import (
    CLAIM_KINDS,
    COLOURS,
    VERDICTS,
    count_colours,
    count_verdicts,
    describe,
    group_verdicts,
    look_up,
)
from reproduction.paths import CHECKOUT
from reproduction.plan.plan import Plan
from reproduction.show import names, rendering
from reproduction.show.site import charts, exports, pages
from reproduction.show.site.pages import Page
from reproduction.spec.captions import render_caption
from reproduction.spec.protocol import find_protocol
from reproduction.spec.settings import method_class

TEMPLATES = Path(__file__).with_name("templates")
ASSETS = (STYLE, TEMPLATES / "site.js", TEMPLATES / "curves.js")
DOCUMENTS = ("README.md", "docs/*.md", "src/papers/*/*.md", "config/README.md", "data/README.md", "*.md")


def write(plan: Plan, home: Path, root: Path, out: Path) -> int:
    """Write the pages of everything that is finished below ``root`` into the new folder ``out``.

    home : where the reference is. A documentation that is already in ``out/docs`` is linked and searched.
    Returns how many artifacts have a page.
    """
    every = pages.all_pages(plan, home, root)
    papers, ours = pages.by_paper(every), [page for page in every if not page.added]
    for folder in ("assets", "figures", "thumbnails", "source"):
        (out / folder).mkdir(parents=True)
    for file in ASSETS:
        shutil.copyfile(file, out / "assets" / file.name)
    scale, code = plan.config["scale"], Sources()
    asked = {name for name, artifact in plan.artifacts.items() if artifact.paper in plan.config["papers"]}
    missing = asked - {page.name for page in ours}
    site = {
        "scale": scale,
        "seed": plan.config["seed"],
        "reduced": scale not in JUDGED,
        "referenced": any(page.reference for page in every),
        "papers": papers,
        "pages": every,
        "by_key": {page.key: page for page in every},
        "missing": [a.content["title"] for name, a in plan.artifacts.items() if name in missing],
        "totals": totals(ours),
        "documents": documents(out / "docs"),
    }

    def render(template: str, file: str, **more: object) -> None:
        text = templates().get_template(template).render(site | more)
        (out / file).write_text(text, encoding="utf-8", newline="\n")

    for paper in papers:
        near = zip([None, *paper.pages[:-1]], [*paper.pages[1:], None], strict=True)
        with names.of(paper.pages[0].artifact.file.parent):
            for page, neighbours in zip(paper.pages, near, strict=True):
                about = {"page": page, "paper": paper, "near": neighbours, "curves": _curves(page)}
                about |= {"shown": [Shown(run, *_drawn(page, run, out)) for run in page.runs]}
                about |= {"links": code.links(page), "methods": code.methods(page)}
                render("artifact.html", f"{page.key}.html", **about)
    render("index.html", "index.html", cards={page.key: _card(page, out) for page in every})
    render("findings.html", "findings.html")
    exports.write_verdicts(every, out)
    for source, name in code.files.items():
        render("source.html", f"source/{name}", up="../", title=code.shown(source), body=numbered(source))
    return len(every)


def totals(every: list[Page]) -> dict[str, list[Row]]:
    """The verdicts that count, of all papers together."""
    return group_verdicts(row for page in every for row in page.judged)


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
    loader = PackageLoader("reproduction.show.site")
    environment = Environment(loader=loader, autoescape=True, undefined=StrictUndefined)
    environment.trim_blocks = environment.lstrip_blocks = True
    said = (pages.plain, pages.unmarked, count_verdicts, count_colours)
    filters = (*said, number, minutes, commit_of)
    environment.filters |= {function.__name__: function for function in filters}
    environment.filters["caption"] = render_caption
    environment.globals |= {"look_up": look_up, "describe": describe, "LINES": pages.LINES, "up": ""}
    environment.globals |= {"COLOURS": COLOURS, "VERDICTS": VERDICTS, "CLAIM_KINDS": CLAIM_KINDS}
    environment.globals |= {"elsewhere": pages.elsewhere, "ILLUSTRATES": pages.ILLUSTRATES}
    environment.globals |= {"charts": charts, "percent": percent, "data_set": names.data_set}
    return environment


def number(cell: str | float) -> str:
    """A cell of the verdict table, "" if it is empty."""
    return charts.figure(float(cell)) if cell not in ("", None) else ""


def minutes(value: float) -> str:
    """``40 s``, ``12 min``, ``3.1 h``."""
    if value < 1:
        return f"{max(1, round(60 * value))} s"
    return f"{value:.0f} min" if value < 90 else f"{value / 60:.1f} h"


class Shown(NamedTuple):
    """A run on the page of its artifact: the file of its figure below ``figures``, or its table."""

    run: Run
    file: str
    table: Markup


def _drawn(page: Page, run: Run, out: Path) -> tuple[str, Markup]:
    """Copy the figure of a run; its file name, "" of a table or of nothing; and its table."""
    if run.drawn is None or run.drawn.suffix == ".html":
        return "", _table(run)
    name = page.key + ("" if run is page.first else f"_{run.scale}") + run.drawn.suffix
    shutil.copyfile(run.drawn, out / "figures" / name)
    return name, Markup("")


def _table(run: Run) -> Markup:
    """The table that was written for browsers, without its page; "" of a figure or of nothing."""
    if run.drawn is None or run.drawn.suffix != ".html":
        return Markup("")
    body = re.search(r"<body>(.*)</body>", run.drawn.read_text(encoding="utf-8"), re.DOTALL)
    return Markup(body[1].strip() if body else "")


def _curves(page: Page) -> Markup:
    """The curves of a figure as JSON that may stand in a page."""
    content, source = page.content, page.first.table
    drawing = rendering.find(content["render"])
    if content["kind"] != "figure" or source is None or not getattr(drawing, "curves", True):
        return Markup("")
    opens = names.first_metric(page.protocol, content["render"])
    found = charts.curves(source, page.methods, page.protocol, opens, content["caption"])
    return Markup(found.replace("<", "\\u003c"))


def _card(page: Page, out: Path) -> tuple[str, list[list[str]]]:
    """The file of the thumbnail of a figure, or the corner of a table."""
    run, target = page.first, out / f"thumbnails/{page.key}.webp"
    picture = run.drawn.with_suffix(".png") if run.drawn else Path()
    if run.thumbnail:
        shutil.copyfile(run.thumbnail, target)
    elif picture.is_file():
        thumbnail(picture, target)
    else:
        rows = re.findall(r"<tr[^>]*>(.*?)</tr>", _table(run), re.DOTALL)[:7]
        cells = [re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", row, re.DOTALL)[:5] for row in rows]
        return "", [[re.sub("<[^>]*>", "", cell) for cell in row] for row in cells]
    return target.name, []


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
        values = file.with_suffix(".published.csv")
        links = [Link("settings and claims", file.name, self._href(file))]
        if values.is_file():
            links.append(Link("published values", values.name, self._href(values)))
        if "protocol" in content:
            links.append(self._link("protocol", content["protocol"], find_protocol(content["protocol"]).run))
        return [*links, self._link("drawn by", content["render"], rendering.find(content["render"]))]

    def methods(self, page: Page) -> list[Link]:
        """Label, method and docstring of every method of the page; a user's class is not imported."""
        links = []
        for label, spec in page.methods.items():
            name = str(spec.get("method", ""))
            found = method_class(name) if name in METHODS else None
            links.append(self._link(names.label(page.methods, label), name, found))
        return links

    def _link(self, what: str, name: str, found: Callable[..., object] | None) -> Link:
        """A function or class, with the first paragraph of its docstring."""
        if found is None:
            return Link(what, name, "")
        text, file, line = _source(inspect.unwrap(found))
        return Link(what, name, self._href(file, line), text)

    def _href(self, file: Path, line: int = 0) -> str:
        if not file.is_file():
            return ""
        file = file.resolve()
        name = self.files.setdefault(file, self.shown(file).lstrip("/").replace("/", "_") + ".html")
        return name + (f"#L-{line}" if line else "")

    def shown(self, file: Path) -> str:
        """Path of a file as a reader knows it."""
        return str(file.relative_to(CHECKOUT) if file.is_relative_to(CHECKOUT) else file)


def numbered(file: Path) -> Markup:
    """A file as HTML with a number, and an anchor, at every line."""
    lines = enumerate(file.read_text(encoding="utf-8").splitlines(), start=1)
    body = "".join(f'<span id="L-{n}"><a href="#L-{n}">{n}</a>{escape(line)}</span>' for n, line in lines)
    return Markup(f'<pre class="code">{body}</pre>')


@cache
def _source(found: Callable[..., object]) -> tuple[str, Path, int]:
    """First paragraph of the docstring, file and line of a function or class; to find a class is slow."""
    text = (inspect.getdoc(found) or "").partition("\n\n")[0]
    return text, Path(inspect.getsourcefile(found) or ""), inspect.getsourcelines(found)[1]
