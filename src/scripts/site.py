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
papers_help = "folders of papers of your own, to be shown next to those of the configuration"
parser.add_argument("--papers", nargs="+", default=[], metavar="FOLDER", help=papers_help)
parser.add_argument("--out", type=Path, help="folder with a folder for each scale (default: site)")
given = parser.parse_args()

from noisylabels.output_folder import claim_output_folder  # noqa: E402
from reproduction.plan.plan import configured, is_results_folder, passed_over, planned  # noqa: E402
from reproduction.run.console import path_to_show  # noqa: E402
from reproduction.show.site import build  # noqa: E402
from reproduction.spec.artifact import SCALES  # noqa: E402  (a wrong command line should not wait for imports)
from reproduction.spec.papers import list_papers  # noqa: E402

CHECKOUT = Path(__file__).resolve().parents[2]

for name in given.scales:
    if not is_results_folder(name):
        parser.error(f"{name!r} is no scale; they are {', '.join(SCALES)}, or with another seed full-seed7")
finished = sorted(path.name for path in Path("results").glob("*") if is_results_folder(path.name))
folder = given.out or Path("site")
try:
    if given.out:
        claim_output_folder(given.out, "site")
    scales = given.scales or finished or ["full"]
    configs = [configured(CHECKOUT, scale) for scale in scales]
    for config in configs:
        config["papers"] += given.papers
    for config in [given.config] if given.config else configs:
        ours = any(paper in list_papers() for paper in config["papers"])
        plan = planned(CHECKOUT, config, every=ours)
        out = folder / plan.folder
        part = out.with_name(f".part.{os.getpid()}.{out.name}")  # the pages appear when all are written
        try:
            if (folder / "docs/README.html").is_file():
                unread = shutil.ignore_patterns(".*", "_sources")
                shutil.copytree(folder / "docs", part / "docs", ignore=unread)
            pages = build.write(plan, CHECKOUT, Path.cwd(), part)
            shutil.rmtree(out, ignore_errors=True)
            part.rename(out)
        finally:
            shutil.rmtree(part, ignore_errors=True)
        print(f"{pages} result{'s' * (pages != 1)}: {path_to_show(out / 'index.html')}")
        if line := passed_over(plan, CHECKOUT, Path.cwd()):
            print(line)
except ValueError as error:
    sys.exit(f"site: {error}")
