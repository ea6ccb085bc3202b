"""Learning and filtering with noisy labels: adaptive filters, online learners and robust classifiers.

The library stands alone: it never imports the workflow that runs the papers' experiments.
"""

from importlib.metadata import PackageNotFoundError, version

try:
    __version__ = version("noisylabels")
except PackageNotFoundError:  # imported from the source tree (PYTHONPATH=src), not installed
    __version__ = "unknown"
