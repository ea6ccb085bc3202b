"""KLR, rKLR and rLR: what they maximise, what they are invariant to, what they do with degenerate data."""

import numpy as np
import pytest
from scipy.special import expit

from noisylabels.classifiers.kernel_logistic import (
    KernelLogisticRegression,
    RobustKernelLogisticRegression,
    marginal_zeta,
)
from noisylabels.classifiers.robust_logistic import RobustLogisticRegression
from noisylabels.kernels.gaussian import Gram, basis, rbf, squared_distances
from noisylabels.noise import flip_matrix
from noisylabels.solvers.flipped_logistic import em_newton, fit_batch

KLR, rKLR, rLR = KernelLogisticRegression, RobustKernelLogisticRegression, RobustLogisticRegression
GRID = np.array(KLR.GRID)


def flipped(y, omega01, omega10, rng):
    return np.where(rng.random(len(y)) < np.where(y == 1, omega10, omega01), 1 - y, y)


def twonorm(n, d=20, seed=0, omega01=0.0, omega10=0.0):
    """X (n, d), true and observed labels, 0 and 1."""
    rng = np.random.default_rng(seed)
    y = (rng.random(n) < 0.5).astype(float)
    X = rng.standard_normal((n, d)) + np.where(y == 1, 1, -1)[:, None] * 2 / np.sqrt(d)
    return X, y, flipped(y, omega01, omega10, rng)


