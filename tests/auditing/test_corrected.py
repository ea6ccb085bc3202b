"""Any classifier corrected for flipped labels: identities of the methods, and that they help."""

import numpy as np
import pandas as pd
import pytest
import sklearn
from numpy.testing import assert_allclose, assert_array_equal
from problems import draw_classes
from sklearn.base import clone
from sklearn.compose import make_column_transformer
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.svm import LinearSVC

from noisylabels import CorrectedClassifier, RobustLogisticRegression
from noisylabels.auditing import corrected, flip_rates
from noisylabels.checks import check_classifier
from noisylabels.seeding import generator

METHODS = list(corrected.METHODS)
OMEGA = {
    2: np.array([[0.65, 0.35], [0.05, 0.95]]),
    3: np.array([[0.6, 0.3, 0.1], [0.1, 0.8, 0.1], [0, 0, 1]]),
}


def flipped(K=2, n=1500, seed=0, distance=1.5):
    """Gaussian classes X (n, 3), their true classes, and those observed after flips by OMEGA[K]."""
    rng = np.random.default_rng(seed)
    y = rng.integers(K, size=n)
    X = rng.standard_normal((n, 3))
    angle = 2 * np.pi * y / K
    X[:, 0] += distance * np.cos(angle)
    X[:, 1] += distance * np.sin(angle)
    return X, y, draw_classes(rng, OMEGA[K][y])


@pytest.mark.parametrize(
    "model",
    [
        CorrectedClassifier(GaussianNB(), "prune"),
        pytest.param(CorrectedClassifier(method="importance"), marks=pytest.mark.nightly),
        pytest.param(CorrectedClassifier(method="likelihood"), marks=pytest.mark.nightly),
    ],
    ids=repr,
)
def test_scikit_learn_contract(model):
    check_classifier(model)


def plain_probabilities(X, y):
    """Probabilities by logistic regression at the points of its fit."""
    model = LogisticRegression().fit(X, y)
    return model.predict_proba(X)


@pytest.mark.parametrize("method", ["importance", "forward", "backward"])
def test_without_flips_it_is_the_plain_classifier(method):
    X, y, _ = flipped(K=3)
    without_flips = CorrectedClassifier(method=method, flips=np.eye(3)).fit(X, y)
    plain = plain_probabilities(X, y)
    assert_allclose(without_flips.predict_proba(X), plain, atol=1e-4)


def test_forward_maximises_the_robust_likelihood():
    X, _, observed = flipped()
    base = LogisticRegression(C=5.0, tol=1e-10, max_iter=1000)
    em = CorrectedClassifier(base, "forward", flips=OMEGA[2], folds=1, rounds=150)
    em.fit(X, observed)
    direct = RobustLogisticRegression(0.1, omega=OMEGA[2], learn_omega=False)
    direct.fit(X, observed)
    assert_allclose(em.estimator_.coef_, direct.coef_, atol=1e-3)


@pytest.mark.parametrize("K", [2, 3])
def test_backward_weights_are_unbiased_and_lead_to_the_fit_on_true_labels(K):
    X, y, observed = flipped(K=K, n=20_000)
    backward = CorrectedClassifier(method="backward", flips=OMEGA[K]).fit(X, observed)
    weights = np.array([backward.weights_[observed == k][0] for k in range(K)])
    # the mean over the flips of each class
    assert_allclose(OMEGA[K] @ weights, np.eye(K), atol=1e-12)
    clean = plain_probabilities(X, y)
    plain = plain_probabilities(X, observed)
    error = np.abs(backward.predict_proba(X) - clean).mean()
    error_of_plain = np.abs(plain - clean).mean()
    assert error < 0.2 * error_of_plain


