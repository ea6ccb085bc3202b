"""Mistakes in a user's paper that once passed in silence: each is refused, or noted."""

import sys
import zlib

import numpy as np
import pytest
from small_paper import ROOT, add_loader, add_method, change, run_paper, write_paper

from reproduction.plan import plan


@pytest.fixture
def paper(tmp_path, request, monkeypatch):
    """The small paper under a name of its own: Python imports a module once."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    return write_paper(tmp_path / f"small_{zlib.crc32(request.node.name.encode()):x}")


def fit(line):
    return f"def fit(self, X, y):\n    {line}\n    return super().fit(X, y)"


def add_row(folder, row):
    change(
        folder / "code.py",
        'yield repetition.row("auc"',
        f'yield {row}\n        yield repetition.row("auc"',
    )


def add_third_class(folder):
    add_loader(folder, "return {'X': X, 'y': np.where(t, 2, np.arange(len(t)) % 2)}")


def add_third_class_of_another_task(folder):
    add_third_class(folder)
    change(folder / "datasets.yaml", "task: binary", "task: other")


SPOILED_TEST = """def predict(self, X):
    X *= 0
    return super().predict(X)"""
UNSEEDED_LOADER = """X = X + np.random.default_rng().normal(size=X.shape)
return {'X': X, 'y': np.where(t, 1, -1)}"""
COIN = """def fit(self, X, y):
    self.sign_ = np.random.default_rng().random() > 0.5
    return super().fit(X, y)"""
STATE = """seen = []
def fit(self, X, y):
    self.seen.append(len(X))
    self.C = 10.0 ** -len(self.seen)
    return super().fit(X, y)"""
NOISE = "class_conditional 0.3 0.1"
WHERE = f"dataset tumours, noise {NOISE}, method own, repetition 0: .*methods.py, line"


def flip_too_often(folder):
    for name in ("tab.yaml", "tab.published.csv"):
        change(folder / name, NOISE, "class_conditional 0.7 0.6")


def forget_published(folder):
    text = (folder / "tab.yaml").read_text()
    start = text.index("published:")
    end = text.index("claims:")
    (folder / "tab.yaml").write_text(text[:start] + text[end:])


REFUSED = {
    "X is changed in place": (
        lambda folder: add_method(folder, fit("X *= 0")),
        f"{WHERE} .*output array is read-only",
    ),
    "y is changed in place": (
        lambda folder: add_method(folder, fit("y[y == 0] = -1")),
        f"{WHERE} .*assignment destination is read-only",
    ),
    "X_test is changed in place": (
        lambda folder: add_method(folder, SPOILED_TEST),
        f"{WHERE} .*output array is read-only",
    ),
    "three classes as two": (add_third_class, r"task: binary, and y holds 3 values \(0, 1, 2\)"),
    "three classes of another task": (
        add_third_class_of_another_task,
        r"data set tumours has more than two classes .*takes two classes; name one class",
    ),
    "lengths differ": (
        lambda folder: add_loader(folder, "return {'X': X, 'y': np.where(t, 1, -1)[:-1]}"),
        "X has 569 rows and y has 568 labels",
    ),
    "a method draws without a seed": (
        lambda folder: add_method(folder, COIN),
        f"{WHERE} .*default_rng.. has no seed",
    ),
    "a protocol draws without a seed": (
        lambda folder: add_row(folder, 'repetition.row("auc", np.random.random(), x=2)'),
        "a global generator of random numbers is used, without a seed",
    ),
    "a loader draws without a seed": (
        lambda folder: add_loader(folder, UNSEEDED_LOADER),
        "a second call returns another X; draw random numbers from a seed",
    ),
    "a class keeps state": (
        lambda folder: add_method(folder, STATE),
        "the first repetition, run again, differs: .*method own",
    ),
    "flips beyond one half": (flip_too_often, r"the rates sum to 1.3; .*lower one of them"),
    "published values without a key": (forget_published, "tab.yaml has no key `published`"),
    "a claim with the id of a published value": (
        lambda folder: change(folder / "tab.yaml", "id: T-1", "id: P-1"),
        "claims: P-1: a published value has this id",
    ),
    "a row twice": (
        lambda folder: add_row(folder, 'repetition.row("auc", 0.5)'),
        "rows 2 and 3 have the same key, dataset tumours, .*metric auc",
    ),
}


@pytest.mark.parametrize("mistake", REFUSED)
def test_a_mistake_is_refused_in_one_line(mistake, paper):
    make, message = REFUSED[mistake]
    make(paper)
    with pytest.raises(ValueError, match=message) as refused:
        run_paper(paper)
    assert "\n" not in str(refused.value)


def test_a_paper_named_like_a_folder_of_results_is_refused(paper):
    for name, owner in (("results", "a folder that a run writes"), ("queue", "a module of Python")):
        with pytest.raises(ValueError, match=f"{name} is {owner}; rename the folder"):
            run_paper(paper.rename(paper.with_name(name)))
        paper.with_name(name).rename(paper)


def test_a_misspelt_key_of_the_smoke_scale_is_refused_at_full_scale(paper):
    change(paper / "tab.yaml", "{repetitions: 2}", "{repetition: 2}")
    with pytest.raises(ValueError, match="at scale smoke: settings: there is no key 'repetition'"):
        run_paper(paper, "full")


def notes_of(dataset):
    with np.load(f"data/prepared/{dataset}.packaged.npz") as arrays:
        return arrays["notes"].tolist()


def test_copies_of_rows_are_noted(paper):
    lines = (paper / "tumours.csv").read_text().splitlines()
    (paper / "tumours.csv").write_text("\n".join(lines + lines[1:]) + "\n")
    run_paper(paper)
    note = "569 of 1138 rows are copies of others; a random split may part them"
    assert notes_of("tumours") == [note]


def test_a_third_label_is_noted(paper):
    change(paper / "tumours.csv", "benign", "unknown", 60)
    run_paper(paper)
    assert notes_of("tumours") == ["target: malignant is set against all others: benign, unknown"]


def test_the_paper_without_a_mistake_runs(paper):
    table = run_paper(paper)
    assert {*table["metric"]} == {"error", "balanced", "auc"}


def test_published_values_in_another_unit_are_named_if_one_of_two_is_near(paper):
    config = plan.configured(ROOT, "full") | {"papers": [str(paper)]}
    (artifact,) = plan.planned(ROOT, config).artifacts.values()
    rows = [
        {"kind": "published", "verdict": "not_reproduced", "published": "0.06", "estimate": "10.6"},
        {"kind": "published", "verdict": "not_reproduced", "published": "0.13", "estimate": "12.5"},
    ]
    message = artifact.other_unit(row | {"margin": "2"} for row in rows)
    assert "1 of 2" in message
    assert "100 * value" in message
