"""Pages of the reference, one per room of the library, and the tree of all pages."""

import pkgutil
from importlib import import_module
from inspect import signature
from pathlib import Path
from typing import Any

from sklearn.base import ClassifierMixin

from reproduction.spec.papers import paper_pages

ROOMS = {
    "filters": "Adaptive filters",
    "online": "Learners that see noisy instances",
    "classifiers": "Classifiers",
    "noise": "Noise",
    "losses": "Losses",
    "kernels": "Kernels",
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
    "README": "docs/choose docs/tutorials/README docs/guides docs/papers docs/gallery docs/evidence "
    "docs/api/README docs/cite CONTRIBUTING CODE_OF_CONDUCT docs/release CHANGELOG SECURITY",
    "docs/tutorials/README": "audit flips filter two_measurements budget paper",
    "docs/guides": "installation features audit extending figures ../config/README settings "
    "vocabulary data ../data/README cluster scaling",
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


FEATURES = "<!-- the table of features is made when this page is built -->"


def features() -> str:
    """A row for every public class: what its methods and its scikit-learn tags say, with default settings."""
    import noisylabels

    heads = [
        "",
        "more than two classes",
        "`sample_weight`",
        "`class_weight`",
        "sparse X",
        "`predict_proba`",
        "`partial_fit`",
        "learns flips",
    ]
    rows = [heads, ["---"] * len(heads)]
    for name in noisylabels.__all__:
        if isinstance(cls := getattr(noisylabels, name), type):
            marks = ["yes" if able else "" for able in _abilities(cls)]
            rows.append([f"`{name}`", *marks])
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


def _abilities(cls: type) -> list[bool]:
    try:
        made = cls()
    except TypeError:  # a filter or a learner that needs a step size
        made = None
    tags = made.__sklearn_tags__() if isinstance(made, ClassifierMixin) else None
    crowd, page = cls.__module__ == "noisylabels.crowds", cls.__doc__ or ""
    return [
        crowd or bool(tags and tags.classifier_tags.multi_class),
        "sample_weight" in signature(getattr(cls, "fit", cls)).parameters,
        "class_weight" in signature(cls).parameters,
        bool(tags and tags.input_tags.sparse),
        hasattr(made, "predict_proba"),
        hasattr(cls, "partial_fit"),
        crowd or hasattr(cls, "true_label_posterior") or "flip_matrix_" in page,
    ]


def contents(app: Any, docname: str, source: list[str]) -> None:
    """A page that leads to others is followed by their tree; the table of features stands at its mark."""
    source[0] = source[0].replace(FEATURES, features()) if docname == "docs/features" else source[0]
    pages = _below(docname, Path(app.srcdir))
    if pages:
        source[0] += TREE.format(pages="\n".join(pages))


def _below(docname: str, root: Path) -> list[str]:
    """The pages that a page leads to; the page of a paper leads to the other pages of its folder."""
    folder = (root / docname).parent
    if docname == "docs/papers":
        return [f"/{page.relative_to(root).with_suffix('')}" for page in paper_pages() if page.stem == "page"]
    if docname.startswith("src/papers/") and docname.endswith("/page"):
        return [page.stem for page in sorted(folder.glob("*.md")) if page.stem != "page"]
    return [page for page in CONTENTS.get(docname, "").split() if (folder / f"{page}.md").is_file()]


def front(app: Any, failed: Exception | None) -> None:
    """index.html leads to the front page."""
    target = f"{app.config.root_doc}.html"
    text = f'<!doctype html><meta charset="utf-8"><meta http-equiv="refresh" content="0; url={target}">'
    text += f'<a href="{target}">{app.config.html_title}</a>\n'
    (Path(app.outdir) / "index.html").write_text(text, encoding="utf-8")
