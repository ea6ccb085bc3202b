"""Draw artifacts of one paper: result tables in, each figure or table in every format out."""

import argparse
import json
import sys
import traceback
from pathlib import Path

from reproduction import code_digest
from reproduction.figures.panels import RenderError
from reproduction.figures.rendering import draw
from reproduction.plan import Plan, planned

CHECKOUT = Path(__file__).resolve().parents[2]


def drawn(plan: Plan, name: str) -> str:
    """Draw one artifact; "" or why not."""
    tables = dict(zip(plan.drawn(name), plan.tables(name), strict=True))
    artifact = plan.artifact(name)
    try:
        files = plan.drawings(name)
        draw(artifact.content["render"], artifact.name, tables, plan.settings_shown(name), files)
    except RenderError as error:
        return str(error)
    except Exception as error:  # the other figures are drawn all the same
        traceback.print_exc()
        return f"{artifact.name}: {type(error).__name__}: {error}"
    return ""


parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("names", nargs="+", metavar="PAPER/ARTIFACT")
parser.add_argument("--config", required=True, type=json.loads, help="the configuration as JSON")
parser.add_argument("--code", required=True, help="digest and roots of the code of this job")
arguments = parser.parse_args()

papers = sorted({name.partition("/")[0] for name in arguments.names})
with code_digest.unchanged(arguments.code):
    plan = planned(CHECKOUT, arguments.config | {"papers": papers})
    failures = [failure for name in arguments.names if (failure := drawn(plan, name))]
sys.exit("; ".join(failures) or None)
