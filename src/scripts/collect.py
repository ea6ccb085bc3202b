"""Collect the blocks of an experiment: their tables and points in, one of each and their provenance out."""

import argparse
import json
from pathlib import Path

from reproduction import provenance
from reproduction.atomic import replacing
from reproduction.results import concatenate
from reproduction.verdicts.per_point_errors import collect

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--parts", nargs="+", required=True, help="tables of the blocks, in order")
parser.add_argument("--tested", nargs="+", required=True, help="their points")
parser.add_argument("--tuned", nargs="*", type=Path, default=[], help="tuned parameters of the cells")
parser.add_argument("--data", nargs="*", type=Path, default=[], help="prepared data sets (.npz)")
parser.add_argument("--about", required=True, help="JSON: paper, artifact, scale, seed, settings")
parser.add_argument("--table", required=True, type=Path)
parser.add_argument("--points", required=True, type=Path)
parser.add_argument("--provenance", required=True, type=Path)
arguments = parser.parse_args()

with replacing(arguments.table) as part:
    concatenate(arguments.parts, part)
with replacing(arguments.points) as part:
    collect(arguments.tested, part)
tuned = {file.parent.name: json.loads(file.read_text(encoding="utf-8")) for file in arguments.tuned}
with replacing(arguments.provenance) as part:
    provenance.write(arguments.about, tuned, arguments.data, arguments.table, arguments.points, part)