def test_importance_weights_are_those_of_liu_and_tao():
    X, _, observed = flipped()
    importance = CorrectedClassifier(method="importance", flips=OMEGA[2], folds=1)
    importance.fit(X, observed)
    probabilities = plain_probabilities(X, observed)
    p = probabilities[np.arange(len(X)), observed]
    flip_rates_of_labels = np.array([OMEGA[2][1, 0], OMEGA[2][0, 1]])
    rate_of_other_class = flip_rates_of_labels[observed]  # P(this label | the other class)
    beta = (p - rate_of_other_class) / (1 - 0.35 - 0.05) / p
    inside = (beta > 0) & (beta < 1 / p)
    assert inside.sum() > 500
    weights = importance.weights_.max(axis=1)
    assert_allclose(weights[inside], beta[inside], rtol=1e-9)


def test_pruned_rows_are_those_of_confident_learning():
    X, y, observed = flipped(K=3)
    fitted = CorrectedClassifier(method="prune", folds=1).fit(X, observed)
    p = plain_probabilities(X, observed)
    Q = flip_rates.joint(p, observed)
    is_pruned = flip_rates.likely_wrong(p, observed, Q)
    weights = fitted.weights_.sum(axis=1)
    assert np.array_equal(weights == 0, is_pruned)
    assert_allclose(fitted.flip_matrix_, flip_rates.flip_matrix(Q))
    is_wrong = y != observed
    assert is_wrong[is_pruned].mean() > 2 * is_wrong.mean()


def test_the_likelihood_learns_the_flips_of_a_model_that_follows_them():
    X, y, observed = flipped(n=6000, distance=2.0)
    fitted = CorrectedClassifier(GaussianNB(), "likelihood").fit(X, observed)
    assert_allclose(fitted.flip_matrix_, OMEGA[2], atol=0.06)
    plain = GaussianNB().fit(X, observed)
    assert fitted.score(X, y) > plain.score(X, y)


@pytest.mark.parametrize("K", [2, pytest.param(3, marks=pytest.mark.nightly)])
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("flips", ["given", "joint"])
def test_errors_on_true_labels_fall(method, K, flips):
    gains = []
    for seed in range(3):
        X, _, observed = flipped(K=K, seed=seed)
        X_new, y_new, _ = flipped(K=K, n=3000, seed=100 + seed)
        flips_given = OMEGA[K] if flips == "given" else flips
        base = LogisticRegression()
        fitted = CorrectedClassifier(base, method, flips=flips_given).fit(X, observed)
        plain = base.fit(X, observed)
        gains.append(fitted.score(X_new, y_new) - plain.score(X_new, y_new))
    assert np.mean(gains) > 0.01


@pytest.mark.parametrize(
    "base",
    [KNeighborsClassifier(15), RandomForestClassifier(15, min_samples_leaf=5, random_state=0)],
)
@pytest.mark.parametrize("method", ["prune", "importance", "forward"])
def test_classifiers_with_and_without_weights_are_helped(base, method):
    X, _, observed = flipped(K=3)
    X_new, y_new, _ = flipped(K=3, n=2000, seed=9)
    fitted = CorrectedClassifier(base, method, flips=OMEGA[3], rounds=2)
    fitted.fit(X, observed)
    plain = base.fit(X, observed)
    assert fitted.score(X_new, y_new) > plain.score(X_new, y_new)


def test_without_weights_rows_are_drawn_in_proportion():
    class Remembers(KNeighborsClassifier):
        def fit(self, X, y):
            numbers = X[:, 0].astype(int)
            self.times_drawn = np.bincount(numbers, minlength=1500)
            return super().fit(X, y)

    X, _, observed = flipped()
    X = np.column_stack([np.arange(len(X)), X])
    fitted = CorrectedClassifier(Remembers(), "importance", flips=OMEGA[2])
    fitted.fit(X, observed)
    weights = fitted.weights_.sum(axis=1)
    expected = weights / weights.sum() * len(X)
    times_drawn = fitted.estimator_.times_drawn
    assert times_drawn.sum() == len(X)
    deviations = np.abs(times_drawn - expected)
    assert (deviations < 1).all()


