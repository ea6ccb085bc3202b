"""Input that no classifier can use is refused in one line; sparse entries in parts are added."""

import numpy as np
import pandas as pd
import pytest
from found import CLASSIFIERS, each_class, make
from scipy.sparse import csc_array, csr_array

import noisylabels as nl
from noisylabels.validation import check_features

RNG = np.random.default_rng(4)
Y = np.arange(40) % 2
X = RNG.standard_normal((40, 3)) + Y[:, np.newaxis]
MASK = np.zeros(X.shape, bool)
MASK[3, 1] = True
SPARSE = [cls for cls in CLASSIFIERS if cls.SPARSE]


def in_two_parts(dense):
    """A CSR matrix with the same sum, in which every entry is split into two halves."""
    n, d = dense.shape
    columns = np.tile(np.repeat(np.arange(d, dtype=np.int32), 2), n)
    starts = np.arange(0, 2 * n * d + 1, 2 * d, dtype=np.int32)
    return csr_array((np.repeat(dense.ravel() / 2, 2), columns, starts), shape=dense.shape)


@pytest.mark.parametrize("cls", SPARSE, ids=lambda cls: cls.name)
def test_sparse_entries_in_parts_are_their_sum(cls):
    model = make(cls).fit(csr_array(X), Y)
    wanted = model.decision_function(csr_array(X))
    parts = in_two_parts(X)
    np.testing.assert_array_equal(model.decision_function(parts), wanted)
    np.testing.assert_array_equal(make(cls).fit(parts, Y).decision_function(csr_array(X)), wanted)
    assert parts.nnz == 2 * X.size  # the user's matrix is as it was


@pytest.mark.parametrize("form", [csr_array, csc_array])
def test_a_sparse_matrix_without_repeated_entries_is_not_copied(form):
    matrix = form(X)
    assert check_features("X", matrix) is matrix


def everywhere():
    return [*map(make, CLASSIFIERS), nl.CorrectedClassifier()]


@pytest.mark.parametrize("model", everywhere(), ids=lambda model: type(model).__name__)
@pytest.mark.parametrize(
    ("X", "y", "message"),
    [
        (None, Y, r"X: features \(n, d\) are needed, got None"),
        (
            np.ma.array(X, mask=MASK),
            Y,
            r"X: value at index \(3, 1\) is masked; fill it or leave the row out",
        ),
        (
            [np.ma.array(row, mask=row > 3) for row in X + 3],
            Y,
            "X: some values are masked; fill them or",
        ),
        (
            X,
            np.ma.array(Y, mask=Y > 0),
            "y: value at index 1 is masked; fill it or leave the row out",
        ),
        (
            X,
            np.array([b"no", b"yes"])[Y],
            "y: labels are bytes, such as b'no'; decode them, for example",
        ),
        (X, np.array([b"no", "yes"], object)[Y], "y: labels are bytes, such as b'no'; decode them"),
        (
            X,
            pd.Series(["no", "yes", pd.NA, "no"] * 10, dtype="string"),
            "y: the label at index 2 is missing; leave the row out",
        ),
        (X, [None, "no", "yes", "no"] * 10, "y: the label at index 0 is missing; leave the row"),
        (
            X,
            ["no", "no ", "yes", "yes"] * 10,
            "y: the classes 'no' and 'no ' differ only in blanks; remove them, as with str.strip",
        ),
        (X, ["no", "  "] * 20, "y: a label is an empty text, '  '; leave its rows out"),
        (X, [[1], [1, 2]] * 20, r"y: one label for each row is needed, got \[\[1\], \[1, 2\]"),
    ],
)
def test_what_cannot_be_learned_is_refused_in_one_line(model, X, y, message):
    with pytest.raises(ValueError, match=f"^{message}") as caught:
        model.fit(X, y)
    assert "\n" not in str(caught.value)


@each_class
def test_masked_features_are_refused_in_predictions(cls):
    model = make(cls).fit(X, Y)
    with pytest.raises(ValueError, match=r"^X: value at index \(3, 1\) is masked"):
        model.predict(np.ma.array(X, mask=MASK))
    hides_nothing = np.ma.array(X)
    np.testing.assert_array_equal(model.predict(hides_nothing), model.predict(X))


def test_trusted_labels_are_refused_where_they_are_masked():
    trusted = np.ma.array(Y, mask=Y > 0)
    with pytest.raises(ValueError, match=r"^trusted: value at index 1 is masked"):
        nl.CorrectedClassifier().fit(X, Y, trusted)


@pytest.mark.parametrize("lam", [1e200, 1e-300, 1e16])
@pytest.mark.parametrize("dual", [True, False])
def test_liblinear_is_not_asked_for_what_never_ends(lam, dual):
    message = r"^lam: must be a finite number >= 1e-15 and <= 1e[+]15, got"
    with pytest.raises(ValueError, match=message):
        nl.LiblinearClassifier(lam, dual=dual).fit(X, Y)
