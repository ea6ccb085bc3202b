"""The links of README and documentation lead to files."""

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def test_every_linked_file_exists():
    for page in [ROOT / "README.md", ROOT / "config/README.md", *ROOT.glob("docs/**/*.md")]:
        text = page.read_text(encoding="utf-8")
        for link in re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", text):
            file = (page.parent / link).resolve()
            is_made_by_build = file.is_relative_to(ROOT / "docs/api")
            assert link.startswith("http") or is_made_by_build or file.exists(), f"{page}: {link}"
