"""The known words that are nearest to a word that is not known, for messages."""

import difflib
from collections.abc import Iterable


def near(word: object, known: Iterable[object], most: int = 2) -> str:
    """Suggest the nearest known words, as ``; did you mean a or b?``, or list all."""
    words = list(dict.fromkeys(map(str, known)))
    return did_you_mean(str(word), words, most) or f"; known: {', '.join(words) or 'none'}"


def did_you_mean(word: str, words: list[str], most: int = 2) -> str:
    """Suggest the nearest known words; "" if none is near."""
    close = difflib.get_close_matches(word, words, n=most)
    return f"; did you mean {' or '.join(close)}?" if close else ""
