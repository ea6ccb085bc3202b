"""IDA sets: genuine points and splits from benchmarks.mat, or points rebuilt, with splits of their sizes."""

import zipfile
from pathlib import Path

import numpy as np
import pytest
from scipy.io import savemat

from reproduction.data import ida, uci
from reproduction.data.prepare import array_digest
from reproduction.data.registry import load_registry, sources

LOADERS = {name: getattr(ida, name.replace("-", "_")) for name in ida.FACTS}


PATTERNS = {"titanic": 24, "breast-cancer": 263, "flare-solar": 144, "image": 2086, "splice": 2991}
"""Labelled patterns of the sets in which some occur more than once."""


def benchmarks(name: str, seed: int = 0) -> dict[str, np.ndarray]:
    """One struct as in benchmarks.mat: unique patterns, and one-based lists that repeat some of them."""
    facts, rng = ida.FACTS[name], np.random.default_rng(seed)
    n = facts.negative + facts.positive
    count = PATTERNS.get(name, n)
    negative = max(1, round(count * facts.negative / n)) if count < n else facts.negative
    t = np.repeat([-1.0, 1.0], [negative, count - negative])
    often = [
        np.concatenate([own, rng.choice(own, total - len(own))])
        for own, total in (
            (np.arange(negative), facts.negative),
            (np.arange(negative, count), facts.positive),
        )
    ]
    shuffled = rng.permutation(count)
    named = shuffled[np.concatenate(often)] + 1
    order = np.array([rng.permutation(named) for _ in range(facts.splits)])
    x, labels = rng.standard_normal((count, facts.columns)), np.empty(count)
    labels[shuffled] = t
    return {"x": x, "t": labels[:, None], "train": order[:, : facts.train], "test": order[:, facts.train :]}


def write(path: Path, name: str, struct: dict[str, np.ndarray]) -> dict[str, Path]:
    key = {"diabetes": "diabetis"}.get(name, name.replace("-", "_"))
    savemat(path / "benchmarks.mat", {key: struct, "benchmarks": np.array([[key]], object)})
    return {"benchmarks.mat": path / "benchmarks.mat"}


@pytest.mark.parametrize("name", list(ida.FACTS))
def test_genuine_points_and_splits_become_zero_based_partitions(tmp_path: Path, name: str) -> None:
    struct, facts = benchmarks(name), ida.FACTS[name]
    arrays = LOADERS[name](write(tmp_path, name, struct))
    n = facts.negative + facts.positive
    assert arrays["X"].shape == (n, facts.columns)
    assert (np.sort(np.hstack([arrays["train"], arrays["test"]]), axis=1) == np.arange(n)).all()
    for part in ("train", "test"):  # every row of every split is the pattern that the file names
        assert np.array_equal(arrays["X"][arrays[part]], struct["x"][struct[part] - 1])
        assert np.array_equal(arrays["y"][arrays[part]], struct["t"].ravel()[struct[part] - 1])
    if name not in PATTERNS:
        assert np.array_equal(arrays["X"], struct["x"])
        assert np.array_equal(arrays["train"], struct["train"] - 1)


def test_a_file_with_fewer_splits_is_taken(tmp_path: Path) -> None:
    struct = benchmarks("titanic")
    few = struct | {part: struct[part][:10] for part in ("train", "test")}
    arrays = ida.titanic(write(tmp_path, "titanic", few))
    assert arrays["train"].shape == (10, 150)
    assert arrays["test"].shape == (10, 2051)


def test_a_struct_that_is_not_the_set_is_refused(tmp_path: Path) -> None:
    good = benchmarks("thyroid")

    def refused(struct: dict[str, np.ndarray], message: str) -> None:
        with pytest.raises(ValueError, match=message):
            ida.thyroid(write(tmp_path, "thyroid", struct))

    refused(good | {"train": good["train"] - 1}, "must name patterns 1..215")
    refused(good | {"train": good["train"] + 0.5}, "must name patterns 1..215")
    refused(good | {"test": good["train"][:, :75]}, "split 2 holds other patterns than split 1")
    refused(good | {"train": good["train"][:, :99]}, "must be 100x140 and 100x75, or fewer rows")
    refused(good | {"train": good["train"][:20]}, "must be 100x140 and 100x75, or fewer rows")
    refused(good | {"train": good["train"][:0], "test": good["test"][:0]}, "must be 100x140")
    refused(good | {"t": np.where(good["t"] < 0, 0, 1)}, "labels -1 or \\+1")
    refused(good | {"x": good["x"][:-1]}, "must hold 214 labels")
    refused(good | {"x": np.where(good["x"] > 2, np.nan, good["x"])}, "not finite")
    refused(good | {"t": -good["t"]}, "rows per class")
    refused({key: good[key] for key in ("x", "t")}, "no numeric matrix 'train', found t")
    with pytest.raises(ValueError, match=r"no set 'banana', found .*thyroid"):
        ida.banana(write(tmp_path, "thyroid", good))


