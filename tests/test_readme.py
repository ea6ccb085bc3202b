"""What the README shows is true."""

import contextlib
import io
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("code", re.findall(r"```python\n(.*?)```", README, re.S))
def test_the_examples_print_what_their_comments_say(code):
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(code, "README.md", "exec"), {})
    said = re.search(r"# (\S+) against (\S+)", code)
    assert said is not None
    assert [f"{float(value):.2f}" for value in printed.getvalue().split()] == list(said.groups())


def test_every_linked_file_exists():
    for page in [ROOT / "README.md", ROOT / "config/README.md", *ROOT.glob("docs/**/*.md")]:
        text = page.read_text(encoding="utf-8")
        for link in re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", text):
            assert link.startswith("http") or (page.parent / link).exists(), f"{page}: {link}"
