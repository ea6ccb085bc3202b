"""Write what README and documentation quote of the reference: verdicts, means and distances to the papers."""

import argparse
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

argparse.ArgumentParser(description=__doc__).parse_args()

from reproduction.verdicts import quoted  # noqa: E402

reference = ROOT / "results/reference"
for file in [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]:
    text = file.read_text(encoding="utf-8")
    file.write_text(quoted.filled(text, reference), encoding="utf-8", newline="\n")
