"""Text from outside, made safe: visible where it is shown, harmless where a spreadsheet opens it."""

from __future__ import annotations

import unicodedata
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas as pd

JOINERS = "\u200c\u200d"
"""Invisible characters that Persian, Indic scripts and emoji are written with."""
HIDDEN_CATEGORIES = ("Cc", "Cf", "Cs", "Zl", "Zp")
"""Unicode categories of characters that nobody sees, or that are not valid text."""
FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r", "'")
"""First characters by which a spreadsheet recognises a formula, or a text marked as one."""


def make_visible(text: Any) -> str:
    """Write control characters and other invisible ones as escapes, for terminals and pages.

    Marks that change the direction of writing are escaped too. The two joiners stay as they are.
    """
    text = str(text)
    if text.isprintable():  # the usual case, ten times as fast as looking at each character
        return text
    return "".join(_escape_hidden(character) for character in text)


def _escape_hidden(character: str) -> str:
    if unicodedata.category(character) in HIDDEN_CATEGORIES and character not in JOINERS:
        return character.encode("unicode_escape").decode()
    return character


def make_harmless(cell: Any) -> Any:
    """Put an apostrophe before a text that a spreadsheet would run as a formula.

    A text that begins with an apostrophe gets a second one, so that reading gives the text back.
    Numbers stay as they are, with their sign.
    """
    if not isinstance(cell, str) or not cell.startswith(FORMULA_STARTS):
        return cell
    try:
        float(cell)
    except ValueError:
        return f"'{cell}"
    return cell


def make_harmless_table(frame: pd.DataFrame) -> pd.DataFrame:
    """Apply `make_harmless` to every cell and every column name of a table that is written for people."""
    harmless = frame.map(make_harmless)
    harmless.columns = [make_harmless(str(name)) for name in frame.columns]
    return harmless


def undo_harmless(cell: str) -> str:
    """Remove surrounding blanks and the apostrophe that `make_harmless` added."""
    return cell.strip().removeprefix("'")
