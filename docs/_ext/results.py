"""The pages of results: their sources before a build, and the verdicts for programs after it."""

from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]


def write(app: Any) -> None:
    """Write the sources of the pages of all results."""
    from reproduction.plan.plan import configured, planned
    from reproduction.show.site import sphinx_sources

    config = configured(ROOT, "full")
    config["papers"] = [*app.config.papers_to_show, *config["papers"]]
    app.noisylabels_papers = sphinx_sources.write_sources(planned(ROOT, config, every=True), ROOT)


def export(app: Any, failed: Exception | None) -> None:
    """Write every verdict for programs."""
    from reproduction.show.site import exports, sphinx_sources

    if failed is None:
        pages = sphinx_sources.list_pages(app.noisylabels_papers)
        exports.write_verdicts(pages, Path(app.outdir))
