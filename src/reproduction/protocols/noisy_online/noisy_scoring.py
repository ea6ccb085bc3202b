"""Another regret: the learner scored on noisy inputs against the best clean predictor. It cannot be small.

x_t = w*/||w*||, y_t = ||w*||, isotropic noise of variance v: even w known, the best fixed vector loses
||w*||^2 v / (1 + v) per round (Appendix A of the paper; the example is ours).
"""

from typing import Any

import numpy as np

from noisylabels.online.linear import TwoCopy
from noisylabels.seeding import Seeds
from noisylabels.theory import regret_bounds
from noisylabels.theory.regret_bounds import scored_on_noise
from reproduction.protocols.noisy_online.regret import Row
from reproduction.protocols.noisy_online.sequences import target


def run(
    settings: dict[str, Any], data: dict[str, Any], seeds: Seeds, repetitions: range, tuned: dict[str, Any]
) -> list[Row]:
    """Rows; x = v, setting = noisy or clean inputs: mean loss of the best fixed vector, w*, Algorithm 1."""
    w, T = target(settings["direction"], settings["length"]), settings["rounds"]
    length, d, rows = settings["length"], len(settings["direction"]), []
    clean, y = np.tile(w / length, (T, 1)), np.full(T, length)
    for repetition in repetitions:
        for v in settings["variances"]:
            rng = seeds.generator(repetition, f"copies {v:g}")
            X1, X2 = (clean + np.sqrt(v) * rng.standard_normal((T, d)) for _ in range(2))
            G = regret_bounds.two_copy_moment(1.0, 1 + d * v, length**2)
            learner = TwoCopy(regret_bounds.best_step(1.0, G, T), 1.0)
            played = {
                "two_copy": {
                    "noisy": learner.run(X1, X1.copy(), X2, y).predictions,
                    "clean": TwoCopy(learner.eta, 1.0).run(clean, X1, X2, y).predictions,
                },
                "target": {"noisy": X1 @ w, "clean": clean @ w},
                "best_fixed": {"noisy": X1 @ w / (1 + v), "clean": clean @ w / (1 + v)},
            }
            floor = scored_on_noise(w, v)
            for method, guesses in played.items():
                for setting, guess in guesses.items():
                    loss = float(((guess - y) ** 2).mean())
                    at = {"method": method, "setting": setting, "repetition": repetition, "x": v}
                    rows.append(at | {"metric": "mean_loss", "value": loss})
                    if setting == "noisy":
                        rows.append(at | {"metric": "floor_ratio", "value": loss / floor})
            rows.append(
                {"method": "floor", "repetition": repetition, "x": v, "metric": "mean_loss", "value": floor}
            )
    return rows
