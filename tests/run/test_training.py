"""Selection and training of classifiers on noisy labels, and the protocol of their errors."""

import dataclasses
import itertools

import numpy as np
import pandas as pd
import pytest
from problems import SETTINGS, dataset
from running import make_repetition, table, typed, values

from noisylabels.classifiers.kernel import Fits
from noisylabels.classifiers.kernel_logistic import KernelLogisticRegression
from noisylabels.kernels.gaussian import squared_distances
from reproduction.run import results, stock, training
from reproduction.run.protocol_loop import noisy_labels, split_of
from reproduction.show import stock as drawing
from reproduction.show.panels import Results

TYPED = typed("stock:errors", SETTINGS)


def with_methods(**methods):
    """Give the settings with these methods in place of theirs."""
    return SETTINGS | {"methods": methods}


SVM = with_methods(svm=SETTINGS["methods"]["svm"])
ONE = SVM | {"noise": ["independent 0.2"]}


# Selection


class Recorder(KernelLogisticRegression):
    """Kernel logistic regression that remembers the labels it was trained on."""

    trained_on: list = []  # noqa: RUF012

    @classmethod
    def fit_many(cls, gram, labels, grid):
        cls.trained_on.append(labels.copy())
        return super().fit_many(gram, labels, grid)


def constant(scores_of):
    """A method whose decision values do not depend on the labels."""

    class Constant:
        @classmethod
        def fit_many(cls, gram, labels, grid):
            shape = (labels.shape[1], len(grid))
            held = len(gram.K_out)
            scores = np.broadcast_to(scores_of(held), (*shape, held))
            nothing = np.full(shape, np.nan)
            return Fits(scores, nothing, nothing, np.zeros(shape, bool))

    return Constant


def candidate(kind, cls=KernelLogisticRegression):
    widths = np.array([0.25, 1.0, 4.0])
    grid = np.array([0.25, 4.0])
    return training.Candidate("m", cls, {}, kind, widths, grid)


@pytest.fixture(scope="module")
def problem():
    split = split_of(dataset(), make_repetition())
    return split, noisy_labels(split.clean, TYPED.noise, make_repetition())


def select(
    problem,
    cls=KernelLogisticRegression,
    kind="trusted",
    clean=None,
    parametrisation="sigma2",
):
    split, noisy = problem
    if clean is None:
        clean = split.clean
    folds = training.validation(kind, clean, noisy, TYPED, make_repetition())
    D = squared_distances(split.X)
    chosen = training.select([candidate(kind, cls)], D, noisy, folds, parametrisation)
    return chosen["m"]


def slow_folds(kind, n):
    """List (rows to train on, rows to validate on) as the slides describe it."""
    repetition = make_repetition()
    order = repetition.rng("trusted").permutation(n)
    is_trusted = np.zeros(n, bool)
    is_trusted[order[: round(0.2 * n)]] = True
    trusted = np.flatnonzero(is_trusted)
    rows = np.arange(n) if kind == "cv" else np.flatnonzero(~is_trusted)
    if kind == "trusted_holdout":
        return [(rows, trusted)]
    order = repetition.rng("folds").permutation(len(rows))
    fold_of_row = np.empty(len(rows), int)
    fold_of_row[order] = np.arange(len(rows)) % 3
    folds = []
    for fold in range(3):
        held = rows[fold_of_row == fold] if kind == "cv" else trusted
        folds.append((rows[fold_of_row != fold], held))
    return folds


def slow_choice(kind, split, noisy, k):
    """Choose width and zeta by one fit of the estimator per candidate and fold."""
    folds = slow_folds(kind, len(split.clean))
    candidates = []
    for width, zeta in itertools.product((0.25, 1.0, 4.0), (0.25, 4.0)):
        errors = 0
        losses = []
        for inside, held in folds:
            truth = noisy[held, k] if kind == "cv" else split.clean[held]
            model = KernelLogisticRegression(width, zeta)
            model.fit(split.X[inside], noisy[inside, k])
            f = model.decision_function(split.X[held])
            errors += int(((f > 0) != truth).sum())
            margins = np.where(truth == 1, f, -f)
            losses += np.log1p(np.exp(-margins)).tolist()
        candidates.append((errors, round(sum(losses), 6), -width, -zeta))
    *_, minus_width, minus_zeta = min(candidates)
    return -minus_width, -minus_zeta


@pytest.mark.parametrize("kind", training.SELECTIONS)
def test_the_choice_is_that_of_a_plain_search(kind, problem):
    chosen = select(problem, kind=kind)
    for k in range(3):
        choice = (chosen[k].width, *chosen[k].parameters.values())
        assert choice == slow_choice(kind, *problem, k)


