"""What README and documentation quote is what the reference says."""

import csv
import json
import re
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "docs/_ext"))

import answers  # noqa: E402
from answers import COUNT, MEAN, filled  # noqa: E402

from reproduction.run import records  # noqa: E402

PAGES = answers.quoting_pages()


def path_in_checkout(page):
    return page.relative_to(ROOT).as_posix()


@pytest.fixture
def reference(tmp_path):
    rows = ["a_one,reproduced", "a_two,not_reproduced", "b_one,reproduced", "c,inconclusive"]
    folder = tmp_path / "paper/table"
    folder.mkdir(parents=True)
    (folder / "verdicts.csv").write_text("\n".join(["id,verdict", *rows]) + "\n", encoding="utf-8")
    return tmp_path


@pytest.mark.parametrize(
    ("mark", "number"),
    [
        ("reproduced: paper/table", 2),
        ("reproduced: paper/table/a", 1),
        ("reproduced: paper/table/a paper/table/b", 2),
        ("inconclusive: paper/table", 1),
        ("not_comparable: paper/table", 0),
        ("reproduced: paper", 2),
        ("reproduced: other", 7),
        ("reproduced: paper/other", 7),
        ("reproduced: paper/table paper/other", 7),
    ],
)
def test_a_number_is_that_of_the_tables_and_stays_without_them(reference, mark, number):
    text = filled(f"Of 12, <!-- count {mark} -->7 are so; 5 is not touched.", reference)
    assert text == f"Of 12, <!-- count {mark} -->{number} are so; 5 is not touched."


@pytest.mark.parametrize("file", PAGES, ids=path_in_checkout)
def test_marked_numbers_are_those_of_the_reference_run(file):
    text = file.read_text(encoding="utf-8")
    assert text == filled(text, ROOT / "results/reference"), "run: python src/scripts/generate.py"


@pytest.mark.parametrize(
    ("names", "minutes"),
    [("paper", 4), ("paper/one", 3), ("paper/one other/two", 13), ("paper/none", 7)],
)
def test_minutes_are_those_of_papers_or_results_and_stay_without_records(tmp_path, names, minutes):
    for result, cost in (("paper/one", 2.6), ("paper/two", 1.0), ("other/two", 10.4)):
        decides = {"asked": {}, "inputs": {}, "read": {}}
        informs = {"cost": {"minutes": cost}}
        records.write(tmp_path / result / "record.json", decides, [], informs)
    text = filled(f"It took <!-- minutes: {names} -->7 minutes.", tmp_path)
    assert text == f"It took <!-- minutes: {names} -->{minutes} minutes."


def test_distances_by_hand_and_none_without_their_verdicts(tmp_path):
    folder = tmp_path / "paper/table"
    folder.mkdir(parents=True)
    keys = {"noise": ["independent 0.1", "negative_only 0.1"], "method": "svm", "metric": "error"}
    rows = [
        ("published", "ida_heart", 0.5),
        ("published", "ida_flare_solar", -3),
        ("sentence", "ida_heart", 7),
    ]
    with (folder / "verdicts.csv").open("w", encoding="utf-8", newline="") as lines:
        writer = csv.writer(lines)
        writer.writerow(["kind", "where", "difference"])
        for kind, name, gap in rows:
            writer.writerow([kind, json.dumps({"dataset": name} | keys), gap])
    old = "<!-- distances: paper/table -->\nold\n<!-- end --> after"
    new = filled(old, tmp_path)
    row = "| svm | `table` | 10 | 2 | -1.2 | 1.8 | -3.0, flare solar |"
    assert f"{row}\n\n<!-- end --> after" in new
    assert "old" not in new
    assert filled(new, tmp_path) == new
    unrelated = old.replace("paper/table", "paper/other")
    assert filled(unrelated, tmp_path) == unrelated


@pytest.fixture
def summaries(tmp_path):
    folder = tmp_path / "paper/table"
    folder.mkdir(parents=True)
    rows = [
        "heart,none,,svm,error,1,9.5",
        "heart,none,,svm,error,15,7.25",
        "heart,none,,klr,error,,-0.04",
    ]
    (folder / "summary.csv").write_text(
        "\n".join(["dataset,noise,setting,method,metric,x,mean", *rows]) + "\n", encoding="utf-8"
    )
    return tmp_path


