"""A part of the full scale: some data sets and repetitions, judged as that, in its own folder."""

import pytest
from finished_runs import CHECKOUT, finish

from reproduction.judge import archived_run
from reproduction.judge.verdicts import judge, judge_files
from reproduction.plan import plan as plans
from reproduction.run.results import read_table, write_rows
from reproduction.show.site import exports, sphinx_sources

ONLY = {"datasets": ["ida_heart", "ida_thyroid"], "repetitions": 2}
NAME = "kernel_boost/rivals"


def planned(selection, papers=("kernel_boost", "ors")):
    config = plans.configured(CHECKOUT, "full") | {"papers": list(papers), "only": selection}
    return plans.of_run(CHECKOUT, config, [])


def test_a_part_has_these_data_sets_and_repetitions_of_the_full_settings_and_folders_of_its_own():
    part = planned(ONLY)
    whole = planned({})
    settings = part.artifact(NAME).as_written
    full = whole.artifact(NAME).as_written
    assert settings == full | ONLY
    assert part.artifact(NAME).blocks == [(0, 2)]
    assert part.results == "results/part"
    assert whole.results == "results/full"
    assert planned({"repetitions": 10**6}).artifact(NAME).as_written == full
    assert "none of the data sets in `only`" in part.left_out["ors/fig2"]


@pytest.mark.parametrize(
    ("selection", "message"),
    [
        (
            {"datasets": ["ida_hart"]},
            "only.datasets: no artifact has the data set 'ida_hart'; did you mean",
        ),
        ({"repetition": 2}, "only: there is no key 'repetition'; did you mean repetitions"),
        ({"repetitions": 0}, "only.repetitions: should be greater than 0"),
    ],
)
def test_what_selects_nothing_is_refused(selection, message):
    with pytest.raises(ValueError, match=message):
        planned(selection)


def test_it_goes_with_no_reduced_scale():
    config = plans.configured(CHECKOUT, "smoke") | {"only": ONLY}
    with pytest.raises(ValueError, match="only: is a part of the full scale, not of smoke"):
        plans.of_run(CHECKOUT, config, [])


def test_what_is_there_is_judged_and_what_needs_the_rest_is_not(tmp_path):
    table = tmp_path / "table.csv"
    labels = {"noise": "independent 0.2", "method": "svm", "metric": "error"}
    rows = []
    for r in range(30):
        rows.append(labels | {"dataset": "ida_heart", "repetition": r, "value": 18 + 0.01 * r})
    write_rows(rows, table)
    common = {"value": 18, "margin": 2, "reason": "r"}
    entries = []
    for name in ("ida_heart", "ida_thyroid"):
        entries.append(common | {"id": name, "where": labels | {"dataset": name}})
    check = {"statistic": "value", "where": labels | {"dataset": "ida_thyroid"}, "below": 3}
    claim = {"id": "A-1", "kind": "ours", "statement": "s", "expected": "e", "checks": [check]}
    rows = judge({"published": entries, "claims": [claim]}, read_table(table), "part")
    assert list(rows["verdict"]) == ["reproduced", "not_judged", "not_judged"]
    assert rows["missing"].str.contains("no row has dataset = ida_thyroid").tolist() == [
        False,
        True,
        True,
    ]


def test_its_verdicts_and_its_page_say_part_and_no_total_has_them(tmp_path):
    part = planned(ONLY, ["kernel_boost"])
    finish(tmp_path, part, [NAME])
    file = part.artifact(NAME).file
    table = tmp_path / "results/part" / NAME / "table.csv"
    table.with_name("points.npz").unlink()
    assert set(judge_files([file], [table], "part")["part"]) == {"synthetic; repetitions: 5"}
    assert "part" not in judge_files([file], [table], "smoke")
    papers = sphinx_sources.write_sources(part, tmp_path)
    page = (tmp_path / "docs/results/kernel_boost_rivals.rst").read_text()
    assert "judged as such: datasets: ida\\_heart, ida\\_thyroid; repetitions: 2" in page
    assert "--config 'only={" in page
    front = (tmp_path / "docs/index.rst").read_text()
    assert "0 sentences of the papers and 0 published values" in front
    exports.write_verdicts(sphinx_sources.list_pages(papers), tmp_path)
    assert (tmp_path / "verdicts.json").read_text() == "[]\n"
    with pytest.raises(archived_run.NotFinished, match="not finished"):
        archived_run.archive_result(planned({}), NAME, tmp_path, tmp_path)
