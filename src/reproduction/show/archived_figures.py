"""Figures and tables of the archived run, drawn again from its tables: no experiment runs."""

from collections.abc import Iterable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

from reproduction.judge import archived_run
from reproduction.plan.plan import Plan
from reproduction.show import names as names_of
from reproduction.show.panels import RenderError
from reproduction.show.rendering import draw

FORMATS = {"figure": ("png", "svg"), "table": ("html", "md", "csv", "tex")}


def draw_again(plan: Plan, names: Iterable[str], home: Path) -> Iterator[str]:
    """Draw archived figures and tables with the present code and settings.

    Parameters
    ----------
    plan : Plan
        At full scale, with every paper.
    names : iterable of str
        Results, as ``<paper>/<artifact>``.
    home : Path
        Folder with ``results/reference`` and ``figures/reference``.

    Yields
    ------
    str
        A line for each result: that it was drawn, or why it was not.
    """
    for name in names:
        with TemporaryDirectory() as folder:
            try:
                drawn = draw_archived(plan, name, home / "results/reference", Path(folder))
            except (RenderError, ValueError) as error:
                yield f"{name}: not drawn: {error}"
                continue
            archived_run.archive_drawing(drawn, home / "figures/reference" / name)
        yield f"{name}: drawn"


def draw_archived(plan: Plan, name: str, archive: Path, folder: Path) -> Path:
    """Draw one archived result into a folder, and return the file that the archive keeps.

    Raises ValueError: a table of it is not in the archive, or is not the one of its record.
    """
    artifact = plan.artifact(name)
    tables = {}
    for shown in plan.artifacts_shown(artifact):
        if not shown.protocol:
            continue
        source = f"{shown.paper}/{shown.name}"
        content = archived_run.unpack(archive / source, "table.csv")
        if not content:
            raise ValueError(f"the table of {source} is not archived")
        file = folder / f"{shown.name}.csv"
        file.write_bytes(content)
        tables[shown.name] = file
    files = [folder / f"drawing.{suffix}" for suffix in FORMATS[artifact.kind]]
    with names_of.using(artifact.file.parent):
        draw(artifact.render, artifact.name, tables, plan.shown_with(name), files)
    return archived_run.choose_smallest(files) or files[0]
