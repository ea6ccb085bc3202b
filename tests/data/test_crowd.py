"""Sets with real label noise: the noisy labels stand beside the true ones, and belong to them."""

from collections import Counter

import numpy as np
import pytest
from scipy.io import savemat

from reproduction.data.loaders import crowd

HEADER = "!amt_annotation_ids\t!amt_worker_ids\torig_id\tresponse\tgold"


def rte_files(folder, change=lambda pairs, labels: None):
    words = ("FALSE", "TRUE")
    pairs = []
    labels = []
    for i in range(800):
        item = str(1000 - i)
        pairs.append([item, words[i % 2], "CD", f'He "said" {i}.', f"Said {i}"])
        for k in range(10):
            worker = f"w{(7 * i + k) % 164}"
            labels.append([f"a{i}{k}", worker, item, str((i + k) % 2), str(i % 2)])
    change(pairs, labels)
    files = {
        "rte1.tsv": [["id", "value", "task", "text", "hypothesis"], *pairs],
        "rte.standardized.tsv": [[HEADER], *labels],
    }
    for name, rows in files.items():
        (folder / name).write_text("".join("\t".join(row) + "\n" for row in rows))
    return {path.name: path for path in folder.iterdir()}


def test_rte_labels_point_at_their_pairs(tmp_path):
    arrays = crowd.rte(rte_files(tmp_path))
    assert arrays["y"].tolist() == [1 if i % 2 else -1 for i in range(800)]
    assert arrays["item"].tolist() == np.repeat(np.arange(800), 10).tolist()
    assert arrays["response"][:3].tolist() == [-1, 1, -1]
    assert arrays["worker"].min() == 0
    assert arrays["worker"].max() == 163
    assert arrays["text"][3] == 'He "said" 3.'
    assert arrays["X"].shape == (800, 9)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            lambda pairs, labels: labels[0].__setitem__(4, "1"),
            "gold labels of the two files differ",
        ),
        (lambda pairs, labels: labels[0].__setitem__(3, "2"), "value '2' is not one of 1, 0"),
        (lambda pairs, labels: pairs[4].append("x"), r"rte1\.tsv: 6 fields in .*, expected 5"),
        (lambda pairs, labels: pairs[4].__setitem__(1, "MAYBE"), "value 'MAYBE' is not one of"),
    ],
)
def test_rte_files_that_do_not_fit_are_refused(tmp_path, change, message):
    with pytest.raises(ValueError, match=message):
        crowd.rte(rte_files(tmp_path, change))


def test_features_of_a_pair():
    text = ["The cat did not eat 3 mice in Paris", "Nothing here"]
    hypothesis = ["The cat did eat 3 mice", "A Berlin with 4 rooms"]
    first, second = crowd.features(text, hypothesis)
    # share, bigrams, jaccard, cosine, length, common, names, numbers, negations
    assert 0 < first[3] < 1
    assert first == pytest.approx([1, 4 / 5, 6 / 9, first[3], 6 / 9, 1, 1, 0, 1])
    assert second[[0, 3, 5, 6, 7, 8]].tolist() == [0, 0, 0, 0, 1, 1]


def galaxy(folder, **changes):
    rng = np.random.default_rng(0)
    yt = rng.permutation(np.repeat(np.array([0, 1], np.uint8), [805, 1195]))[:, None]
    fd = rng.permutation(np.repeat(np.array([0, 1], np.uint8), [1730, 270]))[:, None]
    variables = {"x": rng.random((2000, 2)), "yt": yt, "yz": yt ^ fd, "fd": fd} | changes
    savemat(folder / "galaxy_zoo.mat", variables)
    return {"galaxy_zoo.mat": folder / "galaxy_zoo.mat"}


def test_galaxy_zoo_flags_its_wrong_labels(tmp_path):
    arrays = crowd.galaxy_zoo(galaxy(tmp_path))
    assert (arrays["y"] != arrays["y_noisy"]).sum() == 270
    with pytest.raises(ValueError, match="yz has 1 values, expected two classes"):
        crowd.galaxy_zoo(galaxy(tmp_path, yz=np.zeros((2000, 1))))


def search(folder, **variables):
    savemat(folder / "websearch.mat", variables)
    return {"websearch.mat": folder / "websearch.mat"}


def test_websearch_says_what_it_found(tmp_path):
    x = np.random.default_rng(0).random((6, 3))
    y = np.array([1, 2, 2, 1, 1, 2])
    arrays = crowd.websearch(search(tmp_path, x=x, y=y[:, None]))
    assert np.array_equal(arrays["X"], x)
    assert arrays["y"].tolist() == [-1, 1, 1, -1, -1, 1]
    assert "y_noisy" not in arrays
    assert np.array_equal(crowd.websearch(search(tmp_path, x=x.T, y=y))["X"], x)
    flagged = crowd.websearch(search(tmp_path, x=x, y=y, fd=np.array([0, 1, 0, 0, 0, 0])))
    assert flagged["y_noisy"].tolist() == [-1, -1, 1, -1, -1, 1]
    for variables, message in (
        ({"x": x[:4], "y": y}, r"x \(4, 3\) and y \(1, 6\) do not match"),
        ({"features": x, "y": y}, r"no numeric matrix 'x', found features \(6x3\), y \(1x6\)"),
        ({"x": x, "y": np.arange(6)}, "y has 6 values, expected two classes"),
    ):
        with pytest.raises(ValueError, match=message):
            crowd.websearch(search(tmp_path, **variables))


def test_features_are_the_same_with_every_python():
    counts = Counter(a=10**16, b=1, c=-(10**16))
    idf = dict.fromkeys("abc", 1.0)
    assert crowd._cosine(counts, Counter("abc"), idf) == 0.0  # as `sum` had it before Python 3.12


def test_votes_and_probabilities_of_cifar10h_go_with_its_labels(tmp_path):
    names = (
        "cifar10h-counts.npy",
        "cifar10_test_set_pyx.npy",
        "cifar10_test_set_original_labels.npy",
    )
    files = {name: tmp_path / name for name in names}
    content = (np.eye(10, dtype=int) * 50, np.full((10, 10), 0.1), np.arange(10, dtype=np.uint16))
    for path, array in zip(files.values(), content, strict=True):
        np.save(path, array)
    arrays = crowd.cifar10h(files)
    assert (arrays["votes"].argmax(axis=1) == arrays["y"]).all()
    np.save(files["cifar10h-counts.npy"], content[0][:9])
    with pytest.raises(ValueError, match=r"'votes': \(9, 10\).* do not go with 10 labels"):
        crowd.cifar10h(files)
