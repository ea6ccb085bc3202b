"""Tune one cell of an artifact: job and data in, tuned parameters (JSON) out."""

import argparse
import json
from pathlib import Path

from noisylabels.frame.jobs import Job

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--job", required=True, help="JSON with protocol, experiment, seed and settings")
parser.add_argument("--data", nargs="*", default=[], help="prepared data sets (.npz)")
parser.add_argument("--out", required=True, type=Path)
arguments = parser.parse_args()

tuned = Job.read(arguments.job, arguments.data).tune()
arguments.out.write_text(json.dumps(tuned, indent=1, sort_keys=True) + "\n", encoding="utf-8")
