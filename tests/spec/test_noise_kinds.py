"""Kinds of noise: for two classes, K classes and real values, and functions of a paper."""

import sys

import numpy as np
import pytest

from reproduction.spec import noise_kinds
from reproduction.spec.settings import Noise

CLASSES = np.repeat([0, 1, 2], 200)
RING = """
def ring(y, rng, rate):
    moved = rng.random(len(y)) < rate
    return (y + moved) % 3


def short(y, rng):
    return y[1:]


def beyond(y, rng):
    return y + 1


def spoils(y, rng):
    y[:] = 0
    return y
"""


@pytest.fixture
def kinds(tmp_path, monkeypatch):
    """The module of a paper with kinds of noise."""
    (tmp_path / "kinds_of_paper.py").write_text(RING, encoding="utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))
    yield "kinds_of_paper"
    sys.modules.pop("kinds_of_paper", None)


def observe(label, clean=CLASSES, target="classes"):
    return Noise.parse(label).observe(clean, np.random.default_rng(1), target)


def test_symmetric_noise_on_classes_gives_the_exact_share_another_class():
    observed = observe("symmetric 0.3")
    wrong = observed != CLASSES
    assert wrong.sum() == 180
    moves = np.unique((observed - CLASSES)[wrong] % 3, return_counts=True)[1]
    assert moves.min() > 60


def test_two_of_the_classes_are_flipped_as_two_classes():
    clean = np.repeat([0, 1], 300).astype(np.int8)
    for label in ("symmetric 0.3", "independent 0.2", "class_conditional 0.3 0.1"):
        as_classes = observe(label, clean)
        np.testing.assert_array_equal(as_classes, observe(label, clean, "two classes"))
        signs = Noise.parse(label).corrupt(2 * clean - 1, np.random.default_rng(1))
        np.testing.assert_array_equal(as_classes, signs > 0)


def test_noise_on_values_has_the_scale_of_its_number():
    clean = np.random.default_rng(0).standard_normal(20_000) * 3
    added = observe("gaussian 0.5", clean, "real") - clean
    assert 1.4 < added.std() < 1.6
    added = observe("outliers 0.1 10", clean, "real") - clean
    assert np.count_nonzero(added) == 2000
    np.testing.assert_array_equal(observe("gaussian 0", clean, "real"), clean)


def test_a_kind_of_a_paper_has_a_label_without_its_module(kinds):
    noise = Noise.parse(f"{kinds}:ring 0.3")
    assert (noise.label, noise.custom) == ("ring 0.3", True)
    observed = noise.observe(CLASSES, np.random.default_rng(0), "classes")
    assert set(np.unique((observed - CLASSES) % 3)) == {0, 1}


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("short", r"returns shape \(599,\); \(600,\) is expected"),
        ("beyond", "returns 3; the classes are the numbers from 0 to 2"),
        ("ring", "missing a required argument: 'rate'; write ring"),
        ("rings 0.1", "has no function 'rings'; did you mean ring"),
    ],
)
def test_a_kind_of_a_paper_that_is_wrong_says_what_to_do(kinds, name, message):
    with pytest.raises(ValueError, match=message):
        observe(f"{kinds}:{name}")


def test_a_kind_of_a_paper_cannot_spoil_the_true_labels(kinds):
    clean = CLASSES.copy()
    observe(f"{kinds}:spoils", clean)
    np.testing.assert_array_equal(clean, CLASSES)


@pytest.mark.parametrize(
    ("label", "target", "message"),
    [
        ("class_conditional 0.2 0.1", "classes", "is not for 3 classes; use symmetric"),
        ("symmetric 0.2", "real", "is not for real; use gaussian, outliers"),
    ],
)
def test_a_kind_for_another_target_names_those_that_fit(label, target, message):
    with pytest.raises(ValueError, match=message):
        observe(label, target=target)


def test_every_kind_says_what_it_does():
    for name, kind in noise_kinds.KINDS.items():
        assert kind.meaning.endswith("."), name