def test_of_several_parameters_each_combination_is_tried():
    """A second parameter without effect changes nothing, and its largest value is reported."""

    class Doubled(KernelLogisticRegression):
        @classmethod
        def fit_many(cls, gram, labels, grid, **options):
            assert grid.shape[1] == 2
            return super().fit_many(gram, labels, grid[:, 0], **options)

    globals()["Doubled"] = Doubled
    logistic = {"method": "kernel_logistic", "selection": "trusted", "grid": [-4, 0, 4]}
    two = {
        "method": "test_training:Doubled",
        "selection": "trusted",
        "grid": {"zeta": [2.0**-4, 1.0, 2.0**4], "other": [1, 2]},
    }
    neighbours = {
        "method": "sklearn.neighbors:KNeighborsClassifier",
        "selection": "cv",
        "grid": {"n_neighbors": [1, 15], "weights": ["uniform", "distance"]},
    }
    settings = with_methods(one=logistic, two=two, near=neighbours)
    frame = table("stock:errors", settings, dataset())
    for plain, doubled in (("error", "error"), ("parameter", "zeta")):
        expected = values(frame, method="one", metric=plain)
        np.testing.assert_array_equal(values(frame, method="two", metric=doubled), expected)
    assert set(values(frame, method="two", metric="other")) == {2.0}
    chosen = values(frame, method="near", metric="n_neighbors", noise="independent 0.2")
    assert set(chosen) == {15.0}
    assert not len(values(frame, method="near", metric="weights"))


def test_no_fit_is_made_that_can_no_longer_be_chosen(problem):
    fits = []

    class Counting(KernelLogisticRegression):
        @classmethod
        def fit_many(cls, gram, labels, grid, *, wanted):
            fits.append(int(wanted.sum()))
            return super().fit_many(gram, labels, grid, wanted=wanted)

    split, noisy = problem
    folds = training.validation("trusted", split.clean, noisy, TYPED, make_repetition())
    D = squared_distances(split.X)
    for complete in (True, False):
        method = dataclasses.replace(candidate("trusted", Counting), complete=complete)
        selection = training.select([method], D, noisy, folds, "sigma2")
        assert selection["m"] == select(problem)
    kernels = 3 * 3  # widths x folds
    conditions_and_parameters = 3 * 2
    all_fits = fits[:kernels]
    fewer = fits[kernels:]
    assert all_fits == [conditions_and_parameters] * kernels
    assert fewer[:3] == [6, 6, 6]
    assert sum(fewer) < 54
    assert 0 not in fewer


def test_test_labels_and_trusted_labels_are_in_no_fit(problem):
    split, noisy = problem
    changed_split = dataclasses.replace(split, clean=1 - split.clean, truth=1 - split.truth)
    selecting_fits = []
    for given_split in (split, changed_split):
        Recorder.trained_on = []
        recorder = candidate("trusted", Recorder)
        training.train([recorder], given_split, noisy, TYPED, make_repetition())
        selecting_fits.append(Recorder.trained_on[:9])  # widths x folds
        # then one for each noise, on all rows with their noisy labels
        final_fits = [labels[:, 0].tolist() for labels in Recorder.trained_on[9:]]
        assert sorted(final_fits) == sorted(noisy.T.tolist())
    for labels, changed_labels in zip(*selecting_fits, strict=True):
        np.testing.assert_array_equal(labels, changed_labels)
    # Two thirds of the 56 rows that are not trusted.
    assert {len(labels) for labels in selecting_fits[0]} == {37, 38}


def test_ties_go_to_the_widest_kernel_and_the_largest_parameter(problem):
    for parametrisation, widest in (("sigma2", 4.0), ("gamma", 0.25)):
        chosen = select(problem, constant(np.ones), parametrisation=parametrisation).values()
        for choice in chosen:
            assert choice.width == widest
            assert choice.parameters["parameter"] == 4.0


def test_a_validation_set_of_one_class_leaves_the_choice_to_the_log_loss(problem):
    def graded(m):
        one_error_and_small_loss = np.full(m, 5.0)
        one_error_and_small_loss[0] = -0.1
        no_error_and_large_loss = np.full(m, 0.01)
        return np.stack([one_error_and_small_loss, no_error_and_large_loss])

    split, noisy = problem
    all_ones = np.ones_like(split.clean)
    folds = training.validation("trusted_holdout", all_ones, noisy, TYPED, make_repetition())
    held = folds[0].held
    mixed = all_ones.astype(np.int8)
    mixed[held[1]] = 0
    for clean, parameter in ((all_ones, 0.25), (mixed, 4.0)):
        chosen = select(problem, constant(graded), "trusted_holdout", clean)
        assert {choice.parameters["parameter"] for choice in chosen.values()} == {parameter}


# Errors


