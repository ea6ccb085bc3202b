"""Copies of rows: equal or nearly equal rows, each group of which counts as one.

Copies come from joins, exports that overlap, oversampling and frames of one video. Their labels are
copies too, so that a model that saw one of them knows the label of the others. Which rows are copies is
decided by their columns alone, never by their labels.

References
----------
Facco, d'Errico, Rodriguez and Laio, Scientific Reports 7, 2017 (the ratio of distances to neighbours).
Levina and Bickel, NIPS 2004 (the dimension of a table from such ratios).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from noisylabels.auditing.columns import is_missing

Array = NDArray[np.float64]
Groups = NDArray[np.intp]

BY_CHANCE = 2.0
"""Equal rows are copies if there are more than twice as many pairs as chance brings."""
FEW_DIFFERENT, OFTEN = 50, 5
"""Fewer different rows than this, each of them more than five times on average, are not copies."""
OFTEN_COINCIDENT = 0.1
"""Above this share of rows that are equal by chance, a note says so."""
FEW_VALUES = 20
"""A column with at most this many values is discrete: near copies are equal in it."""
MOST_DIRECTIONS = 40
"""Of more columns, this many random projections are taken."""
MOST_CELLS = 20_000_000
"""Of a sparse table that copies are looked for in."""
MOST_NEIGHBOURS, MOST_ROUNDS = 40, 6
MOST_JOINED = 4
"""Times the number of rows that a gap shows in a group that links may join to one."""
SAMPLED, SAMPLED_OF_MANY, MANY = 1000, 400, 10_000
"""Rows whose neighbours show whether a table has near copies at all; fewer of more than 10,000."""
SMALLEST_NOISE = 0.1
"""Standard deviations per column by which near copies differ at least, where a table cannot show them."""
CROWDED = 1.5
"""The nearest other row hides such a copy if it is less than this many times as far away as the copy."""
NEAREST_SHARE = 0.35
"""Near copies are at most this share of the usual distance between two rows apart."""
CLEAR_RATIO, CLEAR_ERRORS = 1.15, 4.0
"""How much too large the gap behind a neighbour must be, as a ratio and in standard errors."""
ACCEPTED = 0.2
"""Share of rows without copies that may be grouped with a neighbour, once a table has near copies."""


@dataclass(frozen=True)
class Copies:
    """Which rows are copies of each other.

    Attributes
    ----------
    groups : ndarray of shape (n,)
        The number of the group of each row. Groups count from 0 in the order of their first rows.
    equal : ndarray of shape (n,)
        The same for rows that are exactly equal. Equal rows that are not copies are alone.
    near : bool
        Whether some rows of a group are only nearly equal.
    coincident : int
        How many rows are equal to others because the columns have few values. They are not grouped.
    crowded : bool
        Whether different rows lie so close together that near copies look like neighbours.
    """

    groups: Groups
    equal: Groups
    near: bool = False
    coincident: int = 0
    crowded: bool = False

    @property
    def copied(self) -> int:
        """How many rows are copies of an earlier one."""
        return len(self.groups) - int(self.groups.max()) - 1

    def describe(self) -> list[str]:
        """Say what was found, as notes of an audit."""
        n = len(self.groups)
        notes = []
        if self.copied:
            nearly = "equal or nearly equal to" if self.near else "copies of"
            how = "each group of copies counts as one row"
            notes.append(f"{self.copied} of {n} rows are {nearly} an earlier row; {how}")
        elif self.coincident > OFTEN_COINCIDENT * n:
            why = "as chance brings in columns of few values, and count as different rows"
            how = "if they are copies, remove them or give their groups"
            notes.append(f"{self.coincident} of {n} rows are equal to others, {why}; {how}")
        if self.crowded:
            notes.append(
                "rows are so close together that nearly equal copies cannot be detected; if there are any, "
                "give their groups, or the share of wrong labels can be above the upper limit"
            )
        return notes


def find_copies(X: Array, text: Any = None) -> Copies:
    """Find the rows of a table that are copies of each other.

    Parameters
    ----------
    X : ndarray of shape (n, d)
        The columns as numbers, a 0/1 column for each category.
    text : sparse array of shape (n, D), optional
        Hashed words of the rows.

    Returns
    -------
    Copies
        The groups. Of a table without copies each row is a group of its own.

    Examples
    --------
    >>> import numpy as np
    >>> from noisylabels.auditing.copies import find_copies
    >>> X = np.random.default_rng(0).normal(size=(100, 3))
    >>> found = find_copies(np.vstack([X, X[:10]]))
    >>> found.copied, found.groups[100:].tolist()
    (10, [0, 1, 2, 3, 4, 5, 6, 7, 8, 9])

    Notes
    -----
    *Equal rows.* Chance brings equal rows in tables of few values. Let D_b be the number of pairs of rows
    that differ in column b alone, and c_b the share of agreement in b among the pairs that differ in the
    others too. If b has nothing to do with the others, D_b c_b / (1 - c_b) pairs agree in all columns.
    Equal rows are copies if there are more than twice as many pairs of them as the sum over the columns.
    If fewer than 50 different rows occur more than five times on average they are never copies.

    *Nearly equal rows.* Let d_j be the distance to the j-th neighbour. Among rows without copies
    j log(d_{j+1} / d_j) is exponential with mean 1 / m, where m is the dimension of the table, whatever the
    density. A gap behind the j-th neighbours that is too large for the m of farther ones shows groups of
    j + 1 near copies. Then a row and its j neighbours are a group where (d_j / d_{j+1})^(m j) <= 0.2.
    """
    n = len(X)
    hashes = hash_cells(X)
    words = hash_words(text, n)
    equal = np.unique(hashes.sum(axis=1) + words, return_inverse=True)[1]
    first = np.unique(equal, return_index=True)[1]
    repeated = n - len(first)
    coincident = 0
    if repeated and are_coincident(X, hashes, words, equal, len(first)):
        coincident = int((np.bincount(equal)[equal] > 1).sum())
    different = X if text is None else np.hstack([X, project_words(text)])
    linked = link_near_rows(different[first])
    joined = join(len(first), linked)
    one_of_each = np.unique(joined, return_index=True)[1]
    crowded = is_crowded(different[first][one_of_each])
    alone = np.arange(n)
    if not len(linked) and (coincident or not repeated):
        return Copies(alone, alone, coincident=coincident, crowded=crowded)
    groups = number_groups(joined[equal])
    equal_groups = alone if coincident else number_groups(equal)
    return Copies(groups, equal_groups, near=len(linked) > 0, crowded=crowded)


def find_copies_of_numbers(X: Any) -> Groups | None:
    """The groups of copies in a table of numbers, gaps allowed; None of anything else, or if too large."""
    if hasattr(X, "toarray"):
        if X.shape[0] * X.shape[1] > MOST_CELLS:
            return None
        X = X.toarray()
    values = np.asarray(X)
    if values.ndim != 2 or values.dtype.kind not in "fiub" or not len(values) or np.isinf(values).any():
        return None
    table = values.astype(float)
    gaps = np.isnan(table)
    if gaps.any():
        table = np.hstack([np.where(gaps, 0.0, table), gaps.astype(float)])
    return find_copies(table).groups


def combine_groups(one: Groups | None, other: Groups | None) -> Groups | None:
    """Groups of rows that are in one group of either kind, (n,); None if each row is alone."""
    if one is None or other is None:
        both = other if one is None else one
    else:
        first = np.unique(one, return_index=True)[1]
        other_first = np.unique(other, return_index=True)[1]
        rows = np.arange(len(one))
        links = [np.column_stack([rows, first[one]]), np.column_stack([rows, other_first[other]])]
        both = number_groups(join(len(one), np.concatenate(links)))
    if both is None or int(both.max()) + 1 == len(both):
        return None
    return both


def groups_of(names: ArrayLike | Sequence[str | None], rows: int) -> Groups:
    """Number the groups that users name, such as patients, from 0, (rows,); a missing name is a group.

    Raises
    ------
    ValueError
        If there is not one name for each row.
    """
    values = np.asarray(names, dtype=object)
    if values.shape != (rows,):
        raise ValueError(f"groups must have one name for each of {rows} rows, got shape {values.shape}")
    texts = [str(value).strip() for value in values]
    alone = [is_missing(text) for text in texts]
    kept = [f"row {i}" if alone[i] else f"group {text}" for i, text in enumerate(texts)]
    return number_groups(kept)


def number_groups(names: Any) -> Groups:
    """Number groups from 0 in the order of their first rows, given a name for each row."""
    _, first, place = np.unique(np.asarray(names), return_index=True, return_inverse=True)
    order = np.empty(len(first), dtype=np.intp)
    order[np.argsort(first)] = np.arange(len(first))
    return order[place]


def hash_cells(X: Array) -> NDArray[np.uint64]:
    """A number of 64 bits for the value of each cell, (n, d); equal rows have equal sums.

    The mixing is that of SplitMix64 (Steele, Lea and Flood, OOPSLA 2014).
    """
    columns = np.random.default_rng(0).integers(2**64, size=X.shape[1], dtype=np.uint64)
    mixed = (np.ascontiguousarray(X, dtype=float) + 0.0).view(np.uint64) + columns  # -0.0 becomes 0.0
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        mixed = (mixed ^ (mixed >> np.uint64(shift))) * np.uint64(factor)
    return mixed ^ (mixed >> np.uint64(31))


def hash_words(text: Any, n: int) -> NDArray[np.uint64]:
    """A number of 64 bits for the words of each row, (n,); 0 without words."""
    if text is None:
        return np.zeros(n, dtype=np.uint64)
    places: dict[bytes, int] = {}
    said = [text[i].indices.tobytes() + text[i].data.tobytes() for i in range(n)]
    numbers = np.array([places.setdefault(words, len(places)) for words in said])
    return np.random.default_rng(1).integers(2**64, size=len(places), dtype=np.uint64)[numbers]


def project_words(text: Any) -> Array:
    """Sixteen random projections of hashed words, (n, 16)."""
    directions = np.random.default_rng(0).standard_normal((text.shape[1], 16))
    return np.asarray(text @ directions)


def are_coincident(
    X: Array, hashes: NDArray[np.uint64], words: NDArray[np.uint64], equal: Groups, different: int
) -> bool:
    """Does chance bring about as many equal rows as there are?"""
    n = len(X)
    if different < FEW_DIFFERENT and n > OFTEN * different:
        return True
    total = hashes.sum(axis=1) + words
    all_pairs = n * (n - 1) / 2
    pairs = count_pairs(equal)
    expected = 0.0
    for block in exclusive_blocks(X):
        inside = hashes[:, block].sum(axis=1)
        others_agree = count_pairs(total - inside)
        if others_agree < all_pairs:
            agree = (count_pairs(inside) - pairs) / (all_pairs - others_agree)
        else:  # a table of one column: as if all values of its grid were equally likely
            values = np.unique(X[:, block[0]])
            agree = float(np.diff(values).min() / np.ptp(values)) if len(values) > 1 else 1.0
        if agree < 1:
            expected += (others_agree - pairs) * agree / (1 - agree)
        if pairs <= BY_CHANCE * expected:
            return True
    return False


def exclusive_blocks(X: Array) -> list[list[int]]:
    """Columns of which each row has at most one 1, one after the other, as categories are encoded."""
    blocks: list[list[int]] = []
    taken = np.ones(len(X))
    for j in range(X.shape[1]):
        column = X[:, j]
        binary = bool(((column == 0) | (column == 1)).all())
        if binary and blocks and (taken + column).max() <= 1:
            blocks[-1].append(j)
            taken = taken + column
        else:
            blocks.append([j])
            taken = column if binary else np.ones(len(X))
    return blocks


def count_pairs(names: NDArray[Any]) -> float:
    """The number of pairs of rows with the same name."""
    counts = np.unique(names, return_counts=True)[1].astype(float)
    return float((counts * (counts - 1)).sum() / 2)


def link_near_rows(X: Array) -> NDArray[np.intp]:
    """Link different rows that are near copies, (links, 2); none where the table shows no near copies.

    Groups that were found are replaced by their first rows, and the search begins again, until nothing is
    found: groups of different sizes are found in different rounds.
    """
    found = [np.empty((0, 2), dtype=np.intp)]
    left = np.arange(len(X))
    for _ in range(MOST_ROUNDS):
        neighbours = min(MOST_NEIGHBOURS, len(left) // 8)
        Z, usual = spread_out(X[left])
        if neighbours < 5 or Z is None:
            break
        most = SAMPLED if len(left) <= MANY else SAMPLED_OF_MANY
        sample = np.sort(np.random.default_rng(0).permutation(len(left))[:most])
        distances = distances_to_nearest(Z, sample, neighbours, usual)
        gap = clear_gap(*measure_gaps(distances, usual))
        if gap is None:
            break
        links = link_neighbours(Z, *gap, usual)
        links = links[differ_in_most(X[left], links)]
        if not len(links):
            break
        groups = join(len(left), links)
        sizes = np.bincount(groups)[groups]
        linked = np.unique(links)
        if (sizes[linked] > MOST_JOINED * (gap[0] + 1)).mean() > 0.5:
            break  # chains of neighbours, such as on a grid, and not groups apart from the others
        found.append(left[links])
        left = left[np.unique(groups, return_index=True)[1]]
    return np.concatenate(found)


def is_crowded(X: Array) -> bool:
    """Whether other rows are usually about as close as a copy with noise in each column would be."""
    Z, usual = spread_out(X)
    if Z is None or len(X) < 2:
        return False
    columns = round(usual**2 / 2)  # each standardised column adds 2 to the squared distance of two rows
    of_a_copy = SMALLEST_NOISE * (2 * columns) ** 0.5
    sample = np.sort(np.random.default_rng(0).permutation(len(X))[:SAMPLED_OF_MANY])
    nearest = distances_to_nearest(Z, sample, 1, usual)[:, 0]
    return bool(np.median(nearest) < CROWDED * of_a_copy)


def spread_out(X: Array) -> tuple[Array | None, float]:
    """Standardise the columns that are not discrete, and set rows that differ in the others far apart.

    Returns the table (n, p) and the usual distance of two rows in the standardised columns; None if all
    columns are discrete.
    """
    discrete = np.array([has_few_values(column) for column in X.T], dtype=bool)
    if discrete.all():
        return None, 0.0
    rng = np.random.default_rng(0)
    continuous = fill_steps(X[:, ~discrete], rng)
    Z = (continuous - continuous.mean(axis=0)) / continuous.std(axis=0)
    if Z.shape[1] > MOST_DIRECTIONS:
        Z = Z @ rng.standard_normal((Z.shape[1], MOST_DIRECTIONS)) / MOST_DIRECTIONS**0.5
    usual = float((2 * Z.var(axis=0).sum()) ** 0.5)
    cells = hash_cells(X[:, discrete]).sum(axis=1)
    names, cell = np.unique(cells, return_inverse=True)
    if len(names) > 1:
        corners = 4 * usual * rng.standard_normal((len(names), 12))
        Z = np.hstack([Z, corners[cell]])
    return Z, usual


def has_few_values(column: Array) -> bool:
    """Is the column discrete?"""
    first = len(np.unique(column[:SAMPLED]))  # which is fast, and enough for most columns
    return first <= FEW_VALUES and len(np.unique(column)) <= FEW_VALUES


def fill_steps(X: Array, rng: np.random.Generator) -> Array:
    """Add noise of up to half of its smallest step to each column: neighbours on a grid would tie."""
    filled = np.empty(X.shape)
    for j in range(X.shape[1]):
        steps = np.diff(np.sort(X[:, j]))
        step = steps[steps > 0].min()
        filled[:, j] = X[:, j] + rng.uniform(-step / 2, step / 2, len(X))
    return filled


def distances_to_nearest(Z: Array, rows: Groups, neighbours: int, usual: float) -> Array:
    """Distances of some rows to their nearest other rows, ascending, (rows, neighbours)."""
    squares = (Z**2).sum(axis=1)
    found = np.empty((len(rows), neighbours))
    step = max(1, 5_000_000 // len(Z))
    for start in range(0, len(rows), step):
        part = rows[start : start + step]
        apart = squares[part, np.newaxis] + squares - 2 * Z[part] @ Z.T
        apart[np.arange(len(part)), part] = np.inf
        nearest = np.sort(np.partition(apart, neighbours - 1, axis=1)[:, :neighbours], axis=1)
        found[start : start + step] = nearest
    return np.sqrt(np.maximum(found, (1e-6 * usual) ** 2))


def measure_gaps(distances: Array, usual: float) -> tuple[Array, Array]:
    """How many rows have a j-th neighbour, and the sum of j log(d_{j+1} / d_j) over them, j = 0..k - 1.

    distances : to the k nearest neighbours of some rows, (rows, k).
    """
    k = distances.shape[1]
    near = np.minimum(distances, usual)
    counts, sums = np.zeros(k), np.zeros(k)
    for j in range(1, k):
        inside = near[:, j - 1] < usual
        counts[j] = inside.sum()
        sums[j] = j * np.log(near[inside, j] / near[inside, j - 1]).sum()
    return counts, sums


def clear_gap(counts: Array, sums: Array) -> tuple[int, float] | None:
    """The j with the clearest gap behind the j-th neighbour, and the dimension of the rows farther away."""
    best = None
    clearest = CLEAR_RATIO
    for j in range(1, (len(counts) - 3) // 2 + 1):
        farther = slice(j + 1, 2 * j + 4)
        if counts[j] == 0 or sums[farther].sum() == 0:
            continue
        dimension = counts[farther].sum() / sums[farther].sum()
        ratio = sums[j] / counts[j] * dimension
        errors = (ratio - 1) * (counts[j] / 2) ** 0.5
        if ratio > clearest and errors > CLEAR_ERRORS:
            best, clearest = (j, float(dimension)), ratio
    return best


def link_neighbours(Z: Array, j: int, dimension: float, usual: float) -> NDArray[np.intp]:
    """Links of rows to their j nearest neighbours where the gap behind these is too large, (links, 2)."""
    from sklearn.neighbors import NearestNeighbors

    search = NearestNeighbors(n_neighbors=j + 1, algorithm="brute").fit(Z)
    distances, rows = search.kneighbors()
    distances = np.clip(distances, 1e-6 * usual, usual)
    chance = (distances[:, j - 1] / distances[:, j]) ** (dimension * j)
    copied = (chance <= ACCEPTED) & (distances[:, j - 1] <= NEAREST_SHARE * usual)
    here = np.flatnonzero(copied)
    return np.column_stack([np.repeat(here, j), rows[here, :j].ravel()])


def differ_in_most(X: Array, links: NDArray[np.intp]) -> NDArray[np.bool_]:
    """Which links are between rows that differ in at least half of the columns that are not discrete.

    Rows that have most of their values in common, such as zeros, are near each other without being copies.
    """
    continuous = np.array([not has_few_values(column) for column in X.T], dtype=bool)
    differ = X[links[:, 0]][:, continuous] != X[links[:, 1]][:, continuous]
    return np.asarray(differ.mean(axis=1) >= 0.5)


def join(n: int, links: NDArray[np.intp]) -> Groups:
    """Number the parts of n rows that links connect, (n,)."""
    from scipy.sparse import coo_matrix
    from scipy.sparse.csgraph import connected_components

    graph = coo_matrix((np.ones(len(links)), (links[:, 0], links[:, 1])), shape=(n, n))
    return np.asarray(connected_components(graph, directed=False)[1], dtype=np.intp)
