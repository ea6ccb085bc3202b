"""Captions of artifacts: plain reStructuredText, written as HTML with MathML."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from typing import TYPE_CHECKING

from markupsafe import Markup

if TYPE_CHECKING:
    from docutils.frontend import Values

ALLOWED = (
    "document",
    "paragraph",
    "Text",
    "emphasis",
    "strong",
    "literal",
    "subscript",
    "superscript",
    "title_reference",
    "math",
    "math_block",
    "bullet_list",
    "list_item",
    "reference",
    "target",
)
"""Nodes of docutils that a caption may have; pictures, tables and directives are not among them."""
SCHEMES = ("https://", "http://", "#")
SETTINGS: Mapping[str, object] = {
    "math_output": "MathML",
    "file_insertion_enabled": False,
    "raw_enabled": False,
    "_disable_config": True,
    "report_level": 5,
    "halt_level": 5,
    "smart_quotes": False,
}
WARNING_LEVEL = 2
"""Level of docutils' messages from which on they mean wrong markup."""
ACCENT = re.compile(r"(\\(?:hat|tilde|bar|dot|vec)\s*(?:\{[^{}]*\}|\\?[A-Za-z]+?))(?=[_^])")
"""Pattern of an accented letter before an index, which docutils would put below the letter."""
LONGEST = 60
"""Largest number of characters of a caption that a message quotes."""
WORDS_OF_A_SUMMARY = 20
MATHEMATICS = re.compile(r":math:|[$\\`]|\w[_^]\w|[=<>≤≥]")
"""Pattern of mathematics and markup, which a summary cannot show everywhere."""


def check_summary(text: str) -> None:
    """Refuse a summary that is not one short sentence in plain words.

    Raises ValueError: what is wrong with it.
    """
    if len(text.split()) > WORDS_OF_A_SUMMARY:
        words = len(text.split())
        raise ValueError(f"summary: has {words} words; use at most {WORDS_OF_A_SUMMARY}")
    if match := MATHEMATICS.search(text):
        raise ValueError(f"summary: {match[0]!r} is mathematics or markup; use plain words")
    if text and not text.endswith((".", "?")):
        raise ValueError("summary: is not a sentence; end it with a full stop")


@cache
def _settings_of_parser() -> Values:
    """Load the settings of docutils once, because their defaults take longer than a caption."""
    from docutils.frontend import get_default_settings
    from docutils.parsers.rst import Parser

    settings = get_default_settings(Parser)
    for key, value in SETTINGS.items():
        setattr(settings, key, value)
    return settings


@cache
def check_caption(text: str) -> None:
    """Refuse a caption with anything but plain text, emphasis, code, formulas, lists and links.

    Raises ValueError: the first thing in it that is not allowed.
    """
    from docutils import nodes
    from docutils.parsers.rst import Parser
    from docutils.utils import new_document

    tree = new_document("caption", _settings_of_parser().copy())
    Parser().parse(text, tree)  # docutils reads no file and writes none
    for node in [*tree.findall(), *tree.parse_messages]:
        kind = type(node).__name__
        if kind == "system_message" and node["level"] < WARNING_LEVEL:
            continue  # such a remark of the parser does not change the text
        if kind not in ALLOWED:
            quoted = " ".join(node.astext().split())[:LONGEST]
            allowed = "text, emphasis, code, formulas, lists and links"
            problem = f"a {kind.replace('_', ' ')} is not allowed ({quoted!r})"
            raise ValueError(f"caption: {problem}; a caption has {allowed}")
        address = node.get("refuri", "") if isinstance(node, nodes.Element) else ""
        if address and not address.startswith(SCHEMES):
            rule = "use https://, http:// or #"
            raise ValueError(f"caption: the link {address[:LONGEST]!r} is not allowed; {rule}")


@cache
def render_caption(text: str) -> Markup:
    """Write a caption as HTML, its formulas as MathML.

    Raises ValueError: see `check_caption`.
    """
    from docutils.core import publish_parts

    marked = ACCENT.sub(r"\1{}", text)
    check_caption(marked)
    body = publish_parts(marked, writer="html5", settings_overrides=dict(SETTINGS))["body"]
    return Markup(re.sub(r">\s+<(?=/?m)", "><", body))
