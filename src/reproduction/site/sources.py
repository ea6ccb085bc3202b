"""The code and configuration behind a result, as pages of the site: every link works from anywhere."""

import ast
from dataclasses import dataclass, field
from functools import cache
from html import escape
from pathlib import Path
from typing import NamedTuple

from markupsafe import Markup

from reproduction.code_digest import CHECKOUT
from reproduction.figures import names
from reproduction.methods import known
from reproduction.site.pages import Page


class Link(NamedTuple):
    """``what`` is at ``href`` of the folder of source pages; ``text`` is what it says of itself."""

    what: str
    name: str
    href: str
    text: str = ""


@dataclass
class Sources:
    """Files that some page links to; `links` collects them, `numbered` turns each into HTML."""

    files: dict[Path, str] = field(default_factory=dict)

    def links(self, page: Page) -> list[Link]:
        """The artifact's file, its printed values, its protocol, its drawing function."""
        content, file = page.content, page.artifact.file
        links = [Link("settings and claims", file.name, self._href(file))]
        printed = file.with_suffix(".published.csv")
        if printed.is_file():
            links.append(Link("printed values", printed.name, self._href(printed)))
        if "protocol" in content:
            family, _, function = content["protocol"].partition(".")
            module = self._module(f"reproduction.protocols.{family}")
            about = _told(module, function)
            links.append(Link("protocol", content["protocol"], self._href(module, function), about))
        name, _, function = content["render"].partition(":")
        module = self._module(f"reproduction.figures.{name}")
        links.append(
            Link("drawn by", content["render"], self._href(module, function), _told(module, function))
        )
        return [link for link in links if link.href]

    def methods(self, page: Page) -> list[Link]:
        """Label, method and docstring of every method of the page."""
        links = []
        for label, spec in page.methods.items():
            name = str(spec.get("method", ""))
            module = self._module(known()[name]) if name in known() else None
            defined = _class_of(module, name) if module else ""
            links.append(
                Link(
                    names.label(page.methods, label),
                    name,
                    self._href(module, defined),
                    _told(module, defined),
                )
            )
        return links

    def _module(self, module: str) -> Path:
        return CHECKOUT / "src" / (module.replace(".", "/") + ".py")

    def _href(self, file: Path | None, defined: str = "") -> str:
        if file is None or not file.is_file():
            return ""
        file = file.resolve()
        inside = file.is_relative_to(CHECKOUT)
        name = "_".join((file.relative_to(CHECKOUT) if inside else file.relative_to(file.anchor)).parts)
        self.files[file] = f"{name}.html"
        line = _line(file, defined) if defined else 0
        return f"{name}.html" + (f"#L-{line}" if line else "")

    def shown(self, file: Path) -> str:
        """Path of a file as a reader knows it."""
        return str(file.relative_to(CHECKOUT) if file.is_relative_to(CHECKOUT) else file)


def numbered(file: Path) -> Markup:
    """A file as HTML with a number, and an anchor, at every line."""
    lines = enumerate(file.read_text(encoding="utf-8").splitlines(), start=1)
    body = "".join(f'<span id="L-{n}"><a href="#L-{n}">{n}</a>{escape(line)}</span>' for n, line in lines)
    return Markup(f'<pre class="code">{body}</pre>')


@cache
def _tree(file: Path) -> ast.Module:
    return ast.parse(file.read_text(encoding="utf-8"))


def _definition(file: Path, name: str) -> ast.ClassDef | ast.FunctionDef | None:
    found = (node for node in _tree(file).body if isinstance(node, ast.ClassDef | ast.FunctionDef))
    return next((node for node in found if node.name == name), None)


def _line(file: Path, name: str) -> int:
    node = _definition(file, name) if file.suffix == ".py" else None
    return node.lineno if node else 0


def _told(file: Path | None, name: str = "") -> str:
    """First paragraph of the docstring of a module, or of what it defines under the name."""
    if file is None or not file.is_file():
        return ""
    node = _definition(file, name) if name else _tree(file)
    text = ast.get_docstring(node) if node else ""
    return (text or "").partition("\n\n")[0]


def _class_of(file: Path, method: str) -> str:
    """The class with ``name = "<method>"``."""
    for node in _tree(file).body:
        if isinstance(node, ast.ClassDef) and any(_names(statement, method) for statement in node.body):
            return node.name
    return ""


def _names(statement: ast.stmt, method: str) -> bool:
    targets: list[ast.expr] = []
    if isinstance(statement, ast.Assign):
        targets = statement.targets
    elif isinstance(statement, ast.AnnAssign):
        targets = [statement.target]
    else:
        return False
    named = any(isinstance(target, ast.Name) and target.id == "name" for target in targets)
    return named and isinstance(statement.value, ast.Constant) and statement.value.value == method
