"""Text of artifacts in the report: shown as it is written, never taken for a wildcard or for HTML."""

import re
from typing import Any

JOINER = "\u2060"
"""Joins words without a space: nobody sees it, and it ends a name that Snakemake or a browser looks up."""


def label(text: str) -> str:
    """A title: ``{x}`` is no wildcard of Snakemake, and ``<`` opens no tag."""
    return text.replace("{", "{" + JOINER).replace("<", "<" + JOINER)


def markup(text: str) -> str:
    """reStructuredText without directives (which can include files and raw HTML) and without active links."""
    text = re.sub(r"\.\.(?=\s|$)", r"\\..", text)
    text = re.sub(r"^(\s*)__(?=\s)", r"\1\\__", text, flags=re.MULTILINE)
    text = re.sub(r"<(?!https?:|mailto:)([^<>`]*?):", rf"<\1{JOINER}:", text)
    return re.sub(r"\b(javascript|vbscript|data)(?=\s*:)", rf"\1{JOINER}", text, flags=re.IGNORECASE)


def told(value: Any) -> Any:
    """`markup` of a text, or of every text of a list."""
    return [told(entry) for entry in value] if isinstance(value, list) else markup(str(value))
