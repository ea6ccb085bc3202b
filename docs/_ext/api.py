"""Pages of the reference, one per room of the library, and the tree of all pages."""

from inspect import signature
from pathlib import Path
from typing import Any

from sklearn.base import ClassifierMixin

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
    "crowds": "Several annotators",
    "out_of_core": "Tables larger than memory",
    "statistics": "Statistics",
    "seeding": "Random numbers",
}
TREE = """

```{{toctree}}
:hidden:

{pages}
```
"""
FOREIGN_BASES = "BaseEstimator, tuple, object"
"""Classes of others: what a class of ours inherits from them is not repeated."""


def group_public_names() -> dict[str, list[str]]:
    """Group the public names of the library by the part of it that they come from."""
    import noisylabels

    titles = {**ROOMS, **ALONE}
    groups: dict[str, list[str]] = {part: [] for part in titles}
    for name in noisylabels.__all__:
        part = getattr(noisylabels, name).__module__.split(".")[1]
        groups[part].append(name)
    return {part: names for part, names in groups.items() if names}


def describe(name: str) -> str:
    """Write the directive that documents a public class or function."""
    import noisylabels

    if isinstance(getattr(noisylabels, name), type):
        members = "   :members:\n   :inherited-members: " + FOREIGN_BASES + "\n"
        return f".. autoclass:: {name}\n{members}"
    return f".. autofunction:: {name}\n"


def write_part(title: str, names: list[str]) -> str:
    """Write the page of a part of the library: a table of its names, then each of them."""
    line = "=" * len(title)
    lines_of_names = [f"   {name}\n" for name in names]
    table = ".. currentmodule:: noisylabels\n\n.. autosummary::\n   :nosignatures:\n\n"
    table += "".join(lines_of_names)
    described = "\n".join(describe(name) for name in names)
    return f"{title}\n{line}\n\n{table}\n{described}"


def write_pages() -> dict[str, str]:
    """Write all pages of the reference, by the names of their files."""
    titles = {**ROOMS, **ALONE}
    groups = group_public_names()
    pages = {f"{part}.rst": write_part(titles[part], names) for part, names in groups.items()}
    lines = []
    for part, names in groups.items():
        lines.append(f"- [{titles[part]}]({part}.rst): {', '.join(names)}")
    listed = "\n".join(lines)
    opening = "Every public name of the library, by task. All are imported from `noisylabels`."
    return pages | {"README.md": f"# Public names\n\n{opening}\n\n{listed}\n"}


def write(app: Any) -> None:
    """Write the pages below docs/api; one that has not changed is left, and is not built again."""
    folder = Path(app.srcdir) / "docs/api"
    pages = write_pages()
    write_changed(folder, pages)


def write_changed(folder: Path, pages: dict[str, str]) -> None:
    """Write the pages that differ from their files, and remove the files of other pages."""
    folder.mkdir(exist_ok=True)
    for name, text in pages.items():
        file = folder / name
        if not file.is_file() or file.read_text(encoding="utf-8") != text:
            file.write_text(text, encoding="utf-8")
    for file in folder.iterdir():
        if file.is_file() and file.name not in pages:
            file.unlink()


def skip(app: Any, kind: str, name: str, obj: object, skipped: bool, options: Any) -> bool | None:
    """Leave out what others made, such as ``set_score_request``."""
    is_request = name.startswith("set_") and name.endswith("_request")
    is_field = str(getattr(obj, "__doc__", "")).startswith("Alias for field")
    is_foreign = str(getattr(obj, "__module__", "")).startswith("sklearn.")
    if is_request or is_field or is_foreign:
        return True
    return None


CONTENTS = {
    "docs/start": "installation run faq ../README",
    "docs/reproduce": "reproducibility extending protocol tutorials/paper figures cluster",
    "docs/audit": "tutorials/audit audit_intervals",
    "docs/library": "tutorials/flips crowds tutorials/filter tutorials/recording "
    "tutorials/budget tutorials/two_measurements scaling api/README",
    "docs/reference": "../config/README settings data verdicts history cite "
    "../CONTRIBUTING ../CODE_OF_CONDUCT release ../CHANGELOG ../SECURITY",
    "docs/api/README": " ".join(group_public_names()),
}


FEATURES = "<!-- the table of features is made when this page is built -->"


def features() -> str:
    """Write a row for every public class: what its methods and scikit-learn tags say.

    They are those of an object with default settings.
    """
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
        cls = getattr(noisylabels, name)
        if isinstance(cls, type):
            marks = ["yes" if able else "" for able in _abilities(cls)]
            rows.append([f"`{name}`", *marks])
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


def _abilities(cls: type) -> list[bool]:
    try:
        estimator = cls()
    except TypeError:  # a filter or a learner that needs a step size
        estimator = None
    tags = estimator.__sklearn_tags__() if isinstance(estimator, ClassifierMixin) else None
    is_of_crowds = cls.__module__ == "noisylabels.crowds"
    has_flip_matrix = "flip_matrix_" in (cls.__doc__ or "")
    return [
        is_of_crowds or bool(tags and tags.classifier_tags.multi_class),
        "sample_weight" in signature(getattr(cls, "fit", cls)).parameters,
        "class_weight" in signature(cls).parameters,
        bool(tags and tags.input_tags.sparse),
        hasattr(estimator, "predict_proba"),
        hasattr(cls, "partial_fit"),
        is_of_crowds or hasattr(cls, "true_label_posterior") or has_flip_matrix,
    ]


def contents(app: Any, docname: str, source: list[str]) -> None:
    """Add the tree of the pages that a page leads to, and the table of features at its mark."""
    if docname == "docs/library":
        source[0] = source[0].replace(FEATURES, features())
    pages = _list_pages_below(docname, Path(app.srcdir))
    if pages:
        source[0] += TREE.format(pages="\n".join(pages))


def _list_pages_below(docname: str, root: Path) -> list[str]:
    """List the pages that a page leads to: from that of a paper the others of its folder."""
    folder = (root / docname).parent
    if docname.startswith("src/papers/") and docname.endswith("/page"):
        return [page.stem for page in sorted(folder.glob("*.md")) if page.stem != "page"]
    pages = CONTENTS.get(docname, "").split()
    return [page for page in pages if _is_page(folder / page)]


def _is_page(path: Path) -> bool:
    """Is there a source of this name, with either suffix?"""
    files = [path.with_name(f"{path.name}{suffix}") for suffix in (".md", ".rst")]
    return any(file.is_file() for file in files)


def front(app: Any, failed: Exception | None) -> None:
    """Write an index.html that leads to the front page."""
    target = f"{app.config.root_doc}.html"
    refresh = f'<meta http-equiv="refresh" content="0; url={target}">'
    link = f'<a href="{target}">{app.config.html_title}</a>'
    text = f'<!doctype html><meta charset="utf-8">{refresh}{link}\n'
    (Path(app.outdir) / "index.html").write_text(text, encoding="utf-8")
