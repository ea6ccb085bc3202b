"""The code of README and tutorials runs, and prints what the pages show."""

import contextlib
import io
import re

import pytest
from recipes import ROOT

PAGES = [ROOT / "README.md", *sorted((ROOT / "docs/tutorials").glob("*.md"))]
PAGES = [page for page in PAGES if "```python\nimport" in page.read_text(encoding="utf-8")]
BLOCKS = re.compile(r"^```python\n(.*?)^```$(?:\n\n^```text\n(.*?)^```$)?", re.MULTILINE | re.DOTALL)


def outputs(text):
    """(code, what the page shows, what the code prints) of every block, run one after the other."""
    names = {}
    for code, shown in BLOCKS.findall(text):
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(compile(code, "tutorial", "exec"), names)
        yield code, shown, printed.getvalue()


def test_the_readme_and_six_lessons_have_code():
    assert len(PAGES) == 7


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_a_lesson_prints_what_it_shows(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for code, shown, printed in outputs(page.read_text(encoding="utf-8")):
        assert printed == shown, code
