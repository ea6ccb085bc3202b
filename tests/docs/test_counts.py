"""Numbers of verdicts in prose are those of the reference run."""

import re
from pathlib import Path

import pytest

from noisylabels.verdicts.counts import MARK, filled

ROOT = Path(__file__).resolve().parents[2]
PAGES = sorted((ROOT / "docs").rglob("*.md"))


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
        ("inside: paper/other", 7),
        ("inside: paper/table paper/other", 7),
    ],
)
def test_a_number_is_that_of_the_tables_and_stays_without_them(reference, mark, number):
    text = filled(f"Of 12, <!-- count {mark} -->7 are so; 5 is not touched.", reference)
    assert text == f"Of 12, <!-- count {mark} -->{number} are so; 5 is not touched."


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_marked_numbers_are_those_of_the_reference_run(page):
    text = page.read_text(encoding="utf-8")
    assert text == filled(text, ROOT / "results/reference"), "run: python src/scripts/counts.py"


def test_every_mark_names_a_verdict_and_artifacts_and_is_followed_by_its_number():
    from noisylabels.verdicts.names import VERDICTS

    text = "\n".join(page.read_text(encoding="utf-8") for page in PAGES)
    marks = list(MARK.finditer(text))
    assert len(marks) == len(re.findall("(?<!`)<!-- count", text)) > 0
    assert not re.search("^<!-- count", text, re.MULTILINE), "a comment that begins a line ends a paragraph"
    for mark in marks:
        assert mark["verdict"] in VERDICTS
        for name in mark["tables"].split():
            paper, artifact, *_ = name.split("/")
            assert (ROOT / f"config/experiments/{paper}/{artifact}.yaml").is_file(), name
