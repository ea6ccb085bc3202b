"""A job of an experiment: tune a cell, run a block of repetitions, do both at once, or collect all blocks."""

import argparse
import json
import sys
from pathlib import Path

from reproduction.run import compute_ahead, records

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("what", choices=("tune", "run", "experiment", "collect"))
parser.add_argument("--code", help="digest and roots of the code of this job")
parser.add_argument("--job", help="JSON with protocol, experiment, seed and settings")
parser.add_argument("--cell", help="name of the cell of an experiment in one job")
parser.add_argument("--repetitions", help="half-open range of repetitions, such as 0:5")
parser.add_argument("--about", help="JSON for the provenance: paper, artifact, scale, seed, settings")
parser.add_argument("--data", nargs="*", type=Path, default=[], help="prepared data sets (.npz)")
parser.add_argument("--tuned", nargs="*", type=Path, default=[], help="tuned parameters of cells")
parser.add_argument("--parts", nargs="*", type=Path, help="tables of the blocks, in order")
parser.add_argument("--tested", nargs="*", type=Path, help="their points")
parser.add_argument("--out", type=Path, help="for tuned parameters (JSON)")
parser.add_argument("--table", type=Path, help="for tidy rows (CSV)")
parser.add_argument("--points", type=Path, help="for what was tested, point by point (.npz)")
parser.add_argument("--provenance", type=Path)


def compute(given: argparse.Namespace) -> None:
    """Do the job. Imports are made here: a job that another one computed for it needs none."""
    from reproduction.plan import code_digest
    from reproduction.run import results
    from reproduction.run.atomic_files import replacing
    from reproduction.run.job import Job
    from reproduction.run.points import Points, collect

    tuned = {file.parent.name: json.loads(file.read_text(encoding="utf-8")) for file in given.tuned}
    if given.what == "collect":
        with replacing(given.table) as part:
            results.concatenate(given.parts, part)
        with replacing(given.points) as part:
            collect(given.tested, part)
    else:
        rows: list[results.Row] = []
        points = Points()
        with code_digest.unchanged(given.code):
            job = Job.read(given.job, given.data)
            if given.what != "run" and (found := job.tune()):
                tuned = {given.cell: found}
            if given.what != "tune":
                rows, points = job.run(given.repetitions, next(iter(tuned.values()), {}))
        if given.what == "tune":
            with replacing(given.out) as part:
                text = json.dumps(tuned.get(given.cell, {}), indent=1, sort_keys=True)
                part.write_text(text + "\n", encoding="utf-8")
        else:
            with replacing(given.table) as part:
                results.write_rows(rows, part)
            with replacing(given.points) as part:
                points.write(part)
    if given.provenance:
        with replacing(given.provenance) as part:
            records.write_provenance(given.about, tuned, given.data, given.table, given.points, part)


compute_ahead.run(sys.argv[1:], parser.parse_args, compute)
