"""Claims for new points: the second verdict, its figures, where it is missing, damaged files."""

import json

import numpy as np
import pytest
from pools import drawn
from verdict_inputs import claim

from noisylabels.statistics import for_new_points, mean_se, pool_error, t_interval
from reproduction.judge.claims import VerdictError
from reproduction.judge.sentences import Sentences
from reproduction.judge.verdicts import judge_files
from reproduction.run import records
from reproduction.run.points import Points, Scored
from reproduction.run.results import read_table, write_rows

BEATS = {"statistic": "difference", "a": {"method": "wide"}, "b": {"method": "narrow"}}
BEATS |= {"where": {"metric": "error"}}
SETS = {"one": 1, "two": 2}
NOISE = ("independent 0.2", "independent 0.3")


def study(pools=SETS, noise=NOISE, J=40, **law):
    """Rows of two rules on the same splits of some pools, with their points; and their errors."""
    rows = []
    errors = {}
    rates = [float(label.split()[1]) for label in noise]
    for name, seed in pools.items():
        rng = np.random.default_rng(seed)
        test, wrong_of_noises = drawn(rng, J=J, flips=rates, **law)
        for label, wrong in zip(noise, wrong_of_noises, strict=True):
            errors[name, label] = test, wrong
            for method, of_method in zip(("wide", "narrow"), wrong, strict=True):
                columns = {"dataset": name, "source": "made", "noise": label, "method": method}
                for split in range(J):
                    columns["repetition"] = split
                    tested = np.flatnonzero(test[split])
                    scored = Scored(tested, of_method[split, tested], test.shape[1])
                    rows.append(columns | scored.row("error"))
                    rows.append(columns | {"metric": "width", "value": 1.0})
    return rows, errors


@pytest.fixture
def judged(tmp_path):
    """Judge a claim for each check, ``judged(rows, *checks)``, from files as a run leaves them."""

    def judged(rows, *checks, scale="full", before=lambda folder: None):
        points = Points()
        write_rows(points.take(rows), tmp_path / "table.csv")
        points.write(tmp_path / "points.npz")
        decides = {"asked": {}, "inputs": {}, "read": {}}
        files = [tmp_path / "table.csv", tmp_path / "points.npz"]
        records.write(tmp_path / "record.json", decides, files, {})
        claims = [claim(check, id=f"C{i}") for i, check in enumerate(checks)]
        (tmp_path / "artifact.yaml").write_text(json.dumps({"claims": claims}))
        before(tmp_path)
        return judge_files([tmp_path / "artifact.yaml"], [tmp_path / "table.csv"], scale)

    return judged


def by_hand(errors, pools, noise):
    """The estimate for new points of the mean over some pools and noise labels."""
    gaps_of_splits = []
    pool_errors = []
    for name in pools:
        gaps_of_points = []
        for label in noise:
            test, (a, b) = errors[name, label]
            gaps = np.where(test, 100.0 * (a.astype(float) - b), 0)
            gaps_of_splits.append(gaps.sum(axis=1) / test.sum(axis=1))
            gaps_of_points.append(gaps)
        tests = test.sum(axis=0)
        mean_gaps = np.mean(gaps_of_points, axis=0).sum(axis=0) / tests
        pool_errors.append(pool_error(mean_gaps, tests, len(tests)))
    return mean_se(np.mean(gaps_of_splits, axis=0)), pool_errors


def shown(row):
    """Estimate and interval for new points."""
    return [row[f"new_points_{key}"] for key in ("estimate", "low", "high")]


def test_the_figures_are_those_by_hand(judged):
    rows, errors = study()
    selector = {"metric": "error", "dataset": "one", "noise": NOISE[0]}
    row = judged(rows, BEATS | {"where": selector, "above": 0}).iloc[0]
    splits, (pool,) = by_hand(errors, ["one"], NOISE[:1])
    estimate = for_new_points(splits, pool)
    assert shown(row) == pytest.approx([estimate.mean, *t_interval(estimate)], rel=1e-9)
    assert row["estimate"] == pytest.approx(estimate.mean)


def test_noise_labels_share_the_points_and_pools_do_not(judged):
    rows, errors = study()
    selector = {"metric": "error", "dataset": list(SETS), "noise": list(NOISE)}
    row = judged(rows, BEATS | {"where": selector, "above": 0}).iloc[0]
    splits, (first_pool, second_pool) = by_hand(errors, SETS, NOISE)
    se_of_pools = np.hypot(first_pool.se, second_pool.se) / 2
    se = np.hypot(splits.se, se_of_pools)
    mean, low, high = shown(row)
    assert mean == pytest.approx(splits.mean, rel=1e-3)
    assert (high - low) / 2 == pytest.approx(se * 2.02, rel=0.02)  # 39 degrees of freedom


