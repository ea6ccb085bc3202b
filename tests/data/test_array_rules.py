"""What the arrays of a data set must be, whoever wrote the loader."""

import numpy as np
import pytest

from reproduction.data.array_rules import check_rules, check_task
from reproduction.data.prepared import find_target

X = np.arange(12.0).reshape(6, 2)
Y = np.array([-1, 1, -1, 1, 1, -1])
GOOD = {"X": X, "y": Y, "train": np.array([[0, 1, 2]]), "test": np.array([[3, 4]])}


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"y": Y[1:]}, "X has 6 rows and y has 5 labels"),
        ({"X": X.T}, "X has 2 rows and y has 6 labels"),
        ({"X": X[:, 0]}, r"X has the shape \(6,\); rows and columns"),
        ({"y": Y[:, None]}, r"y has the shape \(6, 1\); one label for each row"),
        ({"y_noisy": Y[1:]}, "y_noisy has 5 rows"),
        ({"X_test": X}, "X_test is there and y_test is not"),
        ({"X_test": X, "y_test": Y[1:]}, "X_test has 6 rows and y_test has 5"),
        ({"X_test": X[:, :1], "y_test": Y}, "X_test needs as many columns as X"),
        ({"test": np.array([[3, 6]])}, "test has a row that is not in 0 to 5"),
        ({"train": np.array([[-1, 2]])}, "train has a row that is not in 0 to 5"),
        ({"test": np.array([[2, 3]])}, "split 0: row 2 is in train and in test"),
        ({"test": np.array([[3], [4]])}, "train has 1 splits and test has 2"),
        ({"train": np.array([[0.0, 1.0]])}, "train needs a line of row numbers"),
        (
            {"item": np.array([0, 6]), "worker": np.array([0, 1])},
            "item has a number that is not in 0 to 5",
        ),
        (
            {"item": np.array([0, 1]), "worker": np.array([0])},
            "a vote needs one entry in each array",
        ),
    ],
)
def test_lengths_dimensions_indices_and_splits_are_always_checked(changes, message):
    check_rules(GOOD, "binary")
    with pytest.raises(ValueError, match=message):
        check_rules(GOOD | changes, "binary")


def test_a_sparse_matrix_needs_as_many_rows_as_labels():
    sparse = {"data": np.ones(2), "indices": np.array([0, 3]), "indptr": np.array([0, 1, 2])}
    sparse |= {"shape": np.array([2, 4]), "y": np.array([-1, 1])}
    check_rules(sparse, "binary")
    for change, message in (
        ({"y": np.array([-1, 1, 1])}, "shape has 2 rows and y has 3 labels"),
        ({"indices": np.array([0, 4])}, "indices are not all in 0 to 3"),
        ({"indptr": np.array([0, 2])}, "shape has 2 rows, indptr 1"),
    ):
        with pytest.raises(ValueError, match=message):
            check_rules(sparse | change, "binary")


@pytest.mark.parametrize(
    ("task", "values", "message"),
    [
        (
            "binary",
            [0, 1, 2],
            r"task: binary, and y holds 3 values \(0, 1, 2\); .* `task: classes`",
        ),
        ("binary", [1, 2], r"y holds 2 values \(1, 2\); two classes are -1 and 1, or 0 and 1"),
        ("binary", [1, 1], "y holds 1 values"),
        ("binary", ["yes", "no"], r"y holds 2 values \(no, yes\)"),
        (
            "classes",
            [0.5, 1.0],
            "classes are whole numbers; of real values write `task: regression`",
        ),
        ("classes", [3, 3], "y holds one value only"),
        ("regression", ["a", "b"], "numbers are expected"),
    ],
)
def test_targets_are_what_the_task_says(task, values, message):
    with pytest.raises(ValueError, match=message):
        check_task(np.array(values), task)


@pytest.mark.parametrize("values", [[-1, 1], [0, 1], [False, True], [-1.0, 1.0]])
def test_two_classes_have_several_forms(values):
    check_task(np.array(values), "binary")
    assert find_target(np.array(values)) == "two classes"


def test_the_values_say_what_can_be_learned():
    assert find_target(np.array([0, 1, 2])) == "classes"
    assert find_target(np.array([0.0, 1.0, 2.0])) == "classes"
    assert find_target(np.array([0.1, 1.0])) == "real"
