"""Write the pages of a scale from what is finished: a folder to open in a browser, without a server."""

import argparse
import json
import os
import shutil
import sys
from pathlib import Path

parser = argparse.ArgumentParser(prog="./run site", description=__doc__)
parser.add_argument("scales", nargs="*", help="by default those with results; without any, the reference")
parser.add_argument("--config", type=json.loads, help="configuration as JSON, in place of config/")
parser.add_argument("--out", type=Path, default=Path("site"), help="folder with a folder for each scale")
arguments = parser.parse_args()

from reproduction import plan as plans  # noqa: E402
from reproduction.artifact import SCALES  # noqa: E402  (a wrong command line should not wait for imports)
from reproduction.site import build  # noqa: E402

CHECKOUT = Path(__file__).resolve().parents[2]


def write(config: dict[str, object], out: Path) -> None:
    """The pages appear when all of them are written, with the documentation if site/docs has it."""
    part = out.with_name(f".part.{os.getpid()}.{out.name}")
    shutil.rmtree(part, ignore_errors=True)
    try:
        if (out.parent / "docs/README.html").is_file():
            unread = shutil.ignore_patterns(".*", "_sources")
            shutil.copytree(out.parent / "docs", part / "docs", ignore=unread)
        pages = build.write(plans.planned(CHECKOUT, config), CHECKOUT, Path.cwd(), part)
        shutil.rmtree(out, ignore_errors=True)
        part.rename(out)
    finally:
        shutil.rmtree(part, ignore_errors=True)
    print(f"{pages} results: {out / 'index.html'}")


if unknown := [scale for scale in arguments.scales if scale not in SCALES]:
    parser.error(f"{unknown[0]!r} is no scale; they are {', '.join(SCALES)}")
try:
    if arguments.config:
        write(arguments.config, arguments.out / arguments.config["scale"])
        sys.exit()
    finished = [scale for scale in SCALES if Path("results", scale).is_dir()]
    for scale in arguments.scales or finished or ["full"]:
        write(plans.configured(CHECKOUT, scale), arguments.out / scale)
except ValueError as error:
    sys.exit(f"site: {error}")
