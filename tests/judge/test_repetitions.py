"""The numbers of repetitions that were set by power decide the claims they were set for."""

import io
import json
import lzma

import numpy as np
import pytest
from project import ROOT
from scipy.special import stdtr

from reproduction.judge.estimates import Bound, Source, by_repetition, cells_of, grouped
from reproduction.run.results import read_table
from reproduction.spec.strict_yaml import read

ALPHA = 0.05
RUNS = 1000
"""Runs that are drawn from the archived repetitions, with replacement."""
SIZED_BY_POWER = ("noisy_online/diabetes_kernel",)
"""Results whose archived run is the one that set the size of the next."""


def read_cells(name, claims):
    """Values of each cell of each claim, in units in which the bound is "below 0".

    Only the repetitions that the archived run was judged by.
    """
    folder = ROOT / "results/reference" / name
    table = read_table(io.BytesIO(lzma.decompress((folder / "table.csv.xz").read_bytes())))
    informs = json.loads((folder / "record.json").read_text(encoding="utf-8"))["informs"]
    judged = table[table["repetition"] >= (informs.get("judged_from") or 0)]
    source = Source.from_table(judged)
    cells = {}
    for claim in claims:
        of_claim = []
        for check in claim["checks"]:
            bound = Bound.from_check(check)
            assert bound.kind in ("below", "above")
            assert "at_least" not in check
            for _, group in grouped(source, check)[1]:
                for _, rows in cells_of(group, check):
                    values, _ = by_repetition(rows)
                    distance = bound.low - values if bound.kind == "above" else values - bound.high
                    of_claim.append(distance)
        cells[claim["id"]] = np.array(of_claim)
    return cells


def decide(values, repetitions, family, rng):
    """Shares of the drawn runs in which a claim is confirmed, and in which it is refuted.

    By Bonferroni's correction over the claims, which is stricter than Holm's.
    """
    size = values.shape[1]
    confirmed = 0
    refuted = 0
    for _ in range(RUNS):
        sample = values[:, rng.integers(0, size, repetitions)]
        se = sample.std(axis=1, ddof=1) / np.sqrt(repetitions)
        p_below = stdtr(repetitions - 1, sample.mean(axis=1) / se)
        confirmed += p_below.max() < ALPHA / family
        refuted += len(values) * (1 - p_below).min() < ALPHA / family
    return confirmed / RUNS, refuted / RUNS


@pytest.mark.parametrize("name", SIZED_BY_POWER)
def test_the_declared_repetitions_decide_each_claim_with_a_power_of_95_percent(name):
    artifact = read(ROOT / f"src/papers/{name}.yaml")
    claims = artifact["claims"]
    repetitions = artifact["settings"]["repetitions"]
    rng = np.random.default_rng(0)
    powers = {}
    for claim, values in read_cells(name, claims).items():
        powers[claim] = max(decide(values, repetitions, len(claims), rng))
    print(name, repetitions, powers)
    assert min(powers.values()) >= 0.95


@pytest.mark.parametrize("effect", [0.0, 0.6])
def test_a_claim_at_its_bound_is_decided_in_five_percent_of_the_runs_at_most(effect):
    """Of two cells one is at the bound: the claim that all are below it is wrong."""
    rng = np.random.default_rng(1)
    values = rng.standard_normal((2, 5000))
    values -= values.mean(axis=1, keepdims=True)
    values[1] -= effect
    confirmed, _ = decide(values, 40, 1, rng)
    assert confirmed <= ALPHA + 3 * np.sqrt(ALPHA / RUNS)
