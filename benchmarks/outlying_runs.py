"""How often a published value is judged wrongly, and rightly, where single runs get stuck.

Three rules are compared: none, the one before version 2.0 (a method with an outlying run needs 29
repetitions), and the test in two parts. A world has eight curves of one method; a run is stuck with
some probability and then lies some tolerances above the others. The tolerance is 1.
"""

import argparse
from itertools import product

import numpy as np
import pandas as pd

from noisylabels.statistics import Estimate, mean_se, outside, tost, welch
from reproduction.judge.claims import INDEX
from reproduction.judge.outlying_runs import compare_in_two_parts, find_outlying_runs

CURVES, LEVEL, SPREAD = 8, 0.05, 0.05
WHERE = ("every curve", "this curve", "other curves")
SHARES, DISTANCES = (0.01, 0.05, 0.1, 0.2), (0.3, 1.0, 3.0, 10.0)
THEIRS = Estimate(0.0, 0.01, np.inf)
TRUTHS = (0.0, 0.75, -0.75, 1.0, -1.0, 1.25, -1.25, 3.0, -3.0)
RULES = ("none", "before", "two parts")


def draw_world(rng, where, share, distance, n, truth):
    """Values of the curves, the first of which is judged; its expectation is ``truth``."""
    shares = np.zeros(CURVES)
    shares[0] = share if where != "other curves" else 0.0
    shares[1:] = share if where != "this curve" else 0.0
    levels = 3 * rng.standard_normal(CURVES)
    levels[0] = truth - shares[0] * distance
    stuck = rng.random((CURVES, n)) < shares[:, None]
    return levels[:, None] + SPREAD * rng.standard_normal((CURVES, n)) + distance * stuck


def judge_values(values):
    """Rule -> the p-values of within and outside the tolerance."""
    n = values.shape[1]
    frame = pd.DataFrame(dict.fromkeys(INDEX, "-"), index=range(values.size))
    frame = frame.assign(
        noise=np.repeat(np.arange(CURVES), n),
        repetition=np.tile(np.arange(n), CURVES),
        value=values.ravel(),
    )
    outlying = find_outlying_runs(frame)
    is_far = outlying.is_far.to_numpy()[:n]
    gap = welch(mean_se(values[0]), THEIRS)
    plain = tost(gap, -1, 1), outside(gap, -1, 1)
    any_far = outlying.is_far.any()
    two_parts = plain
    if any_far:
        two_parts = compare_in_two_parts(values[0], is_far, THEIRS, 1.0, outlying)
    return {"none": plain, "before": (1.0, 1.0) if any_far else plain, "two parts": two_parts}


def measure_rates(n, draws):
    """A row for each world and rule: the rates of both verdicts at the true differences."""
    rows = []
    for number, (where, share, distance) in enumerate(product(WHERE, SHARES, DISTANCES)):
        rates = {rule: {} for rule in RULES}
        for truth in TRUTHS:
            rng = np.random.default_rng([number, TRUTHS.index(truth)])
            counts = {rule: np.zeros(2) for rule in RULES}
            for _ in range(draws):
                found = judge_values(draw_world(rng, where, share, distance, n, truth))
                for rule, p_values in found.items():
                    counts[rule] += np.array(p_values) < LEVEL
            for rule, count in counts.items():
                rates[rule][f"reproduced at {truth:g}"] = count[0] / draws
                rates[rule][f"not at {truth:g}"] = count[1] / draws
        world = {"stuck in": where, "share": share, "distance": distance}
        rows += [world | {"rule": rule} | of_rule for rule, of_rule in rates.items()]
    return pd.DataFrame(rows)


def summarise(rates):
    """For each rule: worlds in which a wrong verdict is too frequent, and mean rates of right ones.

    Of two differences of opposite sign the worse one counts.
    """
    lines = []
    for rule, part in rates.groupby("rule", sort=False):
        line = {"rule": rule, "worlds": len(part)}
        wrong = (("reproduced", "1"), ("reproduced", "1.25"), ("not", "1"), ("not", "0.75"))
        for verdict, truth in wrong:
            worst = part[[f"{verdict} at {truth}", f"{verdict} at -{truth}"]].max(axis=1)
            line[f"{verdict} at {truth}: worlds above 6.5 %"] = int((worst > 0.065).sum())
        line["reproduced at 0: mean"] = round(part["reproduced at 0"].mean(), 2)
        line["not at 3: mean"] = round(part[["not at 3", "not at -3"]].min(axis=1).mean(), 2)
        lines.append(line)
    return pd.DataFrame(lines).set_index("rule").T


parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--repetitions", type=int, default=10)
parser.add_argument("--draws", type=int, default=400)

if __name__ == "__main__":
    given = parser.parse_args()
    print(summarise(measure_rates(given.repetitions, given.draws)).to_string())
