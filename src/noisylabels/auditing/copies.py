"""Copies of rows: equal or nearly equal rows, each group of which counts as one.

Copies come from joins, exports that overlap, oversampling and frames of one video. Their labels are
copies too, so that a model that saw one of them knows the label of the others. Which rows are
copies is decided by their columns alone, never by their labels.

References
----------
Facco, d'Errico, Rodriguez and Laio, Scientific Reports 7, 2017 (the ratio of distances to
neighbours). Levina and Bickel, NIPS 2004 (the dimension of a table from such ratios).
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
"""Equal rows are copies if there are more than this many times as many pairs as chance brings."""
FEW_DIFFERENT = 50
OFTEN = 5
"""Mean number of rows per value above which few different rows are a coarse table, not copies."""
OFTEN_COINCIDENT = 0.1
"""Share of rows that are equal by chance above which a note says so."""
FEW_VALUES = 20
"""Number of values up to which a column is discrete: near copies are equal in it."""
MOST_DIRECTIONS = 40
"""Number of random projections that stand for more columns than this."""
MOST_CELLS = 20_000_000
"""Largest number of cells of a sparse table in which copies are looked for."""
MOST_NEIGHBOURS = 40
MOST_ROUNDS = 6
MOST_JOINED = 4
"""Times the number of rows that a gap shows in a group that links may join to one."""
SAMPLED = 1000
"""Number of rows whose neighbours show whether a table has near copies."""
SAMPLED_OF_MANY = 400
"""Number of these rows in a large table."""
MANY = 10_000
"""Number of rows from which a table is large."""
SMALLEST_NOISE = 0.1
"""Standard deviations per column by which near copies are assumed to differ at least."""
CROWDED = 1.5
"""Ratio of distances below which other rows may hide a near copy."""
NEAREST_SHARE = 0.35
"""Largest distance of near copies, as a share of the usual distance between two rows."""
CLEAR_RATIO = 1.15
"""Ratio by which the gap behind a neighbour must exceed what chance explains."""
CLEAR_ERRORS = 4.0
"""Standard errors by which this gap must exceed what chance explains."""
ACCEPTED = 0.2
"""Share of rows without copies that may be grouped in a table with near copies."""


@dataclass(frozen=True)
class Copies:
    """The groups of rows that are copies of each other.

    Parameters
    ----------
    groups : ndarray of shape (n,)
        The number of the group of each row. Groups count from 0 in the order of their first rows.
    equal : ndarray of shape (n,)
        The same for rows that are exactly equal. Equal rows that are not copies are alone.
    nearly_equal : bool
        Whether some rows of a group are only nearly equal.
    coincident : int
        How many rows are equal to others because the columns have few values. They are not grouped.
    crowded : bool
        Whether different rows lie so close together that near copies look like neighbours.

    Examples
    --------
    >>> import numpy as np
    >>> from noisylabels.auditing.copies import Copies
    >>> groups = np.array([0, 1, 0])
    >>> Copies(groups, groups).describe()
    ['1 of 3 rows is a copy of an earlier row; each group of copies counts as one row']
    """

    groups: Groups
    equal: Groups
    nearly_equal: bool = False
    coincident: int = 0
    crowded: bool = False

    @property
    def copied(self) -> int:
        """Number of rows that are copies of an earlier one."""
        return len(self.groups) - int(self.groups.max()) - 1

    def describe(self) -> list[str]:
        """Describe what was found.

        Returns
        -------
        list of str
            Notes of an audit.
        """
        n = len(self.groups)
        notes = []
        if self.copied:
            verb = "is" if self.copied == 1 else "are"
            if self.nearly_equal:
                relation = "equal or nearly equal to"
            elif self.copied == 1:
                relation = "a copy of"
            else:
                relation = "copies of"
            rule = "each group of copies counts as one row"
            notes.append(f"{self.copied} of {n} rows {verb} {relation} an earlier row; {rule}")
        elif self.coincident > OFTEN_COINCIDENT * n:
            reason = "as chance brings in columns of few values, and count as different rows"
            advice = "if they are copies, remove them or give their groups"
            notes.append(f"{self.coincident} of {n} rows are equal to others, {reason}; {advice}")
        if self.crowded:
            notes.append(
                "rows are so close together that nearly equal copies cannot be detected; if there "
                "are any, give their groups, or the share of wrong labels can be above the upper "
                "limit"
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
        The groups. Of a table without copies each row is a group.

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
    *Equal rows.* Chance brings equal rows in tables of few values. Let D_b be the number of pairs
    of rows that differ in column b alone, and c_b the share of agreement in b among the pairs that
    differ in the others too. If b has nothing to do with the others, D_b c_b / (1 - c_b) pairs
    agree in all columns. Equal rows are copies if there are more than twice as many pairs of them
    as the sum over the columns. If fewer than 50 different rows occur more than five times on
    average they are never copies.

    *Nearly equal rows.* Let d_j be the distance to the j-th neighbour. Among rows without copies
    j log(d_{j+1} / d_j) is exponential with mean 1 / m, where m is the dimension of the table,
    whatever the density. A gap behind the j-th neighbours that is too large for the m of farther
    ones shows groups of j + 1 near copies. Then a row and its j neighbours are a group where (d_j /
    d_{j+1})^(m j) <= 0.2.
    """
    n = len(X)
    hashes = hash_cells(X)
    words = hash_words(text, n)
    row_hashes = hashes.sum(axis=1) + words
    equal = np.unique(row_hashes, return_inverse=True)[1]
    first = np.unique(equal, return_index=True)[1]
    repeated = n - len(first)
    coincident = 0
    if repeated and are_coincident(X, hashes, words, equal, len(first)):
        sizes = np.bincount(equal)
        has_copies = sizes[equal] > 1
        coincident = int(has_copies.sum())
    if text is None:
        different = X
    else:
        different = np.hstack([X, project_words(text)])
    distinct_rows = different[first]
    linked = link_near_rows(distinct_rows)
    joined = join(len(first), linked)
    one_of_each = np.unique(joined, return_index=True)[1]
    distinct = different[first][one_of_each]
    crowded = is_crowded(distinct)
    alone = np.arange(n)
    if not len(linked) and (coincident or not repeated):
        return Copies(alone, alone, coincident=coincident, crowded=crowded)
    groups = number_groups(joined[equal])
    equal_groups = alone if coincident else number_groups(equal)
    return Copies(groups, equal_groups, nearly_equal=len(linked) > 0, crowded=crowded)


