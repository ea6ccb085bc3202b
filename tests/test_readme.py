"""What the README shows is true."""

import contextlib
import io
import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def test_the_example_prints_what_its_comment_says():
    (code,) = re.findall(r"```python\n(.*?)```", README, re.S)
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
