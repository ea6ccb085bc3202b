"""What is said of a user's data set: columns that hold the label, notes, labels of other rows."""

from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.datasets import load_diabetes, load_wine

from reproduction.data.registry import OWN
from reproduction.run.data_check import describe_data, find_label_columns, read_column_names

RNG = np.random.default_rng(3)
Y = RNG.permutation(np.repeat([0, 1, 2], 40))
X = RNG.normal(size=(120, 3)) + Y[:, None]


@pytest.mark.parametrize(
    ("column", "description"),
    [
        (Y, "the label"),
        (-Y, "the label"),
        (5.5 - 2 * Y, "the label"),
        (np.array([7, 3, 5])[Y], "the label"),
        ((Y == 1).astype(int), "one of the classes"),
        (1 - 2.0 * (Y == 2), "one of the classes"),
    ],
)
def test_a_column_that_holds_the_label_is_found(column, description):
    arrays = {"X": np.column_stack([X, column]), "y": Y}
    assert [*find_label_columns(arrays)] == [(3, description)]
    (doubt,) = describe_data(arrays, "classes")
    assert doubt.startswith(f"warning: column 4 of X holds {description}, row by row; ")


def test_one_wrong_row_or_a_column_of_more_values_is_not_the_label():
    column = Y.copy()
    column[0] = (column[0] + 1) % 3
    more_values = Y + 0.01 * RNG.normal(size=120)
    for other_column in (column, more_values, np.zeros(120)):
        arrays = {"X": np.column_stack([X, other_column]), "y": Y}
        assert [*find_label_columns(arrays)] == []


@pytest.mark.parametrize("values", [(-1, 1), (0, 1)])
def test_two_classes_in_any_code_are_found(values):
    y = np.array(values)[(Y > 0).astype(int)]
    arrays = {"X": np.column_stack([Y > 0, X[:, 0], Y == 0]).astype(float), "y": y}
    assert [column for column, _ in find_label_columns(arrays)] == [0, 2]


def test_a_copy_of_a_real_target_is_found_and_a_good_predictor_is_not():
    X, y = load_diabetes(return_X_y=True)
    y = y / 3
    assert [*find_label_columns({"X": X, "y": y})] == []
    with_a_copy = np.column_stack([X, 3 - 2 * y])
    assert [*find_label_columns({"X": with_a_copy, "y": y})] == [(10, "the target")]


def test_every_column_is_found_in_more_rows_than_are_screened():
    y = RNG.integers(0, 3, 5000)
    close = y.copy()
    close[-1] = (close[-1] + 1) % 3
    arrays = {"X": np.column_stack([close, y]), "y": y}
    assert [*find_label_columns(arrays)] == [(1, "the label")]


def test_what_was_noted_and_labels_of_other_rows_are_in_one_list():
    X, y = load_wine(return_X_y=True)
    order = RNG.permutation(len(y))
    arrays = {
        "X": X[order],
        "y": np.roll(y[order], 1),
        "notes": np.array(["dates became days"]),
    }
    note, doubt = describe_data(arrays, "classes")
    assert note == "dates became days"
    assert doubt.startswith("warning: trees predict y from X no better than chance")


def test_a_column_of_a_table_has_its_name(tmp_path):
    lines = ["width,code,kind"]
    for (width, *_), label in zip(X, Y, strict=True):
        code = int(label == 1)
        kind = "xyz"[label]
        lines.append(f"{width:.3f},{code},{kind}")
    text = "\n".join(lines) + "\n"
    (tmp_path / "beans.csv").write_text(text, encoding="utf-8")
    file = SimpleNamespace(path="beans.csv")
    entry = SimpleNamespace(
        file=tmp_path / "datasets.yaml",
        loader=OWN.loader,
        options={"label": "kind"},
        sources=[SimpleNamespace(files=[file])],
    )
    assert read_column_names(entry) == ["width", "code"]
    file.path = "missing.csv"
    assert read_column_names(entry) == []
    arrays = {"X": np.column_stack([X[:, 0], Y]), "y": Y}
    (doubt,) = describe_data(arrays, "classes", lambda: ["width", "code"])
    assert "column 2 of X (code) holds the label" in doubt
