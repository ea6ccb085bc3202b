"""IDA sets: genuine points and splits from benchmarks.mat, or points rebuilt and split alike."""

import inspect
import zipfile

import numpy as np
import pytest
from project import load_data_sets
from scipy.io import savemat

from reproduction.data.loaders import ida
from reproduction.data.prepare import check_arrays
from reproduction.data.prepared import array_digest
from reproduction.data.registry import sources

LOADERS = {name: getattr(ida, name.replace("-", "_")) for name in ida.TRAIN}
PATTERNS = {"titanic": 24, "breast-cancer": 263, "flare-solar": 144, "image": 2086, "splice": 2991}
"""Labelled patterns of the sets in which some occur more than once."""


def published_shape(name):
    """Read the published sizes of a set, as the registry has them."""
    return load_data_sets()[f"ida_{name.replace('-', '_')}"].shape


def benchmarks(name, seed=0):
    """Make a struct as in benchmarks.mat: unique patterns, and one-based lists that repeat some."""
    shape = published_shape(name)
    rng = np.random.default_rng(seed)
    rows_of_negative = shape.classes[-1]
    rows_of_positive = shape.classes[1]
    count = PATTERNS.get(name, shape.rows)
    negative = rows_of_negative
    if count < shape.rows:
        negative = max(1, round(count * rows_of_negative / shape.rows))
    sorted_labels = np.repeat([-1.0, 1.0], [negative, count - negative])
    negative_patterns = np.arange(negative)
    positive_patterns = np.arange(negative, count)
    pattern_of_row = np.concatenate(
        [
            repeat_some(negative_patterns, rows_of_negative, rng),
            repeat_some(positive_patterns, rows_of_positive, rng),
        ]
    )
    shuffled = rng.permutation(count)
    one_based = shuffled[pattern_of_row] + 1
    realisations = ida.REALISATIONS.get(name, 100)
    order = np.array([rng.permutation(one_based) for _ in range(realisations)])
    labels = np.empty(count)
    labels[shuffled] = sorted_labels
    train = ida.TRAIN[name]
    return {
        "x": rng.standard_normal((count, shape.columns)),
        "t": labels[:, None],
        "train": order[:, :train],
        "test": order[:, train:],
    }


def repeat_some(patterns, total, rng):
    """List every pattern, and some of them again, ``total`` in all."""
    repeated = rng.choice(patterns, total - len(patterns))
    return np.concatenate([patterns, repeated])


def write(path, name, struct):
    key = name.replace("-", "_")
    if name == "diabetes":
        key = "diabetis"
    names = np.array([[key]], object)
    file = path / "benchmarks.mat"
    savemat(file, {key: struct, "benchmarks": names})
    return {file.name: file}


def assert_partitions(train, test, rows):
    """Assert that each split has every row exactly once."""
    rows_of_splits = np.sort(np.hstack([train, test]), axis=1)
    assert (rows_of_splits == np.arange(rows)).all()


@pytest.mark.parametrize("name", list(ida.TRAIN))
def test_genuine_points_and_splits_become_zero_based_partitions(tmp_path, name):
    struct = benchmarks(name)
    shape = published_shape(name)
    arrays = LOADERS[name](write(tmp_path, name, struct))
    assert arrays["X"].shape == (shape.rows, shape.columns)
    assert_partitions(arrays["train"], arrays["test"], shape.rows)
    for part in ("train", "test"):  # every row of every split is the pattern that the file names
        rows = arrays[part]
        patterns = struct[part] - 1
        assert np.array_equal(arrays["X"][rows], struct["x"][patterns])
        assert np.array_equal(arrays["y"][rows], struct["t"].ravel()[patterns])
    if name not in PATTERNS:
        assert np.array_equal(arrays["X"], struct["x"])
        assert np.array_equal(arrays["train"], struct["train"] - 1)


def test_a_struct_that_is_not_the_set_is_refused(tmp_path):
    good = benchmarks("thyroid")
    train = good["train"]
    ten_splits = {"train": train[:10], "test": good["test"][:10]}
    arrays = ida.thyroid(write(tmp_path, "thyroid", good | ten_splits))
    assert arrays["train"].shape == (10, 140)
    no_partitions = "not partitions of the same rows, 140 of them to train"
    for changes, message in [
        ({"train": train - 1}, no_partitions),
        ({"test": train[:, :75]}, no_partitions),
        ({"train": train[:, :99]}, no_partitions),
        ({"train": np.array([["a"]])}, "no numeric matrix 'train', found t"),
    ]:
        with pytest.raises(ValueError, match=message):
            ida.thyroid(write(tmp_path, "thyroid", good | changes))
    with pytest.raises(ValueError, match=r"no set 'banana', found .*thyroid"):
        ida.banana(write(tmp_path, "thyroid", good))


@pytest.mark.parametrize("name", list(ida.TRAIN))
def test_our_splits_are_partitions_of_the_published_sizes(name):
    classes = published_shape(name).classes
    y = np.repeat(np.array([-1, 1], np.int8), [classes[-1], classes[1]])
    train, test = ida.splits(name, y)
    number_of_splits = 20 if name in ("image", "splice") else 100
    assert train.shape == (number_of_splits, ida.TRAIN[name])
    assert_partitions(train, test, len(y))
    for rows in train:
        assert len(np.unique(y[rows])) == 2
    assert len(np.unique(train, axis=0)) == len(train)
    repeated_train, _ = ida.splits(name, y)
    assert np.array_equal(train, repeated_train)