@pytest.mark.parametrize("name", list(ida.FACTS))
def test_our_splits_are_partitions_of_the_published_sizes(name: str) -> None:
    facts = ida.FACTS[name]
    y = np.repeat(np.array([-1, 1], np.int8), [facts.negative, facts.positive])
    train, test = ida.splits(name, y)
    assert train.shape == (facts.splits, facts.train)
    assert (np.sort(np.hstack([train, test]), axis=1) == np.arange(len(y))).all()
    assert all(len(np.unique(y[rows])) == 2 for rows in train)
    assert len(np.unique(train, axis=0)) == facts.splits
    again, _ = ida.splits(name, y)
    assert np.array_equal(train, again)


def test_a_training_part_of_one_class_is_redrawn() -> None:
    y = np.full(215, -1, np.int8)
    y[0] = 1
    train, _ = ida.splits("thyroid", y)
    assert (train == 0).any(axis=1).all()


@pytest.mark.parametrize("name", ["ringnorm", "waveform"])
def test_generated_sets_are_standardised_and_have_the_published_class_counts(name: str) -> None:
    arrays = LOADERS[name]({})
    facts = ida.FACTS[name]
    assert arrays["X"].shape == (facts.negative + facts.positive, facts.columns)
    assert (arrays["y"] == 1).sum() == facts.positive
    assert np.allclose(arrays["X"].mean(axis=0), 0, atol=1e-12)
    assert np.allclose(arrays["X"].std(axis=0, ddof=1), 1)
    registered = load_registry(Path(__file__).parents[2] / "config/datasets.yaml")[f"ida_{name}"]
    assert array_digest(arrays) == registered.prepared_sha256["generated"]


def test_the_generators_follow_breimans_laws() -> None:
    rng, n = np.random.default_rng(0), 20_000
    X, y = ida.generated_ringnorm(rng, n, n)
    assert X[y == -1].mean() == pytest.approx(2 / np.sqrt(20), abs=0.01)
    assert X[y == -1].var(axis=0).mean() == pytest.approx(1, abs=0.02)
    assert X[y == 1].mean() == pytest.approx(0, abs=0.01)
    assert X[y == 1].var(axis=0).mean() == pytest.approx(4, abs=0.08)
    X, y = ida.generated_waveform(rng, n, n)
    peaks = {p: np.maximum(6 - np.abs(np.arange(1, 22) - p), 0) for p in (7, 11, 15)}
    assert np.allclose(X[y == 1].mean(axis=0), (peaks[7] + peaks[11]) / 2, atol=0.06)
    assert np.allclose(X[y == -1].mean(axis=0), peaks[15] / 2 + (peaks[7] + peaks[11]) / 4, atol=0.06)


def raw(monkeypatch: pytest.MonkeyPatch, loader: str, X: np.ndarray, y: np.ndarray) -> None:
    whole = loader in ("pima", "heart")
    monkeypatch.setattr(uci, loader, lambda files: {"X": X, "y": y} if whole else (X.copy(), y))


def test_german_keeps_the_artefact_of_category_a410(monkeypatch: pytest.MonkeyPatch) -> None:
    X = np.random.default_rng(0).integers(0, 10, (1000, 20)).astype(float)
    X[7, 3] = 10
    raw(monkeypatch, "german", X, np.repeat(np.array([-1, 1]), [700, 300]))
    Z = ida.german({"german.data": Path()})["X"][:, 3]
    purpose = 40 + X[:, 3]
    purpose[7] = 410
    assert np.allclose(Z, (purpose - purpose.mean()) / purpose.std(ddof=1))
    assert Z[7] > 9


