"""Data sets with real label noise: labels by crowds, image searches, votes on suspicious labels.

X and y hold features and true labels; the noisy labels are next to them. The seeded stand-ins have
the shapes of the originals, not their structure: results on them are never compared with published
numbers.
"""

import json
import re
from collections import Counter
from collections.abc import Sequence
from functools import reduce
from itertools import pairwise
from operator import add
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from noisylabels.noise.simulated_crowd import simulate
from noisylabels.seeding import Seeds
from reproduction.data.loaders.formats import Arrays, Files, codes, mat, matrix, only, pack, table

T = TypeVar("T")


def rte(files: Files) -> Arrays:
    """Load textual entailment: 800 pairs of sentences with 10 crowd labels each.

    Arrays: ``X`` (800, 9) `features` of the pairs, ``y`` gold labels (+1 = entailed), ``task``
    their kind, ``text`` and ``hypothesis`` the sentences; ``item``, ``worker``, ``response``
    (8000,) row of the pair, worker 0..163, label -1 or +1.
    """
    pairs = table(files["rte1.tsv"], 5)
    labels = table(files["rte.standardized.tsv"], 5)
    names, _, task, text, hypothesis = pairs.T.tolist()
    row = {name: i for i, name in enumerate(names)}
    item = np.array([row[name] for name in labels[:, 2].tolist()], np.int32)
    y = codes(pairs[:, 1], {"TRUE": 1, "FALSE": -1})
    if not np.array_equal(codes(labels[:, 4], {"1": 1, "0": -1}), y[item]):
        raise ValueError("rte: gold labels of the two files differ")
    return pack(features(text, hypothesis), y) | {
        "task": np.array(task),
        "item": item,
        "worker": np.unique(labels[:, 1], return_inverse=True)[1].astype(np.int32),
        "response": codes(labels[:, 3], {"1": 1, "0": -1}),
        "text": np.array(text),
        "hypothesis": np.array(hypothesis),
    }


def galaxy_zoo(files: Files) -> Arrays:
    """Load galaxies: vote fractions (2000, 2), labels of experts, and noisy labels of a crowd.

    270 of the labels differ.
    """
    variables = mat(only(files))
    x, yt, yz = (matrix(variables, name, "galaxy_zoo.mat") for name in ("x", "yt", "yz"))
    return pack(x.astype(float), _signs(yt, "yt")) | {"y_noisy": _signs(yz, "yz")}


def cifar10h(files: Files) -> Arrays:
    """Load the test images of CIFAR-10 without pixels: labels, votes of people, probabilities.

    Arrays: ``y`` (10000,) labels 0..9; ``votes`` (10000, 10) how many people chose each class, 47
    to 63 in all, their names not known; ``p`` (10000, 10) cross-validated probabilities by a
    network.

    Raises
    ------
    ValueError
        If the arrays have other shapes.
    """
    y = np.load(files["cifar10_test_set_original_labels.npy"], allow_pickle=False)
    arrays = {}
    for key, name in (("votes", "cifar10h-counts.npy"), ("p", "cifar10_test_set_pyx.npy")):
        arrays[key] = np.load(files[name], allow_pickle=False).astype(float)
    expected = (len(y), 10)
    shapes = {key: array.shape for key, array in arrays.items() if array.shape != expected}
    if shapes:
        raise ValueError(f"cifar10h: {shapes} do not go with {len(y)} labels of 10 classes")
    return arrays | {"y": y.astype(np.int8)}


def label_errors(files: Files) -> Arrays:
    """Load labels, out-of-sample probabilities by models, and votes.

    Array ``wrong`` (n,): of the rows that confident learning had listed (five votes each in
    ``*mturk.json``, id = row) 1 if the label has fewer than three votes, else 0; -1 for the others.
    """
    (p,) = (path for name, path in files.items() if name.endswith("pyx.npy"))
    (y,) = (path for name, path in files.items() if name.endswith("labels.npy"))
    (votes,) = (path for name, path in files.items() if name.endswith("mturk.json"))
    labels = np.load(y).astype(np.int8)
    wrong = np.full(len(labels), -1, np.int8)
    for row in json.loads(votes.read_text(encoding="utf-8")):
        if row["given_original_label"] != labels[row["id"]]:
            rule = "has another label than the file of labels"
            raise ValueError(f"{votes.name}: row {row['id']} {rule}")
        wrong[row["id"]] = row["mturk"]["given"] < 3
    return {"y": labels, "p": np.load(p), "wrong": wrong}


def websearch(files: Files) -> Arrays:
    """Load Bike / NotBike: features of images from a web search, true and noisy labels.

    ``y_noisy`` has the other label where the variable ``fd`` is 1.

    Raises
    ------
    ValueError
        If there is no matrix x with one row (or column) per label of y, or there are not two
        classes.
    """
    path = only(files)
    variables = mat(path)
    x, labels = (matrix(variables, name, path.name) for name in ("x", "y"))
    y = _signs(labels, f"{path.name}: y")
    x = x.T if len(x) != len(y) else x
    if len(x) != len(y):
        raise ValueError(f"{path.name}: x {x.T.shape} and y {labels.shape} do not match")
    arrays = pack(x.astype(float), y)
    flags = variables.get("fd")
    if flags is not None and np.size(flags) == len(y):
        is_flipped = np.ravel(flags) == 1
        arrays["y_noisy"] = np.where(is_flipped, -y, y).astype(np.int8)
    return arrays


def _signs(labels: NDArray[Any], location: str) -> NDArray[np.int8]:
    """Write the smaller of two values as -1 and the larger as +1."""
    values = np.unique(labels)
    if len(values) != 2:
        raise ValueError(f"{location} has {len(values)} values, expected two classes")
    return np.where(labels.ravel() == values[1], 1, -1).astype(np.int8)


