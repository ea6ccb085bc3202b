"""Printed values: a CSV file and one rule for the margin become what `judge` takes."""

from pathlib import Path

import pytest
import yaml

from reproduction.judge.claims import read_published

ROOT = Path(__file__).resolve().parents[2]
FILES = sorted(ROOT.glob("src/papers/*/*.published.csv"))
RULE = {"margin": 0.5, "reason": "half a point"}
LINES = """id,dataset,noise,method,x,value,sd,n
one,a,flips 0.1|flips 0.2,ours,last,12.80,2.10,100
two,b,flips 0.1,theirs,3,2.15,,
"""


def read(tmp_path, lines=LINES, **changes):
    artifact = tmp_path / "t.yaml"
    artifact.with_suffix(".published.csv").write_text(lines, encoding="utf-8")
    return read_published(artifact, RULE | changes)


def test_a_row_becomes_a_selector_a_number_and_the_rule(tmp_path):
    first, second = read(tmp_path)
    assert first == {
        "id": "one",
        "value": 12.8,
        "sd": 2.1,
        "n": 100,
        "where": {
            "dataset": "a",
            "noise": ["flips 0.1", "flips 0.2"],
            "method": "ours",
            "x": "last",
        },
        "margin": 0.5,
        "reason": "half a point",
    }
    assert second["where"] == {"dataset": "b", "noise": "flips 0.1", "method": "theirs", "x": 3}
    assert not {"sd", "n"} & set(second)


@pytest.mark.parametrize(
    ("margin", "expected"),
    [
        (0.5, [0.5, 0.5]),
        ({"share": 0.1}, [1.28, 0.21]),
        ({"share": 0.1, "at_least": 0.5}, [1.28, 0.5]),
    ],
)
def test_a_margin_is_a_number_or_a_share_with_the_places_of_the_print(tmp_path, margin, expected):
    assert [entry["margin"] for entry in read(tmp_path, margin=margin)] == expected


def test_an_exception_changes_the_rows_that_it_names(tmp_path):
    exceptions = [
        {"where": {"method": "theirs"}, "margin": 2},
        {"where": {"id": "two"}, "not_comparable": "why"},
    ]
    first, second = read(tmp_path, exceptions=exceptions)
    assert first["margin"] == 0.5
    assert second["margin"] == 2
    assert second["reason"] == "half a point"
    assert "not_comparable" not in first
    assert second["not_comparable"] == "why"


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("dataset,", "datset,", r"t\.published\.csv: column 'datset'; the columns are id, dataset"),
        ("sd,n\n", "sd,sd\n", "column 'sd'.* each at most once"),
        ("id,", "x,", "column 'x'.* each at most once"),
        ("value,", "se,", "the column 'value' is missing"),
        ("two,", "one,", "line 3: id 'one' is empty, or that of .*line 2"),
        ("2.15,,", "2.15,", "line 3: not as many cells as columns"),
        ("2.15", "2,15", "line 3: not as many cells as columns"),
        ("2.15", "2.1s", "line 3: value: '2.1s' is not a number"),
        ("2.15", "", "line 3: value: this key is required|line 3: margin"),
        ("2.15", "inf", "line 3: value: should be a finite number, got inf"),
        ("100", "1", "line 2: n: should be greater than or equal to 2, got 1"),
        ("2.10,100", "2.10,", "line 2: sd needs n, and excludes se; give sd and n, or se alone"),
        ("b,flips 0.1,theirs,3", ",,,", "line 3: where: name at least one of"),
        ("theirs,3", "theirs,end", "line 3: x: 'end' is not a number"),
    ],
)
def test_a_mistake_is_named_with_its_line(tmp_path, old, new, message):
    assert old in LINES
    with pytest.raises(ValueError, match=message):
        read(tmp_path, LINES.replace(old, new, 1))


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(ValueError, match=r"belong in .*t\.published\.csv, which does not exist"):
        read_published(tmp_path / "t.yaml", RULE)


def test_an_exception_for_no_row_is_named(tmp_path):
    with pytest.raises(ValueError, match=r"exceptions: no published value has .*other"):
        read(tmp_path, exceptions=[{"where": {"method": "other"}, "margin": 1}])


PUBLISHED_FILES = sorted(ROOT.glob("src/papers/*/*.published.csv"))


@pytest.mark.parametrize("file", PUBLISHED_FILES, ids=lambda file: file.name)
def test_every_file_of_printed_values_belongs_to_an_artifact_that_reads_it(file):
    artifact = file.with_name(file.name.replace(".published.csv", ".yaml"))
    content = yaml.safe_load(artifact.read_text(encoding="utf-8"))
    entries = read_published(artifact, content["published"])
    assert len(entries) == len(file.read_text(encoding="utf-8").splitlines()) - 1