def test_image_drops_its_constant_column_and_groups_four_classes(monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = np.random.default_rng(0).standard_normal((2310, 19)), np.repeat(np.arange(1, 8), 330)
    raw(monkeypatch, "segment", X, y)
    arrays = ida.image({"segment.dat": Path()})
    assert np.allclose(np.corrcoef(arrays["X"][:, 2], X[:, 3])[0, 1], 1)
    assert set(y[arrays["y"] == 1]) == {1, 2, 3, 6}


def test_splice_drops_ambiguous_sequences_and_joins_both_junctions(monkeypatch: pytest.MonkeyPatch) -> None:
    X = np.random.default_rng(0).integers(1, 5, (3190, 60)).astype(float)
    y = np.repeat([1, 2, 3], [763, 764, 1663])
    ambiguous = np.flatnonzero(y == 3)[:15]
    X[ambiguous, np.arange(15)] = 0
    raw(monkeypatch, "splice", X, y)
    arrays = ida.splice({"splice.dat": Path()})
    assert np.array_equal(arrays["X"], np.delete(X, ambiguous, axis=0))
    assert np.array_equal(arrays["y"], np.where(np.delete(y, ambiguous) == 3, -1, 1))


def test_flare_solar_takes_nine_consecutive_columns_without_the_constant_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    X = np.tile(np.arange(12.0), (1066, 1))
    raw(monkeypatch, "solar_flare", X, np.repeat(np.array([-1, 1]), [477, 589]))
    assert ida.flare_solar({"flare2.tab": Path()})["X"][0].tolist() == [2, 3, 4, 5, 6, 7, 9, 10, 11]


def test_delve_class_zero_is_positive(monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = np.random.default_rng(0).standard_normal((7400, 20)), np.repeat(np.array([-1, 1]), [3703, 3697])
    raw(monkeypatch, "norm", X, y)
    assert np.array_equal(ida.twonorm({"twonorm.dat": Path()})["y"], -y)


FROM_RAW = {  # set -> loader of the raw file, its labels -> those of IDA, standardised?
    "breast_cancer": ("breast_cancer", {-1: -1, 1: 1}, False),
    "diabetes": ("pima", {-1: -1, 1: 1}, True),
    "heart": ("heart", {-1: -1, 1: 1}, True),
    "ringnorm": ("norm", {-1: 1, 1: -1}, True),
    "thyroid": ("new_thyroid", {1: -1, 2: 1}, False),
    "titanic": ("titanic", {-1: -1, 1: 1}, True),
    "twonorm": ("norm", {-1: 1, 1: -1}, True),
    "waveform": ("waveform", {0: -1, 1: 1}, True),
}


@pytest.mark.parametrize("name", FROM_RAW)
def test_a_rebuilt_set_is_an_affine_map_of_the_raw_columns(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    loader, labels, standardised = FROM_RAW[name]
    facts = ida.FACTS[name.replace("_", "-")]
    counts = {-1: facts.negative, 1: facts.positive}
    y = np.repeat(list(labels), [counts[sign] for sign in labels.values()])
    X = np.random.default_rng(0).standard_normal((len(y), facts.columns)) + 3
    raw(monkeypatch, loader, X, y)
    arrays = getattr(ida, name)({"file": Path()})
    assert np.array_equal(arrays["y"], [labels[label] for label in y])
    slope = (arrays["X"][1] - arrays["X"][0]) / (X[1] - X[0])
    assert (slope > 0).all()
    assert np.allclose(arrays["X"] - arrays["X"][0], slope * (X - X[0]))
    if standardised:
        assert np.allclose(arrays["X"].std(axis=0, ddof=1), 1)


def test_banana_is_read_as_it_is(tmp_path: Path) -> None:
    lines = [f"{1 if k < 2376 else -1} 1:{k / 5300:.6f} 2:-0.5" for k in range(5300)]
    with zipfile.ZipFile(tmp_path / "banana.zip", "w") as archive:
        archive.writestr("banana.all.txt", "\n".join(lines) + "\n")
    arrays = ida.banana({"banana.zip": tmp_path / "banana.zip"})
    assert arrays["X"][5299] == pytest.approx([5299 / 5300, -0.5], abs=1e-6)
    assert arrays["y"].tolist() == [1] * 2376 + [-1] * 2924


@pytest.mark.parametrize("name", ["ida_ringnorm", "ida_waveform"])
def test_points_are_drawn_anew_only_where_no_file_can_be_had(name: str) -> None:
    entry = load_registry(Path(__file__).parents[2] / "config/datasets.yaml")[name]
    order = [(source.name, source.variant) for source in sources(name, entry)]
    assert order == [
        ("mirror", "genuine"),
        ("official", "genuine"),
        ("mirror", "rebuilt"),
        ("official", "rebuilt"),
        ("generated", "generated"),
    ]
