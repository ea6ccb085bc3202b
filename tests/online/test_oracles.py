"""An oracle hands out each copy once, counts, and hides what is clean."""

import numpy as np
import pytest
from sequences import linear_sequence

from noisylabels.noise.features import SHAPES, FeatureNoise, rotation
from noisylabels.online.oracles import ArrayOracle, SimulatedOracle, StreamOracle


def test_no_copy_is_handed_out_twice_and_running_out_says_so():
    copies = np.arange(12.0).reshape(2, 3, 2)
    oracle = ArrayOracle(copies, [[1.0, 2.0], [3.0, 4.0]])
    for t, view in enumerate(oracle):
        np.testing.assert_array_equal([view.instance() for _ in range(3)], copies[t])
        assert (view.target(), view.target()) == (1.0 + 2 * t, 2.0 + 2 * t)
        message = f"round {t + 1} has no further independent copy of its instance; measure it again"
        with pytest.raises(ValueError, match=message):
            view.instance()
        with pytest.raises(ValueError, match="no further independent copy of its target"):
            view.target()
    assert (oracle.queries, oracle.target_queries, oracle.round) == (6, 4, 2)
    assert not oracle.next_round()


def test_exact_targets_may_be_asked_again():
    oracle = ArrayOracle(np.ones((1, 1, 2)), [0.5], exact_targets=True)
    assert oracle.next_round()
    assert [oracle.target() for _ in range(3)] == [0.5] * 3


def test_any_iterator_is_an_oracle_and_is_read_one_round_at_a_time():
    read = []

    def stream():
        for t in range(3):
            read.append(t)
            yield np.full((t, 2), float(t)), float(t), np.eye(2)

    oracle = StreamOracle(stream())
    assert oracle.next_round()
    assert read == [0]
    assert (oracle.d, oracle.target(), oracle.covariance()[0, 0]) == (2, 0.0, 1.0)
    with pytest.raises(ValueError, match="no further independent copy"):
        oracle.instance()


def test_before_the_first_round_there_is_nothing():
    with pytest.raises(ValueError, match=r"no round has begun; call next_round\(\)"):
        ArrayOracle(np.ones((1, 1, 2)), [1.0]).instance()


def test_no_attribute_of_a_simulated_oracle_leads_to_the_clean_sequence():
    X, y, _, _, law = linear_sequence(20, 3)
    oracle = SimulatedOracle(X, y, law, np.random.default_rng(0))
    oracle.next_round()
    for value in [*vars(oracle).values(), *oracle._current()]:
        assert not isinstance(value, np.ndarray) or value.shape == (3, 3)  # the covariance
    np.testing.assert_allclose(np.mean([oracle.instance() for _ in range(4000)], axis=0), X[0], atol=0.05)


@pytest.mark.parametrize("shape", SHAPES)
def test_noise_has_the_covariance_it_says(shape):
    Sigma = np.array([[0.5, 0.2, 0.0], [0.2, 0.3, -0.1], [0.0, -0.1, 0.2]])
    law = FeatureNoise(covariance=Sigma, shapes=(shape,))
    noise = law.draw(np.random.default_rng(0), 200_000)
    np.testing.assert_allclose(noise.T @ noise / len(noise), Sigma, atol=0.01)
    np.testing.assert_allclose(noise.mean(axis=0), 0, atol=0.01)
    np.testing.assert_allclose(law.covariance(), Sigma, atol=1e-15)


def test_shapes_take_turns_and_covariances_follow_the_rounds():
    law = FeatureNoise(variances=[4.0], shapes=("rademacher", "uniform"), cycle=10)
    noise = law.draw(np.random.default_rng(0), 40)[:, 0]
    is_sign = np.abs(np.abs(noise) - 2.0) < 1e-12
    np.testing.assert_array_equal(is_sign, (np.arange(40) // 10) % 2 == 0)
    changing = FeatureNoise(variances=np.outer(np.arange(5.0), [1.0, 2.0]))
    np.testing.assert_allclose(changing.covariance(3), np.diag([3.0, 6.0]))
    noise = changing.draw(np.random.default_rng(0), np.repeat(np.arange(5), 20_000))
    np.testing.assert_allclose(noise[:20_000], 0)
    np.testing.assert_allclose(noise[80_000:].var(axis=0), [4.0, 8.0], rtol=0.05)
    turning = np.stack([np.diag([1.0, 0.0]), np.full((2, 2), 0.5)])
    noise = FeatureNoise(covariance=turning).draw(np.random.default_rng(0), np.repeat([0, 1], 1000))
    np.testing.assert_allclose(noise[:1000, 1], 0, atol=1e-12)
    np.testing.assert_allclose(noise[1000:, 0], noise[1000:, 1], atol=1e-12)


def test_rotation_makes_noise_independent():
    Sigma = np.array([[2.0, 1.0], [1.0, 2.0]])
    values, U = rotation(Sigma)
    np.testing.assert_allclose(values, [1.0, 3.0])
    np.testing.assert_allclose(U.T @ Sigma @ U, np.diag(values), atol=1e-12)
    values, _ = rotation(np.outer([1.0, 2.0, 3.0], [1.0, 2.0, 3.0]))
    assert (values >= 0).all()
