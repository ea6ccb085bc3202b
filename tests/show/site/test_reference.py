"""The reference: a true summary, made of finished results only, and it knows when it is old."""

import copy
import dataclasses
import itertools
import json
import lzma
import re
import shutil

import numpy as np
import pandas as pd
import pytest
from finished_runs import finish, plan_of, record_verdicts, write_record

from reproduction.judge import archived_run
from reproduction.judge import verdicts as judge
from reproduction.run.results import read_table, write_rows

NAME = "ors/fig2"


@pytest.fixture(scope="module")
def plan():
    return plan_of("full", ["ors"])


@pytest.fixture(scope="module")
def finished(plan, tmp_path_factory):
    """A finished full run of one artifact, kept as the reference, which no test changes."""
    folder = tmp_path_factory.mktemp("finished")
    finish(folder, plan, [NAME])
    archived_run.archive_result(plan, NAME, folder, folder)
    # The claims of the artifact need other rows than those of the finished run.
    (folder / "results/reference" / NAME / "table.csv.xz").unlink()
    return folder


@pytest.fixture
def full(finished, tmp_path):
    """A finished full run of one artifact, kept as the reference."""
    shutil.copytree(finished, tmp_path, dirs_exist_ok=True)
    return tmp_path


# The summary


def test_a_summary_has_the_moments_of_every_row_key(tmp_path):
    values = [3.0, 1.0, 2.0, 10.0]
    first_key = {"method": "a", "metric": "mse", "x": 5}
    rows = [first_key | {"repetition": r, "value": value} for r, value in enumerate(values)]
    rows.append({"method": "b", "metric": "error", "repetition": 0, "value": 7})
    write_rows(rows, tmp_path / "table.csv")
    first, second = archived_run.summarise(read_table(tmp_path / "table.csv")).to_dict("records")
    assert first["n"] == 4
    assert first["mean"] == 4.0
    assert first["median"] == 2.5
    assert first["se"] == pytest.approx(np.std(values, ddof=1) / 2)
    assert (first["q10"], first["q90"]) == pytest.approx((1.3, 7.9))
    assert second["n"] == 1
    assert second["mean"] == 7
    assert all(np.isnan(second[key]) for key in ("x", "se", "q10", "median", "q90"))


def test_a_written_summary_is_read_as_it_was(tmp_path):
    first_key = {"method": "a", "metric": "mse"}
    rows = []
    for x, repetition in itertools.product(range(4), range(6)):
        rows.append(first_key | {"x": x, "repetition": repetition, "value": (x + repetition) / 3})
    write_rows(rows, tmp_path / "table.csv")
    summary = archived_run.read_summary(tmp_path / "table.csv")
    first_file = tmp_path / "summary.csv"
    archived_run.write_summary(summary, first_file)
    written = archived_run.read_summary(first_file)
    labels = archived_run.SELECTOR[:-1]
    assert (summary[labels] == written[labels]).all().all()
    np.testing.assert_allclose(written["mean"], summary["mean"], rtol=1e-9)
    rounded = ["se", *archived_run.QUANTILES]
    np.testing.assert_allclose(written[rounded], summary[rounded], rtol=1e-3)
    second_file = tmp_path / "second.csv"
    archived_run.write_summary(written, second_file)
    assert second_file.read_bytes() == first_file.read_bytes()


# Made of finished results


def test_what_is_kept_is_what_a_page_needs_and_keeping_again_changes_nothing(full, plan):
    archived = archived_run.read_archived(NAME, full)
    verdicts = [row["verdict"] for row in archived.verdicts]
    assert verdicts[:3] == ["reproduced", "not_reproduced", "inconclusive"]
    assert archived.cost == {"minutes": 1.5, "mem_mb": 250, "jobs": 1}
    assert archived.drawn.name == "fig2.png"
    assert archived.thumbnail.stat().st_size < 20_000
    keys = {"commit", "processor", "seed", "table_sha256", "data", "made_from"}
    assert set(archived.provenance) >= keys
    files = [file for file in full.rglob("*") if "reference" in file.parts and file.is_file()]
    before = {file: file.read_bytes() for file in files}
    archived_run.archive_result(plan, NAME, full, full)
    after = {file: file.read_bytes() for file in files}
    assert after == before


