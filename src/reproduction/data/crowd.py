"""Sets whose label noise is real: textual entailment and galaxy labels by crowds, image search results.

X and y hold features and true labels; the noisy labels stand beside them.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from reproduction.data.checks import supervised
from reproduction.data.entailment import features
from reproduction.data.files import Files, named, only
from reproduction.data.matrices import pack
from reproduction.data.readers import mat
from reproduction.data.readers.streams import MEND
from reproduction.data.readers.text import Table, lines

Arrays = dict[str, NDArray[Any]]


def rte(files: Files) -> Arrays:
    """Recognising textual entailment: 800 sentence pairs, 10 crowd labels each by 164 workers.

    Arrays: ``X`` (800, 9) features of the pairs (see ``entailment.features``), ``y`` gold labels (+1 =
    entailed), ``task`` their kind, ``text`` and ``hypothesis`` the sentences; ``item``, ``worker``,
    ``response`` (8000,) row of the pair, worker 0..163, label -1 or +1.

    Raises
    ------
    ValueError : other numbers of pairs, labels or workers, or pairs and labels that do not belong together.
    """
    pairs = _tabbed(files, "rte1.tsv", ["id", "value", "task", "text", "hypothesis"])
    header = ["!amt_annotation_ids", "!amt_worker_ids", "orig_id", "response", "gold"]
    labels = _tabbed(files, "rte.standardized.tsv", header)
    y = pairs.codes(1, {"TRUE": 1, "FALSE": -1})
    row = {pair[0]: i for i, pair in enumerate(pairs)}
    workers = {name: code for code, name in enumerate(sorted({label[1] for label in labels}))}
    unknown = [i for i, label in enumerate(labels) if label[2] not in row]
    if unknown:
        raise ValueError(f"{labels.where(unknown[0])}: no pair {labels[unknown[0]][2]!r} in rte1.tsv; {MEND}")
    item = np.array([row[label[2]] for label in labels], np.int32)
    signs = {"1": 1, "0": -1}
    if not np.array_equal(labels.codes(4, signs), y[item]):
        raise ValueError(f"rte: gold labels of the two files differ; {MEND}")
    if len(workers) != 164 or not (np.bincount(item, minlength=len(pairs)) == 10).all():
        found = f"{len(labels)} labels by {len(workers)} workers"
        raise ValueError(f"rte: {found}, expected 10 for each pair by 164; {MEND}")
    text, hypothesis = ([pair[column] for pair in pairs] for column in (3, 4))
    X = features(text, hypothesis)
    return pack(*supervised("rte", X, y, X.shape[1], {-1: 400, 1: 400})) | {
        "task": np.array([pair[2] for pair in pairs]),
        "item": item,
        "worker": np.array([workers[label[1]] for label in labels], np.int32),
        "response": labels.codes(3, signs),
        "text": np.array(text),
        "hypothesis": np.array(hypothesis),
    }


def _tabbed(files: Files, name: str, header: list[str]) -> Table:
    """Tab-separated rows below an expected header; quotation marks have no meaning."""
    path = named(files, name)
    content = [line.rstrip("\r") for line in lines(path, "utf-8")]
    if content[0].split("\t") != header:
        raise ValueError(f"{name}, line 1: expected the columns {', '.join(header)}; {MEND}")
    rows = [(number, line.split("\t")) for number, line in enumerate(content[1:], start=2) if line]
    for number, fields in rows:
        if len(fields) != len(header):
            raise ValueError(f"{name}, line {number}: {len(fields)} fields, expected {len(header)}; {MEND}")
    return Table(name, [fields for _, fields in rows], [number for number, _ in rows])


def galaxy_zoo(files: Files) -> Arrays:
    """Galaxies, 2000 x 2 vote fractions; ``y`` expert label, ``y_noisy`` crowd label (270 of them differ)."""
    variables = mat.read(only(files))
    x, yt, yz, fd = (mat.numeric(variables, name, "galaxy_zoo.mat") for name in ("x", "yt", "yz", "fd"))
    y, noisy = _signs(yt, "galaxy_zoo.mat: yt"), _signs(yz, "galaxy_zoo.mat: yz")
    if not np.array_equal(y != noisy, fd.ravel() == 1) or fd.sum() != 270:
        found = f"{int(fd.sum())} flags among {mat.contents(variables)}"
        raise ValueError(f"galaxy_zoo.mat: fd does not flag the 270 wrong labels, found {found}; {MEND}")
    return pack(*supervised("galaxy_zoo", x.astype(float), y, 2, {-1: 805, 1: 1195})) | {"y_noisy": noisy}


def websearch(files: Files) -> Arrays:
    """Bike / NotBike: features of images found by web search, with true labels.

    Arrays: ``X``, ``y``; ``y_noisy`` where the file flags wrong labels in ``fd``.

    Raises
    ------
    ValueError : no matrix x with one row (or column) per label of y, not two classes, or a value that is not
        finite; the message lists the variables that were found.
    """
    path = only(files)
    variables = mat.read(path)
    x, labels = (mat.numeric(variables, name, path.name) for name in ("x", "y"))
    y = _signs(labels, f"{path.name}: y")
    if len(x) != len(y):
        x = x.T
    if len(x) != len(y) or 1 not in labels.shape:
        raise ValueError(f"{path.name}: x and y do not match, found {mat.contents(variables)}")
    classes = {-1: int((y == -1).sum()), 1: int((y == 1).sum())}
    arrays = pack(*supervised("websearch", x.astype(float), y, x.shape[1], classes))
    flags = variables.get("fd")
    if flags is not None and np.size(flags) == len(y):
        arrays["y_noisy"] = np.where(np.ravel(flags) == 1, -y, y).astype(np.int8)
    return arrays


def _signs(labels: NDArray[Any], where: str) -> NDArray[np.int8]:
    """The smaller of two values as -1, the larger as +1."""
    values = np.unique(labels)
    if len(values) != 2:
        raise ValueError(f"{where} has {len(values)} values, expected two classes; {MEND}")
    return np.where(labels.ravel() == values[1], 1, -1).astype(np.int8)