def test_a_training_part_of_one_class_is_redrawn():
    y = np.full(215, -1, np.int8)
    y[0] = 1
    train, _ = ida.splits("thyroid", y)
    assert (train == 0).any(axis=1).all()


@pytest.mark.parametrize("name", ["ringnorm", "waveform"])
def test_generated_sets_are_standardised_and_have_the_published_class_counts(name):
    arrays = LOADERS[name]({})
    entry = load_data_sets()[f"ida_{name}"]
    shape = entry.shape.model_dump(exclude_none=True, mode="json")
    check_arrays(name, "generated", arrays, shape)
    assert np.allclose(arrays["X"].std(axis=0, ddof=1), 1)
    assert array_digest(arrays) == entry.prepared_sha256["generated"]


def triangle(peak):
    """Values of a waveform in 21 columns: 6 at its peak, 1 less for each column away from it."""
    distance = np.abs(np.arange(1, 22) - peak)
    return np.maximum(6 - distance, 0)


def test_the_generators_follow_breimans_laws():
    rng = np.random.default_rng(0)
    n = 20_000
    X, y = ida.generated_ringnorm(rng, n, n)
    negative = X[y == -1]
    positive = X[y == 1]
    assert negative.mean() == pytest.approx(2 / np.sqrt(20), abs=0.01)
    assert negative.var(axis=0).mean() == pytest.approx(1, abs=0.02)
    assert positive.mean() == pytest.approx(0, abs=0.01)
    assert positive.var(axis=0).mean() == pytest.approx(4, abs=0.08)
    X, y = ida.generated_waveform(rng, n, n)
    early = triangle(peak=7)
    middle = triangle(peak=11)
    late = triangle(peak=15)
    mean_of_positive = X[y == 1].mean(axis=0)
    assert np.allclose(mean_of_positive, (early + middle) / 2, atol=0.06)
    mean_of_negative = X[y == -1].mean(axis=0)
    assert np.allclose(mean_of_negative, late / 2 + (early + middle) / 4, atol=0.06)


def recipe(name):
    """Find the function that makes points of IDA from those of `uci`."""
    variables = inspect.getclosurevars(getattr(ida, name))
    return variables.nonlocals["change"]


def test_some_recipes_choose_columns_rows_and_classes():
    """German keeps IDA's category A410; image and splice group classes and leave rows out.

    The other recipes are held by the digests of the registry, which `prepare` compares.
    """
    X = np.random.default_rng(0).integers(0, 10, (1000, 20)).astype(float)
    y = np.ones(1000)
    X[7, 3] = 10
    code = X[:, 3]
    purpose = np.where(code == 10, 410, 40 + code)
    standardised = (purpose - purpose.mean()) / purpose.std(ddof=1)
    choose = recipe("german")
    chosen, _ = choose(X, y)
    assert np.allclose(chosen[:, 3], standardised)
    X = np.random.default_rng(0).standard_normal((70, 19))
    y = np.resize(np.arange(1, 8), 70)
    choose = recipe("image")
    chosen, labels = choose(X, y)
    correlation = np.corrcoef(chosen[:, 2], X[:, 3])[0, 1]
    assert np.allclose(correlation, 1)
    assert set(y[labels == 1]) == {1, 2, 3, 6}
    X = np.resize([1.0, 2, 3, 4, 1], (6, 60))
    y = np.array([1, 2, 3, 1, 2, 3])
    X[3, 5] = 0
    choose = recipe("splice")
    chosen, labels = choose(X, y)
    assert np.array_equal(chosen, np.delete(X, 3, axis=0))
    assert labels.tolist() == [1, 1, -1, 1, -1]
    choose = recipe("flare_solar")
    one_row = np.arange(12.0)[None]
    chosen, _ = choose(one_row, y)
    assert chosen.tolist() == [[2, 3, 4, 5, 6, 7, 9, 10, 11]]


def test_banana_is_read_as_it_is(tmp_path):
    y = [1] * 2376 + [-1] * 2924
    lines = [f"{label} 1:{row / 5300:.6f} 2:-0.5" for row, label in enumerate(y)]
    path = tmp_path / "banana.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("banana.all.txt", "\n".join(lines) + "\n")
    arrays = ida.banana({path.name: path})
    assert arrays["X"][5299] == pytest.approx([5299 / 5300, -0.5], abs=1e-6)
    assert arrays["y"].tolist() == y


@pytest.mark.parametrize("name", ["ida_ringnorm", "ida_waveform"])
def test_points_are_drawn_anew_only_where_no_file_can_be_had(name):
    entry = load_data_sets()[name]
    order = [f"{source.variant} {source.name}" for source in sources(name, entry)]
    assert order == [
        "genuine mirror",
        "genuine official",
        "rebuilt mirror",
        "rebuilt official",
        "generated generated",
    ]
