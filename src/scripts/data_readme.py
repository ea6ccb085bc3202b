"""Write data/README.md from the registry of data sets."""

import argparse
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--registry", type=Path, default=ROOT / "config/datasets.yaml")
    parser.add_argument("--out", type=Path, default=ROOT / "data/README.md")
    arguments = parser.parse_args()

    from reproduction.data.readme import readme
    from reproduction.data.registry import load_registry

    arguments.out.write_text(readme(load_registry(arguments.registry)), encoding="utf-8")


if __name__ == "__main__":
    main()
