"""Sources from which Sphinx builds the pages of results: front page, papers and results.

What the pages say comes from `pages`, the interactive charts from `vega`. The sources are written
when the site is built and are not part of the repository.
"""

import os
import re
import textwrap
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from html import unescape
from pathlib import Path
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from reproduction.judge.archived_run import Run, describe_commit, write_thumbnail
from reproduction.judge.verdict_files import Row
from reproduction.plan.plan import Plan
from reproduction.show import names, rendering
from reproduction.show.headlines import Headline
from reproduction.show.site import charts, pages, vega
from reproduction.show.site.pages import FOLDER, Page, Paper, label_of
from reproduction.spec.protocol import find_protocol
from reproduction.spec.verdict_words import (
    CLAIM_KINDS,
    FLAGS,
    INCONCLUSIVE,
    NOT_REPRODUCED,
    OURS,
    PARTIALLY_REPRODUCED,
    REPRODUCED,
    VERDICTS,
    count_group,
    count_verdicts,
    describe,
    group_verdicts,
    look_up,
)

FRONT_PAGE = "docs/index.rst"
THUMBNAILS = "thumbnails"
BADGES = {
    REPRODUCED: "success",
    PARTIALLY_REPRODUCED: "info",
    INCONCLUSIVE: "warning",
    NOT_REPRODUCED: "danger",
}
"""Verdict -> colour of its badge in sphinx-design; all others are grey."""
LARGEST_TABLE = 1_000_000
"""Bytes of a table that the site has a copy of; larger ones are in the repository only."""
SENTENCE_END = re.compile(r"(?<=[.?!])\s+(?=[A-Z:])")
MARKUP = re.compile(r"([\\*|_<>`\[\]])")
"""Pattern of what Sphinx would read as markup in a sentence."""
FIGURE_ROLE = re.compile(r":\w+:`[^`]*`")


def write_sources(plan: Plan, checkout: Path) -> list[Paper]:
    """Write the sources of all results, and remove those of results that no longer exist.

    Parameters
    ----------
    plan : Plan
        The papers at full scale.
    checkout : Path
        Folder of the archived run and of the runs made here.

    Returns
    -------
    list of Paper
        What the pages are about, in the order of the configuration.
    """
    papers = pages.by_paper(pages.all_pages(plan, checkout, checkout))
    writer = Writer(plan, checkout, papers)
    sources = writer.write_texts()
    update_files(checkout / FOLDER, sources)
    update_file(checkout / FRONT_PAGE, writer.render("front.rst"))
    return papers


