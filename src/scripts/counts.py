"""Write what README and documentation quote of the reference: verdicts, means and distances to print."""

import argparse
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

argparse.ArgumentParser(description=__doc__).parse_args()

from reproduction.verdicts import counts, distances, means  # noqa: E402

reference = ROOT / "results/reference"
(ROOT / "docs/reference/verdicts.md").write_text(counts.page(reference), encoding="utf-8", newline="\n")
for file in [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]:
    text = file.read_text(encoding="utf-8")
    for written in (counts, distances, means):
        text = written.filled(text, reference)
    file.write_text(text, encoding="utf-8", newline="\n")