def _balanced(rng: np.random.Generator, n: int) -> NDArray[np.int8]:
    n_positive = n // 2
    classes = np.array([-1, 1], np.int8)
    return rng.permutation(np.repeat(classes, [n - n_positive, n_positive]))


def rte_stand_in(files: Files, n: int = 800, d: int = 9) -> Arrays:
    """Generate n items with d features and ten labels each by a simulated crowd of 164.

    x | y ~ N(y m, I), |m| = 0.25: the features say as little as the overlap of words (Bayes error
    40 %). The crowd is that of `noisylabels.noise.simulated_crowd`.
    """
    seeds = Seeds(0, "stand-in", "rte")
    rng = seeds.generator(0, "items")
    y = _balanced(rng, n)
    means = y[:, None] * 0.25 / np.sqrt(d)
    X = rng.standard_normal((n, d)) + means
    crowd = simulate(y, seeds.generator(0, "crowd"))
    return pack(X, y) | {"item": crowd.item, "worker": crowd.worker, "response": crowd.response}


def websearch_stand_in(files: Files, n: int = 600, d: int = 6) -> Arrays:
    """Generate n images with d features, half of them bikes.

    The search finds a quarter of the others too.

    Bikes lie at +-2 on the first axis and the others at +-2 on the second, in clusters of variance
    1: the boundary is a pair of lines that cross (Bayes error 14 %). The other features are noise.
    """
    rng = Seeds(0, "stand-in", "websearch").generator(0, "images")
    y = _balanced(rng, n)
    X = rng.standard_normal((n, d))
    axis = np.where(y > 0, 0, 1)
    shift = np.where(rng.random(n) < 0.5, 2.0, -2.0)
    X[np.arange(n), axis] += shift
    flipped = (y < 0) & (rng.random(n) < 0.25)
    return pack(X, y) | {"y_noisy": np.where(flipped, 1, y).astype(np.int8)}


NEGATIONS = {"not", "no", "never", "without", "nobody"}
NEGATIONS |= {"nothing", "none", "neither", "nor", "cannot"}


def features(text: Sequence[str], hypothesis: Sequence[str]) -> NDArray[np.float64]:
    """Measure how much the sentences of each pair overlap, as in the first RTE challenge.

    The paper does not name its features. The inverse document frequency, idf, is counted over all
    texts and hypotheses.

    Parameters
    ----------
    text, hypothesis : sequence of str
        The sentences of n pairs.

    Returns
    -------
    ndarray of shape (n, 9)
        Shares of the hypothesis' words and bigrams in the text; Jaccard index of the sets of words;
        tf-idf cosine; ratio of the lengths; longest common subsequence / words of the hypothesis;
        share of the hypothesis' capitalised words and numbers in the text; numbers of the
        hypothesis that are not in the text; absolute difference of the counts of negations.
    """
    tokens = [(_words(t), _words(h)) for t, h in zip(text, hypothesis, strict=True)]
    documents: Counter[str] = Counter()
    for pair in tokens:
        for side in pair:
            documents.update({word.lower() for word in side})
    idf = {}
    for word, count in documents.items():
        ratio = (1 + 2 * len(tokens)) / (1 + count)
        idf[word] = float(np.log(ratio)) + 1
    return np.array([_measures(t, h, idf) for t, h in tokens])


def _words(sentence: str) -> list[str]:
    return re.findall(r"\d[\d.,]*\d|\w+(?:'t)?", sentence)


def _measures(text: list[str], hypothesis: list[str], idf: dict[str, float]) -> list[float]:
    t = [word.lower() for word in text]
    h = [word.lower() for word in hypothesis]
    words_t = set(t)
    words_h = set(h)
    numbers = {word for word in h if word[0].isdigit()}
    names = {word.lower() for word in hypothesis[1:] if word[0].isupper()}
    names |= {word.lower() for word in hypothesis[1:] if word[0].isdigit()}
    return [
        _share(words_h, words_t),
        _share(set(pairwise(h)), set(pairwise(t))),
        len(words_h & words_t) / max(len(words_h | words_t), 1),
        _cosine(Counter(t), Counter(h), idf),
        len(h) / max(len(t), 1),
        _common_subsequence(t, h) / max(len(h), 1),
        _share(names, words_t),
        float(len(numbers - words_t)),
        float(abs(_count_negations(t) - _count_negations(h))),
    ]


def _count_negations(words: list[str]) -> int:
    return len([word for word in words if word in NEGATIONS or word.endswith("n't")])


def _share(part: set[T], whole: set[T]) -> float:
    return len(part & whole) / len(part) if part else 1.0


def _cosine(a: Counter[str], b: Counter[str], idf: dict[str, float]) -> float:
    # Added from left to right, because `sum` corrects rounding errors from Python 3.12 on.
    dot = 0.0
    for word in sorted(a.keys() & b.keys()):
        dot += a[word] * b[word] * idf[word] ** 2
    norm_a = _norm(a, idf)
    norm_b = _norm(b, idf)
    return dot / (norm_a * norm_b) if norm_a and norm_b else 0.0


def _norm(counts: Counter[str], idf: dict[str, float]) -> float:
    squares = ((count * idf[word]) ** 2 for word, count in sorted(counts.items()))
    return float(reduce(add, squares, 0.0) ** 0.5)


def _common_subsequence(a: list[str], b: list[str]) -> int:
    """Measure the longest common subsequence in time O(len(a) len(b))."""
    previous = [0] * (len(b) + 1)
    for x in a:
        row = [0]
        for j, y in enumerate(b):
            if x == y:
                row.append(previous[j] + 1)
            else:
                row.append(max(row[-1], previous[j + 1]))
        previous = row
    return previous[-1]