def find_copies_of_numbers(X: Any) -> Groups | None:
    """Find the groups of copies in a table of numbers.

    Parameters
    ----------
    X : array_like or sparse array of shape (n, d)
        The table. Gaps are allowed.

    Returns
    -------
    ndarray of shape (n,) or None
        The groups; None if the table does not hold finite numbers, or is too large.

    Examples
    --------
    >>> import numpy as np
    >>> from noisylabels.auditing.copies import find_copies_of_numbers
    >>> X = np.random.default_rng(0).normal(size=(100, 3))
    >>> find_copies_of_numbers(np.vstack([X, X[:3]]))[100:].tolist()
    [0, 1, 2]
    """
    if hasattr(X, "toarray"):
        if X.shape[0] * X.shape[1] > MOST_CELLS:
            return None
        X = X.toarray()
    values = np.asarray(X)
    if values.ndim != 2 or values.dtype.kind not in "fiub":
        return None
    if not len(values) or np.isinf(values).any():
        return None
    table = values.astype(float)
    gaps = np.isnan(table)
    if gaps.any():
        table = np.hstack([np.where(gaps, 0.0, table), gaps.astype(float)])
    return find_copies(table).groups


def combine_groups(groups: Groups | None, other_groups: Groups | None) -> Groups | None:
    """Join groups of two kinds where they have rows in common.

    Parameters
    ----------
    groups, other_groups : ndarray of shape (n,), optional
        Numbers of the groups of the rows, from 0; None if each row is alone.

    Returns
    -------
    ndarray of shape (n,) or None
        The joined groups; None if each row is alone.

    Examples
    --------
    >>> import numpy as np
    >>> from noisylabels.auditing.copies import combine_groups
    >>> combine_groups(np.array([0, 0, 1, 2]), np.array([0, 1, 1, 2])).tolist()
    [0, 0, 0, 1]
    """
    if groups is None:
        joined = other_groups
    elif other_groups is None:
        joined = groups
    else:
        rows = np.arange(len(groups))
        links = []
        for numbers in (groups, other_groups):
            first_rows = np.unique(numbers, return_index=True)[1]
            links.append(np.column_stack([rows, first_rows[numbers]]))
        joined = number_groups(join(len(groups), np.concatenate(links)))
    if joined is None or int(joined.max()) + 1 == len(joined):
        return None
    return joined