def errors(settings=SETTINGS, repetitions=range(2), data=None):
    return table("stock:errors", settings, data or dataset(), repetitions)


def select_rows(frame, is_selected):
    return frame[is_selected].reset_index(drop=True)


@pytest.fixture(scope="module")
def frame():
    return errors()


def test_rows_of_every_method(frame):
    keys = [column for column in results.COLUMNS if column != "value"]
    assert not frame.duplicated(keys).any()
    counts = frame.groupby(["method", "metric"]).size().unstack()
    assert set(counts.columns) == set(stock.METRICS)
    assert (counts[["error", "width", "parameter", "flagged"]] == 3 * 2).all(axis=None)
    assert counts.loc["rkfd", "omega01"] == 3 * 2
    assert np.isnan(counts.loc["svm", "omega01"])
    assert (values(frame, metric="validation_size") == 14).all()
    assert set(frame["setting"]) == {"trusted"}
    assert set(values(frame, metric="width")) <= {0.25, 1.0, 4.0}


def test_clean_labels_are_learned_and_noise_hurts():
    noise = {"noise": ["independent 0", "independent 0.4"]}
    rows = errors(SETTINGS | noise, data=dataset(n=1000, train=120))
    groups = rows[rows["metric"] == "error"].groupby(["method", "noise"])
    mean = groups["value"].mean().unstack()
    assert (mean["independent 0"] < 30).all()
    assert (mean["independent 0.4"] > mean["independent 0"]).all()


def test_results_depend_neither_on_the_block_nor_on_the_other_methods(frame):
    second_repetition = select_rows(frame, frame["repetition"] == 1)
    pd.testing.assert_frame_equal(second_repetition, errors(repetitions=range(1, 2)))
    rows_of_svm = select_rows(frame, frame["method"] == "svm")
    pd.testing.assert_frame_equal(rows_of_svm, errors(SVM))


def test_test_labels_change_the_error_only(frame):
    changed = dataset()
    train = set(changed.arrays["train"][0])
    outside = [row for row in range(120) if row not in train]
    changed.arrays["y"][outside] *= -1
    mirrored = errors(repetitions=range(1), data=changed)
    before = select_rows(frame, frame["repetition"] == 0)
    is_error = before["metric"] == "error"
    pd.testing.assert_frame_equal(before[~is_error], mirrored[~is_error])
    mirrored_errors = mirrored[is_error]["value"]
    np.testing.assert_allclose(before[is_error]["value"], 100 - mirrored_errors)


def test_later_splits_are_the_same_as_without_an_offset():
    five_splits = dataset(splits=5)
    all_rows = errors(ONE, range(5), five_splits)
    later_rows = select_rows(all_rows, all_rows["repetition"] >= 2)
    later = errors(ONE | {"first_split": 2}, range(3), five_splits)
    pd.testing.assert_frame_equal(later_rows, later)
    from_half = errors(ONE | {"first_split": 20}, range(9), five_splits)
    pd.testing.assert_frame_equal(later_rows, from_half)
    drawn = dataset()
    del drawn.arrays["train"], drawn.arrays["test"]
    drawn_splits = {"splits": {"test": 0.4, "stratified": True}, "first_split": 7}
    rows = errors(ONE | drawn_splits, range(2), drawn)
    assert set(rows["repetition"]) == {7, 8}
    rows_until_the_last_split = errors(ONE, range(2, 6))
    assert set(rows_until_the_last_split["repetition"]) == {2}


def test_a_method_with_noise_of_its_own_has_rows_of_it_only(frame):
    methods = SETTINGS["methods"]
    klr = methods["klr"] | {"noise": ["negative_only 0.3", "independent 0.4"]}
    settings = with_methods(**(methods | {"klr": klr}))
    is_dropped = (frame["method"] == "klr") & (frame["noise"] != "negative_only 0.3")
    pd.testing.assert_frame_equal(select_rows(frame, ~is_dropped), errors(settings))


class Nearest:
    """A user's method without selection: the class of the nearest training point."""

    @classmethod
    def fit_distances(cls, D, D_out, labels, widths, *, parametrisation, sign=1.0):
        assert parametrisation == SETTINGS["parametrisation"]
        nearest = D_out.argmin(axis=1)
        classes = labels[nearest].T[:, np.newaxis]
        scores = sign * (2.0 * classes - 1)
        rates = np.full((labels.shape[1], 1), 0.25)
        return Fits(scores, rates, rates, np.zeros(rates.shape, bool))


