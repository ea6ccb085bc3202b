"""The page of a run: every result, its verdicts, and its picture when there is one.

The page is one file that needs no server. It is written before the first job, after each paper and
at the end, so it must be quick: what it needs of the plan is kept in a file, and nothing numerical
is imported.
"""

import json
import os
import re
import time
from collections.abc import Iterable, Mapping
from functools import cache
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from reproduction.judge.verdict_files import Row, VerdictFiles, read_verdicts, verify_output
from reproduction.spec.verdict_words import (
    FLAGS,
    NO_ROWS,
    NOT_JUDGED,
    RAN,
    VERDICTS,
    count_verdicts,
    describe,
    is_claim,
    look_up,
)

if TYPE_CHECKING:
    from reproduction.plan.plan import Plan
    from reproduction.spec.artifact import Artifact

JUDGED = ("full", "part")
"""Scales that are judged."""
PICTURES = (".svg", ".png")
RECORD = "run_page.json"
"""File below the logs of a run with what its page needs of the plan."""
SHOWN_VERDICTS = [verdict for verdict in VERDICTS if verdict not in (RAN, NO_ROWS, NOT_JUDGED)]


def begin(plan: "Plan", home: Path) -> Path:
    """Write what the page needs of the plan, and the page before the first job.

    Parameters
    ----------
    plan : Plan
        The plan of the run in the working directory.
    home : Path
        Folder with the archived run.

    Returns
    -------
    Path
        The page.
    """
    from reproduction.run.console import path_to_show

    results = []
    scale = plan.config["scale"]
    for name, artifact in plan.artifacts.items():
        title = (artifact.file.parent / "TITLE").read_text(encoding="utf-8").strip()
        folder = artifact.file.parent
        is_own = not artifact.file.is_relative_to(home)  # the site does not show it
        target = path_to_show(folder) if is_own else name.replace("/", "_")
        remarks = [*artifact.content.get("deviations", []), *artifact.content.get("notes", [])]
        results.append(
            {
                "name": name,
                "paper": title,
                "title": artifact.content["title"],
                "summary": artifact.content.get("summary", "") or artifact.content["title"],
                "caption": artifact.content["caption"],
                "left_out_cases": list_left_out_cases(artifact),
                "drawings": plan.drawings(name),
                "remarks": remarks if is_own else [],
                "left_out": plan.left_out.get(name, ""),
                "is_own": is_own,
                "command": f"./run {scale} {target}",
            }
        )
    record = {
        "scale": plan.config["scale"],
        "folder": plan.folder,
        "results": results,
        "home": str(home),
        "title": name_project(plan),
        "broken": dict(plan.broken),
        "began": time.strftime("%H:%M"),
    }
    file = Path("logs", plan.folder, RECORD)
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps(record), encoding="utf-8")
    return write(file)


def list_left_out_cases(artifact: "Artifact") -> dict[str, str]:
    """Write which cases the claims of an artifact leave out, for each that leaves out any."""
    from reproduction.show import names
    from reproduction.show.left_out_cases import describe_left_out_cases

    described = {}
    methods = artifact.settings.select_methods()
    with names.using(artifact.file.parent):
        labels = {key: names.label(methods, key) for key in methods}
        for claim in artifact.content.get("claims", []):
            sentence = describe_left_out_cases(claim, labels)
            if sentence:
                described[claim["id"]] = sentence
    return described


def name_project(plan: "Plan") -> str:
    """Name a run of a user's papers alone: the title of the one paper, or the name of their folder.

    With papers of the repository it has no name.
    """
    from reproduction.spec.papers import HOME  # a job that writes the page needs no YAML

    folders = {artifact.file.parent for artifact in plan.artifacts.values()}
    if not folders or any(folder.is_relative_to(HOME) for folder in folders):
        return ""
    if len(folders) == 1 and not plan.broken:
        return (folders.pop() / "TITLE").read_text(encoding="utf-8").strip()
    return Path(os.path.commonpath([folder.parent for folder in folders])).name