def groups_of(names: ArrayLike | Sequence[str | None], rows: int) -> Groups:
    """Number the groups that users name, such as patients, from 0.

    Parameters
    ----------
    names : array_like of shape (rows,)
        The name of the group of each row. A row without a name is a group.
    rows : int
        The number of rows.

    Returns
    -------
    ndarray of shape (rows,)
        The numbers of the groups, in the order of their first rows.

    Raises
    ------
    ValueError
        If there is not one name for each row.

    Examples
    --------
    >>> from noisylabels.auditing.copies import groups_of
    >>> groups_of(["b", "a", None, "b"], 4).tolist()
    [0, 1, 2, 0]
    """
    values = np.asarray(names, dtype=object)
    if values.shape != (rows,):
        problem = f"must have one name for each of {rows} rows, got shape {values.shape}"
        raise ValueError(f"groups {problem}")
    group_names = []
    for i, value in enumerate(values):
        text = str(value).strip()
        group_names.append(f"row {i}" if is_missing(text) else f"group {text}")
    return number_groups(group_names)


def number_groups(names: Any) -> Groups:
    """Number groups from 0 in the order of their first rows.

    Parameters
    ----------
    names : array_like of shape (n,)
        The name of the group of each row.

    Returns
    -------
    ndarray of shape (n,)
        The numbers.

    Examples
    --------
    >>> from noisylabels.auditing.copies import number_groups
    >>> number_groups(["b", "a", "b"]).tolist()
    [0, 1, 0]
    """
    array_of_names = np.asarray(names)
    _, first_rows, group = np.unique(array_of_names, return_index=True, return_inverse=True)
    numbers = np.empty(len(first_rows), dtype=np.intp)
    order = np.argsort(first_rows)
    numbers[order] = np.arange(len(first_rows))
    return numbers[group]


def hash_cells(X: Array) -> NDArray[np.uint64]:
    """Hash the value of each cell to a number of 64 bits; equal rows have equal sums.

    Parameters
    ----------
    X : ndarray of shape (n, d)
        The table.

    Returns
    -------
    ndarray of shape (n, d)
        The numbers. The mixing is that of SplitMix64 (Steele, Lea and Flood, OOPSLA 2014).

    Examples
    --------
    >>> import numpy as np
    >>> from noisylabels.auditing.copies import hash_cells
    >>> sums = hash_cells(np.array([[1.0, 2.0], [1.0, 2.0], [2.0, 1.0]])).sum(axis=1)
    >>> bool(sums[0] == sums[1]), bool(sums[0] == sums[2])
    (True, False)
    """
    rng = np.random.default_rng(0)
    columns = rng.integers(2**64, size=X.shape[1], dtype=np.uint64)
    cells = np.ascontiguousarray(X, dtype=float) + 0.0  # adding 0 turns -0.0 into 0.0
    mixed = cells.view(np.uint64) + columns
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        shift_bits = np.uint64(shift)
        folded = mixed >> shift_bits
        mixed = (mixed ^ folded) * np.uint64(factor)
    last = mixed >> np.uint64(31)
    return mixed ^ last


