"""Numbers of verdicts in prose are those of the reference run."""

import re
from pathlib import Path

import pytest

from noisylabels.verdicts.counts import MARK, filled, page

ROOT = Path(__file__).resolve().parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]


@pytest.fixture
def reference(tmp_path):
    rows = ["a_one,inside", "a_two,outside", "b_one,inside", "c,not shown"]
    folder = tmp_path / "paper/table"
    folder.mkdir(parents=True)
    (folder / "verdicts.csv").write_text("\n".join(["id,verdict", *rows]) + "\n", encoding="utf-8")
    return tmp_path


@pytest.mark.parametrize(
    ("mark", "number"),
    [
        ("inside: paper/table", 2),
        ("inside: paper/table/a", 1),
        ("inside: paper/table/a paper/table/b", 2),
        ("not shown: paper/table", 1),
        ("undecided: paper/table", 0),
        ("inside: paper", 2),
        ("inside: other", 7),
        ("inside: paper/other", 7),
        ("inside: paper/table paper/other", 7),
    ],
)
def test_a_number_is_that_of_the_tables_and_stays_without_them(reference, mark, number):
    text = filled(f"Of 12, <!-- count {mark} -->7 are so; 5 is not touched.", reference)
    assert text == f"Of 12, <!-- count {mark} -->{number} are so; 5 is not touched."


def test_the_page_of_verdicts_is_that_of_the_reference_run():
    text = (ROOT / "docs/reference/verdicts.md").read_text(encoding="utf-8")
    assert text == page(ROOT / "results/reference"), "run: python src/scripts/counts.py"


@pytest.mark.parametrize("file", PAGES, ids=lambda file: file.stem)
def test_marked_numbers_are_those_of_the_reference_run(file):
    text = file.read_text(encoding="utf-8")
    assert text == filled(text, ROOT / "results/reference"), "run: python src/scripts/counts.py"


def test_every_mark_names_a_verdict_and_artifacts_and_is_followed_by_its_number():
    from noisylabels.verdicts.names import VERDICTS

    text = "\n".join(file.read_text(encoding="utf-8") for file in PAGES)
    marks = list(MARK.finditer(text))
    assert len(marks) == len(re.findall("(?<!`)<!-- count", text)) > 0
    assert not re.search("^<!-- count", text, re.MULTILINE), "a comment that begins a line ends a paragraph"
    for mark in marks:
        assert mark["verdict"] in VERDICTS
        for name in mark["tables"].split():
            paper, artifact, *_ = [*name.split("/"), "TITLE"]
            file = ROOT / f"config/experiments/{paper}/{artifact}"
            assert file.is_file() or file.with_suffix(".yaml").is_file(), name