def test_what_is_not_finished_is_not_kept(plan, tmp_path):
    message = r"ors/fig4: not finished; run \./run full ors_fig4"
    with pytest.raises(archived_run.NotFinished, match=message):
        archived_run.archive_result(plan, "ors/fig4", tmp_path, tmp_path)
    assert not (tmp_path / "results/reference").exists()


@pytest.mark.parametrize(
    ("file", "old", "new", "message"),
    [
        ("record.json", '"repetitions": 220', '"repetitions": 3', "other settings"),
        ("verdicts.csv", "ORS-1", "ORS-9", "is not the file"),
        ("table.csv", "mse,1,", "mse,2,", "is not the file"),
    ],
)
def test_results_changed_by_hand_are_not_kept(plan, tmp_path, file, old, new, message):
    finish(tmp_path, plan, [NAME])
    path = tmp_path / "results/full" / NAME / file
    before = path.read_text()
    path.write_text(before.replace(old, new, 1))
    assert path.read_text() != before
    with pytest.raises(ValueError, match=message):
        archived_run.archive_result(plan, NAME, tmp_path, tmp_path)


def test_verdicts_of_other_claims_are_not_kept(plan, tmp_path):
    finish(tmp_path, plan, [NAME])
    results = tmp_path / "results/full" / NAME
    verdicts = results / "verdicts.csv"
    verdicts.write_text(verdicts.read_text().replace("ORS-1", "ORS-9", 1))
    record_verdicts(results, tmp_path)
    with pytest.raises(archived_run.NotFinished, match="its verdicts are not"):
        archived_run.archive_result(plan, NAME, tmp_path, tmp_path)


@pytest.mark.parametrize("file", ["verdicts", "drawing"])
def test_what_has_no_record_is_not_kept(plan, tmp_path, file):
    finish(tmp_path, plan, [NAME])
    records = {
        "verdicts": tmp_path / "results/full" / NAME / "verdicts.record.json",
        "drawing": tmp_path / f"figures/full/{NAME}.record.json",
    }
    records[file].unlink()
    with pytest.raises(ValueError, match="has no record of what it was made from; run again"):
        archived_run.archive_result(plan, NAME, tmp_path, tmp_path)


@pytest.fixture(scope="module")
def archived_table(tmp_path_factory):
    """Make an archived run with the table and verdicts of its artifact; return what it claims."""
    root = tmp_path_factory.mktemp("tabled")
    plan = plan_of("full", ["ors"])
    check = {
        "statistic": "difference",
        "a": {"method": "ours"},
        "b": {"method": "theirs"},
        "where": {"metric": "error"},
        "below": 0,
    }
    claim = {"id": "c", "kind": "ours", "statement": "s", "checks": [check]}
    value = {"id": "v", "value": 10.0, "se": 0.1, "n": 10, "margin": 0.5, "reason": "r"}
    value["where"] = {"method": "ours", "metric": "error"}
    content = {"published": [value], "claims": [claim]}
    finish(root, plan, [NAME])
    table = root / "results/full" / NAME / "table.csv"
    noise = np.random.default_rng(0).normal(0, 0.1, 40)
    rows = []
    for method, mean in (("ours", 10.1), ("theirs", 10.4)):
        row = {"method": method, "metric": "error"}
        for repetition in range(40):
            number = mean + noise[repetition] + 0.01 * (repetition % 2)
            rows.append(row | {"repetition": repetition, "value": number})
    write_rows(rows, table)
    write_record(plan, NAME, [table, table.with_name("points.npz")])
    verdicts = judge.judge(content, read_table(table), "full")
    judge.write(judge.of_artifact(verdicts, *NAME.split("/")), table.with_name("verdicts.csv"))
    record_verdicts(table.parent, root)
    whole_content = plan.artifacts[NAME].content | content
    whole_content.pop("judged_from", None)
    plan.artifacts[NAME]._content = whole_content
    archived_run.archive_result(plan, NAME, root, root)
    return content, root


