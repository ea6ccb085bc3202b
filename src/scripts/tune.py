"""Tune one cell of an artifact: job and data in, tuned parameters (JSON) out."""

import argparse
import json
from pathlib import Path

from reproduction.atomic import replacing
from reproduction.job import Job, checked

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--job", required=True, help="JSON with protocol, experiment, seed and settings")
parser.add_argument("--data", nargs="*", default=[], help="prepared data sets (.npz)")
parser.add_argument("--out", required=True, type=Path)
parser.add_argument("--code", required=True, help="digest and roots of the code of this job")
arguments = parser.parse_args()

with checked(arguments.code):
    tuned = Job.read(arguments.job, arguments.data).tune()
with replacing(arguments.out) as part:
    part.write_text(json.dumps(tuned, indent=1, sort_keys=True) + "\n", encoding="utf-8")