def hash_words(text: Any, n: int) -> NDArray[np.uint64]:
    """Hash the words of each row to a number of 64 bits.

    Parameters
    ----------
    text : sparse array of shape (n, D) or None
        Hashed words of the rows.
    n : int
        The number of rows.

    Returns
    -------
    ndarray of shape (n,)
        The numbers; 0 without words.

    Examples
    --------
    >>> from noisylabels.auditing.copies import hash_words
    >>> hash_words(None, 2).tolist()
    [0, 0]
    """
    if text is None:
        return np.zeros(n, dtype=np.uint64)
    number_of_words: dict[bytes, int] = {}
    numbers = []
    for i in range(n):
        indices = text[i].indices.tobytes()
        values = text[i].data.tobytes()
        words = indices + values
        number = number_of_words.setdefault(words, len(number_of_words))
        numbers.append(number)
    rng = np.random.default_rng(1)
    hashes = rng.integers(2**64, size=len(number_of_words), dtype=np.uint64)
    return hashes[np.array(numbers)]


def project_words(text: Any) -> Array:
    """Take sixteen random projections of hashed words.

    Parameters
    ----------
    text : sparse array of shape (n, D)
        Hashed words of the rows.

    Returns
    -------
    ndarray of shape (n, 16)
        The projections.

    Examples
    --------
    >>> from scipy.sparse import csr_matrix
    >>> from noisylabels.auditing.copies import project_words
    >>> project_words(csr_matrix((2, 50))).shape
    (2, 16)
    """
    directions = np.random.default_rng(0).standard_normal((text.shape[1], 16))
    return np.asarray(text @ directions)


def are_coincident(
    X: Array,
    hashes: NDArray[np.uint64],
    words: NDArray[np.uint64],
    equal: Groups,
    different: int,
) -> bool:
    """Decide whether chance alone explains the number of equal rows.

    Parameters
    ----------
    X : ndarray of shape (n, d)
        The table.
    hashes : ndarray of shape (n, d)
        Hashes of its cells.
    words : ndarray of shape (n,)
        Hashes of its words.
    equal : ndarray of shape (n,)
        Numbers of the groups of equal rows.
    different : int
        How many different rows there are.

    Returns
    -------
    bool
        Whether equal rows are no more frequent than by chance, see `find_copies`.

    Examples
    --------
    >>> import numpy as np
    >>> from noisylabels.auditing.copies import are_coincident, hash_cells
    >>> X = np.arange(60.0).reshape(-1, 1) % 4
    >>> hashes = hash_cells(X)
    >>> are_coincident(X, hashes, np.zeros(60, dtype=np.uint64), X[:, 0].astype(int), 4)
    True
    """
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
        else:  # in a table of one column, all values of its grid count as equally likely
            values = np.unique(X[:, block[0]])
            agree = 1.0
            if len(values) > 1:
                agree = float(np.diff(values).min() / np.ptp(values))
        if agree < 1:
            expected += (others_agree - pairs) * agree / (1 - agree)
        if pairs <= BY_CHANCE * expected:
            return True
    return False


def exclusive_blocks(X: Array) -> list[list[int]]:
    """List successive columns of which each row has at most one 1.

    Parameters
    ----------
    X : ndarray of shape (n, d)
        The table.

    Returns
    -------
    list of list of int
        The columns of each block. Categories are encoded as such blocks; other columns are alone.

    Examples
    --------
    >>> import numpy as np
    >>> from noisylabels.auditing.copies import exclusive_blocks
    >>> exclusive_blocks(np.array([[1.0, 0.0, 2.5], [0.0, 1.0, 0.5]]))
    [[0, 1], [2]]
    """
    blocks: list[list[int]] = []
    ones_of_block = np.ones(len(X))
    for j in range(X.shape[1]):
        column = X[:, j]
        is_zero_or_one = (column == 0) | (column == 1)
        is_binary = bool(is_zero_or_one.all())
        if is_binary and blocks and (ones_of_block + column).max() <= 1:
            blocks[-1].append(j)
            ones_of_block = ones_of_block + column
        else:
            blocks.append([j])
            ones_of_block = column if is_binary else np.ones(len(X))
    return blocks


