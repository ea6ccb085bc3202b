"""The experiments on noisy instances: facts they rest on, pairing, and the same rows for any shards."""

import numpy as np
import pytest
import yaml

from noisylabels.noise.features import FeatureNoise
from noisylabels.seeding import Seeds
from reproduction import artifact as artifacts
from reproduction.protocols.noisy_online import (
    analytic,
    angles,
    curves,
    identities,
    impossibility,
    kernel,
    kernel_tuned,
    lemma1,
    linear,
    linear_tuned,
    moments,
    noisy_scoring,
    parameter_p,
    queries,
)
from reproduction.protocols.noisy_online.kernel_tasks import pair_of, task_of
from reproduction.protocols.noisy_online.sequences import Clean
from reproduction.protocols.noisy_online.tasks import Copies
from reproduction.protocols.noisy_online.world import World

SEEDS = Seeds(1, "test")
ROOT = artifacts.Path(__file__).resolve().parents[2]
FOLDER = ROOT / "config/experiments/noisy_online"
PROTOCOLS = {
    "two_copies": linear_tuned,
    "known_covariance": linear,
    "diabetes_linear": linear,
    "surrogate_kernel": kernel_tuned,
    "diabetes_kernel": kernel,
    "radial_kernel": kernel,
    "impossibility": impossibility,
    "angle_lemma": angles,
    "query_counts": queries,
    "noisy_scoring": noisy_scoring,
    "parameter_p": parameter_p,
    "lemma1": lemma1,
    "losses_and_kernels": analytic,
    "fig1": curves,
    "identities": identities,
    "vacuous_bounds": moments,
}


def smoke(name):
    return artifacts.load(FOLDER / f"{name}.yaml", "smoke").settings


def values(rows, metric, **where):
    chosen = [r for r in rows if r["metric"] == metric and all(r.get(k) == v for k, v in where.items())]
    return [r["value"] for r in chosen]


@pytest.mark.parametrize("name", ["known_covariance", "radial_kernel", "impossibility", "noisy_scoring"])
def test_two_shards_give_the_rows_of_one(name):
    settings = smoke(name)
    if "surface" in settings:
        settings.pop("surface")
    protocol = PROTOCOLS[name]
    whole = protocol.run(settings, {}, SEEDS, range(2), {})
    parts = [protocol.run(settings, {}, SEEDS, range(i, i + 1), {}) for i in range(2)]
    assert sorted(map(str, whole)) == sorted(map(str, parts[0] + parts[1]))


@pytest.mark.parametrize("name", PROTOCOLS)
def test_an_artifact_names_its_protocol_and_explains_its_thresholds(name):
    content = yaml.safe_load((FOLDER / f"{name}.yaml").read_text())
    assert PROTOCOLS[name].__name__.endswith(content["protocol"])
    assert all(claim["id"].startswith("NO-") for claim in content.get("claims", []))


def world(spec, T=256, **changes):
    settings = smoke("known_covariance") | changes
    (_, task, seeds), *_ = linear.tasks(settings, {}, SEEDS)
    return World(settings | {"learners": {"it": spec}}, task, seeds, 0, T)


def test_the_moments_of_the_bounds_are_those_of_the_plan():
    G = world({"method": "two_copy", "step": "G1"}).gradients({"method": "two_copy"})
    assert np.isclose(G["two_copy"], 46.8, atol=0.05)
    assert np.isclose(G["known_covariance"], 70.7, atol=0.05)


def test_a_learner_told_nothing_is_the_naive_one():
    naive = {"method": "naive_ogd", "step": "agnostic"}
    told = {"method": "known_covariance", "step": "agnostic", "told": 0}
    place = world(naive)
    runs = [place.run(spec, place.step(spec)[0], 0.5) for spec in (naive, told)]
    assert np.array_equal(runs[0].predictions, runs[1].predictions)


