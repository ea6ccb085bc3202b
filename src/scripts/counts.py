"""Write what README and the documentation quote of the reference run: verdicts, and distances to print."""

import argparse
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

argparse.ArgumentParser(description=__doc__).parse_args()

from noisylabels.verdicts import counts, distances  # noqa: E402

reference = ROOT / "results/reference"
(ROOT / "docs/reference/verdicts.md").write_text(counts.page(reference), encoding="utf-8", newline="\n")
for file in [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]:
    text = file.read_text(encoding="utf-8")
    file.write_text(
        distances.filled(counts.filled(text, reference), reference), encoding="utf-8", newline="\n"
    )
