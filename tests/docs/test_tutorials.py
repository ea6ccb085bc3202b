"""The code of README and tutorials runs, and prints what the pages show."""

import contextlib
import io
import re

import pytest
from recipes import ROOT

PAGES = [ROOT / "README.md", *sorted((ROOT / "docs/tutorials").glob("*.md"))]
PAGES = [page for page in PAGES if "```python\nimport" in page.read_text(encoding="utf-8")]
BLOCKS = re.compile(
    r"^```python\n(.*?)^```$(?:\n\n^```text\n(.*?)^```$)?",
    re.MULTILINE | re.DOTALL,
)


def outputs(text):
    """(code, what the page shows, what the code prints) of every block, run one after the other."""
    names = {}
    for code, shown in BLOCKS.findall(text):
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(compile(code, "tutorial", "exec"), names)
        yield code, shown, printed.getvalue()


CHECKS = re.compile(r"<!-- check: (.*?) -->")
"""What a sentence says about numbers, as an expression; ``out[k]`` has those of output k."""
COMPARISONS = re.compile(
    r"\b(covers?|is close|(is|are) too (low|high|small)|helps|just above|just below)\b",
)
NUMBER = re.compile(r"(?<![\w.])-?[0-9]+(?:\.[0-9]*)?")


def numbers_shown(text):
    """List the numbers of every output that the page shows."""
    outputs = []
    for _, shown in BLOCKS.findall(text):
        if shown:
            outputs.append([float(number) for number in NUMBER.findall(shown)])
    return outputs


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_what_a_page_says_about_its_numbers_is_true(page):
    text = page.read_text(encoding="utf-8")
    out = numbers_shown(text)
    for check in CHECKS.findall(text):
        assert eval(check, {"out": out}), check


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_a_sentence_that_compares_numbers_has_a_check(page):
    text = page.read_text(encoding="utf-8")
    prose = re.sub(r"```.*?```|<!-- answer: .*?<!-- end -->", "", text, flags=re.DOTALL)
    for paragraph in prose.split("\n\n"):
        followed = prose[prose.index(paragraph) :][: len(paragraph) + 80]
        if COMPARISONS.search(paragraph) and re.search(r"\d", paragraph):
            assert CHECKS.search(followed), f"add <!-- check: ... --> to: {paragraph}"


def test_the_readme_and_six_lessons_have_code():
    assert len(PAGES) == 7


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_a_lesson_prints_what_it_shows(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for code, shown, printed in outputs(page.read_text(encoding="utf-8")):
        assert printed == shown, code