def count_pairs(names: NDArray[Any]) -> float:
    """Count the pairs of rows with the same name.

    Parameters
    ----------
    names : ndarray of shape (n,)
        The names.

    Returns
    -------
    float
        The number of pairs.

    Examples
    --------
    >>> import numpy as np
    >>> from noisylabels.auditing.copies import count_pairs
    >>> count_pairs(np.array([1, 1, 1, 2]))
    3.0
    """
    counts = np.unique(names, return_counts=True)[1].astype(float)
    pairs = counts * (counts - 1)
    return float(pairs.sum() / 2)


def link_near_rows(X: Array) -> NDArray[np.intp]:
    """Link different rows that are near copies.

    Groups that were found are replaced by their first rows, and the search begins again, until
    nothing is found: groups of different sizes are found in different rounds.

    Parameters
    ----------
    X : ndarray of shape (n, d)
        The table.

    Returns
    -------
    ndarray of shape (links, 2)
        Numbers of the linked rows.

    Examples
    --------
    >>> import numpy as np
    >>> from noisylabels.auditing.copies import link_near_rows
    >>> X = np.random.default_rng(0).normal(size=(100, 3))
    >>> X = np.vstack([X, X + 1e-3])
    >>> len(link_near_rows(X)) > 100, len(link_near_rows(X[:100]))
    (True, 0)
    """
    links_of_rounds = [np.empty((0, 2), dtype=np.intp)]
    rows = np.arange(len(X))
    for _ in range(MOST_ROUNDS):
        links = link_in_one_round(X[rows])
        if not len(links):
            break
        links_of_rounds.append(rows[links])
        groups = join(len(rows), links)
        rows = rows[np.unique(groups, return_index=True)[1]]
    return np.concatenate(links_of_rounds)


