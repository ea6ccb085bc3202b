"""Write the tables of keys in config/README.md and config/settings.md, or JSON Schemas, from the models."""

import argparse
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--readme", type=Path, default=ROOT / "config/README.md")
    parser.add_argument("--schemas", type=Path, help="a folder: write JSON Schemas there instead")
    arguments = parser.parse_args()

    from reproduction import schemas

    if arguments.schemas:
        schemas.write(arguments.schemas)
    else:
        arguments.readme.write_text(schemas.filled(arguments.readme.read_text("utf-8")), encoding="utf-8")
        arguments.readme.with_name("settings.md").write_text(schemas.settings_page(), encoding="utf-8")


if __name__ == "__main__":
    main()
