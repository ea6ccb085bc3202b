"""Audit the labels of a table, as `./run audit` does."""

import os
import sys

from noisylabels.command_line import main

os.environ.setdefault("NOISYLABELS_COMMAND", "./run")
main(["audit", *sys.argv[1:]])
