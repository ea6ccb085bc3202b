"""Draw artifacts of one paper: result tables in, each figure or table in every format out."""

import argparse
import json
import sys
import traceback
from pathlib import Path

from reproduction.plan import code_digest
from reproduction.plan.plan import planned
from reproduction.show import names
from reproduction.show.panels import RenderError
from reproduction.show.rendering import draw
from reproduction.spec import user_modules

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("names", nargs="+", metavar="PAPER/ARTIFACT")
parser.add_argument("--config", required=True, type=json.loads, help="the configuration as JSON")
parser.add_argument("--paper", required=True, help="its name, or the path of its folder")
parser.add_argument("--code", required=True, help="digest and roots of the code of this job")
given = parser.parse_args()

failures = []
with code_digest.unchanged(given.code):
    plan = planned(Path(__file__).resolve().parents[2], given.config | {"papers": [given.paper]})
    for name in given.names:
        artifact = plan.artifact(name)
        shown = plan.shown_with(name)
        try:
            with names.using(artifact.file.parent):
                draw(artifact.render, artifact.name, plan.drawn(name), shown, plan.drawings(name))
        except RenderError as error:
            failures.append(str(error))
        except Exception as error:  # the other figures are drawn all the same
            traceback.print_exc()
            failures.append(f"{name}: {artifact.render}: {user_modules.describe_error(error)}")
sys.exit("; ".join(failures) or None)