def link_in_one_round(X: Array) -> NDArray[np.intp]:
    """Link near copies of the size that shows most clearly.

    Parameters
    ----------
    X : ndarray of shape (n, d)
        The table.

    Returns
    -------
    ndarray of shape (links, 2)
        Numbers of the linked rows.

    Examples
    --------
    >>> import numpy as np
    >>> from noisylabels.auditing.copies import link_in_one_round
    >>> X = np.random.default_rng(0).normal(size=(100, 3))
    >>> X = np.vstack([X, X + 1e-3])
    >>> link_in_one_round(X)[0].tolist()
    [0, 100]
    """
    nothing = np.empty((0, 2), dtype=np.intp)
    neighbours = min(MOST_NEIGHBOURS, len(X) // 8)
    Z, usual = spread_out(X)
    if neighbours < 5 or Z is None:
        return nothing
    sample_size = SAMPLED if len(X) <= MANY else SAMPLED_OF_MANY
    rng = np.random.default_rng(0)
    shuffled = rng.permutation(len(X))
    sample = np.sort(shuffled[:sample_size])
    distances = distances_to_nearest(Z, sample, neighbours, usual)
    counts, sums = measure_gaps(distances, usual)
    gap = clear_gap(counts, sums)
    if gap is None:
        return nothing
    j, dimension = gap
    links = link_neighbours(Z, j, dimension, usual)
    links = links[differ_in_most(X, links)]
    if len(links) and are_chained(len(X), links, j):
        return nothing
    return links


def are_chained(n: int, links: NDArray[np.intp], j: int) -> bool:
    """Decide whether links make chains, such as on a grid, and not separate groups.

    Parameters
    ----------
    n : int
        The number of rows.
    links : ndarray of shape (links, 2)
        Numbers of the linked rows.
    j : int
        How many neighbours each row was linked to.

    Returns
    -------
    bool
        Whether most linked rows are in groups that are far too large.

    Examples
    --------
    >>> import numpy as np
    >>> from noisylabels.auditing.copies import are_chained
    >>> are_chained(10, np.column_stack([np.arange(9), np.arange(1, 10)]), 1)
    True
    """
    groups = join(n, links)
    sizes = np.bincount(groups)[groups]
    sizes_of_linked = sizes[np.unique(links)]
    most_joined = MOST_JOINED * (j + 1)
    is_chain = sizes_of_linked > most_joined
    return bool(is_chain.mean() > 0.5)


def is_crowded(X: Array) -> bool:
    """Decide whether other rows are usually as close as a copy with noise in each column.

    Parameters
    ----------
    X : ndarray of shape (n, d)
        The table.

    Returns
    -------
    bool
        Whether near copies would look like neighbours.

    Examples
    --------
    >>> import numpy as np
    >>> from noisylabels.auditing.copies import is_crowded
    >>> rng = np.random.default_rng(0)
    >>> is_crowded(rng.normal(size=(2000, 1))), is_crowded(rng.normal(size=(100, 20)))
    (True, False)
    """
    Z, usual = spread_out(X)
    if Z is None or len(X) < 2:
        return False
    # Each standardised column adds 2 to the squared distance of two rows.
    columns = round(usual**2 / 2)
    of_a_copy = SMALLEST_NOISE * (2 * columns) ** 0.5
    rng = np.random.default_rng(0)
    shuffled = rng.permutation(len(X))
    sample = np.sort(shuffled[:SAMPLED_OF_MANY])
    nearest = distances_to_nearest(Z, sample, 1, usual)[:, 0]
    return bool(np.median(nearest) < CROWDED * of_a_copy)


def spread_out(X: Array) -> tuple[Array | None, float]:
    """Standardise the continuous columns, and separate rows that differ in the others.

    Parameters
    ----------
    X : ndarray of shape (n, d)
        The table.

    Returns
    -------
    ndarray of shape (n, p) or None
        The table; None if all columns are discrete.
    float
        The usual distance of two rows in the standardised columns.

    Examples
    --------
    >>> import numpy as np
    >>> from noisylabels.auditing.copies import spread_out
    >>> Z, usual = spread_out(np.random.default_rng(0).normal(size=(100, 2)))
    >>> Z.shape, round(usual, 6)
    ((100, 2), 2.0)
    """
    discrete = np.array([has_few_values(column) for column in X.T], dtype=bool)
    if discrete.all():
        return None, 0.0
    rng = np.random.default_rng(0)
    continuous_columns = X[:, ~discrete]
    continuous = fill_steps(continuous_columns, rng)
    deviation = continuous.std(axis=0)
    means = continuous.mean(axis=0)
    Z = (continuous - means) / deviation
    if Z.shape[1] > MOST_DIRECTIONS:
        directions = rng.standard_normal((Z.shape[1], MOST_DIRECTIONS))
        Z = Z @ directions / MOST_DIRECTIONS**0.5
    variances = Z.var(axis=0)
    usual = float((2 * variances.sum()) ** 0.5)
    cell_hashes = hash_cells(X[:, discrete])
    cells = cell_hashes.sum(axis=1)
    names, cell = np.unique(cells, return_inverse=True)
    if len(names) > 1:
        shape = (len(names), 12)
        normals = rng.standard_normal(shape)
        corners = 4 * usual * normals
        Z = np.hstack([Z, corners[cell]])
    return Z, usual


def has_few_values(column: Array) -> bool:
    """Decide whether a column is discrete.

    Parameters
    ----------
    column : ndarray of shape (n,)
        The column.

    Returns
    -------
    bool
        Whether it has at most 20 values.

    Examples
    --------
    >>> import numpy as np
    >>> from noisylabels.auditing.copies import has_few_values
    >>> has_few_values(np.arange(100.0)), has_few_values(np.arange(100.0) % 3)
    (False, True)
    """
    # the first rows are enough for most columns, and fast to count
    if len(np.unique(column[:SAMPLED])) > FEW_VALUES:
        return False
    return len(np.unique(column)) <= FEW_VALUES


def fill_steps(X: Array, rng: np.random.Generator) -> Array:
    """Add noise of up to half a step to each column, or neighbours on a grid would tie.

    Parameters
    ----------
    X : ndarray of shape (n, d)
        The continuous columns.
    rng : numpy.random.Generator
        Draws the noise.

    Returns
    -------
    ndarray of shape (n, d)
        The columns with noise.

    Examples
    --------
    >>> import numpy as np
    >>> from noisylabels.auditing.copies import fill_steps
    >>> X = np.arange(6.0).reshape(-1, 1)
    >>> bool((np.abs(fill_steps(X, np.random.default_rng(0)) - X) <= 0.5).all())
    True
    """
    filled = np.empty(X.shape)
    for j in range(X.shape[1]):
        ordered = np.sort(X[:, j])
        steps = np.diff(ordered)
        step = steps[steps > 0].min()
        shifts = rng.uniform(-step / 2, step / 2, len(X))
        filled[:, j] = X[:, j] + shifts
    return filled


def distances_to_nearest(Z: Array, rows: Groups, neighbours: int, usual: float) -> Array:
    """Find the distances of some rows to their nearest other rows.

    Parameters
    ----------
    Z : ndarray of shape (n, p)
        The table.
    rows : ndarray of shape (rows,)
        Numbers of the rows.
    neighbours : int
        How many distances each row gets.
    usual : float
        The usual distance; smaller ones count as at least a millionth of it.

    Returns
    -------
    ndarray of shape (rows, neighbours)
        The distances, ascending.

    Examples
    --------
    >>> import numpy as np
    >>> from noisylabels.auditing.copies import distances_to_nearest
    >>> Z = np.array([[0.0], [1.0], [3.0]])
    >>> distances_to_nearest(Z, np.array([0]), 2, 1.0).tolist()
    [[1.0, 3.0]]
    """
    squares = (Z**2).sum(axis=1)
    squared_distances = np.empty((len(rows), neighbours))
    step = max(1, 5_000_000 // len(Z))
    for start in range(0, len(rows), step):
        part = rows[start : start + step]
        to_all = squares[part, np.newaxis] + squares
        to_all -= 2 * Z[part] @ Z.T
        diagonal = np.arange(len(part))
        to_all[diagonal, part] = np.inf
        nearest = np.partition(to_all, neighbours - 1, axis=1)[:, :neighbours]
        squared_distances[start : start + step] = np.sort(nearest, axis=1)
    smallest = (1e-6 * usual) ** 2
    return np.sqrt(np.maximum(squared_distances, smallest))


def measure_gaps(distances: Array, usual: float) -> tuple[Array, Array]:
    """Add up the gaps behind the neighbours of rows.

    Parameters
    ----------
    distances : ndarray of shape (rows, k)
        To the k nearest neighbours of some rows.
    usual : float
        The usual distance of two rows; larger distances count as this.

    Returns
    -------
    ndarray of shape (k,)
        How many rows have a j-th neighbour, j = 0..k - 1.
    ndarray of shape (k,)
        The sum of j log(d_{j+1} / d_j) over these rows.

    Examples
    --------
    >>> import numpy as np
    >>> from noisylabels.auditing.copies import measure_gaps
    >>> counts, sums = measure_gaps(np.array([[1.0, 2.0, 2.0]]), 10.0)
    >>> counts.tolist(), sums.round(2).tolist()
    ([0.0, 1.0, 1.0], [0.0, 0.69, 0.0])
    """
    k = distances.shape[1]
    limited = np.minimum(distances, usual)
    counts = np.zeros(k)
    sums = np.zeros(k)
    for j in range(1, k):
        has_neighbour = limited[:, j - 1] < usual
        counts[j] = has_neighbour.sum()
        nearer = limited[has_neighbour, j - 1]
        ratios = limited[has_neighbour, j] / nearer
        log_ratios = np.log(ratios)
        sums[j] = j * log_ratios.sum()
    return counts, sums


def clear_gap(counts: Array, sums: Array) -> tuple[int, float] | None:
    """Find the neighbour with the clearest gap behind it.

    Parameters
    ----------
    counts, sums : ndarray of shape (k,)
        What `measure_gaps` returns.

    Returns
    -------
    tuple of int and float, or None
        The number j of the neighbour, and the dimension of the farther rows; None if no gap is
        clear.

    Examples
    --------
    >>> import numpy as np
    >>> from noisylabels.auditing.copies import clear_gap
    >>> counts = np.full(12, 1000.0)
    >>> sums = np.array([0.0, 9000.0, *np.full(10, 1000.0)])
    >>> clear_gap(counts, sums)
    (1, 1.0)
    """
    best = None
    clearest = CLEAR_RATIO
    last = (len(counts) - 3) // 2
    for j in range(1, last + 1):
        farther = slice(j + 1, 2 * j + 4)
        if counts[j] == 0 or sums[farther].sum() == 0:
            continue
        total = counts[farther].sum()
        dimension = total / sums[farther].sum()
        mean_gap = sums[j] / counts[j]
        ratio = mean_gap * dimension
        weight = (counts[j] / 2) ** 0.5
        errors = (ratio - 1) * weight
        if ratio > clearest and errors > CLEAR_ERRORS:
            best = (j, float(dimension))
            clearest = ratio
    return best


def link_neighbours(Z: Array, j: int, dimension: float, usual: float) -> NDArray[np.intp]:
    """Link rows to their nearest neighbours if the gap behind these is too large.

    Parameters
    ----------
    Z : ndarray of shape (n, p)
        The table.
    j : int
        How many neighbours a row is linked to.
    dimension : float
        The dimension of the table.
    usual : float
        The usual distance of two rows.

    Returns
    -------
    ndarray of shape (links, 2)
        Numbers of the linked rows.

    Examples
    --------
    >>> import numpy as np
    >>> from noisylabels.auditing.copies import link_neighbours
    >>> Z = np.array([[0.0], [0.001], [1.0], [3.0]])
    >>> link_neighbours(Z, 1, 1.0, 1.5).tolist()
    [[0, 1], [1, 0]]
    """
    from sklearn.neighbors import NearestNeighbors

    model = NearestNeighbors(n_neighbors=j + 1, algorithm="brute")
    search = model.fit(Z)
    distances, rows = search.kneighbors()
    distances = np.clip(distances, 1e-6 * usual, usual)
    nearest = distances[:, j - 1]
    ratios = nearest / distances[:, j]
    chance = ratios ** (dimension * j)
    is_unlikely = chance <= ACCEPTED
    is_near = distances[:, j - 1] <= NEAREST_SHARE * usual
    is_copied = is_unlikely & is_near
    copied = np.flatnonzero(is_copied)
    first = np.repeat(copied, j)
    second = rows[copied, :j].ravel()
    return np.column_stack([first, second])


def differ_in_most(X: Array, links: NDArray[np.intp]) -> NDArray[np.bool_]:
    """Mark the links between rows that differ in at least half of the continuous columns.

    Rows that have most of their values in common, such as zeros, are near each other without being
    copies.

    Parameters
    ----------
    X : ndarray of shape (n, d)
        The table.
    links : ndarray of shape (links, 2)
        Numbers of the linked rows.

    Returns
    -------
    ndarray of shape (links,)
        True where they differ in so many columns.

    Examples
    --------
    >>> import numpy as np
    >>> from noisylabels.auditing.copies import differ_in_most
    >>> X = np.random.default_rng(0).normal(size=(100, 3))
    >>> X[1, :2] = X[0, :2]
    >>> differ_in_most(X, np.array([[0, 1], [0, 2]])).tolist()
    [False, True]
    """
    continuous = np.array([not has_few_values(column) for column in X.T], dtype=bool)
    first = X[links[:, 0]][:, continuous]
    second = X[links[:, 1]][:, continuous]
    differ = first != second
    share_of_columns = differ.mean(axis=1)
    return np.asarray(share_of_columns >= 0.5)


def join(n: int, links: NDArray[np.intp]) -> Groups:
    """Number the parts of rows that links connect.

    Parameters
    ----------
    n : int
        The number of rows.
    links : ndarray of shape (links, 2)
        Numbers of the linked rows.

    Returns
    -------
    ndarray of shape (n,)
        The number of the part of each row.

    Examples
    --------
    >>> import numpy as np
    >>> from noisylabels.auditing.copies import join
    >>> join(4, np.array([[0, 3]])).tolist()
    [0, 1, 2, 0]
    """
    from scipy.sparse import coo_matrix
    from scipy.sparse.csgraph import connected_components

    weights = np.ones(len(links))
    places = (links[:, 0], links[:, 1])
    matrix = (weights, places)
    graph = coo_matrix(matrix, shape=(n, n))
    groups = connected_components(graph, directed=False)[1]
    return np.asarray(groups, dtype=np.intp)