def test_what_is_reproduced_for_these_points_need_not_for_new_ones(judged):
    rows, errors = study({"one": 1}, NOISE[:1], J=200, N=60)
    splits, (pool,) = by_hand(errors, ["one"], NOISE[:1])
    close_value = splits.mean - 4 * splits.se
    far_value = splits.mean - 6 * pool.se
    check = BEATS | {"for_each": ["dataset", "noise"]}
    table = judged(
        rows,
        check | {"above": close_value},
        check | {"above": far_value},
        check | {"below": far_value},
    )
    assert table["verdict"].tolist() == ["reproduced", "reproduced", "not_reproduced"]
    assert table["new_points"].tolist() == ["inconclusive", "reproduced", "not_reproduced"]
    says = [Sentences().evidence(row) for row in table.to_dict("records")]
    is_inconclusive = ["for new points: inconclusive, p = " in sentence for sentence in says]
    assert is_inconclusive == [True, False, False]
    assert all("at dataset one, noise independent 0.2" in sentence for sentence in says)


def test_a_reduced_run_judges_nothing(judged):
    rows, _ = study({"one": 1})
    row = judged(rows, BEATS | {"for_each": ["noise"], "above": 0}, scale="smoke").iloc[0]
    assert row["verdict"] == "ran"
    assert row["new_points"] == "ran"
    assert np.isnan(row["new_points_p"])
    assert "; for new points: " in Sentences().evidence(row)
    assert "p = " not in Sentences().evidence(row)


@pytest.mark.parametrize(
    "check",
    [
        BEATS | {"statistic": "ratio", "below": 2},
        BEATS | {"where": {"metric": "width"}, "within": [-1, 1]},
        BEATS | {"of": "deviation", "below": 9},
        BEATS | {"rows": "every", "below": 99},
        BEATS | {"where": {"metric": ["error", "width"]}, "for_each": ["metric"], "below": 99},
        {"statistic": "value", "a": {"method": "wide"}, "where": {"metric": "error"}, "below": 99},
    ],
)
def test_it_is_not_offered_for_other_checks(judged, check):
    rows, _ = study({"one": 1}, NOISE[:1])
    row = judged(rows, check).iloc[0]
    assert row["verdict"] != ""
    assert row["new_points"] == ""
    assert "new points" not in Sentences().evidence(row)


def test_it_is_not_offered_on_points_that_were_not_tested_alike(judged):
    rows, _ = study({"one": 1}, NOISE[:1])
    tested_otherwise, _ = study({"one": 2}, NOISE[:1])
    mixed = [row for row in rows if row["method"] == "wide"]
    mixed += [row for row in tested_otherwise if row["method"] == "narrow"]
    assert judged(mixed, BEATS | {"below": 99})["new_points"].tolist() == [""]


def test_rules_that_no_point_tells_apart_are_not_shown_to_agree_elsewhere(judged):
    rows, _ = study({"one": 1}, NOISE[:1], inputs=(3, 3))
    row = judged(rows, BEATS | {"within": [-1, 1]}).iloc[0]
    assert row["verdict"] == "reproduced"
    assert row["new_points"] == "inconclusive"


def test_a_table_without_points_is_judged_as_before(judged):
    def remove_points(folder):
        (folder / "points.npz").unlink()

    rows, _ = study({"one": 1}, NOISE[:1])
    row = judged(rows, BEATS | {"below": 99}, before=remove_points).iloc[0]
    assert row["verdict"] == "reproduced"
    assert row["new_points"] == ""


@pytest.mark.parametrize("recorded", [True, False])
@pytest.mark.parametrize(
    "damage", [lambda whole: whole[:-9], lambda whole: b"", lambda whole: b"PK" + whole[3:]]
)
def test_damaged_points_are_named_in_one_line(judged, damage, recorded):
    def harm(folder):
        path = folder / "points.npz"
        path.write_bytes(damage(path.read_bytes()))
        if not recorded:
            (folder / "record.json").unlink()

    rows, _ = study({"one": 1}, NOISE[:1])
    message = r"points\.npz is not (the file that|a whole file)"
    with pytest.raises(VerdictError, match=message) as error:
        judged(rows, BEATS | {"below": 99}, before=harm)
    assert "\n" not in str(error.value)
    assert "run again" in str(error.value)


def test_the_table_keeps_no_points(judged, tmp_path):
    rows, _ = study({"one": 1}, NOISE[:1])
    judged(rows, BEATS | {"below": 99})
    assert "points" not in read_table(tmp_path / "table.csv").columns
