"""Entries of artifacts and small tables to judge them on."""

from pathlib import Path

import numpy as np
from synthetic_tables import curve, table

from reproduction.judge.verdicts import judge

ROOT = Path(__file__).resolve().parents[2]
MARGIN = 0.5


def printed(**changes):
    entry = {
        "id": "v",
        "value": 10.0,
        "where": {"method": "ours", "metric": "error"},
        "margin": MARGIN,
        "reason": "half a point",
    }
    return entry | changes


def claim(*checks, **changes):
    return {"id": "c", "kind": "ours", "statement": "as said", "checks": list(checks)} | changes


def difference_check(**changes):
    check = {
        "statistic": "difference",
        "a": {"method": "ours"},
        "b": {"method": "theirs"},
        "below": 0,
    }
    return {key: value for key, value in (check | changes).items() if value is not None}


def one_verdict(entry, frame, scale="full"):
    kind = "claims" if "checks" in entry else "published"
    return judge({kind: [entry]}, frame, scale).iloc[0]


def around(mean, sd=0.3, n=30, seed=0):
    """n values whose mean and standard deviation are exactly as asked."""
    z = np.random.default_rng(seed).standard_normal(n)
    return mean + sd * (z - z.mean()) / z.std(ddof=1)


def two_methods(rng, gap, n=10):
    common = 5 * rng.standard_normal(n)
    return table(
        curve(common + 0.1 * rng.standard_normal(n), method="ours"),
        curve(common + gap + 0.1 * rng.standard_normal(n), method="theirs"),
    )


def everything(rng):
    frame = two_methods(rng, 0.5)
    return {
        "published": [printed(value=float(frame.loc[frame["method"] == "ours", "value"].mean()))],
        "claims": [claim(difference_check())],
    }, frame
