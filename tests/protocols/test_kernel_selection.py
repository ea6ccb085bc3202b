"""Selection by cross-validation does what its description says, and never trains on what it must not see."""

import dataclasses

import numpy as np
import pytest
from problems import SETTINGS, dataset

from noisylabels.bases.fits import Fits
from noisylabels.classifiers.kernel_logistic import KernelLogisticRegression
from noisylabels.kernels.gaussian import Gram, rbf, squared_distances
from noisylabels.seeding import Seeds
from reproduction.protocols.folds import random_folds
from reproduction.protocols.kernels import data, methods, selection, training, validation
from reproduction.protocols.specs import Spec

SEEDS = Seeds(1, "test", "toy")


class Recorder(KernelLogisticRegression):
    """Kernel logistic regression that remembers the labels it was trained on."""

    name = "recorder"
    seen: list = []  # noqa: RUF012

    @classmethod
    def fit_many(cls, gram, labels, grid):
        cls.seen.append(labels.copy())
        return super().fit_many(gram, labels, grid)


def problem():
    split = data.official_split(dataset(), 0)
    return split, data.noisy_labels(split.clean, SETTINGS["noise"], SEEDS, 0)


def method(kind, cls=KernelLogisticRegression, grid=(0.25, 4.0)):
    return methods.Method(Spec("m", cls), kind, np.array([0.25, 1.0, 4.0]), np.array(grid))


def slow_choice(kind, split, noisy, k):
    """Every candidate by one fit of the estimator per fold, as the slides describe it."""
    n = len(split.clean)
    trusted = np.zeros(n, bool)
    trusted[SEEDS.generator(0, "trusted").permutation(n)[: round(0.2 * n)]] = True
    rows = np.arange(n) if kind == "cv" else np.flatnonzero(~trusted)
    number = np.empty(len(rows), int)
    number[SEEDS.generator(0, "folds").permutation(len(rows))] = np.arange(len(rows)) % 3
    best, chosen = None, None
    for width in (0.25, 1.0, 4.0):
        for zeta in (0.25, 4.0):
            errors, losses = [], []
            for fold in [None] if kind == "trusted_holdout" else range(3):
                inside = rows if fold is None else rows[number != fold]
                held = rows[number == fold] if kind == "cv" else np.flatnonzero(trusted)
                truth = noisy[held, k] if kind == "cv" else split.clean[held]
                model = KernelLogisticRegression(width, zeta).fit(split.X[inside], noisy[inside, k])
                f = model.decision_function(split.X[held])
                errors += ((f > 0) != truth).tolist()
                losses += np.log1p(np.exp(-np.where(truth == 1, f, -f))).tolist()
            key = (sum(errors), round(sum(losses), 6), -width, -zeta)
            if best is None or key < best:
                best, chosen = key, (width, zeta)
    return chosen


@pytest.mark.parametrize("kind", validation.SELECTIONS)
def test_the_choice_is_that_of_a_plain_search(kind):
    split, noisy = problem()
    folds = validation.validation(kind, split.clean, noisy, SETTINGS, SEEDS, 0)
    chosen = selection.select([method(kind)], squared_distances(split.X), noisy, folds, "sigma2")["m"]
    assert [tuple(chosen[k]) for k in range(3)] == [slow_choice(kind, split, noisy, k) for k in range(3)]


def test_folds_are_a_partition_and_trusted_rows_are_never_trained_on():
    split, noisy = problem()
    n = len(split.clean)
    cv = validation.validation("cv", split.clean, noisy, SETTINGS, SEEDS, 0)
    assert sorted(np.concatenate([fold.held for fold in cv])) == list(range(n))
    for fold in cv:
        assert sorted(np.concatenate([fold.train, fold.held])) == list(range(n))
        np.testing.assert_array_equal(fold.labels, noisy[fold.held])
    trusted = validation.validation("trusted", split.clean, noisy, SETTINGS, SEEDS, 0)
    holdout = validation.validation("trusted_holdout", split.clean, noisy, SETTINGS, SEEDS, 0)
    assert len(trusted) == 3
    assert len(holdout) == 1
    for fold in [*trusted, *holdout]:
        assert len(fold.held) == validation.validation_size("trusted", n, SETTINGS) == round(0.2 * n)
        assert not set(fold.held) & set(fold.train)
        np.testing.assert_array_equal(fold.labels, np.repeat(split.clean[fold.held, None], 3, axis=1))
    assert sorted(np.concatenate([holdout[0].train, holdout[0].held])) == list(range(n))
    assert validation.validation_size("cv", n, SETTINGS) == n


