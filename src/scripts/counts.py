"""Write the numbers of verdicts that the documentation quotes, from the reference run."""

import argparse
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--reference", type=Path, default=ROOT / "results/reference")
    parser.add_argument("--pages", type=Path, default=ROOT / "docs", help="folder of Markdown pages")
    arguments = parser.parse_args()

    from noisylabels.verdicts.counts import filled

    for page in sorted(arguments.pages.rglob("*.md")):
        text = page.read_text(encoding="utf-8")
        page.write_text(filled(text, arguments.reference), encoding="utf-8", newline="\n")


if __name__ == "__main__":
    main()
