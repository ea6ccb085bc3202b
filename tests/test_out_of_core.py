"""Tables larger than memory: chunks are the rows of the file, learners see all as at once."""

import gzip
import subprocess
import sys
import zipfile

import numpy as np
import pytest
from scipy.sparse import issparse, vstack
from sklearn.datasets import dump_svmlight_file

from noisylabels import chunks
from noisylabels.classifiers.linear import PegasosClassifier, RobustSGDClassifier


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((250, 4)).round(3)
    y = (X[:, 0] + 0.3 * rng.standard_normal(250) > 0).astype(float)
    return X, y


@pytest.fixture(scope="module")
def files(table, tmp_path_factory):
    folder = tmp_path_factory.mktemp("tables")
    X, y = table
    values = np.column_stack([y, X]).tolist()
    rows = "".join(",".join(map(repr, row)) + "\n" for row in values)
    (folder / "plain.csv").write_text(rows)
    (folder / "headed.csv").write_text(f"kind,a,b,c,d\n{rows}")
    (folder / "packed.csv.gz").write_bytes(gzip.compress(rows.encode()))
    with zipfile.ZipFile(folder / "packed.csv.zip", "w") as archive:
        archive.writestr("plain.csv", rows)
    dump_svmlight_file(X, y, str(folder / "sparse.svm"), zero_based=False)
    return folder


NAMES = ["plain.csv", "headed.csv", "packed.csv.gz", "packed.csv.zip", "sparse.svm"]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("rows", [1, 100, 250, 1000])
def test_chunks_are_the_rows_of_the_file(files, table, name, rows):
    label = "kind" if name == "headed.csv" else 0
    X_parts, y_parts = zip(*chunks(files / name, rows, label=label, features=4), strict=True)
    sizes = [rows] * (250 // rows)
    if 250 % rows > 0:
        sizes.append(250 % rows)
    assert [len(y) for y in y_parts] == sizes
    if issparse(X_parts[0]):
        X = vstack(X_parts).toarray()
    else:
        X = np.vstack(X_parts)
    assert table[0] == pytest.approx(X, abs=1e-12)
    assert np.array_equal(table[1], np.concatenate(y_parts))


@pytest.mark.parametrize("average", ["none", "epoch", "run"])
@pytest.mark.parametrize("schedule", ["warm_inv_epoch", "constant"])
@pytest.mark.parametrize("name", ["plain.csv", "sparse.svm"])
def test_epochs_over_chunks_are_epochs_over_the_table(files, table, average, schedule, name):
    options = {"epochs": 3, "average": average, "schedule": schedule, "eta0": 0.1, "lam": 0.01}
    whole = RobustSGDClassifier(shuffle=False, **options).fit(*table)
    model = RobustSGDClassifier(epoch_rows=250, **options)
    for _ in range(3):
        for X, y in chunks(files / name, 64, features=4):
            model.partial_fit(X, y, classes=[0, 1])
    assert model.coef_ == pytest.approx(whole.coef_, rel=1e-9)
    assert model.intercept_ == pytest.approx(whole.intercept_, rel=1e-9)
    assert model.t_ == 750
    assert model.n_iter_ == 3
    across = RobustSGDClassifier(epoch_rows=250, **options)  # pieces that end no epoch
    X, y = table
    X_thrice = np.vstack([X] * 3)
    y_thrice = np.tile(y, 3)
    for start in range(0, 750, 170):
        piece = slice(start, start + 170)
        across.partial_fit(X_thrice[piece], y_thrice[piece], classes=[0, 1])
    assert across.coef_ == pytest.approx(whole.coef_, rel=1e-9)


def test_pegasos_learns_from_chunks(files, table):
    model = PegasosClassifier(lam=0.01, random_state=0)
    repeated = PegasosClassifier(lam=0.01, random_state=0)
    for learner in (model, repeated):
        for _ in range(4):
            for X, y in chunks(files / "plain.csv", 64):
                learner.partial_fit(X, y, classes=[0, 1])
    assert model.t_ == 1000
    assert model.score(*table) > 0.85
    assert np.array_equal(model.coef_, repeated.coef_)
    with pytest.raises(ValueError, match="two classes, got one class only"):
        PegasosClassifier().partial_fit(table[0][:3], np.ones(3))


def test_a_memory_map_is_read_in_place(table, tmp_path):
    X, y = table
    np.save(tmp_path / "X.npy", X)
    mapped = np.load(tmp_path / "X.npy", mmap_mode="r")
    sgd = [RobustSGDClassifier(shuffle=order, random_state=0) for order in ("blocks", False)]
    for model in (*sgd, PegasosClassifier(lam=0.01, random_state=0)):
        first = model.fit(mapped, y).coef_.copy()
        assert np.array_equal(first, model.fit(X, y).coef_)
        assert model.score(X, y) > 0.85


CHILD = """
import resource, sys
import numpy as np
from noisylabels.classifiers.linear import PegasosClassifier, RobustSGDClassifier
from noisylabels import chunks

sgd, pegasos = RobustSGDClassifier(epoch_rows=200_000), PegasosClassifier(random_state=0)
def learn(parts):
    for X, y in parts:
        sgd.partial_fit(X, y, classes=[0, 1])
        pegasos.partial_fit(X, y, classes=[0, 1])
learn(next(chunks(path, 5000)) for path in sys.argv[1:2])  # imports and compiled loops
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
learn(chunks(sys.argv[1], 5000))
print(sgd.t_, (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) // 1024)
"""


@pytest.mark.nightly
def test_memory_is_that_of_a_chunk(tmp_path):
    rng = np.random.default_rng(0)
    block = np.column_stack([np.arange(2000) % 2, rng.standard_normal((2000, 20))])
    lines = []
    for row in block:
        lines.append(",".join(f"{value:.4f}" for value in row) + "\n")
    path = tmp_path / "large.csv"
    path.write_text("".join(lines) * 100)  # 200,000 rows, 32 MB as numbers
    output = subprocess.check_output([sys.executable, "-c", CHILD, str(path)])
    steps, megabytes = map(int, output.split())
    assert steps == 205_000
    assert megabytes < 25


@pytest.mark.parametrize(
    ("text", "options", "message"),
    [
        ("1,2\n0,\n", {}, "row 2 has a field that is missing"),
        ("1,2\n0,x\n", {}, "after row 0: .*x"),
        ("", {}, "the file is empty"),
        ("kind,a\n1,2\n", {"label": "sort"}, "no column 'sort'; name one of kind, a"),
        ("1,2\n", {"label": 9}, "no column 9: columns are 0 to 1"),
        ("1,2\n", {"label": "kind"}, "there is no header: give its number"),
        ("1,2\n", {"kind": "table"}, "kind must be csv or svmlight"),
        ("1,2\n", {"rows": 0}, "rows of a chunk must be at least 1"),
        ("1 1:2\n", {"kind": "svmlight"}, "how many features"),
        ("1 1:2\n0 3:1 2:1\n", {"kind": "svmlight", "features": 3}, "rows 1 to 2"),
        ("1 1:2\n0 1:nan\n", {"kind": "svmlight", "features": 3}, "row 2: a value is not finite"),
    ],
)
def test_what_cannot_be_read_is_named(tmp_path, text, options, message):
    path = tmp_path / "bad.csv"
    path.write_text(text)
    with pytest.raises(ValueError, match=message) as error:
        list(chunks(path, **options))
    assert "rows" in options or "bad.csv" in str(error.value)
