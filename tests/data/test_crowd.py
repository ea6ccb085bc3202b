"""Sets with real label noise: the noisy labels stand beside the true ones, and belong to them."""

from collections import Counter

import numpy as np
import pytest
from scipy.io import savemat

from reproduction.data.loaders import crowd

HEADER = "!amt_annotation_ids\t!amt_worker_ids\torig_id\tresponse\tgold"


def rte_files(folder, change=lambda pairs, labels: None):
    pairs = []
    labels = []
    for i in range(800):
        item = str(1000 - i)
        word = ("FALSE", "TRUE")[i % 2]
        gold = str(i % 2)
        pairs.append([item, word, "CD", f'He "said" {i}.', f"Said {i}"])
        for k in range(10):
            worker = f"w{(7 * i + k) % 164}"
            response = str((i + k) % 2)
            labels.append([f"a{i}{k}", worker, item, response, gold])
    change(pairs, labels)
    files = {
        "rte1.tsv": [["id", "value", "task", "text", "hypothesis"], *pairs],
        "rte.standardized.tsv": [[HEADER], *labels],
    }
    for name, rows in files.items():
        lines = ["\t".join(row) for row in rows]
        (folder / name).write_text("\n".join(lines) + "\n")
    return {path.name: path for path in folder.iterdir()}


def test_rte_labels_point_at_their_pairs(tmp_path):
    arrays = crowd.rte(rte_files(tmp_path))
    assert arrays["y"].tolist() == [-1, 1] * 400
    assert np.array_equal(arrays["item"], np.repeat(np.arange(800), 10))
    assert arrays["response"][:3].tolist() == [-1, 1, -1]
    assert arrays["worker"].min() == 0
    assert arrays["worker"].max() == 163
    assert arrays["text"][3] == 'He "said" 3.'
    assert arrays["X"].shape == (800, 9)


def another_gold_label(pairs, labels):
    labels[0][4] = "1"


def an_unknown_response(pairs, labels):
    labels[0][3] = "2"


def one_field_too_many(pairs, labels):
    pairs[4].append("x")


def an_unknown_word(pairs, labels):
    pairs[4][1] = "MAYBE"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (another_gold_label, "gold labels of the two files differ"),
        (an_unknown_response, "value '2' is not one of 1, 0"),
        (one_field_too_many, r"rte1\.tsv: 6 fields in .*, expected 5"),
        (an_unknown_word, "value 'MAYBE' is not one of"),
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


def zeros_and_ones(rng, zeros, ones):
    """Make a column of shuffled zeros and ones."""
    values = np.repeat(np.array([0, 1], np.uint8), [zeros, ones])
    return rng.permutation(values)[:, None]


def galaxy(folder, **changes):
    rng = np.random.default_rng(0)
    true = zeros_and_ones(rng, 805, 1195)
    flipped = zeros_and_ones(rng, 1730, 270)
    variables = {
        "x": rng.random((2000, 2)),
        "yt": true,
        "yz": true ^ flipped,
        "fd": flipped,
    }
    savemat(folder / "galaxy_zoo.mat", variables | changes)
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
    transposed = crowd.websearch(search(tmp_path, x=x.T, y=y))
    assert np.array_equal(transposed["X"], x)
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
    votes = np.eye(10, dtype=int) * 50
    content = {
        "cifar10h-counts.npy": votes,
        "cifar10_test_set_pyx.npy": np.full((10, 10), 0.1),
        "cifar10_test_set_original_labels.npy": np.arange(10, dtype=np.uint16),
    }
    files = {}
    for name, array in content.items():
        files[name] = tmp_path / name
        np.save(files[name], array)
    arrays = crowd.cifar10h(files)
    most_votes = arrays["votes"].argmax(axis=1)
    assert (most_votes == arrays["y"]).all()
    np.save(files["cifar10h-counts.npy"], votes[:9])
    with pytest.raises(ValueError, match=r"'votes': \(9, 10\).* do not go with 10 labels"):
        crowd.cifar10h(files)
