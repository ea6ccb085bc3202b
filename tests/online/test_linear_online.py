"""Algorithms 1 and 2 and their baselines: equal arithmetic on every path, limits, bounds."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from methods import method_class
from numpy.testing import assert_allclose, assert_array_equal

from noisylabels.noise.additive import SHAPES, FeatureNoise, rotation
from noisylabels.online.linear import KnownCovariance, NaiveOGD, OracleOGD, TwoCopy
from noisylabels.online.oracles import ArrayOracle, SimulatedOracle, StreamOracle
from noisylabels.online.theory import best_step, regret, two_copy_moment

ETA = 0.02


def points_on_the_sphere(rng, T, d):
    X = rng.standard_normal((T, d))
    return X / np.linalg.norm(X, axis=1, keepdims=True)


def two_copies(rng, X, law):
    """Two noisy copies of the same rows, independent of each other."""
    first = X + law.draw(rng, len(X))
    second = X + law.draw(rng, len(X))
    return first, second


def linear_sequence(T: int, d: int, seed: int = 0, copies: int = 2):
    """X (T, d) on the sphere, y, noisy copies (T, copies, d) of changing shape and targets, law."""
    rng = np.random.default_rng(seed)
    X = points_on_the_sphere(rng, T, d)
    w = rng.standard_normal(d)
    y = X @ (0.9 * w / np.linalg.norm(w))
    law = FeatureNoise(variances=np.full(d, 1.0 / d), shapes=SHAPES)
    noisy = [X + law.draw(rng, T) for _ in range(copies)]
    noisy_targets = y + 0.1 * rng.standard_normal(T)
    return X, y, np.stack(noisy, axis=1), noisy_targets, law


def plain_ogd(X, X1, X2, y, Sigma=None):
    """Predictions and last w with B_w = 0.2, in NumPy; Sigma: (d, d) or (T, d, d)."""
    d = X.shape[1]
    w = np.zeros(d)
    predictions = []
    if Sigma is None:
        Sigma = np.zeros((d, d))
    Sigmas = np.broadcast_to(Sigma, (len(y), d, d))
    for x, x1, x2, label, S in zip(X, X1, X2, y, Sigmas, strict=True):
        predictions.append(x @ w)
        error = w @ x1 - label
        gradient = 2 * error * x2 - 2 * S @ w
        w = w - ETA * gradient
        squared_norm = max(w @ w, 1e-300)
        w = w * min(1.0, np.sqrt(0.2 / squared_norm))
    return np.array(predictions), w


def take_rounds(arrays, part):
    """Take a part of the rounds of what changes with the rounds."""
    return [array[part] if len(array) == 400 else array for array in arrays]


@pytest.mark.parametrize("d", [1, 3, 20, 100])
def test_every_path_gives_the_same_numbers(d):
    X, _, noisy, y, law = linear_sequence(400, d)
    X1 = noisy[:, 0]
    X2 = noisy[:, 1]
    Sigma = law.covariance()
    v = np.random.default_rng(1).uniform(0, 0.3, (400, d))
    changing = v[:, :, None] * np.eye(d)
    for learner, arguments, variances, oracle, expected in (
        (TwoCopy, (X, X1, X2, y), {}, None, (X, X1, X2, y)),
        (NaiveOGD, (X, X1, y), {}, None, (X, X1, X1, y)),
        (OracleOGD, (X1, y), {}, None, (X1, X1, X1, y)),
        (KnownCovariance, (X, X1, y), {"covariance": Sigma}, Sigma, (X, X1, X1, y, Sigma)),
        (KnownCovariance, (X, X1, y), {"covariance": changing}, changing, (X, X1, X1, y, changing)),
        (KnownCovariance, (X, X1, y), {"variances": v}, None, (X, X1, X1, y, changing)),
        (KnownCovariance, (X, X1, y), {"variances": v[0]}, None, (X, X1, X1, y, changing[0])),
    ):
        name = learner.name
        result = learner(ETA, 0.2).run(*arguments, **variances)
        predictions, w = plain_ogd(*expected)
        assert_allclose(result.w, w, rtol=1e-10, atol=1e-13, err_msg=name)
        assert_allclose(result.predictions, predictions, atol=1e-12, err_msg=name)
        squared_norm = result.w @ result.w
        assert squared_norm <= 0.2 * (1 + 1e-12)
        in_parts = learner(ETA, 0.2)
        for part in (slice(0, 7), slice(7, 400)):
            values = take_rounds(variances.values(), part)
            of_part = dict(zip(variances, values, strict=True))
            last_result = in_parts.run(*take_rounds(arguments, part), **of_part)
        later_predictions = result.predictions[7:]
        assert_array_equal(last_result.predictions, later_predictions, err_msg=name)
        assert_array_equal(in_parts.w, result.w, err_msg=name)
        if "variances" not in variances:
            stepwise = learner(ETA, 0.2).fit(ArrayOracle(noisy, y, oracle))
            assert_array_equal(stepwise.w, result.w, err_msg=name)


def test_averaging_m_copies_is_one_copy_of_smaller_noise():
    X, _, noisy, y, _ = linear_sequence(200, 3, copies=4)
    of_copies = NaiveOGD(ETA, copies=4).run(X, noisy, y)
    of_mean = NaiveOGD(ETA).run(X, noisy.mean(axis=1), y)
    assert_allclose(of_copies.w, of_mean.w, rtol=0, atol=1e-14)
    oracle = ArrayOracle(noisy, y)
    stepwise = NaiveOGD(ETA, copies=4).fit(oracle)
    assert_allclose(stepwise.w, of_copies.w, rtol=0, atol=1e-14)
    assert oracle.queries == 4 * 200


def test_naive_descent_ends_at_the_shrunken_vector_and_two_copies_at_the_right_one():
    rng = np.random.default_rng(3)
    X = points_on_the_sphere(rng, T=40_000, d=3)
    w_star = np.array([0.5, -0.4, 0.3])
    y = X @ w_star
    variances = np.full(3, 1 / 3)
    law = FeatureNoise(variances=variances, shapes=("gaussian", "rademacher", "uniform"))
    X1, X2 = two_copies(rng, X, law)
    second_half = {"average_from": 20_000}
    naive = NaiveOGD(ETA).run(X, X1, y, **second_half)
    assert_allclose(naive.average, w_star / 2, atol=0.03)  # (I/3 + I/3)^-1 I/3 w*
    of_two_copies = TwoCopy(ETA).run(X, X1, X2, y, **second_half)
    assert_allclose(of_two_copies.average, w_star, atol=0.06)
    informed = KnownCovariance(ETA).run(X, X1, y, variances=variances, **second_half)
    assert_allclose(informed.average, w_star, atol=0.06)
    misled = KnownCovariance(ETA).run(X, X1, y, variances=variances / 2, **second_half)
    assert_allclose(misled.average, w_star / 1.5, atol=0.04)


def test_the_regret_of_algorithm_1_stays_below_its_bound():
    X, y, _, _, law = linear_sequence(2000, 3)
    G = two_copy_moment(1.0, 2.0, 1.01)
    eta = best_step(1.0, G, 2000)
    totals = []
    for seed in range(10):
        rng = np.random.default_rng(seed)
        X1, X2 = two_copies(rng, X, law)
        noisy = y + 0.1 * rng.standard_normal(2000)
        result = TwoCopy(eta).run(X, X1, X2, noisy)
        squared_errors = np.square(result.predictions - y)
        totals.append(squared_errors.sum())
    bound = regret(1.0, G, 2000)
    assert 0 < np.mean(totals) < bound / 2


@given(seed=st.integers(0, 10**6), eta=st.floats(1e-3, 3.0), B_w=st.floats(0.01, 10.0))
def test_the_inequality_of_projected_descent_holds_for_any_gradients(seed, eta, B_w):
    """sum <g_t, w_t - u> <= B_w / (2 eta) + eta/2 sum ||g_t||^2, adversarial g_t and u included."""
    rng = np.random.default_rng(seed)
    T = 30
    scales = rng.choice([0.1, 1.0, 10.0], (2, T, 1))
    X1, X2 = rng.standard_normal((2, T, 3)) * scales
    y = rng.standard_normal(T)
    learner = TwoCopy(eta, B_w)
    w = np.zeros(3)
    gradients = []
    total = 0.0
    for t in range(T):
        error = w @ X1[t] - y[t]
        g = 2 * error * X2[t]
        gradients.append(g)
        total += g @ w
        row = slice(t, t + 1)
        learner.run(X1[row], X1[row], X2[row], y[row])
        w = learner.w.copy()
    squared_norms = np.square(gradients).sum()
    worst = -np.sum(gradients, axis=0)
    size = np.linalg.norm(worst)
    u = np.sqrt(B_w) * worst / size
    assert u @ u == pytest.approx(B_w)
    total += size * np.sqrt(B_w)
    bound = B_w / (2 * eta) + eta / 2 * squared_norms
    assert total <= bound * (1 + 1e-9)


def test_a_simulated_oracle_serves_all_learners_of_the_room():
    X, y, _, _, law = linear_sequence(50, 3)
    copies_of_learners = {"two_copy": 2, "known_covariance": 1, "naive_ogd": 1, "oracle_ogd": 1}
    for name, copies in copies_of_learners.items():
        oracle = SimulatedOracle(X, y, law, np.random.default_rng(0), target_sd=0.1)
        learner = method_class(name)(0.01)
        assert learner.predict(X[0]) == 0.0
        learner.fit(oracle)
        assert oracle.queries == 50 * copies
        assert oracle.target_queries == 50
        assert oracle.round == 50
        assert learner.predict(X).shape == (50,)


def test_no_copy_is_handed_out_twice_and_running_out_says_so():
    copies = np.arange(12.0).reshape(2, 3, 2)
    targets = [[1.0, 2.0], [3.0, 4.0]]
    oracle = ArrayOracle(copies, targets)
    for t, view in enumerate(oracle):
        instances = [view.instance() for _ in range(3)]
        assert_array_equal(instances, copies[t])
        assert [view.target(), view.target()] == targets[t]
        message = f"round {t + 1} has no further independent copy of its instance; measure it again"
        with pytest.raises(ValueError, match=message):
            view.instance()
        with pytest.raises(ValueError, match="no further independent copy of its target"):
            view.target()
    assert oracle.queries == 6
    assert oracle.target_queries == 4
    assert oracle.round == 2
    assert not oracle.next_round()


def test_any_iterator_is_an_oracle_and_is_read_one_round_at_a_time():
    rounds_read = []

    def stream():
        for t in range(3):
            rounds_read.append(t)
            yield np.full((t, 2), float(t)), float(t), np.eye(2)

    oracle = StreamOracle(stream(), exact_targets=True)
    with pytest.raises(ValueError, match=r"no round has begun; call next_round\(\)"):
        oracle.instance()
    assert oracle.next_round()
    assert rounds_read == [0]
    assert oracle.d == 2
    assert oracle.covariance()[0, 0] == 1.0
    assert [oracle.target() for _ in range(3)] == [0.0] * 3  # exact targets may be asked for again
    with pytest.raises(ValueError, match="no further independent copy"):
        oracle.instance()


def test_no_attribute_of_a_simulated_oracle_leads_to_the_clean_sequence():
    X, y, _, _, law = linear_sequence(20, 3)
    oracle = SimulatedOracle(X, y, law, np.random.default_rng(0))
    oracle.next_round()
    for value in [*vars(oracle).values(), *oracle._current()]:
        assert not isinstance(value, np.ndarray) or value.shape == (3, 3)  # the covariance
    instances = [oracle.instance() for _ in range(4000)]
    mean = np.mean(instances, axis=0)
    assert_allclose(mean, X[0], atol=0.05)


@pytest.mark.parametrize("shape", SHAPES)
def test_noise_has_the_covariance_it_says(shape):
    Sigma = np.array([[0.5, 0.2, 0.0], [0.2, 0.3, -0.1], [0.0, -0.1, 0.2]])
    law = FeatureNoise(covariance=Sigma, shapes=(shape,))
    assert_allclose(law.covariance(), Sigma, atol=1e-15)
    noise = law.draw(np.random.default_rng(0), 200_000)
    second_moments = noise.T @ noise / len(noise)
    assert_allclose(second_moments, Sigma, atol=0.01)
    assert_allclose(noise.mean(axis=0), 0, atol=0.01)


def test_shapes_take_turns_and_covariances_follow_the_rounds():
    law = FeatureNoise(variances=[4.0], shapes=("rademacher", "uniform"), cycle=10)
    noise = law.draw(np.random.default_rng(0), 40)[:, 0]
    distance_from_sign = np.abs(np.abs(noise) - 2.0)
    in_rounds_of_signs = np.arange(40) // 10 % 2 == 0
    assert_array_equal(distance_from_sign < 1e-12, in_rounds_of_signs)
    changing = FeatureNoise(variances=np.outer(np.arange(5.0), [1.0, 2.0]))
    assert_allclose(changing.covariance(3), np.diag([3.0, 6.0]))
    rounds = np.repeat(np.arange(5), 20_000)
    noise = changing.draw(np.random.default_rng(0), rounds)
    of_first_round = noise[rounds == 0]
    of_last_round = noise[rounds == 4]
    assert_allclose(of_first_round, 0)
    assert_allclose(of_last_round.var(axis=0), [4.0, 8.0], rtol=0.05)
    first_alone = np.diag([1.0, 0.0])
    both_equal = np.full((2, 2), 0.5)
    turning = FeatureNoise(covariance=np.stack([first_alone, both_equal]))
    rounds = np.repeat([0, 1], 1000)
    noise = turning.draw(np.random.default_rng(0), rounds)
    of_first_round = noise[rounds == 0]
    of_last_round = noise[rounds == 1]
    assert_allclose(of_first_round[:, 1], 0, atol=1e-12)
    assert_allclose(of_last_round[:, 0], of_last_round[:, 1], atol=1e-12)


def test_rotation_makes_noise_independent():
    Sigma = [[2.0, 1.0], [1.0, 2.0]]
    values, U = rotation(Sigma)
    assert_allclose(values, [1.0, 3.0])
    rotated_back = U * values @ U.T
    assert_allclose(rotated_back, Sigma, atol=1e-12)
    of_rank_1 = np.outer([1.0, 2.0, 3.0], [1.0, 2.0, 3.0])
    values, _ = rotation(of_rank_1)
    assert (values >= 0).all()