def update_files(folder: Path, texts: Mapping[str, str]) -> None:
    """Write the texts that differ from their files, and remove the files of other texts."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in texts.items():
        update_file(folder / name, text)
    for file in folder.glob("*.rst"):
        if file.name not in texts:
            file.unlink()


def update_file(file: Path, text: str) -> None:
    """Write a text unless its file has it already: Sphinx builds again what is newer."""
    before = None
    if file.is_file():
        before = file.read_text(encoding="utf-8")
    if before != text:
        file.write_text(text, encoding="utf-8", newline="\n")


class Writer:
    """Writer of the sources from their templates.

    Parameters
    ----------
    plan : Plan
        The papers at full scale.
    checkout : Path
        Where the sources are written, and where the figures are.
    papers : sequence of Paper
        What the pages are about.
    """

    def __init__(self, plan: Plan, checkout: Path, papers: Sequence[Paper]) -> None:
        self.checkout, self.papers = checkout, papers
        self.by_key = {page.key: page for page in list_pages(papers)}
        judged: list[Row] = []
        for page in list_pages(self.listed):
            judged += page.judged
        self.shared = {
            "papers": papers,
            "by_key": self.by_key,
            "seed": plan.config["seed"],
            "groups": group_verdicts(judged),
        }

    @property
    def listed(self) -> list[Paper]:
        """Select the papers that the configuration lists, whose verdicts are counted."""
        return [paper for paper in self.papers if not paper.added]

    def render(self, template: str, **variables: Any) -> str:
        """Fill a template."""
        return load_templates().get_template(template).render(self.shared | variables)

    def write_texts(self) -> dict[str, str]:
        """Write every text, by the name of its file."""
        (self.checkout / FOLDER / THUMBNAILS).mkdir(parents=True, exist_ok=True)
        texts = {
            "index.rst": self.render("results.rst"),
            "verdicts.rst": self.render("verdict_words.rst"),
        }
        for paper in self.papers:
            with names.using(paper.pages[0].artifact.file.parent):
                thumbnails = {page.key: self.find_thumbnail(page) for page in paper.pages}
                document = self.find_document(paper)
                texts[f"paper_{paper.name}.rst"] = self.render(
                    "paper.rst", paper=paper, thumbnails=thumbnails, document=document
                )
                for page in paper.pages:
                    described = self.describe_page(page, paper)
                    texts[f"{page.key}.rst"] = self.render("result.rst", **described)
        return texts

    def describe_page(self, page: Page, paper: Paper) -> dict[str, Any]:
        """Collect what the page of a result says."""
        claims = page.claims
        deciding = [row for row in claims if not row["form_of"]]
        first_sentences, details = split_caption(page.content["caption"])
        return {
            "page": page,
            "paper": paper,
            "content": page.content,
            "seen": first_sentences,
            "rest": details,
            "picture": self.find_picture(page.first),
            "width": measure_width(page.first.drawn),
            "table": read_table(page.first, [page, *pages.elsewhere(page, self.by_key)]),
            "curves": draw_curves(page),
            "short": write_in_short(page, paper),
            "claims": [row for row in deciding if row["kind"] != OURS],
            "checks": [row for row in deciding if row["kind"] == OURS],
            "forms": [row for row in claims if row["form_of"]],
            "published": describe_published(page),
            "agreements": charts.agreements(page),
            "files": self.list_files(page),
            "judged_at": pages.elsewhere(page, self.by_key),
        }

    def find_picture(self, run: Run) -> str:
        """Find the figure of a run, as a path from the top of the sources; "" of a table."""
        if run.drawn is None or run.drawn.suffix == ".html":
            return ""
        return self.path_of(run.drawn)

    def find_thumbnail(self, page: Page) -> str:
        """Find the small picture of a result, or make it; "" of a table."""
        run = page.first
        if run.thumbnail:
            return self.path_of(run.thumbnail)
        picture = run.drawn.with_suffix(".png") if run.drawn else None
        if picture is None or not picture.is_file():
            return ""
        thumbnail = self.checkout / FOLDER / THUMBNAILS / f"{page.key}.webp"
        write_thumbnail(picture, thumbnail)
        return self.path_of(thumbnail)

    def find_document(self, paper: Paper) -> str:
        """Find the page in the folder of a paper that explains it; "" without one."""
        file = paper.pages[0].artifact.file.with_name("page.md")
        is_source = file.is_file() and file.is_relative_to(self.checkout)
        return self.path_of(file.with_suffix("")) if is_source else ""

    def path_of(self, file: Path) -> str:
        """Name a file by its path from the top of the sources, as Sphinx does."""
        return "/" + Path(os.path.relpath(file, self.checkout)).as_posix()

    def list_files(self, page: Page) -> list[tuple[str, str]]:
        """List the files behind a result: what each holds, and its path."""
        file = page.artifact.file
        sources: dict[str, Path | None] = {"settings and claims": file}
        sources["published values"] = file.with_suffix(".published.csv")
        table = page.first.table
        if table is not None and table.stat().st_size <= LARGEST_TABLE:
            sources["means, as drawn"] = table
        if "protocol" in page.content:
            function = find_protocol(page.content["protocol"]).run
            sources[f"experiment: {page.content['protocol']}"] = find_source(function)
        drawing = page.content["render"]
        sources[f"drawing: {drawing}"] = find_source(rendering.find(drawing))
        files = []
        for content, source in sources.items():
            if source is not None and source.is_file():
                files.append((content, self.path_of(source)))
        return files


def list_pages(papers: Iterable[Paper]) -> list[Page]:
    """List the pages of all results."""
    listed: list[Page] = []
    for paper in papers:
        listed += paper.pages
    return listed


def find_source(function: Any) -> Path | None:
    """Find the file of a function."""
    import inspect

    name = inspect.getsourcefile(inspect.unwrap(function)) if function is not None else None
    return Path(name) if name else None


WIDEST = 9.0
PIXELS_PER_INCH = 100
"""Size of figures on pages, at most `WIDEST` inches: their type is as large as that of captions."""


def measure_width(drawn: Path | None) -> int:
    """Measure how wide a figure is shown, in pixels: its letters are as large as in all others."""
    if drawn is None or drawn.suffix == ".html":
        return 0
    if drawn.suffix == ".svg":
        start = drawn.read_text(encoding="utf-8")[:2000]
        match = re.search(r'<svg[^>]*? width="([\d.]+)pt"', start)
        inches = float(match[1]) / 72 if match else WIDEST  # a picture of a user may have no size
        return round(inches * PIXELS_PER_INCH)
    from PIL import Image

    with Image.open(drawn) as image:
        dots_per_inch = image.info.get("dpi", (PIXELS_PER_INCH,))[0]
        return round(image.width / dots_per_inch * PIXELS_PER_INCH)


def split_caption(caption: str) -> tuple[str, str]:
    """Split a caption after its second sentence: what is seen, and the details."""
    text = " ".join(caption.split())
    if "\n\n" in caption.strip() or ".. " in caption:
        return "", caption.strip()
    formulas: list[str] = []

    def put_aside(formula: re.Match[str]) -> str:
        formulas.append(formula[0])
        return f"\x00{len(formulas) - 1}\x00"

    sentences = SENTENCE_END.split(FIGURE_ROLE.sub(put_aside, text))

    def put_back(part: str) -> str:
        return re.sub(r"\x00(\d+)\x00", lambda mark: formulas[int(mark[1])], part)

    return put_back(" ".join(sentences[:2])), put_back(" ".join(sentences[2:]))


MOST_HEADLINES = 4
"""Headlines that a reader takes in at a glance."""


def write_in_short(page: Page, paper: Paper) -> str:
    """Write the result in short: the headlines about this page if they are few, else the counts."""
    claims = {row["id"] for row in page.claims}
    for names_of_claims in (paper.findings.headlines, paper.findings.summary):
        chosen = [name for name in names_of_claims if name in claims]
        if 0 < len(chosen) <= MOST_HEADLINES:
            groups = paper.group_headlines(chosen)
            parts = [f"{title}: {list_headlines(rows, paper)}." for title, rows in groups.items()]
            return " ".join(parts)
    return as_text(count_in_words(page.judged) or "No claim and no published value is tested here.")


def count_in_words(rows: Iterable[Row]) -> str:
    """Count in words: ``Of 5 published values, 3 are reproduced and 2 are inconclusive.``"""
    parts = []
    for name, group in group_verdicts(rows).items():
        counted = count_group(name, len(group))
        if len(group) == 1:
            parts.append(f"{counted} is {look_up(group[0]['verdict']).label}")
            continue
        counts = [
            f"{count} {'is' if count == 1 else 'are'} {look_up(verdict).label}"
            for verdict, count in count_verdicts(group).items()
        ]
        listed = counts[-1]
        if len(counts) > 1:
            listed = f"{', '.join(counts[:-1])} and {listed}"
        parts.append(f"of {counted}, {listed}")
    text = "; ".join(parts)
    return f"{text[0].upper()}{text[1:]}." if text else ""


def read_table(run: Run, judges: Sequence[Page]) -> Markup:
    """Read the table for browsers, its published values with the signs of their verdicts."""
    if run.drawn is None or run.drawn.suffix != ".html":
        return Markup("")
    page = run.drawn.read_text(encoding="utf-8")
    body = re.search(r"<body>(.*)</body>", page, re.DOTALL)
    if body is None:
        return Markup("")
    table = Markup(body[1].strip())
    marked = charts.marks(table, judges) or table
    styled = str(marked).replace("<table>", '<table class="table">')
    return Markup(styled)


def draw_curves(page: Page) -> Markup:
    """Draw the curves of a figure as an interactive chart; "" without curves."""
    content, source = page.content, page.first.table
    drawing = rendering.find(content["render"])
    if content["kind"] != "figure" or source is None or not getattr(drawing, "curves", True):
        return Markup("")
    opens = names.first_metric(page.protocol, content["render"])
    panels = charts.curves(source, page.methods, page.protocol, opens, content["caption"])
    return (
        vega.embed(vega.draw_curves(panels), f"Interactive plot: {content['title']}")
        if panels
        else Markup("")
    )


def describe_published(page: Page) -> dict[str, Any]:
    """Collect what the page says of the published values."""
    rows = page.published_values
    entries = page.content.get("published", [])
    drawn = {}
    for title, lines in charts.blocks(rows).items():
        label = f"Published values and ours {title}".strip()
        drawn[title] = vega.embed(vega.draw_published(lines), label)
    return {
        "rows": rows,
        "charts": drawn,
        "unit": page.artifact.other_unit(rows) if rows else "",
        "reasons": list(dict.fromkeys(entry["reason"] for entry in entries)),
    }


@cache
def load_templates() -> Environment:
    """Load the templates of the sources, with their filters."""
    environment = Environment(
        loader=PackageLoader("reproduction.show.site"), undefined=StrictUndefined, autoescape=False
    )
    environment.trim_blocks = environment.lstrip_blocks = True
    filters = (
        as_text,
        badge,
        badges,
        draw_bar,
        indent,
        minutes,
        number,
        heading,
        count_group,
        count_verdicts,
        describe_commit,
        describe,
        label_of,
        list_headlines,
    )
    environment.filters |= {function.__name__: function for function in filters}
    environment.globals |= {
        "CLAIM_KINDS": CLAIM_KINDS,
        "FLAGS": FLAGS,
        "ILLUSTRATES": pages.ILLUSTRATES,
        "VERDICTS": VERDICTS,
        "data_set": names.data_set,
        "draw_agreement": vega.draw_agreement,
        "embed": vega.embed,
        "look_up": look_up,
    }
    return environment


def as_text(text: object) -> str:
    """Write a sentence for Sphinx: words between backticks are code, nothing else is markup."""
    plain = str(text)
    if isinstance(text, Markup):
        without_tags = re.sub(r"<[^>]+>", "", plain)
        plain = unescape(without_tags)
    words = " ".join(plain.split())
    parts = re.split(r"`+([^`]+)`+", words)
    written = ""
    for index, part in enumerate(parts):
        is_code = index % 2 == 1
        if is_code:
            written += f"\\ ``{part}``\\ "
        else:
            written += MARKUP.sub(r"\\\1", part)
    written = written.strip()
    if not written:
        return ""
    # An empty word first: a dash or "1." at the start would begin a list.
    return f"\\ {written}"


def indent(text: object, width: int) -> str:
    """Indent every line but the first."""
    return textwrap.indent(str(text).strip(), " " * width).lstrip()


def heading(text: str, line: str = "=") -> str:
    """Write a heading with a line below it."""
    return f"{as_text(text)}\n{line * (2 * len(text) + 4)}"


def choose_colour(verdict: str) -> str:
    """Choose the colour of a badge."""
    return BADGES.get(verdict, "secondary")


def badge(verdict: str, words: str = "") -> str:
    """Write a badge that links to the definition of its verdict."""
    shown = look_up(verdict)
    label = words or shown.label
    text = re.sub(r"[<>`]", "", label)
    colour = choose_colour(verdict)
    anchor = verdict.replace("_", "-")
    return f":bdg-ref-{colour}:`{shown.symbol} {text} <verdict-{anchor}>`"


def badges(rows: Iterable[Row], linked: bool = True) -> str:
    """Write the counts of verdicts as badges; without links for a card, which is a link itself."""
    written = []
    for verdict, count in count_verdicts(rows).items():
        shown = look_up(verdict)
        if linked:
            written.append(badge(verdict, f"{count} {shown.label}"))
        else:
            colour = choose_colour(verdict)
            written.append(f":bdg-{colour}:`{shown.symbol} {count} {shown.label}`")
    return " ".join(written)


def draw_bar(rows: Sequence[Row]) -> Markup:
    """Draw the counts of verdicts as one bar, as HTML."""
    counts = count_verdicts(rows)
    labelled = [f"{count} {look_up(verdict).label}" for verdict, count in counts.items()]
    words = ", ".join(labelled)
    parts = [Markup('<div class="bar" role="img" aria-label="{}">').format(words)]
    for verdict, count in counts.items():
        parts.append(Markup('<span class="{}" style="flex:{}"></span>').format(verdict, count))
    return Markup("").join([*parts, Markup("</div>")])


def number(cell: str | float | None) -> str:
    """Write a number of the table of verdicts; "" of an empty cell."""
    return charts.figure(float(cell)) if cell not in ("", None) else ""


def minutes(value: float) -> str:
    """Write a duration: ``40 s``, ``12 min``, ``3.1 h``."""
    if value < 1:
        return f"{max(1, round(60 * value))} s"
    if value < 90:
        return f"{value:.0f} min"
    return f"{value / 60:.1f} h"


def list_headlines(headlines: Iterable[Headline], paper: Paper) -> str:
    """Write headlines, each with a link to its claim and the sign of its verdict."""
    results = {page.artifact.name: page for page in paper.pages}
    parts = []
    for text, row in headlines:
        name = str(row["id"])
        symbol = look_up(str(row["verdict"])).symbol
        label = label_of(results[row["artifact"]], name)
        parts.append(f"{as_text(text)} (:ref:`{symbol} {name} <{label}>`)")
    return "; ".join(parts)