def test_a_method_selected_in_two_ways_has_the_rows_of_both():
    """Each the rows that it has alone, and the further way on its noise only."""
    main = {"method": "kernel_logistic", "selection": "trusted"}
    further = {"method": "kernel_logistic", "selection": "cv"}
    two_ways = main | {"also": {"cv": ["independent 0"]}}
    one_way = errors(with_methods(klr=main))
    clean = errors(with_methods(klr=further) | {"noise": ["independent 0"]})
    frame = errors(with_methods(klr=two_ways))
    order = [column for column in frame if column != "value"]
    expected = pd.concat([one_way, clean]).sort_values(order, ignore_index=True)
    pd.testing.assert_frame_equal(frame.sort_values(order, ignore_index=True), expected)


def test_a_table_of_methods_shows_the_main_selection_and_no_noise_that_was_not_run():
    klr = {"method": "kernel_logistic", "selection": "trusted", "also": {"cv": ["independent 0"]}}
    svm = SETTINGS["methods"]["svm"] | {"noise": ["independent 0.2"]}
    settings = with_methods(klr=klr, svm=svm)
    frame = errors(settings)
    drawn = Results({"mine": frame}, {"mine": typed("stock:errors", settings)})
    shown = drawing.errors(drawn).set_index("flips")
    of_trusted = frame[frame["setting"] == "trusted"]
    clean = values(of_trusted, method="klr", metric="error", noise="independent 0")
    cell = shown.loc["clean labels", "klr"].strip("*")
    assert cell.startswith(f"{clean.mean():.2f} ")
    assert shown.loc["clean labels", "svm"] == ""
    assert shown.loc["20 % symmetric", "svm"] != ""


def test_users_methods_take_part():
    methods = {
        "nearest": {"method": "test_training:Nearest"},
        "reversed": {"method": "test_training:Nearest", "parameters": {"sign": -1.0}},
        "neighbours": {
            "method": "sklearn.neighbors:KNeighborsClassifier",
            "parameters": {"n_neighbors": 1},
        },
        "forest": {
            "method": "sklearn.ensemble:RandomForestClassifier",
            "parameters": {"n_estimators": 3},
        },
    }
    frame = errors(with_methods(**methods))
    nearest = values(frame, method="nearest", metric="error")
    reversed_ = values(frame, method="reversed", metric="error")
    neighbours = values(frame, method="neighbours", metric="error")
    np.testing.assert_allclose(nearest, neighbours)
    np.testing.assert_allclose(nearest, 100 - reversed_)
    assert set(frame["setting"]) == {""}
    metrics = set(frame.loc[frame["method"] == "nearest", "metric"])
    assert metrics == {"error", "omega01", "omega10", "flagged"}
    pd.testing.assert_frame_equal(frame, errors(with_methods(**methods)))


def test_widths_of_a_method_replace_those_of_the_settings():
    spec = {
        "method": "kernel_logistic",
        "selection": "cv",
        "parameters": {"widths": [-0.5, 0.5]},
    }
    settings = typed("stock:errors", with_methods(m=spec))
    resolved, *_ = training.resolve(settings)
    np.testing.assert_allclose(resolved.widths, [2**-0.5, 2**0.5])
    np.testing.assert_array_equal(resolved.grid, KernelLogisticRegression.GRID)
    assert resolved.parameters == {}


def single_method(**spec):
    return {"methods": {"m": {"method": "kernel_logistic"} | spec}}


SVC = {"method": "sklearn.svm:SVC", "selection": "cv"}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (single_method(), "selection: kernel_logistic needs one of trusted, trusted_holdout, cv"),
        (
            single_method(method="sklearn.svm:SVC", grid={"C": [1]}),
            "selection: the grid needs one of trusted, ",
        ),
        (single_method(**SVC, grid={"c": [1]}), "no parameter 'c'; known: C, "),
        (single_method(**SVC, grid={"C": []}), "grid"),
        (
            single_method(selection="cv", also={"cv": ["independent 0"]}),
            "also: cv is the method's `selection`",
        ),
        (
            single_method(selection="cv", also={"trusted": ["independent 0.3"]}),
            r"methods\.m\.also\.trusted: none of independent 0\.3 is in the settings",
        ),
        (
            single_method(selection="cv", noise=["independent 0.3"]),
            r"methods\.m\.noise: none of independent 0\.3 is in the settings: independent 0, ",
        ),
        (
            single_method(method="sklearn.dummy:DummyClassifier", selection="cv"),
            r"methods\.m: .*has no fit_many, which selection by cross-validation needs; "
            r"implement fit_many\(gram, labels, grid\) -> Fits, or name the parameters in `grid`",
        ),
        (
            single_method(method="problems:WithoutGrid", selection="cv"),
            "has no GRID; give it a grid",
        ),
        ({"trusted": None}, "trusted: missing, and method klr is selected by trusted labels"),
    ],
)
def test_mistakes_of_methods_and_settings_are_named(change, message):
    with pytest.raises(ValueError, match=message):
        typed("stock:errors", {k: v for k, v in (SETTINGS | change).items() if v is not None})
