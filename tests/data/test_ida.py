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
    """One struct as in benchmarks.mat: unique patterns, and one-based lists that repeat some."""
    shape = published_shape(name)
    rng = np.random.default_rng(seed)
    n = shape.rows
    of_class = [shape.classes[-1], shape.classes[1]]
    count = PATTERNS.get(name, n)
    negative = of_class[0]
    if count < n:
        negative = max(1, round(count * of_class[0] / n))
    t = np.repeat([-1.0, 1.0], [negative, count - negative])
    lists = []
    patterns_of_class = (np.arange(negative), np.arange(negative, count))
    for patterns, total in zip(patterns_of_class, of_class, strict=True):
        repeated = rng.choice(patterns, total - len(patterns))
        lists += [patterns, repeated]
    shuffled = rng.permutation(count)
    named = shuffled[np.concatenate(lists)] + 1
    order = np.array([rng.permutation(named) for _ in range(ida.REALISATIONS.get(name, 100))])
    x = rng.standard_normal((count, shape.columns))
    labels = np.empty(count)
    labels[shuffled] = t
    train = ida.TRAIN[name]
    return {"x": x, "t": labels[:, None], "train": order[:, :train], "test": order[:, train:]}


def write(path, name, struct):
    key = {"diabetes": "diabetis"}.get(name, name.replace("-", "_"))
    savemat(path / "benchmarks.mat", {key: struct, "benchmarks": np.array([[key]], object)})
    return {"benchmarks.mat": path / "benchmarks.mat"}


@pytest.mark.parametrize("name", list(ida.TRAIN))
def test_genuine_points_and_splits_become_zero_based_partitions(tmp_path, name):
    struct = benchmarks(name)
    shape = published_shape(name)
    arrays = LOADERS[name](write(tmp_path, name, struct))
    assert arrays["X"].shape == (shape.rows, shape.columns)
    rows_of_splits = np.sort(np.hstack([arrays["train"], arrays["test"]]), axis=1)
    assert (rows_of_splits == np.arange(shape.rows)).all()
    for part in ("train", "test"):  # every row of every split is the pattern that the file names
        assert np.array_equal(arrays["X"][arrays[part]], struct["x"][struct[part] - 1])
        assert np.array_equal(arrays["y"][arrays[part]], struct["t"].ravel()[struct[part] - 1])
    if name not in PATTERNS:
        assert np.array_equal(arrays["X"], struct["x"])
        assert np.array_equal(arrays["train"], struct["train"] - 1)


def test_a_struct_that_is_not_the_set_is_refused(tmp_path):
    good = benchmarks("thyroid")
    ten_splits = {part: good[part][:10] for part in ("train", "test")}
    assert ida.thyroid(write(tmp_path, "thyroid", good | ten_splits))["train"].shape == (10, 140)
    partitions = "not partitions of the same rows, 140 of them to train"
    for changes, message in [
        ({"train": good["train"] - 1}, partitions),
        ({"test": good["train"][:, :75]}, partitions),
        ({"train": good["train"][:, :99]}, partitions),
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
    assert train.shape == (20 if name in ("image", "splice") else 100, ida.TRAIN[name])
    assert (np.sort(np.hstack([train, test]), axis=1) == np.arange(len(y))).all()
    assert all(len(np.unique(y[rows])) == 2 for rows in train)
    assert len(np.unique(train, axis=0)) == len(train)
    assert np.array_equal(train, ida.splits(name, y)[0])


def test_a_training_part_of_one_class_is_redrawn():
    y = np.full(215, -1, np.int8)
    y[0] = 1
    train, _ = ida.splits("thyroid", y)
    assert (train == 0).any(axis=1).all()


@pytest.mark.parametrize("name", ["ringnorm", "waveform"])
def test_generated_sets_are_standardised_and_have_the_published_class_counts(name):
    arrays = LOADERS[name]({})
    entry = load_data_sets()[f"ida_{name}"]
    check_arrays(name, "generated", arrays, entry.shape.model_dump(exclude_none=True, mode="json"))
    assert np.allclose(arrays["X"].std(axis=0, ddof=1), 1)
    assert array_digest(arrays) == entry.prepared_sha256["generated"]


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
    columns = np.arange(1, 22)
    early, middle, late = [np.maximum(6 - np.abs(columns - peak), 0) for peak in (7, 11, 15)]
    mean_of_positive = X[y == 1].mean(axis=0)
    assert np.allclose(mean_of_positive, (early + middle) / 2, atol=0.06)
    mean_of_negative = X[y == -1].mean(axis=0)
    assert np.allclose(mean_of_negative, late / 2 + (early + middle) / 4, atol=0.06)


def recipe(name):
    """What makes points of IDA from those of `uci`."""
    return inspect.getclosurevars(getattr(ida, name)).nonlocals["change"]


def test_some_recipes_choose_columns_rows_and_classes():
    """German keeps IDA's category A410; image and splice group classes and leave rows out.

    The other recipes are held by the digests of the registry, which `prepare` compares.
    """
    X = np.random.default_rng(0).integers(0, 10, (1000, 20)).astype(float)
    y = np.ones(1000)
    X[7, 3] = 10
    purpose = np.where(X[:, 3] == 10, 410, 40 + X[:, 3])
    standardised = (purpose - purpose.mean()) / purpose.std(ddof=1)
    chosen, _ = recipe("german")(X, y)
    assert np.allclose(chosen[:, 3], standardised)
    X = np.random.default_rng(0).standard_normal((70, 19))
    y = np.resize(np.arange(1, 8), 70)
    chosen, labels = recipe("image")(X, y)
    correlation = np.corrcoef(chosen[:, 2], X[:, 3])[0, 1]
    assert np.allclose(correlation, 1)
    assert set(y[labels == 1]) == {1, 2, 3, 6}
    X = np.resize([1.0, 2, 3, 4, 1], (6, 60))
    y = np.array([1, 2, 3, 1, 2, 3])
    X[3, 5] = 0
    chosen, labels = recipe("splice")(X, y)
    assert np.array_equal(chosen, np.delete(X, 3, axis=0))
    assert labels.tolist() == [1, 1, -1, 1, -1]
    chosen, _ = recipe("flare_solar")(np.arange(12.0)[None], y)
    assert chosen.tolist() == [[2, 3, 4, 5, 6, 7, 9, 10, 11]]


def test_banana_is_read_as_it_is(tmp_path):
    lines = [f"{1 if k < 2376 else -1} 1:{k / 5300:.6f} 2:-0.5" for k in range(5300)]
    with zipfile.ZipFile(tmp_path / "banana.zip", "w") as archive:
        archive.writestr("banana.all.txt", "\n".join(lines) + "\n")
    arrays = ida.banana({"banana.zip": tmp_path / "banana.zip"})
    assert arrays["X"][5299] == pytest.approx([5299 / 5300, -0.5], abs=1e-6)
    assert arrays["y"].tolist() == [1] * 2376 + [-1] * 2924


@pytest.mark.parametrize("name", ["ida_ringnorm", "ida_waveform"])
def test_points_are_drawn_anew_only_where_no_file_can_be_had(name):
    order = [f"{source.variant} {source.name}" for source in sources(name, load_data_sets()[name])]
    assert order == [
        "genuine mirror",
        "genuine official",
        "rebuilt mirror",
        "rebuilt official",
        "generated generated",
    ]