@pytest.fixture
def tabled(archived_table, tmp_path):
    """What an artifact claims, and a copy of the folder of its archived run."""
    content, root = archived_table
    shutil.copytree(root, tmp_path, dirs_exist_ok=True)
    return copy.deepcopy(content), tmp_path / "results/reference" / NAME


def test_other_words_margins_bounds_and_selectors_are_judged_from_what_is_kept(tabled):
    content, folder = tabled
    (value,), (claim,) = content["published"], content["claims"]
    assert archived_run.compare_verdicts(content, folder) == ([], [])
    other_bound = claim["checks"][0] | {"below": -9}
    margin = {"published": [value | {"margin": 0.15}]}
    method = {"published": [value | {"where": {"method": "theirs"}}]}
    bound = {"claims": [claim | {"checks": [other_bound]}]}
    words = {"claims": [claim | {"statement": "in other words"}]}
    for change, id_of_changed, verdicts in (
        (margin, "v", ["inconclusive", "reproduced"]),
        (method, "v", ["inconclusive", "reproduced"]),
        (bound, "c", ["reproduced", "not_reproduced"]),
        (words, "c", ["reproduced", "reproduced"]),
    ):
        judged = archived_run.judge_archived(content | change, folder).verdicts
        assert judged["verdict"].tolist() == verdicts
        changed = archived_run.compare_verdicts(content | change, folder)
        assert changed == ([id_of_changed], [])


def test_a_result_without_a_table_is_judged_by_the_one_that_it_draws(tabled, tmp_path):
    content, folder = tabled
    verdicts = archived_run.judge_archived(content, folder).verdicts
    drawing = tmp_path / "drawing"
    shutil.copytree(folder, drawing)
    (drawing / "table.csv.xz").unlink()
    judged = archived_run.judge_archived(content, drawing, computed=folder).verdicts
    pd.testing.assert_frame_equal(judged, verdicts)


def test_an_archived_run_is_judged_from_the_repetition_of_its_own_record(tabled):
    """A run on fresh seeds leaves the key out; one that was extended earlier keeps it."""
    content, folder = tabled
    verdicts = archived_run.judge_archived(content, folder).verdicts
    later = archived_run.judge_archived(content | {"judged_from": 30}, folder).verdicts
    pd.testing.assert_frame_equal(later, verdicts)
    file = folder / "record.json"
    record = json.loads(file.read_text(encoding="utf-8"))
    record["informs"]["judged_from"] = 30
    file.write_text(json.dumps(record), encoding="utf-8")
    assert set(archived_run.judge_archived(content, folder).verdicts["repetitions"]) == {10}
    assert set(verdicts["repetitions"]) == {40}


def test_a_large_table_is_kept_in_parts(tabled, monkeypatch):
    content, folder = tabled
    monkeypatch.setattr(archived_run, "LARGEST_FILE", 500)
    packed = (folder / "table.csv.xz").read_bytes()
    (folder / "table.csv.xz").unlink()
    archived_run.write_parts(folder, "table.csv", packed)
    assert len(list(folder.glob("table.csv.*.xz"))) > 1
    assert archived_run.compare_verdicts(content, folder) == ([], [])


def test_a_kept_table_that_was_changed_is_named(tabled):
    content, folder = tabled
    file = folder / "table.csv.xz"
    content_of_file = lzma.decompress(file.read_bytes())
    file.write_bytes(lzma.compress(content_of_file.replace(b"theirs", b"others")))
    message = r"table\.csv\.xz: not the file that its record\.json describes"
    with pytest.raises(ValueError, match=message):
        archived_run.judge_archived(content, folder)


def test_without_its_table_a_kept_verdict_waits_for_a_run_if_it_is_asked_something_else(tabled):
    content, folder = tabled
    (value,), (claim,) = content["published"], content["claims"]
    (folder / "table.csv.xz").unlink()
    assert archived_run.compare_verdicts(content, folder) == ([], [])
    words = content | {"claims": [claim | {"statement": "in other words"}]}
    assert archived_run.compare_verdicts(words, folder) == (["c"], [])
    other_value = value | {"margin": 0.15}
    other_claim = claim | {"theorem": True}
    asked_otherwise = {"published": [other_value], "claims": [other_claim]}
    assert archived_run.compare_verdicts(asked_otherwise, folder) == (["v", "c"], ["v", "c"])