@pytest.mark.parametrize(
    ("mark", "number"),
    [
        ("paper/table: heart, none, svm -->1.0", "7.2"),
        ("paper/table: svm -->1", "7"),
        ("paper/table: klr, error -->7.21", "-0.04"),
        ("paper/other: svm -->7.21", "7.21"),
    ],
)
def test_a_mean_is_that_of_the_last_x_with_the_decimals_that_stand_there(summaries, mark, number):
    text = filled(f"It has <!-- mean {mark} points.", summaries)
    assert text == f"It has <!-- mean {mark.partition('-->')[0]}-->{number} points."


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("lda", "summary.csv: lda names no row; it must name one"),
        (
            "heart, none",
            "names 2 kinds of rows, such as heart, none, klr, error and heart, none, svm, error",
        ),
    ],
)
def test_a_mark_must_name_one_kind_of_rows(summaries, words, message):
    with pytest.raises(ValueError, match=message):
        filled(f"<!-- mean paper/table: {words} -->1.0", summaries)


def test_the_strict_form_decides_a_statement_and_the_weakest_artifact_a_repeated_one(tmp_path):
    rows = {"one": ["published,p,,reproduced,paper", "sentence,A,As,reproduced,paper"]}
    rows["one"] += ["sentence,As,,not_reproduced,paper", "sentence,B,,reproduced,paper"]
    rows["one"] += ["ours,C,,reproduced,ours", "published,q,,not_comparable,paper"]
    rows["two"] = ["sentence,B,,inconclusive,paper", "published,r,,not_reproduced,ours"]
    rows["two"] += ["sentence,D,,not_judged,paper"]
    for name, lines in rows.items():
        (tmp_path / "p" / name).mkdir(parents=True)
        table = "\n".join(
            [
                "artifact,kind,id,form_of,verdict,origin,flags,side",
                *(f"{name},{line},," for line in lines),
            ]
        )
        (tmp_path / f"p/{name}/verdicts.csv").write_text(table + "\n", encoding="utf-8")
        control = [
            "ours,reproduced,3,,,",
            "ours,reproduced,2,z,,",
            "neighbouring method,reproduced,3,,,",
            "neighbouring method,reproduced,2,z,,",
        ]
        table = "\n".join(["control,verdict,estimate,noise,method,status", *control])
        (tmp_path / f"p/{name}/agreement.csv").write_text(table + "\n", encoding="utf-8")
    marks = ("counts sentence", "counts pattern", "counts ours", "values")
    text = filled("|".join(f"<!-- {mark}: p -->x<!-- end -->" for mark in marks), tmp_path)
    assert "sentence: p -->0 | 0 | 1 | 1 | 1<!-- end -->" in text
    assert "pattern: p -->0 | 0 | 0 | 0 | 0<!-- end -->" in text
    assert "values: p -->1 / 0 / 0 | 3 / 0 / 0 | 3 / 0 / 0<!-- end -->" in text
    assert "<!-- counts ours: p -->1 | 0 | 0 | 0 | 0<!-- end -->" in text
    assert filled(text, tmp_path) == text


def test_every_mark_names_a_verdict_and_artifacts_and_is_followed_by_its_number():
    from reproduction.spec.verdict_words import VERDICTS

    text = "\n".join(file.read_text(encoding="utf-8") for file in PAGES)
    marks = list(COUNT.finditer(text))
    assert len(marks) == len(re.findall("(?<!`)<!-- count ", text)) > 0
    assert len(list(MEAN.finditer(text))) == len(re.findall("(?<!`)<!-- mean", text)) > 0
    # a comment that begins a line ends it
    assert not re.search("^<!-- (count|mean)", text, re.MULTILINE)
    for mark in marks:
        assert mark["verdict"] in VERDICTS
        for name in mark["tables"].split():
            paper, artifact, *_ = [*name.split("/"), "TITLE"]
            file = ROOT / f"src/papers/{paper}/{artifact}"
            assert file.is_file() or file.with_suffix(".yaml").is_file(), name


def test_the_claims_on_other_data_are_those_of_the_limitations():
    text = (ROOT / "docs/limitations.md").read_text(encoding="utf-8")
    listed = text.partition("flag `data_differ`")[2].partition("These have no flag")[0]
    flagged = set()
    for file in (ROOT / "results/reference").glob("*/*/verdicts.csv"):
        with file.open(newline="", encoding="utf-8") as lines:
            rows = list(csv.DictReader(lines))
        flagged |= {row["id"] for row in rows if "data_differ" in row["flags"].split()}
    assert set(re.findall(r"\b[A-Z]{2,3}-\d+[a-z]?\b", listed)) == flagged
