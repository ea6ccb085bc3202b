"""Pages of the reference, one per room of the library, and the tree of all pages."""

import pkgutil
from importlib import import_module
from pathlib import Path
from typing import Any

ROOMS = {
    "filters": "Adaptive filters",
    "online": "Learners that see noisy instances",
    "classifiers": "Classifiers",
    "noise": "Noise",
    "losses": "Losses",
    "kernels": "Kernels",
    "theory": "Theory",
    "solvers": "Solvers",
    "auditing": "Label audit",
}
ALONE = {
    "crowds": "Crowds",
    "statistics": "Statistics",
    "seeding": "Random numbers",
}
TREE = """

```{{toctree}}
:hidden:

{pages}
```
"""
CONTENTS = {
    "README": "docs/guides docs/papers/README docs/evidence docs/api/README CONTRIBUTING CHANGELOG SECURITY",
    "docs/guides": "installation audit extending figures ../config/README ../config/settings data "
    "../data/README cluster scaling",
    "docs/papers/README": "ors pnorm robust_sgd kernel_boost noisy_online audit",
    "docs/papers/kernel_boost": "kernel_boost/kernels kernel_boost/boosting kernel_boost/bounds",
    "docs/evidence": "verdicts history reproducibility limitations",
    "docs/api/README": " ".join([*ROOMS, *ALONE]),
}


def _modules(room: str) -> list[str]:
    package = import_module(f"noisylabels.{room}")
    if not hasattr(package, "__path__"):
        return [package.__name__]
    found = pkgutil.walk_packages(package.__path__, f"{package.__name__}.")
    return [module.name for module in found if not module.ispkg]


def _section(module: str, room: str) -> str:
    title = module.removeprefix(f"noisylabels.{room}.")
    return f"## {title}\n\n```{{eval-rst}}\n.. automodule:: {module}\n```\n"


def _pages() -> dict[str, str]:
    titles = {**ROOMS, **ALONE}
    pages = {
        room: f"# {title}\n\n" + "\n".join(_section(module, room) for module in _modules(room))
        for room, title in titles.items()
    }
    listed = "\n".join(f"- [{title}]({room}.md)" for room, title in titles.items())
    return pages | {"README": f"# Reference\n\nThe library, room by room, from its docstrings.\n\n{listed}\n"}


def write(app: Any) -> None:
    """The pages docs/api/<room>.md; a page that has not changed is left, and is not built again."""
    folder = Path(app.srcdir) / "docs/api"
    folder.mkdir(exist_ok=True)
    for name, text in _pages().items():
        page = folder / f"{name}.md"
        if not page.is_file() or page.read_text(encoding="utf-8") != text:
            page.write_text(text, encoding="utf-8")


def contents(app: Any, docname: str, source: list[str]) -> None:
    """A page that leads to others is followed by their tree."""
    here = (Path(app.srcdir) / docname).parent
    pages = [page for page in CONTENTS.get(docname, "").split() if (here / f"{page}.md").is_file()]
    if pages:
        source[0] += TREE.format(pages="\n".join(pages))


def front(app: Any, failed: Exception | None) -> None:
    """index.html leads to the front page."""
    target = f"{app.config.root_doc}.html"
    text = f'<!doctype html><meta charset="utf-8"><meta http-equiv="refresh" content="0; url={target}">'
    text += f'<a href="{target}">{app.config.html_title}</a>\n'
    (Path(app.outdir) / "index.html").write_text(text, encoding="utf-8")