def write(file: Path) -> Path:
    """Write the page of a run from the record that `begin` made, in place of the last one."""
    record = json.loads(file.read_text(encoding="utf-8"))
    out = Path("site", record["folder"], "index.html")
    out.parent.mkdir(parents=True, exist_ok=True)
    files = VerdictFiles(Path(), f"results/{record['folder']}")
    results = [describe_result(result, record, files, out.parent) for result in record["results"]]
    papers: dict[str, list[dict[str, Any]]] = {}
    for result in results:
        papers.setdefault(result["paper"], []).append(result)
    page = load_template().render(
        record=record,
        papers=papers,
        results=results,
        done=sum(result["is_made"] for result in results),
        is_judged=record["scale"] in JUDGED,
    )
    part = out.with_name(f".part.{os.getpid()}.html")
    part.write_text(page, encoding="utf-8", newline="\n")
    part.replace(out)
    return out


def describe_result(
    result: Mapping[str, Any],
    record: Mapping[str, Any],
    files: VerdictFiles,
    folder: Path,
) -> dict[str, Any]:
    """Collect what the page says of a result."""
    name = result["name"]
    home = Path(record["home"])
    drawings = [Path(file) for file in result["drawings"] if Path(file).is_file()]
    judged: list[Row] = []
    refused = ""
    try:
        for file in drawings:
            verify_output(file)
        if record["scale"] in JUDGED:
            judged = files.rows(name)
    except ValueError as error:  # what was changed by hand is named, and left out
        refused = str(error)
        drawings = []
    archived = home / "results/reference" / name
    small = home / "figures/reference" / f"{name}.thumb.webp"
    tables = Path("results", record["folder"], name)
    picture = next((file for file in drawings if file.suffix in PICTURES), None)
    table = next((file for file in drawings if file.suffix == ".html"), None)
    rows = judged or read_verdicts(archived / "verdicts.csv")
    files_of_run = [] if refused else [*drawings, tables / "table.csv", tables / "verdicts.csv"]
    listed = {file.name: file for file in files_of_run}
    if not judged:
        listed["archived verdicts"] = archived / "verdicts.csv"
    return {
        **result,
        "is_made": bool(drawings),
        "refused": refused,
        "picture": link(picture, folder) if picture else "",
        "thumbnail": link(small, folder) if small.is_file() else "",
        "table": read_table(table) if table else Markup(""),
        "files": [(words, link(file, folder)) for words, file in listed.items() if file.is_file()],
        "rows": rows,
        "claims": [row for row in rows if is_claim(row)],
        "caption": re.sub(r":\w+:`([^`]*)`|[`*]", lambda role: role[1] or "", result["caption"]),
    }


def link(file: Path, folder: Path) -> str:
    """Write the address of a file as the page in a folder has it."""
    return Path(os.path.relpath(file, folder)).as_posix()


def read_table(file: Path) -> Markup:
    """Read the table that was written for browsers, without its page."""
    body = re.search(r"<body>(.*)</body>", file.read_text(encoding="utf-8"), re.DOTALL)
    return Markup(body[1].strip() if body else "")


@cache
def load_template() -> Any:
    """Load the template of the page."""
    loader = PackageLoader("reproduction.show.site")
    environment = Environment(loader=loader, autoescape=True, undefined=StrictUndefined)
    environment.trim_blocks = environment.lstrip_blocks = True
    environment.filters |= {"badges": write_badges, "badge": write_badge, "code": write_code}
    environment.globals |= {"VERDICTS": VERDICTS, "FLAGS": FLAGS, "SHOWN_VERDICTS": SHOWN_VERDICTS}
    return environment.get_template("run_page.html")


def write_badges(rows: Iterable[Row]) -> Markup:
    """Write the counts of verdicts; each leads to the definition of its verdict."""
    badges = []
    for verdict, count in count_verdicts(rows).items():
        badges.append(anchor(verdict, f"{count} {look_up(verdict).label}"))
    return Markup(" ").join(badges)


def write_badge(row: Row) -> Markup:
    """Write the verdict of a row."""
    return anchor(row["verdict"], describe(row))


def anchor(verdict: str, words: str) -> Markup:
    """Write a badge that leads to the definition of a verdict."""
    badge = Markup('<a class="badge" href="#verdict-{0}"><i class="{0}">{1}</i> {2}</a>')
    return badge.format(verdict, look_up(verdict).symbol, words)


def write_code(text: str) -> Markup:
    """Write a sentence in which words between backticks are code."""
    return Markup(re.sub(r"`+([^`]+)`+", r"<code>\1</code>", escape(text)))
