"""Write what README and the documentation quote of the reference run: counts of verdicts, and their page."""

import argparse
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

argparse.ArgumentParser(description=__doc__).parse_args()

from noisylabels.verdicts.counts import filled, page  # noqa: E402

reference = ROOT / "results/reference"
(ROOT / "docs/reference/verdicts.md").write_text(page(reference), encoding="utf-8", newline="\n")
for file in [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]:
    text = file.read_text(encoding="utf-8")
    file.write_text(filled(text, reference), encoding="utf-8", newline="\n")
