"""Draw one artifact: result tables in, a figure or a table in every format out."""

import argparse
import json
import sys
from pathlib import Path

from reproduction.figures.panels import RenderError
from reproduction.figures.rendering import draw

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--render", required=True, help="module:function below reproduction.figures")
parser.add_argument("--artifact", required=True)
parser.add_argument("--settings", required=True, type=json.loads, help="JSON: artifact -> settings")
parser.add_argument("--names", nargs="*", default=[], help="artifacts whose tables are drawn")
parser.add_argument("--tables", nargs="*", default=[], help="their result tables, in the same order")
parser.add_argument("--out", nargs="+", required=True, type=Path, help="files of a figure, or of a table")
arguments = parser.parse_args()

tables = dict(zip(arguments.names, arguments.tables, strict=True))
try:
    draw(arguments.render, arguments.artifact, tables, arguments.settings, arguments.out)
except RenderError as error:
    sys.exit(str(error))
