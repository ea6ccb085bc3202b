"""Draw one artifact: result tables in, a figure in every format out."""

import argparse
import json
import sys

from noisylabels.figures import style
from noisylabels.figures.panels import RenderError
from noisylabels.figures.rendering import render

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--render", required=True, help="module:function below noisylabels.figures")
parser.add_argument("--artifact", required=True)
parser.add_argument("--settings", required=True, type=json.loads, help="JSON: artifact -> settings")
parser.add_argument("--names", nargs="*", default=[], help="artifacts whose tables are drawn")
parser.add_argument("--tables", nargs="*", default=[], help="their result tables, in the same order")
parser.add_argument("--out", nargs="+", required=True, help="figure.png, .pdf, .svg")
arguments = parser.parse_args()

tables = dict(zip(arguments.names, arguments.tables, strict=True))
with style.context():
    try:
        figure = render(arguments.render, arguments.artifact, tables, arguments.settings)
    except RenderError as error:
        sys.exit(str(error))
    style.save(figure, arguments.out)