def test_test_labels_and_trusted_labels_are_in_no_fit():
    split, noisy = problem()
    other = dataclasses.replace(split, clean=1 - split.clean, truth=1 - split.truth)
    seen = []
    for given in (split, other):
        Recorder.seen = []
        training.train([method("trusted", Recorder)], given, noisy, SETTINGS, SEEDS, 0)
        seen.append(Recorder.seen)
    for labels, others in zip(seen[0][:9], seen[1][:9], strict=True):  # widths x folds
        np.testing.assert_array_equal(labels, others)
    for final in (seen[0][9:], seen[1][9:]):  # on all rows, with the noisy label of each
        assert sorted(labels[:, 0].tolist() for labels in final) == sorted(noisy.T.tolist())


def test_ties_go_to_the_widest_kernel_and_the_largest_parameter():
    class Constant:
        GRID = (1.0,)

        @classmethod
        def fit_many(cls, gram, labels, grid):
            shape = (labels.shape[1], len(grid))
            nothing = np.full(shape, np.nan)
            return Fits(np.ones((*shape, len(gram.K_out))), nothing, nothing, np.zeros(shape, bool))

    split, noisy = problem()
    folds = validation.validation("trusted", split.clean, noisy, SETTINGS, SEEDS, 0)
    D = squared_distances(split.X)
    for parametrisation, widest in (("sigma2", 4.0), ("gamma", 0.25)):
        chosen = selection.select([method("trusted", Constant)], D, noisy, folds, parametrisation)["m"]
        assert {tuple(choice) for choice in chosen.values()} == {(widest, 4.0)}


def test_a_validation_set_of_one_class_leaves_the_choice_to_the_log_loss():
    class Graded:
        """The larger the parameter, the fewer errors on class 1 and the larger its log-loss."""

        GRID = (1.0,)

        @classmethod
        def fit_many(cls, gram, labels, grid):
            shape = (labels.shape[1], len(grid))
            scores = np.empty((*shape, len(gram.K_out)))
            scores[:, 0] = np.where(np.arange(len(gram.K_out)) == 0, -0.1, 5.0)  # one error, small loss
            scores[:, 1] = 0.01  # no error, large loss
            nothing = np.full(shape, np.nan)
            return Fits(scores, nothing, nothing, np.zeros(shape, bool))

    split, noisy = problem()
    D, ones = squared_distances(split.X), np.ones_like(split.clean)
    held = np.flatnonzero(validation.trusted_rows(len(ones), 0.2, SEEDS, 0))
    mixed = np.where(np.arange(len(ones)) == held[1], 0, 1).astype(np.int8)
    for clean, parameter in ((ones, 0.25), (mixed, 4.0)):
        folds = validation.validation("trusted_holdout", clean, noisy, SETTINGS, SEEDS, 0)
        chosen = selection.select([method("trusted_holdout", Graded)], D, noisy, folds, "sigma2")["m"]
        assert {choice.parameter for choice in chosen.values()} == {parameter}


def test_methods_share_one_kernel_matrix_and_its_basis():
    grams = []

    class Watcher(KernelLogisticRegression):
        @classmethod
        def fit_many(cls, gram, labels, grid):
            grams.append(gram)
            return super().fit_many(gram, labels, grid)

    split, noisy = problem()
    folds = validation.validation("trusted_holdout", split.clean, noisy, SETTINGS, SEEDS, 0)
    watched = [dataclasses.replace(method("trusted_holdout"), spec=Spec(label, Watcher)) for label in "ab"]
    selection.select(watched, squared_distances(split.X), noisy, folds, "sigma2")
    assert len({id(gram) for gram in grams}) == len(grams) / 2
    assert isinstance(grams[0], Gram)
    np.testing.assert_array_equal(grams[0].K, rbf(squared_distances(split.X[folds[0].train]), 0.25))


