"""Experiments on noisy instances: comparators, sequences, and equal rows for any shards."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from noisy_online import tasks
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
    return rng.standard_normal((n, d)), rng.standard_normal(n)


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 10_000), B_w=st.floats(0.001, 100), d=st.integers(1, 6))
def test_no_random_vector_of_the_ball_beats_the_linear_comparator(seed, B_w, d):
    X, y = problem(seed, d=d)
    best = tasks.best_linear(X, y, B_w)
    assert best.coefficients @ best.coefficients <= B_w * (1 + 1e-9)
    radius = np.sqrt(B_w)
    W = np.random.default_rng(seed + 1).standard_normal((500, d))
    lengths = radius * np.random.default_rng(2).uniform(0, 1, (500, 1))
    W *= lengths / np.linalg.norm(W, axis=1)[:, None]
    neighbours = best.coefficients + 1e-3 * W
    shrinking = np.minimum(1, radius / np.linalg.norm(neighbours, axis=1))
    neighbours *= shrinking[:, None]
    residuals = np.vstack([W, neighbours]) @ X.T - y
    losses = (residuals**2).sum(axis=1)
    assert best.loss <= losses.min() * (1 + 1e-10)


def test_a_dependent_input_leaves_the_loss_of_least_squares():
    X, y = problem(0)
    dependent = np.column_stack([X, X[:, 0]])
    w = np.linalg.lstsq(X, y)[0]
    smallest_loss = np.sum((X @ w - y) ** 2)
    assert np.isclose(tasks.best_linear(dependent, y, 1e6).loss, smallest_loss)


@pytest.mark.parametrize("B_w", [0.01, 0.05, 0.3, 1e4])
def test_the_other_comparators_find_the_linear_one(B_w):
    X, y = problem(1)
    best = tasks.best_linear(X, y, B_w).loss
    assert np.isclose(tasks.best_kernel(X @ X.T, y, B_w).loss, best, rtol=1e-8)
    smooth = tasks.best_smooth(lambda a: (a - y) ** 2, lambda a: 2 * (a - y), X, B_w)
    assert np.isclose(smooth.loss, best, rtol=1e-10)


def test_the_kernel_comparator_is_kernel_ridge_at_its_multiplier():
    X, y = problem(2)
    K = np.exp(-((X[:, None] - X[None]) ** 2).sum(axis=2))
    gamma = tasks.best_kernel(K, y, 0.7).coefficients
    assert np.isclose(gamma @ K @ gamma, 0.7)
    multiplier = (y - K @ gamma) / gamma
    assert np.ptp(multiplier) < 1e-6 * multiplier.mean()


def test_projected_gradient_agrees_with_regularised_logistic_regression():
    from sklearn.linear_model import LogisticRegression

    X, y = problem(4, n=200)
    y = np.sign(y + X[:, 0])
    model = LogisticRegression(C=0.05, fit_intercept=False, tol=1e-12, max_iter=10_000).fit(X, y)
    w = model.coef_[0]

    def loss(a):
        return np.logaddexp(0, -y * a)

    def slope(a):
        return -y / (1 + np.exp(y * a))

    best = tasks.best_smooth(loss, slope, X, float(w @ w))
    assert np.allclose(best.coefficients, w, atol=1e-5)


def test_a_search_that_has_not_arrived_is_no_comparator():
    X, y = problem(5)
    with pytest.raises(RuntimeError, match="regret cannot be reported"):
        tasks.best_smooth(lambda a: (a - y) ** 2, lambda a: 2 * (a - y), X, 1.0, most_steps=2)


def test_regret_rows_have_the_exponent_of_a_power_law():
    repetition = Repetition(SEEDS, 0, {})
    runs = {T: (3 * T**0.5, bound) for T, bound in ((4, 8), (16, 9), (64, 30))}
    rows = tasks.regret_rows(repetition, runs, [3])
    value_of = {(row["metric"], row.get("x")): row["value"] for row in rows}
    assert value_of["exponent", 3] == pytest.approx(0.5)
    assert value_of["bound_ratio", 64] == pytest.approx(0.8)
    assert value_of["regret_per_round", 4] == pytest.approx(1.5)
    runs[16] = (-1.0, None)  # a regret below zero has no exponent, and one without a bound no ratio
    rows = tasks.regret_rows(repetition, runs, [3])
    measured = {(row["metric"], row.get("x")) for row in rows}
    assert not {("exponent", 3), ("bound_ratio", 16)} & measured


def test_the_diabetes_data_have_the_norms_that_the_plan_states():
    X, y = tasks.diabetes()
    assert X.shape == (442, 10)
    base = tasks.real(X, y, 5, None)
    squared_lengths = (base.X**2).sum(axis=1)
    assert np.isclose(squared_lengths.max(), 1)
    assert np.isclose(squared_lengths.mean(), 0.181, atol=5e-4)
    assert np.abs(base.y).max() == 1
    assert np.isclose(tasks.real(X, y, 3, 0.5).X.std(), 0.5)


def test_passes_repeat_the_base_set_in_new_orders():
    base = tasks.Clean(np.arange(8.0)[:, None], np.arange(8.0))
    y = tasks.base_set(base, "made up").draw(24, np.random.default_rng(0)).y
    passes = y.reshape(3, 8)
    assert np.array_equal(np.sort(passes, axis=1), np.tile(base.y, (3, 1)))
    assert not np.array_equal(y[:8], y[8:16])


def test_instances_on_the_sphere_have_the_moments_and_sizes_that_the_task_says():
    w = tasks.target([0.6, -0.5, 0.4], 0.9)
    assert np.isclose(np.linalg.norm(w), 0.9)
    task = tasks.sphere(w, 0.1)
    X, y = task.draw(20_000, np.random.default_rng(0))
    assert np.allclose((X**2).sum(axis=1), task.x_size**2)
    assert np.abs(y - X @ w).max() <= 0.1
    assert np.abs(y).max() <= task.y_size
    assert np.allclose(X.T @ X / len(y), task.A, atol=0.02)
    assert np.allclose(X.T @ y / len(y), task.b, atol=0.02)


def test_the_excess_of_a_task_is_the_difference_of_mean_losses():
    X, y = problem(6)
    task = tasks.base_set(tasks.Clean(X, y), "made up")
    v, w = np.random.default_rng(0).standard_normal((2, 3))
    mean_loss_of_v = ((X @ v - y) ** 2).mean()
    mean_loss_of_w = ((X @ w - y) ** 2).mean()
    assert np.isclose(task.excess(v, w), mean_loss_of_v - mean_loss_of_w)


def test_a_quadratic_that_is_not_convex_is_refused():
    with pytest.raises(ValueError, match="semi-definite"):
        tasks.best_quadratic(-np.eye(2), np.ones(2), 1.0)


# The protocols


def smoke(name, **changes):
    """Load protocol and settings of an artifact at the smoke scale, with changes."""
    artifact = artifacts.load(FOLDER / f"{name}.yaml", "smoke")
    protocol = find_protocol(artifact.protocol)
    return protocol, protocol.settings.model_validate(merge(artifact.as_written, changes))


def rows(name, repetitions=range(1), **changes):
    protocol, chosen = smoke(name, **changes)
    return list(protocol.run(chosen, Loop({}, SEEDS, repetitions)))


def values(rows, metric, **selected):
    wanted = {"metric": metric, **selected}.items()
    return [row["value"] for row in rows if wanted <= row.items()]


@pytest.mark.parametrize("name", ["known_covariance", "radial_kernel", "impossibility"])
def test_two_shards_give_the_rows_of_one(name):
    parts = rows(name, range(1)) + rows(name, range(1, 2))
    assert sorted(map(str, rows(name, range(2)))) == sorted(map(str, parts))


def world(T=256, **learner):
    """Make the world and a learner of the synthetic task."""
    _, chosen = smoke("known_covariance")
    ((_, task, seeds),) = chosen.tasks(Loop({}, SEEDS))
    model = Learner(**({"step": "G1"} | learner))
    one_learner = chosen.model_copy(update={"learners": {"it": model}})
    return World(one_learner, task, Repetition(seeds, 0, {}), T), model


def test_a_learner_that_knows_no_covariance_is_the_naive_one():
    sequence, naive = world(method="naive_ogd", step="agnostic")
    knows_nothing = Learner(method="known_covariance", step="agnostic", told=0)
    runs = []
    for learner in (naive, knows_nothing):
        eta, _ = sequence.step(learner)
        runs.append(sequence.run(learner, eta, 0.5))
    assert np.array_equal(runs[0].predictions, runs[1].predictions)


def test_only_learners_that_a_theorem_covers_have_a_bound():
    sequence, naive = world(method="naive_ogd")
    assert sequence.step(naive)[1] is None
    assert sequence.step(Learner(method="known_covariance", step="G2", told=0.5))[1] is None
    two = Learner(method="two_copy", step="G1")
    eta, bound = sequence.step(two)
    assert np.isclose(bound, 1 / eta)  # with B_w = 1 and the best step
    assert sequence.step(two, 2.0)[1] == pytest.approx(1.25 * bound)
    moments = {"two_copy": 46.8, "known_covariance": 70.7}  # the labels of the plan
    expected = {name: pytest.approx(G, abs=0.05) for name, G in moments.items()}
    assert sequence.gradients(two) == expected


def test_a_changing_covariance_never_exceeds_the_total():
    sequence, learner = world(method="known_covariance", step="G2", changing=True)
    noise = sequence.noise(learner)
    assert noise.variances.shape == (256, 3)
    assert noise.total <= 1
    assert len(np.unique(noise.variances[:, 0])) == 256


def test_copies_have_their_own_noise_and_the_mean_is_that_of_the_first():
    clean = tasks.Clean(np.zeros((50, 2)), np.zeros(50))
    law = FeatureNoise(variances=np.ones(2))
    copies = tasks.Copies(clean, law, Repetition(SEEDS, 0, {}).rng)
    first = copies.copy(1)
    second = copies.copy(2)
    assert not np.allclose(first, second)
    assert np.allclose(copies.mean(3), (first + second + copies.copy(3)) / 3)
    assert np.allclose(copies.mean(2), (first + second) / 2)


def test_predicted_limits_are_the_shrunk_target():
    predicted = rows("known_covariance")
    ratios = {"told 0": 0.5, "told 0.5": 2 / 3, "told 1": 1.0, "told 1.5": 1 / 0.9}
    for method, ratio in ratios.items():
        weight_ratio = values(predicted, "weight_ratio_predicted", method=method)[0]
        assert weight_ratio == pytest.approx(ratio)
    regret = values(predicted, "regret_per_round_predicted", method="naive")[0]
    assert regret == pytest.approx(0.0675)


def test_one_copy_plays_the_same_weights_in_both_worlds_bit_by_bit():
    table = rows("impossibility", range(2))
    for method in ("naive", "told_0", "told_4", "constant", "running_mean"):
        assert set(values(table, "largest_difference", method=method)) == {0.0}
        assert min(values(table, "regret_per_round", method=method, noise="worse")) > 0.3055
    assert min(values(table, "largest_difference", method="two_copy")) > 0


def test_every_identity_of_the_table_holds_at_few_samples():
    table = rows("identities", samples=20_000)
    assert max(map(abs, values(table, "z"))) < 4.5
    assert max(values(table, "bound_ratio")) <= 1


def test_lemma_1_takes_fewer_copies_and_keeps_its_bound_at_every_p():
    table = rows("identities", groups=["lemma 1"], samples=1000)
    names = ["number of copies at p = 1.25", "number of copies at p = 1.5", "number of copies"]
    names += ["number of copies at p = 3", "number of copies at p = 4"]
    copies = [values(table, "measured", method=name)[0] for name in names]
    assert copies == sorted(copies, reverse=True)
    assert len(values(table, "bound_ratio")) == 1 + 4 + 4 * 4  # one f, four f, and four p


def test_lemma_6_is_measured_at_many_pairs_dimensions_and_widths():
    table = rows("identities", groups=["surrogate kernels"], samples=1000)
    predicted = [row for row in table if row["metric"] == "predicted"]
    pairs = [row for row in predicted if "Gaussian kernel: pair" in row["method"]]
    assert len({row["method"] for row in pairs}) == 3 * 3 * 3
    assert len({row["value"] for row in pairs}) == 3 * 3 * 3  # no pair is measured twice


def test_the_bound_of_theorem_6_is_that_of_the_exact_moment_for_this_kernel_and_loss():
    table = rows("parameter_p", range(2))
    regrets = np.array(values(table, "regret_per_round"))
    exact = regrets / values(table, "bound_ratio")
    assert np.allclose(values(table, "theorem_bound_per_round"), exact)
    at_equal_rounds = values(table, "theorem_bound_per_round", setting="equal rounds", x=2)
    four_times = rows("parameter_p", range(2), rounds=4000)
    later = values(four_times, "theorem_bound_per_round", setting="equal rounds", x=2)
    assert np.allclose(at_equal_rounds, 2 * np.array(later))


def test_tuning_takes_a_factor_of_the_grid_at_every_horizon():
    protocol, chosen = smoke("two_copies", horizons=[64, 128])
    tuned = protocol.tune(chosen, Loop({}, SEEDS))["synthetic"]["naive_tuned"]
    assert set(tuned) == {"64", "128"}
    assert set(tuned.values()) <= set(chosen.factors)


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
