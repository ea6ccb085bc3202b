"""Safe forms of text from outside: visible on a page, and never run by a spreadsheet."""

from __future__ import annotations

import unicodedata
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas as pd

JOINERS = "\u200c\u200d"
"""Invisible characters that Persian, Indic scripts and emoji need."""
HIDDEN_CATEGORIES = ("Cc", "Cf", "Cs", "Zl", "Zp")
"""Unicode categories of characters that are invisible or not valid text."""
FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r", "'")
"""First characters that a spreadsheet takes for a formula, or for a text marked as one."""


def make_visible(text: Any) -> str:
    """Write control characters and other invisible ones as escapes, for terminals and pages.

    Marks that change the direction of writing are escaped too. The two joiners do not change.

    Parameters
    ----------
    text : object
        What is shown, as `str` writes it.

    Returns
    -------
    str
        The visible text.

    Examples
    --------
    >>> from noisylabels.safe_text import make_visible
    >>> make_visible("red" + chr(0))
    'red\\\\x00'
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
    Numbers do not change, with their sign.

    Parameters
    ----------
    cell : object
        A cell of a table.

    Returns
    -------
    object
        The harmless text; anything that is not a text as it is.

    Examples
    --------
    >>> from noisylabels.safe_text import make_harmless
    >>> make_harmless("=1+1"), make_harmless("-3")
    ("'=1+1", '-3')
    """
    if not isinstance(cell, str) or not cell.startswith(FORMULA_STARTS):
        return cell
    try:
        float(cell)
    except ValueError:
        return f"'{cell}"
    return cell


def make_harmless_table(frame: pd.DataFrame) -> pd.DataFrame:
    """Apply `make_harmless` to every cell and column name of a table for people.

    Parameters
    ----------
    frame : pandas.DataFrame
        The table.

    Returns
    -------
    pandas.DataFrame
        A harmless copy.

    Examples
    --------
    >>> import pandas as pd
    >>> from noisylabels.safe_text import make_harmless_table
    >>> make_harmless_table(pd.DataFrame({"@a": ["=1+1"]})).to_dict("list")
    {"'@a": ["'=1+1"]}
    """
    harmless = frame.map(make_harmless)
    harmless.columns = [make_harmless(str(name)) for name in frame.columns]
    return harmless


def undo_harmless(cell: str) -> str:
    """Remove surrounding blanks and the apostrophe that `make_harmless` added.

    Parameters
    ----------
    cell : str
        A cell of a table that was written with `make_harmless_table`.

    Returns
    -------
    str
        The text.

    Examples
    --------
    >>> from noisylabels.safe_text import undo_harmless
    >>> undo_harmless("'=1+1")
    '=1+1'
    """
    return cell.strip().removeprefix("'")
