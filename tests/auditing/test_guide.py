"""The example of the guide runs, and finds what the guide says."""

import contextlib
import io
import re
from pathlib import Path

GUIDE = (Path(__file__).resolve().parents[2] / "docs/audit.md").read_text(encoding="utf-8")


def test_the_example_finds_what_the_guide_says():
    (code,) = re.findall(r"```python\n(.*?)```", GUIDE, re.S)
    made, printed = {}, io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(code, "audit.md", "exec"), made)
    flipped, found = made["flipped"], made["found"]
    hits = flipped[found.suspicious["row"]]
    said = [
        f"{100 * flipped[made['worst']].mean():.0f} % are wrong",
        f"(of all labels, {100 * flipped.mean():.0f} %)",
        f"Of the {len(hits)} that it lists, {100 * hits.mean():.0f} % are",
        f"those are {100 * hits.sum() / flipped.sum():.0f} % of all wrong ones",
    ]
    for sentence in said:
        assert sentence in GUIDE
    shown = " ".join(line.removeprefix("> ") for line in GUIDE.splitlines() if line.startswith("> "))
    assert " ".join(found.text.split("\n")[:2]) == shown
    assert found.text in printed.getvalue()