def rings(n=120, seed=0, rate=0.2):
    """A problem that no line solves: points inside and outside a circle."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 2))
    y = ((X**2).sum(axis=1) > 1.4).astype(float)
    return X, y, flipped(y, rate, rate, rng)


def gram_of(X, out=None, width=1.0):
    out = X if out is None else out
    return Gram(rbf(squared_distances(X), width), rbf(squared_distances(out, X), width))


def batch(X, labels, grid=GRID, width=1.0, robust=False, **parameters):
    """`solve` for columns of labels (n, L) and a grid; the basis with it."""
    found = basis(rbf(squared_distances(X), width))
    rows = np.ascontiguousarray(labels.T)
    column = np.repeat(np.arange(len(rows)), len(grid))
    return found, fit_batch(found, rows, column, np.tile(grid, len(rows)), robust, **parameters)


def objective(base, v, labels, zeta, omega01=0.0, omega10=0.0):
    f = (base.Q * base.lam) @ v
    return -flip_matrix.log_likelihood(f, labels, flip_matrix.from_rates(omega01, omega10)).sum() + zeta * (
        v @ v
    )


@pytest.mark.parametrize("width", [0.1, 0.5, 2.0, 16.0])
def test_klr_reaches_the_maximum_of_its_concave_objective(width):
    X, y, noisy = rings()
    labels = np.column_stack([y, noisy])
    base, fits = batch(X, labels, width=width)
    _, tight = batch(X, labels, width=width, tolerance=1e-9)
    Z = base.Q * base.lam
    assert fits.converged.all()
    assert tight.converged.all()
    for c, zeta in enumerate(np.tile(GRID, 2)):
        column = labels[:, c // len(GRID)]
        best = em_newton(Z, column, np.full(Z.shape[1], zeta), np.eye(2), learn_omega=False)
        least = -best.objectives[-1]
        assert fits.objective[c] == pytest.approx(objective(base, fits.v[c], column, zeta), rel=1e-9)
        assert least - 1e-8 <= fits.objective[c] <= least + 1e-5 * len(X) * np.log(2)  # that of f = 0
        assert tight.objective[c] <= least * (1 + 1e-5)


def test_klr_to_a_tight_tolerance_is_stationary():
    X, _, noisy = rings()
    base, fits = batch(X, noisy[:, None], tolerance=1e-12)
    Z = base.Q * base.lam
    for v, zeta in zip(fits.v, GRID, strict=True):
        gradient = Z.T @ (noisy - expit(Z @ v)) - 2 * zeta * v
        assert np.linalg.norm(gradient) <= 1e-4 * np.linalg.norm(Z.T @ (noisy - 0.5))


@pytest.mark.parametrize("width", [0.3, 1.0, 4.0])
def test_rklr_is_stationary_in_w_and_in_omega(width):
    X, y, noisy = rings(150, rate=0.3)
    labels = np.column_stack([y, noisy])
    base, fits = batch(X, labels, width=width, robust=True, tolerance=1e-11)
    Z = base.Q * base.lam
    for c, zeta in enumerate(np.tile(GRID, 2)):
        column = labels[:, c // len(GRID)]
        omega = flip_matrix.from_rates(fits.omega01[c], fits.omega10[c])
        f = Z @ fits.v[c]
        q = flip_matrix.posterior(f, column, omega)
        assert np.linalg.norm(Z.T @ (q - expit(f)) - 2 * zeta * fits.v[c]) <= 2e-3 * np.linalg.norm(
            Z.T @ (column - 0.5)
        )
        np.testing.assert_allclose(flip_matrix.updated(q, column, omega), omega, atol=5e-4)


def test_rklr_never_ends_above_where_em_newton_starts_and_seldom_above_where_it_ends():
    X, _, noisy = rings(150, rate=0.3)
    base, fits = batch(X, noisy[:, None], robust=True)
    Z = base.Q * base.lam
    worse = 0
    for c, zeta in enumerate(GRID):
        em = em_newton(Z, noisy, np.full(Z.shape[1], zeta), flip_matrix.START, rounds=300)
        assert (np.diff(em.objectives) >= -1e-9).all()  # EM is monotone
        assert fits.objective[c] <= len(X) * np.log(2)
        worse += fits.objective[c] > -em.objectives[-1] * (1 + 1e-3)
    assert worse <= 1


def test_rklr_without_flips_is_klr():
    X, _, noisy = rings()
    Z = basis(rbf(squared_distances(X), 1.0))
    Z = Z.Q * Z.lam
    penalty = np.full(Z.shape[1], 0.5)
    fixed = em_newton(Z, noisy, penalty, np.eye(2))  # zero entries of Omega stay zero
    np.testing.assert_array_equal(fixed.omega, np.eye(2))
    klr = KLR(1.0, 0.5).fit(X, noisy)
    np.testing.assert_allclose(Z @ fixed.v, klr.decision_function(X), atol=5e-3)


def test_both_solvers_agree():
    X, _, noisy = rings(rate=0.3)
    for model in (KLR, rKLR):
        a, b = (model(1.0, 0.1, solver=solver).fit(X, noisy) for solver in ("lbfgs", "em_newton"))
        assert a.objective_ == pytest.approx(b.objective_, rel=1e-4)
        assert (a.predict(X) == b.predict(X)).mean() > 0.98


@pytest.mark.parametrize("model", [KLR, rKLR])
def test_order_of_the_training_points_does_not_matter(model):
    X, _, noisy = rings()
    order = np.random.default_rng(1).permutation(len(X))
    for solver in ("em_newton",):
        a, b = model(1.0, 1.0, solver=solver).fit(X, noisy), model(1.0, 1.0, solver=solver)
        b.fit(X[order], noisy[order])
        np.testing.assert_allclose(a.decision_function(X), b.decision_function(X), atol=1e-8)
    labels = np.column_stack([noisy])
    some = GRID[2:]
    one = model.fit_many(gram_of(X), labels, some)
    two = model.fit_many(gram_of(X[order], X), labels[order], some)
    np.testing.assert_array_equal(one.scores > 0, two.scores > 0)
    np.testing.assert_allclose(one.scores, two.scores, atol=0.02 * np.abs(one.scores).max())


@pytest.mark.parametrize("model", [KLR, rKLR])
def test_names_of_the_classes_do_not_matter(model):
    X, _, noisy = rings()
    first = model().fit(X, noisy)
    for classes in (np.array([-1, 1]), np.array([False, True]), np.array(["no", "yes"])):
        again = model().fit(X, classes[noisy.astype(int)])
        np.testing.assert_array_equal(again.decision_function(X), first.decision_function(X))
        np.testing.assert_array_equal(again.predict(X), classes[first.predict(X).astype(int)])


def test_swapping_the_classes_mirrors_omega():
    X, _, noisy = twonorm(200, omega01=0.3)
    a, b = rKLR(4.0, 0.1).fit(X, noisy), rKLR(4.0, 0.1).fit(X, 1 - noisy)
    np.testing.assert_allclose(a.flip_matrix_, b.flip_matrix_[::-1, ::-1], atol=1e-9)
    np.testing.assert_allclose(a.decision_function(X), -b.decision_function(X), atol=1e-7)
    np.testing.assert_allclose(
        a.true_label_posterior(X, noisy), 1 - b.true_label_posterior(X, 1 - noisy), atol=1e-7
    )
    c, d = rLR().fit(X, noisy), rLR().fit(X, 1 - noisy)
    np.testing.assert_allclose(c.flip_matrix_, d.flip_matrix_[::-1, ::-1], atol=1e-9)


@pytest.mark.parametrize("seed", range(4))
def test_rlr_recovers_the_flip_rates(seed):
    X, y, noisy = twonorm(2000, seed=seed, omega01=0.3, omega10=0.1)
    model = rLR().fit(X, noisy)
    np.testing.assert_allclose(model.flip_matrix_, [[0.7, 0.3], [0.1, 0.9]], atol=0.05)
    assert model.converged_
    assert (model.predict(X) == y).mean() > 0.96
    assert (np.diff(model.objectives_) >= -1e-8).all()
    q = model.true_label_posterior(X, noisy)
    assert ((q > 0.5) == y).mean() > 0.96


def test_rklr_beats_klr_where_one_class_is_flipped():
    X, _, noisy = twonorm(400, omega01=0.4)
    test, y, _ = twonorm(2000, seed=1)
    errors = [(model(8.0, 2.0**-6).fit(X, noisy).predict(test) != y).mean() for model in (KLR, rKLR)]
    assert errors[1] < errors[0] - 0.02


def test_weights_of_rlr_are_repetitions():
    X, _, noisy = twonorm(100, d=3, omega01=0.2)
    weights = np.random.default_rng(0).integers(0, 3, len(X))
    a = rLR(lam=0.1).fit(X, noisy, sample_weight=weights)
    b = rLR(lam=0.1).fit(np.repeat(X, weights, axis=0), np.repeat(noisy, weights))
    np.testing.assert_allclose(a.coef_, b.coef_, atol=1e-6)


def test_many_fits_are_the_single_fits():
    X, y, noisy = rings()
    out = rings(30, seed=5)[0]
    labels = np.column_stack([y, noisy]).astype(np.int8)
    for model in (KLR, rKLR):
        fits = model.fit_many(gram_of(X, out), labels, GRID)
        assert fits.scores.shape == (2, len(GRID), 30)
        for column in range(2):
            for g in (0, 5, 10):
                single = model(1.0, GRID[g]).fit(X, labels[:, column])
                scale = 1 + np.abs(fits.scores[column, g]).max()
                np.testing.assert_allclose(
                    fits.scores[column, g], single.decision_function(out), atol=2e-2 * scale
                )
        assert np.isnan(fits.omega01).all() == (model is KLR)
        assert not fits.flagged.any()


def test_the_same_bytes_every_time():
    X, y, noisy = rings()
    labels = np.column_stack([y, noisy])
    for model in (KLR, rKLR):
        a, b = (model.fit_many(gram_of(X), labels, GRID) for _ in range(2))
        assert a.scores.tobytes() == b.scores.tobytes()
        assert a.omega01.tobytes() == b.omega01.tobytes()


def test_a_column_with_one_class_is_constant_and_flagged():
    X, y, _ = rings(40)
    labels = np.column_stack([np.zeros(40), y, np.ones(40)])
    for model in (KLR, rKLR):
        fits = model.fit_many(gram_of(X), labels, GRID)
        assert (fits.scores[0] < 0).all()
        assert (fits.scores[2] > 0).all()
        assert fits.flagged[[0, 2]].all()
        assert not fits.flagged[1].all()
        assert np.isfinite(fits.scores).all()
        only = model.fit_many(gram_of(X), labels[:, :1], GRID)
        assert only.flagged.all()


@pytest.mark.parametrize("one", [0.0, 1.0])
def test_f_of_zero_at_all_points_is_the_frequent_class_and_flagged(one):
    X, y, _ = rings(41)
    y = np.where(np.arange(41) % 3 == 0, 1.0 - one, one)
    for model in (KLR, rKLR):
        fits = model.fit_many(gram_of(X, X + 1e4), y[:, None], GRID)
        assert ((fits.scores > 0) == one).all()
        assert fits.flagged.all()


def test_a_single_point_with_f_of_zero_gets_no_hidden_bias():
    X, _, _ = rings(41)
    y = np.where(np.arange(41) % 3 == 0, 0.0, 1.0)  # class 1 is the frequent one
    out = np.vstack([X[:5], X[:2] + 1e4])
    for model in (KLR, rKLR):
        fits = model.fit_many(gram_of(X, out), y[:, None], GRID)
        np.testing.assert_array_equal(fits.scores[..., 5:], 0.0)  # and f > 0 is what makes class 1
        assert not fits.flagged.any()
        assert (model().fit(X, y).predict(out[5:]) == 0).all()


def test_a_tiny_f_decides_by_its_sign():
    X = np.array([[0.0], [100.0], [200.0]])
    y = np.array([0.0, 1.0, 1.0])
    near = np.array([[9.0], [91.0], [100.0]])  # K is exp(-40.5) there
    for model in (KLR, rKLR):
        scores = model.fit_many(gram_of(X, near), y[:, None], GRID).scores[0]
        assert (np.abs(scores[:, :2]) < 1e-12).all()
        assert (scores[:, 0] < 0).all()
        assert (scores[:, 1] > 0).all()


@pytest.mark.parametrize("model", [KLR, rKLR])
@pytest.mark.parametrize(
    ("X", "y"),
    [
        (np.zeros((6, 2)), np.array([0, 1, 0, 1, 0, 1])),  # constant features
        (np.repeat(np.eye(2), 5, axis=0), np.arange(10) % 2),  # repeated points with both labels
        (np.array([[0.0], [1.0]]), np.array([0, 1])),  # N = 2
        (np.arange(9.0)[:, None], np.arange(9) == 4),  # one example of a class
    ],
)
def test_degenerate_data_give_finite_fits(model, X, y):
    labels = y.astype(float)[:, None]
    for width in (2.0**-10, 1.0, 2.0**10):
        fits = model.fit_many(gram_of(X, width=width), labels, GRID)
        assert np.isfinite(fits.scores).all()
        single = model(width).fit(X, y)
        assert np.isfinite(single.decision_function(X)).all()
        assert np.isfinite(single.predict_proba(X)).all()


@pytest.mark.parametrize("model", [KLR(), rKLR(), rLR()])
def test_bad_input_is_named(model):
    X, y, _ = rings(20)
    with pytest.raises(ValueError, match="NaN"):
        model.fit(np.where(X > 1, np.nan, X), y)
    with pytest.raises(ValueError, match="one class"):
        model.fit(X, np.ones(20))
    with pytest.raises(ValueError, match="continuous"):
        model.fit(X, np.linspace(0, 1, 20))
    with pytest.raises(ValueError, match="features"):
        model.fit(X, y).predict(X[:, :1])


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (KLR(width=0.0), "width"),
        (KLR(zeta=0.0), "zeta"),
        (KLR(zeta=np.nan), "zeta"),
        (KLR(solver="mm"), "em_newton"),
        (KLR(parametrisation="sigma"), "sigma2"),
        (rKLR(regularisation="none"), "bayes"),
        (rKLR(prior_factor="half"), "exact"),
        (rLR(lam=0.0), "lam"),
        (rLR(max_iter=0), "max_iter"),
        (rLR(omega=[[0.4, 0.6], [0.5, 0.5]]), "less than 1"),
    ],
)
def test_a_wrong_parameter_is_named(model, message):
    X, y, _ = rings(20)
    with pytest.raises(ValueError, match=message):
        model.fit(X, y)


def test_wrong_labels_of_many_fits_are_named():
    X, y, _ = rings(20)
    with pytest.raises(ValueError, match="0 and 1"):
        KLR.fit_many(gram_of(X), 2 * y[:, None] - 1, GRID)
    with pytest.raises(ValueError, match="n = 20"):
        KLR.fit_many(gram_of(X), y[:10, None], GRID)
    with pytest.raises(ValueError, match="zeta"):
        KLR.fit_many(gram_of(X), y[:, None], [0.0])
    model = rKLR().fit(X, y)
    with pytest.raises(ValueError, match="outside the classes"):
        model.true_label_posterior(X, y + 1)
    with pytest.raises(ValueError, match="outside the classes"):
        rLR().fit(X, y).true_label_posterior(X, y + 1)
    with pytest.raises(ValueError, match="one class only"):
        rLR().fit(X, y, sample_weight=y)


def test_bayes_reads_zeta_off_the_weights():
    X, _, noisy = rings()
    for factor, name in ((1.0, "slides"), (0.5, "exact")):
        model = rKLR(regularisation="bayes", prior_factor=name).fit(X, noisy)
        square = float(model.dual_coef_ @ model.dual_coef_)
        assert model.zeta_ == pytest.approx(marginal_zeta(square, len(X), factor), rel=1e-3)
        assert model.zeta_ < factor * (len(X) / 2 + 1) / 2.0
    h, n, w = 1e-6, 10, np.random.default_rng(0).standard_normal(10)

    def minus_log_prior(w):
        return (n / 2 + 1) * np.log(w @ w / 2 + 2.0)

    slope = (minus_log_prior(w + h * np.eye(n)[0]) - minus_log_prior(w - h * np.eye(n)[0])) / (2 * h)
    assert slope == pytest.approx(2 * marginal_zeta(float(w @ w), n, 0.5) * w[0], rel=1e-6)


def test_classes_that_swap_names_are_reset_and_flagged():
    X, _, noisy = twonorm(60, d=2)
    Z = np.column_stack([np.ones(60), X])
    start = 5.0 * np.array([0.0, -1.0, -1.0])  # predicts the opposite
    em = em_newton(Z, noisy, np.full(3, 1e-3), flip_matrix.from_rates(0.49, 0.49), start=start)
    assert np.isfinite(em.v).all()
    assert not flip_matrix.permuted(em.omega)
