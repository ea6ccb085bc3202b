"""Experiments on noisy instances: comparators, sequences, and equal rows for any shards."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from noisy_online import checks, tasks
from noisy_online.code import Learner, World
from noisylabels.noise.additive import FeatureNoise
from noisylabels.seeding import Seeds
from reproduction.run.protocol_loop import Loop, Repetition
from reproduction.spec import artifact as artifacts
from reproduction.spec.artifact import merge
from reproduction.spec.protocol import find_protocol

SEEDS = Seeds(1, "test")
FOLDER = Path(__file__).parent


def problem(seed, n=40, d=3):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    y = rng.standard_normal(n)
    return X, y


def points_of_ball(radius, d, seed):
    """Draw 500 vectors (500, d) of at most a length."""
    W = np.random.default_rng(seed).standard_normal((500, d))
    shares = np.random.default_rng(2).uniform(0, 1, (500, 1))
    lengths = np.linalg.norm(W, axis=1)
    W *= radius * shares / lengths[:, None]
    return W


def squared(a, y):
    return (a - y) ** 2


def smooth_comparator(X, y, B_w, **options):
    """Find the best linear weights of the squared loss by projected gradients."""

    def loss(a):
        return squared(a, y)

    def slope(a):
        return 2 * (a - y)

    return tasks.best_smooth(loss, slope, X, B_w, **options)


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 10_000), B_w=st.floats(0.001, 100), d=st.integers(1, 6))
def test_no_random_vector_of_the_ball_beats_the_linear_comparator(seed, B_w, d):
    X, y = problem(seed, d=d)
    best = tasks.best_linear(X, y, B_w)
    w = best.coefficients
    assert w @ w <= B_w * (1 + 1e-9)
    radius = np.sqrt(B_w)
    W = points_of_ball(radius, d, seed + 1)
    neighbours = w + 1e-3 * W
    lengths = np.linalg.norm(neighbours, axis=1)
    shrinking = np.minimum(1, radius / lengths)
    neighbours *= shrinking[:, None]
    vectors = np.vstack([W, neighbours])
    residuals = vectors @ X.T - y
    losses = (residuals**2).sum(axis=1)
    assert best.loss <= losses.min() * (1 + 1e-10)


def test_a_dependent_input_leaves_the_loss_of_least_squares():
    X, y = problem(0)
    dependent = np.column_stack([X, X[:, 0]])
    w, *_ = np.linalg.lstsq(X, y)
    losses = squared(X @ w, y)
    best = tasks.best_linear(dependent, y, 1e6)
    assert np.isclose(best.loss, losses.sum())


@pytest.mark.parametrize("B_w", [0.01, 0.05, 0.3, 1e4])
def test_the_other_comparators_find_the_linear_one(B_w):
    X, y = problem(1)
    linear = tasks.best_linear(X, y, B_w)
    kernel = tasks.best_kernel(X @ X.T, y, B_w)
    assert np.isclose(kernel.loss, linear.loss, rtol=1e-8)
    smooth = smooth_comparator(X, y, B_w)
    assert np.isclose(smooth.loss, linear.loss, rtol=1e-10)


def test_the_kernel_comparator_is_kernel_ridge_at_its_multiplier():
    X, y = problem(2)
    differences = X[:, None] - X[None]
    squared_distances = (differences**2).sum(axis=2)
    K = np.exp(-squared_distances)
    best = tasks.best_kernel(K, y, 0.7)
    gamma = best.coefficients
    squared_norm = gamma @ K @ gamma
    assert np.isclose(squared_norm, 0.7)
    residuals = y - K @ gamma
    multipliers = residuals / gamma
    assert np.ptp(multipliers) < 1e-6 * multipliers.mean()


def test_projected_gradient_agrees_with_regularised_logistic_regression():
    from sklearn.linear_model import LogisticRegression

    X, y = problem(4, n=200)
    y = np.sign(y + X[:, 0])
    model = LogisticRegression(C=0.05, fit_intercept=False, tol=1e-12, max_iter=10_000)
    model.fit(X, y)
    w = model.coef_[0]
    B_w = float(w @ w)

    def loss(a):
        return np.logaddexp(0, -y * a)

    def slope(a):
        return -y / (1 + np.exp(y * a))

    best = tasks.best_smooth(loss, slope, X, B_w)
    assert np.allclose(best.coefficients, w, atol=1e-5)


def test_a_search_that_has_not_arrived_is_no_comparator():
    X, y = problem(5)
    with pytest.raises(RuntimeError, match="regret cannot be reported"):
        smooth_comparator(X, y, 1.0, most_steps=2)


def test_regret_rows_have_the_exponent_of_a_power_law():
    repetition = Repetition(SEEDS, 0, {})
    bounds = {4: 8, 16: 9, 64: 30}
    runs = {T: (3 * T**0.5, bound) for T, bound in bounds.items()}
    measured = regret_by_metric(repetition, runs)
    assert measured["exponent", 3] == pytest.approx(0.5)
    assert measured["bound_ratio", 64] == pytest.approx(0.8)
    assert measured["regret_per_round", 4] == pytest.approx(1.5)
    runs[16] = (-1.0, None)
    measured = regret_by_metric(repetition, runs)
    assert ("exponent", 3) not in measured  # a regret below zero has no exponent
    assert ("bound_ratio", 16) not in measured  # there is no bound to divide by


def regret_by_metric(repetition, runs):
    """Map metric and x to the values of the rows, with the exponent over three horizons."""
    values_of_metrics = {}
    for row in tasks.regret_rows(repetition, runs, [3]):
        key = (row["metric"], row.get("x"))
        values_of_metrics[key] = row["value"]
    return values_of_metrics


def test_the_diabetes_data_have_the_norms_that_the_plan_states():
    X, y = tasks.diabetes()
    assert X.shape == (442, 10)
    base = tasks.real(X, y, 5, None)
    squared_lengths = (base.X**2).sum(axis=1)
    assert np.isclose(squared_lengths.max(), 1)
    assert np.isclose(squared_lengths.mean(), 0.181, atol=5e-4)
    assert np.abs(base.y).max() == 1
    scaled = tasks.real(X, y, 3, 0.5)
    assert np.isclose(scaled.X.std(), 0.5)


def test_passes_repeat_the_base_set_in_new_orders():
    numbers = np.arange(8.0)
    base = tasks.Clean(numbers[:, None], numbers)
    task = tasks.base_set(base, "made up")
    rng = np.random.default_rng(0)
    drawn = task.draw(24, rng)
    passes = drawn.y.reshape(3, 8)
    for labels in passes:
        assert np.array_equal(np.sort(labels), numbers)
    assert not np.array_equal(passes[0], passes[1])


def test_instances_on_the_sphere_have_the_moments_and_sizes_that_the_task_says():
    w = tasks.target([0.6, -0.5, 0.4], 0.9)
    assert np.isclose(np.linalg.norm(w), 0.9)
    task = tasks.sphere(w, 0.1)
    rng = np.random.default_rng(0)
    X, y = task.draw(20_000, rng)
    squared_lengths = (X**2).sum(axis=1)
    assert np.allclose(squared_lengths, task.x_size**2)
    residuals = y - X @ w
    assert np.abs(residuals).max() <= 0.1
    assert np.abs(y).max() <= task.y_size
    mean_of_squares = X.T @ X / len(y)
    assert np.allclose(mean_of_squares, task.A, atol=0.02)
    mean_of_products = X.T @ y / len(y)
    assert np.allclose(mean_of_products, task.b, atol=0.02)


def test_the_excess_of_a_task_is_the_difference_of_mean_losses():
    X, y = problem(6)
    base = tasks.Clean(X, y)
    task = tasks.base_set(base, "made up")
    rng = np.random.default_rng(0)
    v, w = rng.standard_normal((2, 3))
    losses_of_v = squared(X @ v, y)
    losses_of_w = squared(X @ w, y)
    excess = losses_of_v.mean() - losses_of_w.mean()
    assert np.isclose(task.excess(v, w), excess)


def test_a_quadratic_that_is_not_convex_is_refused():
    negative_definite = -np.eye(2)
    with pytest.raises(ValueError, match="semi-definite"):
        tasks.best_quadratic(negative_definite, np.ones(2), 1.0)


# The protocols


def smoke(name, **changes):
    """Load protocol and settings of an artifact at the smoke scale, with changes."""
    artifact = artifacts.load(FOLDER / f"{name}.yaml", "smoke")
    protocol = find_protocol(artifact.protocol)
    changed = merge(artifact.as_written, changes)
    return protocol, protocol.settings.model_validate(changed)


def rows(name, repetitions=range(1), **changes):
    protocol, chosen = smoke(name, **changes)
    loop = Loop({}, SEEDS, repetitions)
    return list(protocol.run(chosen, loop))


def values(rows, metric, **selected):
    selected["metric"] = metric
    wanted = selected.items()
    return [row["value"] for row in rows if wanted <= row.items()]


def value(rows, metric, **selected):
    """Look up the value of the first row that is selected."""
    return values(rows, metric, **selected)[0]


@pytest.mark.parametrize("name", ["known_covariance", "radial_kernel", "impossibility"])
def test_two_shards_give_the_rows_of_one(name):
    first = rows(name, range(1))
    second = rows(name, range(1, 2))
    together = map(str, rows(name, range(2)))
    separate = map(str, first + second)
    assert sorted(together) == sorted(separate)


def world(T=256, **learner):
    """Make the world and a learner of the synthetic task."""
    _, chosen = smoke("known_covariance")
    loop = Loop({}, SEEDS)
    ((_, task, seeds),) = chosen.tasks(loop)
    options = {"step": "G1"} | learner
    model = Learner(**options)
    one_learner = chosen.model_copy(update={"learners": {"it": model}})
    repetition = Repetition(seeds, 0, {})
    return World(one_learner, task, repetition, T), model


def test_a_learner_that_knows_no_covariance_is_the_naive_one():
    sequence, naive = world(method="naive_ogd", step="agnostic")
    knows_nothing = Learner(method="known_covariance", step="agnostic", told=0)
    predictions = []
    for learner in (naive, knows_nothing):
        eta, _ = sequence.step(learner)
        run = sequence.run(learner, eta, 0.5)
        predictions.append(run.predictions)
    assert np.array_equal(predictions[0], predictions[1])


def test_only_learners_that_a_theorem_covers_have_a_bound():
    sequence, naive = world(method="naive_ogd")
    half_known = Learner(method="known_covariance", step="G2", told=0.5)
    for learner in (naive, half_known):
        _, bound = sequence.step(learner)
        assert bound is None
    two_copies = Learner(method="two_copy", step="G1")
    eta, bound = sequence.step(two_copies)
    assert np.isclose(bound, 1 / eta)  # with B_w = 1 and the best step
    _, bound_at_twice_the_step = sequence.step(two_copies, 2.0)
    assert bound_at_twice_the_step == pytest.approx(1.25 * bound)
    moments = {"two_copy": 46.8, "known_covariance": 70.7}  # the labels of the plan
    assert sequence.gradients(two_copies) == pytest.approx(moments, abs=0.05)


def test_a_changing_covariance_never_exceeds_the_total():
    sequence, learner = world(method="known_covariance", step="G2", changing=True)
    noise = sequence.noise(learner)
    assert noise.variances.shape == (256, 3)
    assert noise.total <= 1
    first_variances = noise.variances[:, 0]
    assert len(np.unique(first_variances)) == 256


def test_copies_have_their_own_noise_and_the_mean_is_that_of_the_first():
    clean = tasks.Clean(np.zeros((50, 2)), np.zeros(50))
    law = FeatureNoise(variances=np.ones(2))
    repetition = Repetition(SEEDS, 0, {})
    copies = tasks.Copies(clean, law, repetition.rng)
    first = copies.copy(1)
    second = copies.copy(2)
    third = copies.copy(3)
    assert not np.allclose(first, second)
    mean_of_three = (first + second + third) / 3
    assert np.allclose(copies.mean(3), mean_of_three)
    mean_of_two = (first + second) / 2
    assert np.allclose(copies.mean(2), mean_of_two)


def test_predicted_limits_are_the_shrunk_target():
    predicted = rows("known_covariance")
    ratios = {"told 0": 0.5, "told 0.5": 2 / 3, "told 1": 1.0, "told 1.5": 1 / 0.9}
    for method, ratio in ratios.items():
        weight_ratio = value(predicted, "weight_ratio_predicted", method=method)
        assert weight_ratio == pytest.approx(ratio)
    regret = value(predicted, "regret_per_round_predicted", method="naive")
    assert regret == pytest.approx(0.0675)


def test_one_copy_plays_the_same_weights_in_both_worlds_bit_by_bit():
    table = rows("impossibility", range(2))
    for method in ("naive", "told_0", "told_4", "constant", "running_mean"):
        differences = values(table, "largest_difference", method=method)
        assert set(differences) == {0.0}
        regrets = values(table, "regret_per_round", method=method, noise="worse")
        assert min(regrets) > 0.3055
    differences = values(table, "largest_difference", method="two_copy")
    assert min(differences) > 0


def test_every_identity_of_the_table_holds_at_few_samples():
    table = rows("identities", samples=20_000)
    z = np.array(values(table, "z"))
    assert np.abs(z).max() < 4.5
    ratios = values(table, "bound_ratio")
    assert max(ratios) <= 1


def test_lemma_1_takes_fewer_copies_and_keeps_its_bound_at_every_p():
    table = rows("identities", groups=["lemma 1"], samples=1000)
    names = [
        "number of copies at p = 1.25",
        "number of copies at p = 1.5",
        "number of copies",
        "number of copies at p = 3",
        "number of copies at p = 4",
    ]
    copies = [value(table, "measured", method=name) for name in names]
    assert copies == sorted(copies, reverse=True)
    ratios = values(table, "bound_ratio")
    assert len(ratios) == 1 + 4 + 4 * 4  # one f, four f, and four p


def test_lemma_6_is_measured_at_many_pairs_dimensions_and_widths():
    table = rows("identities", groups=["surrogate kernels"], samples=1000)
    predicted = [row for row in table if row["metric"] == "predicted"]
    pairs = [row for row in predicted if "Gaussian kernel: pair" in row["method"]]
    names = {row["method"] for row in pairs}
    assert len(names) == 3 * 3 * 3
    different_values = {row["value"] for row in pairs}
    assert len(different_values) == 3 * 3 * 3  # no pair is measured twice


def test_the_bound_of_theorem_6_is_that_of_the_exact_moment_for_this_kernel_and_loss():
    table = rows("parameter_p", range(2))
    regrets = np.array(values(table, "regret_per_round"))
    ratios = np.array(values(table, "bound_ratio"))
    exact = regrets / ratios
    bounds = values(table, "theorem_bound_per_round")
    assert np.allclose(bounds, exact)
    selected = {"metric": "theorem_bound_per_round", "setting": "equal rounds", "x": 2}
    four_times = rows("parameter_p", range(2), rounds=4000)
    earlier = np.array(values(table, **selected))
    later = np.array(values(four_times, **selected))
    assert np.allclose(earlier, 2 * later)


def test_tuning_takes_a_factor_of_the_grid_at_every_horizon():
    protocol, chosen = smoke("two_copies", horizons=[64, 128])
    loop = Loop({}, SEEDS)
    tuned = protocol.tune(chosen, loop)
    factors = tuned["synthetic"]["naive_tuned"]
    assert set(factors) == {"64", "128"}
    assert set(factors.values()) <= set(chosen.factors)


@pytest.mark.parametrize(
    ("name", "changes", "message"),
    [
        ("fig1", {"range": [3, 1]}, "is not .low, high. with low < high"),
        ("fig1", {"sharpness": [1]}, "one of them"),
        ("radial_kernel", {"task": {"coefficients": [1]}}, "one number for each"),
        ("losses_and_kernels", {"tasks": {"z": {}}}, "tasks"),
    ],
)
def test_settings_that_cannot_run_are_refused(name, changes, message):
    with pytest.raises(ValueError, match=message):
        smoke(name, **changes)


def test_second_moments_in_a_world_are_those_of_the_integral_and_reach_their_bounds():
    measured = checks.World(checks.W, checks.X, checks.Y, checks.SIGMA, checks.NOISE_Y**2)
    moment, _ = measured.known_covariance()
    assert moment == pytest.approx(checks._exact_moment_of_known_covariance(), rel=1e-12)
    w = np.array([3.0, 4.0])
    aligned = checks.World(w, 2 * w, -7.0, np.zeros((2, 2)), 0.0)
    for second_moment, bound in (aligned.two_copies(), aligned.known_covariance()):
        assert second_moment == pytest.approx(bound, rel=1e-12)