def folds_by(source):
    """A splitter that puts the rows of one source into one fold."""

    def split(y, folds, seed, groups):
        for k in range(folds):
            held = source % folds == k
            yield np.flatnonzero(~held), np.flatnonzero(held)

    return split


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("flips", ["joint", "anchor", "trusted"])
@pytest.mark.parametrize("folds", [1, 3])
def test_a_whole_weight_is_as_many_rows(method, flips, folds, monkeypatch):
    X, y, observed = flipped(K=3, n=300)
    numbers = np.arange(300)
    times = np.random.default_rng(1).integers(0, 4, 300)
    rows = np.repeat(numbers, times)
    trusted = None
    trusted_rows = None
    if flips == "trusted":
        trusted = np.where(numbers < 90, y, np.nan)
        trusted_rows = trusted[rows]
    source_of_flips = "anchor" if flips == "anchor" else "joint"
    base = LogisticRegression(tol=1e-8)
    model = CorrectedClassifier(base, method, flips=source_of_flips, folds=folds)

    def fit_with_folds_by(source, *data, **weights):
        monkeypatch.setattr(corrected, "split_folds", folds_by(source))
        return clone(model).fit(*data, **weights)

    used_rows = np.flatnonzero(times)
    weighted = fit_with_folds_by(used_rows, X, observed, trusted, sample_weight=times)
    repeated = fit_with_folds_by(rows, X[rows], observed[rows], trusted_rows)
    plain = fit_with_folds_by(numbers, X, observed, trusted)
    assert_allclose(weighted.flip_matrix_, repeated.flip_matrix_, atol=1e-6)
    p = weighted.predict_proba(X)
    assert_allclose(p, repeated.predict_proba(X), atol=1e-5)
    assert np.abs(p - plain.predict_proba(X)).max() > 1e-2
    for of_weighted, of_repeated in zip(weighted.weights_.T, repeated.weights_.T, strict=True):
        sums = np.bincount(rows, of_repeated, 300)
        assert_allclose(of_weighted, sums, atol=1e-5)


@pytest.mark.parametrize("method", [method for method in METHODS if method != "backward"])
def test_weights_of_classes_and_small_weights_are_those_of_rows(method):
    X, _, observed = flipped(n=400)
    by_class = CorrectedClassifier(GaussianNB(), method, class_weight={0: 2.5})
    by_class.fit(X, observed)
    model = CorrectedClassifier(GaussianNB(), method)
    weights = np.where(observed, 1, 2.5)
    by_row = model.fit(X, observed, sample_weight=weights).predict_proba(X)
    assert_array_equal(by_class.predict_proba(X), by_row)
    plain = model.fit(X, observed).weights_
    # six rows together, and less than two
    counts = np.full(400, 2.0**-6)
    of_counts = model.fit(X, observed, sample_weight=counts).weights_
    assert_allclose(of_counts / 2.0**-6, plain)
    shares = np.full(400, 1e-3)
    of_shares = model.fit(X, observed, sample_weight=shares).weights_
    assert_allclose(of_shares, plain)


def test_trusted_rows_give_the_flips_and_are_believed():
    X, y, observed = flipped(K=3, n=3000)
    names = np.array(["a", "b", "c"])
    is_trusted = np.arange(len(X)) < 900
    trusted = np.where(is_trusted, names[y], None)
    fitted = CorrectedClassifier(method="forward")
    fitted.fit(X, names[observed], trusted=trusted)
    standard_error = (0.25 / 250) ** 0.5
    assert_allclose(fitted.flip_matrix_, OMEGA[3], atol=4 * standard_error)
    true_class = np.eye(3)[y]
    assert np.array_equal(fitted.weights_[is_trusted], true_class[is_trusted])
    plain = LogisticRegression().fit(X, observed)
    assert fitted.score(X, names[y]) > plain.score(X, y)


def test_flips_that_cannot_be_inverted_are_shrunk_and_flagged():
    # p = 1/2 everywhere: the classes are exchanged half the time
    X = np.zeros((80, 2))
    y = np.arange(80) % 2
    fitted = CorrectedClassifier(DummyClassifier(), "importance", flips="anchor").fit(X, y)
    assert fitted.flags_ == ("flips_shrunk",)
    assert np.linalg.cond(fitted.flip_matrix_) <= 20