def test_an_unknown_target_is_named_and_a_page_says_that_the_files_differed_from_the_commit(plan):
    with pytest.raises(ValueError, match="there is no target ors_fig99; did you mean ors_fig"):
        archived_run.select_results(plan, ["ors_fig99"])
    assert archived_run.select_results(plan, ["ors_fig2"]) == [NAME]
    assert archived_run.describe_commit({"commit": "0123456789abcdef+"}) == "0123456789ab + changes"
    assert archived_run.describe_commit({"commit": "0123456789abcdef"}) == "0123456789ab"


# When it is old


def test_it_is_old_with_other_settings_but_not_with_another_caption(full, plan):
    assert archived_run.find_outdated(plan, [NAME], full) == (
        ["the archived results are up to date with the files here"],
        False,
    )
    changed = plan_of("full", ["ors"])
    changed.artifacts[NAME].content["caption"] = "in other words"
    assert not archived_run.find_outdated(changed, [NAME], full)[1]
    changed.artifacts[NAME].as_written["repetitions"] = 99
    (line,), failed = archived_run.find_outdated(changed, [NAME], full)
    assert failed
    assert "other settings" in line
    assert "./run full ors_fig2 && ./run reference ors_fig2" in line


def test_other_claims_are_named_with_the_command_that_judges_them(full):
    changed = plan_of("full", ["ors"])
    changed.artifacts[NAME].content["claims"][0]["statement"] = "in other words"
    (line,), failed = archived_run.find_outdated(changed, [NAME], full)
    assert failed
    assert "ORS-1" in line
    assert "./run reference --judge ors_fig2" in line
    archived_run.judge_again(changed, [NAME], full)
    assert not archived_run.find_outdated(changed, [NAME], full)[1]


@pytest.mark.parametrize(
    ("read", "change"),
    [
        ({"noisylabels/filters/ors.py": "0" * 16}, "code noisylabels/filters/ors.py was edited"),
        ({"noisylabels/gone.py": "0" * 16}, "noisylabels/gone.py is not there any more"),
        ("unknown", "the code that made it was not recorded"),
    ],
)
def test_changed_code_is_reported_and_is_no_failure(full, plan, read, change):
    file = full / "results/reference" / NAME / "record.json"
    record = json.loads(file.read_text())
    record["decides"]["read"] = read
    file.write_text(json.dumps(record))
    (line,), failed = archived_run.find_outdated(plan, [NAME], full)
    assert not failed
    assert line.startswith("ors/fig2: made at commit ")
    assert line.endswith(f"; {change}")


# Another run next to it


@pytest.fixture
def second_run(plan, tmp_path_factory):
    """Another full run, its values shifted by ``offset``."""

    def run(offset, plan=plan):
        root = tmp_path_factory.mktemp("ours")
        finish(root, plan, [NAME], offset)
        return archived_run.read_run(plan, NAME, root), root

    return run


def test_a_drawing_of_an_earlier_kind_or_format_is_not_shown(plan, second_run):
    _, root = second_run(0.0)
    for suffix in ("html", "svg"):
        drawing = root / f"figures/full/{NAME}.{suffix}"
        drawing.write_text("of a table, or of a format no longer asked for")
    only_png = dataclasses.replace(plan, config=plan.config | {"formats": ["png"]})
    assert archived_run.read_run(only_png, NAME, root).drawn.suffix == ".png"


APART = r"a mean of \w+ differs most, by \S+ of its scale"


@pytest.mark.parametrize(
    ("offset", "state", "detail"),
    [
        (0.0, archived_run.EQUAL, ""),
        (1e-8, archived_run.ROUNDED, APART),
        (0.1, archived_run.JUDGED, APART),
    ],
)
def test_how_far_a_run_is_from_the_reference(full, second_run, offset, state, detail):
    archived = archived_run.read_archived(NAME, full)
    comparison = archived_run.compare_runs(second_run(offset)[0], archived)
    assert comparison.state == state
    assert re.fullmatch(detail, comparison.detail)