def test_only_learners_that_a_theorem_covers_have_a_bound():
    place = world({"method": "naive_ogd", "step": "G1"})
    assert place.step({"method": "naive_ogd", "step": "G1"})[1] is None
    assert place.step({"method": "known_covariance", "step": "G2", "told": 0.5})[1] is None
    eta, bound = place.step({"method": "two_copy", "step": "G1"})
    assert np.isclose(bound, 1 / eta)  # B_w = 1 and the best step
    assert place.step({"method": "two_copy", "step": "G1"}, 2.0)[1] == pytest.approx(1.25 * bound)


def test_a_changing_covariance_never_exceeds_the_total():
    spec = {"method": "known_covariance", "step": "G2", "changing": True}
    noise = world(spec).noise(spec)
    assert noise.variances.shape == (256, 3)
    assert noise.total <= 1
    assert len(np.unique(noise.variances[:, 0])) == 256


def test_copies_have_their_own_noise_and_the_mean_is_that_of_the_first():
    clean = Clean(np.zeros((50, 2)), np.zeros(50))
    copies = Copies(clean, FeatureNoise(variances=np.ones(2)), SEEDS, 0, "T")
    assert not np.allclose(copies.copy(1), copies.copy(2))
    assert np.allclose(copies.mean(3), (copies.copy(1) + copies.copy(2) + copies.copy(3)) / 3)
    assert np.allclose(copies.mean(2), (copies.copy(1) + copies.copy(2)) / 2)


def test_predicted_limits_are_the_shrunk_target():
    rows = linear.run(smoke("known_covariance"), {}, SEEDS, range(1), {})
    for method, ratio in (("told 0", 0.5), ("told 0.5", 2 / 3), ("told 1", 1.0), ("told 1.5", 1 / 0.9)):
        assert values(rows, "weight_ratio_predicted", method=method)[0] == pytest.approx(ratio)
    assert values(rows, "regret_per_round_predicted", method="naive")[0] == pytest.approx(0.0675)


def test_the_rival_of_the_synthetic_task_has_the_norms_of_the_plan():
    settings = smoke("surrogate_kernel")
    pair = pair_of(settings["kernel"], 2, 0.25)
    rival = task_of(settings).rivals(pair)[""]
    assert rival.norm == pytest.approx(1.729, abs=5e-4)
    assert rival.surrogate_norm == pytest.approx(3.93, abs=5e-3)
    assert rival.angle_ball(pair) == pytest.approx(8.0)


def test_one_copy_plays_the_same_weights_in_both_worlds_bit_by_bit():
    rows = impossibility.run(smoke("impossibility"), {}, SEEDS, range(2), {})
    for method in impossibility.SINGLE:
        assert set(values(rows, "largest_difference", method=method)) == {0.0}
        assert min(values(rows, "regret_per_round", method=method, noise="worse")) > 0.3055
    assert min(values(rows, "largest_difference", method="two_copy")) > 0


def test_every_identity_of_the_table_holds_at_few_samples():
    rows = identities.run(
        smoke("identities") | {"samples": 20_000, "list_samples": 1500}, {}, SEEDS, range(1), {}
    )
    assert max(map(abs, values(rows, "z"))) < 4.5
    assert max(values(rows, "bound_ratio")) <= 1


def test_the_lemma_of_the_angle_is_tight():
    rows = angles.run(smoke("angle_lemma") | {"expansions": 60}, {}, SEEDS, range(2), {})
    assert 1 - 1e-6 < max(values(rows, "lemma8_ratio")) <= 1 + 1e-9


def test_the_fast_path_is_the_list_of_the_paper():
    settings = smoke("losses_and_kernels") | {"horizons": [1], "list_rounds": 40}
    settings["tasks"] = {name: settings["tasks"][name] for name in ("b", "h")}
    rows = analytic.run(settings, {}, SEEDS, range(1), {})
    assert max(values(rows, "fast_path_difference")) < 1e-10


def test_tuning_takes_a_factor_of_the_grid_at_every_horizon():
    settings = smoke("two_copies") | {"horizons": [64, 128]}
    chosen = linear_tuned.tune(settings, {}, SEEDS)["synthetic"]["naive_tuned"]
    assert set(chosen) == {"64", "128"}
    assert set(chosen.values()) <= set(settings["factors"])
