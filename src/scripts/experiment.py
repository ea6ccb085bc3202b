"""Run an experiment of one cell and one block: job and data in, table, points and their provenance out."""

import argparse
from pathlib import Path

from reproduction import provenance
from reproduction.atomic import replacing
from reproduction.job import Job, checked
from reproduction.results import write_rows

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--job", required=True, help="JSON with protocol, experiment, seed and settings")
parser.add_argument("--cell", required=True, help="name of the cell")
parser.add_argument("--repetitions", required=True, help="half-open range of repetitions, such as 0:5")
parser.add_argument("--data", nargs="*", default=[], help="prepared data sets (.npz)")
parser.add_argument("--about", required=True, help="JSON: paper, artifact, scale, seed, settings")
parser.add_argument("--table", required=True, type=Path)
parser.add_argument("--points", required=True, type=Path, help="what was tested, point by point (.npz)")
parser.add_argument("--provenance", required=True, type=Path)
parser.add_argument("--code", required=True, help="digest and roots of the code of this job")
arguments = parser.parse_args()

with checked(arguments.code):
    job = Job.read(arguments.job, arguments.data)
    tuned = job.tune()
    rows, points = job.run(arguments.repetitions, tuned)
with replacing(arguments.table) as part:
    write_rows(rows, part)
with replacing(arguments.points) as part:
    points.write(part)
data = [Path(file) for file in arguments.data]
tuned_cells = {arguments.cell: tuned} if tuned else {}
with replacing(arguments.provenance) as part:
    provenance.write(arguments.about, tuned_cells, data, arguments.table, arguments.points, part)