def test_pipelines_and_tables_keep_their_columns():
    X, y, observed = flipped()
    words = np.where(X[:, 0] > 0, "up", "down")
    table = pd.DataFrame(X, columns=["a", "b", "c"]).assign(word=words)
    columns = make_column_transformer((OneHotEncoder(), ["word"]), (StandardScaler(), ["a", "b"]))
    inner = make_pipeline(columns, LogisticRegression())
    fitted = CorrectedClassifier(inner, "forward", flips=OMEGA[2]).fit(table, observed)
    assert fitted.feature_names_in_.tolist() == ["a", "b", "c", "word"]
    clean = inner.fit(table, y).predict_proba(table)
    plain = inner.fit(table, observed).predict_proba(table)
    error = np.abs(fitted.predict_proba(table) - clean).mean()
    error_of_plain = np.abs(plain - clean).mean()
    assert error < 0.5 * error_of_plain


def test_pipelines_searches_tables_and_routed_trusted_rows():
    X, y, observed = flipped()
    outer = make_pipeline(StandardScaler(), CorrectedClassifier(LogisticRegression()))
    grid = {
        "correctedclassifier__estimator__C": [0.1, 1.0],
        "correctedclassifier__method": ["prune", "forward"],
    }
    search = GridSearchCV(outer, grid, cv=3).fit(X[:300], observed[:300])
    assert len(search.cv_results_["params"]) == 4
    trusted = np.where(np.arange(len(X)) < 300, y, np.nan)
    with sklearn.config_context(enable_metadata_routing=True):
        routed = CorrectedClassifier().set_fit_request(trusted=True)
        model = make_pipeline(StandardScaler(), routed)
        model.fit(X, observed, trusted=trusted)
    counted, *_ = flip_rates.counted(observed[:300], y[:300], 2)
    assert_allclose(model[-1].flip_matrix_, counted)


@pytest.mark.parametrize(
    ("model", "trusted", "message"),
    [
        (
            CorrectedClassifier(method="erase"),
            None,
            "method: 'erase' is unknown; known: prune, importance",
        ),
        (
            CorrectedClassifier(flips="guess"),
            None,
            "flips: 'guess' is unknown; known: joint, anchor",
        ),
        (
            CorrectedClassifier(flips=[[0.4, 0.6], [0.6, 0.4]]),
            None,
            "flip rates .* must be less than 1",
        ),
        (
            CorrectedClassifier(flips=[[0.51, 0.49], [0.49, 0.51]]),
            None,
            "condition number of Omega is above",
        ),
        (
            CorrectedClassifier(RandomForestClassifier(5), "backward"),
            None,
            "'backward' needs LogisticRegr",
        ),
        (CorrectedClassifier(LinearSVC()), None, "LinearSVC has no predict_proba; wrap it"),
        (CorrectedClassifier(rounds=0, method="forward"), None, "rounds: must be"),
        (CorrectedClassifier(), [0], "trusted: one entry for each of the 60 rows"),
        (CorrectedClassifier(), [7] + [None] * 59, r"trusted: 7 is not a class of y, \[0, 1\]"),
        (CorrectedClassifier(), [0] + [None] * 59, "trusted: no row with the true class 1"),
    ],
)
def test_wrong_input_is_named(model, trusted, message):
    X, _, observed = flipped(n=60)
    with pytest.raises(ValueError, match=message):
        model.fit(X, observed, trusted=trusted)


@pytest.mark.parametrize("seed", range(3))
def test_pruning_is_what_cleanlab_does(seed):
    cleanlab = pytest.importorskip("cleanlab.classification")
    X, _, observed = flipped(n=400, seed=seed)
    ours = CorrectedClassifier(LogisticRegression()).fit(X, observed)
    # those of the fit
    p = ours._probabilities(X, np.eye(2)[observed], observed, 5, generator(0), None)
    theirs = cleanlab.CleanLearning(LogisticRegression())
    theirs.fit(X, observed, pred_probs=p)
    left_out = theirs.get_label_issues()["is_label_issue"].to_numpy()
    weights = ours.weights_.sum(axis=1)
    assert_array_equal(left_out, weights == 0)
    assert left_out.any()
    # it rounds its joint
    assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), atol=2e-3)