def test_a_condition_does_not_depend_on_the_others():
    split, noisy = problem()
    many = training.train([method("trusted")], split, noisy, SETTINGS, SEEDS, 0)["m"][2]
    alone = training.train([method("trusted")], split, noisy[:, [2]], SETTINGS, SEEDS, 0)["m"][0]
    assert many.choice == alone.choice
    np.testing.assert_array_equal(many.scores, alone.scores)


def test_a_method_with_noise_of_its_own_is_run_on_it_only():
    split, noisy = problem()
    every = training.train([method("trusted")], split, noisy, SETTINGS, SEEDS, 0)["m"]
    for conditions in ((1,), (0, 2)):
        some = dataclasses.replace(method("trusted"), conditions=conditions)
        found = training.train([some], split, noisy, SETTINGS, SEEDS, 0)["m"]
        assert tuple(sorted(found)) == conditions
        for k, outcome in found.items():
            assert outcome.choice == every[k].choice
            np.testing.assert_array_equal(outcome.scores, every[k].scores)


def test_flipped_labels_are_drawn_without_the_method_and_without_the_other_conditions():
    split, noisy = problem()
    np.testing.assert_array_equal(noisy[:, 0], split.clean)
    alone = data.noisy_labels(split.clean, SETTINGS["noise"][2:], SEEDS, 0)
    np.testing.assert_array_equal(alone[:, 0], noisy[:, 2])
    assert (noisy[split.clean == 1, 2] == 1).all()
    assert (noisy[split.clean == 0, 2] == 1).any()
    assert (data.noisy_labels(split.clean, SETTINGS["noise"], SEEDS, 1) != noisy).any()


def test_standardised_features_use_training_rows_only():
    train, test = data.standardised(np.array([[0.0, 0.1], [2.0, 0.1]]), np.array([[3.0, 7.0]]))
    np.testing.assert_array_equal(train, [[-1, 0], [1, 0]])
    np.testing.assert_array_equal(test, [[2, 0]])


def settings_with(spec):
    return SETTINGS | {"methods": {"m": spec}}


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        (
            {"method": "kernel_logistic"},
            "method m: selection must be one of trusted, trusted_holdout, cv, got ''",
        ),
        ({"method": "kernel_logistik", "selection": "cv"}, "did you mean kernel_logistic"),
        (
            {"method": "kernel_logistic", "selection": "cv", "noise": ["independent 0.3"]},
            r"method m: none of its noise \(independent 0.3\) is in the settings: independent 0, ",
        ),
        (
            {"method": "sklearn.dummy:DummyClassifier", "selection": "cv"},
            r"method m: DummyClassifier has no fit_many, which selection by cross-validation needs; "
            r"implement fit_many\(gram, labels, grid\) -> Fits, or drop `selection` and `grid`",
        ),
        ({"method": "problems:WithoutGrid", "selection": "cv"}, "has no GRID of its own; give it a grid"),
        (
            {"method": "kernel_svm", "selection": "cv", "parameters": {"tolerence": 1}},
            "method m: no parameter 'tolerence'; did you mean tolerance\\? known: tolerance, max_steps",
        ),
        (
            {"method": "sklearn.neighbors:KNeighborsClassifier", "parameters": {"k": 1}},
            "method m: no parameter 'k'; known: n_neighbors, ",
        ),
    ],
)
def test_mistakes_are_named(spec, message):
    with pytest.raises(ValueError, match=message):
        methods.resolve(settings_with(spec))


def test_widths_of_a_method_replace_those_of_the_settings():
    spec = {"method": "kernel_logistic", "selection": "cv", "parameters": {"widths": [-0.5, 0.5]}}
    resolved = methods.resolve(settings_with(spec))[0]
    np.testing.assert_allclose(resolved.widths, [2**-0.5, 2**0.5])
    np.testing.assert_array_equal(resolved.grid, KernelLogisticRegression.GRID)
    assert resolved.spec.parameters == {}


def test_too_few_rows_for_the_folds():
    with pytest.raises(ValueError, match="3 rows cannot make 5 folds; lower the setting folds"):
        random_folds(3, 5, np.random.default_rng(0))
