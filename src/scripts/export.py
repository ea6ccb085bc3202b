"""Put the figures, tables and verdicts of a finished run, and its report, into one folder."""

import argparse
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from noisylabels.command_line import name_program
from reproduction.paths import CHECKOUT
from reproduction.run.command_line import SCALES, TYPED_IN, find_papers

if TYPE_CHECKING:
    from reproduction.plan.plan import Plan
    from reproduction.show.site.pages import Page

FORMATS = ("pdf", "png", "tex")
"""Formats of figures, of which the first that exists is exported, and of tables."""
REPORT = "report.html"
VERDICTS = "verdicts.json"
INTRODUCTION = """# Results of {what}, {scale} scale

{count} figures and tables, exported on {day}. Each file is the one that its record describes.

| file | what it is | made by commit |
|---|---|---|
"""
ABOUT_VERDICTS = "every claim and published value, judged; its fields: `verdicts.schema.json`"
ABOUT_REPORT = "the report of Snakemake: figures, tables, verdicts, and how each was made"

Line = tuple[str, str, str]
"""File, what it is, and the commit that made it."""

parser = argparse.ArgumentParser(prog=f"{name_program()} export", description=__doc__)
parser.add_argument(
    "words",
    nargs="*",
    metavar="SCALE, TARGET or FOLDER",
    help="what was run, in the words of the run: full ors_fig2, smoke ../mine/my_paper",
)
parser.add_argument("--out", type=Path, help="new folder (default: export/<scale>)")


def main() -> None:
    """Export what the command names.

    Raises
    ------
    ValueError
        If a target is unknown, a result is not finished, or the folder holds other files.
    """
    options = parser.parse_args()
    words = list(options.words)
    scale = words.pop(0) if words and words[0] in SCALES else SCALES[0]
    targets, papers = find_papers(words)
    out: Path = options.out.absolute() if options.out else CHECKOUT / "export" / scale
    os.chdir(CHECKOUT)

    plan = make_plan(scale, papers)
    names = list_results(plan, targets)
    refuse_outdated(plan, names, targets)
    claim(out)
    rows = [copy_result(plan, name, out) for name in names]
    pages = find_pages(plan, names)
    if pages:
        write_verdicts(pages, out)
        rows.append((VERDICTS, ABOUT_VERDICTS, ""))
    write_report([scale, *words], out)
    rows.append((REPORT, ABOUT_REPORT, ""))
    from reproduction.run.console import path_to_show

    scope = ", ".join(targets) if targets else "every paper"
    write_readme(out, scope, scale, rows, len(names))
    print(f"{len(names)} results: {path_to_show(out / 'README.md')}")


def make_plan(scale: str, papers: list[str]) -> "Plan":
    """Make the plan of a scale, of the papers that are named or of the configuration."""
    from reproduction.plan import plan

    configuration = plan.configured(CHECKOUT, scale)
    if papers:
        configuration["papers"] = papers
    return plan.planned(CHECKOUT, configuration)


def list_results(plan: "Plan", targets: list[str]) -> list[str]:
    """List the results of targets; without a target, all that can be made here.

    Raises
    ------
    ValueError
        If a target is unknown or a result is not finished; names the first, and the command.
    """
    from reproduction.judge.archived_run import select_results

    names = [name for name in select_results(plan, targets) if name not in plan.left_out]
    for name in names:
        for file in plan.drawings(name):
            if not Path(file).is_file():
                command = " ".join(["./run", plan.config["scale"], *targets])
                raise ValueError(f"{name} is not finished ({file} is missing); {command}")
    return names


def refuse_outdated(plan: "Plan", names: list[str], targets: list[str]) -> None:
    """Refuse a result that a run would make again, such as one of a paper that was edited since.

    Raises
    ------
    ValueError
        Names the first, why, and the command.
    """
    from reproduction.plan import steps
    from reproduction.spec.papers import list_code_folders

    folders = list_code_folders(plan.config["papers"])
    python_path = os.environ.get("PYTHONPATH")
    if python_path:
        folders = [*folders, python_path]
    os.environ["PYTHONPATH"] = os.pathsep.join(folders)  # as in the jobs of a run
    _, _, decisions = steps.decide(plan)
    command = " ".join(["./run", plan.config["scale"], *targets])
    for name in names:
        for record in (f"{plan.results}/{name}/record.json", f"{plan.figures}/{name}.record.json"):
            reason = decisions.get(record, "")
            if reason:
                raise ValueError(f"{name} is out of date ({reason}); {command}")


def claim(out: Path) -> None:
    """Make the folder, or empty one that an earlier export made."""
    from noisylabels.output_folder import claim_output_folder

    claim_output_folder(out, "export")
    for folder in (out / "figures", out / "tables"):
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
    for name in (VERDICTS, "verdicts.schema.json", REPORT, "README.md"):
        (out / name).unlink(missing_ok=True)


def copy_result(plan: "Plan", name: str, out: Path) -> Line:
    """Copy a figure or table in its best format, and return its row of the README."""
    from reproduction.judge.archived_run import describe_commit
    from reproduction.judge.verdict_files import verify_output
    from reproduction.run import records

    artifact = plan.artifact(name)
    files = {Path(file).suffix[1:]: Path(file) for file in plan.drawings(name)}
    suffix = next(suffix for suffix in FORMATS if suffix in files)
    file = files[suffix]
    verify_output(file)
    folder = "tables" if suffix == "tex" else "figures"
    target = Path(folder, f"{name.replace('/', '_')}.{suffix}")
    shutil.copyfile(file, out / target)
    facts = records.facts(Path(plan.results, name, records.RECORD))
    if not facts:
        facts = records.facts(Path(plan.figures, f"{name}.{records.RECORD}"))
    return str(target), artifact.content["title"], describe_commit(facts)


def find_pages(plan: "Plan", names: list[str]) -> list["Page"]:
    """Find the site's words about the results; nothing for a scale that is not judged."""
    from reproduction.show.site import pages

    if plan.config["scale"] != "full":
        return []
    return [page for page in pages.all_pages(plan, CHECKOUT, Path()) if page.name in names]


def write_verdicts(pages: list["Page"], out: Path) -> None:
    """Write the verdicts as JSON."""
    from reproduction.show.site import exports

    exports.write_verdicts(pages, out)


def write_report(words: list[str], out: Path) -> None:
    """Have Snakemake write its report.

    Raises
    ------
    ValueError
        If it cannot; with the last line that it says.
    """
    start = [sys.executable, "-P", str(CHECKOUT / "src/scripts/start.py")]
    command = [*start, *words, "--report", str(out / REPORT)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if not (out / REPORT).is_file():
        lines = (done.stdout + done.stderr).strip().splitlines() or [""]
        raise ValueError(f"Snakemake cannot write its report: {lines[-1]}")


def write_readme(out: Path, scope: str, scale: str, rows: list[Line], count: int) -> None:
    """Write what each file is."""
    import time

    day = time.strftime("%Y-%m-%d")
    text = INTRODUCTION.format(what=scope, scale=scale, count=count, day=day)
    for file, title, commit in rows:
        text += f"| [{file}]({file}) | {title} | {commit} |\n"
    (out / "README.md").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    os.environ.setdefault(TYPED_IN, os.getcwd())
    try:
        main()
    except (ValueError, OSError) as error:
        sys.exit(f"export: {error}")
