"""Run one block of repetitions: job, data, tuned parameters in, tidy rows (CSV) and tested points out."""

import argparse
import json
from pathlib import Path

from reproduction.atomic import replacing
from reproduction.job import Job, checked
from reproduction.results import write_rows

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--job", required=True, help="JSON with protocol, experiment, seed and settings")
parser.add_argument("--repetitions", required=True, help="half-open range of repetitions, such as 0:5")
parser.add_argument("--tuned", nargs="*", type=Path, default=[], help="what tune.py wrote, if it ran")
parser.add_argument("--data", nargs="*", default=[], help="prepared data sets (.npz)")
parser.add_argument("--table", required=True, type=Path)
parser.add_argument("--points", required=True, type=Path, help="what was tested, point by point (.npz)")
parser.add_argument("--code", required=True, help="digest and roots of the code of this job")
arguments = parser.parse_args()

tuned = json.loads(arguments.tuned[0].read_text(encoding="utf-8")) if arguments.tuned else {}
with checked(arguments.code):
    rows, points = Job.read(arguments.job, arguments.data).run(arguments.repetitions, tuned)
with replacing(arguments.table) as part:
    write_rows(rows, part)
with replacing(arguments.points) as part:
    points.write(part)