@pytest.mark.parametrize(
    ("theirs", "ours", "distance"),
    [
        ([1.0, 2.0, 3.0], [1.0, 2.0, 3.003], 1e-3),  # compared with itself where it is large
        ([2.0, 2.0, 2e-16], [2.0, 2.0, 9e-16], 0.0),  # a difference of equal numbers among others
        ([1e-16, 2e-16, 3e-16], [3e-16, 1e-16, 2e-16], 0.0),  # a metric that is rounding alone
        ([2.0, 2.0, 0.0], [2.0, 2.0, 0.02], 1e-2),  # a change of a small value is not rounding
        ([1e-3, 1e-3, 1e9], [1e-3, 1.01e-3, 1e9], 1e-2),  # one that diverges hides no other
    ],
)
def test_differences_are_measured_against_the_scale_of_the_metric(tmp_path, theirs, ours, distance):
    sides = []
    for number, means in enumerate((ours, theirs)):
        rows = []
        for metric, values in (("loss", means), ("other", [1e12] * 3)):
            for i, value in enumerate(values):
                row = {"method": f"m{i}", "repetition": 0, "metric": metric, "value": value}
                rows.append(row)
        table = tmp_path / f"{number}.csv"
        write_rows(rows, table)
        sides.append(archived_run.Run("full", table=table))
    measured, metric = archived_run.measure_distance(*sides)
    assert measured == pytest.approx(distance, rel=0.02, abs=archived_run.ROUNDING)
    assert metric == "loss"


def test_rows_in_another_order_are_no_difference(full, plan, second_run):
    _, root = second_run(0.0)
    table = root / "results/full" / NAME / "table.csv"
    header, *lines = table.read_text().splitlines()
    table.write_text("\n".join([header, *reversed(lines)]) + "\n")
    write_record(plan, NAME, [table, table.with_name("points.npz")])
    record_verdicts(table.parent, root)
    ours = archived_run.read_run(plan, NAME, root)
    comparison = archived_run.compare_runs(ours, archived_run.read_archived(NAME, full))
    assert comparison.state == archived_run.ROUNDED


def test_another_verdict_is_a_difference_and_reduced_runs_and_times_are_not_compared(
    full,
    second_run,
):
    archived = archived_run.read_archived(NAME, full)
    ours = second_run(0.0)[0]
    ours.verdicts[0]["verdict"] = "inconclusive"
    comparison = archived_run.compare_runs(ours, archived)
    assert comparison == (archived_run.DIFFERENT, "ORS-1: reproduced -> inconclusive")
    reduced = second_run(0.0, plan_of("smoke", ["ors"]))[0]
    assert archived_run.compare_runs(reduced, archived).state == archived_run.OTHER
    comparison = archived_run.compare_runs(second_run(3.0)[0], archived, is_timed=True)
    assert comparison == (archived_run.JUDGED, "measured times differ from run to run")


def test_the_report_says_what_differs_around_the_numbers(full, plan, second_run):
    root = second_run(0.0)[1]
    lines, differs = archived_run.report_differences(plan, root, full)
    assert not differs
    assert lines[0].split() == ["ors/fig2", "equal", "to", "the", "last", "digit"]
    assert "made in the same environment" in lines
    file = root / "results/full" / NAME / "record.json"
    record = json.loads(file.read_text())
    record["informs"] |= {"processor": "Another", "seed": 1}
    file.write_text(json.dumps(record))
    lines, _ = archived_run.report_differences(plan, root, full)
    causes = [line.split() for line in lines if line.startswith("  ")]
    assert [cause[0] for cause in causes] == ["seed:", "processor:"]
    assert causes[1][-5:] == ["->", "Another", "(in", "1", "result)"]
    table = file.with_name("table.csv")
    table.write_text(table.read_text() + "by hand\n")
    lines, differs = archived_run.report_differences(plan, root, full)
    assert differs
    for part in ("different", str(table), "run again"):
        assert part in lines[0]
