"""An extended run is judged by the repetitions that nobody had looked at."""

import csv
import io
import subprocess
from itertools import product

import numpy as np
import pandas as pd
import pytest
from project import ROOT
from synthetic_tables import curve, table
from verdict_inputs import claim, difference_check

from reproduction.judge.archived_run import read_summary, summarise
from reproduction.judge.claims import BOUNDS
from reproduction.judge.verdicts import judge
from reproduction.spec.strict_yaml import read


def test_every_claim_of_a_paper_has_its_history_recorded():
    """Run python -P src/scripts/claim_history.py after a claim was added."""
    with (ROOT / "workflow/recorded/claims.csv").open(encoding="utf-8", newline="") as lines:
        recorded = {(row["artifact"], row["claim"]) for row in csv.DictReader(lines)}
    written = set()
    for file in (ROOT / "src/papers").glob("[a-z]*/*.yaml"):
        name = f"{file.parent.name}/{file.stem}"
        written.update((name, entry["id"]) for entry in read(file).get("claims", []))
    assert written == recorded


def test_every_bound_of_a_claim_has_a_reason():
    """A bound of 0 is the sign of a difference; any other number or count is somebody's choice."""
    without_reason = []
    for file in (ROOT / "src/papers").glob("[a-z]*/*.yaml"):
        for entry in read(file).get("claims", []):
            keys = [*BOUNDS[:3], "at_least"]
            bounds = [check.get(key, 0) for check, key in product(entry["checks"], keys)]
            has_bound = any(bounds)
            if has_bound and "reason" not in entry:
                without_reason.append(f"{file.stem} {entry['id']}")
    assert without_reason == []


def run_git(*words):
    done = subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True)
    return done.stdout


def test_only_the_new_repetitions_are_judged():
    rng = np.random.default_rng(0)
    first = np.append(np.full(10, 5.0), np.full(10, 10.0)) + 0.1 * rng.standard_normal(20)
    frame = pd.concat([table(curve(first)), table(curve(np.full(20, 9.0), method="theirs"))])
    whole = judge({"claims": [claim(difference_check())]}, frame, "full").iloc[0]
    new = judge({"claims": [claim(difference_check())], "judged_from": 10}, frame, "full").iloc[0]
    assert whole["verdict"] == "reproduced"
    assert whole["repetitions"] == 20
    assert new["verdict"] == "not_reproduced"
    assert new["repetitions"] == 10
    content = {"claims": [claim(difference_check())], "judged_from": 10}
    reduced = judge(content, frame, "smoke").iloc[0]
    assert reduced["verdict"] == "ran"
    assert reduced["repetitions"] == 20


def earlier_summaries(name):
    """Every earlier version of the summary of an artifact, oldest first."""
    path = f"results/reference/{name}/summary.csv"
    for commit in run_git("log", "--reverse", "--format=%H", "--", path).split():
        text = run_git("show", f"{commit}:{path}")
        if text.startswith("dataset,") and ",n,mean," in text.partition("\n")[0]:
            yield list(csv.DictReader(io.StringIO(text)))


@pytest.mark.nightly
@pytest.mark.parametrize(
    "name",
    [
        "ors/fig2",
        "noisy_online/losses_and_kernels",
        "kernel_boost/kernel_count",
    ],
)
def test_a_run_that_grew_is_judged_from_where_the_last_one_ended(name):
    """The repetitions of a shorter archived run have been looked at, if the run was extended."""
    now = read_summary(ROOT / "results/reference" / name / "summary.csv")
    largest = int(now["n"].max())
    shorter = [int(rows[0]["n"]) for rows in earlier_summaries(name) if int(rows[0]["n"]) < largest]
    if not shorter:
        pytest.skip("the history has no shorter run")
    artifact = read(ROOT / f"src/papers/{name}.yaml")
    assert artifact["judged_from"] >= max(shorter)


@pytest.mark.parametrize(
    "name",
    [
        "noisy_online/diabetes_kernel",
        "robust_sgd/optimiser_or_loss",
        "robust_sgd/far_outliers",
    ],
)
def test_a_run_all_of_which_is_judged_after_an_extended_one_draws_under_another_name(name):
    """Else its first repetitions would be those that had been looked at."""
    artifact = read(ROOT / f"src/papers/{name}.yaml")
    assert "judged_from" not in artifact
    names = set()
    for file in (ROOT / "src/papers").glob("[a-z]*/*.yaml"):
        other_name = f"{file.parent.name}/{file.stem}"
        if other_name != name:
            names.add(read(file).get("settings", {}).get("experiment"))
    names |= {name, "robust-sgd"}  # the name under which the extended runs drew
    assert artifact["settings"]["experiment"] not in names


def test_equal_repetitions_have_no_standard_error_at_all():
    """The mean of equal numbers can differ from them in the last digit."""
    values = np.random.default_rng(0).random(50) * 1e5
    curves = [curve([value] * 7, setting=f"s{number}") for number, value in enumerate(values)]
    assert (summarise(table(*curves))["se"] == 0).all()
