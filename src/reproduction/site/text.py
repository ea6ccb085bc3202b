"""Text of artifacts as HTML: captions with their formulas as MathML, everything else as it is written."""

import re
from functools import cache
from html import escape
from typing import Any

from markupsafe import Markup

SETTINGS: dict[str, Any] = {
    "math_output": "MathML",
    "file_insertion_enabled": False,
    "raw_enabled": False,
    "report_level": 5,
    "halt_level": 5,
    "smart_quotes": False,
}
"""Of docutils: a caption reads no file and holds no raw HTML; a slip in its markup is shown, not an error."""

ACCENT = re.compile(r"(\\(?:hat|tilde|bar|dot|vec)\s*(?:\{[^{}]*\}|\\?[A-Za-z]+?))(?=[_^])")
"""An accented letter before an index: docutils would put the index below the letter."""


@cache
def caption(text: str) -> Markup:
    """HTML of a text in reStructuredText, its formulas as MathML."""
    from docutils.core import publish_parts

    separated = ACCENT.sub(r"\1{}", text)
    body = publish_parts(separated, writer="html5", settings_overrides=SETTINGS)["body"]
    return Markup(re.sub(r">\s+<(?=/?m)", "><", body))


def plain(text: str) -> Markup:
    """A sentence of a claim, a deviation or a note: ``words`` between backticks are code, nothing else is."""
    return Markup(re.sub(r"`+([^`]+)`+", r"<code>\1</code>", escape(str(text))))


def stripped(text: str) -> str:
    """A caption without its markup: for the search and for what a screen reader says of a figure."""
    return re.sub(r":\w+:`([^`]*)`|[`*]", lambda found: found[1] or "", text).strip()


def number(value: float, digits: int = 4) -> str:
    """``12.39``, ``0.0031``; a true minus sign."""
    return f"{value:.{digits}g}".replace("-", "−")
