"""The known words that are nearest to a word that is not known, for messages."""

import difflib
from collections.abc import Iterable


def near(word: object, words_to_choose: Iterable[object], limit: int = 2) -> str:
    """Suggest the nearest known words, as ``; did you mean a or b?``, or list all."""
    words = list(dict.fromkeys(map(str, words_to_choose)))
    return did_you_mean(str(word), words, limit) or f"; known: {', '.join(words) or 'none'}"


def did_you_mean(word: str, words: list[str], limit: int = 2) -> str:
    """Suggest the nearest known words; "" if none is near."""
    close = difflib.get_close_matches(word, words, n=limit)
    return f"; did you mean {' or '.join(close)}?" if close else ""
