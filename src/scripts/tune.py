"""Tune one cell of an artifact: job and data in, tuned parameters (JSON) out."""

import argparse
import json
from pathlib import Path

from reproduction.frame.atomic import replacing
from reproduction.frame.jobs import Job
from reproduction.frame.kernel_cache import mended

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--job", required=True, help="JSON with protocol, experiment, seed and settings")
parser.add_argument("--data", nargs="*", default=[], help="prepared data sets (.npz)")
parser.add_argument("--out", required=True, type=Path)
arguments = parser.parse_args()

with mended():
    tuned = Job.read(arguments.job, arguments.data).tune()
with replacing(arguments.out) as part:
    part.write_text(json.dumps(tuned, indent=1, sort_keys=True) + "\n", encoding="utf-8")
