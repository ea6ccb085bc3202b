"""Features of a sentence pair (text, hypothesis) for recognising textual entailment.

The paper names none; these nine are the overlap measures that are customary for the first RTE challenge.
"""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

T = TypeVar("T")

NAMES = (
    "share of the hypothesis' words that are in the text",
    "share of the hypothesis' bigrams that are in the text",
    "Jaccard index of the two sets of words",
    "tf-idf cosine",
    "words of the hypothesis / words of the text",
    "longest common subsequence / words of the hypothesis",
    "share of the hypothesis' capitalised words and numbers that are in the text",
    "numbers of the hypothesis that are not in the text",
    "absolute difference of the counts of negations",
)
_NEGATIONS = {"not", "no", "never", "without", "nobody", "nothing", "none", "neither", "nor", "cannot"}


def features(text: Sequence[str], hypothesis: Sequence[str]) -> NDArray[np.float64]:
    """(n, 9) matrix, one column per entry of ``NAMES``; idf is counted over all texts and hypotheses."""
    tokens = [(_words(t), _words(h)) for t, h in zip(text, hypothesis, strict=True)]
    documents = Counter(word for pair in tokens for side in pair for word in {w.lower() for w in side})
    idf = {word: float(np.log((1 + 2 * len(tokens)) / (1 + count))) + 1 for word, count in documents.items()}
    return np.array([_pair(t, h, idf) for t, h in tokens])


def _words(sentence: str) -> list[str]:
    return re.findall(r"\d[\d.,]*\d|\w+(?:'t)?", sentence)


def _pair(text: list[str], hypothesis: list[str], idf: dict[str, float]) -> list[float]:
    t, h = ([word.lower() for word in side] for side in (text, hypothesis))
    names = {word.lower() for word in hypothesis[1:] if word[0].isupper() or word[0].isdigit()}
    numbers = {word for word in h if word[0].isdigit()}
    return [
        _share(set(h), set(t)),
        _share(set(pairwise(h)), set(pairwise(t))),
        len(set(h) & set(t)) / max(len(set(h) | set(t)), 1),
        _cosine(Counter(t), Counter(h), idf),
        len(h) / max(len(t), 1),
        _common_subsequence(t, h) / max(len(h), 1),
        _share(names, set(t)),
        float(len(numbers - set(t))),
        float(abs(sum(map(_negates, t)) - sum(map(_negates, h)))),
    ]


def _share(part: set[T], whole: set[T]) -> float:
    return len(part & whole) / len(part) if part else 1.0


def _negates(word: str) -> bool:
    return word in _NEGATIONS or word.endswith("n't")


def _cosine(a: Counter[str], b: Counter[str], idf: dict[str, float]) -> float:
    dot = _total(a[w] * b[w] * idf[w] ** 2 for w in sorted(a.keys() & b.keys()))
    norms = [_total((n * idf[w]) ** 2 for w, n in sorted(c.items())) ** 0.5 for c in (a, b)]
    return dot / (norms[0] * norms[1]) if all(norms) else 0.0


def _total(values: Iterable[float]) -> float:
    """From left to right; `sum` keeps the rounding errors of floats from Python 3.12 on."""
    total = 0.0
    for value in values:
        total += value
    return total


def _common_subsequence(a: list[str], b: list[str]) -> int:
    """Length of the longest common subsequence, O(len(a) len(b))."""
    previous = [0] * (len(b) + 1)
    for x in a:
        row = [0]
        for j, y in enumerate(b):
            row.append(previous[j] + 1 if x == y else max(row[-1], previous[j + 1]))
        previous = row
    return previous[-1]
